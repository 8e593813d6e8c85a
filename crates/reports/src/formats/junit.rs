//! JUnit XML.
//!
//! There is no specification; what is read is what the writers have in common: `testsuites`, `testsuite` (nested or
//! not), `testcase` with `classname`, `name`, `file`, `line`, `time`, and in it `failure`, `error`, `skipped`.
//! Captured from pytest, jest-junit, vitest, node and nextest.

use std::borrow::Cow;

use quick_xml::Reader;
use quick_xml::escape::resolve_predefined_entity;
use quick_xml::events::{BytesStart, Event};

use crate::Outcome;
use crate::draft::{Case, Draft};
use crate::format::Input;
use crate::formats::{libtest, milliseconds, trace};
use crate::text::{Kept, plain};

/// Where the text that is being read goes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Into {
    Nowhere,
    Failure,
}

/// What is known while the elements go by.
struct Walk<'d, 'c> {
    draft: &'d mut Draft<'c>,
    suites: Vec<String>,
    case: Option<Case>,
    text: Kept,
    into: Into,
    /// What the root says of all: tests, failures, errors.
    said: Option<(u64, u64)>,
}

pub(crate) fn read(input: Input<'_>, draft: &mut Draft<'_>) {
    let text = String::from_utf8_lossy(input.stdout);
    let Some(start) = text.find('<') else {
        draft.unread_lines(text.lines().filter(|line| !line.trim().is_empty()).count() as u64);
        return;
    };
    let (before, xml) = text.split_at(start);
    let xml = plain(xml);
    let mut reader = Reader::from_str(&xml);
    reader.config_mut().allow_dangling_amp = true;
    let mut walk = Walk {
        draft,
        suites: Vec::new(),
        case: None,
        text: Kept::default(),
        into: Into::Nowhere,
        said: None,
    };
    let mut depth = 0_u64;
    loop {
        match reader.read_event() {
            Ok(Event::Start(element)) => {
                depth += 1;
                walk.open(&element, false);
            }
            Ok(Event::Empty(element)) => walk.open(&element, true),
            Ok(Event::End(element)) => {
                depth = depth.saturating_sub(1);
                walk.close(element.local_name().as_ref());
            }
            Ok(Event::Text(text)) => walk.piece(&text.xml10_content()),
            Ok(Event::CData(text)) => walk.piece(&text.xml10_content()),
            Ok(Event::GeneralRef(entity)) => {
                let name = entity.xml10_content();
                let char = entity.resolve_char_ref().ok().flatten().map(|char| Cow::Owned(char.to_string()));
                let known = char.or_else(|| resolve_predefined_entity(&name).map(Cow::Borrowed));
                walk.piece(&known.unwrap_or(Cow::Owned(format!("&{name};"))));
            }
            Ok(Event::Eof) => break,
            Ok(_) => {}
            Err(_) => {
                walk.draft.cut |= walk.draft.has_read();
                depth = 0;
                if !walk.draft.has_read() {
                    let lines = xml.lines().filter(|line| !line.trim().is_empty()).count();
                    walk.draft.unread_lines(lines as u64);
                }
                break;
            }
        }
    }
    let Walk { draft, said, case, .. } = walk;
    // A case that is still open is known to have begun, and no more.
    draft.cut |= draft.has_read() && (depth > 0 || case.is_some());
    for line in before.lines() {
        draft.unread(line);
    }
    if let Some((tests, bad)) = said {
        let counted = draft.counts;
        draft.claim("tests", tests, counted.total);
        draft.claim("failed tests", bad, counted.bad());
    }
}

impl Walk<'_, '_> {
    fn open(&mut self, element: &BytesStart<'_>, empty: bool) {
        let name = element.local_name();
        match name.as_ref() {
            "testsuites" | "testsuite" => {
                self.draft.recognised();
                if self.suites.is_empty() && self.said.is_none() {
                    self.said = totals(element);
                }
                if !empty {
                    self.suites.push(attribute(element, "name").unwrap_or_default());
                }
            }
            "testcase" => {
                self.case = Some(self.begin(element));
                self.text = Kept::default();
                if empty {
                    self.end_case();
                }
            }
            kind @ ("failure" | "error" | "skipped") => self.outcome(element, kind, empty),
            _ => self.into = Into::Nowhere,
        }
    }

    fn begin(&self, element: &BytesStart<'_>) -> Case {
        let name = attribute(element, "name").unwrap_or_default();
        let class = attribute(element, "classname").filter(|class| !class.is_empty());
        // node writes `test` for every class; jest-junit repeats the name.
        let class = class.filter(|class| class != "test" && *class != name);
        let suite = self.suites.last().filter(|suite| *suite != "undefined").cloned();
        let mut case = Case::new(name.trim(), class.or(suite), Outcome::Passed);
        case.place = attribute(element, "file").map(|file| self.draft.context.place(&file));
        case.line = attribute(element, "line").and_then(|line| line.parse().ok());
        let seconds = attribute(element, "time").and_then(|time| time.replace(',', "").parse::<f64>().ok());
        case.duration_ms = seconds.and_then(|seconds| milliseconds(seconds * 1e3));
        case
    }

    fn outcome(&mut self, element: &BytesStart<'_>, kind: &str, empty: bool) {
        let Some(case) = self.case.as_mut() else { return };
        let said = attribute(element, "message").unwrap_or_default();
        let of = attribute(element, "type").unwrap_or_default();
        let late = [&said, &of].iter().any(|text| is_late(text));
        let outcome = match kind {
            "skipped" => Outcome::Skipped,
            _ if late => Outcome::TimedOut,
            "error" => Outcome::Errored,
            _ => Outcome::Failed,
        };
        // A test that is skipped or expected to fail does not count, whatever else it says.
        if case.outcome != Outcome::Skipped {
            case.outcome = outcome;
        }
        if case.message.is_empty() || outcome == Outcome::Skipped {
            case.message = said;
        }
        self.into = if empty || outcome == Outcome::Skipped { Into::Nowhere } else { Into::Failure };
    }

    fn piece(&mut self, piece: &str) {
        if self.into == Into::Failure {
            self.text.push(piece);
        }
    }

    fn close(&mut self, name: &str) {
        match name {
            "testsuites" | "testsuite" => {
                self.suites.pop();
            }
            "testcase" => self.end_case(),
            _ => self.into = Into::Nowhere,
        }
    }

    fn end_case(&mut self) {
        let Some(mut case) = self.case.take() else { return };
        self.into = Into::Nowhere;
        if case.outcome.is_bad() {
            case.detail = std::mem::take(&mut self.text).text();
            if case.message == "collection failure" {
                // pytest's headline; what failed stands last.
                case.detail.lines().next_back().unwrap_or_default().clone_into(&mut case.message);
            }
            if case.message.contains(" panicked at ") {
                case.message = libtest::message(&case.detail);
            }
            if case.message.trim().is_empty() {
                case.message.clone_from(&case.detail);
            }
            if is_late(crate::text::head(&case.message, 400)) {
                case.outcome = Outcome::TimedOut;
            }
            if case.line.is_none() {
                let context = self.draft.context;
                let spot = trace::rust(&case.detail, context)
                    .or_else(|| trace::python(&case.detail, context))
                    .or_else(|| trace::node(&case.detail, context));
                if let Some(spot) = spot {
                    case.place.get_or_insert(spot.place);
                    case.line = Some(spot.line);
                }
            }
        }
        self.draft.test(case);
    }
}

/// Whether a failure is one of time.
pub(crate) fn is_late(text: &str) -> bool {
    let text = text.to_ascii_lowercase();
    ["timed out", "timeout of ", "exceeded timeout", "timeout (>", "test timeout"]
        .iter()
        .any(|sign| text.contains(sign))
}

fn totals(element: &BytesStart<'_>) -> Option<(u64, u64)> {
    let number = |name| attribute(element, name).and_then(|text| text.parse::<u64>().ok());
    Some((number("tests")?, number("failures")?.saturating_add(number("errors").unwrap_or(0))))
}

fn attribute(element: &BytesStart<'_>, name: &str) -> Option<String> {
    let attribute = element.try_get_attribute(name).ok().flatten()?;
    Some(attribute.normalized_value(quick_xml::XmlVersion::Implicit1_0).ok()?.into_owned())
}
