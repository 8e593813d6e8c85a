//! The targets in `exports` and `imports`.

use std::borrow::Cow;

use super::Lint;
use super::code::Code;
use super::conditions::{Reach, Side, Walk};
use super::json::Json;
use super::message::{Args, Format};
use super::world::{is_script, join};
use crate::check::Severity;

/// Conditions whose targets anybody may ask for. What stands below another one may be meant for the authors alone.
const COMMON: [&str; 10] = [
    "default",
    "import",
    "require",
    "development",
    "production",
    "types",
    "node",
    "browser",
    "worker",
    "deno",
];

/// Conditions under which bundlers apply the field `browser` as well.
const BROWSERISH: [&str; 3] = ["worker", "workerd", "edge-light"];

/// A target, as it is to be read.
struct Target<'t> {
    side: Side,
    at: &'t [&'t str],
    /// As written, with a `*` after a slash at the end.
    written: &'t str,
    is_pattern: bool,
    reach: Reach,
}

impl<'a> Lint<'a> {
    pub(super) fn target(&mut self, written: &str, walk: &Walk<'a>, reach: Reach) {
        // What does not begin with a dot is a package there.
        if walk.side == Side::Imports && !written.starts_with('.') {
            return;
        }
        let at = &walk.path()[..];
        let written = &*if written.ends_with('/') {
            self.folder(written, walk.side, at);
            Cow::Owned(format!("{written}*"))
        } else {
            Cow::Borrowed(written)
        };
        if !written.starts_with("./") {
            let args = Args::SuggestValue { suggest_value: format!("./{}", written.trim_start_matches('/')) };
            let code = walk.side.code(Code::ExportsValueInvalid, Code::ImportsValueInvalid);
            self.say(code, Severity::Error, at, &[], args);
        }
        let target = Target { side: walk.side, at, written, is_pattern: written.contains('*'), reach };
        // A path that is not relative leads out of the package, so nothing is there.
        let is_relative = written.starts_with('.') || !(written.starts_with('/') || written.contains(':'));
        let path = &*if is_relative { Cow::Owned(join(written)) } else { Cow::Borrowed(written) };
        if !target.is_pattern {
            self.conflict(&target);
            let file = if is_relative { self.world.file(path) } else { None };
            let may_be_a_name = !is_relative && !is_absolute(path);
            return self.one(&target, path, file, may_be_a_name);
        }
        let key = at.get(1).copied();
        let files = if is_relative { self.world.fitting(path, key, &walk.without) } else { Vec::new() };
        if !files.is_empty() {
            self.conflict(&target);
        } else if walk.side == Side::Exports {
            self.say(Code::ExportsGlobNoMatchedFiles, Severity::Warning, at, &[], Args::None {});
        }
        for file in files {
            self.one(&target, file, Some(file), false);
        }
    }

    /// A target that ends in a slash was a folder once.
    fn folder(&mut self, written: &str, side: Side, at: &[&str]) {
        let starred = |key: &str| if key.ends_with('/') { format!("{key}*") } else { key.to_owned() };
        let expect_path: Vec<String> = at.iter().map(|key| starred(key)).collect();
        // Beside a pattern it is there for old versions of Node.js.
        let severity = if self.manifest.has_at(&expect_path) { Severity::Note } else { Severity::Error };
        let args = Args::Subpath { expect_path, expect_value: format!("{written}*") };
        let code = side
            .code(Code::ExportsGlobNoDeprecatedSubpathMapping, Code::ImportsGlobNoDeprecatedSubpathMapping);
        self.say(code, severity, at, &[], args);
    }

    /// Whether `browser` replaces the target where it is not meant to.
    fn conflict(&mut self, target: &Target<'_>) {
        let browser = self.published("browser");
        let replaced =
            matches!(browser.value, Some(Json::Object(members)) if members.contains_key(target.written));
        if target.side != Side::Exports || !replaced {
            return;
        }
        let Some(condition) = BROWSERISH.iter().find(|name| target.at.contains(name)) else { return };
        let browser_path = browser.at.iter().copied().chain([target.written]).map(str::to_owned).collect();
        let args = Args::Browser { browser_path, browserish_condition: condition };
        self.say(Code::ExportsValueConflictsWithBrowser, Severity::Warning, target.at, &[], args);
    }

    /// One file that a target leads to, `None` when it is not there.
    fn one(&mut self, target: &Target<'_>, path: &str, file: Option<&'a str>, may_be_a_name: bool) {
        let lead = target.is_pattern.then_some("./");
        if self.has_meaningless_extension(path, path, lead, target.at) {
            return;
        }
        let Some(file) = file else {
            let is_asked_for = is_script(path) || !(may_be_a_name || has_own_condition(target.at));
            // Files of `imports` may have been bundled.
            if target.side == Side::Exports && is_asked_for {
                self.missing(path, target.at);
            }
            return;
        };
        if is_script(path) && !self.world.source(file).flow {
            self.script(target, file);
        }
    }

    fn script(&mut self, target: &Target<'_>, file: &'a str) {
        // Bundlers alone know `module`.
        if target.at.contains(&"module") {
            if self.world.source(file).format == Some(Format::Cjs) {
                let code = target.side.code(Code::ExportsModuleShouldBeEsm, Code::ImportsModuleShouldBeEsm);
                self.say(code, Severity::Error, target.at, &[file], Args::None {});
            }
            return;
        }
        if target.reach.by_import {
            self.marked_default(file, file, target.at);
        }
        // What only bundlers come to may be of any format.
        if target.reach.after_node || target.at.contains(&"browser") {
            return;
        }
        if let Some(formats) = self.misread_unless_meant(file, target.is_pattern) {
            let shown = if target.is_pattern { format!("./{file}") } else { target.written.to_owned() };
            self.misread(formats, file, file, Some(shown), target.at);
        }
    }
}

/// Whether a target begins at the root of a disk.
fn is_absolute(path: &str) -> bool {
    let mut symbols = path.chars();
    match (symbols.next(), symbols.next()) {
        (Some('/'), _) => true,
        (Some(drive), Some(':')) => drive.is_ascii_alphabetic(),
        _ => false,
    }
}

/// Whether a key after `exports`, the subpath left out, is no common condition.
fn has_own_condition(at: &[&str]) -> bool {
    let from =
        at.iter().position(|key| matches!(*key, "exports" | "imports")).map_or(at.len(), |field| field + 1);
    let mut conditions = at.iter().skip(from).peekable();
    conditions.next_if(|key| key.starts_with('.'));
    conditions.any(|key| !COMMON.contains(key))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conditions_of_the_authors_are_told_from_common_ones() {
        assert!(!has_own_condition(&["exports", "./a", "import", "types"]));
        assert!(!has_own_condition(&["publishConfig", "exports", "default"]));
        assert!(has_own_condition(&["exports", ".", "0"]));
        assert!(has_own_condition(&["exports", "source"]));
        assert!(has_own_condition(&["imports", "#a"]));
    }
}
