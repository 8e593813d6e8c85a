//! Links and controls by what is seen of them.

use std::collections::BTreeMap;

use super::{Rule, Verdict, Verdicts};
use crate::dom::NodeId;
use crate::role::facts;
use crate::scan::Scan;
use crate::text::{clean, is_blank, trim};

pub(super) const RULES: &[Rule] = &[
    Rule::of_all("identical-links-same-purpose", is_named_link, same_purpose),
    Rule::new("label-content-name-mismatch", is_relabelled, mismatch),
];

fn is_named_link(scan: &Scan<'_>, id: NodeId) -> bool {
    let is_link = (scan.is_one_of(id, &["a", "area"]) && scan.has(id, "href")) || scan.is(id, "role", "link");
    is_link && !bare_name(scan, id).is_empty()
}

/// A name without punctuation and symbols.
fn bare_name(scan: &Scan<'_>, id: NodeId) -> String {
    let name = scan.accessible_name(id);
    let bare: String = name.chars().filter(|c| c.is_alphanumeric() || crate::text::is_space(*c)).collect();
    clean(&bare).to_lowercase()
}

fn same_purpose(scan: &Scan<'_>, verdicts: &mut Verdicts) {
    let mut groups: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for (at, (id, _)) in verdicts.iter().enumerate() {
        groups.entry(bare_name(scan, *id)).or_default().push(at);
    }
    for (name, places) in groups {
        let target =
            |at: &usize| verdicts.get(*at).and_then(|(id, _)| scan.attribute(*id, "href")).map(resource);
        let first = places.first().and_then(target);
        if places.iter().all(|at| target(at) == first) {
            continue;
        }
        if let Some((_, verdict)) = places.first().and_then(|at| verdicts.get_mut(*at)) {
            *verdict = Verdict::unsure(format!(
                "Links named \"{name}\" lead to different places: see whether they do the same."
            ));
        }
    }
}

/// What an address leads to, whichever part of it is shown and however it is written.
fn resource(href: &str) -> &str {
    let href = trim(href);
    let whole = href
        .split_once('#')
        .filter(|(_, part)| !part.starts_with(['!', '/']))
        .map_or(href, |(whole, _)| whole);
    let folder = whole
        .rsplit_once('/')
        .filter(|(_, file)| file.starts_with("index."))
        .map_or(whole, |(folder, _)| folder);
    folder.trim_end_matches('/')
}

/// Whether it is named by what it shows, and has another name given.
fn is_relabelled(scan: &Scan<'_>, id: NodeId) -> bool {
    scan.is_widget(id)
        && facts(scan.role(id)).is_some_and(|facts| facts.name_from_content)
        && scan.has_aria_name(id)
        && !scan.visible_text(id, false).is_empty()
}

fn mismatch(scan: &Scan<'_>, id: NodeId) -> Verdict {
    const WITH_VALUES: &[&str] = &["switch", "checkbox", "radio", "menuitemcheckbox", "menuitemradio"];
    let shown = scan.visible_text(id, false).to_lowercase();
    let name = clean(&scan.accessible_name(id)).to_lowercase();
    let why = format!(
        "The name \"{name}\" does not hold the text that is shown, \"{shown}\": who says it to the machine is not understood."
    );
    if !is_readable(&shown) || !is_readable(&name) {
        return Verdict::unsure(why);
    }
    if holds_words(&name, &shown, false) {
        return Verdict::Passes;
    }
    // What a class or a style makes of the text is not known here: an icon, or nothing that is seen.
    let is_styled = |at: NodeId| {
        !scan.is_one_of(at, &["html", "body"]) && (scan.has(at, "class") || scan.has(at, "style"))
    };
    let is_plain = !scan.document.and_ancestors(id).any(is_styled)
        && !scan.document.descendants(id).into_iter().any(is_styled);
    let may_be_same = holds_words(&name, &shown, true);
    if is_plain && !may_be_same && !scan.has_role(id, WITH_VALUES) {
        return Verdict::breaks(why);
    }
    Verdict::unsure(why)
}

/// Whether the text says something to a reader, as against a cross for closing or letters for their own sake.
fn is_readable(text: &str) -> bool {
    let bare: String = text.chars().filter(|c| c.is_alphanumeric() || crate::text::is_space(*c)).collect();
    let bare = trim(&bare);
    let mut chars = text.chars();
    let is_one_sign = matches!((chars.next(), chars.next()), (Some(c), None) if !c.is_ascii_digit());
    !is_blank(bare) && !is_one_sign && !matches!(bare, "aa" | "abc")
}

/// Whether the words of one text are found one after another in another; loosely, if it is left open which letters beyond
/// ASCII they are written with, since the same letter may be written in several ways.
fn holds_words(name: &str, shown: &str, loosely: bool) -> bool {
    let (name, shown) = (words(name, loosely), words(shown, loosely));
    if shown.is_empty() || name.windows(shown.len()).any(|part| part == shown.as_slice()) {
        return true;
    }
    // Texts that are written without spaces: where their words begin and end is for dictionaries.
    shown.iter().any(|word| word.chars().any(is_unspaced)) && name.concat().contains(&shown.concat())
}

fn is_unspaced(c: char) -> bool {
    matches!(c, '\u{e00}'..='\u{eff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17ff}' | '\u{3040}'..='\u{30ff}'
        | '\u{3400}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}')
}

fn is_mark(c: char) -> bool {
    matches!(c, '\u{300}'..='\u{36f}')
}

/// The words of a text without what is in round brackets.
fn words(text: &str, loosely: bool) -> Vec<String> {
    let mut out = String::new();
    for c in without_brackets(text).chars() {
        if loosely && is_mark(c) {
            out.pop();
            out.push('\u{fffd}');
        } else if loosely && c.is_alphanumeric() && !c.is_ascii() {
            out.push('\u{fffd}');
        } else {
            out.push(if c.is_alphanumeric() { c } else { ' ' });
        }
    }
    out.split(' ').filter(|word| !word.is_empty()).map(str::to_owned).collect()
}

/// Without pairs of round brackets and what is between them.
fn without_brackets(text: &str) -> String {
    let mut out = String::new();
    let mut open: Vec<usize> = Vec::new();
    for c in text.chars() {
        match c {
            '(' => {
                open.push(out.len());
                out.push(c);
            }
            ')' => match open.pop() {
                Some(at) => out.truncate(at),
                None => out.push(c),
            },
            _ => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_found_one_after_another_and_brackets_do_not_count() {
        assert!(holds_words("close dialog", "close", false) && !holds_words("1st page", "1", false));
        assert!(holds_words("name", "name (as ((on)) the card)", false) && holds_words("a) b", "a", false));
        assert!(holds_words("検索ボタン", "検索", false) && !holds_words("ボタン", "検索", false));
        assert!(
            !holds_words("\u{fc}ber", "u\u{308}ber", false) && holds_words("\u{fc}ber", "u\u{308}ber", true)
        );
        assert!(!is_readable("x") && !is_readable("…") && is_readable("1") && is_readable("ok"));
    }
}
