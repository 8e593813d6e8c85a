//! A12: a power cut. The program runs under strace; from what it wrote, renamed and synced, the test makes the disk that
//! a power cut leaves at any moment, in the strictest reading of POSIX: bytes are there when their file was synced, names
//! when their folder was. What the program had acknowledged by then must be on that disk.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::{Place, skip};

type Inode = usize;

/// A disk and what a power cut would leave of it.
#[derive(Default)]
struct Disk {
    /// Names now, and names that are safe: folders and files alike, the value of a folder is unused.
    names: BTreeMap<PathBuf, Inode>,
    safe_names: BTreeMap<PathBuf, Inode>,
    folders: BTreeSet<PathBuf>,
    contents: Vec<Vec<u8>>,
    safe_contents: Vec<Option<Vec<u8>>>,
    /// What every open handle of every process is at.
    handles: BTreeMap<u32, (PathBuf, Inode, usize, bool)>,
}

impl Disk {
    fn create(&mut self, path: &Path) -> Inode {
        self.contents.push(Vec::new());
        self.safe_contents.push(None);
        let inode = self.contents.len() - 1;
        self.names.insert(path.to_owned(), inode);
        inode
    }

    fn open(&mut self, handle: u32, path: PathBuf, flags: &str) {
        let inode = match self.names.get(&path) {
            Some(inode) if !self.folders.contains(&path) => *inode,
            None if flags.contains("O_CREAT") => self.create(&path),
            // A folder, or a file that is none of ours.
            _ => return drop(self.handles.insert(handle, (path, usize::MAX, 0, false))),
        };
        if flags.contains("O_TRUNC") {
            self.contents[inode].clear();
        }
        self.handles.insert(handle, (path, inode, 0, flags.contains("O_APPEND")));
    }

    fn write(&mut self, handle: u32, bytes: &[u8], at: Option<usize>) {
        let Some((_, inode, offset, append)) = self.handles.get_mut(&handle) else { return };
        let Some(content) = self.contents.get_mut(*inode) else { return };
        let start = at.unwrap_or(if *append { content.len() } else { *offset });
        if content.len() < start + bytes.len() {
            content.resize(start + bytes.len(), 0);
        }
        content[start..start + bytes.len()].copy_from_slice(bytes);
        if at.is_none() {
            *offset = start + bytes.len();
        }
    }

    fn sync(&mut self, handle: u32) {
        let Some((path, inode, ..)) = self.handles.get(&handle) else { return };
        if let Some(content) = self.contents.get(*inode) {
            self.safe_contents[*inode] = Some(content.clone());
            return;
        }
        // A folder: the names in it are safe as they are now, and so is that others are gone.
        let folder = path.clone();
        self.safe_names.retain(|name, _| name.parent() != Some(&folder));
        let names = self.names.iter().filter(|(name, _)| name.parent() == Some(&folder));
        self.safe_names.extend(names.map(|(name, inode)| (name.clone(), *inode)));
    }

    fn rename(&mut self, from: &Path, to: &Path, exchange: bool) {
        let (a, b) = (self.names.remove(from), self.names.remove(to));
        if let Some(a) = a {
            self.names.insert(to.to_owned(), a);
        }
        if let (Some(b), true) = (b, exchange) {
            self.names.insert(from.to_owned(), b);
        }
    }

    /// Lays what is safe down below `top` in place of what is there.
    fn after_the_cut(&self, top: &Path) {
        for entry in std::fs::read_dir(top).unwrap() {
            std::fs::remove_dir_all(entry.unwrap().path()).unwrap();
        }
        for (name, inode) in &self.safe_names {
            // A name is there when every folder above it is.
            let above = name.ancestors().skip(1).take_while(|a| *a != top);
            if !name.starts_with(top) || !above.clone().all(|a| self.safe_names.contains_key(a)) {
                continue;
            }
            std::fs::create_dir_all(name.parent().unwrap()).unwrap();
            if self.folders.contains(name) {
                std::fs::create_dir_all(name).unwrap();
            } else {
                // The name of a file whose bytes were never synced may be there without them.
                let content = self.safe_contents[*inode].clone().unwrap_or_default();
                std::fs::write(name, content).unwrap();
            }
        }
    }
}

/// The arguments of one system call as strace prints them (`-xx -y`): strings in hexadecimal, handles with their paths.
struct Traced<'l> {
    name: &'l str,
    arguments: &'l str,
    result: i64,
}

fn parse(line: &str) -> Option<Traced<'_>> {
    let line = line.trim_start_matches(|c: char| c.is_ascii_digit() || c == ' ');
    let (name, rest) = line.split_once('(')?;
    let (arguments, result) = rest.rsplit_once(" = ")?;
    let result = result.split([' ', '<']).next()?.parse().ok()?;
    Some(Traced { name, arguments: arguments.trim_end().strip_suffix(')')?, result })
}

fn unhex(text: &str) -> Vec<u8> {
    text.split("\\x").skip(1).filter_map(|digits| u8::from_str_radix(digits.get(..2)?, 16).ok()).collect()
}

fn text(hex: &str) -> PathBuf {
    PathBuf::from(String::from_utf8_lossy(&unhex(hex)).into_owned())
}

/// The strings of the call, in order.
fn strings(arguments: &str) -> Vec<&str> {
    arguments.split('"').skip(1).step_by(2).collect()
}

/// The handle that an argument begins with, and its path.
fn handle(argument: &str) -> (u32, PathBuf) {
    let (number, rest) = argument.trim().split_once('<').unwrap_or((argument.trim(), ""));
    (number.parse().unwrap_or(u32::MAX), text(rest.split('>').next().unwrap_or_default()))
}

/// Paths of a call that takes a folder's handle before each.
fn at(arguments: &str, index: usize) -> PathBuf {
    let name = text(strings(arguments).get(index).copied().unwrap_or_default());
    let folders: Vec<PathBuf> = arguments
        .split(", ")
        .filter(|a| a.contains('<') && !a.starts_with('"'))
        .map(|a| handle(a).1)
        .collect();
    match folders.get(index) {
        Some(folder) if name.is_relative() => {
            let joined = folder.join(name);
            joined.components().filter(|c| c.as_os_str() != ".").collect()
        }
        _ => name,
    }
}

/// Puts one call on the disk; says when the program's answer went out.
fn step(disk: &mut Disk, call: &Traced<'_>) -> bool {
    if call.result < 0 {
        return false;
    }
    let first = call.arguments.split(", ").next().unwrap_or_default();
    match call.name {
        "openat" | "openat2" => {
            let path = at(call.arguments, 0);
            disk.open(u32::try_from(call.result).unwrap(), path, call.arguments);
        }
        "write" => {
            let (number, _) = handle(first);
            disk.write(number, &unhex(strings(call.arguments)[0]), None);
            return number == 1;
        }
        "pwrite64" => {
            let offset = call.arguments.rsplit(", ").next().unwrap().parse().unwrap();
            disk.write(handle(first).0, &unhex(strings(call.arguments)[0]), Some(offset));
        }
        "fsync" | "fdatasync" => disk.sync(handle(first).0),
        "ftruncate" => {
            let length = call.arguments.rsplit(", ").next().unwrap().parse().unwrap();
            if let Some((_, inode, ..)) = disk.handles.get(&handle(first).0)
                && let Some(content) = disk.contents.get_mut(*inode)
            {
                content.resize(length, 0);
            }
        }
        "lseek" => {
            if let Some((_, _, offset, _)) = disk.handles.get_mut(&handle(first).0) {
                *offset = usize::try_from(call.result).unwrap();
            }
        }
        "mkdir" | "mkdirat" => {
            let path = at(call.arguments, 0);
            disk.create(&path);
            disk.folders.insert(path);
        }
        "unlink" | "unlinkat" | "rmdir" => drop(disk.names.remove(&at(call.arguments, 0))),
        "rename" | "renameat" | "renameat2" => {
            let (from, to) = (at(call.arguments, 0), at(call.arguments, 1));
            disk.rename(&from, &to, call.arguments.contains("RENAME_EXCHANGE"));
        }
        "dup" | "fcntl" => {
            let (number, _) = handle(first);
            if (call.name == "dup" || call.arguments.contains("F_DUPFD"))
                && let Some(copy) = disk.handles.get(&number).map(|(p, i, o, a)| (p.clone(), *i, *o, *a))
            {
                disk.handles.insert(u32::try_from(call.result).unwrap(), copy);
            }
        }
        "close" => drop(disk.handles.remove(&handle(first).0)),
        _ => {}
    }
    false
}

/// Threads' calls that were interrupted in the log are put together at their end, which is when they took effect.
fn whole_lines(log: &str) -> Vec<String> {
    let mut open: BTreeMap<String, String> = BTreeMap::new();
    let mut lines = Vec::new();
    for line in log.lines() {
        let thread = line.split_whitespace().next().unwrap_or_default().to_owned();
        if let Some(front) = line.strip_suffix(" <unfinished ...>") {
            open.insert(thread, front.to_owned());
        } else if let Some((_, end)) = line.split_once(" resumed>") {
            lines.push(open.remove(&thread).unwrap_or_default() + end);
        } else {
            lines.push(line.to_owned());
        }
    }
    lines
}

#[test]
fn a12_what_was_acknowledged_is_there_after_a_power_cut() {
    if Command::new("strace").arg("-V").stdout(Stdio::null()).status().is_err() {
        return skip("a power cut (strace is not installed)");
    }
    let place = Place::new();
    let log = place.scratch.path().join("trace");
    let ours = place.command();
    let mut traced = Command::new("strace");
    let calls = "openat,openat2,write,pwrite64,fsync,fdatasync,ftruncate,lseek,mkdir,mkdirat,unlink,unlinkat,rmdir,\
                 rename,renameat,renameat2,dup,fcntl,close";
    traced
        .args(["-f", "-xx", "-y", "-s", "10000000", "-e", &format!("trace={calls}"), "-o"])
        .arg(&log)
        .arg(ours.get_program())
        .args(ours.get_args())
        .args([
            "call",
            "tokens_build",
            "--source",
            "tokens",
            "--platforms",
            "css",
            "--apply",
            "--output",
            "json",
        ])
        .current_dir(ours.get_current_dir().unwrap());
    for (name, value) in ours.get_envs() {
        match value {
            Some(value) => traced.env(name, value),
            None => traced.env_remove(name),
        };
    }
    let out = traced.output().unwrap();
    if !out.status.success() {
        return skip("a power cut (strace may not trace here)");
    }
    let answer: serde_json::Value = serde_json::from_slice(&out.stdout).unwrap();
    let id = answer["metadata"]["transcript"].as_str().unwrap();

    let mut disk = Disk::default();
    for top in [place.scratch.path().to_owned(), place.root()] {
        // What was there before is on the disk.
        let mut open = vec![top];
        while let Some(at) = open.pop() {
            let inode = disk.create(&at);
            disk.safe_names.insert(at.clone(), inode);
            disk.folders.insert(at);
        }
    }
    let log = std::fs::read_to_string(&log).unwrap();
    let mut acknowledged = false;
    for line in whole_lines(&log) {
        if let Some(call) = parse(&line)
            && step(&mut disk, &call)
        {
            acknowledged = true;
            break;
        }
    }
    assert!(acknowledged, "the answer was seen to go out");

    // The state folder's own parents are made durable by nobody but the system: they are taken for granted.
    let state = place.scratch.path().join("state");
    let inode = disk.create(&state);
    disk.safe_names.insert(state.clone(), inode);
    disk.folders.insert(state.clone());
    disk.after_the_cut(&state);
    let artifacts = place.root().join("artifacts");
    std::fs::create_dir_all(&artifacts).unwrap();
    disk.after_the_cut(&artifacts);
    let shown = place.ok(&["audit", "show", id]);
    assert!(shown.contains("tokens_build"), "the acknowledged record is there: {shown}");
    assert!(place.ok(&["audit", "verify"]).starts_with("unanchored"));
    for artifact in answer["artifacts"].as_array().unwrap() {
        let path = place.root().join(artifact["path"].as_str().unwrap());
        let text = std::fs::read_to_string(&path).unwrap_or_default();
        assert!(text.contains("--space-s: 4px;"), "{}: what was applied is there: {text:?}", path.display());
    }
    // And it can be taken back.
    place.ok(&["undo", id]);
    assert!(!artifacts.exists());
}
