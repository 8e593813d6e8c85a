//! The walk through `exports` and `imports`: the order of conditions, arrays, keys.

use std::borrow::Cow;

use super::Lint;
use super::code::Code;
use super::glob::Glob;
use super::json::Json;
use super::message::Args;
use crate::check::Severity;

/// Which of the two fields is walked.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    Exports,
    Imports,
}

impl Side {
    /// The code for this field, of a pair.
    pub(super) fn code(self, exports: Code, imports: Code) -> Code {
        if self == Self::Exports { exports } else { imports }
    }
}

/// Where the walk is.
pub(super) struct Walk<'a> {
    pub(super) side: Side,
    pub(super) at: Vec<Cow<'a, str>>,
    /// The keys of `exports` that are `null`: what they fit is not exported.
    pub(super) without: Vec<Glob<'a>>,
}

impl Walk<'_> {
    pub(super) fn path(&self) -> Vec<&str> {
        self.at.iter().map(|key| &**key).collect()
    }

    fn path_to<'k>(&'k self, key: &'k str) -> Vec<&'k str> {
        let mut path = self.path();
        path.push(key);
        path
    }
}

/// Who comes to a place in the walk.
#[derive(Clone, Copy)]
pub(super) struct Reach {
    /// Whether a condition `node` stood before, so that Node.js never comes here.
    pub(super) after_node: bool,
    /// Whether `import` may lead here.
    pub(super) by_import: bool,
}

const EVERYBODY: Reach = Reach { after_node: false, by_import: true };

impl<'a> Lint<'a> {
    pub(super) fn exports(&mut self) {
        let field = self.published("exports");
        let Some(value) = field.truthy() else { return self.every_file() };
        let mut walk = self.walk(Side::Exports, &field.at);
        self.conditions(value, &mut walk, EVERYBODY);
        self.types_of_root(value, &field.at);
    }

    pub(super) fn imports(&mut self) {
        let field = self.published("imports");
        let Some(value) = field.truthy() else { return };
        if !value.is_nested() {
            return self.wrong_kind(value.kind(), &["object"], &field.at);
        }
        let mut walk = self.walk(Side::Imports, &field.at);
        self.conditions(value, &mut walk, EVERYBODY);
    }

    fn walk(&self, side: Side, at: &[&'a str]) -> Walk<'a> {
        let without = match self.published("exports").value {
            Some(Json::Object(members)) => members
                .iter()
                .filter(|(_, value)| **value == Json::Null)
                .map(|(key, _)| Glob::key(key))
                .collect(),
            _ => Vec::new(),
        };
        Walk { side, at: at.iter().map(|key| Cow::Borrowed(*key)).collect(), without }
    }

    /// Recursion is bounded by how deep JSON may nest: 128.
    fn conditions(&mut self, value: &'a Json, walk: &mut Walk<'a>, reach: Reach) {
        // What comes now is never told.
        if self.is_full() || self.world.is_exhausted() {
            return;
        }
        match value {
            Json::String(written) => self.target(written, walk, reach),
            Json::Array(_) => {
                let code = walk.side.code(Code::ExportsFallbackArrayUse, Code::ImportsFallbackArrayUse);
                self.say(code, Severity::Warning, &walk.path(), &[], Args::None {});
                for (key, item) in value.members() {
                    self.below(key, item, walk, reach);
                }
            }
            Json::Object(members) => {
                self.order(value, walk);
                let of_formats = members.contains_key("import") || members.contains_key("require");
                let keys_of_imports =
                    walk.side == Side::Imports && walk.at.last().is_some_and(|key| key == "imports");
                let mut next = reach;
                for (key, item) in members.iter() {
                    if keys_of_imports && !key.starts_with('#') {
                        let args =
                            Args::SuggestKey { suggest_key: format!("#{}", key.trim_start_matches('/')) };
                        self.say(Code::ImportsKeyInvalid, Severity::Error, &walk.path_to(key), &[], args);
                    }
                    let leads_on = !of_formats
                        || key == "import"
                        || (key == "default" && !members.contains_key("import"));
                    next.by_import = reach.by_import && leads_on;
                    self.below(Cow::Borrowed(key), item, walk, next);
                    next.after_node |= key == "node";
                }
            }
            // `null` closes a subpath; the other kinds are nothing that Node.js reads.
            Json::Null | Json::Bool(_) | Json::Number { .. } => {}
        }
    }

    fn below(&mut self, key: Cow<'a, str>, item: &'a Json, walk: &mut Walk<'a>, reach: Reach) {
        walk.at.push(key);
        self.conditions(item, walk, reach);
        walk.at.pop();
    }

    /// Conditions are taken in order, so some places are wrong.
    fn order(&mut self, value: &Json, walk: &Walk<'_>) {
        let Json::Object(members) = value else { return };
        let place = |key| members.get_index_of(key);
        if walk.side == Side::Exports && place("types").is_some_and(|at| at > 0) && types_come_too_late(value)
        {
            let code = Code::ExportsTypesShouldBeFirst;
            self.say(code, Severity::Error, &walk.path_to("types"), &[], Args::None {});
        }
        if let (Some(module), Some(require)) = (place("module"), place("require"))
            && module > require
        {
            let code = walk
                .side
                .code(Code::ExportsModuleShouldPrecedeRequire, Code::ImportsModuleShouldPrecedeRequire);
            self.say(code, Severity::Error, &walk.path_to("module"), &[], Args::None {});
        }
        if place("default").is_some_and(|at| at + 1 < members.len()) {
            let code = walk.side.code(Code::ExportsDefaultShouldBeLast, Code::ImportsDefaultShouldBeLast);
            self.say(code, Severity::Error, &walk.path_to("default"), &[], Args::None {});
        }
    }
}

/// Whether a condition before `types` may be taken in its place. Not so for those for versions of TypeScript and those that lead to
/// sources in TypeScript; and where one of the others has types of its own inside, `types` is there for the rest.
fn types_come_too_late(value: &Json) -> bool {
    let Json::Object(members) = value else { return false };
    let mut before = members
        .iter()
        .take_while(|(key, _)| *key != "types")
        .filter(|(key, value)| {
            !key.starts_with("types")
                && !value.text().is_some_and(is_raw_typescript)
                && !value.has_text_inside(is_raw_typescript)
        })
        .peekable();
    before.peek().is_some() && !before.any(|(_, value)| value.has_key_inside("types"))
}

fn is_raw_typescript(path: &str) -> bool {
    path.ends_with(".tsx") || (path.ends_with(".ts") && !path.ends_with(".d.ts"))
}
