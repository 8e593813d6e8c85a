//! What was found.

use super::super::code::Code;
use super::super::message::{Args, Message, Repository};
use super::{file, list, name, place, quoted};

/// One sentence or two.
pub(in super::super) fn detail(message: &Message) -> String {
    of_args(message).unwrap_or_else(|| of_code(message))
}

/// Of messages that say more than their code.
fn of_args(message: &Message) -> Option<String> {
    let at = place(&message.at);
    let file = file(message);
    Some(match &message.args {
        Args::None {} => return None,
        Args::Format { actual_format, expect_format } => format!(
            "No field names an entry, so Node.js loads {file}, which is {} and is read as {}.",
            name(*actual_format),
            name(*expect_format)
        ),
        Args::FileFormat { actual_format, expect_format, actual_extension, .. } => {
            let by = if message.code == Code::FileInvalidExplicitFormat {
                format!("its extension {}", quoted(actual_extension))
            } else {
                "the `type` of the nearest package.json".to_owned()
            };
            let (actual, expected) = (name(*actual_format), name(*expect_format));
            format!("{file} is {actual}, and by {by} Node.js reads it as {expected}.")
        }
        Args::JsxExtension { actual_extension, .. } => format!(
            "{file} ends in {}. No tool gives a meaning to the letter before `jsx` or `tsx`, and few read such a file.",
            quoted(actual_extension)
        ),
        Args::Subpath { .. } => {
            format!(
                "The target at {at} is a folder. Node.js 17 and later refuse it; nothing below it can be imported."
            )
        }
        Args::SuggestValue { .. } => {
            format!("The target at {at} does not begin with `./`, so Node.js refuses it.")
        }
        Args::SuggestKey { .. } => {
            format!("The key at {at} does not begin with `#`, so no import ever finds it.")
        }
        Args::MainFields { main_fields } => format!(
            "`exports` lists subpaths but not `.`, and stands before {}: the package itself cannot be imported.",
            if main_fields.is_empty() { "the fields for older tools".to_owned() } else { list(main_fields) }
        ),
        Args::InternalFiles { internal_file_paths } => format!(
            "Files are packed that serve only those who work on the package: {}.",
            list(internal_file_paths)
        ),
        Args::License { .. } => {
            format!("{file} is packed, and the manifest has no `license`: registries show none.")
        }
        Args::Types { types_file_path, actual_extension, .. } => {
            let why = if actual_extension.is_some() {
                format!("; {} would be read there in the wrong module format", quoted(types_file_path))
            } else {
                format!(", although there is {}", quoted(types_file_path))
            };
            format!("TypeScript finds no types for {at}, which leads to {file}{why}.")
        }
        Args::TypesFormat { condition, actual_format, expect_format, .. } => format!(
            "Under the condition `{condition}` TypeScript reads the types {file} as {}, and the code there is {}.",
            name(*actual_format),
            name(*expect_format)
        ),
        Args::ValueType { actual_type, expect_types } => {
            format!("{at} is of type {actual_type}, where only {} is read.", expect_types.join(" or "))
        }
        Args::Browser { browser_path, browserish_condition } => format!(
            "Bundlers apply {} under the condition `{browserish_condition}` too, and so replace the target at {at}.",
            place(browser_path)
        ),
        Args::Repository { r#type, .. } => match r#type {
            Repository::InvalidStringShorthand => format!("{at} is none of the short forms that npm knows."),
            Repository::InvalidGitUrl => format!("{at} is no address that git can clone from."),
            Repository::DeprecatedGithubGitProtocol => {
                format!("{at} uses the protocol `git:`, which GitHub no longer answers.")
            }
            Repository::ShorthandGitSites => {
                format!("{at} is understood, but npm rewrites it when the package is published.")
            }
        },
        Args::File { .. } => format!(
            "{file} is CommonJS with an `__esModule` mark and a default export. Imported, its default is the whole of \
             `module.exports` in Node.js and `exports.default` in some bundlers."
        ),
        Args::Nested { field, .. } => {
            format!(
                "{file} has `{field}`, which Node.js reads only at the package's top; some bundlers read it here too."
            )
        }
    })
}

fn of_code(message: &Message) -> String {
    let at = place(&message.at);
    let file = file(message);
    match message.code {
        Code::BinFileNotExecutable => {
            format!("The program {file} at {at} does not begin with `#!/usr/bin/env`, so it may not start as a program.")
        }
        Code::DeprecatedFieldJsnext => format!("{at} was replaced by `module` long ago; few tools still read it."),
        Code::ExportsDefaultShouldBeLast | Code::ImportsDefaultShouldBeLast => {
            format!("Conditions stand after {at}. The first that fits is taken and `default` always fits, so they are never reached.")
        }
        Code::ExportsFallbackArrayUse | Code::ImportsFallbackArrayUse => {
            format!("{at} is an array. Node.js takes its first well-formed element even if that file is missing; other tools do otherwise.")
        }
        Code::ExportsGlobNoMatchedFiles | Code::ImportsGlobNoMatchedFiles => {
            format!("The pattern at {at} fits no packed file.")
        }
        Code::ExportsModuleShouldBeEsm | Code::ImportsModuleShouldBeEsm => {
            format!("{at} leads to {file}, which is CommonJS; bundlers read what the condition `module` leads to as an ES module.")
        }
        Code::ExportsModuleShouldPrecedeRequire | Code::ImportsModuleShouldPrecedeRequire => {
            format!("{at} stands after `require`. The first condition that fits is taken, so bundlers that resolve a `require` never reach it.")
        }
        Code::ExportsTypesShouldBeFirst => {
            format!("{at} stands after other conditions. TypeScript takes the first that fits and may never reach the types.")
        }
        Code::FileDoesNotExist => format!("{at} names {file}, and the package has no such file."),
        Code::FileNotPublished => format!("{at} names {file}, which is in the folder and is not packed."),
        Code::HasEsmMainButNoExports => {
            format!("{at} is an ES module, and nothing in `exports` says so: tools that read `main` as CommonJS fail on it, and every file can be imported.")
        }
        Code::HasModuleButNoExports => {
            format!("{at} is read by bundlers only. Node.js ignores it and loads `main` for `import` as well.")
        }
        Code::LocalDependency => {
            format!("{at} is a path on the machine of the author. Installing the package elsewhere fails or misses it.")
        }
        Code::ModuleShouldBeEsm => format!("{at} names {file}, which is CommonJS; bundlers read it as an ES module."),
        Code::UseEnginesNode => {
            "The package is made for Node.js and does not say for which versions, in `engines.node`.".to_owned()
        }
        Code::UseExportsBrowser | Code::UseExportsOrImportsBrowser => {
            format!("{at} stands beside `exports`. Tools disagree on which of the two they follow.")
        }
        Code::UseSideEffects => {
            "The package is made for bundlers and does not say whether its modules do anything when they are loaded, so unused ones are kept.".to_owned()
        }
        Code::UseType => {
            "The manifest has no `type`. Node.js then takes `.js` for CommonJS, and newer versions look into the file first, which costs time.".to_owned()
        }
        // The others have arguments and were said above.
        other => format!("{other} at {at}."),
    }
}
