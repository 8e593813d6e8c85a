//! The current date and time.
//!
//! Says what time it is now, in a time zone or in this machine's, with its offset and calendar facts: weekday, ISO week, quarter.
//! Use it before writing dates, or reckoning with them.

use contract::{Code, Fault, Toolset};
use jiff::civil::Weekday;
use jiff::tz::{Dst, TimeZone, db};
use jiff::{Timestamp, Zoned};
use kit::{Answer, Define, Doc, Read, ReadDesk, doc};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::families::FILES;

/// What it takes.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// An IANA name such as `Europe/Berlin`; else this machine's.
    #[serde(default)]
    #[schemars(length(min = 1, max = 100))]
    pub timezone: Option<String>,
    /// With facts of the calendar.
    #[serde(default = "yes")]
    pub include_calendar: bool,
}

const fn yes() -> bool {
    true
}

/// Facts of the calendar.
#[derive(Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Calendar {
    /// Such as `Monday`.
    weekday: &'static str,
    /// Such as `2026-W48`: its year is not always the date's.
    iso_week: String,
    /// From 1.
    day_of_year: i16,
    /// 1 to 4.
    quarter: i8,
    /// Of this month.
    days_in_month: i8,
    /// Whether this year has 366 days.
    leap_year: bool,
}

/// The time.
#[derive(Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Output {
    /// RFC 3339, to the second, with the offset.
    iso: String,
    /// Seconds since 1970 in UTC.
    unix: i64,
    /// The zone's name; of a machine whose zone has none, its offset.
    timezone: String,
    /// Such as `+02:00`.
    offset: String,
    /// Whether summer time is in force.
    is_dst: bool,
    /// Facts of the calendar.
    #[serde(skip_serializing_if = "Option::is_none")]
    calendar: Option<Calendar>,
}

/// The tool.
#[derive(Debug, Default)]
pub struct GetCurrentDatetime;

impl Define for GetCurrentDatetime {
    type Input = Input;
    type Output = Output;
    const NAME: &'static str = "get_current_datetime";
    const TOOLSET: Toolset = FILES;
    const DOC: Doc = doc!("get_current_datetime.rs");
    const NEEDS_ROOT: bool = false;

    fn examples() -> Vec<Value> {
        vec![json!({}), json!({ "timezone": "Asia/Kathmandu", "include_calendar": false })]
    }
}

impl Read for GetCurrentDatetime {
    async fn read(&self, input: Input, _: ReadDesk) -> Result<Answer<Output>, Fault> {
        let zone = match &input.timezone {
            None => TimeZone::system(),
            Some(name) => named(name)?,
        };
        Ok(told(Timestamp::now().to_zoned(zone), input.include_calendar))
    }
}

fn named(name: &str) -> Result<TimeZone, Fault> {
    db().get(name).map_err(|_| {
        let mut near: Vec<(usize, String)> = db()
            .available()
            .map(|known| (distance(name, known.as_str()), known.as_str().to_owned()))
            .collect();
        near.sort();
        let near: Vec<String> = near.into_iter().take(3).map(|(_, known)| format!("`{known}`")).collect();
        Fault::new(Code::InvalidArgument, format!("timezone: there is no {name:?}"))
            .suggest(format!("The nearest names are {}.", near.join(", ")))
    })
}

/// How far a name is from a known one: the city alone counts as well, since that is what people remember.
fn distance(name: &str, known: &str) -> usize {
    let (name, known) = (name.to_lowercase().replace(' ', "_"), known.to_lowercase());
    let city = known.rsplit('/').next().unwrap_or_default();
    strsim::levenshtein(&name, &known).min(strsim::levenshtein(&name, city))
}

fn told(now: Zoned, with_calendar: bool) -> Answer<Output> {
    let info = now.time_zone().to_offset_info(now.timestamp());
    let offset = now.strftime("%:z").to_string();
    let zone = now.time_zone().iana_name().map_or_else(|| offset.clone(), str::to_owned);
    let calendar = with_calendar.then(|| calendar(&now));
    let message = format!("{} ({zone})", now.strftime("%A, %Y-%m-%d %H:%M:%S %:z"));
    let output = Output {
        iso: now.strftime("%Y-%m-%dT%H:%M:%S%:z").to_string(),
        unix: now.timestamp().as_second(),
        timezone: zone,
        offset,
        is_dst: info.dst() == Dst::Yes,
        calendar,
    };
    Answer::new(message, output)
}

fn calendar(now: &Zoned) -> Calendar {
    let week = now.date().iso_week_date();
    Calendar {
        weekday: match now.weekday() {
            Weekday::Monday => "Monday",
            Weekday::Tuesday => "Tuesday",
            Weekday::Wednesday => "Wednesday",
            Weekday::Thursday => "Thursday",
            Weekday::Friday => "Friday",
            Weekday::Saturday => "Saturday",
            Weekday::Sunday => "Sunday",
        },
        iso_week: format!("{:04}-W{:02}", week.year(), week.week()),
        day_of_year: now.day_of_year(),
        quarter: (now.month() - 1) / 3 + 1,
        days_in_month: now.days_in_month(),
        leap_year: now.in_leap_year(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(moment: &str, zone: &str) -> Output {
        let moment: Timestamp = moment.parse().unwrap();
        told(moment.to_zoned(named(zone).unwrap()), true).output
    }

    #[test]
    fn both_sides_of_a_change_to_summer_time_are_told() {
        let before = at("2026-03-29T00:59:59Z", "Europe/Berlin");
        assert_eq!((before.iso.as_str(), before.is_dst), ("2026-03-29T01:59:59+01:00", false));
        let after = at("2026-03-29T01:00:00Z", "Europe/Berlin");
        assert_eq!((after.iso.as_str(), after.is_dst), ("2026-03-29T03:00:00+02:00", true));
        let back = at("2026-10-25T01:00:00Z", "Europe/Berlin");
        assert_eq!(
            (back.iso.as_str(), back.offset.as_str(), back.is_dst),
            ("2026-10-25T02:00:00+01:00", "+01:00", false)
        );
        let none = at("2026-07-01T00:00:00Z", "Asia/Kathmandu");
        assert_eq!((none.iso.as_str(), none.is_dst), ("2026-07-01T05:45:00+05:45", false));
    }

    #[test]
    fn the_week_at_the_end_of_a_year_may_be_the_next_years() {
        let week = |moment: &str| at(moment, "UTC").calendar.unwrap().iso_week;
        assert_eq!(week("2024-12-30T12:00:00Z"), "2025-W01");
        assert_eq!(week("2021-01-03T12:00:00Z"), "2020-W53");
        assert_eq!(week("2026-11-23T12:00:00Z"), "2026-W48");
        let leap = at("2024-12-31T23:00:00Z", "UTC").calendar.unwrap();
        let told = (leap.weekday, leap.day_of_year, leap.quarter, leap.days_in_month, leap.leap_year);
        assert_eq!(told, ("Tuesday", 366, 4, 31, true));
        let none = at("2100-02-28T12:00:00Z", "UTC").calendar.unwrap();
        assert_eq!((none.days_in_month, none.leap_year, none.quarter), (28, false, 1));
    }

    #[test]
    fn an_unknown_zone_is_answered_with_the_nearest() {
        let fault = named("Europe/Berln").unwrap_err();
        assert!(fault.suggestions[0].contains("`Europe/Berlin`"), "{fault:?}");
        assert!(named("new york").unwrap_err().suggestions[0].contains("`America/New_York`"));
    }
}
