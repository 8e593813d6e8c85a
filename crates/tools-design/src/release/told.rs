//! How the checks of several packages are told together.

use std::collections::BTreeMap;

use packaging::{Check as Found, Severity as Weight};
use semver::Version;

/// How many checks of one name and package are told one by one, and how many files those have that are not.
const ALIKE: usize = 8;
const FILES: usize = 20;

/// A check, and the package that it is of where there are several.
pub(crate) type Of = (Found, Option<String>);

/// What fails often in one way: the first are told, the others counted.
pub(crate) fn gathered(checks: Vec<Of>) -> Vec<Of> {
    let mut told: BTreeMap<(String, Option<String>), usize> = BTreeMap::new();
    let mut more: BTreeMap<(String, Option<String>), (Found, usize)> = BTreeMap::new();
    let mut kept = Vec::new();
    for (check, package) in checks {
        let key = (check.id.clone(), package.clone());
        let count = told.entry(key.clone()).or_default();
        *count += usize::from(!check.passed);
        if *count <= ALIKE {
            kept.push((check, package));
            continue;
        }
        let (first, others) = more.entry(key).or_insert_with(|| (check.clone(), 0));
        *others += 1;
        first.severity = first.severity.min(check.severity);
        first.files.extend(check.files);
        first.files.dedup();
        first.files.truncate(FILES);
    }
    kept.extend(more.into_iter().map(|((_, package), (mut check, others))| {
        check.detail = format!("{others} more like these");
        (check, package)
    }));
    kept
}

/// What passed, of all packages together: an answer has room for what is wrong with each, not for what is right.
pub(crate) fn together(checks: Vec<Of>) -> Vec<Of> {
    let mut kept = Vec::new();
    let mut passed: BTreeMap<String, Vec<Of>> = BTreeMap::new();
    for (check, package) in checks {
        if check.passed {
            passed.entry(check.id.clone()).or_default().push((check, package));
        } else {
            kept.push((check, package));
        }
    }
    for (id, mut of) in passed {
        match of.len() {
            1 => kept.append(&mut of),
            all => kept.push((Found::passed(id, format!("passed for {all} packages")), None)),
        }
    }
    kept
}

/// What is said of packages that have another version.
pub(crate) fn others(left_out: &[(String, String)], version: &Version) -> Option<Found> {
    if left_out.is_empty() {
        return None;
    }
    let named = left_out.iter().take(FILES).map(|(name, said)| format!("{name} is {said}"));
    let mut named: Vec<String> = named.collect();
    let more = left_out.len().saturating_sub(named.len());
    if more > 0 {
        named.push(format!("{more} more have others"));
    }
    let detail = format!("left out, as they have another version than {version}: {}", named.join(", "));
    let fix = "Nothing, where they are released by themselves: ask for their own version then. Else set their version too.";
    Some(Found::failed("release.version.others", Weight::Note, detail).fix(fix))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_fails_a_hundred_times_in_one_way_is_told_a_few_times_and_counted() {
        let mut all: Vec<Of> =
            (0..100).map(|n| (Found::failed("x", Weight::Warning, n.to_string()).about("f"), None)).collect();
        all.push((Found::failed("x", Weight::Error, "grave"), None));
        all.push((Found::passed("x", "fine"), Some("other".to_owned())));
        all.extend((0..20).map(|_| (Found::passed("y", "fine"), None)));
        let told = gathered(all);
        assert_eq!(told.iter().filter(|(check, _)| check.id == "x").count(), ALIKE + 2);
        assert_eq!(
            told.iter().filter(|(check, _)| check.id == "y").count(),
            20,
            "what passed is not counted"
        );
        let (last, _) = told.iter().find(|(check, _)| check.detail == "93 more like these").unwrap();
        assert_eq!((last.severity, last.files.as_slice()), (Weight::Error, ["f".to_owned()].as_slice()));
    }
}
