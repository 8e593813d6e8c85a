//! Every format, over files that the managers wrote (`fixtures/README.md`) and what they write for rarer sources.

use gatewright_deps::{Difference, Format, Source};

use crate::{lock, named};

const NPM: [&str; 3] = [
    include_str!("../fixtures/npm-1.json"),
    include_str!("../fixtures/npm-2.json"),
    include_str!("../fixtures/npm-3.json"),
];

#[test]
fn names_of_files_tell_their_formats() {
    let of = |file| Format::of(file);
    assert_eq!(of("npm-shrinkwrap.json"), Some(Format::Npm));
    assert_eq!(of("pylock.dev.toml"), Some(Format::Pylock));
    assert_eq!(
        (of("pylock..toml"), of("pylock.a.b.toml"), of("bun.lockb"), of("a/Cargo.lock")),
        (None, None, None, None)
    );
}

#[test]
fn the_three_editions_of_npm_hold_the_same() {
    let locks = NPM.map(|text| lock(Format::Npm, text));
    for (index, lock) in locks.iter().enumerate() {
        assert_eq!(lock.edition.as_deref(), Some(["1", "2", "3"][index]));
        // `five` is an alias of is-number 5, is-odd brings 6 below itself, the project wants 7.
        let versions: Vec<_> = named(lock, "is-number").iter().filter_map(|p| p.version.as_deref()).collect();
        assert_eq!(versions, ["5.0.0", "6.0.0", "7.0.0"], "edition {}", index + 1);
        let alias = named(lock, "is-number")[0];
        assert_eq!(alias.place.as_deref(), Some("node_modules/five"));
        let esbuild = named(lock, "esbuild")[0];
        assert_eq!((esbuild.dev, esbuild.source), (Some(true), Source::Registry));
        assert_eq!(esbuild.scripts, if index == 0 { None } else { Some(true) });
        assert_eq!(esbuild.engine.as_deref(), if index == 0 { None } else { Some(">=18") });
        assert_eq!(esbuild.digests.len(), 1);
        assert!(named(lock, "shop").is_empty(), "the project is not pinned by itself");
        assert!(Difference::between(&locks[0], lock).is_empty());
    }
}

#[test]
fn npm_tells_where_packages_come_from() {
    let text = r#"{"lockfileVersion": 3, "packages": {
        "": {"name": "shop"},
        "members/a": {"name": "@shop/a", "version": "1.0.0"},
        "node_modules/@shop/a": {"resolved": "members/a", "link": true},
        "node_modules/git": {"version": "1.0.0", "resolved": "git+ssh://git@github.com/o/git.git#abc"},
        "node_modules/url": {"version": "1.0.0", "resolved": "https://cdn.example/url.tgz", "integrity": "sha512-a"},
        "node_modules/file": {"version": "1.0.0", "resolved": "file:vendor/file.tgz"},
        "node_modules/a/node_modules/@s/reg": {"version": "1.0.0", "resolved": "https://npm.example/@s/reg/-/reg-1.0.0.tgz"},
        "node_modules/bundled": {"version": "1.0.0", "inBundle": true, "engines": ["node >= 0.8"]}}}"#;
    let lock = lock(Format::Npm, text);
    let told: Vec<_> = lock.packages.iter().map(|p| (&*p.name, p.source, p.host.as_deref())).collect();
    assert_eq!(
        told,
        [
            ("@s/reg", Source::Registry, Some("npm.example")),
            ("@shop/a", Source::Local, None),
            ("bundled", Source::Unknown, None),
            ("file", Source::Local, None),
            ("git", Source::Git, Some("github.com")),
            ("url", Source::Url, Some("cdn.example")),
        ]
    );
}

#[test]
fn our_own_lock_is_read_whole() {
    let text = include_str!("../../../../Cargo.lock");
    let lock = lock(Format::Cargo, text);
    assert_eq!(lock.packages.len(), text.matches("[[package]]").count());
    let serde = named(&lock, "serde")[0];
    assert_eq!(
        (serde.source, serde.host.as_deref(), serde.digests.len()),
        (Source::Registry, Some("github.com"), 1)
    );
    let ours = named(&lock, "gatewright-deps")[0];
    assert_eq!((ours.source, ours.digests.len()), (Source::Local, 0));
}

#[test]
fn the_first_edition_of_cargo_keeps_its_checksums_apart() {
    let text = r#"
        [root]
        name = "shop"
        version = "0.1.0"
        [[package]]
        name = "libc"
        version = "0.2.0"
        source = "registry+https://github.com/rust-lang/crates.io-index"
        [[package]]
        name = "away"
        version = "1.0.0"
        source = "git+https://git.example/away#abc"
        [metadata]
        "checksum libc 0.2.0 (registry+https://github.com/rust-lang/crates.io-index)" = "12ab"
        "checksum away 1.0.0 (git+https://git.example/away#abc)" = "<none>""#;
    let lock = lock(Format::Cargo, text);
    assert!(named(&lock, "libc")[0].digests.contains("sha256:12ab"));
    let away = named(&lock, "away")[0];
    assert_eq!(
        (away.source, away.host.as_deref(), away.digests.len()),
        (Source::Git, Some("git.example"), 0)
    );
    assert_eq!(named(&lock, "shop")[0].source, Source::Local);
}

#[test]
fn locks_of_python_hold_the_same_whoever_wrote_them() {
    let uv = lock(Format::Uv, include_str!("../fixtures/uv.lock.toml"));
    let pylock = lock(Format::Pylock, include_str!("../fixtures/pylock.toml"));
    let pipenv = lock(Format::Pipfile, include_str!("../fixtures/pipfile.json"));
    assert_eq!(named(&uv, "shop")[0].source, Source::Local);
    for name in ["iniconfig", "six"] {
        let first = named(&uv, name)[0];
        assert_eq!(
            (first.source, first.host.as_deref(), first.digests.len()),
            (Source::Registry, Some("index.example"), 2)
        );
        for other in [&pylock, &pipenv] {
            let package = named(other, name)[0];
            assert_eq!(
                (&package.version, &package.digests, package.source),
                (&first.version, &first.digests, first.source)
            );
        }
    }
    assert_eq!(named(&pipenv, "iniconfig")[0].dev, Some(false));
    assert_eq!(named(&pipenv, "six")[0].dev, Some(true));
}

#[test]
fn poetry_tells_groups_sources_and_digests_in_both_its_ways() {
    let newer = r#"
        [[package]]
        name = "iniconfig"
        version = "2.0.0"
        python-versions = ">=3.7"
        groups = ["dev"]
        files = [{file = "iniconfig-2.0.0.tar.gz", hash = "sha256:aa"}]
        [[package]]
        name = "away"
        version = "1.0"
        groups = ["main", "dev"]
        [package.source]
        type = "git"
        url = "https://git.example/away.git"
        [metadata]
        lock-version = "2.1""#;
    let older = r#"
        [[package]]
        name = "iniconfig"
        version = "2.0.0"
        category = "main"
        [metadata]
        lock-version = "1.1"
        [metadata.files]
        iniconfig = [{file = "iniconfig-2.0.0.tar.gz", hash = "sha256:aa"}]"#;
    let (newer, older) = (lock(Format::Poetry, newer), lock(Format::Poetry, older));
    assert_eq!((newer.edition.as_deref(), older.edition.as_deref()), (Some("2.1"), Some("1.1")));
    let (one, other) = (named(&newer, "iniconfig")[0], named(&older, "iniconfig")[0]);
    assert_eq!((one.dev, other.dev, one.engine.as_deref()), (Some(true), Some(false), Some(">=3.7")));
    assert!(one.digests.contains("sha256:aa") && one.digests == other.digests);
    let away = named(&newer, "away")[0];
    assert_eq!(
        (away.source, away.host.as_deref(), away.dev),
        (Source::Git, Some("git.example"), Some(false))
    );
}
