//! ripgrep over the same files: what somebody without an index would ask.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::debian;
use crate::sh::{Done, has};

/// The program, which is there.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ripgrep(&'static str);

/// The words of a question, as somebody would type them: quotes and what is no letter or digit apart.
pub(super) fn words(question: &str) -> Vec<String> {
    let words = question.split(|c: char| !(c.is_alphanumeric() || matches!(c, '-' | '_' | '.' | '\'')));
    let mut all: Vec<String> = words
        .map(|word| word.trim_matches(['-', '.', '\'']).to_lowercase())
        .filter(|word| !word.is_empty())
        .collect();
    all.sort();
    all.dedup();
    all
}

impl Ripgrep {
    /// Looks for it, and has Debian install it where that is permitted. None is said loudly by whoever wanted it.
    pub(super) fn find() -> Option<Self> {
        if !has("rg")
            && let Err(why) = debian::install_one("ripgrep")
        {
            println!("  {why}");
        }
        has("rg").then_some(Self("rg"))
    }

    /// How often a word is in each file below `folder` that has it, in any case.
    pub(super) fn counts(self, folder: &Path, word: &str) -> Done<Vec<(String, u64)>> {
        let said =
            self.run(folder, &["--count-matches", "--ignore-case", "--fixed-strings", "-e", word, "."])?;
        let line = |line: &str| {
            let (file, count) = line.rsplit_once(':')?;
            Some((file.trim_start_matches("./").to_owned(), count.parse().ok()?))
        };
        Ok(said.lines().filter_map(line).collect())
    }

    /// How long it takes to name the files that have one of a question's words, and how often.
    pub(super) fn timed(self, folder: &Path, question: &str) -> Done<Duration> {
        let words = words(question);
        let mut args = vec!["--count-matches", "--ignore-case", "--fixed-strings"];
        args.extend(words.iter().flat_map(|word| ["-e", word.as_str()]));
        args.push(".");
        let began = Instant::now();
        self.run(folder, &args)?;
        Ok(began.elapsed())
    }

    fn run(self, folder: &Path, args: &[&str]) -> Done<String> {
        let out = Command::new(self.0)
            .args(["--no-config", "--no-ignore", "--with-filename"])
            .args(args)
            .current_dir(folder)
            .stdin(Stdio::null())
            .output()
            .map_err(|e| format!("{}: {e}", self.0))?;
        // One: nothing was found.
        match out.status.code() {
            Some(0 | 1) => Ok(String::from_utf8_lossy(&out.stdout).into_owned()),
            _ => Err(format!("{} {}: {}", self.0, args.join(" "), String::from_utf8_lossy(&out.stderr))),
        }
    }
}
