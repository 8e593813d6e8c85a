//! The locks of pnpm, yarn and bun, and requirements of pip.

use gatewright_deps::{Change, Difference, Format, Source, Step, read};

use crate::{lock, named};

#[test]
fn pnpm_and_yarn_hold_what_npm_holds_of_one_project() {
    let pnpm = lock(Format::Pnpm, include_str!("../fixtures/pnpm-9.yaml"));
    let yarn = lock(Format::Yarn, include_str!("../fixtures/yarn-1.lock"));
    assert_eq!((pnpm.edition.as_deref(), yarn.edition.as_deref()), (Some("9.0"), Some("1")));
    for lock in [&pnpm, &yarn] {
        // `five` is an alias of is-number 5, is-odd wants 6, the project 7.
        let versions: Vec<_> = named(lock, "is-number").iter().filter_map(|p| p.version.as_deref()).collect();
        assert_eq!(versions, ["5.0.0", "6.0.0", "7.0.0"], "{:?}", lock.format);
        let esbuild = named(lock, "esbuild")[0];
        assert_eq!((esbuild.version.as_deref(), esbuild.source), (Some("0.25.0"), Source::Registry));
        assert_eq!(esbuild.digests.len(), 1);
        assert!(lock.packages.iter().all(|p| p.source == Source::Registry && !p.digests.is_empty()));
    }
    assert_eq!(named(&pnpm, "esbuild")[0].engine.as_deref(), Some(">=18"));
    assert_eq!(named(&yarn, "esbuild")[0].host.as_deref(), Some("registry.yarnpkg.com"));
}

#[test]
fn the_older_edition_of_pnpm_is_read_and_older_ones_are_refused() {
    let text = "lockfileVersion: '6.0'\npackages:\n  /@s/a@1.0.0(react@18.0.0):\n    resolution: {integrity: sha512-a}\n    \
                engines: {node: '>=18'}\n    requiresBuild: true\n    dev: true\n  github.com/o/r/abc:\n    \
                resolution: {tarball: https://codeload.github.com/o/r/tar.gz/abc}\n    name: r\n    version: 2.0.0\n    \
                dev: false\n  file:../x:\n    resolution: {directory: ../x, type: directory}\n    name: x\n";
    let lock = lock(Format::Pnpm, text);
    let told: Vec<_> = lock.packages.iter().map(|p| (&*p.name, p.version.as_deref(), p.source)).collect();
    assert_eq!(
        told,
        [
            ("@s/a", Some("1.0.0"), Source::Registry),
            ("r", Some("2.0.0"), Source::Git),
            ("x", None, Source::Local)
        ]
    );
    let scoped = &lock.packages[0];
    assert_eq!(
        (scoped.scripts, scoped.dev, scoped.engine.as_deref()),
        (Some(true), Some(true), Some(">=18"))
    );
    for old in ["lockfileVersion: 5.4\n", "packages: {}\n", "- 1\n"] {
        assert!(read(Format::Pnpm, old.as_bytes()).is_err(), "{old}");
    }
}

#[test]
fn later_yarns_say_where_packages_come_from() {
    let lock = lock(Format::Yarn, include_str!("../fixtures/yarn-8.lock"));
    let told: Vec<_> = lock.packages.iter().map(|p| (&*p.name, p.version.as_deref(), p.source)).collect();
    assert_eq!(
        told,
        [
            ("forked", Some("1.0.0"), Source::Git),
            ("is-number", Some("5.0.0"), Source::Registry),
            ("is-number", Some("7.0.0"), Source::Registry),
            ("patched", Some("2.0.0"), Source::Registry),
            ("shop", None, Source::Local),
        ]
    );
    assert_eq!(lock.edition.as_deref(), Some("8"));
}

#[test]
fn yarn_1_tells_where_packages_come_from() {
    let text = "# yarn lockfile v1\n\n\n\"@s/a@^1.0.0\", \"@s/a@^1.1.0\":\n  version \"1.2.0\"\n  \
                resolved \"https://npm.example/@s/a/-/a-1.2.0.tgz#abcd\"\n  dependencies:\n    version \"^9\"\n\n\
                \"five@npm:is-number@5.0.0\":\n  version \"5.0.0\"\n\n\
                \"r@git+ssh://git@host.example/o/r.git\":\n  version \"1.0.0\"\n  resolved \"git+ssh://git@host.example/o/r.git#abc\"\n\n\
                \"x@file:../x\":\n  version \"0.0.0\"\n";
    let lock = lock(Format::Yarn, text);
    let told: Vec<_> = lock.packages.iter().map(|p| (&*p.name, p.version.as_deref(), p.source)).collect();
    assert_eq!(
        told,
        [
            ("@s/a", Some("1.2.0"), Source::Registry),
            ("is-number", Some("5.0.0"), Source::Unknown),
            ("r", Some("1.0.0"), Source::Git),
            ("x", Some("0.0.0"), Source::Local),
        ]
    );
    assert_eq!(lock.packages[0].digests.iter().next().map(String::as_str), Some("sha1:abcd"));
}

#[test]
fn bun_tells_where_packages_come_from() {
    let text = include_str!("../fixtures/bun-1.lock");
    let before = lock(Format::Bun, text);
    let told: Vec<_> = before.packages.iter().map(|p| (&*p.name, p.version.as_deref(), p.source)).collect();
    assert_eq!(
        told,
        [
            ("@shop/a", None, Source::Local),
            ("forked", None, Source::Git),
            ("is-number", Some("6.0.0"), Source::Registry),
            ("is-odd", Some("3.0.1"), Source::Registry),
        ]
    );
    assert_eq!(named(&before, "is-odd")[0].host.as_deref(), Some("npm.example"));
    let after = lock(Format::Bun, &text.replace("is-number@6.0.0", "is-number@6.1.0"));
    let told = Difference::between(&before, &after);
    assert_eq!(
        told.changed,
        [Change {
            name: "is-number".into(),
            from: "6.0.0".into(),
            to: "6.1.0".into(),
            step: Some(Step::Minor)
        }]
    );
}

#[test]
fn requirements_have_the_versions_that_they_pin_and_their_digests() {
    let text = "# made by hand\n--index-url https://pypi.example/simple\nclick==8.1.7 \\\n    --hash=sha256:aa \\\n    --hash=sha256:bb\n\
                Flask[async]>=3  # loose\nidna===3.4 ; python_version < \"4\"\nstar==1.*\n\
                forked @ git+https://git.example/o/forked@abc\nwheel @ https://files.example/wheel.whl#sha256=cc\n-e ./local\n-r other.txt\n";
    let lock = lock(Format::Requirements, text);
    let told: Vec<_> =
        lock.packages.iter().map(|p| (&*p.name, p.version.as_deref(), p.source, p.digests.len())).collect();
    assert_eq!(
        told,
        [
            ("./local", None, Source::Local, 0),
            ("Flask", None, Source::Registry, 0),
            ("click", Some("8.1.7"), Source::Registry, 2),
            ("forked", None, Source::Git, 0),
            ("idna", Some("3.4"), Source::Registry, 0),
            ("star", None, Source::Registry, 0),
            ("wheel", None, Source::Url, 0),
        ]
    );
    assert_eq!(Format::of("requirements-dev.txt"), Some(Format::Requirements));
}
