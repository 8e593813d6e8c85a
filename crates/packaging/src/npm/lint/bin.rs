//! The field `bin`.

use super::Lint;
use super::code::Code;
use super::json::Json;
use super::message::Args;
use super::world::{is_script, join};
use crate::check::Severity;

impl Lint<'_> {
    pub(super) fn bin(&mut self) {
        let field = self.published("bin");
        let Some(value) = field.truthy() else { return };
        if let Json::String(written) = value {
            return self.program(written, &field.at);
        }
        for (key, target) in value.members() {
            let at = [&field.at[..], &[&key]].concat();
            match target {
                Json::String(written) => self.program(written, &at),
                other => self.wrong_kind(other.kind(), &["string"], &at),
            }
        }
    }

    fn program(&mut self, written: &str, at: &[&str]) {
        let path = join(written);
        let Some(file) = self.named_file(&path, at) else { return };
        if !is_script(written) {
            return;
        }
        if !self.world.starts_by_env(file) {
            self.say(Code::BinFileNotExecutable, Severity::Error, at, &[file], Args::None {});
        }
        if let Some(formats) = self.world.misread(file, &path) {
            self.misread(formats, &path, file, None, at);
        }
    }
}
