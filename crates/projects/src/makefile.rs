//! The targets of a Makefile, as far as they can be known without running make: rules are read (GNU make 4.4's manual,
//! §3 and §4), variables are not expanded, both arms of conditionals count, recipes are not looked at.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::look::{EntryKind, Look};
use crate::paths;
use crate::project::Problem;

/// Most files read, includes counted.
pub const MAX_MAKEFILES: usize = 32;

/// Most targets returned.
pub const MAX_TARGETS: usize = 500;

/// What make looks for, in its order.
const NAMES: [&str; 3] = ["GNUmakefile", "makefile", "Makefile"];

/// Longest help text of a target, in characters.
const MAX_HELP: usize = 200;

/// A Makefile's targets. Variables were not expanded.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Makefile {
    /// The Makefile and what it includes.
    pub files: Vec<String>,
    /// What plain make builds, where known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default: Option<String>,
    /// Its explicit targets.
    pub targets: Vec<Target>,
    /// Rules whose names need variables, left out.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub unexpanded: usize,
    /// Includes that were not followed, as written.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not_included: Vec<String>,
    /// Whether a limit cut it short.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub truncated: bool,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "what serde calls")]
fn is_zero(n: &usize) -> bool {
    *n == 0
}

/// A target of a Makefile.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Target {
    /// Its name.
    pub name: String,
    /// Its `##` comment.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub help: Option<String>,
    /// Whether it is a command, not a file.
    pub phony: bool,
    /// The file of its first rule.
    pub file: String,
    /// The line of its first rule.
    pub line: u32,
}

/// Reads the Makefile at the top of `look` and what it includes inside the root. `None`: there is none.
pub fn makefile(look: &dyn Look, problems: &mut Vec<Problem>) -> Option<Makefile> {
    let (first, bytes) = NAMES.iter().find_map(|name| match look.read(name) {
        Ok(Some(bytes)) => Some(((*name).to_owned(), bytes)),
        Ok(None) => None,
        Err(error) => {
            problems.push(Problem::new(*name, None, error.to_string()));
            None
        }
    })?;
    let mut reader =
        Reader { look, found: Makefile::default(), index: BTreeMap::new(), phony: BTreeSet::new() };
    let mut seen: BTreeSet<String> = BTreeSet::from([first.clone()]);
    let mut waiting = VecDeque::from([(first, Some(bytes))]);
    let mut goal = None;
    while let Some((file, bytes)) = waiting.pop_front() {
        let bytes = match bytes {
            Some(bytes) => bytes,
            None => match look.read(&file) {
                Ok(Some(bytes)) => bytes,
                // Not there, or made by a rule: make would say.
                Ok(None) => {
                    reader.found.not_included.push(file);
                    continue;
                }
                Err(error) => {
                    problems.push(Problem::new(file, None, error.to_string()));
                    continue;
                }
            },
        };
        if reader.found.files.len() == MAX_MAKEFILES {
            reader.found.truncated = true;
            break;
        }
        reader.found.files.push(file.clone());
        for include in reader.file(&file, &String::from_utf8_lossy(&bytes), &mut goal) {
            if seen.len() > 8 * MAX_MAKEFILES {
                reader.found.truncated = true;
            } else if seen.insert(include.clone()) {
                waiting.push_back((include, None));
            }
        }
    }
    let Reader { mut found, phony, .. } = reader;
    for target in &mut found.targets {
        target.phony = phony.contains(&target.name);
    }
    found.default = match goal {
        Some(goal) if goal.contains('$') => None,
        Some(goal) => Some(goal),
        // Includes are read where they stand, so the first of several files may not hold the first target.
        None if found.files.len() == 1 && found.unexpanded == 0 => {
            found.targets.iter().find(|t| !t.name.starts_with('.')).map(|t| t.name.clone())
        }
        None => None,
    };
    found.not_included.sort();
    found.not_included.dedup();
    Some(found)
}

struct Reader<'a> {
    look: &'a dyn Look,
    found: Makefile,
    /// Where a target stands in `found.targets`.
    index: BTreeMap<String, usize>,
    phony: BTreeSet<String>,
}

impl Reader<'_> {
    /// Reads one file; what it includes comes back.
    fn file(&mut self, file: &str, text: &str, goal: &mut Option<String>) -> Vec<String> {
        let mut includes = Vec::new();
        let mut prefix = '\t';
        let mut in_rule = false;
        let mut defining = 0_usize;
        let mut help: Option<String> = None;
        for (number, line) in logical(text) {
            if line.starts_with(prefix) && (in_rule || prefix == '\t') && defining == 0 {
                continue;
            }
            let trimmed = line.trim();
            let first = trimmed.split([' ', '\t']).next().unwrap_or_default();
            let rest = trimmed.get(first.len()..).unwrap_or_default().trim();
            match first {
                "define" => defining += 1,
                "endef" => defining = defining.saturating_sub(1),
                _ => {}
            }
            if defining > 0 || first == "endef" {
                continue;
            }
            if let Some(comment) = trimmed.strip_prefix("##") {
                let comment = comment.trim_start_matches('#').trim();
                if !comment.is_empty() {
                    // A block above a rule: its first line is the summary.
                    help.get_or_insert_with(|| short(comment));
                }
                continue;
            }
            if trimmed.is_empty() {
                help = None;
                continue;
            }
            if trimmed.starts_with('#') {
                continue;
            }
            match first {
                "ifeq" | "ifneq" | "ifdef" | "ifndef" | "else" | "endif" | "export" | "unexport"
                | "vpath" | "undefine" | "override" | "private" | "load" => {
                    help = None;
                    continue;
                }
                "include" | "-include" | "sinclude" => {
                    includes.extend(self.includes(uncommented(rest)));
                    in_rule = false;
                    help = None;
                    continue;
                }
                _ => {}
            }
            if let Some((name, value)) = assignment(trimmed) {
                match name {
                    ".DEFAULT_GOAL" => *goal = Some(uncommented(value).trim().to_owned()),
                    ".RECIPEPREFIX" => prefix = value.trim().chars().next().unwrap_or('\t'),
                    _ => {}
                }
                in_rule = false;
                help = None;
                continue;
            }
            in_rule = self.rule(file, number, trimmed, help.take()) || in_rule;
        }
        includes
    }

    /// Takes a line as a rule; whether it was one.
    fn rule(&mut self, file: &str, number: usize, line: &str, above: Option<String>) -> bool {
        let Some(colon) = colon(line) else { return false };
        let (left, right) = (line.get(..colon).unwrap_or_default(), line.get(colon..).unwrap_or_default());
        let right = right.trim_start_matches(':');
        let left = left.strip_suffix('&').unwrap_or(left);
        if assignment(right.trim()).is_some() && !right.contains(';') {
            // A variable of a target's own: no rule.
            return true;
        }
        let inline =
            right.find("##").and_then(|at| right.get(at..)).map(|c| c.trim_start_matches('#').trim());
        let help = inline.filter(|h| !h.is_empty()).map(short).or(above);
        let names = words(left);
        if names.first().is_some_and(|n| n == ".PHONY") {
            let wanted = right.split(';').next().unwrap_or_default();
            self.phony.extend(words(uncommented(wanted)));
            return true;
        }
        for name in names {
            if name.contains('$') {
                self.found.unexpanded += 1;
            } else if name.contains('%') || (name.starts_with('.') && !name.contains('/')) {
                // Pattern rules, special targets and suffix rules build nothing by their name.
            } else if let Some(target) = self.index.get(&name).and_then(|at| self.found.targets.get_mut(*at))
            {
                if target.help.is_none() {
                    target.help.clone_from(&help);
                }
            } else if self.found.targets.len() == MAX_TARGETS {
                self.found.truncated = true;
            } else {
                self.index.insert(name.clone(), self.found.targets.len());
                let line = u32::try_from(number).unwrap_or(u32::MAX);
                self.found.targets.push(Target {
                    name,
                    help: help.clone(),
                    phony: false,
                    file: file.to_owned(),
                    line,
                });
            }
        }
        true
    }

    /// The files that an include directive names. They are relative to where make runs, which is the top.
    fn includes(&mut self, names: &str) -> Vec<String> {
        let mut files = Vec::new();
        for name in words(names) {
            let path = if name.contains('$') { None } else { paths::resolve("", &name) };
            match path {
                None => self.found.not_included.push(short(&name)),
                Some(path) if path.contains(['*', '?', '[']) => {
                    let (dir, pattern) = paths::split(&path);
                    let glob = globset::Glob::new(pattern).map(|g| g.compile_matcher());
                    let (false, Ok(glob), Ok(mut entries)) =
                        (dir.contains(['*', '?', '[']), glob, self.look.list(dir))
                    else {
                        self.found.not_included.push(short(&name));
                        continue;
                    };
                    entries.retain(|e| matches!(e.kind, EntryKind::File | EntryKind::Link));
                    entries.retain(|e| glob.is_match(&e.name));
                    entries.sort();
                    files.extend(entries.iter().take(MAX_MAKEFILES).map(|e| paths::join(dir, &e.name)));
                }
                Some(path) => files.push(path),
            }
        }
        files
    }
}

/// Lines with their continuations joined, and the number of the first of each.
fn logical(text: &str) -> Vec<(usize, String)> {
    let mut joined: Vec<(usize, String)> = Vec::new();
    let mut open = false;
    for (index, line) in text.lines().enumerate() {
        let slashes = line.bytes().rev().take_while(|b| *b == b'\\').count();
        let continues = slashes % 2 == 1;
        let piece = if continues { line.get(..line.len() - 1).unwrap_or_default() } else { line };
        match joined.last_mut() {
            Some((_, whole)) if open => {
                whole.push(' ');
                whole.push_str(piece.trim_start());
            }
            _ => joined.push((index + 1, piece.to_owned())),
        }
        open = continues;
    }
    joined
}

/// The text without its comment.
fn uncommented(text: &str) -> &str {
    text.split('#').next().unwrap_or_default()
}

/// Words apart, but for the spaces inside `$(…)`; `\` before a blank, `:` or `#` is taken away.
fn words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word = String::new();
    let mut depth = 0_usize;
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '$' if matches!(chars.peek(), Some('(' | '{')) => {
                depth += 1;
                word.push(c);
                word.extend(chars.next());
            }
            '(' | '{' if depth > 0 => {
                depth += 1;
                word.push(c);
            }
            ')' | '}' if depth > 0 => {
                depth -= 1;
                word.push(c);
            }
            '\\' if matches!(chars.peek(), Some(' ' | ':' | '#')) => word.extend(chars.next()),
            c if c.is_whitespace() && depth == 0 => {
                if !word.is_empty() {
                    words.push(std::mem::take(&mut word));
                }
            }
            c => word.push(c),
        }
    }
    if !word.is_empty() {
        words.push(word);
    }
    words
}

/// Where the colon of a rule stands: the first outside `$(…)` that is neither escaped nor commented away.
fn colon(line: &str) -> Option<usize> {
    let mut depth = 0_usize;
    let mut before = ' ';
    for (at, c) in line.char_indices() {
        match c {
            '(' | '{' if depth > 0 || before == '$' => depth += 1,
            ')' | '}' => depth = depth.saturating_sub(1),
            '#' if depth == 0 && before != '\\' => return None,
            ':' if depth == 0 && before != '\\' => return Some(at),
            _ => {}
        }
        before = c;
    }
    None
}

/// A line taken as an assignment (`=`, `:=`, `::=`, `:::=`, `?=`, `+=`, `!=`): the name and the value.
fn assignment(line: &str) -> Option<(&str, &str)> {
    let mut depth = 0_usize;
    let mut before = ' ';
    for (at, c) in line.char_indices() {
        match c {
            '(' | '{' if depth > 0 || before == '$' => depth += 1,
            ')' | '}' => depth = depth.saturating_sub(1),
            '#' | ';' if depth == 0 => return None,
            '=' if depth == 0 => {
                let name = line.get(..at)?.trim_end_matches(['+', '?', '!']);
                let name = name.trim_end_matches(':').trim();
                // `a b: c = d` is a variable of a target's own.
                let plain = !name.is_empty() && !name.contains([' ', '\t']) && colon(name).is_none();
                return plain.then(|| (name, line.get(at + 1..).unwrap_or_default()));
            }
            _ => {}
        }
        before = c;
    }
    None
}

fn short(text: &str) -> String {
    text.chars().take(MAX_HELP).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::look::{Entry, LookError};

    struct Files(Vec<(&'static str, String)>);

    impl Look for Files {
        fn read(&self, path: &str) -> Result<Option<Vec<u8>>, LookError> {
            Ok(self.0.iter().find(|(name, _)| *name == path).map(|(_, text)| text.clone().into_bytes()))
        }

        fn list(&self, dir: &str) -> Result<Vec<Entry>, LookError> {
            let inside = self.0.iter().filter_map(|(name, _)| {
                let (there, name) = paths::split(name);
                (there == dir).then(|| Entry { name: name.to_owned(), kind: EntryKind::File })
            });
            Ok(inside.collect())
        }
    }

    fn read(text: &str) -> Makefile {
        makefile(&Files(vec![("Makefile", text.to_owned())]), &mut Vec::new()).unwrap()
    }

    fn names(found: &Makefile) -> Vec<&str> {
        found.targets.iter().map(|t| t.name.as_str()).collect()
    }

    #[test]
    fn targets_help_and_phony_are_read_and_the_rest_is_left_out() {
        let found = read(
            "SHELL := /bin/bash\nOUT ?= a:b\n\n.PHONY: all test \\\n  lint\nall: build ## Everything\n\
             ## Runs the tests.\n## And more.\ntest lint: $(OUT)\n\t@echo not: a rule\n\nbuild: export X = 1\n\
             build: src/a.c ; cc -o $@ x:y\n%.o: %.c\n\tcc\n.c.o:\n\tcc\n$(OUT)/x: y\n\
             define RECIPE\nfake: rule\nendef\nifeq ($(A),b)\nonly-b:\nelse\nonly-c::\nendif\n\
             $(foreach p,$(P),$(eval $(call R,$(p))))\nobjs/a.o objs/b.o: objs/%.o: %.c\nwith\\:colon:\n",
        );
        assert_eq!(
            names(&found),
            ["all", "test", "lint", "build", "only-b", "only-c", "objs/a.o", "objs/b.o", "with:colon"]
        );
        let by = |name: &str| found.targets.iter().find(|t| t.name == name).unwrap();
        assert_eq!(by("all").help.as_deref(), Some("Everything"));
        assert_eq!(by("test").help.as_deref(), Some("Runs the tests."));
        assert!(by("lint").phony && by("all").phony && !by("build").phony);
        assert_eq!(by("all").line, 6);
        assert_eq!(found.unexpanded, 1);
    }

    #[test]
    fn the_goal_is_the_first_target_or_what_is_said() {
        assert_eq!(read(".PHONY: a\na:\nb:\n").default.as_deref(), Some("a"));
        assert_eq!(read(".DEFAULT_GOAL := b\na:\nb:\n").default.as_deref(), Some("b"));
        assert_eq!(read("$(X): y\na:\n").default, None);
    }

    #[test]
    fn another_recipe_prefix_is_honoured() {
        assert_eq!(names(&read(".RECIPEPREFIX = >\na:\n> b: c\nd:\n")), ["a", "d"]);
    }

    #[test]
    fn includes_stay_inside_and_end() {
        let files = Files(vec![
            ("Makefile", "include mk/*.mk $(X)/y.mk ../../etc/z.mk\n-include gone.mk Makefile\na:\n".into()),
            ("mk/one.mk", "include mk/two.mk\none:\n".into()),
            ("mk/two.mk", "include mk/one.mk\ntwo: ## Second\n".into()),
        ]);
        let found = makefile(&files, &mut Vec::new()).unwrap();
        assert_eq!(found.files, ["Makefile", "mk/one.mk", "mk/two.mk"]);
        assert_eq!(names(&found), ["a", "one", "two"]);
        assert_eq!(found.not_included, ["$(X)/y.mk", "../../etc/z.mk", "gone.mk"]);
        assert_eq!(found.targets.last().unwrap().file, "mk/two.mk");
    }

    #[test]
    fn gnumakefile_comes_first() {
        let files = Files(vec![("Makefile", "a:\n".into()), ("GNUmakefile", "b:\n".into())]);
        assert_eq!(names(&makefile(&files, &mut Vec::new()).unwrap()), ["b"]);
    }
}
