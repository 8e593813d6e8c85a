//! What a kit's folder holds, and what it refuses.

use std::collections::BTreeMap;

use kits::{Gallery, Kit, KitError, Missing};
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use crate::fixture::{Files, PNG, kit, pages};
use crate::tree;

#[test]
fn the_same_facts_give_the_same_bytes() {
    let make = || {
        let (kit, files) = kit("text", "color");
        kits::build(&kit, files).unwrap()
    };
    assert_eq!(make(), make());
}

#[test]
fn kit_json_has_the_hash_of_every_other_file() {
    let (kit, files) = kit("é \"text\"", "color");
    let handed = files.clone();
    let built = kits::build(&kit, files).unwrap();
    let text = std::str::from_utf8(&built["kit.json"]).unwrap();
    assert!(text.ends_with("}\n") && text.starts_with("{\n  \"schema\": 1,\n  \"facts\": {"));
    let manifest: Value = serde_json::from_str(text).unwrap();
    assert_eq!(manifest["facts"]["feature"], "é \"text\"");
    assert_eq!(manifest["facts"]["tokens"]["added"][0]["values"][0]["distance"], 1.5);
    let listed = manifest["files"].as_object().unwrap();
    assert_eq!(listed.len() + 1, built.len());
    for (path, bytes) in &built {
        if path != "kit.json" {
            let hex = Sha256::digest(bytes).iter().fold(String::new(), |out, b| out + &format!("{b:02x}"));
            assert_eq!(listed[path]["sha256"], hex.as_str(), "{path}");
            assert_eq!(listed[path]["bytes"], bytes.len(), "{path}");
        }
    }
    let order: Vec<usize> =
        built.keys().filter_map(|p| text.find(&format!("\n    {p:?}: {{\n      \"sha256\""))).collect();
    assert!(order.len() + 1 >= built.len() && order.is_sorted());
    for (path, bytes) in handed {
        assert_eq!(built[&path], bytes, "what is handed over is not touched");
    }
}

#[test]
fn only_pages_with_something_to_say_are_made_and_what_is_missing_is_named() {
    let kit = Kit {
        feature: "f".into(),
        missing: vec![Missing { part: "tokens".into(), why: "There is no `tokens.json`.".into() }],
        ..Kit::default()
    };
    let built = kits::build(&kit, Files::new()).unwrap();
    assert_eq!(built.keys().collect::<Vec<_>>(), ["icon.svg", "index.html", "kit.json", "style.css"]);
    let index = tree::parse(&built["index.html"]);
    assert!(index.text().contains("There is no tokens.json.") && index.text().contains("Nothing was judged"));

    let (mut all, files) = kit_of("text");
    assert_eq!(pages(&kits::build(&all, files.clone()).unwrap()).len(), 8);
    all.notes = None;
    for example in all.gallery.iter_mut().flat_map(|g| &mut g.components).flat_map(|c| &mut c.examples) {
        example.findings = None;
    }
    let fewer = kits::build(&all, files).unwrap();
    assert!(!fewer.contains_key("notes.html") && !fewer.contains_key("accessibility.html"));
    assert!(fewer.contains_key("tokens.html") && fewer.contains_key("components.html"));
}

fn kit_of(text: &str) -> (Kit, Files) {
    kit(text, "color")
}

fn refused(change: impl FnOnce(&mut Kit, &mut Files)) -> KitError {
    let (mut kit, mut files) = kit_of("text");
    change(&mut kit, &mut files);
    kits::build(&kit, files).unwrap_err()
}

#[test]
fn what_cannot_stand_in_a_kit_is_refused() {
    for path in ["/etc/passwd", "../x.png", "a//b", "a/./b", "a\u{7}b", "a\\b", ""] {
        let error = refused(|_, files| drop(files.insert(path.into(), Vec::new())));
        assert!(matches!(&error, KitError::Path { path: p, .. } if p == path), "{path:?}: {error}");
        assert!(!error.to_string().contains(char::is_control), "{error}");
    }
    for path in ["index.html", "KIT.json", "components/x.html", "style.css", "icon.svg"] {
        let error = refused(|_, files| drop(files.insert(path.into(), Vec::new())));
        assert!(matches!(error, KitError::Taken(_)), "{path}: {error}");
    }
    let error = refused(|_, files| drop(files.remove("pictures/after.png")));
    assert!(matches!(error, KitError::Missing { what: "a picture", .. }), "{error}");
    let error = refused(|_, files| drop(files.remove("examples/a b.html")));
    assert!(matches!(error, KitError::Missing { what: "an example's page", .. }), "{error}");
    let error = refused(|_, files| drop(files.remove("storybook/index.html")));
    assert!(matches!(error, KitError::Missing { what: "the page of Storybook", .. }), "{error}");
    let error =
        refused(|_, files| drop(files.insert("pictures/after.png".into(), b"<svg onload=x>".to_vec())));
    assert!(matches!(error, KitError::NotPng(_)), "{error}");
    let error = refused(|kit, files| {
        files.insert("pictures/x.html".into(), PNG.to_vec());
        let pictures = &mut kit.gallery.as_mut().unwrap().components[0].examples[0].pictures[0];
        pictures.after.as_mut().unwrap().path = "pictures/x.html".into();
    });
    assert!(matches!(error, KitError::NotPng(_)), "{error}");
    let error = refused(|kit, _| {
        let component = kit.gallery.as_ref().unwrap().components[1].clone();
        kit.gallery = Some(Gallery { components: vec![component; 2_001], ..Gallery::default() });
    });
    assert!(matches!(error, KitError::TooMany(2_001)), "{error}");
}

#[test]
fn large_facts_are_cut_in_pages_and_whole_in_kit_json() {
    let (mut kit, files) = kit_of("text");
    let tokens = kit.tokens.as_mut().unwrap();
    let mut row = tokens.added[0].clone();
    row.id = "x".repeat(100_000);
    row.used_in = vec!["src/a.css:1".into(); 10_000];
    tokens.added = vec![tokens.added[0].clone(); 20_000];
    tokens.changed = vec![row];
    let built = kits::build(&kit, files).unwrap();
    let sizes: BTreeMap<&str, usize> = pages(&built).into_iter().map(|(p, b)| (p, b.len())).collect();
    assert!(sizes["tokens.html"] < 8_000_000, "{sizes:?}");
    assert!(built["kit.json"].len() > 10_000_000);
    let text = tree::parse(&built["tokens.html"]).text();
    assert!(
        text.contains("and 19000 more, which kit.json has")
            && text.contains("and 9897 more, which kit.json has")
    );
}
