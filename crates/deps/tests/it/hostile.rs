//! Locks that were made to harm.

use gatewright_deps::{Format, MAX_BYTES, MAX_PACKAGES, Source, Unread, read};
use proptest::prelude::*;

use crate::{lock, named};

#[test]
fn names_and_versions_are_text_whatever_they_say() {
    let text = r#"{"lockfileVersion": 3, "packages": {
        "node_modules/__proto__": {"version": "../../etc/passwd", "integrity": "sha512-x"},
        "node_modules/../../x": {"version": "1.0.0", "resolved": "https://user:secret@Evil.example:8443/x.tgz"},
        "node_modules/constructor": {"version": "1.0.0\u001b[2J", "resolved": false}}}"#;
    let lock = lock(Format::Npm, text);
    assert_eq!(named(&lock, "__proto__")[0].version.as_deref(), Some("../../etc/passwd"));
    let away = named(&lock, "../../x")[0];
    assert_eq!((away.source, away.host.as_deref()), (Source::Url, Some("evil.example")));
    assert_eq!(named(&lock, "constructor")[0].source, Source::Unknown);
    assert!(!format!("{lock:?}").contains("secret"));
}

#[test]
fn bounds_hold_before_anything_is_made_of_a_lock() {
    let large = vec![b' '; 200 << 20];
    for format in Format::ALL {
        assert_eq!(read(format, &large), Err(Unread::Large(large.len())));
    }
    let mut many = String::from(r#"{"lockfileVersion":3,"packages":{"":{}"#);
    for index in 0..1_000_000 {
        many += &format!(r#","node_modules/{index}":{{}}"#);
    }
    many += "}}";
    assert!(many.len() < MAX_BYTES);
    assert_eq!(read(Format::Npm, many.as_bytes()), Err(Unread::Many(1_000_001)));
    const { assert!(MAX_PACKAGES < 1_000_001) };
}

#[test]
fn nesting_without_end_is_told_and_no_overflow() {
    let old =
        format!(r#"{{"lockfileVersion":1,{}"#, r#""dependencies":{"a":{"version":"1.0.0","#.repeat(100_000));
    assert!(matches!(read(Format::Npm, old.as_bytes()), Err(Unread::Malformed(_))));
    let arrays = format!("package = {}", "[".repeat(100_000));
    for format in [Format::Cargo, Format::Uv, Format::Poetry, Format::Pylock] {
        assert!(matches!(read(format, arrays.as_bytes()), Err(Unread::Malformed(_))), "{format:?}");
    }
    let blocks = (0..2_000).map(|depth| format!("{}a:", " ".repeat(depth))).collect::<Vec<_>>().join("\n");
    let berry = "__metadata:\n  version: 8\n";
    for deep in ["[".repeat(100_000), blocks] {
        let (pnpm, yarn) =
            (format!("lockfileVersion: '9.0'\npackages:\n  a: {deep}"), format!("{berry}a: {deep}"));
        assert!(matches!(read(Format::Pnpm, pnpm.as_bytes()), Err(Unread::Malformed(_))));
        assert!(matches!(read(Format::Yarn, yarn.as_bytes()), Err(Unread::Malformed(_))));
    }
    let bun = format!("{{\"lockfileVersion\":1,\"packages\":{{\"a\":{}", "[".repeat(100_000));
    assert!(matches!(read(Format::Bun, bun.as_bytes()), Err(Unread::Malformed(_))));
}

#[test]
fn d06_aliases_of_yaml_are_not_expanded() {
    let mut bomb = String::from("lockfileVersion: '9.0'\na0: &a0 {x: lol}\n");
    for level in 1..40 {
        let aliases = vec![format!("*a{}", level - 1); 10].join(", ");
        bomb.push_str(&format!("a{level}: &a{level} [{aliases}]\n"));
    }
    bomb.push_str("packages:\n  a@1.0.0: *a39\n  b@1.0.0: {resolution: {integrity: sha512-b}}\n");
    let read = lock(Format::Pnpm, &bomb);
    assert_eq!(read.packages.iter().map(|p| p.name.as_str()).collect::<Vec<_>>(), ["b"]);
}

#[test]
fn more_packages_than_are_read_are_told_by_every_format_of_npm() {
    let count = MAX_PACKAGES + 1;
    let mut pnpm = String::from("lockfileVersion: '9.0'\npackages:\n");
    let mut yarn = String::from("# yarn lockfile v1\n\n");
    let mut bun = String::from("{\"lockfileVersion\":1,\"packages\":{");
    for index in 0..count {
        pnpm += &format!("  p{index}@1.0.0: {{}}\n");
        yarn += &format!("p{index}@1.0.0:\n");
        bun += &format!("\"p{index}\":[\"p{index}@1.0.0\"],");
    }
    bun += "}}";
    for (format, text) in [(Format::Pnpm, pnpm), (Format::Yarn, yarn), (Format::Bun, bun)] {
        assert_eq!(read(format, text.as_bytes()), Err(Unread::Many(count)), "{format:?}");
    }
}

#[test]
fn editions_that_nobody_knows_are_refused_by_number() {
    let cases = [
        (Format::Npm, r#"{"lockfileVersion": 4}"#, "4"),
        (Format::Cargo, "version = 5", "5"),
        (Format::Uv, "version = 2", "2"),
        (Format::Pylock, "lock-version = \"2.0\"", "2.0"),
        (Format::Pipfile, r#"{"_meta": {"pipfile-spec": 7}}"#, "7"),
        (Format::Pnpm, "lockfileVersion: 10.0\n", "10.0"),
        (Format::Yarn, "__metadata:\n  version: 99\n", "99"),
        (Format::Bun, r#"{"lockfileVersion": 3, "packages": {},}"#, "3"),
    ];
    for (format, text, edition) in cases {
        let unread = read(format, text.as_bytes());
        assert!(
            matches!(&unread, Err(Unread::Edition(said, _)) if said == edition),
            "{format:?}: {unread:?}"
        );
    }
}

proptest! {
    #[test]
    fn any_bytes_give_an_answer(bytes in proptest::collection::vec(any::<u8>(), 0..256), text in "[\\[\\]{}\":,=a-z0-9\n]{0,200}") {
        for format in Format::ALL {
            let _ = read(format, &bytes);
            let _ = read(format, text.as_bytes());
        }
    }
}
