//! rustc's diagnostics as text: what cargo prints around tests.

use std::sync::LazyLock;

use crate::Level;
use crate::draft::{Draft, Finding};
use crate::formats::{Pattern, matched, number, part};

static HEAD: Pattern = LazyLock::new(|| {
    regex::Regex::new(r"^(?P<level>error|warning)(?:\[(?P<code>[\w:]+)\])?: (?P<message>.+)$").ok()
});
static ARROW: Pattern = LazyLock::new(|| {
    regex::Regex::new(r"^ *--> (?P<file>[^:]+(?::[^:\d][^:]*)?):(?P<line>\d+):(?P<column>\d+)$").ok()
});

/// The lines of rustc and cargo, one by one.
#[derive(Default)]
pub(crate) struct Rustc {
    open: Option<Finding>,
}

impl Rustc {
    /// Takes a line; false when it is neither rustc's nor cargo's.
    pub(crate) fn line(&mut self, draft: &mut Draft<'_>, line: &str) -> bool {
        if let Some(groups) = matched(&HEAD, line) {
            self.end(draft);
            let message = part(&groups, "message");
            if summary(message) {
                return true;
            }
            self.open = Some(Finding {
                level: Some(if part(&groups, "level") == "error" { Level::Error } else { Level::Warning }),
                rule: Some(part(&groups, "code").to_owned()),
                message: message.to_owned(),
                source: Some("rustc".to_owned()),
                ..Finding::default()
            });
            return true;
        }
        if let Some(open) = self.open.as_mut() {
            if let Some(groups) = matched(&ARROW, line).filter(|_| open.place.is_none()) {
                open.place = Some(draft.context.place(part(&groups, "file")));
                (open.line, open.column) = (number(&groups, "line"), number(&groups, "column"));
                return true;
            }
            // The frame of the source: it begins with a margin.
            let text = line.trim_start();
            let framed = text.starts_with(['|', '=', '.', ':'])
                || text.starts_with(|first: char| first.is_ascii_digit());
            let help =
                ["= help: ", "= note: ", "help: ", "note: "].iter().find_map(|sign| text.strip_prefix(sign));
            if let Some(help) = help.filter(|_| open.help.len() < crate::MAX_DETAIL) {
                open.help.push_str(help);
                open.help.push('\n');
            }
            if framed || help.is_some() || text.starts_with("--> ") || text.starts_with("::: ") {
                return true;
            }
            if text.is_empty() {
                self.end(draft);
                return true;
            }
            self.end(draft);
        }
        progress(line)
    }

    /// What was said last is complete.
    pub(crate) fn end(&mut self, draft: &mut Draft<'_>) {
        if let Some(finding) = self.open.take() {
            draft.find(finding);
        }
    }
}

/// Sentences that only sum up.
pub(crate) fn summary(message: &str) -> bool {
    const SIGNS: [&str; 9] = [
        "aborting due to",
        "could not compile",
        "test failed, to rerun",
        "doctest failed, to rerun",
        "targets failed:",
        "target failed:",
        "test run failed",
        "warnings emitted",
        "warning emitted",
    ];
    let generated =
        message.starts_with('`') && message.contains(" generated ") && message.contains(" warning");
    let many = message.contains(" previous error") || message.starts_with("build failed, waiting");
    generated || many || SIGNS.iter().any(|sign| message.contains(sign))
}

/// Lines that cargo prints while all is well.
fn progress(line: &str) -> bool {
    const VERBS: [&str; 17] = [
        "Fixed ",
        "Compiling ",
        "Finished ",
        "Running ",
        "Doc-tests ",
        "Checking ",
        "Downloading ",
        "Downloaded ",
        "Updating ",
        "Locking ",
        "Adding ",
        "Fresh ",
        "Blocking ",
        "Dirty ",
        "Building ",
        "Executable ",
        "Removed ",
    ];
    let text = line.trim_start();
    let listed = line.starts_with("    `") && line.ends_with('`');
    text.is_empty()
        || listed
        || (line.starts_with("  ") && VERBS.iter().any(|verb| text.starts_with(verb)))
        || line.starts_with("Some errors have detailed explanations")
        || line.starts_with("For more information about ")
}
