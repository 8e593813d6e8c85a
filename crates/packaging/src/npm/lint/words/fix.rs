//! What to do about it.

use super::super::code::Code;
use super::super::message::{Args, Format, Message, Repository};
use super::{file, place, quoted};

/// A sentence in the imperative.
pub(in super::super) fn fix(message: &Message) -> String {
    of_args(message).unwrap_or_else(|| of_code(message))
}

/// Of messages that say more than their code.
fn of_args(message: &Message) -> Option<String> {
    let at = place(&message.at);
    let file = file(message);
    Some(match &message.args {
        Args::None {} => return None,
        Args::Format { actual_format: Format::Esm, .. } => {
            "Set `\"type\": \"module\"`, or name the entry in `exports` and let it end in `.mjs`.".to_owned()
        }
        Args::Format { actual_format: Format::Cjs, .. } => {
            "Set `\"type\": \"commonjs\"`, or name the entry in `exports` and let it end in `.cjs`."
                .to_owned()
        }
        Args::FileFormat { expect_extension, .. } if message.code == Code::FileInvalidExplicitFormat => {
            format!("Let it end in `{expect_extension}`, or have the build write the other format there.")
        }
        Args::FileFormat { actual_format, expect_extension, .. } => {
            let kind = if *actual_format == Format::Esm { "module" } else { "commonjs" };
            format!(
                "Let it end in `{expect_extension}`, or say `\"type\": \"{kind}\"` in the nearest package.json if that holds for \
                 all its `.js` files."
            )
        }
        Args::JsxExtension { actual_extension, .. } => {
            let plain = if actual_extension.ends_with("tsx") { ".tsx" } else { ".jsx" };
            format!("Let {file} end in `{plain}`, or compile it and publish the `.mjs` or `.cjs`.")
        }
        Args::Subpath { expect_path, expect_value } => {
            format!("Write {} with the value {}.", place(expect_path), quoted(expect_value))
        }
        // `./../a` would begin right and still lead out of the package.
        Args::SuggestValue { suggest_value } if suggest_value.split('/').any(|name| name == "..") => {
            "Name a file inside the package, with a path that begins with `./`.".to_owned()
        }
        Args::SuggestValue { suggest_value } => format!("Write {} there.", quoted(suggest_value)),
        Args::SuggestKey { suggest_key } => format!("Name it {}.", quoted(suggest_key)),
        Args::MainFields { .. } => {
            "Add the key `.` to `exports`, with the file that the other fields name.".to_owned()
        }
        Args::InternalFiles { .. } => {
            "List in `files` what those who install the package need, or keep these out with an .npmignore."
                .to_owned()
        }
        Args::License { .. } => "Set `license` to the SPDX expression of that licence.".to_owned(),
        Args::Types { expect_extension: Some(end), .. } => {
            format!(
                "Make a declaration that ends in `.d{end}` and name it under `types`, first in that place."
            )
        }
        Args::Types { types_file_path, .. } => {
            format!("Put `types` with {} before the other conditions there.", quoted(types_file_path))
        }
        Args::TypesFormat { expect_path, expect_extension, .. } => {
            format!("Name a declaration that ends in `.d{expect_extension}` at {}.", place(expect_path))
        }
        Args::ValueType { expect_types, .. } => {
            format!("Write a value of type {} there, or take {at} out.", expect_types.join(" or "))
        }
        Args::Browser { browser_path, .. } => {
            format!("Take {} out and use the condition `browser` in `exports`.", place(browser_path))
        }
        Args::Repository { r#type, suggest_value } => match (r#type, suggest_value) {
            // The address of a page below the repository.
            (_, Some(value)) if value.contains("/tree/") || value.contains("/blob/") => {
                "Write the address of the repository itself, and the folder below it as `directory`."
                    .to_owned()
            }
            (_, Some(value)) => format!("Write {}.", quoted(value)),
            (Repository::InvalidStringShorthand, None) => {
                "Write `github:owner/name`, or an object with `\"type\": \"git\"` and the `url`.".to_owned()
            }
            (Repository::DeprecatedGithubGitProtocol, None) => "Use `git+https:` in its place.".to_owned(),
            (_, None) => "Write an address like `git+https://host/owner/name.git`.".to_owned(),
        },
        Args::File { .. } => {
            "Publish an ES module for `import`, or export by names only, or assign `module.exports` itself."
                .to_owned()
        }
        Args::Nested { field, .. } => {
            format!("Move the `{field}` of {file} into the package.json at the top, as subpaths.")
        }
    })
}

fn of_code(message: &Message) -> String {
    let at = place(&message.at);
    let file = file(message);
    match message.code {
        Code::BinFileNotExecutable => format!("Let {file} begin with the line `#!/usr/bin/env node`."),
        Code::DeprecatedFieldJsnext => format!("Name the ES module in `module` and take {at} out."),
        Code::ExportsDefaultShouldBeLast | Code::ImportsDefaultShouldBeLast => {
            "Move `default` behind the other conditions.".to_owned()
        }
        Code::ExportsFallbackArrayUse | Code::ImportsFallbackArrayUse => {
            "Write the one target that is meant, or conditions.".to_owned()
        }
        Code::ExportsGlobNoMatchedFiles | Code::ImportsGlobNoMatchedFiles => {
            format!("Build the files before packing, check `files`, or take {at} out.")
        }
        Code::ExportsModuleShouldBeEsm | Code::ImportsModuleShouldBeEsm | Code::ModuleShouldBeEsm => {
            format!("Name an ES module at {at}, or take it out.")
        }
        Code::ExportsModuleShouldPrecedeRequire | Code::ImportsModuleShouldPrecedeRequire => {
            "Move `module` before `require`.".to_owned()
        }
        Code::ExportsTypesShouldBeFirst => "Move `types` before the other conditions.".to_owned(),
        Code::FileDoesNotExist => {
            format!("Build the file before packing and let `files` include it, or correct {at}.")
        }
        Code::FileNotPublished => {
            format!("Let `files` include {file}, and see whether an .npmignore keeps it out.")
        }
        Code::HasEsmMainButNoExports => {
            "Name the entry in `exports`; `main` may stay for tools that do not know it.".to_owned()
        }
        Code::HasModuleButNoExports => {
            "Name both files in `exports`, under `import` and `require`.".to_owned()
        }
        Code::LocalDependency => {
            format!("Give {at} a range of versions that a registry has, or bundle its code.")
        }
        Code::UseEnginesNode => "Set `engines.node` to the versions that it is tested on.".to_owned(),
        Code::UseExportsBrowser => {
            format!("Name the file of {at} in `exports` under the condition `browser`, and take {at} out.")
        }
        Code::UseExportsOrImportsBrowser => {
            format!(
                "Write each replacement of {at} as a condition `browser` in `exports` or `imports`, and take {at} out."
            )
        }
        Code::UseSideEffects => {
            "Set `sideEffects` to false, or to the files that do something when they are loaded.".to_owned()
        }
        Code::UseType => "Set `type` to `commonjs` or `module`, as the `.js` files are.".to_owned(),
        // The others have arguments and were said above.
        _ => format!("Correct {at}."),
    }
}
