//! Until when lines of Node are maintained.

use jiff::civil::{Date, date};

/// The state of `schedule.json` in nodejs/Release that this table was written from, on 24 November 2026.
pub(crate) const AS_OF: &str = "2026-07-02";

/// Major version, and the day after which nobody mends it.
const ENDS: &[(u64, Date)] = &[
    (4, date(2018, 4, 30)),
    (5, date(2016, 6, 30)),
    (6, date(2019, 4, 30)),
    (7, date(2017, 6, 30)),
    (8, date(2019, 12, 31)),
    (9, date(2018, 6, 30)),
    (10, date(2021, 4, 30)),
    (11, date(2019, 6, 1)),
    (12, date(2022, 4, 30)),
    (13, date(2020, 6, 1)),
    (14, date(2023, 4, 30)),
    (15, date(2021, 6, 1)),
    (16, date(2023, 9, 11)),
    (17, date(2022, 6, 1)),
    (18, date(2025, 4, 30)),
    (19, date(2023, 6, 1)),
    (20, date(2026, 4, 30)),
    (21, date(2024, 6, 1)),
    (22, date(2027, 4, 30)),
    (23, date(2025, 6, 1)),
    (24, date(2028, 4, 30)),
    (25, date(2026, 6, 1)),
    (26, date(2029, 4, 30)),
    (27, date(2030, 4, 30)),
];

/// The last day of the line of `version`, where it is known.
pub(crate) fn end_of(version: &str) -> Option<Date> {
    let major: u64 = version.trim().trim_start_matches('v').split('.').next()?.parse().ok()?;
    ENDS.iter().find(|(line, _)| *line == major).map(|(_, end)| *end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_ends_on_its_day() {
        assert_eq!(end_of("v20.20.2"), Some(date(2026, 4, 30)));
        assert_eq!(end_of("24"), Some(date(2028, 4, 30)));
        assert_eq!(end_of("99.0.0"), None);
        assert_eq!(end_of("nightly"), None);
        assert!(ENDS.is_sorted_by_key(|(line, _)| *line));
    }
}
