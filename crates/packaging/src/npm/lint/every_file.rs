//! Without `exports` every file can be asked for, so every script is looked at.

use super::Lint;
use super::message::Format;
use super::world::{extension, is_script};

impl<'a> Lint<'a> {
    pub(super) fn every_file(&mut self) {
        for file in self.world.paths() {
            // A name with a line's end in it fits no pattern.
            if file.contains(['\n', '\r', '\u{2028}', '\u{2029}'])
                || self.has_meaningless_extension(file, file, Some("/"), &["name"])
                || !is_script(file)
                || self.world.source(file).flow
            {
                continue;
            }
            if let Some(formats) = self.misread_unless_meant(file, true) {
                self.misread(formats, file, file, Some(format!("/{file}")), &["name"]);
            }
        }
    }

    /// The format that a file has and the one that is expected, where they differ and nothing says that it is meant so: ES modules
    /// for browsers and bundlers by their name, and files beside which the same is there with the right extension.
    pub(super) fn misread_unless_meant(&mut self, file: &'a str, twins: bool) -> Option<(Format, Format)> {
        let (actual, expected) = self.world.misread(file, file)?;
        if actual == Format::Esm && (file.contains("browser") || file.contains("bundler")) {
            return None;
        }
        let stem = file.strip_suffix(extension(file).as_str())?;
        let has_twin = twins && self.world.exists(&format!("{stem}{}", actual.extension()));
        (!has_twin).then_some((actual, expected))
    }
}
