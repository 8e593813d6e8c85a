//! The codes of publint 0.3.25, all of them.

use std::fmt;

use serde::{Serialize, Serializer};

macro_rules! codes {
    ($($(#[$doc:meta])* $name:ident = $text:literal,)*) => {
        /// What a message is about.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Code {
            $($(#[$doc])* $name,)*
        }

        impl Code {
            /// Every code, by name.
            pub const ALL: &'static [Self] = &[$(Self::$name),*];

            /// publint's name.
            pub fn as_str(self) -> &'static str {
                match self {
                    $(Self::$name => $text,)*
                }
            }
        }
    };
}

codes! {
    /// A program of `bin` does not begin with `#!/usr/bin/env`.
    BinFileNotExecutable = "BIN_FILE_NOT_EXECUTABLE",
    /// `CommonJS` that marks itself `__esModule` and exports a default: `import` gives different things in different tools.
    CjsWithEsmoduleDefaultExport = "CJS_WITH_ESMODULE_DEFAULT_EXPORT",
    /// `jsnext` or `jsnext:main`, which `module` replaced.
    DeprecatedFieldJsnext = "DEPRECATED_FIELD_JSNEXT",
    /// Conditions after `default` are never reached.
    ExportsDefaultShouldBeLast = "EXPORTS_DEFAULT_SHOULD_BE_LAST",
    /// An array in `exports`: only its first well-formed element is ever used.
    ExportsFallbackArrayUse = "EXPORTS_FALLBACK_ARRAY_USE",
    /// A target that ends in `/`, which Node.js 17 and later refuse.
    ExportsGlobNoDeprecatedSubpathMapping = "EXPORTS_GLOB_NO_DEPRECATED_SUBPATH_MAPPING",
    /// A pattern that fits no packed file.
    ExportsGlobNoMatchedFiles = "EXPORTS_GLOB_NO_MATCHED_FILES",
    /// `main` or `module` beside an `exports` of subpaths that lacks `.`.
    ExportsMissingRootEntrypoint = "EXPORTS_MISSING_ROOT_ENTRYPOINT",
    /// The condition `module` leads to `CommonJS`.
    ExportsModuleShouldBeEsm = "EXPORTS_MODULE_SHOULD_BE_ESM",
    /// `module` after `require` is never reached by bundlers.
    ExportsModuleShouldPrecedeRequire = "EXPORTS_MODULE_SHOULD_PRECEDE_REQUIRE",
    /// Types that TypeScript takes for the other module format.
    ExportsTypesInvalidFormat = "EXPORTS_TYPES_INVALID_FORMAT",
    /// `types` after a condition that may be taken before it.
    ExportsTypesShouldBeFirst = "EXPORTS_TYPES_SHOULD_BE_FIRST",
    /// A target for workers that the field `browser` replaces.
    ExportsValueConflictsWithBrowser = "EXPORTS_VALUE_CONFLICTS_WITH_BROWSER",
    /// A target that does not begin with `./`.
    ExportsValueInvalid = "EXPORTS_VALUE_INVALID",
    /// A field of a kind that nothing reads.
    FieldInvalidValueType = "FIELD_INVALID_VALUE_TYPE",
    /// A field names what is not there.
    FileDoesNotExist = "FILE_DOES_NOT_EXIST",
    /// The extension says one module format and the code is of the other.
    FileInvalidExplicitFormat = "FILE_INVALID_EXPLICIT_FORMAT",
    /// `type` says one module format and the code is of the other.
    FileInvalidFormat = "FILE_INVALID_FORMAT",
    /// `.mjsx`, `.cjsx`, `.mtsx` or `.ctsx`.
    FileInvalidJsxExtension = "FILE_INVALID_JSX_EXTENSION",
    /// A field names what is in the folder but not packed. Never found in an archive, where it does not exist.
    FileNotPublished = "FILE_NOT_PUBLISHED",
    /// `main` is an ES module and there is no `exports`.
    HasEsmMainButNoExports = "HAS_ESM_MAIN_BUT_NO_EXPORTS",
    /// `module` without `exports`: Node.js never uses it.
    HasModuleButNoExports = "HAS_MODULE_BUT_NO_EXPORTS",
    /// `index.js` is the entry by default, and is not of the format that Node.js takes it for.
    ImplicitIndexJsInvalidFormat = "IMPLICIT_INDEX_JS_INVALID_FORMAT",
    /// See [`Self::ExportsDefaultShouldBeLast`].
    ImportsDefaultShouldBeLast = "IMPORTS_DEFAULT_SHOULD_BE_LAST",
    /// See [`Self::ExportsFallbackArrayUse`].
    ImportsFallbackArrayUse = "IMPORTS_FALLBACK_ARRAY_USE",
    /// See [`Self::ExportsGlobNoDeprecatedSubpathMapping`].
    ImportsGlobNoDeprecatedSubpathMapping = "IMPORTS_GLOB_NO_DEPRECATED_SUBPATH_MAPPING",
    /// Declared by publint, and never raised: files of `imports` may have been bundled.
    ImportsGlobNoMatchedFiles = "IMPORTS_GLOB_NO_MATCHED_FILES",
    /// A key of `imports` that does not begin with `#`.
    ImportsKeyInvalid = "IMPORTS_KEY_INVALID",
    /// See [`Self::ExportsModuleShouldBeEsm`].
    ImportsModuleShouldBeEsm = "IMPORTS_MODULE_SHOULD_BE_ESM",
    /// See [`Self::ExportsModuleShouldPrecedeRequire`].
    ImportsModuleShouldPrecedeRequire = "IMPORTS_MODULE_SHOULD_PRECEDE_REQUIRE",
    /// A target that begins with a dot but not with `./`.
    ImportsValueInvalid = "IMPORTS_VALUE_INVALID",
    /// `repository` is not written as npm wants it.
    InvalidRepositoryValue = "INVALID_REPOSITORY_VALUE",
    /// A dependency on a folder of the author's machine.
    LocalDependency = "LOCAL_DEPENDENCY",
    /// `module` names `CommonJS`.
    ModuleShouldBeEsm = "MODULE_SHOULD_BE_ESM",
    /// `exports` or `imports` in a `package.json` below the top, where Node.js does not look.
    NestedPackageJsonFieldIgnored = "NESTED_PACKAGE_JSON_FIELD_IGNORED",
    /// There are types, and `exports` does not lead to them.
    TypesNotExported = "TYPES_NOT_EXPORTED",
    /// A package for Node.js that does not say for which versions.
    UseEnginesNode = "USE_ENGINES_NODE",
    /// `browser`, a text, beside `exports`.
    UseExportsBrowser = "USE_EXPORTS_BROWSER",
    /// `browser`, an object, beside `exports`.
    UseExportsOrImportsBrowser = "USE_EXPORTS_OR_IMPORTS_BROWSER",
    /// Tests or settings of tools are packed, and there is no `files`.
    UseFiles = "USE_FILES",
    /// A licence is packed, and no `license` names it.
    UseLicense = "USE_LICENSE",
    /// A package for bundlers that does not say whether its modules have side effects.
    UseSideEffects = "USE_SIDE_EFFECTS",
    /// No `type`.
    UseType = "USE_TYPE",
}

impl fmt::Display for Code {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.as_str())
    }
}

impl Serialize for Code {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_43_codes_sorted_by_name() {
        let names: Vec<&str> = Code::ALL.iter().map(|code| code.as_str()).collect();
        assert_eq!(names.len(), 43);
        assert!(names.is_sorted(), "{names:?}");
    }
}
