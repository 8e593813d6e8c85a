//! Real sets from npm, where `cargo xtask test` has installed them; skipped loudly where it has not.
#![allow(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "reads installed packages, and says when there are none"
)]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use design_tokens::{Options, Platform, compile};

use super::{css, scss};

fn packages() -> Option<PathBuf> {
    let target = std::env::var_os("CARGO_TARGET_DIR")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target"), PathBuf::from);
    let dir = target.join("npm/tokens/node_modules/dtcg-examples");
    if dir.is_dir() {
        return Some(dir);
    }
    let part = "real token sets (no packages in target/npm/tokens; `cargo xtask test` installs them)";
    println!("SKIPPED: {part}");
    if let Some(file) = std::env::var_os("GATEWRIGHT_SKIPS") {
        let opened = std::fs::OpenOptions::new().create(true).append(true).open(file);
        std::io::Write::write_all(&mut opened.unwrap(), format!("{part}\n").as_bytes()).unwrap();
    }
    None
}

fn load(dir: &Path, at: &Path, files: &mut BTreeMap<String, String>) {
    for entry in std::fs::read_dir(at).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() {
            load(dir, &path, files);
        } else if path.extension().is_some_and(|e| e == "json") {
            let name = path.strip_prefix(dir).unwrap().to_string_lossy().into_owned();
            files.insert(name, std::fs::read_to_string(&path).unwrap());
        }
    }
}

#[test]
fn real_sets_build_and_their_output_is_read_by_others() {
    let Some(dir) = packages() else { return };
    let mut files = BTreeMap::new();
    load(&dir, &dir, &mut files);
    for (set, count, contexts) in [
        ("shopify-polaris", 67, vec![]),
        ("figma-sds", 298, vec![]),
        ("microsoft-fluent", 179, vec![("theme", "default")]),
        ("adobe-spectrum", 1_579, vec![("theme", "light"), ("size", "desktop")]),
        ("ibm-carbon", 356, vec![("breakpoint", "md")]),
    ] {
        let contexts = contexts.into_iter().map(|(k, v)| (k.to_owned(), v.to_owned())).collect();
        let options = Options { contexts, ..Options::default() };
        let compiled = compile(&[format!("{set}.resolver.json")], &files, &options);
        let compiled =
            compiled.unwrap_or_else(|e| panic!("{set}: {:#?}", e.iter().take(5).collect::<Vec<_>>()));
        assert_eq!(compiled.tokens.len(), count, "{set}");
        let text = css(&compiled, &options);
        for bad in ["[object", "NaN", "undefined", ": ;"] {
            assert!(!text.contains(bad), "{set}: {bad}");
        }
        assert!(scss(&compiled, &options).len() >= count, "{set}");
        assert!(compiled.emit(Platform::Js, &options).unwrap()[0].text.contains("export const tokens"));
    }
}
