//! What npm-packlist 10.0.4 and 11.3.0 list of synthetic trees: `tests/data/packlist.json`, made by running them.

use std::collections::BTreeMap;

use gatewright_packaging::npm::list::{Options, Rules, list_in};
use gatewright_packaging::{Kind, MapTree};
use serde::Deserialize;
use serde_json::value::RawValue;

#[derive(Deserialize)]
struct Case {
    name: String,
    /// A text is a file, `{"link": …}` a link, anything else the text of a file.
    files: BTreeMap<String, Box<RawValue>>,
    expect: BTreeMap<String, Vec<String>>,
}

#[derive(Deserialize)]
struct Link {
    link: String,
}

fn cases() -> Vec<Case> {
    serde_json::from_str(include_str!("../data/packlist.json")).unwrap()
}

/// The tree, and where its links lead.
fn tree(case: &Case) -> (MapTree, BTreeMap<String, String>) {
    let mut tree = MapTree::new();
    let mut links = BTreeMap::new();
    for (path, value) in &case.files {
        if let Ok(text) = serde_json::from_str::<String>(value.get()) {
            tree.put(path, Kind::File { executable: false }, text.into_bytes());
        } else if let Ok(Link { link }) = serde_json::from_str(value.get()) {
            let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
            links.insert(path.clone(), format!("{folder}/{link}"));
            tree.put(path, Kind::Link, Vec::new());
        } else {
            tree.put(path, Kind::File { executable: false }, value.get().into());
        }
    }
    (tree, links)
}

fn check(rules: Rules, version: &str) {
    let cases = cases();
    let mut agreeing = 0;
    for case in &cases {
        let (tree, links) = tree(case);
        let options = Options { links, ..Options::new(rules) };
        let listing = list_in(&tree, "", &options).unwrap();
        let paths: Vec<String> =
            listing.files.iter().map(gatewright_packaging::npm::list::Listed::printed).collect();
        if paths == case.expect[version] {
            agreeing += 1;
        } else {
            println!("{}:\n  npm  {:?}\n  here {paths:?}", case.name, case.expect[version]);
        }
    }
    println!("{version}: {agreeing} of {}", cases.len());
    assert!(cases.len() >= 157);
    assert_eq!(agreeing, cases.len());
}

#[test]
fn npm_11_and_the_list_agree() {
    check(Rules::V10, "10.0.4");
}

#[test]
fn npm_12_and_the_list_agree() {
    check(Rules::V11, "11.3.0");
}
