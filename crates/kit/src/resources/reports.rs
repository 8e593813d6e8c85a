//! `report://…`: what tools found, as files; `report://HANDLE/NAME` is one of them.

use contract::{Code, Fault, Principal};
use exec::reports::{KeptFile, KeptReport};

use super::{Body, Content, Resource, Template};
use crate::engine::Engine;

pub(super) struct Reports;

impl Resource for Reports {
    fn template(&self) -> Template {
        Template {
            scheme: "report",
            title: "A report",
            description: "The files that a scan left: a page for people, SARIF for programs, pictures. Each is read by its \
                          own name below this URI.",
            mime: "text/markdown",
            has_parts: true,
        }
    }

    fn list(&self, engine: &Engine, owner: &Principal) -> Result<Vec<(String, String, String)>, Fault> {
        let reports = engine.state().reports(owner, super::MAX_LISTED);
        Ok(reports.into_iter().map(|(handle, report)| (handle, report.title, report.at)).collect())
    }

    fn read(&self, engine: &Engine, owner: &Principal, id: &str) -> Result<String, Fault> {
        let KeptReport { title, at, files } = engine.state().report(id, owner)?;
        let line = |file: &KeptFile| {
            format!("- `report://{id}/{}`: {}, {} bytes\n", file.name, file.mime, file.content.bytes)
        };
        let files: String = files.iter().map(line).collect();
        Ok(format!("# {title}\n\n{at}\n\n{files}"))
    }

    fn content(&self, engine: &Engine, owner: &Principal, id: &str) -> Result<Content, Fault> {
        let Some((handle, name)) = id.split_once('/') else {
            let text = self.read(engine, owner, id)?;
            return Ok(Content { mime: self.template().mime.to_owned(), body: Body::Text(text) });
        };
        let report = engine.state().report(handle, owner)?;
        let none = || Fault::new(Code::NotFound, format!("the report has no file {name:?}"));
        let file = report.files.iter().find(|file| file.name == name).ok_or_else(none)?;
        let bytes = engine.state().report_file(file)?;
        let body = match String::from_utf8(bytes) {
            Ok(text) => Body::Text(text),
            Err(error) => Body::Bytes(error.into_bytes()),
        };
        Ok(Content { mime: file.mime.clone(), body })
    }
}
