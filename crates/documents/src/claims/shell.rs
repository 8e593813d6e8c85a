//! Lines of shells, and manifests that are shown.

use super::{ClaimKind, Command, Folder, spans};
use crate::ground::tree::resolve;

/// Languages of blocks whose lines are commands.
const SHELLS: [&str; 11] = [
    "sh",
    "bash",
    "shell",
    "zsh",
    "console",
    "shell-session",
    "shellsession",
    "sh-session",
    "terminal",
    "fish",
    "bash-session",
];

/// Programs whose commands are looked into: a line in a block of no language begins with one.
const PROGRAMS: [&str; 9] = ["make", "npm", "pnpm", "yarn", "bun", "cargo", "just", "go", "cd"];

/// Longest line that is looked at, in bytes.
const MAX_LINE: usize = 2_000;

/// What a block of code says: its line, as written, what it says.
pub(super) fn read(language: &str, lines: &[(u32, String)]) -> Vec<(u32, String, ClaimKind)> {
    if language == "toml" {
        return manifest(lines);
    }
    let is_shell = SHELLS.contains(&language);
    if !is_shell && !language.is_empty() && language != "text" {
        return Vec::new();
    }
    // Where some lines have a prompt the others are what was answered.
    let prompt = |line: &str| {
        line.trim_start()
            .strip_prefix("$ ")
            .or_else(|| line.trim_start().strip_prefix("% "))
            .map(str::to_owned)
    };
    let has_prompts = lines.iter().any(|(_, line)| prompt(line).is_some());
    let mut found = Vec::new();
    let mut walk = Walk { folder: Folder::Top, was_cloned: false };
    let mut open: Option<(u32, String)> = None;
    for (number, line) in lines {
        let (number, line) = match open.take() {
            Some((first, begun)) => (first, format!("{begun} {}", line.trim())),
            None if has_prompts => match prompt(line) {
                Some(line) => (*number, line),
                None => continue,
            },
            None => (*number, line.clone()),
        };
        if line.len() <= MAX_LINE
            && let Some(begun) = line.strip_suffix('\\')
        {
            open = Some((number, begun.trim_end().to_owned()));
            continue;
        }
        let first = line.split_whitespace().next().unwrap_or_default();
        if !is_shell && !has_prompts && !PROGRAMS.contains(&first) {
            continue;
        }
        let claims = walk.line(&line);
        found.extend(claims.into_iter().map(|kind| (number, line.trim().to_owned(), kind)));
    }
    found
}

/// Whether a block tells its readers to make a project of npm, shows them the scripts of one, or adds packages to theirs: what is
/// run then is not of this repository.
pub(super) fn is_for_users(language: &str, lines: &[(u32, String)]) -> bool {
    if matches!(language, "json" | "jsonc" | "json5" | "diff") {
        return lines.iter().any(|(_, line)| line.contains("\"scripts\""));
    }
    if !SHELLS.contains(&language) && !language.is_empty() {
        return false;
    }
    lines.iter().any(|(_, line)| {
        let words: Vec<&str> = line.split_whitespace().filter(|w| *w != "$").collect();
        match words.as_slice() {
            ["npm" | "pnpm" | "yarn" | "bun", "init" | "create", ..] => true,
            ["npm" | "pnpm" | "bun", "i" | "install" | "add", rest @ ..] | ["yarn", "add", rest @ ..] => {
                rest.iter().any(|w| !w.starts_with('-'))
                    && !rest.iter().any(|w| matches!(*w, "-g" | "--global"))
            }
            ["npx", name, ..] => name.starts_with("create-"),
            _ => false,
        }
    })
}

/// What one command says that stands by itself.
pub(super) fn line(text: &str) -> Vec<ClaimKind> {
    Walk { folder: Folder::Top, was_cloned: false }.line(text)
}

/// Commands one after another, and where they are run.
struct Walk {
    folder: Folder,
    was_cloned: bool,
}

/// What goes before a command without being one.
const BEFORE: [&str; 7] = ["sudo", "time", "exec", "env", "nice", "command", "then"];

/// After these one is somewhere else, or something else is there.
const AWAY: [&str; 16] = [
    "mkdir",
    "ssh",
    "docker",
    "podman",
    "pushd",
    "popd",
    "chroot",
    "vagrant",
    "tar",
    "unzip",
    "curl",
    "wget",
    "su",
    "nix-shell",
    "sed",
    "degit",
];

impl Walk {
    fn line(&mut self, line: &str) -> Vec<ClaimKind> {
        let mut found = Vec::new();
        if line.len() > MAX_LINE {
            return found;
        }
        for command in commands(line) {
            let mut words = command.as_slice();
            while let Some((first, rest)) = words.split_first()
                && (BEFORE.contains(&first.as_str()) || is_assignment(first))
            {
                words = rest;
            }
            if let Some((program, arguments)) = words.split_first() {
                self.command(program, arguments, &mut found);
            }
        }
        found
    }

    fn command(&mut self, program: &str, arguments: &[String], found: &mut Vec<ClaimKind>) {
        let first = arguments.first().map(String::as_str).unwrap_or_default();
        match program {
            "cd" => return self.cd(first),
            "git" if first == "clone" => self.was_cloned = true,
            "cargo" if matches!(first, "new" | "init" | "generate") => self.folder = Folder::Unknown,
            "npm" | "pnpm" | "yarn" | "bun" if matches!(first, "create" | "init") => {
                self.folder = Folder::Unknown;
            }
            "npx" if first.starts_with("create-") || first == "degit" => self.folder = Folder::Unknown,
            program if AWAY.contains(&program) => self.folder = Folder::Unknown,
            _ => {}
        }
        let folder = || self.folder.clone();
        let commands = match program {
            "make" | "gmake" => make(arguments),
            "npm" | "pnpm" | "yarn" | "bun" => scripts(program, arguments),
            "just" => arguments
                .first()
                .filter(|a| is_name(a))
                .map(|a| Command::Recipe(a.clone()))
                .into_iter()
                .collect(),
            "cargo" => cargo(arguments, found),
            _ => Vec::new(),
        };
        found.extend(commands.into_iter().map(|command| ClaimKind::Command { command, folder: folder() }));
        let runs = match program {
            "bash" | "sh" | "zsh" | "python" | "python3" | "node" | "ruby" | "perl" | "source" | "." => {
                Some(first)
            }
            "go" if matches!(first, "run" | "build" | "test" | "vet" | "install") => arguments
                .iter()
                .skip(1)
                .map(String::as_str)
                .find(|a| a.starts_with("./") && !a.contains("...")),
            program => program.starts_with("./").then_some(program),
        };
        if let Some(path) = runs.filter(|path| !path.starts_with('-')).and_then(run) {
            found.push(ClaimKind::Run { path, folder: folder() });
        }
        let name = program.rsplit('/').next().unwrap_or(program);
        flags(name, arguments, found);
    }

    fn cd(&mut self, to: &str) {
        if std::mem::take(&mut self.was_cloned) {
            self.folder = Folder::Top;
            return;
        }
        let is_path = !to.is_empty()
            && to.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-' | '/'));
        let from = match &self.folder {
            Folder::Top => Some(""),
            Folder::In(folder) => Some(folder.as_str()),
            Folder::Unknown => None,
        };
        let to = from.filter(|_| is_path && !to.starts_with(['/', '-'])).and_then(|from| resolve(from, to));
        self.folder = match to {
            Some(to) if to.is_empty() => Folder::Top,
            Some(to) => Folder::In(to),
            None => Folder::Unknown,
        };
    }
}

/// A line by `&&`, `||`, `;`, `|` and its comment; words as a shell takes them apart. What a shell would fill in makes a command that
/// is not looked at.
fn commands(line: &str) -> Vec<Vec<String>> {
    let line = line.trim();
    if line.starts_with('#') || line.contains(['`', '<', '…']) || line.contains("...]") {
        return Vec::new();
    }
    let line = line.split(" #").next().unwrap_or(line);
    let Some(words) = shlex::split(&line.replace("&&", " && ").replace("||", " || ").replace(';', " ; "))
    else {
        return Vec::new();
    };
    let is_end = |word: &String| matches!(word.as_str(), "&&" | "||" | ";" | "|" | "&");
    words.split(is_end).map(<[String]>::to_vec).filter(|command| !command.is_empty()).collect()
}

fn is_assignment(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| {
        !name.is_empty() && name.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_')
    })
}

/// A name that stands for itself.
fn is_name(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_')
        && word.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | ':' | '/'))
        && !spans::is_placeholder(word)
}

fn make(arguments: &[String]) -> Vec<Command> {
    // Elsewhere, by another file, or only shown: not this Makefile's targets.
    if arguments.iter().any(|a| {
        a.starts_with("-C") || a.starts_with("-f") || a.starts_with("--directory") || a.starts_with("--file")
    }) {
        return Vec::new();
    }
    let mut targets = Vec::new();
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        if matches!(word.as_str(), "-j" | "-l" | "-o" | "-W" | "-I") {
            words.next();
        } else if is_name(word) && !word.contains('=') && !word.chars().all(|c| c.is_ascii_digit()) {
            targets.push(Command::Make(word.clone()));
        } else if !word.starts_with('-') && !word.contains('=') {
            break;
        }
    }
    // `make sure that it works` in a code span is no command.
    if targets.len() > 3 { Vec::new() } else { targets }
}

fn scripts(manager: &str, arguments: &[String]) -> Vec<Command> {
    let mut words = arguments.iter().filter(|a| !a.starts_with('-'));
    // Flags with values (`--prefix web`) would be taken for the command.
    let has_value = |a: &String| {
        matches!(a.as_str(), "--prefix" | "-C" | "--dir" | "--cwd" | "--workspace" | "-w" | "--filter" | "-F")
    };
    if arguments.iter().any(has_value) {
        return Vec::new();
    }
    let script = match (words.next().map(String::as_str), manager) {
        (Some("run" | "run-script"), _) => words.next().map(String::as_str),
        (Some("test" | "t"), "npm" | "pnpm") => Some("test"),
        (Some("start"), "npm" | "pnpm") => Some("start"),
        _ => None,
    };
    script
        .filter(|name| is_name(name) && !name.contains('/'))
        .map(|name| Command::Script(name.to_owned()))
        .into_iter()
        .collect()
}

/// Commands of cargo that work on crates here.
const OWN: [&str; 16] = [
    "build", "b", "test", "t", "run", "r", "check", "c", "clippy", "bench", "doc", "d", "rustc", "fix",
    "nextest", "fmt",
];

fn cargo(arguments: &[String], found: &mut Vec<ClaimKind>) -> Vec<Command> {
    let mut words = arguments.iter().filter(|a| !a.starts_with('+'));
    let Some(command) = words.next() else { return Vec::new() };
    if command == "xtask" {
        return vec![Command::Alias(command.clone())];
    }
    let rest: Vec<&String> = words.collect();
    if !OWN.contains(&command.as_str()) || rest.iter().any(|a| a.starts_with("--manifest-path")) {
        return Vec::new();
    }
    let mut commands = Vec::new();
    let mut at = 0;
    let mut is_named = false;
    while let Some(word) = rest.get(at) {
        at += 1;
        if *word == "--" {
            // What `run` starts gets the rest.
            if matches!(command.as_str(), "run" | "r") && !is_named {
                let own: Vec<String> = rest.iter().skip(at).map(|w| (*w).clone()).collect();
                flags("", &own, found);
            }
            break;
        }
        let (name, value) =
            word.split_once('=').map_or((word.as_str(), None), |(n, v)| (n, Some(v.to_owned())));
        let kind = match name {
            "-p" | "--package" => "package",
            "--bin" => "bin",
            "--example" => "example",
            "--test" => "test",
            "--bench" => "bench",
            "-F" | "--features" => "features",
            _ => continue,
        };
        let value = value.or_else(|| {
            at += 1;
            rest.get(at - 1).map(|w| (*w).clone())
        });
        let Some(value) = value else { break };
        is_named = is_named || matches!(kind, "package" | "bin" | "example");
        let names = value.split([',', ' ']).filter(|name| kind == "features" || is_name(name));
        for name in names.filter(|name| is_name(name)) {
            commands.push(match kind {
                "package" => Command::Crate(name.to_owned()),
                "features" => Command::Feature(name.to_owned()),
                kind => Command::Target(kind, name.to_owned()),
            });
        }
    }
    commands
}

/// A file that is run, as far as it can be one of the repository.
fn run(path: &str) -> Option<String> {
    let is_usual = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-' | '/');
    let is_path = path.contains('/')
        && path.chars().all(is_usual)
        && !path.starts_with('/')
        && !spans::is_placeholder(path);
    is_path
        .then(|| path.strip_prefix("./").unwrap_or(path).trim_end_matches('/').to_owned())
        .filter(|p| !p.is_empty() && p != ".")
}

/// Long flags of a program, up to `--`.
fn flags(program: &str, arguments: &[String], found: &mut Vec<ClaimKind>) {
    for argument in arguments.iter().take_while(|a| *a != "--") {
        let flag = argument.split('=').next().unwrap_or_default();
        let is_flag = flag.strip_prefix("--").is_some_and(|name| {
            name.len() > 1
                && name.starts_with(|c: char| c.is_ascii_alphabetic())
                && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_'))
        });
        if is_flag {
            found.push(ClaimKind::Flag { program: program.to_owned(), flag: flag.to_owned() });
        }
    }
}

/// `NAME = "1.2"` and `NAME = { version = "1.2" }` of a manifest of Cargo that is shown.
fn manifest(lines: &[(u32, String)]) -> Vec<(u32, String, ClaimKind)> {
    let mut found = Vec::new();
    let mut is_dependencies = true;
    for (number, line) in lines {
        let line = line.trim();
        if line.starts_with('[') {
            is_dependencies = line.contains("dependencies");
        }
        let Some((name, value)) = line.split_once('=').filter(|_| is_dependencies) else { continue };
        let (name, value) = (name.trim().trim_matches('"'), value.trim());
        let text = match value.strip_prefix('{') {
            Some(table) => table
                .split_once("version")
                .and_then(|(_, rest)| rest.trim_start().strip_prefix('='))
                .map(str::trim_start),
            None => Some(value),
        };
        let version = text.and_then(|t| t.strip_prefix('"')).and_then(|t| t.split('"').next());
        if let Some(version) =
            version.filter(|v| v.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '^' | '=' | '~')))
        {
            let kind = ClaimKind::Snippet { name: name.to_owned(), version: version.to_owned() };
            found.push((*number, line.to_owned(), kind));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(language: &str, text: &str) -> Vec<String> {
        let lines: Vec<_> = (1..).zip(text.lines().map(str::to_owned)).collect();
        let show = |kind: &ClaimKind| match kind {
            ClaimKind::Command { command, folder } => format!("{command:?} {folder:?}"),
            ClaimKind::Run { path, folder } => format!("run {path} {folder:?}"),
            ClaimKind::Flag { program, flag } => format!("{program} {flag}"),
            ClaimKind::Snippet { name, version } => format!("{name} = {version}"),
            other => format!("{other:?}"),
        };
        read(language, &lines).iter().map(|(line, _, kind)| format!("{line} {}", show(kind))).collect()
    }

    #[test]
    fn commands_are_read_where_they_are_run() {
        assert_eq!(
            shown(
                "sh",
                "# make nothing\nmake -j 4 test CC=gcc && npm run build:web # later\ncd web; sudo make x\ncd ../..\nmake y\n"
            ),
            [
                "2 Make(\"test\") Top",
                "2 Script(\"build:web\") Top",
                "3 Make(\"x\") In(\"web\")",
                "5 Make(\"y\") Unknown",
            ]
        );
        assert_eq!(
            shown("sh", "git clone https://x\ncd x\nmake a\nmkdir b\nmake c"),
            ["3 Make(\"a\") Top", "5 Make(\"c\") Unknown"]
        );
        assert_eq!(
            shown("console", "$ make a \\\n  b\nmake answered"),
            ["1 Make(\"a\") Top", "1 Make(\"b\") Top"]
        );
        assert_eq!(shown("", "make a\nsome words\n./x.sh"), ["1 Make(\"a\") Top"]);
        assert!(shown("js", "make a").is_empty());
        assert!(shown("sh", "make <target>\nmake $X\nmake -C dir x\nmake sure that it works").is_empty());
    }

    #[test]
    fn what_cargo_is_told_is_read() {
        assert_eq!(
            shown(
                "sh",
                "cargo +nightly test -p words --test it --features a,b -- --nocapture\ncargo run --example=x -- --flag\ncargo run -- --own 1\ncargo install foo --features x\ncargo xtask test\n"
            ),
            [
                "1 Crate(\"words\") Top",
                "1 Target(\"test\", \"it\") Top",
                "1 Feature(\"a\") Top",
                "1 Feature(\"b\") Top",
                "1 cargo --test",
                "1 cargo --features",
                "2 Target(\"example\", \"x\") Top",
                "2 cargo --example",
                "3  --own",
                "4 cargo --features",
                "5 Alias(\"xtask\") Top",
            ]
        );
    }

    #[test]
    fn files_are_run() {
        assert_eq!(
            shown(
                "sh",
                "./scripts/x.sh --fast\nbash scripts/y.sh\ngo run ./cmd/z -v\ngo test ./...\npython -m http\n/usr/bin/x --yes"
            ),
            [
                "1 run scripts/x.sh Top",
                "1 x.sh --fast",
                "2 run scripts/y.sh Top",
                "3 run cmd/z Top",
                "6 x --yes"
            ]
        );
    }

    #[test]
    fn manifests_show_how_a_crate_is_asked_for() {
        assert_eq!(
            shown(
                "toml",
                "[dependencies]\nwords = \"1.2\"\nother = { features = [], version = \"0.3\" }\nbad = 3\n[package]\nversion = \"1\"\n"
            ),
            ["2 words = 1.2", "3 other = 0.3"]
        );
    }
}
