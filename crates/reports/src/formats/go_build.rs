//! What `go build`, `go vet` and `gofmt -l` print, and the build output inside of `go test -json`.
//!
//! Source: cmd/go of Go 1.27 (`# package` headers, `file:line:column: message`, continuation lines that begin with a
//! tab) and gofmt's list of names.

use std::sync::LazyLock;

use crate::Level;
use crate::draft::{Draft, Finding};
use crate::format::Input;
use crate::formats::{Pattern, matched, number, part};
use crate::text::lines;

static PLACE: Pattern = LazyLock::new(|| {
    regex::Regex::new(r"^(?:vet: )?(?P<file>[^\s:][^:]*\.\w+|go\.(?:mod|work|sum)):(?P<line>\d+)(?::(?P<column>\d+))?: (?P<message>.+)$")
        .ok()
});

/// The lines of a build, one by one.
#[derive(Default)]
pub(crate) struct Build {
    open: Option<Finding>,
    package: String,
}

pub(crate) fn read(input: Input<'_>, draft: &mut Draft<'_>) {
    for input in input.both() {
        let mut build = Build::default();
        for line in lines(input.stdout) {
            if !build.line(draft, &line) {
                draft.unread(&line);
            }
        }
        build.end(draft);
    }
}

impl Build {
    /// Takes a line; false when it is none of a build's.
    pub(crate) fn line(&mut self, draft: &mut Draft<'_>, line: &str) -> bool {
        let line = line.trim_end();
        if line.starts_with('\t') {
            let Some(open) = self.open.as_mut() else { return false };
            // A bounded number of continuations: the message is cut later, and must not grow without end before.
            if open.message.len() < crate::MAX_MESSAGE {
                open.message.push_str("; ");
                open.message.push_str(line.trim());
            }
            return true;
        }
        self.end(draft);
        if let Some(package) = line.strip_prefix("# ") {
            draft.recognised();
            package.clone_into(&mut self.package);
            return true;
        }
        if let Some(groups) = matched(&PLACE, line) {
            self.open = Some(Finding {
                place: Some(draft.context.place(part(&groups, "file"))),
                line: number(&groups, "line"),
                column: number(&groups, "column"),
                message: part(&groups, "message").to_owned(),
                ..Finding::default()
            });
            return true;
        }
        self.other(draft, line)
    }

    fn other(&mut self, draft: &mut Draft<'_>, line: &str) -> bool {
        const PROGRESS: [&str; 6] = [
            "go: downloading ",
            "go: finding ",
            "go: extracting ",
            "go: added ",
            "go: upgraded ",
            "exit status ",
        ];
        const ERRORS: [&str; 10] = [
            "go: ",
            "package ",
            "no required module provides",
            "cannot find ",
            "build constraints exclude",
            "import cycle not allowed",
            "pattern ",
            "/usr/bin/ld: ",
            "collect2: error",
            "flag provided but not defined",
        ];
        if line.is_empty()
            || PROGRESS.iter().any(|start| line.starts_with(start))
            || line.ends_with("too many errors")
        {
            return true;
        }
        // The summary of a package that was not built: its errors were said above it.
        if line.starts_with("FAIL") && (line.ends_with("[build failed]") || line.ends_with("[setup failed]"))
        {
            return true;
        }
        if is_go_file(line) {
            draft.find(Finding {
                place: Some(draft.context.place(line)),
                level: Some(Level::Warning),
                rule: Some("gofmt".to_owned()),
                message: "is not formatted as gofmt does".to_owned(),
                fix: true,
                ..Finding::default()
            });
            return true;
        }
        // Below a package's header every line is of its build.
        if self.package.is_empty() && !ERRORS.iter().any(|start| line.starts_with(start)) {
            return false;
        }
        self.open = Some(Finding { message: line.to_owned(), ..Finding::default() });
        true
    }

    /// What was said last is complete.
    pub(crate) fn end(&mut self, draft: &mut Draft<'_>) {
        if let Some(finding) = self.open.take() {
            draft.find(finding);
        }
    }
}

fn is_go_file(line: &str) -> bool {
    line.strip_suffix(".go").is_some_and(|stem| !stem.is_empty() && !stem.contains([':', ' ', '\t', '"']))
}
