//! What a plugin says of the repository's record: which refs its program may move, and what the clone has that it works in.

use serde_json::Map;

use crate::file::{File, Git, Kind, Pulls, Pushes, ToolFile, Type};
use crate::input::{Inputs, visible};
use crate::plugin::{BadPlugin, bad};
use crate::template::Template;

/// Most refs, sections or settings.
const MOST: usize = 20;

/// Holds a tool's table.
pub(crate) fn check(tool: &ToolFile) -> Result<(), String> {
    let Some(Git { clone, refs, push, pulls, .. }) = &tool.git else { return Ok(()) };
    if !clone {
        return Err("it says `clone = true`: what works on the repository itself is no plugin's".to_owned());
    }
    if !tool.writes.paths.is_empty() || !tool.writes.persists.is_empty() {
        return Err("a tool that moves refs writes no files: `writes` has no place beside it".to_owned());
    }
    if tool.directory || !tool.network.hosts.is_empty() {
        return Err("a tool that works in a clone has neither `directory` nor `network`".to_owned());
    }
    match (tool.kind, refs.is_empty()) {
        (Kind::Read, false) => return Err("a tool of the kind `read` moves no refs".to_owned()),
        (Kind::Read, true) if *push == Pushes::Request => {
            return Err("a tool of the kind `read` pushes nothing".to_owned());
        }
        (Kind::Run, true) => {
            return Err("a tool of the kind `run` says in `refs` what it may move".to_owned());
        }
        _ => {}
    }
    if refs.len() > MOST {
        return Err(format!("at most {MOST} refs are taken"));
    }
    if let Some(pulls) = pulls {
        if *push != Pushes::Request {
            return Err("`pulls` are for what it pushes: `push = \"request\"`".to_owned());
        }
        check_pulls(pulls, tool)?;
    }
    refs.iter().try_for_each(|name| is_ref(name))
}

/// Fails unless a table of pull requests names inputs that are there, and a list that its program may be given.
fn check_pulls(pulls: &Pulls, tool: &ToolFile) -> Result<(), String> {
    for name in std::iter::once(&pulls.when).chain(&pulls.draft) {
        let is_switch = tool.input.get(name).is_some_and(|input| input.of == Type::Boolean && !input.list);
        if !is_switch {
            return Err(format!("pulls: {name} is no boolean input of this tool"));
        }
    }
    for pointer in [&pulls.branch, &pulls.base] {
        if !pointer.starts_with('/') || pointer.len() > 100 || visible("a pointer", pointer, 100).is_err() {
            return Err(format!("pulls: {pointer:?} is no JSON pointer, such as `/down/name`"));
        }
    }
    if pulls.stack.is_empty() || pulls.stack.len() > MOST {
        return Err(format!("pulls: `stack` has 1 to {MOST} words"));
    }
    crate::plugin::held(&tool.program, &pulls.stack, None).map_err(|why| format!("pulls: {why}"))
}

/// Fails unless a plugin may declare that it moves refs of this name.
fn is_ref(name: &str) -> Result<(), String> {
    let plain = |part: &str| {
        !part.is_empty()
            && part.starts_with(|c: char| c.is_ascii_alphanumeric())
            && part.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_'))
    };
    let (front, is_glob) = name.strip_suffix("/*").map_or((name, false), |front| (front, true));
    let parts: Vec<&str> = front.split('/').collect();
    let least = if is_glob { 2 } else { 3 };
    if parts[0] != "refs" || parts.len() < least || !parts.iter().all(|part| plain(part)) {
        return Err(format!("{name:?} is no ref: `refs/heads/*`, or a name such as `refs/{{its own}}/data`"));
    }
    let others =
        ["tags", "notes", "replace", "stash", "bisect", "original", "worktree", "rewritten", "remotes"];
    if others.contains(&parts[1]) {
        return Err(format!("{name:?} is git's, and no plugin moves it"));
    }
    Ok(())
}

/// Holds what its tools have in common; the words of what is run first.
pub(crate) fn begin(file: &File, config: &Inputs) -> Result<Option<Template>, BadPlugin> {
    let of_all = &file.git;
    let is_section = |name: &String| {
        name.len() <= 40 && !name.is_empty() && name.bytes().all(|b| b.is_ascii_lowercase() || b == b'-')
    };
    // What git itself, or a program that it starts, is told by.
    let others = [
        "core",
        "alias",
        "include",
        "includeif",
        "filter",
        "diff",
        "merge",
        "remote",
        "url",
        "credential",
        "http",
        "https",
        "protocol",
        "gpg",
        "ssh",
        "submodule",
        "extensions",
        "safe",
        "receive",
        "uploadpack",
        "pager",
        "sequence",
        "editor",
        "browser",
        "difftool",
        "mergetool",
        "guitool",
        "man",
        "help",
        "hook",
        "trailer",
        "fetch",
        "push",
        "init",
        "gc",
    ];
    if of_all.sections.len() > MOST || of_all.settings.len() > MOST {
        return Err(bad("git", format!("at most {MOST} are taken")));
    }
    for section in &of_all.sections {
        if !is_section(section) || others.contains(&section.as_str()) {
            return Err(bad("git.sections", format!("{section:?} is not a section of a program's own")));
        }
    }
    for (key, value) in &of_all.settings {
        let section = key.split('.').next().unwrap_or_default().to_owned();
        let parts: Vec<&str> = key.split('.').collect();
        let is_key = matches!(parts.len(), 2 | 3)
            && parts.iter().all(|part| {
                part.starts_with(|c: char| c.is_ascii_alphabetic())
                    && part.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-')
            });
        if !is_key || !of_all.sections.contains(&section) {
            return Err(bad("git.settings", format!("{key:?} is no key of its own sections")));
        }
        let is_plain = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.' | b'/');
        if value.is_empty() || value.len() > 100 || !value.bytes().all(is_plain) {
            return Err(bad("git.settings", format!("{value:?} is no plain value")));
        }
    }
    let Some(begin) = &of_all.begin else { return Ok(None) };
    is_ref(&begin.unless).map_err(|why| bad("git.begin", why))?;
    let template = Template::of(&begin.args, &Inputs::new(), config).map_err(|why| bad("git.begin", why))?;
    let words = template.words(&Map::new(), &Map::new());
    let words = words.map_err(|why| bad("git.begin", why))?;
    let programs = &file.plugin.required_commands;
    let Some(program) = programs.first().filter(|_| programs.len() == 1) else {
        return Err(bad("git.begin", "it is for a plugin with one program"));
    };
    crate::plugin::held(program, &words, None).map_err(|why| bad("git.begin", why))?;
    Ok(Some(template))
}

/// What a tool does to the record, in words.
pub(crate) fn told(tool: &ToolFile) -> String {
    let Some(git) = &tool.git else { return String::new() };
    let mut text = format!("it works in a throw-away clone, and proposes moves of {}", git.refs.join(", "));
    if git.fetch {
        text.push_str(
            "; what the remote has is fetched first, with your own git, where your [egress] hosts allow it",
        );
    }
    if git.push == Pushes::Request {
        text.push_str("; what it pushes is the plan's request, made with your own git, where your [egress] hosts allow it");
    }
    if git.pulls.is_some() {
        text.push_str("; it proposes to open pull requests at GitHub with your account, one in a plan, and to move them onto another base");
    }
    text
}
