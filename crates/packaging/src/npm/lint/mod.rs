//! What publint 0.3.25 reports of a packed package, found without it: `docs/design/npm-packing.md` §2.
//!
//! The package is an archive's content, so what publint says of archives counts where it differs from folders. On two
//! manifests publint fails and this does not: what it cannot read (a dependency that is no text, `repository: null`) is passed
//! over. A byte order mark before `#!` is reported, as it is of folders.
#![allow(
    clippy::case_sensitive_file_extension_comparisons,
    reason = "Node.js, TypeScript and publint compare extensions as they are written"
)]

mod bin;
mod browser;
mod code;
mod conditions;
mod every_file;
mod fields;
mod glob;
mod hints;
mod json;
mod manifest;
mod message;
mod repository;
mod scope;
mod source;
mod targets;
mod types;
mod words;
mod world;

pub use code::Code;
pub use manifest::MAX_MANIFEST_BYTES;
pub use message::{Args, Format, Message, Repository};
pub use world::MAX_GLOB_BYTES;

use crate::check::Severity;
use crate::packed::Packed;
use manifest::{Field, Manifest};
use world::World;

/// Bytes that all messages of a package may hold together. The largest real packages come to a few million.
pub const MAX_MESSAGE_BYTES: usize = 64 << 20;

/// Why a package cannot be looked at.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LintError {
    /// There is no manifest.
    #[error("there is no package.json at the top of the package")]
    NoManifest,
    /// The manifest is too long.
    #[error("package.json has {bytes} bytes, and at most {limit} are read")]
    ManifestTooLong {
        /// What it has.
        bytes: usize,
        /// What it may have: [`MAX_MANIFEST_BYTES`].
        limit: usize,
    },
    /// The manifest is not JSON, or nests deeper than 128 levels.
    #[error("package.json cannot be read: {why}")]
    Malformed {
        /// From 1.
        line: usize,
        /// From 1; 0 at a line's beginning.
        column: usize,
        /// In words.
        why: String,
    },
    /// The manifest is JSON but no object.
    #[error("package.json is not an object")]
    NotAnObject,
    /// The patterns of `exports` and `imports` fit too much: [`MAX_GLOB_BYTES`].
    #[error(
        "the patterns of exports and imports are too many for the files there are: write fewer or narrower ones"
    )]
    TooManyMatches,
    /// There is too much to say: [`MAX_MESSAGE_BYTES`].
    #[error("there are too many messages to hold: mend what `exports` and `type` say and look again")]
    TooManyMessages,
}

/// Everything that publint reports of a package, worst first, then by place.
pub fn lint(packed: &Packed) -> Result<Vec<Message>, LintError> {
    let manifest = Manifest::parse(packed.get("package.json").ok_or(LintError::NoManifest)?)?;
    let mut lint = Lint { manifest: &manifest, world: World::new(packed), found: Vec::new(), weight: 0 };
    lint.nested_manifests();
    lint.files_field();
    lint.licence();
    lint.local_dependencies();
    lint.type_field();
    lint.engines();
    lint.side_effects();
    lint.repository();
    lint.implicit_index();
    lint.main();
    lint.module();
    lint.root_of_exports();
    lint.other_entries();
    lint.browser();
    lint.bin();
    lint.exports();
    lint.imports();
    if lint.world.is_exhausted() {
        return Err(LintError::TooManyMatches);
    }
    if lint.is_full() {
        return Err(LintError::TooManyMessages);
    }
    let mut found = lint.found;
    found.sort_by(|a, b| {
        (a.severity, &a.at, a.code, &a.files, &a.args).cmp(&(b.severity, &b.at, b.code, &b.files, &b.args))
    });
    Ok(found)
}

/// A package while it is looked at.
struct Lint<'a> {
    manifest: &'a Manifest,
    world: World<'a>,
    found: Vec<Message>,
    weight: usize,
}

impl<'a> Lint<'a> {
    fn published(&self, name: &'static str) -> Field<'a> {
        self.manifest.published(name)
    }

    fn field(&self, name: &'static str) -> Field<'a> {
        self.manifest.field(name)
    }

    fn is_full(&self) -> bool {
        self.weight > MAX_MESSAGE_BYTES
    }

    fn say(&mut self, code: Code, severity: Severity, at: &[&str], files: &[&str], args: Args) {
        // Arguments repeat parts of what is counted, a fixed number of times.
        self.weight += 256 + at.iter().chain(files).map(|text| text.len() + 24).sum::<usize>();
        if self.is_full() {
            return;
        }
        let owned = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
        self.found.push(Message { code, severity, at: owned(at), files: owned(files), args });
    }

    /// A text that a field has; anything else there is reported.
    fn text_of(&mut self, field: &Field<'a>) -> Option<&'a str> {
        let value = field.value?;
        if value.text().is_none() {
            self.wrong_kind(value.kind(), &["string"], &field.at);
        }
        value.text()
    }

    fn wrong_kind(&mut self, actual_type: &'static str, expect_types: &[&'static str], at: &[&str]) {
        let args = Args::ValueType { actual_type, expect_types: expect_types.to_vec() };
        self.say(Code::FieldInvalidValueType, Severity::Error, at, &[], args);
    }

    /// The file that a field names, with `.js` or `/index.js` after it where that is needed; a missing one is reported.
    fn named_file(&mut self, path: &str, at: &[&str]) -> Option<&'a str> {
        let file = self.world.file_or_index(path);
        if file.is_none() {
            self.missing(path, at);
        }
        file
    }

    fn missing(&mut self, path: &str, at: &[&str]) {
        self.say(Code::FileDoesNotExist, Severity::Error, at, &[path], Args::None {});
    }

    /// Reports an extension that means nothing.
    fn has_meaningless_extension(
        &mut self,
        path: &str,
        file: &str,
        globbed: Option<&str>,
        at: &[&str],
    ) -> bool {
        let Some(end) = world::meaningless_extension(path) else { return false };
        let args = Args::JsxExtension {
            actual_extension: end.to_owned(),
            globbed_file_path: globbed.map(|lead| format!("{lead}{file}")),
        };
        self.say(Code::FileInvalidJsxExtension, Severity::Error, at, &[file], args);
        true
    }

    /// Reports that a script is not of the format it is taken for.
    fn misread(
        &mut self,
        (actual, expected): (Format, Format),
        path: &str,
        file: &str,
        shown: Option<String>,
        at: &[&str],
    ) {
        let actual_extension = world::extension(path);
        let explicit = matches!(actual_extension.as_str(), ".mjs" | ".cjs");
        let code = if explicit { Code::FileInvalidExplicitFormat } else { Code::FileInvalidFormat };
        let args = Args::FileFormat {
            actual_format: actual,
            expect_format: expected,
            actual_extension,
            expect_extension: actual.extension().to_owned(),
            actual_file_path: shown,
        };
        self.say(code, Severity::Warning, at, &[file], args);
    }

    /// Reports a default export that tools read differently, where there is one.
    fn marked_default(&mut self, file: &'a str, path: &str, at: &[&str]) {
        if self.world.expected(path) == Format::Cjs && self.world.source(file).marked_default {
            let args = Args::File { file_path: format!("/{path}") };
            self.say(Code::CjsWithEsmoduleDefaultExport, Severity::Warning, at, &[file], args);
        }
    }
}
