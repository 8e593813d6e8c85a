//! What rustc is told of how often each way through the program is gone (profile-guided optimization, as the rustc book describes it):
//! gatewright is built so that it counts, put through practice, and what it has counted is merged for the build that is shipped.
//!
//! A profile is kept and used again while it fits, until somebody asks for a new one: it names functions, and those that have changed
//! since are built as without one.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::{cargo, host, practice};
use crate::debian;
use crate::sh::{Done, output, target, top};

/// LLVM's tool for profiles, in the versions that may read what rustc's own LLVM counts.
const MERGERS: [&str; 5] =
    ["llvm-profdata-22", "llvm-profdata-21", "llvm-profdata-20", "llvm-profdata-19", "llvm-profdata"];
/// The package of one that is in Debian.
const PACKAGE: &str = "llvm-19";

/// A profile, or why none can be had on this machine.
pub(super) enum Taken {
    Profile(PathBuf),
    Missing(String),
}

/// The profile: one that is there and fits, unless it is to be `fresh`; else one that is taken now.
pub(super) fn taken(fresh: bool) -> Done<Taken> {
    let place = target().join("dist-profile");
    let io = |e: std::io::Error| format!("{}: {e}", place.display());
    fs::create_dir_all(&place).map_err(io)?;
    let place = fs::canonicalize(&place).map_err(io)?;
    let kept = Kept { profile: place.join("merged.profdata"), stamp: place.join("stamp") };
    let now = of_now()?;
    if !fresh && kept.fits(&now) {
        println!("  {}: the profile that is there is used again", kept.profile.display());
        return Ok(Taken::Profile(kept.profile));
    }
    // What merges is looked for first: the build takes long.
    let merger = match merger(&place)? {
        Ok(merger) => merger,
        Err(why) => return Ok(Taken::Missing(why)),
    };
    let counts = place.join("counts");
    let _ = fs::remove_dir_all(&counts);
    let counting = [format!("-Cprofile-generate={}", counts.display())];
    // Counting is put in before crates come together: how they do makes no difference to what is counted, and the quick way does.
    let quickly = ["-C", "lto=thin"].map(str::to_owned);
    let program = cargo(&place.join("build"), &counting, &quickly)?;
    practice::with(&program, &place.join("practice"), &counts, &practice::WHOLE)?;
    let functions =
        kept.renew(&now, |profile| merge(&merger, &counted(&counts, &practice::PARTS)?, profile))?;
    let _ = fs::remove_dir_all(&counts);
    println!("  {}: {functions} functions were counted", kept.profile.display());
    Ok(Taken::Profile(kept.profile))
}

/// A profile on the disk, and what it fits.
struct Kept {
    profile: PathBuf,
    stamp: PathBuf,
}

impl Kept {
    fn fits(&self, now: &str) -> bool {
        self.profile.is_file() && fs::read_to_string(&self.stamp).is_ok_and(|then| then == now)
    }

    /// Has another one made. What is cut short leaves none that seems to fit.
    fn renew<T>(&self, now: &str, make: impl FnOnce(&Path) -> Done<T>) -> Done<T> {
        let io = |e: std::io::Error| format!("{}: {e}", self.profile.display());
        let _ = fs::remove_file(&self.stamp);
        let given = make(&self.profile)?;
        fs::write(&self.stamp, now).map_err(io)?;
        Ok(given)
    }
}

/// What a profile fits. Names of functions have digests in them that change with the compiler and with what manifests say of
/// dependencies, features and profiles; and it is a profile of some practice.
fn of_now() -> Done<String> {
    let mut files = vec![top().join("Cargo.lock"), top().join("Cargo.toml")];
    let crates = top().join("crates");
    let listed = fs::read_dir(&crates).map_err(|e| format!("{}: {e}", crates.display()))?;
    files.extend(listed.flatten().map(|entry| entry.path().join("Cargo.toml")).filter(|file| file.is_file()));
    files.sort();
    let mut all = output("rustc", &["-vV"])?;
    for file in files {
        all.push_str(&fs::read_to_string(&file).map_err(|e| format!("{}: {e}", file.display()))?);
    }
    all.push_str(include_str!("practice.rs"));
    Ok(all)
}

/// The files that were counted into: some of each part.
fn counted(counts: &Path, parts: &[&str]) -> Done<Vec<PathBuf>> {
    let listed = fs::read_dir(counts).map_err(|e| format!("{}: {e}", counts.display()))?;
    let files: Vec<PathBuf> = listed.flatten().map(|entry| entry.path()).collect();
    let is_of = |file: &Path, part: &str| {
        let name = file.file_name().is_some_and(|name| name.to_string_lossy().starts_with(part));
        name && fs::metadata(file).is_ok_and(|file| file.len() > 0)
    };
    match parts.iter().find(|part| !files.iter().any(|file| is_of(file, part))) {
        Some(part) => Err(format!("nothing was counted in {} of {part}", counts.display())),
        None => Ok(files),
    }
}

/// Merges what was counted: how many functions it is of.
fn merge(merger: &Path, raw: &[PathBuf], into: &Path) -> Done<u64> {
    let run = |command: &mut Command| {
        let done = command.output().map_err(|e| format!("{}: {e}", merger.display()))?;
        let said = String::from_utf8_lossy(&done.stdout).into_owned();
        let failed = || format!("{}: {}", merger.display(), String::from_utf8_lossy(&done.stderr));
        if done.status.success() { Ok(said) } else { Err(failed()) }
    };
    run(Command::new(merger).arg("merge").arg("-o").arg(into).args(raw))?;
    let shown = run(Command::new(merger).arg("show").arg(into))?;
    let functions =
        shown.lines().find_map(|line| line.strip_prefix("Total functions: ")?.trim().parse().ok());
    functions.filter(|functions| *functions > 0).ok_or_else(|| "no function was counted".to_owned())
}

/// One that merges what this rustc's programs count, or why there is none: a small program is asked, since versions say nothing of what
/// they read.
fn merger(place: &Path) -> Done<Result<PathBuf, String>> {
    let small = place.join("small");
    let raw = match of_small(&small) {
        Ok(raw) => raw,
        Err(why) => return Ok(Err(format!("rustc builds no program that counts: {why}"))),
    };
    let all = mergers()?;
    let fitting = || all.iter().find(|merger| merge(merger, &raw, &small.join("merged")).is_ok()).cloned();
    if let Some(found) = fitting() {
        return Ok(Ok(found));
    }
    let missing = format!(
        "no llvm-profdata that reads what rustc's programs count (rustup component add llvm-tools, or Debian: apt-get install {PACKAGE})"
    );
    if let Err(why) = debian::install_one(PACKAGE) {
        return Ok(Err(format!("{missing}: {why}")));
    }
    Ok(fitting().ok_or(missing))
}

/// Where one may be: rustup's component first, which is of the same LLVM.
fn mergers() -> Done<Vec<PathBuf>> {
    let sysroot = output("rustc", &["--print", "sysroot"])?;
    let component = Path::new(sysroot.trim()).join("lib/rustlib").join(host()?).join("bin/llvm-profdata");
    Ok(std::iter::once(component).chain(MERGERS.map(PathBuf::from)).collect())
}

/// What a small program counts.
fn of_small(place: &Path) -> Done<Vec<PathBuf>> {
    let io = |e: std::io::Error| format!("{}: {e}", place.display());
    let _ = fs::remove_dir_all(place);
    fs::create_dir_all(place).map_err(io)?;
    let (source, program, counts) = (place.join("small.rs"), place.join("small"), place.join("counts"));
    fs::write(&source, "fn main() {}\n").map_err(io)?;
    let [source, program] = [&source, &program].map(|path| path.display().to_string());
    output("rustc", &["-Cprofile-generate", "-o", &program, &source])?;
    let counting = Command::new(&program).env(practice::COUNTS, counts.join("small.profraw")).status();
    counting.map_err(io)?;
    counted(&counts, &["small"])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scratch(name: &str) -> PathBuf {
        let place = std::env::temp_dir().join(format!("gatewright-profile-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&place);
        fs::create_dir_all(&place).unwrap();
        place
    }

    #[test]
    fn a_profile_is_used_again_only_where_it_was_made_whole_of_what_there_is_now() {
        let place = scratch("kept");
        let kept = Kept { profile: place.join("profile"), stamp: place.join("stamp") };
        let write = |path: &Path| fs::write(path, "counts").map_err(|e| e.to_string());
        assert!(!kept.fits("now"), "there is none");
        kept.renew("now", write).unwrap();
        assert!(kept.fits("now") && !kept.fits("later"));
        let cut = kept.renew("now", |path| write(path).and_then(|()| Err::<(), _>("cut short".to_owned())));
        assert_eq!(cut, Err("cut short".to_owned()));
        assert!(!kept.fits("now"), "half a profile is none");
        fs::remove_dir_all(place).unwrap();
    }

    #[test]
    fn each_part_of_practice_has_to_have_counted_something() {
        let place = scratch("counted");
        fs::write(place.join("input-1.profraw"), "counts").unwrap();
        fs::write(place.join("http-1.profraw"), "").unwrap();
        assert_eq!(counted(&place, &["input"]).map(|files| files.len()), Ok(2));
        assert!(
            counted(&place, &["input", "http"]).unwrap_err().contains("of http"),
            "an empty file is none"
        );
        fs::remove_dir_all(place).unwrap();
    }

    #[test]
    fn a_profile_is_of_some_compiler_dependencies_and_practice() {
        let now = of_now().unwrap();
        for part in ["LLVM version", "name = \"rmcp\"", "[profile.dist]", "const SEED"] {
            assert!(now.contains(part), "{part}");
        }
    }
}
