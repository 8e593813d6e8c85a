//! Paths of a kit: which may be, how they are written as addresses, and what pages are called.

use std::collections::{BTreeMap, BTreeSet};

use crate::error::{KitError, PathFault};

/// Longest path, in bytes.
const MAX_PATH: usize = 1_024;
/// Longest component, in bytes: what file systems take.
const MAX_COMPONENT: usize = 255;
/// Longest query of an example's address, in bytes.
pub const MAX_QUERY: usize = 2_048;
/// Longest name of a component's page without its ending, in characters.
const MAX_SLUG: usize = 60;
/// The folder of the pages of components.
pub(crate) const COMPONENTS: &str = "components";

/// Files that a kit has at its top, whether or not it has all of them.
const OWN: [&str; 8] = [
    "accessibility.html",
    "components.html",
    "icon.svg",
    "index.html",
    "kit.json",
    "notes.html",
    "style.css",
    "tokens.html",
];

/// Names that some systems take for devices.
const DEVICES: [&str; 4] = ["aux", "con", "nul", "prn"];

/// Whether [`build`](crate::build) writes the file of this path itself: a page, its style or `kit.json`. All other files of a
/// kit are the project's own, and a server sends them with [`example_policy`](crate::example_policy).
#[must_use]
pub fn is_generated(path: &str) -> bool {
    OWN.contains(&path) || path.split_once('/').is_some_and(|(folder, _)| folder == COMPONENTS)
}

/// Whether files of a kit may have this path.
#[must_use]
pub fn is_path(path: &str) -> bool {
    fault(path).is_none()
}

/// What is wrong with a path.
pub(crate) fn fault(path: &str) -> Option<PathFault> {
    let bytes = path.as_bytes();
    let has_drive = bytes.first().is_some_and(u8::is_ascii_alphabetic) && bytes.get(1) == Some(&b':');
    if path.is_empty() {
        Some(PathFault::Empty)
    } else if path.len() > MAX_PATH || path.split('/').any(|c| c.len() > MAX_COMPONENT) {
        Some(PathFault::TooLong)
    } else if path.starts_with('/') || has_drive {
        Some(PathFault::Absolute)
    } else if path.chars().any(char::is_control) {
        Some(PathFault::Control)
    } else if path.contains('\\') {
        Some(PathFault::Backslash)
    } else if path.split('/').any(str::is_empty) {
        Some(PathFault::EmptyComponent)
    } else if path.split('/').any(|c| c == "." || c == "..") {
        Some(PathFault::Dots)
    } else {
        None
    }
}

/// Refuses files that cannot stand in a kit beside its pages. Upper and lower case are one, as on many disks.
pub(crate) fn check<V>(files: &BTreeMap<String, V>) -> Result<(), KitError> {
    for path in files.keys() {
        if let Some(why) = fault(path) {
            return Err(KitError::Path { path: path.clone(), why });
        }
        let top = path.split('/').next().unwrap_or(path).to_ascii_lowercase();
        if OWN.contains(&top.as_str()) || top == COMPONENTS {
            return Err(KitError::Taken(path.clone()));
        }
        let mut at = 0;
        while let Some(next) = path.get(at..).and_then(|rest| rest.find('/')) {
            at += next;
            if let Some(folder) = path.get(..at).filter(|folder| files.contains_key(*folder)) {
                return Err(KitError::FileAndFolder(folder.to_owned()));
            }
            at += 1;
        }
    }
    Ok(())
}

/// A path as a relative address: what could be taken for a scheme, a query or a fragment is written in percent signs.
pub(crate) fn href(path: &str) -> String {
    let mut out = String::with_capacity(path.len());
    for byte in path.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => {
                out.push(char::from(byte));
            }
            _ => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}

/// The address of an example: a file of the kit, or one with a query, as Storybook has it for each story.
pub(crate) fn address<V>(
    named: &str,
    what: &'static str,
    files: &BTreeMap<String, V>,
) -> Result<String, KitError> {
    if files.contains_key(named) {
        return Ok(href(named));
    }
    let missing = || KitError::Missing { path: named.to_owned(), what };
    let (path, query) = named.split_once('?').ok_or_else(missing)?;
    if !files.contains_key(path) {
        return Err(missing());
    }
    let is_plain = |b: u8| b.is_ascii_alphanumeric() || b"-._~=&:;,+%".contains(&b);
    if query.len() > MAX_QUERY || !query.bytes().all(is_plain) {
        return Err(KitError::Query(named.to_owned()));
    }
    Ok(format!("{}?{query}", href(path)))
}

/// What the pages of components are called, in the order of their names: letters, digits and dashes, no two alike.
pub(crate) fn slugs<'n>(names: impl Iterator<Item = &'n str>) -> Vec<String> {
    let mut taken = BTreeSet::new();
    let mut last: BTreeMap<String, u32> = BTreeMap::new();
    names
        .map(|name| {
            let plain = slug(name);
            let mut candidate = plain.clone();
            let number = last.entry(plain.clone()).or_insert(1);
            while !taken.insert(candidate.clone()) {
                *number += 1;
                candidate = format!("{plain}-{number}");
            }
            candidate
        })
        .collect()
}

fn slug(name: &str) -> String {
    let mut out = String::new();
    for c in name.chars() {
        if out.len() >= MAX_SLUG {
            break;
        }
        if c.is_ascii_alphanumeric() {
            out.push(c.to_ascii_lowercase());
        } else if !out.is_empty() && !out.ends_with('-') {
            out.push('-');
        }
    }
    let slug = out.trim_end_matches('-');
    let is_device = DEVICES.contains(&slug)
        || slug.len() == 4
            && (slug.starts_with("com") || slug.starts_with("lpt"))
            && slug.ends_with(|c: char| c.is_ascii_digit());
    match slug {
        "" => "component".to_owned(),
        _ if is_device => format!("{slug}-component"),
        _ => slug.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(paths: &[&str]) -> BTreeMap<String, u8> {
        paths.iter().map(|p| ((*p).to_owned(), 0)).collect()
    }

    #[test]
    fn only_places_below_the_folder_are_taken() {
        for (path, why) in [
            ("", PathFault::Empty),
            ("/etc/passwd", PathFault::Absolute),
            ("C:/x.png", PathFault::Absolute),
            ("a/../../x", PathFault::Dots),
            ("./a", PathFault::Dots),
            ("a//b", PathFault::EmptyComponent),
            ("a/", PathFault::EmptyComponent),
            ("a\nb", PathFault::Control),
            ("a\u{85}b", PathFault::Control),
            ("a\\..\\b", PathFault::Backslash),
        ] {
            assert_eq!(fault(path), Some(why), "{path:?}");
        }
        assert_eq!(fault(&"x/".repeat(600)), Some(PathFault::TooLong));
        assert_eq!(fault(&"x".repeat(256)), Some(PathFault::TooLong));
        for path in ["pictures/a.png", "storybook/assets/é b-[x].js", "..x/a", "examples/a:b.html"] {
            assert_eq!(fault(path), None, "{path}");
        }
    }

    #[test]
    fn a_page_of_the_kit_is_never_written_over() {
        for path in ["index.html", "Index.HTML", "kit.json", "components", "Components/x.html", "style.css/a"]
        {
            assert!(matches!(check(&of(&[path])), Err(KitError::Taken(_))), "{path}");
        }
        assert!(check(&of(&["examples/index.html", "pictures/kit.json"])).is_ok());
        assert!(matches!(check(&of(&["a/b", "a/b/c"])), Err(KitError::FileAndFolder(p)) if p == "a/b"));
    }

    #[test]
    fn what_is_generated_is_told_by_its_path() {
        assert!(is_generated("index.html") && is_generated("components/button.html"));
        assert!(
            !is_generated("examples/index.html")
                && !is_generated("components")
                && !is_generated("storybook/a.css")
        );
    }

    #[test]
    fn an_address_never_leaves_the_kit() {
        assert_eq!(href("a b/ü?#%:.png"), "a%20b/%C3%BC%3F%23%25%3A.png");
        assert_eq!(href("javascript:alert(1)"), "javascript%3Aalert%281%29");
    }

    #[test]
    fn a_story_is_a_file_with_a_query() {
        let files = of(&["storybook/iframe.html", "odd?name.html"]);
        let at = |named: &str| address(named, "an example", &files);
        assert_eq!(
            at("storybook/iframe.html?id=button--primary&viewMode=story").unwrap(),
            "storybook/iframe.html?id=button--primary&viewMode=story"
        );
        assert_eq!(at("odd?name.html").unwrap(), "odd%3Fname.html");
        assert!(matches!(at("storybook/iframe.html?a\"b"), Err(KitError::Query(_))));
        assert!(matches!(at("storybook/other.html?id=a"), Err(KitError::Missing { .. })));
    }

    #[test]
    fn no_two_components_share_a_page() {
        let names = ["Button", "button", "button 2", "Button", "按钮", "", "con", "COM1", "../../x"];
        assert_eq!(
            slugs(names.into_iter()),
            [
                "button",
                "button-2",
                "button-2-2",
                "button-3",
                "component",
                "component-2",
                "con-component",
                "com1-component",
                "x"
            ]
        );
        let many = vec!["a"; 20_000];
        let slugs: BTreeSet<String> = slugs(many.into_iter()).into_iter().collect();
        assert_eq!(slugs.len(), 20_000);
    }
}
