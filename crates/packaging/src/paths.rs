//! What a packed path may not be, and what has no business in a package.

use std::collections::BTreeMap;

use crate::check::{Check, Severity};
use crate::packed::Packed;

/// The longest path that Windows takes without being asked: 260 with the drive, `node_modules` and a scoped name in front of it.
const MAX_PATH: usize = 180;

/// Names that Windows keeps for devices, whatever follows a dot ([Naming Files](https://learn.microsoft.com/windows/win32/fileio/naming-a-file)).
const DEVICES: [&str; 22] = [
    "con", "prn", "aux", "nul", "com1", "com2", "com3", "com4", "com5", "com6", "com7", "com8", "com9",
    "lpt1", "lpt2", "lpt3", "lpt4", "lpt5", "lpt6", "lpt7", "lpt8", "lpt9",
];

/// What lies about: a name, what it is, and whether it is a secret by nature.
struct Junk {
    is: fn(&str, &str) -> bool,
    what: &'static str,
    severity: Severity,
}

/// What holds keys or certificates as text: only its bytes say which.
const PEM: &str = "pem";

/// What PEM calls that is public by nature
/// ([RFC 7468](https://www.rfc-editor.org/rfc/rfc7468#section-4); what begins with `X509` and `TRUSTED` is OpenSSL's).
const PUBLIC: [&str; 6] =
    ["CERTIFICATE", "X509 CERTIFICATE", "X.509 CERTIFICATE", "TRUSTED CERTIFICATE", "X509 CRL", "PUBLIC KEY"];

/// Whether a file in PEM holds something, and nothing but what is public.
fn is_public(bytes: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(bytes) else { return false };
    let mut labels = text.split("-----BEGIN ").skip(1).peekable();
    labels.peek().is_some()
        && !text.contains("PRIVATE")
        && labels.all(|block| block.split_once("-----").is_some_and(|(label, _)| PUBLIC.contains(&label)))
}

fn extension(name: &str, of: &[&str]) -> bool {
    name.rsplit_once('.').is_some_and(|(stem, ext)| !stem.is_empty() && of.contains(&ext))
}

/// Lower-cased name and path.
const JUNK: &[Junk] = &[
    Junk {
        is: |name, _| {
            (name == ".env" || name.starts_with(".env."))
                && !extension(name, &["example", "sample", "template", "dist"])
        },
        what: "environment files, which hold credentials",
        severity: Severity::Error,
    },
    Junk {
        is: |name, _| {
            matches!(
                name,
                "id_rsa"
                    | "id_dsa"
                    | "id_ecdsa"
                    | "id_ed25519"
                    | ".netrc"
                    | ".pypirc"
                    | ".npmrc"
                    | ".htpasswd"
            ) || extension(name, &[PEM, "p12", "pfx", "jks", "keystore", "kdbx"])
        },
        what: "keys and credentials",
        severity: Severity::Error,
    },
    Junk {
        is: |name, path| {
            matches!(name, ".ds_store" | "thumbs.db" | "desktop.ini")
                || extension(name, &["swp", "swo", "orig", "rej", "bak"])
                || path.contains("/.idea/")
                || path.contains("/.vscode/")
                || path.starts_with(".idea/")
                || path.starts_with(".vscode/")
        },
        what: "what editors and systems leave",
        severity: Severity::Warning,
    },
    Junk {
        is: |name, _| extension(name, &["log", "tgz", "whl", "crate", "tsbuildinfo"]) || name == "core",
        what: "what programs leave: logs, archives, build states",
        severity: Severity::Warning,
    },
    Junk {
        is: |_, path| {
            let top = path.split('/').next().unwrap_or_default();
            matches!(
                top,
                "coverage"
                    | ".nyc_output"
                    | ".github"
                    | ".circleci"
                    | ".husky"
                    | ".cache"
                    | ".turbo"
                    | "__pycache__"
            ) || path.contains("/__pycache__/")
        },
        what: "folders of tools and services",
        severity: Severity::Warning,
    },
    Junk {
        is: |name, path| {
            let in_tests = path
                .split('/')
                .rev()
                .skip(1)
                .any(|part| matches!(part, "__tests__" | "__mocks__" | "__snapshots__"));
            let words: Vec<&str> = name.split('.').collect();
            in_tests
                || (words.len() > 2
                    && words
                        .iter()
                        .rev()
                        .nth(1)
                        .is_some_and(|word| matches!(*word, "test" | "spec" | "stories")))
        },
        what: "tests and stories",
        severity: Severity::Note,
    },
];

/// How many files a check names.
pub const NAMED: usize = 20;

/// Checks the paths of a package. `ecosystem` begins the checks' ids.
pub fn check(ecosystem: &str, packed: &Packed) -> Vec<Check> {
    vec![
        unsafe_paths(ecosystem, packed),
        case(ecosystem, packed),
        portable(ecosystem, packed),
        junk(ecosystem, packed),
    ]
}

fn about(mut check: Check, files: &[String]) -> Check {
    check.files = files.iter().take(NAMED).cloned().collect();
    check
}

fn unsafe_paths(ecosystem: &str, packed: &Packed) -> Check {
    let id = format!("{ecosystem}.paths.unsafe");
    let bad: Vec<String> = packed
        .iter()
        .map(|(path, _)| path)
        .filter(|path| {
            path.starts_with('/')
                || path.contains('\\')
                || path.split('/').any(|part| matches!(part, ".." | "." | ""))
                || path.chars().any(|c| c.is_control() || is_invisible(c))
        })
        .map(|path| path.escape_debug().to_string())
        .collect();
    if bad.is_empty() {
        return Check::passed(id, "every path stays in its folder and can be read");
    }
    let detail = format!("{} of {} paths lead elsewhere or hide characters", bad.len(), packed.len());
    about(Check::failed(id, Severity::Error, detail).fix("Rename these files, or leave them out."), &bad)
}

/// Characters that change how a name is shown, not what it is ([UAX #9](https://www.unicode.org/reports/tr9/), zero-width ones).
const fn is_invisible(c: char) -> bool {
    matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}')
}

fn case(ecosystem: &str, packed: &Packed) -> Check {
    let id = format!("{ecosystem}.paths.case");
    // Folders too: `Lib/a` and `lib/b` are one folder where case does not count.
    let mut spelled: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for (path, _) in packed.iter() {
        for end in path.match_indices('/').map(|(at, _)| at).chain([path.len()]) {
            let part = path.get(..end).unwrap_or(path);
            let known = spelled.entry(part.to_lowercase()).or_default();
            if !known.contains(&part) {
                known.push(part);
            }
        }
    }
    let bad: Vec<String> =
        spelled.into_values().filter(|known| known.len() > 1).flatten().map(str::to_owned).collect();
    if bad.is_empty() {
        return Check::passed(id, "no two paths differ in case alone");
    }
    let detail =
        format!("{} paths differ in case alone: on Windows and macOS one replaces the other", bad.len());
    about(Check::failed(id, Severity::Error, detail).fix("Give them names that differ."), &bad)
}

fn portable(ecosystem: &str, packed: &Packed) -> Check {
    let id = format!("{ecosystem}.paths.portable");
    let bad: Vec<String> = packed
        .iter()
        .map(|(path, _)| path)
        .filter(|path| {
            path.len() > MAX_PATH
                || path.split('/').filter(|part| !matches!(*part, "." | "..")).any(|part| {
                    let stem = part.split('.').next().unwrap_or_default().to_ascii_lowercase();
                    DEVICES.contains(&stem.as_str())
                        || part.ends_with(['.', ' '])
                        || part.contains(['<', '>', ':', '"', '|', '?', '*'])
                })
        })
        .map(str::to_owned)
        .collect();
    if bad.is_empty() {
        return Check::passed(id, "every path can be written on every system");
    }
    let detail =
        format!("{} paths cannot be written on Windows, or are longer than {MAX_PATH} bytes", bad.len());
    about(Check::failed(id, Severity::Warning, detail).fix("Rename these files, or leave them out."), &bad)
}

fn junk(ecosystem: &str, packed: &Packed) -> Check {
    let id = format!("{ecosystem}.junk");
    let (mut found, mut worst) = (BTreeMap::<&str, usize>::new(), Severity::Note);
    let mut bad: Vec<(Severity, String)> = Vec::new();
    for (path, file) in packed.iter() {
        let low = path.to_lowercase();
        let name = low.rsplit('/').next().unwrap_or(&low);
        // Cargo keeps the author's manifest under this name.
        if ecosystem == "cargo" && path == "Cargo.toml.orig" {
            continue;
        }
        if extension(name, &[PEM]) && is_public(&file.bytes) {
            continue;
        }
        if let Some(junk) = JUNK.iter().find(|junk| (junk.is)(name, &low)) {
            *found.entry(junk.what).or_default() += 1;
            worst = worst.min(junk.severity);
            bad.push((junk.severity, path.to_owned()));
        }
    }
    if bad.is_empty() {
        return Check::passed(id, "nothing lies about in the package");
    }
    bad.sort();
    let bad: Vec<String> = bad.into_iter().map(|(_, path)| path).collect();
    let words: Vec<String> = found.iter().map(|(what, count)| format!("{count} × {what}")).collect();
    about(
        Check::failed(id, worst, format!("the package holds {}", words.join("; "))).fix(
            "Name what is packed (`files` in package.json, `include` in Cargo.toml, the build backend's settings in pyproject.toml) rather than what is not.",
        ),
        &bad,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failed(packed: &Packed) -> Vec<(String, Severity)> {
        check("npm", packed).into_iter().filter(|c| !c.passed).map(|c| (c.id, c.severity)).collect()
    }

    #[test]
    fn an_ordinary_package_has_nothing_wrong_with_its_paths() {
        let packed = Packed::new().with("package.json", "{}").with("dist/index.js", "").with("README.md", "");
        assert_eq!(failed(&packed), []);
    }

    #[test]
    fn each_kind_of_wrong_path_is_found() {
        for (path, id, severity) in [
            ("../x", "npm.paths.unsafe", Severity::Error),
            ("a/\u{202e}sj.x", "npm.paths.unsafe", Severity::Error),
            ("a\\b", "npm.paths.unsafe", Severity::Error),
            ("src/con.js", "npm.paths.portable", Severity::Warning),
            ("a:b.js", "npm.paths.portable", Severity::Warning),
            (".env", "npm.junk", Severity::Error),
            (".env.production", "npm.junk", Severity::Error),
            ("certs/server.PEM", "npm.junk", Severity::Error),
            ("x/.DS_Store", "npm.junk", Severity::Warning),
            ("npm-debug.log", "npm.junk", Severity::Warning),
            ("coverage/lcov.info", "npm.junk", Severity::Warning),
            ("src/a.test.ts", "npm.junk", Severity::Note),
        ] {
            assert_eq!(failed(&Packed::new().with(path, "")), [(id.to_owned(), severity)], "{path}");
        }
        for path in [".env.example", "src/test.js", "pem.js", "core/index.js", "console.js"] {
            assert_eq!(failed(&Packed::new().with(path, "")), [], "{path}");
        }
        let long = "d/".repeat(100);
        assert_eq!(failed(&Packed::new().with(&format!("{long}x"), "")).len(), 1);
    }

    #[test]
    fn certificates_are_no_keys() {
        const CERTIFICATE: &str = "# A root\n-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n";
        const PUBLIC: &str = "-----BEGIN PUBLIC KEY-----\nMIIB\n-----END PUBLIC KEY-----\n";
        for text in [CERTIFICATE, PUBLIC, &CERTIFICATE.repeat(3), &CERTIFICATE.replace('\n', "\r\n")] {
            assert_eq!(failed(&Packed::new().with("certs/roots.pem", text)), [], "{text}");
            assert_eq!(
                failed(&Packed::new().with("roots.pfx", text)).len(),
                1,
                "only what says that it is PEM"
            );
        }
        for key in [
            "PRIVATE KEY",
            "RSA PRIVATE KEY",
            "ENCRYPTED PRIVATE KEY",
            "OPENSSH PRIVATE KEY",
            "SOMETHING ELSE",
        ] {
            let key = format!("-----BEGIN {key}-----\nMIIB\n-----END {key}-----\n");
            for text in [key.clone(), format!("{CERTIFICATE}{key}"), format!("{key}{CERTIFICATE}")] {
                let found = failed(&Packed::new().with("certs/roots.pem", &text));
                assert_eq!(found, [("npm.junk".to_owned(), Severity::Error)], "{text}");
            }
        }
        for text in ["", "MIIB", "-----BEGIN CERTIFICATE", "-----END CERTIFICATE-----"] {
            assert_eq!(failed(&Packed::new().with("a.pem", text)).len(), 1, "{text:?}");
        }
    }

    #[test]
    fn the_manifest_that_cargo_keeps_is_no_junk() {
        let packed = Packed::new().with("Cargo.toml.orig", "").with("src/a.rs.orig", "");
        let junk = |ecosystem| {
            check(ecosystem, &packed).into_iter().find(|c| c.id.ends_with(".junk")).unwrap().files
        };
        assert_eq!(junk("cargo"), ["src/a.rs.orig"]);
        assert_eq!(junk("npm").len(), 2);
    }

    #[test]
    fn folders_that_differ_in_case_collide_too() {
        let packed = Packed::new().with("Lib/a.js", "").with("lib/b.js", "").with("lib/B.js", "");
        let case = check("npm", &packed).into_iter().find(|c| c.id == "npm.paths.case").unwrap();
        assert!(!case.passed);
        assert_eq!(case.files, ["Lib", "lib", "lib/B.js", "lib/b.js"]);
    }
}
