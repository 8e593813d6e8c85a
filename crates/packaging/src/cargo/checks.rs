//! What is judged of a manifest before crates.io does
//! ([Publishing on crates.io](https://doc.rust-lang.org/cargo/reference/publishing.html)).

use semver::{Version, VersionReq};
use toml::Value;

use super::archive;
use super::dependency::{Dependency, Purpose};
use super::manifest::{Manifest, Publish, tidy};
use crate::check::{Check, Severity};
use crate::packed::Packed;
use crate::spdx;
use crate::tree::TreeError;

/// The longest name that crates.io takes.
const MAX_NAME: usize = 64;

/// The longest description that crates.io takes.
const MAX_DESCRIPTION: usize = 1_000;

/// Names that crates.io gives to nobody: the standard library's crates and what they are made of.
const KEPT: [&str; 18] = [
    "alloc",
    "arena",
    "ast",
    "builtins",
    "collections",
    "compiler-builtins",
    "compiler-rt",
    "compiletest",
    "core",
    "coretest",
    "debug",
    "driver",
    "flate",
    "fmt_macros",
    "graphviz",
    "std",
    "test",
    "proc_macro",
];

/// Names of devices on Windows, where such a file cannot be written.
const DEVICES: [&str; 22] = [
    "con", "prn", "aux", "nul", "com1", "com2", "com3", "com4", "com5", "com6", "com7", "com8", "com9",
    "lpt1", "lpt2", "lpt3", "lpt4", "lpt5", "lpt6", "lpt7", "lpt8", "lpt9",
];

/// Words of the language, which cannot be a crate's name
/// ([The Rust Reference](https://doc.rust-lang.org/reference/keywords.html)).
const WORDS: [&str; 51] = [
    "as", "break", "const", "continue", "crate", "else", "enum", "extern", "false", "fn", "for", "if",
    "impl", "in", "let", "loop", "match", "mod", "move", "mut", "pub", "ref", "return", "self", "Self",
    "static", "struct", "super", "trait", "true", "type", "unsafe", "use", "where", "while", "async",
    "await", "dyn", "abstract", "become", "box", "do", "final", "macro", "override", "priv", "typeof",
    "unsized", "virtual", "yield", "try",
];

/// Editions and the first Rust that has each
/// ([Edition Guide](https://doc.rust-lang.org/edition-guide/editions/index.html)).
const EDITIONS: [(&str, (u64, u64)); 4] =
    [("2015", (1, 0)), ("2018", (1, 31)), ("2021", (1, 56)), ("2024", (1, 85))];

const FILE: &str = "Cargo.toml";

/// How many replaced packages a check names.
const NAMED: usize = 10;

fn failed(id: &str, severity: Severity, detail: impl Into<String>, fix: impl Into<String>) -> Check {
    Check::failed(id, severity, detail).fix(fix).about(FILE)
}

/// Checks the manifest as its author wrote it, with what was packed, to be released as `version`.
pub fn check(manifest: &Manifest, packed: &Packed, version: &Version) -> Result<Vec<Check>, TreeError> {
    let mut checks = vec![
        name(manifest),
        versioned(manifest, version),
        publish(manifest),
        license(manifest, packed),
        described(manifest, packed),
        keywords(manifest),
        categories(manifest),
        addresses(manifest),
        specified(manifest),
        wildcards(manifest),
        registries(manifest),
        replaced(manifest),
        rust_version(manifest),
    ];
    checks.push(targets(manifest, packed)?);
    checks.push(build_script(manifest, packed)?);
    checks.push(archive::normalized(packed, manifest.name(), manifest.version()));
    Ok(checks)
}

fn name(manifest: &Manifest) -> Check {
    const ID: &str = "cargo.manifest.name";
    let name = manifest.name();
    let low = name.to_ascii_lowercase();
    let why = if name.is_empty() {
        Some("there is no name")
    } else if name.len() > MAX_NAME {
        Some("it is longer than 64 characters")
    } else if !name.starts_with(|c: char| c.is_ascii_alphabetic()) {
        Some("it does not begin with a letter")
    } else if !name.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_')) {
        Some("it has characters other than letters, digits, `-` and `_`")
    } else if KEPT.iter().any(|kept| kept.replace('-', "_") == low.replace('-', "_")) {
        Some("it is a name of Rust's own crates")
    } else if DEVICES.contains(&low.as_str()) {
        Some("Windows keeps it for a device")
    } else if WORDS.contains(&name) {
        Some("it is a word of the language")
    } else {
        None
    };
    match why {
        None => Check::passed(ID, format!("crates.io takes the name {name}")),
        Some(why) => failed(
            ID,
            Severity::Error,
            format!(
                "crates.io does not take the name {:?}: {why}",
                name.chars().take(80).collect::<String>()
            ),
            "Name it in letters, digits, `-` and `_`, beginning with a letter.",
        ),
    }
}

fn versioned(manifest: &Manifest, version: &Version) -> Check {
    const ID: &str = "cargo.version.manifest";
    let said = manifest.version();
    if said == version.to_string() {
        return Check::passed(ID, format!("Cargo.toml says {version}"));
    }
    let detail = if said.is_empty() {
        format!("Cargo.toml has no version; the release is {version}")
    } else {
        format!("Cargo.toml says {:?}; the release is {version}", said.chars().take(80).collect::<String>())
    };
    let place = if manifest.is_inherited("version") {
        "`[workspace.package] version` at the workspace's top"
    } else {
        "`version`"
    };
    failed(ID, Severity::Error, detail, format!("Set {place} to {version}, and run cargo update -w."))
}

fn publish(manifest: &Manifest) -> Check {
    const ID: &str = "cargo.manifest.publish";
    match manifest.publish() {
        Publish::Nowhere => failed(
            ID,
            Severity::Error,
            "the package says that it is not to be published: Cargo refuses it",
            "Remove `publish = false` (a package without a version is not published either), or verify another package.",
        ),
        Publish::Only(names) if !names.iter().any(|name| name == "crates-io") => failed(
            ID,
            Severity::Note,
            format!("the package goes to {} alone, not to crates.io", names.join(", ")),
            "Nothing, if that is meant: that registry's own rules are not known here.",
        ),
        _ => Check::passed(ID, "the package may be published on crates.io"),
    }
}

/// Where Cargo puts a file that the manifest names: at the package's top, when it lies outside of it.
fn place(manifest: &Manifest, field: &str, path: &str) -> String {
    let path = tidy(path);
    if manifest.is_inherited(field) || path.starts_with("../") {
        path.rsplit('/').next().unwrap_or(&path).to_owned()
    } else {
        path
    }
}

fn license(manifest: &Manifest, packed: &Packed) -> Check {
    const ID: &str = "cargo.manifest.license";
    if let Some(file) = manifest.text("license-file") {
        // Inherited files may lie in the package's folder too; then Cargo finds them by their whole path.
        if !packed.has(&place(manifest, "license-file", file)) && !packed.has(&tidy(file)) {
            return failed(
                ID,
                Severity::Error,
                format!("the licence is to be in {file}, which is not packed"),
                "Pack that file: Cargo packs it unless `include` leaves it out.",
            );
        }
        if manifest.text("license").is_none() {
            return Check::passed(ID, format!("the licence is in {file}"));
        }
    }
    let Some(license) = manifest.text("license") else {
        return failed(
            ID,
            Severity::Error,
            "there is neither `license` nor `license-file`: crates.io refuses the package",
            "Say it in `license` as an SPDX expression, such as `MIT OR Apache-2.0`.",
        );
    };
    if let Err(why) = spdx::check_with_slash(license) {
        return failed(
            ID,
            Severity::Error,
            format!("the licence {license:?} is no SPDX expression: {why}"),
            "Write it as one, such as `MIT OR Apache-2.0`, or name its text in `license-file`.",
        );
    }
    if license.contains('/') {
        return failed(
            ID,
            Severity::Warning,
            format!("the licence {license:?} has a slash, which is no SPDX operator"),
            format!("Write `{}`.", license.split('/').map(str::trim).collect::<Vec<_>>().join(" OR ")),
        );
    }
    let has_text = packed.iter().any(|(path, _)| {
        let low = path.to_ascii_lowercase();
        !low.contains('/')
            && ["license", "licence", "copying", "unlicense"].iter().any(|n| low.starts_with(n))
            || low.starts_with("licenses/")
    });
    if has_text || manifest.text("license-file").is_some() {
        return Check::passed(ID, format!("the licence is {license}"));
    }
    failed(
        ID,
        Severity::Note,
        format!("the text of the licence ({license}) is not packed"),
        "Add a LICENSE file.",
    )
}

fn described(manifest: &Manifest, packed: &Packed) -> Check {
    const ID: &str = "cargo.manifest.described";
    match manifest.text("description") {
        None => {
            return failed(
                ID,
                Severity::Error,
                "there is no `description`: crates.io refuses the package",
                "Say in a sentence what it is.",
            );
        }
        Some(text) if text.chars().count() > MAX_DESCRIPTION => {
            return failed(
                ID,
                Severity::Error,
                "the description is longer than the 1,000 characters that crates.io takes",
                "Say it in a sentence, and the rest in the README.",
            );
        }
        Some(_) => {}
    }
    let named = manifest.text("readme");
    let wants_readme = manifest.get("readme") != Some(&Value::Boolean(false));
    if let Some(path) = named
        && !packed.has(&place(manifest, "readme", path))
        && !packed.has(&tidy(path))
    {
        return failed(
            ID,
            Severity::Error,
            format!("`readme` names {path}, which is not packed"),
            "Pack that file, or take the field out.",
        );
    }
    let mut missing = Vec::new();
    let has_readme = named.is_some() || ["README.md", "README.txt", "README"].iter().any(|n| packed.has(n));
    if wants_readme && !has_readme {
        missing.push("a README");
    }
    if manifest.text("repository").is_none() {
        missing.push("`repository`");
    }
    if missing.is_empty() {
        return Check::passed(ID, "people can see what it is and where it comes from");
    }
    failed(
        ID,
        Severity::Note,
        format!("the package's page will lack {}", missing.join(", ")),
        "Add what is missing: people decide by it, and provenance needs the repository.",
    )
}

fn keywords(manifest: &Manifest) -> Check {
    const ID: &str = "cargo.manifest.keywords";
    let keywords = manifest.list("keywords");
    if keywords.len() > 5 {
        return failed(
            ID,
            Severity::Error,
            format!("there are {} keywords; crates.io takes 5", keywords.len()),
            "Keep the five by which people would look for it.",
        );
    }
    let fits = |word: &&str| {
        word.len() <= 20
            && word.starts_with(|c: char| c.is_ascii_alphanumeric())
            && word.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'+'))
    };
    let bad: Vec<&str> = keywords.into_iter().filter(|word| !fits(word)).collect();
    if bad.is_empty() {
        return Check::passed(ID, "crates.io takes the keywords");
    }
    failed(
        ID,
        Severity::Error,
        format!("crates.io does not take these keywords: {bad:?}"),
        "A keyword has at most 20 letters, digits, `_`, `-` or `+`, and begins with a letter or digit.",
    )
}

fn categories(manifest: &Manifest) -> Check {
    const ID: &str = "cargo.manifest.categories";
    let categories = manifest.list("categories");
    if categories.len() > 5 {
        return failed(
            ID,
            Severity::Error,
            format!("there are {} categories; crates.io takes 5", categories.len()),
            "Keep the five that fit best.",
        );
    }
    let part = |part: &str| {
        part.starts_with(|c: char| c.is_ascii_alphabetic())
            && part.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-')
    };
    let bad: Vec<&str> = categories.into_iter().filter(|slug| !slug.split("::").all(part)).collect();
    if bad.is_empty() {
        return Check::passed(
            ID,
            "the categories are spelled as crates.io spells them; its list was not asked",
        );
    }
    failed(
        ID,
        Severity::Warning,
        format!("crates.io knows no such categories and drops them: {bad:?}"),
        "Take slugs from https://crates.io/category_slugs, such as `command-line-utilities`.",
    )
}

fn addresses(manifest: &Manifest) -> Check {
    const ID: &str = "cargo.manifest.addresses";
    let is_address = |text: &str| {
        let rest = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://"));
        rest.is_some_and(|rest| {
            rest.starts_with(|c: char| c.is_alphanumeric() || c == '[')
                && !rest.contains(|c: char| c.is_whitespace() || c.is_control())
        })
    };
    let bad: Vec<String> = ["homepage", "documentation", "repository"]
        .into_iter()
        .filter_map(|field| Some((field, manifest.text(field)?)))
        .filter(|(_, text)| !is_address(text))
        .map(|(field, text)| format!("`{field}` ({})", text.chars().take(100).collect::<String>()))
        .collect();
    if bad.is_empty() {
        return Check::passed(ID, "its addresses are such as crates.io takes");
    }
    failed(
        ID,
        Severity::Error,
        format!("crates.io takes http and https addresses alone: {}", bad.join(", ")),
        "Write them with https://, or leave them out.",
    )
}

/// Cargo leaves what tests need without a version out of what it publishes.
fn published(manifest: &Manifest) -> impl Iterator<Item = &Dependency> {
    manifest.dependencies().iter().filter(|d| d.purpose != Purpose::Develop || d.version.is_some())
}

fn specified(manifest: &Manifest) -> Check {
    const ID: &str = "cargo.dependencies.versions";
    let bad: Vec<String> = published(manifest)
        .filter(|d| d.version.is_none())
        .map(|d| match (&d.git, &d.path) {
            (Some(git), _) => format!("{} (git {git})", d.key),
            (None, Some(path)) => format!("{} (path {path})", d.key),
            (None, None) => d.key.clone(),
        })
        .collect();
    if bad.is_empty() {
        return Check::passed(ID, "every dependency names a version");
    }
    failed(
        ID,
        Severity::Error,
        format!(
            "these name no version, and users get dependencies from the registry alone: {}",
            bad.join(", ")
        ),
        "Add `version` beside `path` or `git`: Cargo uses the folder here and the version everywhere else.",
    )
}

fn wildcards(manifest: &Manifest) -> Check {
    const ID: &str = "cargo.dependencies.wildcards";
    let (mut any, mut broken, mut from_git) = (Vec::new(), Vec::new(), Vec::new());
    for dependency in published(manifest) {
        let Some(text) = &dependency.version else { continue };
        match VersionReq::parse(text) {
            Ok(range) if range == VersionReq::STAR => any.push(dependency.key.as_str()),
            Ok(_) => {}
            Err(_) => broken.push(format!("{} ({text:?})", dependency.key)),
        }
        if dependency.git.is_some() {
            from_git.push(dependency.key.as_str());
        }
    }
    if !broken.is_empty() {
        return failed(
            ID,
            Severity::Error,
            format!("these ranges are none that Cargo reads: {}", broken.join(", ")),
            "Write a range as in `1.2` or `>=1.2, <3`.",
        );
    }
    if !any.is_empty() {
        return failed(
            ID,
            Severity::Error,
            format!("crates.io refuses `*` as a version: {}", any.join(", ")),
            "Name the version that is used now: Cargo takes every later one that is compatible.",
        );
    }
    if !from_git.is_empty() {
        return failed(
            ID,
            Severity::Warning,
            format!(
                "these are built here from a repository, and at users' from the registry: {}",
                from_git.join(", ")
            ),
            "Test against the published version before the release.",
        );
    }
    Check::passed(ID, "every range has a lower end")
}

fn registries(manifest: &Manifest) -> Check {
    const ID: &str = "cargo.dependencies.registries";
    let bad: Vec<String> = published(manifest)
        .filter_map(|d| Some((d, d.registry.as_deref()?)))
        .filter(|(_, registry)| *registry != "crates-io")
        .map(|(d, registry)| format!("{} ({registry})", d.key))
        .collect();
    if bad.is_empty() || !manifest.is_for_crates_io() {
        return Check::passed(
            ID,
            "every dependency is in the registry that the package goes to, as far as it says",
        );
    }
    failed(
        ID,
        Severity::Error,
        format!("crates.io refuses dependencies of other registries: {}", bad.join(", ")),
        "Publish them on crates.io, or name the registry in `publish`.",
    )
}

fn replaced(manifest: &Manifest) -> Check {
    const ID: &str = "cargo.manifest.patch";
    let found = manifest.replaced();
    if found.is_empty() {
        return Check::passed(ID, "nothing is replaced that users would get otherwise");
    }
    let mut named: Vec<&str> = found.iter().take(NAMED).map(String::as_str).collect();
    if found.len() > NAMED {
        named.push("and more");
    }
    failed(
        ID,
        Severity::Warning,
        format!("replaced here alone, and users get what the registry has: {}", named.join(", ")),
        "Release what is patched first, and ask for that version.",
    )
}

fn rust_version(manifest: &Manifest) -> Check {
    const ID: &str = "cargo.manifest.rust-version";
    let edition = manifest.edition();
    let Some((_, needs)) = EDITIONS.iter().find(|(name, _)| *name == edition) else {
        return failed(
            ID,
            Severity::Warning,
            format!("the edition {edition:?} is not known here"),
            "Take one of 2015, 2018, 2021 and 2024.",
        );
    };
    let Some(text) = manifest.text("rust-version") else {
        return failed(
            ID,
            Severity::Note,
            "`rust-version` does not say from which Rust on it builds",
            "Say it: Cargo then gives older compilers an older release.",
        );
    };
    let numbers: Vec<Option<u64>> = text.split('.').map(|part| part.parse().ok()).collect();
    let (major, minor) = match numbers.as_slice() {
        [Some(major)] => (*major, 0),
        [Some(major), Some(minor)] | [Some(major), Some(minor), Some(_)] => (*major, *minor),
        _ => {
            return failed(
                ID,
                Severity::Error,
                format!("`rust-version` is no version: {text:?}"),
                "Write two or three numbers, such as 1.85: no range, no pre-release.",
            );
        }
    };
    if (major, minor) < *needs {
        return failed(
            ID,
            Severity::Error,
            format!("`rust-version` is {text}, and edition {edition} needs {}.{}", needs.0, needs.1),
            format!("Set it to {}.{} or later: Cargo refuses the package as it is.", needs.0, needs.1),
        );
    }
    Check::passed(ID, format!("it builds from Rust {text} on"))
}

fn targets(manifest: &Manifest, packed: &Packed) -> Result<Check, TreeError> {
    const ID: &str = "cargo.manifest.targets";
    let targets = manifest.targets(packed)?;
    let all: Vec<&(String, String)> = targets.library.iter().chain(&targets.programs).collect();
    if all.is_empty() {
        return Ok(failed(
            ID,
            Severity::Error,
            "nothing that is packed can be built: there is neither a library nor a program",
            "Pack src/lib.rs or src/main.rs: see `include` and `exclude`.",
        ));
    }
    let missing: Vec<&str> =
        all.iter().map(|(_, path)| path.as_str()).filter(|path| !packed.has(path)).collect();
    if missing.is_empty() {
        let names: Vec<&str> = all.iter().map(|(name, _)| name.as_str()).collect();
        return Ok(Check::passed(ID, format!("it builds {}", names.join(", "))));
    }
    let mut check = failed(
        ID,
        Severity::Error,
        "files of its targets are not packed",
        "Pack them: see `include` and `exclude`, or take the target out.",
    );
    check.files.extend(missing.into_iter().map(str::to_owned));
    Ok(check)
}

fn build_script(manifest: &Manifest, packed: &Packed) -> Result<Check, TreeError> {
    const ID: &str = "cargo.scripts.build";
    let links = manifest.text("links");
    let Some(script) = manifest.build_script(packed)? else {
        return Ok(match links {
            Some(links) => failed(
                ID,
                Severity::Error,
                format!(
                    "`links` says that it links {links}, and there is no build script: Cargo refuses that"
                ),
                "Add a build script, or take `links` out.",
            ),
            None => Check::passed(ID, "nothing of it runs when it is built"),
        });
    };
    if !packed.has(&tidy(&script)) {
        return Ok(failed(
            ID,
            Severity::Error,
            format!("its build script {script} is not packed"),
            "Pack it: see `include` and `exclude`.",
        ));
    }
    let links = links
        .map(|links| {
            format!("; it links {links}: no other package with the same `links` can be in one build")
        })
        .unwrap_or_default();
    Ok(failed(
        ID,
        Severity::Note,
        format!("{script} runs where it is built{links}"),
        "Nothing, if it is needed: reviewers read it first, and sandboxed builds deny it the network.",
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = "[package]\nname='acme-io'\nversion='1.2.3'\nedition='2021'\nrust-version='1.70'\ndescription='d'\n\
        license='MIT OR Apache-2.0'\nrepository='https://example.com/x'\nkeywords=['a','b']\ncategories=['web-programming::http-client']\n";

    fn packed() -> Packed {
        let normal = "[package]\nname='acme-io'\nversion='1.2.3'\n";
        ["Cargo.toml.orig", "src/lib.rs", "LICENSE-MIT", "README.md"]
            .iter()
            .fold(Packed::new(), |packed, file| packed.with(file, ""))
            .with("Cargo.toml", normal)
    }

    fn failures(text: &str, packed: &Packed) -> Vec<(String, Severity)> {
        let manifest = Manifest::read(text.as_bytes(), None).unwrap();
        check(&manifest, packed, &Version::new(1, 2, 3))
            .unwrap()
            .into_iter()
            .filter(|c| !c.passed)
            .map(|c| (c.id, c.severity))
            .collect()
    }

    #[test]
    fn a_good_manifest_has_nothing_wrong() {
        assert_eq!(failures(GOOD, &packed()), []);
    }

    #[test]
    fn each_field_that_crates_io_refuses_is_found() {
        use Severity::{Error, Note, Warning};
        for (from, to, id, severity) in [
            ("version='1.2.3'", "version='1.2.4'", "cargo.version.manifest", Error),
            ("license='MIT OR Apache-2.0'", "", "cargo.manifest.license", Error),
            ("license='MIT OR Apache-2.0'", "license='MITT'", "cargo.manifest.license", Error),
            ("license='MIT OR Apache-2.0'", "license='MIT/Apache-2.0'", "cargo.manifest.license", Warning),
            ("license='MIT OR Apache-2.0'", "license-file='../L.txt'", "cargo.manifest.license", Error),
            ("description='d'", "", "cargo.manifest.described", Error),
            ("description='d'", "description='d'\nreadme='docs/R.md'", "cargo.manifest.described", Error),
            ("repository='https://example.com/x'", "", "cargo.manifest.described", Note),
            ("repository='https://example.com/x'", "repository='git@x:y'", "cargo.manifest.addresses", Error),
            ("keywords=['a','b']", "keywords=['a','b','c','d','e','f']", "cargo.manifest.keywords", Error),
            ("keywords=['a','b']", "keywords=['two words']", "cargo.manifest.keywords", Error),
            ("['web-programming::http-client']", "['Web programming']", "cargo.manifest.categories", Warning),
            ("rust-version='1.70'", "rust-version='1.50'", "cargo.manifest.rust-version", Error),
            ("rust-version='1.70'", "rust-version='>=1.70'", "cargo.manifest.rust-version", Error),
            ("rust-version='1.70'", "", "cargo.manifest.rust-version", Note),
            ("rust-version='1.70'", "rust-version='1.70'\nlinks='z'", "cargo.scripts.build", Error),
            ("edition='2021'", "edition='2021'\npublish=['mine']", "cargo.manifest.publish", Note),
            ("edition='2021'", "edition='2021'\npublish=false", "cargo.manifest.publish", Error),
        ] {
            let text = GOOD.replace(from, to);
            assert_ne!(text, GOOD, "{from}");
            let mut found = failures(&text, &packed());
            // The archive is of the version that the manifest says, in these tests of another.
            found.retain(|(id, _)| id != "cargo.manifest.normalized");
            assert_eq!(found, [(id.to_owned(), severity)], "{to}");
        }
        for (more, id, severity) in [
            ("[dependencies]\na={path='../a'}", "cargo.dependencies.versions", Error),
            ("[build-dependencies]\na={git='https://x'}", "cargo.dependencies.versions", Error),
            ("[dependencies]\na='*'", "cargo.dependencies.wildcards", Error),
            ("[dependencies]\na='one'", "cargo.dependencies.wildcards", Error),
            ("[dependencies]\na={version='1',git='https://x'}", "cargo.dependencies.wildcards", Warning),
            ("[dependencies]\na={version='1',registry='r'}", "cargo.dependencies.registries", Error),
            ("[patch.crates-io]\na={path='../a'}", "cargo.manifest.patch", Warning),
            ("[[bin]]\nname='x'\npath='src/x.rs'", "cargo.manifest.targets", Error),
        ] {
            assert_eq!(failures(&format!("{GOOD}{more}"), &packed()), [(id.to_owned(), severity)], "{more}");
        }
        let fine =
            "[dependencies]\na='1.*'\nb={path='../b',version='0.1'}\n[dev-dependencies]\nc={path='../c'}";
        assert_eq!(failures(&format!("{GOOD}{fine}"), &packed()), []);
        let script = packed().with("build.rs", "");
        assert_eq!(failures(GOOD, &script), [("cargo.scripts.build".to_owned(), Note)]);
    }

    #[test]
    fn names_that_crates_io_refuses_are_found() {
        for name in
            ["", "1a", "a.b", "std", "Std", "nul", "fn", "ä", "compiler_builtins", "a".repeat(65).as_str()]
        {
            let manifest = Manifest::read(format!("[package]\nname='{name}'").as_bytes(), None).unwrap();
            assert!(!super::name(&manifest).passed, "{name}");
        }
        for name in ["serde", "a_b-c9", "X"] {
            let manifest = Manifest::read(format!("[package]\nname='{name}'").as_bytes(), None).unwrap();
            assert!(super::name(&manifest).passed, "{name}");
        }
    }

    #[test]
    fn files_that_lie_outside_are_packed_at_the_top() {
        let text = GOOD.replace(
            "license='MIT OR Apache-2.0'",
            "license-file='../../legal/LICENSE-MIT'\nreadme='../README.md'",
        );
        assert_eq!(failures(&text, &packed()), []);
    }

    #[test]
    fn a_package_without_anything_to_build_is_none() {
        let mut without = Packed::new().with("Cargo.toml", "[package]\nname='acme-io'\nversion='1.2.3'");
        for file in ["Cargo.toml.orig", "LICENSE", "README.md"] {
            without = without.with(file, "");
        }
        assert_eq!(failures(GOOD, &without), [("cargo.manifest.targets".to_owned(), Severity::Error)]);
    }
}
