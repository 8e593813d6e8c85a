//! Time grows with what is read and no faster.

use std::time::{Duration, Instant};

use gatewright_documents::{Ground, MAX_FINDINGS, check, claims};

use crate::{Files, healed};

/// How long this thread has worked, as Linux counts it: what others do beside it makes no difference.
fn worked() -> Duration {
    let counted = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let nanoseconds = counted.and_then(|text| text.split(' ').next()?.parse().ok());
    nanoseconds.map_or_else(|| BEGAN.elapsed(), Duration::from_nanos)
}

/// Where nobody counts, the clock does.
static BEGAN: std::sync::LazyLock<Instant> = std::sync::LazyLock::new(Instant::now);

#[test]
fn a_megabyte_of_anything_is_soon_done() {
    let files = crate::project();
    let ground = Ground::survey(&files).unwrap();
    for piece in [
        "a",
        "`",
        "``` ",
        "[",
        "![",
        "](",
        "*",
        "_",
        "> ",
        "- ",
        "# a\n",
        "<",
        "<!--",
        "&",
        "\\",
        "|",
        "`src/a.rs` ",
        "make a && ",
        "\n```sh\nmake a;b\n",
        "Rust 1.2+ ",
        "[a](b.md)",
        "[a]: b\n",
        "~~",
        "\n    make x\n",
        "1. ",
        "a. Rust ",
    ] {
        let text = piece.repeat(1024 * 1024 / piece.len());
        let began = worked();
        let found = claims(&text);
        let claimed = worked().checked_sub(began).unwrap();
        assert!(check(&ground, &found, "README.md").len() <= MAX_FINDINGS);
        let took = worked().checked_sub(began).unwrap();
        assert!(took < Duration::from_secs(10), "{piece}: {claimed:?} {took:?}");
        eprintln!("{piece:?} {claimed:?} {took:?}");
    }
}

#[test]
fn megabytes_of_sources_are_soon_read() {
    for (path, piece) in [
        ("db/schema.sql", "CREATE TABLE t (a int);"),
        ("db/schema.sql", "("),
        ("db/schema.sql", "$a$ "),
        ("db/schema.sql", "$a"),
        ("db/schema.sql", "a,"),
        ("db/schema.sql", "/* "),
        ("db/schema.sql", "CREATE TABLE t (a int); ALTER TABLE t ADD b int;"),
        ("schema.prisma", "model A {\n x\n}\n"),
        ("openapi.yaml", "a: "),
        ("openapi.yaml", "- "),
        ("openapi.yaml", "[a,"),
        ("openapi.json", "[1,"),
        ("Makefile", "a: b\n"),
        ("justfile", "a: b\n"),
        (".gitignore", "*a\n"),
        ("README.md", "[![a](b)](c) "),
    ] {
        let mut files = Files::default();
        files.0.insert(path.to_owned(), piece.repeat(1024 * 1024 / piece.len()));
        let began = worked();
        healed(&mut files);
        let took = worked().checked_sub(began).unwrap();
        assert!(took < Duration::from_secs(10), "{path} {piece}: {took:?}");
        eprintln!("{path} {piece:?} {took:?}");
    }
}
