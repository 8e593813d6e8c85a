//! `kit://…`: review kits, as files; `kit://NAME/PATH` is one of them.

use contract::{Code, Fault, Principal};
use exec::reports::KeptFile;

use super::{Body, Content, Resource, Template};
use crate::engine::Engine;

/// How many files of a kit are listed.
const LISTED: usize = 100;

pub(super) struct Kits;

impl Resource for Kits {
    fn template(&self) -> Template {
        Template {
            scheme: "kit",
            title: "A review kit",
            description: "What a change to a design system does, as pages for people and `kit.json` for programs. Each file is \
                          read by its path below this URI.",
            mime: "text/markdown",
            has_parts: true,
        }
    }

    fn list(&self, engine: &Engine, owner: &Principal) -> Result<Vec<(String, String, String)>, Fault> {
        let kits = engine.state().kits(owner, super::MAX_LISTED);
        Ok(kits.into_iter().map(|kit| (kit.title.clone(), kit.title, kit.at)).collect())
    }

    fn read(&self, engine: &Engine, owner: &Principal, id: &str) -> Result<String, Fault> {
        let kit = engine.state().kit(id, owner)?;
        let line = |file: &KeptFile| {
            format!("- `kit://{id}/{}`: {}, {} bytes\n", file.name, file.mime, file.content.bytes)
        };
        let mut text = format!("# {id}\n\n{}\n\n", kit.at);
        text.extend(kit.files.iter().take(LISTED).map(line));
        if kit.files.len() > LISTED {
            text.push_str(&format!(
                "- … showing {LISTED} of {}; all are in `kit://{id}/kit.json`\n",
                kit.files.len()
            ));
        }
        Ok(text)
    }

    fn content(&self, engine: &Engine, owner: &Principal, id: &str) -> Result<Content, Fault> {
        let Some((name, path)) = id.split_once('/') else {
            let text = self.read(engine, owner, id)?;
            return Ok(Content { mime: self.template().mime.to_owned(), body: Body::Text(text) });
        };
        let kit = engine.state().kit(name, owner)?;
        let none = || Fault::new(Code::NotFound, format!("the kit has no file {path:?}"));
        let file = kit.files.iter().find(|file| file.name == path).ok_or_else(none)?;
        let bytes = engine.state().report_file(file)?;
        let body = match String::from_utf8(bytes) {
            Ok(text) => Body::Text(text),
            Err(error) => Body::Bytes(error.into_bytes()),
        };
        Ok(Content { mime: file.mime.clone(), body })
    }
}
