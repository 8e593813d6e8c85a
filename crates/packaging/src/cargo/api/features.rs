//! How the features of two releases differ, and what else their manifests promise
//! ([SemVer: Cargo features](https://doc.rust-lang.org/cargo/reference/semver.html#cargo)).

use std::collections::{BTreeMap, BTreeSet};

use super::compare::{ApiChange, What};
use crate::cargo::manifest::Manifest;
use crate::version::Bump;

/// The differences in features, in what they switch on, and in the oldest Rust that builds it.
pub fn features(before: &Manifest, after: &Manifest) -> Vec<ApiChange> {
    let (was, is) = (before.features(), after.features());
    let mut changes = Vec::new();
    let named = |name: &str| format!("the feature {name}");
    for (name, on) in &was {
        let Some(now) = is.get(name) else {
            changes.push(ApiChange::new(named(name), What::Removed, Bump::Major));
            continue;
        };
        // Only names of features are promises; which dependencies they take is not.
        let promised = on.iter().filter(|on| !on.contains([':', '/', '?']) && was.contains_key(*on));
        let given = reached(&is, now);
        let lost: Vec<String> = promised.filter(|on| !given.contains(*on)).cloned().collect();
        if !lost.is_empty() {
            let how = vec![format!("it no longer switches on {}", lost.join(", "))];
            changes.push(ApiChange::new(named(name), What::Changed { how }, Bump::Major));
        }
    }
    for name in is.keys().filter(|name| !was.contains_key(*name)) {
        changes.push(ApiChange::new(named(name), What::Added, Bump::Minor));
    }
    let rust = |manifest: &Manifest| -> Option<Vec<u64>> {
        manifest.text("rust-version")?.split('.').map(|part| part.parse().ok()).collect()
    };
    if let (Some(old), Some(new)) = (rust(before), rust(after))
        && new > old
    {
        let how = vec![format!("it needs Rust {}", after.text("rust-version").unwrap_or_default())];
        changes.push(ApiChange::new("the crate".to_owned(), What::Changed { how }, Bump::Minor));
    }
    changes
}

/// All that a list of features switches on, one through another.
fn reached(features: &BTreeMap<String, Vec<String>>, on: &[String]) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut open: Vec<&String> = on.iter().collect();
    while let Some(name) = open.pop() {
        if found.insert(name.clone()) {
            open.extend(features.get(name).into_iter().flatten());
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn features_are_promises() {
        let read =
            |text: &str| Manifest::read(format!("[package]\nname='a'\n{text}").as_bytes(), None).unwrap();
        let before = read(
            "rust-version='1.70'\n[features]\ndefault=['a','b']\na=[]\nb=['dep:x']\n[dependencies]\ny={version='1',optional=true}",
        );
        let after = read("rust-version='1.80'\n[features]\ndefault=['a']\na=[]\nb=[]\nc=[]");
        let said: Vec<(String, Bump)> =
            features(&before, &after).iter().map(|c| (c.to_string(), c.bump())).collect();
        assert_eq!(
            said,
            [
                ("the feature default: it no longer switches on b".to_owned(), Bump::Major),
                ("the feature y is gone".to_owned(), Bump::Major),
                ("the feature c is new".to_owned(), Bump::Minor),
                ("the crate: it needs Rust 1.80".to_owned(), Bump::Minor),
            ]
        );
        assert_eq!(features(&before, &before), []);
    }
}
