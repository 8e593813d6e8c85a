//! What a Python package brings with it: from `uv.lock`, `poetry.lock`, `pylock.toml` ([PEP 751](https://peps.python.org/pep-0751/)) or a
//! requirements file with digests, else the names that its metadata asks for.

use std::collections::BTreeMap;

use toml::{Table, Value};

use super::name::{normal, of_requirement};
use crate::sbom::{Bill, Component, purl};

/// How many components are listed at most.
pub const MAX_COMPONENTS: usize = 20_000;

/// Most bytes of a lock file that are read: 16 MiB.
pub const MAX_BYTES: usize = 16 << 20;

/// Lock files by name, in the order in which they are looked for.
pub const FILES: [&str; 4] = ["uv.lock", "poetry.lock", "pylock.toml", "requirements.txt"];

/// A package of a lock file.
#[derive(Debug, Default)]
struct Locked {
    name: String,
    version: Option<String>,
    hash: Option<(&'static str, String)>,
    /// Names, and whether only under a condition.
    needs: Vec<(String, bool)>,
}

/// Reads the bill of a package. `requires` is what its metadata asks for (`Requires-Dist`, or the project's dependencies), each with
/// whether it is for an extra; `lock` a file of [`FILES`] by its name and bytes.
pub fn bill(
    name: &str,
    version: Option<&str>,
    license: Option<&str>,
    requires: &[(String, bool)],
    lock: Option<(&str, &[u8])>,
) -> Bill {
    let package = Component {
        purl: purl("pypi", &normal(name), version),
        name: name.to_owned(),
        version: version.map(str::to_owned),
        license: license.map(str::to_owned),
        ..Component::default()
    };
    let mut bill = Bill { package, ..Bill::default() };
    let locked = match lock {
        None => {
            bill.gaps.push(
                "there is no uv.lock, poetry.lock, pylock.toml or requirements.txt: only what the metadata names is listed, without versions"
                    .to_owned(),
            );
            Vec::new()
        }
        Some((file, bytes)) => match read(file, bytes, &mut bill.gaps) {
            Ok(locked) => locked,
            Err(why) => {
                bill.gaps
                    .push(format!("{file} cannot be read ({why}): only what the metadata names is listed"));
                Vec::new()
            }
        },
    };
    if !locked.is_empty() {
        bill.gaps.push("lock files of Python do not say which licence dependencies have".to_owned());
    }
    closure(requires, &locked, &mut bill);
    bill
}

fn read(file: &str, bytes: &[u8], gaps: &mut Vec<String>) -> Result<Vec<Locked>, String> {
    if bytes.len() > MAX_BYTES {
        return Err(format!("more than {} MiB", MAX_BYTES >> 20));
    }
    let text = std::str::from_utf8(bytes).map_err(|e| e.to_string())?;
    let base = file.rsplit('/').next().unwrap_or(file);
    if base.ends_with(".txt") {
        return Ok(requirements(text, gaps));
    }
    let top: Table = text.parse().map_err(|e: toml::de::Error| e.message().to_owned())?;
    // A lock of PEP 751 calls its list `packages`.
    let list = if base.contains("pylock") { "packages" } else { "package" };
    let mut found = Vec::new();
    for entry in top.get(list).and_then(Value::as_array).into_iter().flatten() {
        let Some(name) = entry.get("name").and_then(Value::as_str) else { continue };
        let mut needs = Vec::new();
        match entry.get("dependencies") {
            Some(Value::Array(list)) => {
                for need in list {
                    let conditional = need.get("marker").is_some();
                    needs.extend(need.get("name").and_then(Value::as_str).map(|n| (normal(n), conditional)));
                }
            }
            Some(Value::Table(table)) => {
                for (name, need) in table {
                    let conditional = need.get("optional").is_some() || need.get("markers").is_some();
                    needs.push((normal(name), conditional));
                }
            }
            _ => {}
        }
        found.push(Locked {
            name: normal(name),
            version: entry.get("version").and_then(Value::as_str).map(str::to_owned),
            hash: digest(entry),
            needs,
        });
    }
    if list == "packages" && found.iter().all(|p| p.needs.is_empty()) && found.len() > 1 {
        gaps.push(format!("{base} does not say which package needs which: all of it is listed"));
    }
    Ok(found)
}

/// The digest of what is there once: the source distribution. Wheels are many, and which is installed depends on the machine; a single
/// one is taken.
fn digest(entry: &Value) -> Option<(&'static str, String)> {
    let of = |archive: &Value| {
        let text = archive.get("hash").and_then(Value::as_str).and_then(|h| h.strip_prefix("sha256:"));
        let table = archive.get("hashes").and_then(|h| h.get("sha256")).and_then(Value::as_str);
        sha256(text.or(table)?)
    };
    if let Some(found) = entry.get("sdist").and_then(of) {
        return Some(found);
    }
    let wheels = entry.get("wheels").or_else(|| entry.get("files")).and_then(Value::as_array)?;
    let source =
        wheels.iter().find(|w| w.get("file").and_then(Value::as_str).is_some_and(|f| f.ends_with(".tar.gz")));
    match (source, wheels.as_slice()) {
        (Some(source), _) => of(source),
        (None, [one]) => of(one),
        _ => None,
    }
}

fn sha256(text: &str) -> Option<(&'static str, String)> {
    let fits = text.len() == 64 && text.bytes().all(|b| b.is_ascii_hexdigit());
    fits.then(|| ("SHA-256", text.to_ascii_lowercase()))
}

/// Requirements with `==` ([pip's format](https://pip.pypa.io/en/stable/reference/requirements-file-format/)).
fn requirements(text: &str, gaps: &mut Vec<String>) -> Vec<Locked> {
    let joined = text.replace("\\\r\n", " ").replace("\\\n", " ");
    let (mut found, mut loose) = (Vec::new(), 0_usize);
    for line in joined.lines() {
        let line = line.split(" #").next().unwrap_or(line).trim();
        if line.is_empty() || line.starts_with(['#', '-']) {
            continue;
        }
        let Some((name, rest)) = of_requirement(line) else { continue };
        let rest =
            rest.strip_prefix('[').and_then(|r| r.split_once(']')).map_or(rest, |(_, r)| r.trim_start());
        let version = rest.strip_prefix("==").map(|v| v.trim_start_matches('='));
        let version = version.and_then(|v| v.split([' ', ';', ',']).find(|part| !part.is_empty()));
        if version.is_none() {
            loose += 1;
        }
        let mut digests =
            line.split("--hash=sha256:").skip(1).filter_map(|part| sha256(part.split_whitespace().next()?));
        let first = digests.next();
        // Of several archives it is not known which is installed.
        let hash = if digests.next().is_some() { None } else { first };
        found.push(Locked {
            name: normal(name),
            version: version.map(str::to_owned),
            hash,
            needs: Vec::new(),
        });
    }
    if loose > 0 {
        gaps.push(format!("{loose} lines of the requirements name no version"));
    }
    if !found.is_empty() {
        gaps.push("requirements do not say which package needs which: all of them are listed".to_owned());
    }
    found
}

fn closure(requires: &[(String, bool)], locked: &[Locked], bill: &mut Bill) {
    let mut by_name: BTreeMap<&str, Vec<&Locked>> = BTreeMap::new();
    for package in locked {
        by_name.entry(package.name.as_str()).or_default().push(package);
    }
    let id = |name: &str| -> Vec<String> {
        match by_name.get(name) {
            Some(all) => all.iter().map(|p| purl("pypi", &p.name, p.version.as_deref())).collect(),
            None => vec![purl("pypi", name, None)],
        }
    };
    let mut open: Vec<(String, bool)> = Vec::new();
    for (text, is_extra) in requires {
        let Some((name, rest)) = of_requirement(text) else { continue };
        let name = normal(name);
        bill.package.needs.extend(id(&name));
        if !locked.is_empty() && !by_name.contains_key(name.as_str()) && !is_extra {
            bill.gaps.push(format!("{name} is not in the lock file: lock again"));
        }
        open.push((name, *is_extra || rest.contains(';')));
    }
    // Files that do not say who needs what are taken as they are: all that is in them.
    if !locked.is_empty() && locked.iter().all(|p| p.needs.is_empty()) {
        let own = normal(&bill.package.name);
        open.extend(locked.iter().filter(|p| p.name != own).map(|p| (p.name.clone(), false)));
    }
    let mut seen: BTreeMap<String, (bool, Vec<usize>)> = BTreeMap::new();
    while let Some((name, optional)) = open.pop() {
        if name == normal(&bill.package.name) {
            continue;
        }
        let known = seen.get(&name).cloned();
        if let Some((was_optional, places)) = &known {
            if optional || !was_optional {
                continue;
            }
            // What one needs always is not optional because another needs it sometimes.
            for place in places {
                if let Some(component) = bill.components.get_mut(*place) {
                    component.optional = false;
                }
            }
        }
        let mut places = known.map(|(_, places)| places).unwrap_or_default();
        let is_new = places.is_empty();
        let nothing = [Locked { name: name.clone(), ..Locked::default() }];
        let all: Vec<&Locked> =
            by_name.get(name.as_str()).cloned().unwrap_or_else(|| nothing.iter().collect());
        for package in all {
            if is_new {
                if bill.components.len() >= MAX_COMPONENTS {
                    bill.gaps.push(format!("there are more than {MAX_COMPONENTS} components"));
                    return;
                }
                places.push(bill.components.len());
                bill.components.push(Component {
                    purl: purl("pypi", &package.name, package.version.as_deref()),
                    name: package.name.clone(),
                    version: package.version.clone(),
                    license: None,
                    hash: package.hash.clone(),
                    optional,
                    needs: package.needs.iter().flat_map(|(need, _)| id(need)).collect(),
                });
            }
            open.extend(package.needs.iter().map(|(need, sometimes)| (need.clone(), optional || *sometimes)));
        }
        seen.insert(name, (optional, places));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listed(lock: Option<(&str, &str)>) -> (Vec<(String, bool, bool)>, Vec<String>) {
        let requires = [("Httpx>=0.27".to_owned(), false), ("rich; extra == 'x'".to_owned(), true)];
        let bill = bill("Acme-UI", Some("1.0"), Some("MIT"), &requires, lock.map(|(f, t)| (f, t.as_bytes())));
        assert_eq!(bill.package.purl, "pkg:pypi/acme-ui@1.0");
        let mut all: Vec<_> =
            bill.components.iter().map(|c| (c.purl.clone(), c.optional, c.hash.is_some())).collect();
        all.sort();
        (all, bill.gaps)
    }

    fn said(of: &[(&str, bool, bool)]) -> Vec<(String, bool, bool)> {
        of.iter().map(|(p, o, h)| ((*p).to_owned(), *o, *h)).collect()
    }

    #[test]
    fn lock_files_of_all_kinds_say_what_is_needed() {
        let digest = "a".repeat(64);
        let uv = format!(
            "version = 1\n[[package]]\nname='acme-ui'\nversion='1.0'\nsource={{editable='.'}}\ndependencies=[{{name='httpx'}}]\n\
             [[package]]\nname='httpx'\nversion='0.28'\nsdist={{url='x',hash='sha256:{digest}'}}\ndependencies=[{{name='idna'}},{{name='win',marker=\"sys_platform=='win32'\"}}]\n\
             [[package]]\nname='idna'\nversion='3'\nwheels=[{{hash='sha256:{digest}'}}]\n[[package]]\nname='win'\nversion='1'\n\
             [[package]]\nname='pytest'\nversion='9'\n[[package]]\nname='rich'\nversion='14'\ndependencies=[{{name='idna'}}]\n"
        );
        let wanted = said(&[
            ("pkg:pypi/httpx@0.28", false, true),
            ("pkg:pypi/idna@3", false, true),
            ("pkg:pypi/rich@14", true, false),
            ("pkg:pypi/win@1", true, false),
        ]);
        assert_eq!(listed(Some(("uv.lock", &uv))).0, wanted);
        let poetry = format!(
            "[[package]]\nname='httpx'\nversion='0.28'\nfiles=[{{file='httpx.whl',hash='sha256:b'}},{{file='httpx.tar.gz',hash='sha256:{digest}'}}]\n[package.dependencies]\nidna='*'\nwin={{version='*',markers='x'}}\n\
             [[package]]\nname='idna'\nversion='3'\nfiles=[{{file='i.whl',hash='sha256:{digest}'}}]\n[[package]]\nname='win'\nversion='1'\n[[package]]\nname='rich'\nversion='14'\n[[package]]\nname='dev'\nversion='1'\n"
        );
        assert_eq!(listed(Some(("poetry.lock", &poetry))).0, wanted);
        let pylock = format!(
            "lock-version='1.0'\n[[packages]]\nname='httpx'\nversion='0.28'\nwheels=[{{hashes={{sha256='{digest}'}}}}]\ndependencies=[{{name='idna'}}]\n[[packages]]\nname='idna'\nversion='3'\n"
        );
        assert_eq!(
            listed(Some(("sub/pylock.dev.toml", &pylock))).0,
            said(&[
                ("pkg:pypi/httpx@0.28", false, true),
                ("pkg:pypi/idna@3", false, false),
                ("pkg:pypi/rich", true, false)
            ])
        );
        let text = format!(
            "# x\n--index-url https://x\nhttpx==0.28 \\\n    --hash=sha256:{digest}\nidna==3 ; x # why\n  # via\nloose>=1\n"
        );
        let (all, gaps) = listed(Some(("requirements.txt", &text)));
        assert_eq!(
            all,
            said(&[
                ("pkg:pypi/httpx@0.28", false, true),
                ("pkg:pypi/idna@3", false, false),
                ("pkg:pypi/loose", false, false),
                ("pkg:pypi/rich", true, false)
            ])
        );
        assert_eq!(gaps.len(), 3, "{gaps:?}");
    }

    #[test]
    fn without_a_lock_file_names_are_known_and_that_is_said() {
        for lock in [None, Some(("uv.lock", "[["))] {
            let (all, gaps) = listed(lock);
            assert_eq!(all, said(&[("pkg:pypi/httpx", false, false), ("pkg:pypi/rich", true, false)]));
            assert_eq!(gaps.len(), 1, "{gaps:?}");
        }
    }
}
