//! What is reported.

use serde::Serialize;

use super::code::Code;
use super::words;
use crate::check::{Check, Severity};

/// A module format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub enum Format {
    /// An ES module.
    #[serde(rename = "ESM")]
    Esm,
    /// `CommonJS`.
    #[serde(rename = "CJS")]
    Cjs,
}

impl Format {
    /// The extension, with its dot, that makes Node.js take a file for this format.
    pub fn extension(self) -> &'static str {
        match self {
            Self::Esm => ".mjs",
            Self::Cjs => ".cjs",
        }
    }

    /// As [`Self::extension`], for TypeScript: what follows `.d`.
    pub fn types_extension(self) -> &'static str {
        match self {
            Self::Esm => ".mts",
            Self::Cjs => ".cts",
        }
    }
}

/// What is wrong with `repository`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Repository {
    /// A text that is none of the short forms that npm knows.
    InvalidStringShorthand,
    /// `url` is no address that git takes.
    InvalidGitUrl,
    /// `git://`, which GitHub no longer answers.
    DeprecatedGithubGitProtocol,
    /// An address of GitHub or GitLab without `git+` or `.git`.
    ShorthandGitSites,
}

/// What a message says beside its code. Names and values are publint's, so that the two can be compared; paths into
/// `package.json` are lists of keys.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(untagged, rename_all_fields = "camelCase")]
pub enum Args {
    /// Nothing.
    None {},
    /// Code of one format where the other is expected.
    Format {
        /// What the code is.
        actual_format: Format,
        /// What it is taken for.
        expect_format: Format,
    },
    /// The same, of a file that has a name to mend.
    FileFormat {
        /// What the code is.
        actual_format: Format,
        /// What it is taken for.
        expect_format: Format,
        /// With its dot.
        actual_extension: String,
        /// With its dot: the one that fits the code.
        expect_extension: String,
        /// Where `at` does not name the file: as written in `exports`, or `./…` below a pattern, or `/…` from the package's top.
        #[serde(skip_serializing_if = "Option::is_none")]
        actual_file_path: Option<String>,
    },
    /// An extension that means nothing.
    JsxExtension {
        /// With its dot.
        actual_extension: String,
        /// Where `at` does not name the file.
        #[serde(skip_serializing_if = "Option::is_none")]
        globbed_file_path: Option<String>,
    },
    /// A pattern to write in place of a folder.
    Subpath {
        /// Where.
        expect_path: Vec<String>,
        /// What.
        expect_value: String,
    },
    /// A value to write.
    SuggestValue {
        /// It.
        suggest_value: String,
    },
    /// A key to write.
    SuggestKey {
        /// It.
        suggest_key: String,
    },
    /// The fields that name an entry.
    MainFields {
        /// Of `main` and `module`, those that are set.
        main_fields: Vec<&'static str>,
    },
    /// Files that serve only those who work on the package.
    InternalFiles {
        /// From the package's top, beginning with `/`; folders end in `/`. Sorted where publint goes by the archive's order.
        internal_file_paths: Vec<String>,
    },
    /// A licence's file.
    License {
        /// From the package's top, beginning with `/`.
        license_file_path: String,
    },
    /// Types that are not exported.
    Types {
        /// As `types` or `typings` says.
        types_file_path: String,
        /// What it ends in, when that is the wrong format for this condition.
        #[serde(skip_serializing_if = "Option::is_none")]
        actual_extension: Option<String>,
        /// What it would have to end in, with its dot.
        #[serde(skip_serializing_if = "Option::is_none")]
        expect_extension: Option<String>,
    },
    /// Types of the wrong format.
    TypesFormat {
        /// `import` or `require`.
        condition: &'static str,
        /// What TypeScript takes them for.
        actual_format: Format,
        /// What the code is.
        expect_format: Format,
        /// With its dot, without `.d`.
        actual_extension: String,
        /// With its dot, without `.d`.
        expect_extension: String,
        /// Where to name types of the right format.
        expect_path: Vec<String>,
    },
    /// A value of the wrong kind.
    ValueType {
        /// As `typeof` says.
        actual_type: &'static str,
        /// As `typeof` would say.
        expect_types: Vec<&'static str>,
    },
    /// A value that `browser` replaces.
    Browser {
        /// Where in `browser`.
        browser_path: Vec<String>,
        /// The condition that is like `browser`.
        browserish_condition: &'static str,
    },
    /// What is wrong with `repository`.
    Repository {
        /// It.
        r#type: Repository,
        /// What to write instead.
        #[serde(skip_serializing_if = "Option::is_none")]
        suggest_value: Option<String>,
    },
    /// A file.
    File {
        /// From the package's top, beginning with `/`.
        file_path: String,
    },
    /// A field of a nested manifest.
    Nested {
        /// `exports` or `imports`.
        field: &'static str,
        /// From the package's top, beginning with `./`.
        file_path: String,
    },
}

/// One thing that publint would report.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Message {
    /// What it is about.
    pub code: Code,
    /// publint's error, warning and suggestion are error, warning and note.
    pub severity: Severity,
    /// The keys that lead to it in `package.json`. `["name"]` where it is about the package as a whole.
    pub at: Vec<String>,
    /// The files it is about, from the package's top, without a leading `/`; a missing file where it was looked for first.
    pub files: Vec<String>,
    /// The rest.
    pub args: Args,
}

impl Message {
    /// In our words. A message that is about no other file is about `package.json`.
    pub fn to_check(&self) -> Check {
        let mut check =
            Check::failed(format!("npm.publint.{}", self.code), self.severity, words::detail(self))
                .fix(words::fix(self));
        check.files.clone_from(&self.files);
        if check.files.is_empty() {
            check.files.push("package.json".to_owned());
        }
        check
    }
}
