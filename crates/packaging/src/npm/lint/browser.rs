//! The field `browser`.

use super::Lint;
use super::code::Code;
use super::message::Args;
use super::world::join;
use crate::check::Severity;

impl Lint<'_> {
    pub(super) fn browser(&mut self) {
        let field = self.published("browser");
        let Some(value) = field.truthy() else { return };
        let has_exports = self.published("exports").truthy().is_some();
        if let Some(written) = value.text() {
            let path = join(written);
            if let Some(file) = self.named_file(&path, &field.at)
                && !has_exports
                && !self.world.source(file).flow
            {
                self.marked_default(file, &path, &field.at);
            }
        }
        for (key, target) in value.members() {
            // What does not begin with a dot is a package; `false` leaves a module out.
            if let Some(written) = target.text().filter(|text| text.starts_with('.')) {
                let at = [&field.at[..], &[&key]].concat();
                self.named_file(&join(written), &at);
            }
        }
        if has_exports {
            let code = if value.text().is_some() {
                Code::UseExportsBrowser
            } else {
                Code::UseExportsOrImportsBrowser
            };
            self.say(code, Severity::Note, &field.at, &[], Args::None {});
        }
    }
}
