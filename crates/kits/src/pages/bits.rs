//! Small parts that pages share: numbers, marks, badges, texts of any length.

use std::borrow::Cow;

use maud::{Markup, PreEscaped, html};

use crate::facts::{Judgement, Revision};
use crate::looks::Look;

/// Longest text of the facts that a page shows, in characters; `kit.json` has all of it.
const MAX_TEXT: usize = 2_000;

/// A text of the facts, cut where it is too long to be read.
pub(crate) fn text(text: &str) -> Cow<'_, str> {
    match text.char_indices().nth(MAX_TEXT) {
        Some((end, _)) => Cow::Owned(format!("{}…", text.get(..end).unwrap_or_default())),
        None => Cow::Borrowed(text),
    }
}

/// A name of the facts in the script of code. A line may end after each of its parts.
pub(crate) fn name(of: &str) -> Markup {
    let shown = text(of);
    html! {
        code {
            @for part in shown.split_inclusive(['.', '/', '-', '_', ' ']) { (part) wbr; }
        }
    }
}

/// A sentence of the facts; what stands between backticks is code.
pub(crate) fn prose(of: &str) -> Markup {
    let shown = text(of);
    let parts: Vec<&str> = shown.split('`').collect();
    let is_paired = parts.len() % 2 == 1;
    html! {
        @if is_paired {
            @for (i, part) in parts.iter().enumerate() { @if i % 2 == 1 { code { (part) } } @else { (part) } }
        } @else { (shown) }
    }
}

/// With spaces between thousands that do not break.
pub(crate) fn grouped(n: u64) -> String {
    let digits = n.to_string();
    let mut out = String::new();
    for (i, c) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push('\u{202f}');
        }
        out.push(c);
    }
    out
}

/// `1 token`, `2 tokens`.
pub(crate) fn counted(n: usize, one: &str) -> String {
    let number = grouped(u64::try_from(n).unwrap_or(u64::MAX));
    if n == 1 { format!("{number} {one}") } else { format!("{number} {one}s") }
}

/// A share as percent. What differs at all is never 0 %.
pub(crate) fn percent(share: f64) -> String {
    let percent = if share.is_finite() { (share * 100.0).clamp(0.0, 100.0) } else { 0.0 };
    match percent {
        0.0 => "0\u{a0}%".to_owned(),
        p if p < 0.1 => "under 0.1\u{a0}%".to_owned(),
        p if p < 10.0 => format!("{p:.1}\u{a0}%"),
        p => format!("{p:.0}\u{a0}%"),
    }
}

/// A ratio cut to two decimals: 4.499 is not 4.5.
pub(crate) fn ratio(n: f64) -> String {
    format!("{:.2}\u{2009}:\u{2009}1", (n * 100.0 + 1e-6).floor() / 100.0)
}

/// The least ratio that is asked for.
pub(crate) fn asked(n: f64) -> String {
    format!("{n}\u{2009}:\u{2009}1")
}

/// Marks beside words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mark {
    Pass,
    Warn,
    Fail,
    New,
    Gone,
    Changed,
    Same,
    Renamed,
    Unseen,
    Note,
    Away,
    Light,
    Dark,
    System,
    Break,
}

/// A mark; the word beside it says the same.
pub(crate) fn mark(mark: Mark) -> Markup {
    let drawing = match mark {
        Mark::Pass => r#"<circle cx="8" cy="8" r="6.5"/><path d="m5 8.2 2.1 2.1L11.2 6"/>"#,
        Mark::Warn => r#"<path d="M8 2.2 14.6 13.6H1.4Z"/><path d="M8 6.6v3.2M8 11.7v.1"/>"#,
        Mark::Fail => {
            r#"<path d="M5.3 1.5h5.4l3.8 3.8v5.4l-3.8 3.8H5.3l-3.8-3.8V5.3Z"/><path d="m5.8 5.8 4.4 4.4m0-4.4-4.4 4.4"/>"#
        }
        Mark::New => r#"<circle cx="8" cy="8" r="6.5"/><path d="M8 5v6M5 8h6"/>"#,
        Mark::Gone => r#"<circle cx="8" cy="8" r="6.5"/><path d="M5 8h6"/>"#,
        Mark::Changed => {
            r#"<rect x="1.5" y="3.5" width="8" height="8" rx="2"/><path d="M12 5.5a2.5 2.5 0 0 1 2.5 2.5v3a2.5 2.5 0 0 1-2.5 2.5H8.5"/>"#
        }
        Mark::Same => r#"<path d="M3 6h10M3 10h10"/>"#,
        Mark::Renamed => r#"<path d="M2 5.5h11M10 2.5l3 3-3 3M14 10.5H3M6 7.5l-3 3 3 3"/>"#,
        Mark::Unseen => r#"<rect x="1.5" y="2.5" width="13" height="11" rx="2"/><path d="M2 13 14 3"/>"#,
        Mark::Note => r#"<circle cx="8" cy="8" r="6.5"/><path d="M8 7.5v3.5M8 5v.1"/>"#,
        Mark::Away => {
            r#"<path d="M9.5 2.5h4v4M13.5 2.5 7 9M6.5 3.5h-3a1 1 0 0 0-1 1v8a1 1 0 0 0 1 1h8a1 1 0 0 0 1-1v-3"/>"#
        }
        Mark::Light => {
            r#"<circle cx="8" cy="8" r="3"/><path d="M8 1v1.5M8 13.5V15M1 8h1.5M13.5 8H15M3 3l1.1 1.1M11.9 11.9 13 13M13 3l-1.1 1.1M4.1 11.9 3 13"/>"#
        }
        Mark::Dark => r#"<path d="M13.5 9.8A6 6 0 0 1 6.2 2.5a6 6 0 1 0 7.3 7.3Z"/>"#,
        Mark::System => {
            r#"<rect x="1.5" y="2.5" width="13" height="8.5" rx="1.5"/><path d="M5.5 14h5M8 11v3"/>"#
        }
        Mark::Break => r#"<path d="M9 1.5 3.5 9H8l-1 5.5L12.5 7H8Z"/>"#,
    };
    html! {
        svg class="mark" viewBox="0 0 16 16" width="16" height="16" aria-hidden="true" { (PreEscaped(drawing)) }
    }
}

/// How a badge is coloured. The word and the mark say it too.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tone {
    Pass,
    Warn,
    Fail,
    Info,
    Quiet,
}

impl Tone {
    pub(crate) const fn class(self) -> &'static str {
        match self {
            Self::Pass => "is-pass",
            Self::Warn => "is-warn",
            Self::Fail => "is-fail",
            Self::Info => "is-info",
            Self::Quiet => "is-quiet",
        }
    }
}

pub(crate) fn badge(tone: Tone, sign: Mark, word: &str) -> Markup {
    html! { span class=(format!("badge {}", tone.class())) { (mark(sign)) (word) } }
}

/// A verdict's tone, mark and word.
pub(crate) const fn of_judgement(judgement: Judgement) -> (Tone, Mark, &'static str) {
    match judgement {
        Judgement::Pass => (Tone::Pass, Mark::Pass, "Pass"),
        Judgement::Warn => (Tone::Warn, Mark::Warn, "Warn"),
        Judgement::Fail => (Tone::Fail, Mark::Fail, "Fail"),
    }
}

pub(crate) fn look(look: Look) -> Markup {
    let (tone, sign) = match look {
        Look::Changed => (Tone::Warn, Mark::Changed),
        Look::New => (Tone::Info, Mark::New),
        Look::Gone => (Tone::Fail, Mark::Gone),
        Look::Same => (Tone::Quiet, Mark::Same),
        Look::Shown => (Tone::Quiet, Mark::Note),
        Look::Unseen => (Tone::Quiet, Mark::Unseen),
    };
    badge(tone, sign, look.word())
}

/// An impact, as axe calls it.
pub(crate) fn impact(impact: &str) -> Markup {
    let (tone, sign) = match impact {
        "critical" | "serious" => (Tone::Fail, Mark::Fail),
        "moderate" => (Tone::Warn, Mark::Warn),
        _ => (Tone::Quiet, Mark::Note),
    };
    badge(tone, sign, &text(impact))
}

/// The first seven digits of a commit.
pub(crate) fn short_commit(commit: &str) -> &str {
    commit.char_indices().nth(7).map_or(commit, |(end, _)| commit.get(..end).unwrap_or(commit))
}

/// A commit by its name and, where that says more, by its id.
pub(crate) fn revision(revision: &Revision) -> Markup {
    let short = short_commit(&revision.commit);
    let has_name = !revision.name.is_empty() && !revision.commit.starts_with(&revision.name);
    html! {
        span class="revision" title=(format!("{} {}", text(&revision.name), text(&revision.commit))) {
            @if has_name { span class="revision-name" { (text(&revision.name)) } " " }
            code { (text(short)) }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_not_rounded_into_something_else() {
        assert_eq!(percent(0.000_01), "under 0.1\u{a0}%");
        assert_eq!(percent(0.0), "0\u{a0}%");
        assert_eq!(percent(f64::NAN), "0\u{a0}%");
        assert_eq!(percent(0.0312), "3.1\u{a0}%");
        assert_eq!(percent(7.0), "100\u{a0}%");
        assert_eq!(ratio(4.499_9), "4.49\u{2009}:\u{2009}1");
        assert_eq!(ratio(4.55), "4.55\u{2009}:\u{2009}1");
        assert_eq!(ratio(21.0), "21.00\u{2009}:\u{2009}1");
        assert_eq!((asked(4.5), asked(3.0)), ("4.5\u{2009}:\u{2009}1".into(), "3\u{2009}:\u{2009}1".into()));
        assert_eq!(grouped(1_234_567), "1\u{202f}234\u{202f}567");
        assert_eq!(counted(1, "token"), "1 token");
    }

    #[test]
    fn code_is_what_stands_between_two_backticks() {
        assert_eq!(prose("put `a<b` there").into_string(), "put <code>a&lt;b</code> there");
        assert_eq!(prose("one ` alone").into_string(), "one ` alone");
        assert_eq!(name("a.b-c").into_string(), "<code>a.<wbr>b-<wbr>c<wbr></code>");
    }

    #[test]
    fn long_texts_are_cut_between_characters() {
        assert_eq!(text(&"é".repeat(3_000)).chars().count(), MAX_TEXT + 1);
        assert_eq!(text("short"), "short");
        assert_eq!(short_commit("ü1234567890"), "ü123456");
    }
}
