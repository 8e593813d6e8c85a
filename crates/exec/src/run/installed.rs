//! Which program a command means, to the last byte: the program, and the package of code that it runs.
//!
//! What fetches its code when it starts is nobody that could be known again, and is refused.

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use contract::{Code as FaultCode, Digest, Fault};

use super::find::find;

/// Programs that fetch what they run.
const FETCHES: &[&str] =
    &["bunx", "docker", "npm", "npx", "pipx", "pnpm", "pnpx", "podman", "uv", "uvx", "yarn"];

/// Most files of a package.
const MAX_FILES: usize = 100_000;

/// Most bytes of a package.
const MAX_BYTES: u64 = 2 << 30;

/// Most bytes of one of its files, and of a program.
const MAX_FILE: u64 = 512 << 20;

/// A program as it is installed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Installed {
    /// Where it is; its folder is without links. It may itself be one, such as the interpreter of a virtual environment.
    pub program: PathBuf,
    /// What is in it.
    pub digest: Digest,
    /// The packages of code that it runs.
    pub code: Vec<Code>,
    /// The first script that it is given, its folder without links.
    pub script: Option<PathBuf>,
}

/// A package of code, and whatever it needs beside it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Code {
    /// The folder that all of it is in.
    pub place: PathBuf,
    /// What is in all of its files.
    pub digest: Digest,
    /// What it calls itself, and its version, where it says so.
    pub named: Option<(String, String)>,
}

/// The program that `command` means, found in `path`, with the code that it is given in `args`. Nothing that lies in one
/// of `apart` is taken for a package: a folder that people work in is none.
pub fn installed(
    command: &str,
    args: &[String],
    path: &[PathBuf],
    apart: &[&Path],
) -> Result<Installed, Fault> {
    let wrong = |why: String| {
        Fault::new(FaultCode::ToolExecutionFailed, why)
            .suggest("Install the server, and name its program (and its script) by the whole path.")
    };
    let name = Path::new(command).file_name().unwrap_or_default().to_string_lossy();
    if FETCHES.contains(&name.as_ref()) {
        return Err(wrong(format!("{name} fetches what it runs each time: nobody can approve that")));
    }
    let program = if command.contains('/') {
        PathBuf::from(command)
    } else {
        find(command, path, Path::new("/nowhere"))?
    };
    if !program.is_absolute() {
        return Err(wrong(format!("{command}: a program is named by itself or by its whole path")));
    }
    let real = std::fs::canonicalize(&program).map_err(|e| wrong(format!("{command}: {e}")))?;
    let is_program =
        std::fs::metadata(&real).is_ok_and(|m| m.is_file() && m.permissions().mode() & 0o111 != 0);
    if !is_program {
        return Err(wrong(format!("{command} is no program")));
    }
    // A link keeps its name: an interpreter knows its environment by it.
    let program = match (program.parent().map(std::fs::canonicalize), program.file_name()) {
        (Some(Ok(folder)), Some(name)) => folder.join(name),
        _ => return Err(wrong(format!("{command} is in no folder"))),
    };
    let failed = |why: String| wrong(format!("{command}: {why}"));
    let digest = of_file(&real).map_err(failed)?;
    let mut code: Vec<Code> = Vec::new();
    let script = args.iter().map(Path::new).find(|file| file.is_absolute() && file.is_file());
    let script =
        script.and_then(|file| Some(std::fs::canonicalize(file.parent()?).ok()?.join(file.file_name()?)));
    let scripts = args.iter().map(PathBuf::from).filter(|file| file.is_absolute() && file.is_file());
    let scripts: Vec<PathBuf> = scripts.filter_map(|file| std::fs::canonicalize(file).ok()).collect();
    let places = packaged(&program).into_iter().chain(packaged(&real)).map(|place| (place, &real));
    let places = places.chain(scripts.iter().filter_map(|file| Some((beside(file)?, file))));
    for (place, file) in places {
        let is_known = code.iter().any(|known| place.starts_with(&known.place));
        if is_known || apart.iter().any(|other| other.starts_with(&place)) {
            continue;
        }
        let digest = of_tree(&place).map_err(|e| wrong(format!("{}: {e}", place.display())))?;
        code.push(Code { digest, named: named(file, &place), place });
    }
    for file in &scripts {
        let is_in = |place: &Path| file.starts_with(place);
        if !code.iter().any(|code| is_in(&code.place)) && !apart.iter().any(|other| is_in(other)) {
            return Err(wrong(format!("{}: it lies among too much else to be a program", file.display())));
        }
    }
    Ok(Installed { program, digest, code, script })
}

/// The package that a program lies in: what npm installed, or a virtual environment.
fn packaged(program: &Path) -> Option<PathBuf> {
    let modules = program.ancestors().filter(|place| place.file_name().is_some_and(|n| n == "node_modules"));
    let environment = || program.parent()?.parent().filter(|place| place.join("pyvenv.cfg").is_file());
    modules.last().or_else(environment).map(Path::to_owned)
}

/// The package that a script lies in: that, or its own folder.
fn beside(file: &Path) -> Option<PathBuf> {
    packaged(file).or_else(|| file.parent().map(Path::to_owned))
}

/// What the package of `file` calls itself (npm's `package.json`).
fn named(file: &Path, within: &Path) -> Option<(String, String)> {
    let own = file.ancestors().skip(1).take_while(|place| place.starts_with(within));
    let manifest = own.map(|place| place.join("package.json")).find(|file| file.is_file())?;
    let read = super::find::read_small(&manifest, 1 << 20).ok()?;
    let manifest: serde_json::Value = serde_json::from_slice(&read).ok()?;
    let text = |field: &str| manifest.get(field).and_then(serde_json::Value::as_str).map(str::to_owned);
    Some((text("name")?, text("version")?))
}

fn of_file(file: &Path) -> Result<Digest, String> {
    let read = super::find::read_small(file, MAX_FILE).map_err(|e| format!("it cannot be read: {e}"))?;
    Ok(Digest::of(&read))
}

/// The digest of all that is in a folder: names, what links say, contents, and what may be run. What Python compiled is not
/// in it, since the program is told to look for that elsewhere.
fn of_tree(place: &Path) -> Result<Digest, String> {
    let (mut whole, mut bytes, mut count) = (Vec::new(), 0_u64, 0_usize);
    let mut folders = vec![place.to_owned()];
    while let Some(folder) = folders.pop() {
        let entries = std::fs::read_dir(&folder).map_err(|e| e.to_string())?;
        let mut names: Vec<_> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
        names.sort();
        for path in names {
            let there = std::fs::symlink_metadata(&path).map_err(|e| e.to_string())?;
            count += 1;
            bytes += there.len();
            if count > MAX_FILES || bytes > MAX_BYTES {
                return Err("there is too much in it for a package".to_owned());
            }
            let kind = there.file_type();
            if kind.is_dir() {
                if path.file_name().is_none_or(|name| name != "__pycache__") {
                    folders.push(path);
                }
                continue;
            }
            let content = if kind.is_symlink() {
                let target = std::fs::read_link(&path).map_err(|e| e.to_string())?;
                format!("link {}", Digest::of(target.as_os_str().as_encoded_bytes()))
            } else if kind.is_file() {
                let mode = if there.permissions().mode() & 0o111 == 0 { "file" } else { "program" };
                format!("{mode} {}", of_file(&path)?)
            } else {
                return Err(format!("{} is no file", path.display()));
            };
            let name = path.strip_prefix(place).unwrap_or(&path);
            whole.extend_from_slice(name.as_os_str().as_encoded_bytes());
            whole.extend_from_slice(format!("\0{content}\n").as_bytes());
        }
    }
    Ok(Digest::of(&whole))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(place: &Path, name: &str, text: &str, mode: u32) {
        let file = place.join(name);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(&file, text).unwrap();
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(mode)).unwrap();
    }

    #[test]
    fn m06_a_program_is_known_by_all_the_code_that_it_runs() {
        let scratch = tempfile::tempdir().unwrap();
        let place = scratch.path().canonicalize().unwrap();
        write(&place, "bin/run", "#!/bin/sh\n", 0o755);
        write(&place, "node_modules/server/dist/index.js", "1", 0o644);
        write(&place, "node_modules/server/package.json", r#"{"name":"server","version":"1.2.3"}"#, 0o644);
        write(&place, "node_modules/other/index.js", "1", 0o644);
        let run = place.join("bin/run").display().to_string();
        let args = [place.join("node_modules/server/dist/index.js").display().to_string()];
        let of = || installed(&run, &args, &[], &[]).unwrap();
        let first = of();
        assert_eq!(first.code.len(), 1);
        assert_eq!(first.code[0].place, place.join("node_modules"));
        assert_eq!(first.code[0].named, Some(("server".into(), "1.2.3".into())));
        assert_eq!(of(), first);
        // The program, its package, and what its package needs.
        for (name, text) in [
            ("bin/run", "#!/bin/sh\n:\n"),
            ("node_modules/server/dist/index.js", "2"),
            ("node_modules/other/index.js", "2"),
            ("node_modules/other/new.js", ""),
        ] {
            let before = of();
            write(&place, name, text, if name.starts_with("bin") { 0o755 } else { 0o644 });
            assert_ne!(of(), before, "{name}");
        }
        let before = of();
        write(&place, "node_modules/other/new.js", "", 0o755);
        assert_ne!(of(), before, "what may be run");
    }

    #[test]
    fn m06_an_environment_of_python_is_known_by_its_files_and_not_by_what_was_compiled_of_them() {
        let scratch = tempfile::tempdir().unwrap();
        let place = scratch.path().canonicalize().unwrap();
        write(&place, "venv/pyvenv.cfg", "home = /usr/bin\n", 0o644);
        write(&place, "venv/lib/server.py", "1", 0o644);
        std::fs::create_dir_all(place.join("venv/bin")).unwrap();
        std::os::unix::fs::symlink("/usr/bin/env", place.join("venv/bin/python")).unwrap();
        let python = place.join("venv/bin/python").display().to_string();
        let of = || installed(&python, &["-m".into(), "server".into()], &[], &[]).unwrap();
        let first = of();
        assert_eq!((&first.program, first.code.len()), (&place.join("venv/bin/python"), 1));
        write(&place, "venv/lib/__pycache__/server.pyc", "x", 0o644);
        assert_eq!(of(), first);
        write(&place, "venv/lib/server.py", "2", 0o644);
        assert_ne!(of(), first);
    }

    #[test]
    fn what_fetches_its_code_and_what_lies_where_people_work_is_refused() {
        let said = |command: &str, args: &[&str], apart: &[&Path]| {
            let args: Vec<String> = args.iter().map(|a| (*a).to_owned()).collect();
            installed(command, &args, &[], apart).unwrap_err().message
        };
        for command in ["npx", "/usr/local/bin/uvx", "docker"] {
            assert!(said(command, &[], &[]).contains("fetches"), "{command}");
        }
        assert!(said("./server", &[], &[]).contains("whole path"));
        assert!(said("/etc/passwd", &[], &[]).contains("no program"));
        let home = tempfile::tempdir().unwrap();
        let home = home.path().canonicalize().unwrap();
        std::fs::write(home.join("server.js"), "1").unwrap();
        let file = home.join("server.js").display().to_string();
        assert!(said("/usr/bin/env", &[&file], &[&home.join("work")]).contains("too much else"));
    }
}
