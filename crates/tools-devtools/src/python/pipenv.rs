//! pipenv: what it is told, what its files may make it run, and whether the lock that it leaves holds.

use contract::{Code, Fault, RelPath, State};
use exec::run::{Command, MAX_TIMEOUT, Ran};
use kit::{ReadDesk, RunDesk};
use serde_json::{Map, Value};

use super::managers::{self, Manager};
use super::newest::{is_name, plain};
use super::pins::file;
use crate::running::{self, Asked, words};

/// How it is kept to the project: no environment, interpreter, Pipfile or variable of elsewhere; no question; lines that are not broken.
pub(crate) const TOLD: [(&str, &str); 9] = [
    ("PIPENV_VENV_IN_PROJECT", "1"),
    ("PIPENV_IGNORE_VIRTUALENVS", "1"),
    ("PIPENV_DONT_USE_PYENV", "1"),
    ("PIPENV_DONT_USE_ASDF", "1"),
    ("PIPENV_DONT_LOAD_ENV", "1"),
    ("PIPENV_NO_INHERIT", "1"),
    ("PIPENV_NOSPIN", "1"),
    ("PIPENV_HIDE_EMOJIS", "1"),
    ("COLUMNS", "1000"),
];

/// Keys of an entry of a registry's package. Whatever else there is says where code comes from, or how it is built: `path`, `git`,
/// `no_binary`, `pip_args`.
const PLAIN: [&str; 18] = [
    "version",
    "extras",
    "markers",
    "os_markers",
    "index",
    "hashes",
    "name",
    "os_name",
    "sys_platform",
    "platform_machine",
    "platform_python_implementation",
    "platform_release",
    "platform_system",
    "platform_version",
    "python_version",
    "python_full_version",
    "implementation_name",
    "implementation_version",
];

/// Keys of `[pipenv]` that do not say who resolves.
const HARMLESS: [&str; 4] =
    ["allow_prereleases", "sort_pipfile", "disable_pip_input", "install_search_all_sources"];

/// A command that resolves. That wants an environment, which is made in the run's home: the project's interpreter is not started for it.
pub(crate) fn resolving(mut command: Command) -> Command {
    command.env.insert("PIPENV_VENV_IN_PROJECT".to_owned(), "0".to_owned());
    command
}

/// What building would have to run for the project in `dir`: packages of folders, archives and repositories, by the Pipfile and its lock.
/// Entries that could be read as such are among them.
pub(crate) fn builds(desk: &ReadDesk, dir: Option<&RelPath>) -> Result<Vec<String>, Fault> {
    let Some(pipfile) = file(desk, dir, "Pipfile")? else {
        return Err(Fault::new(Code::NotFound, "pipenv works for a Pipfile, and there is none")
            .suggest("Name the folder of the Pipfile with `directory`, or another `packageManager`."));
    };
    // A file that names an environment elsewhere goes before every variable.
    let venv = dir.map_or_else(|| RelPath::new(".venv"), |dir| dir.join(".venv"));
    let venv = venv.map_err(|e| Fault::internal(e.to_string()))?;
    if matches!(desk.view().state(&venv)?, State::File { .. } | State::Symlink { .. }) {
        return Err(Fault::invalid(format!(
            "{venv} is a file, by which pipenv would find an environment elsewhere"
        ))
        .about(venv.as_str())
        .suggest("Remove it: an environment in a folder `.venv` is made where there is none."));
    }
    let mut found = of_pipfile(&String::from_utf8_lossy(&pipfile))?;
    if let Some(lock) = file(desk, dir, "Pipfile.lock")? {
        found.extend(of_lock(&lock)?);
    }
    found.sort();
    found.dedup();
    Ok(found)
}

fn of_pipfile(text: &str) -> Result<Vec<String>, Fault> {
    let read: Map<String, Value> = toml::from_str(text).map_err(|error| {
        Fault::new(Code::InvalidSource, format!("Pipfile: {}", error.message())).suggest("Mend the Pipfile.")
    })?;
    verified("Pipfile", read.get("source"))?;
    let mut found = Vec::new();
    for (section, entries) in &read {
        let fields = || entries.as_object().into_iter().flatten();
        match section.as_str() {
            // Its `requires` are installed and then imported, by whatever is built.
            "build-system" => found.push(section.clone()),
            // Another resolver builds what it asks about.
            "pipenv" => {
                let odd = fields().filter(|(key, _)| !HARMLESS.contains(&key.as_str()));
                found.extend(odd.map(|(key, _)| shown(&format!("[pipenv] {key}"))));
            }
            // A path here is a program that is started.
            "requires" => {
                let is_version =
                    |text: &str| text == "*" || text.bytes().all(|b| b.is_ascii_digit() || b == b'.');
                if let Some((key, _)) = fields().find(|(_, value)| !value.as_str().is_some_and(is_version)) {
                    return Err(Fault::invalid(format!("Pipfile: [requires] {} is no version", shown(key)))
                        .suggest("Write a version, such as `python_version = \"3.12\"`."));
                }
            }
            _ => {}
        }
        // Whatever else has packages to pipenv, under a name of the project's.
        let settings = ["source", "requires", "scripts", "pipenv", "build-system"];
        if settings.contains(&section.as_str()) {
            continue;
        }
        found.extend(unplain(entries, |version| version == "*" || is_range(version)));
    }
    Ok(found)
}

fn of_lock(bytes: &[u8]) -> Result<Vec<String>, Fault> {
    let read: Map<String, Value> = serde_json::from_slice(bytes).map_err(|error| {
        Fault::new(Code::InvalidSource, format!("Pipfile.lock: {error}")).suggest("Make the lock anew.")
    })?;
    verified("Pipfile.lock", read.get("_meta").and_then(|meta| meta.get("sources")))?;
    let sections = read.iter().filter(|(name, _)| *name != "_meta");
    Ok(sections.flat_map(|(_, entries)| unplain(entries, is_range)).collect())
}

/// A fault where a source says that anybody may stand for its host: whom to trust is the user's to say.
fn verified(file: &str, sources: Option<&Value>) -> Result<(), Fault> {
    for source in sources.and_then(Value::as_array).into_iter().flatten() {
        let url = source["url"].as_str().unwrap_or_default();
        let checked = match &source["verify_ssl"] {
            Value::Null => true,
            Value::String(said) => said.eq_ignore_ascii_case("true"),
            other => *other == Value::Bool(true),
        };
        if !checked || !url.to_lowercase().starts_with("https://") {
            let name = source["name"].as_str().unwrap_or("a source");
            return Err(Fault::invalid(format!("{file}: {name:?} is no https source whose certificate is verified"))
                .suggest("Say `verify_ssl = true` and https://; an authority of your own is `[security] ca-file` in your configuration."));
        }
    }
    Ok(())
}

/// Entries that are not merely a package of a registry: pipenv makes lines of requirements from them, in which a path or an address in
/// the place of a version, or a second line, is built.
fn unplain(entries: &Value, version: impl Fn(&str) -> bool) -> Vec<String> {
    let entries = entries.as_object().into_iter().flatten();
    let odd = entries.filter(|(name, entry)| {
        let plain = match entry {
            Value::String(range) => version(range),
            Value::Object(fields) => {
                fields.keys().all(|key| PLAIN.contains(&key.as_str()))
                    && fields.get("version").is_none_or(|range| range.as_str().is_some_and(&version))
                    && fields.get("extras").is_none_or(|extras| {
                        extras
                            .as_array()
                            .is_some_and(|all| all.iter().all(|one| one.as_str().is_some_and(is_name)))
                    })
                    && fields.values().all(is_one_line)
            }
            _ => false,
        };
        !plain || !is_name(name)
    });
    odd.map(|(name, _)| shown(name)).collect()
}

/// A name of a project's, as it is told.
fn shown(name: &str) -> String {
    name.chars().filter(|c| !c.is_control()).take(100).collect()
}

fn is_one_line(value: &Value) -> bool {
    match value {
        Value::String(text) => !text.contains(char::is_control),
        Value::Array(all) => all.iter().all(is_one_line),
        Value::Object(fields) => fields.values().all(is_one_line),
        _ => true,
    }
}

/// Whether a text is versions of PEP 440 and nothing else; a version alone means that one.
fn is_range(text: &str) -> bool {
    deps::python_fits(text, "1").is_some() || deps::python_fits(&format!("=={text}"), "1").is_some()
}

/// Whether the lock is there and of this Pipfile.
pub(crate) async fn stands(desk: &RunDesk, asked: &Asked<'_>) -> Result<bool, Fault> {
    let command = asked.command("pipenv", words(&["verify"]), Vec::new())?;
    Ok(run(desk, resolving(command), false).await?.is_success())
}

async fn run(desk: &RunDesk, mut command: Command, build: bool) -> Result<Ran, Fault> {
    command.timeout = MAX_TIMEOUT;
    let command = running::configured(desk, Manager::fetching(desk, command, build)).await?;
    desk.run(command).await
}

/// Packages that a resolver found nothing of, where there are sources that would do. It says the same of ranges that nothing fits.
pub(crate) async fn only_sources(
    desk: &RunDesk,
    dir: Option<&RelPath>,
    ran: &Ran,
) -> Result<Vec<String>, Fault> {
    let mut found: Vec<String> = Vec::new();
    if !ran.refused.is_empty() {
        return Ok(found);
    }
    for (name, range) in unfound(&format!("{}\n{}", ran.stderr.text(), ran.stdout.text())) {
        let all = listed(desk, dir, &name, true).await?;
        let built = listed(desk, dir, &name, false).await?;
        let mut sources = all.iter().filter(|version| !built.contains(version));
        if sources.any(|version| deps::python_fits(&range, version) == Some(true)) {
            found.push(name);
        }
    }
    Ok(found)
}

/// Names and ranges that pip says it found no distribution of.
fn unfound(said: &str) -> Vec<(String, String)> {
    let mut found: Vec<(String, String)> = Vec::new();
    for line in said.lines() {
        let Some((_, wanted)) = line.split_once("No matching distribution found for ") else { continue };
        let wanted = wanted.split(';').next().unwrap_or_default().trim();
        let end = wanted.find(['[', '<', '>', '=', '!', '~', ' ']).unwrap_or(wanted.len());
        let (name, rest) = wanted.split_at(end);
        let range = rest.split_once(']').map_or(rest, |(_, range)| range).trim();
        let one = (plain(name), range.to_owned());
        if is_name(name) && !found.contains(&one) {
            found.push(one);
        }
    }
    found.truncate(5);
    found
}

/// The versions that the registry has of a package, sources among them where `sources`; none where it says nothing.
async fn listed(
    desk: &RunDesk,
    dir: Option<&RelPath>,
    name: &str,
    sources: bool,
) -> Result<Vec<String>, Fault> {
    let mut command = Command::new("python3", &["-I", "-m", "pip", "index", "versions", "--json", name]);
    command.dir = dir.cloned();
    let ran = run(desk, command, sources).await?;
    let said: Value = serde_json::from_slice(&ran.stdout.bytes).unwrap_or_default();
    let versions = said["versions"].as_array().into_iter().flatten();
    Ok(versions.filter_map(|version| version.as_str().map(str::to_owned)).collect())
}

/// Holds the lock that is there after a part of it was moved against what its packages say of each other. pipenv takes the moved ones
/// from a resolution in which all of them are at their newest, whatever the others stay at; so it may leave packages together that do
/// not go together, or leave one out.
pub(crate) async fn sound(desk: &RunDesk, dir: Option<&RelPath>, after: &[u8]) -> Result<(), Fault> {
    let sections: Map<String, Value> = serde_json::from_slice(after).unwrap_or_default();
    let sections: Vec<&str> = sections
        .keys()
        .filter(|name| *name != "_meta")
        .map(|name| match name.as_str() {
            "default" => "packages",
            "develop" => "dev-packages",
            other => other,
        })
        .collect();
    let asked = Asked { directory: dir.map(RelPath::as_str), args: &[] };
    let flags = ["requirements".to_owned(), "--categories".to_owned(), sections.join(",")];
    let pinned = run(desk, resolving(asked.command("pipenv", flags.to_vec(), Vec::new())?), false).await?;
    if !pinned.is_success() {
        return Err(managers::failed("`pipenv requirements`", &pinned));
    }
    let mut command = Command::new(
        "python3",
        &[
            "-I",
            "-m",
            "pip",
            "install",
            "--dry-run",
            "--no-input",
            "-q",
            "--ignore-installed",
            "--report",
            "-",
        ],
    );
    command.dir = dir.cloned();
    let list = super::beside(&mut command, "locked.txt");
    command.inputs.insert("locked.txt".to_owned(), pinned.stdout.bytes.clone());
    command.args.extend(["-r".to_owned(), list]);
    let checked = run(desk, command, false).await?;
    let why = if checked.is_success() {
        let known = pinned.stdout.text();
        let known: Vec<String> = known.lines().map(named).collect();
        let said: Value = serde_json::from_slice(&checked.stdout.bytes).unwrap_or_default();
        let rows = said["install"].as_array().into_iter().flatten();
        let names = rows.filter_map(|row| row["metadata"]["name"].as_str()).map(plain);
        let missing: Vec<String> = names.filter(|name| !known.contains(name)).collect();
        if missing.is_empty() {
            return Ok(());
        }
        format!("it leaves out {}, which others need", missing.join(", "))
    } else {
        super::said(&checked.stderr.text())
    };
    Err(Fault::new(
        Code::ToolExecutionFailed,
        format!("pipenv's lock would not hold, with only these packages moved: {why}"),
    )
    .suggest("Move all of them (`mode: update-major` without `packages`), or name the packages that need them, too."))
}

/// The name that a line of requirements begins with.
fn named(line: &str) -> String {
    let end = line.find(|c: char| !(c.is_ascii_alphanumeric() || "-_.".contains(c))).unwrap_or(line.len());
    plain(line.split_at(end).0)
}

/// Whether everything that the Pipfile names comes from one registry: the public one, or `registry` in its place.
pub(crate) fn has_one_source(desk: &ReadDesk, dir: Option<&RelPath>, registry: Option<&str>) -> bool {
    let text = file(desk, dir, "Pipfile").ok().flatten().unwrap_or_default();
    let read: Map<String, Value> = toml::from_str(&String::from_utf8_lossy(&text)).unwrap_or_default();
    let sources = read.get("source").and_then(Value::as_array).into_iter().flatten();
    sources.filter_map(|source| source["url"].as_str()).all(|url| {
        let url = url.trim_end_matches('/');
        url == "https://pypi.org/simple" || registry.is_some_and(|known| known.trim_end_matches('/') == url)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whatever_a_pipfile_can_make_pip_build_is_named() {
        let text = "[[source]]\nurl = 'https://pypi.org/simple'\nname = 'pypi'\n[packages]\nsix = '>=1.15,<1.17'\nany = '*'\nplain = '1.2'\nrequests = {version = '~=2.0', extras = ['socks'], index = 'pypi', markers = \"python_version > '3'\"}\n[dev-packages]\nhere = {path = '.', editable = true}\nvcs = {git = 'https://x/y', ref = 'main'}\nat = '@ file:///x'\nlines = {version = '*', markers = \"a\\n./evil\"}\nextra = {version = '*', extras = ['a] @ file:///x #']}\n'./evil' = '*'\n[docs]\narchive = {file = 'x.zip'}\n[scripts]\na = './x'\n[requires]\npython_version = '3.11'\n";
        let mut found = of_pipfile(text).unwrap();
        found.sort();
        assert_eq!(found, ["./evil", "archive", "at", "extra", "here", "lines", "vcs"]);
        assert_eq!(of_pipfile("[build-system]\nrequires = ['x']\n").unwrap(), ["build-system"]);
        assert_eq!(of_pipfile("[pipfile]\nx = {path = '.'}\n").unwrap(), ["x"]);
        let other = "[packages]\na = {version = '*', no_binary = true}\nb = {version = '*', pip_args = ['-f', '.']}\n[pipenv]\nresolver_backend = 'pure-python'\nallow_prereleases = true\n";
        let mut found = of_pipfile(other).unwrap();
        found.sort();
        assert_eq!(found, ["[pipenv] resolver_backend", "a", "b"]);
        for python in ["/proc/self/cwd/evil", "tools/evil", "./x", "3.12 "] {
            assert!(of_pipfile(&format!("[requires]\npython_version = '{python}'\n")).is_err(), "{python}");
        }
        assert!(of_pipfile("[requires]\npython_full_version = ['3']\n").is_err());
        assert!(of_pipfile("[packages\n").is_err());
        for source in [
            "url = 'https://x'\nverify_ssl = false",
            "url = 'https://x'\nverify_ssl = 'no'",
            "url = 'HTTP://x'",
            "url = 'file:///proc/self/cwd/simple'",
            "url = './simple'",
        ] {
            let fault = of_pipfile(&format!("[[source]]\nname = 'odd'\n{source}\n")).unwrap_err();
            assert!(fault.message.contains("odd"), "{source}: {}", fault.message);
        }
    }

    #[test]
    fn whatever_a_lock_can_make_pip_build_is_named() {
        let text = r#"{"_meta": {"sources": [{"url": "https://x"}]}, "default": {"six": {"version": "==1.16.0", "hashes": ["sha256:0"], "index": "pypi"}, "here": {"path": ".", "editable": true}, "at": {"version": "==1 @ file:///x"}}, "develop": {"two": {"version": "==1", "markers": "x\n./evil"}}}"#;
        let mut found = of_lock(text.as_bytes()).unwrap();
        found.sort();
        assert_eq!(found, ["at", "here", "two"]);
        let built = br#"{"default": {"six": {"version": "==1.16.0", "no_binary": true}}}"#;
        assert_eq!(of_lock(built).unwrap(), ["six"]);
        assert!(of_lock(br#"{"_meta": {"sources": [{"url": "./x", "verify_ssl": true}]}}"#).is_err());
        assert!(of_lock(br#"{"_meta": {"sources": [{"url": "https://x", "verify_ssl": false}]}}"#).is_err());
    }

    #[test]
    fn what_pip_found_nothing_of_is_a_name_and_a_range() {
        let said = "ERROR: No matching distribution found for docopt==0.6.2\nx: ERROR: No matching distribution found for Six[a]<1.16,>=1.17; python_version > '3'\nERROR: No matching distribution found for --x\nERROR: No matching distribution found for docopt==0.6.2\n";
        let found = unfound(said);
        let found: Vec<_> = found.iter().map(|(name, range)| (name.as_str(), range.as_str())).collect();
        assert_eq!(found, [("docopt", "==0.6.2"), ("six", "<1.16,>=1.17")]);
    }
}
