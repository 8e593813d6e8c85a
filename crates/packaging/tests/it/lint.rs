//! publint 0.3.25 and we say the same of the same packages.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test that fails says where")]

use std::collections::BTreeMap;

use gatewright_packaging::npm::lint::{Code, LintError, Message, lint};
use gatewright_packaging::{Packed, Severity};
use proptest::prelude::*;
use serde::Deserialize;
use serde_json::{Value, json};

/// A package and what publint said of it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    name: String,
    files: BTreeMap<String, String>,
    #[serde(default)]
    found: Vec<Value>,
    /// publint failed; we do not.
    throws: Option<String>,
    #[serde(default)]
    options: Options,
}

/// publint's own, which are applied to what we say.
#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields, default)]
struct Options {
    strict: bool,
    level: Option<String>,
}

fn packed(files: &BTreeMap<String, String>) -> Packed {
    files.iter().fold(Packed::new(), |packed, (path, text)| packed.with(path, text))
}

/// A message as publint prints it.
fn as_publint(message: &Message, strict: bool) -> Value {
    let kind = match message.severity {
        Severity::Warning if !strict => "warning",
        Severity::Error | Severity::Warning => "error",
        Severity::Note => "suggestion",
    };
    json!({"code": message.code, "type": kind, "path": message.at, "args": message.args})
}

fn sorted(mut messages: Vec<Value>) -> Vec<Value> {
    messages.sort_by_cached_key(ToString::to_string);
    messages
}

fn cases() -> Vec<Case> {
    serde_json::from_str(include_str!("../data/publint.json")).unwrap()
}

#[test]
fn what_publint_says_is_said() {
    let cases = cases();
    assert_eq!(cases.len(), 164);
    let mut wrong = Vec::new();
    for case in &cases {
        let found = lint(&packed(&case.files)).unwrap();
        let worst = match case.options.level.as_deref() {
            Some("error") => ["error"].as_slice(),
            Some("warning") => &["error", "warning"],
            _ => &["error", "warning", "suggestion"],
        };
        let ours = found.iter().map(|message| as_publint(message, case.options.strict));
        let ours =
            sorted(ours.filter(|message| worst.contains(&message["type"].as_str().unwrap())).collect());
        let theirs = sorted(case.found.clone());
        if case.throws.is_none() && ours != theirs {
            wrong.push(format!("{}\n  ours   {}\n  theirs {}", case.name, json!(ours), json!(theirs)));
        }
    }
    assert!(wrong.is_empty(), "{} differ\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn every_message_becomes_a_check_with_a_fix() {
    let mut seen = std::collections::BTreeSet::new();
    for case in cases() {
        for message in lint(&packed(&case.files)).unwrap() {
            let check = message.to_check();
            assert_eq!(check.id, format!("npm.publint.{}", message.code.as_str()));
            assert_eq!((check.passed, check.severity), (false, message.severity));
            let fix = check.fix.unwrap();
            for sentence in [&check.detail, &fix] {
                assert!(sentence.ends_with('.') && !sentence.contains(['\n', '\r']), "{sentence}");
                assert!(!sentence.contains(message.code.as_str()), "{sentence}");
            }
            assert!(!fix.starts_with("Correct"), "no fix of its own: {}", message.code);
            assert!(!check.files.is_empty());
            seen.insert(message.code);
        }
    }
    let unseen: Vec<&str> =
        Code::ALL.iter().filter(|code| !seen.contains(code)).map(|code| code.as_str()).collect();
    // The two that no archive has, and those of which the cases have none.
    assert_eq!(
        unseen,
        [
            "FILE_NOT_PUBLISHED",
            "IMPORTS_GLOB_NO_MATCHED_FILES",
            "IMPORTS_MODULE_SHOULD_PRECEDE_REQUIRE",
            "USE_EXPORTS_BROWSER"
        ]
    );
}

#[test]
fn what_the_cases_lack_is_said_too() {
    let manifest = r##"{"name":"t","type":"module","exports":"./a.js","browser":"./a.js","files":[],"engines":{"node":"*"},
        "sideEffects":false,"imports":{"#a":{"require":"./a.js","module":"./a.js"}}}"##;
    let found = lint(&Packed::new().with("package.json", manifest).with("a.js", "")).unwrap();
    let codes: Vec<&str> = found.iter().map(|message| message.code.as_str()).collect();
    assert_eq!(codes, ["IMPORTS_MODULE_SHOULD_PRECEDE_REQUIRE", "USE_EXPORTS_BROWSER"]);
}

#[test]
fn where_publint_fails_the_rest_is_still_said() {
    for (fields, expected) in [
        (r#""dependencies":{"a":1,"b":"file:b"}"#, vec![Code::LocalDependency, Code::UseType]),
        (r#""repository":null"#, vec![Code::UseType]),
        (r#""browser":null,"exports":"./nope.js""#, vec![Code::FileDoesNotExist, Code::UseType]),
        (r#""exports":true"#, vec![Code::UseType]),
        (r#""exports":{".":5}"#, vec![Code::UseType]),
    ] {
        let manifest = format!(r#"{{"name":"t","files":[],"sideEffects":false,{fields}}}"#);
        let found = lint(&Packed::new().with("package.json", manifest)).unwrap();
        assert_eq!(found.iter().map(|message| message.code).collect::<Vec<_>>(), expected, "{fields}");
    }
}

#[test]
fn null_keys_of_exports_close_patterns_of_imports_and_a_condition_may_be_called_imports() {
    let of = |fields: &str| {
        let text = format!(r#"{{"name":"t","type":"module","files":[],{fields}}}"#);
        let packed = Packed::new().with("package.json", text).with("l/a.js", "module.exports = 1");
        lint(&packed).unwrap().iter().map(|m| format!("{} {}", m.code, m.at.join(" "))).collect::<Vec<_>>()
    };
    let open = of(r##""exports":{},"imports":{"#a/*":"./l/*"}"##);
    assert_eq!(open, ["FILE_INVALID_FORMAT imports #a/*"]);
    assert!(of(r##""exports":{"*":null},"imports":{"#a/*":"./l/*"}"##).is_empty());
    let named = of(r##""exports":{},"imports":{"#a":{"imports":{"x":"./l/b.js"}}}"##);
    assert_eq!(named, ["IMPORTS_KEY_INVALID imports #a imports x"]);
}

#[test]
fn a_manifest_that_cannot_be_read_is_refused() {
    let of = |text: &str| lint(&Packed::new().with("package.json", text)).unwrap_err();
    assert_eq!(lint(&Packed::new()).unwrap_err(), LintError::NoManifest);
    assert_eq!(of("[]"), LintError::NotAnObject);
    assert!(matches!(of("{\n!"), LintError::Malformed { line: 2, .. }));
    assert!(matches!(of(&" ".repeat(5 << 20)), LintError::ManifestTooLong { .. }));
    for (open, close) in [(r#"{"a":"#, "}"), ("[", "]")] {
        let deep = format!(r#"{{"exports":{}0{}}}"#, open.repeat(10_000), close.repeat(10_000));
        assert!(matches!(of(&deep), LintError::Malformed { .. }));
        // The deepest that is read.
        let nested = format!(r#"{{"exports":{}0{}}}"#, open.repeat(126), close.repeat(126));
        assert!(lint(&Packed::new().with("package.json", nested)).is_ok());
    }
}

#[test]
fn what_is_made_to_take_long_ends() {
    let started = std::time::Instant::now();
    let manifest = |fields: &str| format!(r#"{{"name":"t",{fields}}}"#);
    let many = |prefix: &str, value: &str, count: usize| {
        let members: Vec<String> = (0..count).map(|at| format!(r#""{prefix}{at}":{value}"#)).collect();
        members.join(",")
    };
    let files = |packed: Packed, count: usize| {
        (0..count).fold(packed, |packed, at| packed.with(&format!("lib/{at}.js"), "export default 1"))
    };
    // Patterns that fit everything.
    let patterns = manifest(&format!(r#""exports":{{{}}}"#, many("./", r#""./lib/*""#, 20_000)));
    let packed = files(Packed::new().with("package.json", patterns), 5_000);
    assert_eq!(lint(&packed).unwrap_err(), LintError::TooManyMessages);
    let patterns =
        manifest(&format!(r#""type":"module","exports":{{{}}}"#, many("./", r#""./lib/*""#, 20_000)));
    let packed = files(Packed::new().with("package.json", patterns), 5_000);
    assert_eq!(lint(&packed).unwrap_err(), LintError::TooManyMatches);
    // One long key above many targets.
    let long = "k".repeat(1 << 20);
    let below = manifest(&format!(r#""exports":{{"./{long}":[{}]}}"#, vec![r#""/""#; 500_000].join(",")));
    let packed = Packed::new().with("package.json", below);
    assert_eq!(lint(&packed).unwrap_err(), LintError::TooManyMessages);
    // A folder in a folder, many times over.
    let deep = "d/".repeat(100_000);
    let packed = (0..20).fold(Packed::new().with("package.json", "{}"), |packed, at| {
        packed
            .with(&format!("{deep}{at}.js"), "export default 1")
            .with(&format!("{deep}{at}/package.json"), r#"{"type":"module"}"#)
    });
    assert!(!lint(&packed).unwrap().is_empty());
    assert!(started.elapsed().as_secs() < 120, "{:?}", started.elapsed());
}

/// A value as text: names that mean something, in any order, some of them twice.
fn value() -> impl Strategy<Value = String> {
    const TEXTS: [&str; 26] = [
        ".",
        "./",
        "",
        "*",
        "/",
        "./*",
        "./lib/*.js",
        "./lib/*/*",
        "./lib/",
        "lib",
        "./a.js",
        "./b.mjs",
        "a.cjs",
        "./a.d.ts",
        "./t.tsx",
        "./x.mjsx",
        "module",
        "commonjs",
        "file:x",
        "std:lib",
        "c:/x",
        "../a.js",
        "https://github.com/u/r",
        "u/r",
        "é/*",
        "\\u0000*",
    ];
    const KEYS: [&str; 28] = [
        ".",
        "./a",
        "./*",
        "./lib/",
        "#a",
        "x",
        "import",
        "require",
        "types",
        "types@>=5",
        "node",
        "browser",
        "worker",
        "module",
        "default",
        "0",
        "10",
        "url",
        "type",
        "main",
        "exports",
        "imports",
        "bin",
        "./a.js",
        "",
        "publishConfig",
        "toString",
        "__proto__",
    ];
    let leaf = prop_oneof![
        Just("null".to_owned()),
        Just("true".to_owned()),
        Just("0".to_owned()),
        Just("-1.5e3".to_owned()),
        proptest::sample::select(&TEXTS[..]).prop_map(|text| format!("\"{text}\"")),
    ];
    leaf.prop_recursive(5, 40, 6, |inner| {
        let member = (proptest::sample::select(&KEYS[..]), inner.clone());
        prop_oneof![
            prop::collection::vec(inner, 0..4).prop_map(|items| format!("[{}]", items.join(","))),
            prop::collection::vec(member, 0..6).prop_map(|members| {
                let members: Vec<String> =
                    members.into_iter().map(|(key, value)| format!("\"{key}\":{value}")).collect();
                format!("{{{}}}", members.join(","))
            }),
        ]
    })
}

fn manifest() -> impl Strategy<Value = String> {
    const FIELDS: [&str; 24] = [
        "main",
        "module",
        "exports",
        "exports",
        "imports",
        "browser",
        "types",
        "typings",
        "typesVersions",
        "type",
        "files",
        "license",
        "engines",
        "sideEffects",
        "bin",
        "repository",
        "dependencies",
        "publishConfig",
        "jsnext:main",
        "jsnext",
        "unpkg",
        "jsdelivr",
        "name",
        "publishConfig",
    ];
    prop::collection::vec((proptest::sample::select(&FIELDS[..]), value()), 0..10).prop_map(|fields| {
        let fields: Vec<String> =
            fields.into_iter().map(|(name, value)| format!("\"{name}\":{value}")).collect();
        format!("{{{}}}", fields.join(","))
    })
}

proptest! {
    #[test]
    fn any_manifest_is_linted_twice_the_same(
        manifest in manifest(),
        nested in value(),
        code in "(import|export|from|exports|\\.|__esModule|default|=| |;|/\\*|\\*/|//|@flow|\\{|require\\(|\\PC){0,20}",
        path in "[a-z./*\\\\]{1,12}",
    ) {
        let packed = Packed::new()
            .with("package.json", &manifest)
            .with("lib/package.json", nested)
            .with("lib/a.js", &code)
            .with("a.js", &code)
            .with("a.d.ts", "")
            .with("b.mjs", code)
            .with("LICENSE", "")
            .with(&path, b"\xFF\xFEexport default 1");
        let first = lint(&packed).unwrap();
        prop_assert_eq!(&first, &lint(&packed).unwrap());
        for message in first {
            let check = message.to_check();
            prop_assert!(!check.detail.is_empty() && check.fix.is_some());
        }
    }

    #[test]
    fn any_text_is_a_manifest_or_refused(text in "\\PC{0,60}") {
        let _ = lint(&Packed::new().with("package.json", text));
    }
}
