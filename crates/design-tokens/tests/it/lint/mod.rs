//! What the linter finds, and what its edits do.

mod edits;
mod rules;

use std::collections::{BTreeMap, BTreeSet};

use design_tokens::lint::{Finding, Fixed, Level, Levels, Report, Task, fix, lint};
use design_tokens::{Compiled, ModeOptions, Options, compile};

type Files = BTreeMap<String, String>;

fn levels(all: &[(&str, Level)]) -> Levels {
    let map: BTreeMap<String, Level> = all.iter().map(|(code, level)| ((*code).to_owned(), *level)).collect();
    Levels::new([&map]).unwrap()
}

/// Files, and which of them are the source.
struct Case {
    files: Files,
    sources: Vec<String>,
    options: Options,
    levels: Levels,
}

impl Case {
    fn new(files: &[(&str, &str)]) -> Self {
        Self {
            files: files.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect(),
            sources: files.iter().map(|(name, _)| (*name).to_owned()).collect(),
            options: Options::default(),
            levels: Levels::default(),
        }
    }

    fn one(text: &str) -> Self {
        Self::new(&[("t.json", text)])
    }

    fn with(mut self, change: impl FnOnce(&mut Options)) -> Self {
        change(&mut self.options);
        self
    }

    fn at(mut self, all: &[(&str, Level)]) -> Self {
        self.levels = levels(all);
        self
    }

    fn modes(mut self, modes: &[(&str, &str)]) -> Self {
        for (name, file) in modes {
            let sources = vec![(*file).to_owned()];
            self.sources.retain(|s| s != file);
            self.options.modes.push(ModeOptions {
                name: (*name).to_owned(),
                sources,
                ..ModeOptions::default()
            });
        }
        self
    }

    fn task(&self) -> Task<'_> {
        Task { sources: &self.sources, loader: &self.files, options: &self.options, levels: &self.levels }
    }

    fn lint(&self) -> Report {
        lint(self.task())
    }

    /// `code line:column token`, each.
    fn found(&self, code: &str) -> Vec<String> {
        let report = self.lint();
        let found = report.findings.iter().filter(|finding| finding.code == code);
        let shown = |f: &Finding| format!("{}:{} {}", f.line, f.column, f.token.as_deref().unwrap_or("-"));
        found.map(shown).collect()
    }

    fn compiled(&self) -> Compiled {
        compile(&self.sources, &self.files, &self.options).unwrap_or_else(|e| panic!("{e:#?}"))
    }

    fn fix(&self) -> Fixed {
        fix(self.task(), &BTreeSet::new())
    }

    /// The case after its fixes; fixing it again must change nothing, and tokens must stay what they were.
    fn fixed(&self) -> (Self, Fixed) {
        let fixed = self.fix();
        let mut files = self.files.clone();
        files.extend(fixed.texts.clone());
        let (sources, options) = (self.sources.clone(), self.options.clone());
        let after = Self { files, sources, options, levels: self.levels.clone() };
        let again = after.fix();
        assert_eq!(again.texts, Files::new(), "fixing twice changes nothing");
        assert_eq!(again.report.fixed(), 0);
        let left = fixed.report.findings.iter().filter(|finding| !finding.is_fixed).count();
        assert_eq!(left, after.lint().findings.len(), "what is left is what is found: {:#?}", fixed.report);
        if let Ok(before) = compile(&self.sources, &self.files, &self.options) {
            let css = |compiled: &Compiled| {
                compiled.emit(design_tokens::Platform::Css, &self.options).unwrap().remove(0).text
            };
            assert_eq!(css(&before), css(&after.compiled()));
        }
        (after, fixed)
    }
}
