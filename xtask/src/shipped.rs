//! gatewright as it is shipped: profile `dist`, arranged by what it was seen to do (`profile.rs`), and in it first the functions that a
//! start and its first calls come to.
//!
//! Of the code a start needs a small part, from everywhere. The system maps a file in pieces of 64 KiB around each page that is touched,
//! so that one in three of all pieces came into memory, each by a page fault (`docs/design/performance.md`). A linker that is given an order puts those
//! functions beside each other. The order is not kept anywhere: names of functions have digests in them that change with every
//! dependency. So the linker is this program: it links once with names, has that program traced, and links again.

mod practice;
mod profile;
mod speech;
mod trace;

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use profile::Taken;

use crate::debian;
use crate::sh::{Done, has, output, step, target, top};

/// What links in the end.
const LINKER: &str = "cc";

/// Builds it; where it is.
pub(crate) fn build() -> Done<PathBuf> {
    with_profile(false)
}

/// The same, with a profile that is taken anew, or not at all.
pub(crate) fn build_afresh() -> Done<PathBuf> {
    with_profile(true)
}

/// Puts a program that is built already through the practice that profiles are taken of, whole or in brief: as tools change, it may fail.
pub(crate) fn practised(program: &str, is_whole: bool) -> Done {
    let program = fs::canonicalize(program).map_err(|e| format!("{program}: {e}"))?;
    let extent = if is_whole { practice::WHOLE } else { practice::BRIEF };
    practice::with(&program, &target().join("practice"), &target().join("practice-counts"), &extent)
}

fn with_profile(fresh: bool) -> Done<PathBuf> {
    let flags = match profile::taken(fresh)? {
        // Functions that have changed since it was taken are no news.
        Taken::Profile(profile) => vec![
            format!("-Cprofile-use={}", profile.display()),
            "-Cllvm-args=-no-pgo-warn-mismatch".to_owned(),
        ],
        Taken::Missing(why) if fresh => return Err(format!("no profile can be taken: {why}")),
        Taken::Missing(why) => {
            println!("SKIPPED: a build arranged by a profile: {why}");
            Vec::new()
        }
    };
    let told = told()?;
    let mut last = Vec::new();
    if let Some(why) = missing() {
        println!("SKIPPED: functions in the order of a start: {why}");
        let _ = fs::remove_file(&told);
    } else {
        last.extend(["-C".to_owned(), format!("linker={}", wrapper()?.display())]);
    }
    let built = cargo(&target(), &flags, &last)?;
    if let Ok(told) = fs::read_to_string(&told) {
        println!("  {told}");
    }
    let shipped = target().join("dist/gatewright");
    let io = |e: std::io::Error| format!("{}: {e}", shipped.display());
    fs::create_dir_all(target().join("dist")).map_err(io)?;
    // Not over it: it may run, and cargo may have another name for it.
    let _ = fs::remove_file(&shipped);
    fs::copy(&built, &shipped).map_err(io)?;
    Ok(shipped)
}

/// Has cargo build it below `place`, all of it with `flags` and the program itself with `last`; where it is.
fn cargo(place: &Path, flags: &[String], last: &[String]) -> Done<PathBuf> {
    let mut args: Vec<&str> = vec!["rustc", "--profile", "dist", "-p", "gatewright", "--bin", "gatewright"];
    let (folder, host) = (place.display().to_string(), host()?);
    // A target that is named has flags of its own: none of them is for what cargo runs itself.
    args.extend(["--target", &host, "--target-dir", &folder]);
    if !last.is_empty() {
        args.push("--");
        args.extend(last.iter().map(String::as_str));
    }
    let mut command = Command::new("cargo");
    command.current_dir(top());
    if !flags.is_empty() {
        with_flags(&mut command, &host, flags);
    }
    command.args(&args);
    step("cargo", &mut command, &args)?;
    Ok(place.join(host).join("dist/gatewright"))
}

/// Adds flags for the target to those that somebody has given: cargo takes them from one place only, the first of these.
fn with_flags(command: &mut Command, host: &str, flags: &[String]) {
    // Encoded: a path may have blanks in it.
    let encoded = |given: Vec<String>| [&given, flags].concat().join("\x1f");
    if let Ok(given) = std::env::var("CARGO_ENCODED_RUSTFLAGS") {
        let given = given.split('\x1f').filter(|flag| !flag.is_empty()).map(str::to_owned).collect();
        command.env("CARGO_ENCODED_RUSTFLAGS", encoded(given));
    } else if let Ok(given) = std::env::var("RUSTFLAGS") {
        let given = given.split_whitespace().map(str::to_owned).collect();
        command.env("CARGO_ENCODED_RUSTFLAGS", encoded(given));
    } else {
        // These join with what files say of the target.
        command.args(["--config", &format!("target.{host}.rustflags={flags:?}")]);
    }
}

/// The machine that it is built on, and for.
fn host() -> Done<String> {
    Ok(output("rustc", &["--print", "host-tuple"])?.trim().to_owned())
}

/// Why functions cannot be put in order here.
fn missing() -> Option<String> {
    if !cfg!(all(target_os = "linux", target_arch = "x86_64")) {
        return Some("only LLVM's linker takes an order, and only here is it what links".to_owned());
    }
    if !has("valgrind")
        && let Err(why) = debian::install_one("valgrind")
    {
        return Some(format!("valgrind is missing (Debian: apt-get install valgrind): {why}"));
    }
    None
}

/// Where what is made on the way is.
fn place() -> Done<PathBuf> {
    let place = target().join("dist-order");
    fs::create_dir_all(&place).map_err(|e| format!("{}: {e}", place.display()))?;
    Ok(place)
}

/// What the linker said of the order: cargo shows nothing of a linker that succeeds.
fn told() -> Done<PathBuf> {
    Ok(place()?.join("told"))
}

/// A linker by its own name: cargo takes no words for one.
fn wrapper() -> Done<PathBuf> {
    let own = std::env::current_exe().map_err(|e| e.to_string())?;
    let file = place()?.join("cc");
    let text = format!("#!/bin/sh\nexec '{}' link \"$@\"\n", own.display());
    let io = |e: std::io::Error| format!("{}: {e}", file.display());
    fs::write(&file, text).map_err(io)?;
    fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).map_err(io)?;
    Ok(file)
}

/// What rustc runs as its linker.
pub(crate) fn link(args: &[&str]) -> Done {
    let mut more = Vec::new();
    let mut said = match order(args) {
        Ok((order, many)) => {
            more.push(format!("-Wl,--symbol-ordering-file={}", order.display()));
            more.push("-Wl,--no-warn-symbol-ordering".to_owned());
            format!("{many} functions stand in the order of a start and its first calls")
        }
        Err(why) => format!("SKIPPED: functions in the order of a start: {why}"),
    };
    if packs() {
        more.push("-Wl,-z,pack-relative-relocs".to_owned());
        said.push_str("; relocations are packed, as glibc reads them from 2.36 on");
    }
    cc(args.iter().copied().chain(more.iter().map(String::as_str)))?;
    fs::write(told()?, said).map_err(|e| e.to_string())
}

/// Whether the C library of this machine reads packed relocations (`DT_RELR`): 3 MB that every start reads otherwise. A program is for
/// C libraries that are no older than the one that it was linked with, so what is to run on older ones is built with an older one.
fn packs() -> bool {
    let version = output("getconf", &["GNU_LIBC_VERSION"]).unwrap_or_default();
    let number = version.trim().strip_prefix("glibc 2.").and_then(|minor| minor.parse::<u32>().ok());
    number.is_some_and(|minor| minor >= 36)
}

fn cc<'a>(args: impl IntoIterator<Item = &'a str>) -> Done {
    let done = Command::new(LINKER).args(args).status().map_err(|e| format!("{LINKER}: {e}"))?;
    if done.success() { Ok(()) } else { Err(format!("{LINKER} ({done})")) }
}

/// A file with the functions that are come to, and how many these are.
fn order(args: &[&str]) -> Done<(PathBuf, usize)> {
    let place = place()?;
    let program = place.join("gatewright");
    let program_word = program.display().to_string();
    let out = args.iter().position(|arg| *arg == "-o").ok_or("the linker is told no output")?;
    let with_names = args.iter().enumerate().filter(|(_, arg)| !STRIPS.contains(arg));
    let with_names = with_names.map(|(at, arg)| if at == out + 1 { program_word.as_str() } else { *arg });
    cc(with_names)?;
    let functions = trace::functions(&program, &place)?;
    let _ = fs::remove_file(&program);
    if functions.len() < FEWEST {
        return Err(format!("{} functions were seen: the program has no names", functions.len()));
    }
    let file = place.join("order");
    fs::write(&file, functions.join("\n") + "\n").map_err(|e| format!("{}: {e}", Path::display(&file)))?;
    Ok((file, functions.len()))
}

/// Words that have a linker leave out names.
const STRIPS: [&str; 4] = ["-s", "-Wl,--strip-all", "-Wl,--strip-debug", "-Wl,-s"];
/// A start alone comes to more.
const FEWEST: usize = 500;
