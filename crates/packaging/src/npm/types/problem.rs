//! What can be wrong with a package's types, and how it is said.

use super::{Format, ModuleKind, Reason, ResolutionKind, ResolutionOption};
use crate::check::{Check, Severity};

/// Something that is wrong. The names are are-the-types-wrong's; files are given as they are packed, spans as bytes of
/// the file's text (a byte order mark not counted).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Problem {
    /// An entry point leads nowhere.
    NoResolution {
        /// The subpath.
        entry: String,
        /// Where.
        kind: ResolutionKind,
    },
    /// An entry point leads to JavaScript without types.
    UntypedResolution {
        /// The subpath.
        entry: String,
        /// Where.
        kind: ResolutionKind,
    },
    /// `require` of an entry point gets an ES module.
    CJSResolvesToESM {
        /// The subpath.
        entry: String,
        /// Always [`ResolutionKind::Node16Cjs`].
        kind: ResolutionKind,
    },
    /// Types are only found because TypeScript goes on to a later condition where Node would stop.
    FallbackCondition {
        /// The subpath.
        entry: String,
        /// Where.
        kind: ResolutionKind,
    },
    /// The types are of an ES module, and what runs is `CommonJS`.
    FalseESM {
        /// The types.
        types: String,
        /// What runs.
        implementation: String,
        /// Why the types are of an ES module.
        types_kind: ModuleKind,
        /// Why what runs is `CommonJS`.
        implementation_kind: ModuleKind,
    },
    /// The types are of `CommonJS`, and what runs is an ES module.
    FalseCJS {
        /// The types.
        types: String,
        /// What runs.
        implementation: String,
        /// Why the types are of `CommonJS`.
        types_kind: ModuleKind,
        /// Why what runs is an ES module.
        implementation_kind: ModuleKind,
    },
    /// A declaration file imports something of its own package that is not found.
    InternalResolutionError {
        /// In which resolution.
        option: ResolutionOption,
        /// The file that imports.
        file: String,
        /// What it imports.
        specifier: String,
        /// Where that stands, quotes included.
        span: (u32, u32),
        /// Whether it counts as `import` or `require`; `None` where that makes no difference.
        mode: Option<Format>,
    },
    /// A script has the syntax of the other module format.
    UnexpectedModuleSyntax {
        /// The script.
        file: String,
        /// What Node takes it for.
        kind: ModuleKind,
        /// What it is written as.
        syntax: Format,
        /// Where that shows.
        span: (u32, u32),
    },
    /// The types have a default export, and what runs has none.
    FalseExportDefault {
        /// The types.
        types: String,
        /// What runs.
        implementation: String,
    },
    /// A `CommonJS` file has its default export on `exports.default` only, and is imported as an ES module would be.
    CJSOnlyExportsDefault {
        /// What runs.
        file: String,
        /// Where it is imported.
        kind: ResolutionKind,
        /// Where the export stands.
        span: (u32, u32),
    },
    /// What runs assigns `module.exports`, and the types do not say so with `export =`.
    MissingExportEquals {
        /// The types.
        types: String,
        /// What runs.
        implementation: String,
    },
    /// The types have names that Node does not find in the `CommonJS` file. Not decided here: it needs TypeScript's
    /// checker.
    NamedExports {
        /// The types.
        types: String,
        /// What runs.
        implementation: String,
        /// The names.
        missing: Vec<String>,
    },
}

impl Problem {
    /// are-the-types-wrong's name.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::NoResolution { .. } => "NoResolution",
            Self::UntypedResolution { .. } => "UntypedResolution",
            Self::CJSResolvesToESM { .. } => "CJSResolvesToESM",
            Self::FallbackCondition { .. } => "FallbackCondition",
            Self::FalseESM { .. } => "FalseESM",
            Self::FalseCJS { .. } => "FalseCJS",
            Self::InternalResolutionError { .. } => "InternalResolutionError",
            Self::UnexpectedModuleSyntax { .. } => "UnexpectedModuleSyntax",
            Self::FalseExportDefault { .. } => "FalseExportDefault",
            Self::CJSOnlyExportsDefault { .. } => "CJSOnlyExportsDefault",
            Self::MissingExportEquals { .. } => "MissingExportEquals",
            Self::NamedExports { .. } => "NamedExports",
        }
    }

    /// How much it weighs.
    ///
    /// An error is what makes a program fail that the types allow, or an import fail that `exports` offers:
    /// - `NoResolution`, since what is offered cannot be had. Not in `node10`, which does not know `exports` and is on
    ///   its way out: a warning there. And not for what is no module (`./style.css`): TypeScript never finds such, and
    ///   bundlers do; a note.
    /// - `FalseESM`, `FalseCJS`, `FalseExportDefault` and `NamedExports`: what compiles then throws, or is `undefined`.
    /// - `UnexpectedModuleSyntax`: Node refuses the file. Save for ES module syntax where no package.json has a
    ///   `type`: since version 22.7 Node looks at the syntax then, so it is a warning.
    ///
    /// The others are warnings: `CJSResolvesToESM`, since Node 22.12 and later allow it; `UntypedResolution`, which works
    /// without types; `FallbackCondition`, which works as long as TypeScript keeps a fault;
    /// `InternalResolutionError`, which makes types `any`; `CJSOnlyExportsDefault` and `MissingExportEquals`, which
    /// importers can work around with `.default`.
    pub fn severity(&self) -> Severity {
        match self {
            Self::NoResolution { entry, .. } if is_asset(entry) => Severity::Note,
            Self::NoResolution { kind: ResolutionKind::Node10, .. } => Severity::Warning,
            Self::UnexpectedModuleSyntax { kind, syntax: Format::Esm, .. }
                if kind.reason == Reason::NoType =>
            {
                Severity::Warning
            }
            Self::NoResolution { .. }
            | Self::FalseESM { .. }
            | Self::FalseCJS { .. }
            | Self::FalseExportDefault { .. }
            | Self::NamedExports { .. }
            | Self::UnexpectedModuleSyntax { .. } => Severity::Error,
            Self::UntypedResolution { .. }
            | Self::CJSResolvesToESM { .. }
            | Self::FallbackCondition { .. }
            | Self::InternalResolutionError { .. }
            | Self::CJSOnlyExportsDefault { .. }
            | Self::MissingExportEquals { .. } => Severity::Warning,
        }
    }

    /// As a check that failed: `npm.types.KIND`.
    pub fn to_check(&self) -> Check {
        let (detail, fix) = (self.detail(), self.fix());
        let check = Check::failed(format!("npm.types.{}", self.kind()), self.severity(), detail).fix(fix);
        match self {
            Self::FalseESM { types, implementation, .. }
            | Self::FalseCJS { types, implementation, .. }
            | Self::FalseExportDefault { types, implementation }
            | Self::MissingExportEquals { types, implementation }
            | Self::NamedExports { types, implementation, .. } => check.about(types).about(implementation),
            Self::InternalResolutionError { file, .. }
            | Self::UnexpectedModuleSyntax { file, .. }
            | Self::CJSOnlyExportsDefault { file, .. } => check.about(file),
            Self::NoResolution { .. }
            | Self::UntypedResolution { .. }
            | Self::CJSResolvesToESM { .. }
            | Self::FallbackCondition { .. } => check.about("package.json"),
        }
    }

    fn detail(&self) -> String {
        match self {
            Self::NoResolution { entry, kind } => {
                format!("`{entry}` leads to no file when it is resolved as {} does.", kind.name())
            }
            Self::UntypedResolution { entry, kind } => {
                format!(
                    "`{entry}` leads to JavaScript without types when it is resolved as {} does.",
                    kind.name()
                )
            }
            Self::CJSResolvesToESM { entry, .. } => {
                format!(
                    "`require` of `{entry}` gets an ES module; Node before 22.12 throws, and TypeScript objects."
                )
            }
            Self::FallbackCondition { entry, kind } => format!(
                "Types of `{entry}` are only found ({}) because TypeScript tries another condition after one that fits \
                 and fails; Node does not.",
                kind.name()
            ),
            Self::FalseESM { types, implementation, types_kind, implementation_kind } => format!(
                "`{types}` says that this is an ES module ({}), and `{implementation}` is CommonJS ({}).",
                why(types_kind),
                why(implementation_kind)
            ),
            Self::FalseCJS { types, implementation, types_kind, implementation_kind } => format!(
                "`{types}` says that this is CommonJS ({}), and `{implementation}` is an ES module ({}).",
                why(types_kind),
                why(implementation_kind)
            ),
            Self::InternalResolutionError { option, file, specifier, .. } => {
                format!(
                    "`{file}` imports `{specifier}`, which `{}` does not find in the package.",
                    option.name()
                )
            }
            Self::UnexpectedModuleSyntax { file, kind, syntax, .. } => format!(
                "`{file}` is written as {}, and Node takes it for {} ({}).",
                format_name(*syntax),
                format_name(kind.format),
                why(kind)
            ),
            Self::FalseExportDefault { types, implementation } => {
                format!("`{types}` has a default export, and `{implementation}` has none.")
            }
            Self::CJSOnlyExportsDefault { file, kind, .. } => format!(
                "`{file}` has its default export on `exports.default` only: as an import ({}) the default is the whole \
                 `exports` object.",
                kind.name()
            ),
            Self::MissingExportEquals { types, implementation } => {
                format!(
                    "`{implementation}` assigns `module.exports`, and `{types}` only has a default export."
                )
            }
            Self::NamedExports { types, implementation, missing } => format!(
                "`{types}` has names that an import of `{implementation}` does not find: {}.",
                missing.join(", ")
            ),
        }
    }

    fn fix(&self) -> &'static str {
        match self {
            Self::NoResolution { entry, .. } if is_asset(entry) => {
                "Nothing, if only bundlers are to import it; else give it a declaration file (`x.d.css.ts`)."
            }
            Self::NoResolution { kind: ResolutionKind::Node10, .. } => {
                "Give the root a `main` and `types`, or put a file or a folder with a package.json where the subpath \
                 leads; or say that `moduleResolution: node10` is not supported."
            }
            Self::NoResolution { .. } => {
                "Let a condition of this entry in `exports` lead to a file that is packed, or remove the entry."
            }
            Self::UntypedResolution { .. } => {
                "Pack a declaration file beside the script (`x.d.ts` for `x.js`, `x.d.mts` for `x.mjs`), or name one under \
                 `types`, first among the conditions."
            }
            Self::CJSResolvesToESM { .. } => {
                "Offer a CommonJS file under the condition `require`, or say that Node 22.12 is needed (`engines`)."
            }
            Self::FallbackCondition { .. } => {
                "Put `types` first in each object of conditions, and give each of `import` and `require` its own."
            }
            Self::FalseESM { .. } | Self::FalseCJS { .. } => {
                "Give each format its own declaration file: `.d.mts` beside `.mjs`, `.d.cts` beside `.cjs`, each under its \
                 own condition `types`."
            }
            Self::InternalResolutionError { option: ResolutionOption::Node16, .. } => {
                "Import the file with its extension (`./x.js`, `./folder/index.js`), and pack it."
            }
            Self::InternalResolutionError { .. } => "Pack the file that is imported, or remove the import.",
            Self::UnexpectedModuleSyntax { syntax: Format::Esm, .. } => {
                "Name the file `.mjs`, set `type` to `module` in the nearest package.json, or compile to CommonJS."
            }
            Self::UnexpectedModuleSyntax { syntax: Format::Cjs, .. } => {
                "Name the file `.cjs`, or put a package.json with `type` `commonjs` in its folder."
            }
            Self::FalseExportDefault { .. } => {
                "Write `export =` in the types, or export `default` in the script."
            }
            Self::CJSOnlyExportsDefault { .. } => {
                "Assign `module.exports` as well (and say `export =`), offer an ES module under `import`, or export by name."
            }
            Self::MissingExportEquals { .. } => {
                "Write `export =` in the types; a namespace of the same name holds `default` and the other names."
            }
            Self::NamedExports { .. } => {
                "Assign each name as `exports.name = …` where Node's scanner sees it, or offer an ES module under `import`."
            }
        }
    }
}

fn format_name(format: Format) -> &'static str {
    match format {
        Format::Esm => "an ES module",
        Format::Cjs => "CommonJS",
    }
}

fn why(kind: &ModuleKind) -> String {
    match kind.reason {
        Reason::Extension => "by its extension".to_owned(),
        Reason::Type => format!("by `type` in {}", kind.reason_file),
        Reason::NoType => format!("{} has no `type`", kind.reason_file),
    }
}

/// Whether a subpath has the extension of something that is neither a script nor types nor JSON.
fn is_asset(entry: &str) -> bool {
    let name = entry.rsplit('/').next().unwrap_or(entry);
    let Some((_, extension)) = name.rsplit_once('.').filter(|(stem, _)| !stem.is_empty()) else {
        return false;
    };
    const ASSETS: [&str; 20] = [
        "css", "scss", "sass", "less", "styl", "svg", "png", "jpg", "jpeg", "gif", "webp", "woff", "woff2",
        "ttf", "html", "md", "txt", "wasm", "vue", "svelte",
    ];
    ASSETS.contains(&extension)
}
