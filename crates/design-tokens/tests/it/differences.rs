//! What differs between two builds.

use design_tokens::diff::{Aspect, Bump, ChangeKind, Difference, diff};
use design_tokens::{ModeOptions, Options};
use proptest::prelude::*;

use super::{files, one};

fn between(before: &str, after: &str) -> Difference {
    diff(&one(before).unwrap(), &one(after).unwrap())
}

fn kinds(difference: &Difference) -> Vec<(ChangeKind, &str, Bump)> {
    difference.tokens.iter().map(|t| (t.kind, t.id.as_str(), t.bump)).collect()
}

#[test]
fn a_removed_token_is_major_a_new_one_minor_another_value_a_patch() {
    let before = r##"{"c":{"$type":"color","a":{"$value":"#000"},"b":{"$value":"#fff"}}}"##;
    let found =
        between(before, r##"{"c":{"$type":"color","a":{"$value":"#010101"},"b":{"$value":"#fff"}}}"##);
    assert_eq!(kinds(&found), [(ChangeKind::Changed, "c.a", Bump::Patch)]);
    assert_eq!(found.tokens[0].aspects, [Aspect::Value]);
    let found = between(before, r##"{"c":{"$type":"color","a":{"$value":"#000"}}}"##);
    assert_eq!((kinds(&found), found.bump()), (vec![(ChangeKind::Removed, "c.b", Bump::Major)], Bump::Major));
    let more =
        r##"{"c":{"$type":"color","a":{"$value":"#000"},"b":{"$value":"#fff"},"z":{"$value":"#abc"}}}"##;
    assert_eq!(kinds(&between(before, more)), [(ChangeKind::Added, "c.z", Bump::Minor)]);
    assert_eq!(between(before, before), Difference::default());
}

#[test]
fn type_reference_and_deprecation_are_told_apart() {
    let before =
        r#"{"a":{"$type":"number","$value":1},"b":{"$type":"number","$value":1},"c":{"$value":"{a}"}}"#;
    let found = between(
        before,
        r#"{"a":{"$type":"fontWeight","$value":1},"b":{"$type":"number","$value":1,"$deprecated":true},"c":{"$value":"{b}"}}"#,
    );
    let told: Vec<_> = found.tokens.iter().map(|t| (t.id.as_str(), t.aspects.clone(), t.bump)).collect();
    assert_eq!(
        told,
        [
            ("a", vec![Aspect::Type], Bump::Major),
            ("b", vec![Aspect::Deprecated], Bump::Minor),
            ("c", vec![Aspect::Reference], Bump::Patch),
        ]
    );
}

#[test]
fn a_rename_needs_the_same_value_in_every_mode_and_a_name_that_is_alike() {
    let before = r##"{"color":{"$type":"color","brand":{"$value":"#123456"},"ink":{"$value":"#000"}},"x":{"$value":"{color.brand}"}}"##;
    let after = r##"{"color":{"$type":"color","brand-base":{"$value":"#123456"},"ink":{"$value":"#000"}},"x":{"$value":"{color.brand-base}"}}"##;
    let found = between(before, after);
    assert_eq!(kinds(&found), [(ChangeKind::Renamed, "color.brand-base", Bump::Major)]);
    assert_eq!(found.tokens[0].was.as_deref(), Some("color.brand"));
    // In the dark they differ: another token.
    let dark =
        |id: &str, value: &str| format!(r#"{{"color":{{"$type":"color","{id}":{{"$value":"{value}"}}}}}}"#);
    let mode = ModeOptions { name: "dark".into(), sources: vec!["d.json".into()], ..ModeOptions::default() };
    let options = Options { modes: vec![mode], ..Options::default() };
    let old = files(&[("t.json", before), ("d.json", &dark("brand", "#fff"))], &options).unwrap();
    let new = files(&[("t.json", after), ("d.json", &dark("brand-base", "#eee"))], &options).unwrap();
    let found = diff(&old, &new);
    assert_eq!((found.count(ChangeKind::Renamed), found.count(ChangeKind::Removed)), (0, 1), "{found:?}");
    // The same value under a name of its own is not a rename.
    let other = after.replace("brand-base", "zzz");
    assert_eq!(between(before, &other).count(ChangeKind::Renamed), 0);
}

#[test]
fn among_equal_values_the_most_alike_name_is_the_renamed_one() {
    let before = r#"{"space":{"$type":"number","inset-small":{"$value":4},"gap-small":{"$value":4}}}"#;
    let after = r#"{"space":{"$type":"number","inset-sm":{"$value":4},"gap-sm":{"$value":4}}}"#;
    let found = between(before, after);
    let told: Vec<_> = found.tokens.iter().map(|t| (t.was.as_deref().unwrap_or(""), t.id.as_str())).collect();
    assert_eq!(told, [("space.gap-small", "space.gap-sm"), ("space.inset-small", "space.inset-sm")]);
}

#[test]
fn modes_that_come_and_go_are_told_as_modes() {
    let text = r#"{"a":{"$type":"number","$value":1}}"#;
    let mode = |name: &str| ModeOptions {
        name: name.into(),
        sources: vec!["d.json".into()],
        ..ModeOptions::default()
    };
    let with =
        |names: &[&str]| Options { modes: names.iter().map(|n| mode(n)).collect(), ..Options::default() };
    let all = [("t.json", text), ("d.json", r#"{"a":{"$type":"number","$value":2}}"#)];
    let (dark, dim) = (files(&all, &with(&["dark"])).unwrap(), files(&all, &with(&["dim"])).unwrap());
    let found = diff(&dark, &dim);
    assert_eq!(
        (found.modes_added.clone(), found.modes_removed.clone()),
        (vec!["dim".to_owned()], vec!["dark".to_owned()])
    );
    assert_eq!((found.tokens.len(), found.bump()), (0, Bump::Major));
}

#[test]
fn colours_are_as_far_apart_as_oklab_says() {
    let grey = |n: &str| format!(r#"{{"c":{{"$type":"color","$value":"{n}"}}}}"#);
    let found = between(&grey("#000000"), &grey("#ffffff"));
    assert_eq!(found.tokens[0].values[0].distance, Some(100.0));
    let alpha = between(&grey("#00000080"), &grey("#000000"));
    assert!(alpha.tokens[0].values[0].distance.unwrap() > 40.0, "alpha counts");
}

proptest! {
    /// What is told is all that differs: from the one side and the told changes the other side's paths follow.
    #[test]
    fn the_paths_of_one_side_and_the_changes_give_those_of_the_other(
        before in proptest::collection::btree_map("[a-e]{1,3}", 0..4u8, 1..12),
        after in proptest::collection::btree_map("[a-e]{1,3}", 0..4u8, 1..12),
    ) {
        let text = |tokens: &std::collections::BTreeMap<String, u8>| {
            let members: Vec<String> =
                tokens.iter().map(|(k, v)| format!(r#""{k}":{{"$type":"number","$value":{v}}}"#)).collect();
            format!("{{{}}}", members.join(","))
        };
        let found = between(&text(&before), &text(&after));
        let mut now = before.clone();
        for change in &found.tokens {
            match change.kind {
                ChangeKind::Removed => { now.remove(&change.id); }
                ChangeKind::Renamed => {
                    let value = now.remove(change.was.as_ref().unwrap()).unwrap();
                    now.insert(change.id.clone(), value);
                }
                ChangeKind::Added | ChangeKind::Changed => {
                    let value = change.values[0].after.as_ref().unwrap().parse().unwrap();
                    now.insert(change.id.clone(), value);
                }
            }
        }
        prop_assert_eq!(&now, &after);
        let back = between(&text(&after), &text(&before));
        prop_assert_eq!(back.count(ChangeKind::Renamed), found.count(ChangeKind::Renamed));
        prop_assert_eq!(back.count(ChangeKind::Removed), found.count(ChangeKind::Added));
    }
}
