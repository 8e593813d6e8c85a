//! The fields that name an entry: `main`, `module`, and those that only have to exist.

use super::Lint;
use super::code::Code;
use super::json::Json;
use super::message::{Args, Format};
use super::world::{is_script, join};
use crate::check::Severity;

impl Lint<'_> {
    /// Without any entry Node.js takes `index.js`.
    pub(super) fn implicit_index(&mut self) {
        if ["main", "module", "exports"].into_iter().any(|name| !self.published(name).is_missing()) {
            return;
        }
        let Some(file) = self.world.file("index.js") else { return };
        if let Some((actual_format, expect_format)) = self.world.misread(file, file) {
            let args = Args::Format { actual_format, expect_format };
            self.say(Code::ImplicitIndexJsInvalidFormat, Severity::Warning, &["name"], &[file], args);
        }
        self.marked_default(file, file, &["name"]);
    }

    pub(super) fn main(&mut self) {
        let field = self.published("main");
        let Some(written) = self.text_of(&field) else { return };
        let path = join(written);
        let Some(file) = self.named_file(&path, &field.at) else { return };
        if self.has_meaningless_extension(written, file, None, &field.at) || !is_script(written) {
            return;
        }
        if let Some(formats) = self.world.misread(file, &path) {
            self.misread(formats, &path, file, None, &field.at);
        }
        if !self.published("exports").is_missing() {
            return;
        }
        if self.world.source(file).format == Some(Format::Esm) {
            self.say(Code::HasEsmMainButNoExports, Severity::Note, &field.at, &[file], Args::None {});
        }
        // Bundlers take `module` before `main`.
        if self.published("module").is_missing() {
            self.marked_default(file, &path, &field.at);
        }
    }

    pub(super) fn module(&mut self) {
        let field = self.published("module");
        let Some(written) = self.text_of(&field) else { return };
        let Some(file) = self.named_file(&join(written), &field.at) else { return };
        if self.has_meaningless_extension(written, file, None, &field.at) || !is_script(written) {
            return;
        }
        if self.world.source(file).format == Some(Format::Cjs) {
            self.say(Code::ModuleShouldBeEsm, Severity::Error, &field.at, &[file], Args::None {});
        }
        if self.published("exports").truthy().is_none() {
            self.say(Code::HasModuleButNoExports, Severity::Note, &field.at, &[file], Args::None {});
        }
    }

    /// Where `main` or `module` is, `exports` should have an entry for the package itself.
    pub(super) fn root_of_exports(&mut self) {
        let [main, module, exports] = ["main", "module", "exports"].map(|name| self.published(name));
        let Some(Json::Object(members)) = exports.value else { return };
        let of_subpaths = members.first().is_some_and(|(key, _)| key.starts_with('.'));
        if (main.is_missing() && module.is_missing()) || !of_subpaths || members.contains_key(".") {
            return;
        }
        let named = [("main", main), ("module", module)];
        let main_fields =
            named.iter().filter(|(_, field)| field.truthy().is_some()).map(|(name, _)| *name).collect();
        let args = Args::MainFields { main_fields };
        self.say(Code::ExportsMissingRootEntrypoint, Severity::Warning, &exports.at, &[], args);
    }

    pub(super) fn other_entries(&mut self) {
        // `typesVersions` leads `types` elsewhere, which nobody follows here.
        let followed = self.published("typesVersions").truthy().is_none();
        for name in ["types", "typings", "jsnext:main", "jsnext", "unpkg", "jsdelivr"] {
            if name.starts_with("typ") && !followed {
                continue;
            }
            let field = self.published(name);
            let Some(written) = self.text_of(&field) else { continue };
            let Some(file) = self.named_file(&join(written), &field.at) else { continue };
            if name.starts_with("jsnext") {
                let has_module = self.published("module").truthy().is_some();
                let severity = if has_module { Severity::Note } else { Severity::Warning };
                self.say(Code::DeprecatedFieldJsnext, severity, &field.at, &[file], Args::None {});
            }
        }
    }
}
