//! Our own skills: they teach agents to use gatewright well. Part of the program, so that they fit the program that serves them.

use tools_knowledge::BuiltIn;

/// A file below `skills/`, by its path there.
macro_rules! files {
    ($($path:literal),* $(,)?) => {
        &[$(($path, include_bytes!(concat!("../skills/", $path)))),*]
    };
}

/// Every file below `skills/`, in order.
pub const SKILLS: BuiltIn = files![
    "gatewright-find-and-run-patterns/SKILL.md",
    "gatewright-find-and-run-patterns/references/libraries.md",
    "gatewright-keep-memory/SKILL.md",
    "gatewright-keep-memory/references/notes.md",
    "gatewright-read-failures/SKILL.md",
    "gatewright-read-failures/references/runs.md",
    "gatewright-rehearse-apply/SKILL.md",
    "gatewright-rehearse-apply/references/plans.md",
];

#[cfg(test)]
mod tests {
    use std::path::{Path, PathBuf};

    use super::*;

    fn below(folder: &Path, all: &mut Vec<PathBuf>) {
        #[expect(clippy::disallowed_methods, reason = "a test looks at its own sources")]
        for entry in std::fs::read_dir(folder).unwrap().map(Result::unwrap) {
            if entry.file_type().unwrap().is_dir() {
                below(&entry.path(), all);
            } else {
                all.push(entry.path());
            }
        }
    }

    #[test]
    fn every_file_of_our_skills_is_part_of_the_program() {
        let top = Path::new(env!("CARGO_MANIFEST_DIR")).join("skills");
        let mut all = Vec::new();
        below(&top, &mut all);
        let mut there: Vec<&str> =
            all.iter().map(|path| path.strip_prefix(&top).unwrap().to_str().unwrap()).collect();
        there.sort_unstable();
        assert_eq!(SKILLS.iter().map(|(path, _)| *path).collect::<Vec<_>>(), there);
    }

    #[test]
    fn our_skills_are_as_the_specification_has_them() {
        let mains = SKILLS.iter().filter_map(|(path, bytes)| Some((path.strip_suffix("/SKILL.md")?, bytes)));
        for (folder, bytes) in mains {
            let text = std::str::from_utf8(bytes).unwrap();
            let mut problems = library::Problems::of(folder);
            let skill = library::folder::read(text, folder, &mut problems).unwrap();
            assert!(skill.conforms && problems.is_empty(), "{problems:?}");
            assert!(skill.license.is_some() && skill.description.len() <= 400, "{folder}");
            assert!(text.len() < 5_000, "{folder}: what a model loads is short");
        }
    }
}
