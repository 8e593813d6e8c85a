//! What differs between locks, and how far versions move.

use gatewright_deps::{Difference, Ecosystem, Format, Pin, Step, step};
use proptest::prelude::*;

use crate::lock;

fn cargo(packages: &[(&str, &str, &str)]) -> gatewright_deps::Lock {
    let mut text = String::from("version = 4\n");
    for (name, version, sum) in packages {
        text += &format!("[[package]]\nname = {name:?}\nversion = {version:?}\n");
        text += &format!(
            "source = \"registry+https://github.com/rust-lang/crates.io-index\"\nchecksum = {sum:?}\n"
        );
    }
    lock(Format::Cargo, &text)
}

fn pin(name: &str, version: &str) -> Pin {
    Pin { name: name.to_owned(), version: Some(version.to_owned()) }
}

#[test]
fn a_change_of_a_lock_is_told_by_what_it_adds_removes_moves_and_replaces() {
    let before = cargo(&[
        ("gone", "1.0.0", "a"),
        ("moved", "1.2.3", "b"),
        ("sealed", "1.0.0", "c"),
        ("two", "1.0.0", "d"),
    ]);
    let after = cargo(&[
        ("moved", "2.0.0", "e"),
        ("new", "0.1.0", "f"),
        ("sealed", "1.0.0", "other"),
        ("two", "1.0.0", "d"),
        ("two", "2.0.0", "g"),
    ]);
    let told = Difference::between(&before, &after);
    assert_eq!(told.added, [pin("new", "0.1.0"), pin("two", "2.0.0")]);
    assert_eq!(told.removed, [pin("gone", "1.0.0")]);
    assert_eq!(told.replaced, [pin("sealed", "1.0.0")]);
    let changes: Vec<_> = told.changed.iter().map(|c| (&*c.name, &*c.from, &*c.to, c.step)).collect();
    assert_eq!(changes, [("moved", "1.2.3", "2.0.0", Some(Step::Major))]);
}

#[test]
fn a_mirror_replaces_nothing_and_a_lost_digest_does() {
    let npm = |address: &str, digest: &str| {
        let entry = format!(r#"{{"version": "1.0.0", "resolved": {address:?}, "integrity": {digest:?}}}"#);
        lock(Format::Npm, &format!(r#"{{"lockfileVersion": 3, "packages": {{"node_modules/a": {entry}}}}}"#))
    };
    let before = npm("https://npm.example/a/-/a-1.0.0.tgz", "sha512-x");
    let mirror = npm("https://mirror.example/a/-/a-1.0.0.tgz", "sha1-y sha512-x");
    assert!(Difference::between(&before, &mirror).is_empty());
    let lost = npm("https://npm.example/a/-/a-1.0.0.tgz", "");
    assert_eq!(Difference::between(&before, &lost).replaced, [pin("a", "1.0.0")]);
}

#[test]
fn a_step_is_what_the_rules_of_its_ecosystem_say() {
    use Ecosystem::{Cargo, Npm, Python};
    let cases = [
        (Npm, "1.2.3", "1.2.4", Some(Step::Patch)),
        (Npm, "1.2.3", "1.3.0", Some(Step::Minor)),
        (Npm, "1.9.0", "10.0.0", Some(Step::Major)),
        (Npm, "1.2.3", "2.0.0-rc.1", Some(Step::Prerelease)),
        (Npm, "2.0.0-rc.1", "2.0.0", Some(Step::Prerelease)),
        (Npm, "1.2.3", "git+ssh://host/x", None),
        (Cargo, "0.1.0", "0.2.0", Some(Step::Minor)),
        (Cargo, "1.0.0+a", "1.0.0+b", Some(Step::Patch)),
        (Python, "1.0", "1.0.1", Some(Step::Patch)),
        (Python, "1.0", "1.0.post1", Some(Step::Patch)),
        (Python, "1.0", "1.1.dev1", Some(Step::Prerelease)),
        (Python, "2024.1", "1!1.0", Some(Step::Major)),
        (Python, "1.2.3.4", "1.2.3.5", Some(Step::Patch)),
        (Python, "1.0", "1.0", None),
    ];
    for (ecosystem, from, to, wanted) in cases {
        assert_eq!(step(ecosystem, from, to), wanted, "{ecosystem:?} {from} {to}");
    }
}

fn locks() -> impl Strategy<Value = gatewright_deps::Lock> {
    let one = ("[a-d]", "[0-2]\\.[0-2]\\.0", "[ab]");
    proptest::collection::vec(one, 0..8).prop_map(|mut all| {
        all.sort();
        all.dedup_by(|a, b| (&a.0, &a.1) == (&b.0, &b.1));
        cargo(&all.iter().map(|(name, version, sum)| (&**name, &**version, &**sum)).collect::<Vec<_>>())
    })
}

proptest! {
    #[test]
    fn the_way_back_is_the_way_there_turned_round(before in locks(), after in locks()) {
        let (there, back) = (Difference::between(&before, &after), Difference::between(&after, &before));
        prop_assert_eq!(&there.added, &back.removed);
        prop_assert_eq!(&there.removed, &back.added);
        prop_assert_eq!(&there.replaced, &back.replaced);
        let turned: Vec<_> = back.changed.iter().map(|c| (&c.name, &c.to, &c.from)).collect();
        prop_assert_eq!(there.changed.iter().map(|c| (&c.name, &c.from, &c.to)).collect::<Vec<_>>(), turned);
        prop_assert!(Difference::between(&before, &before).is_empty());
        prop_assert_eq!(there.is_empty(), before == after);
    }
}
