//! Reports that a tool made, kept for whoever asked for them: a few files under one handle.

use std::io::Read as _;
use std::sync::Arc;

use contract::{Code, Fault, Principal};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::handle::Handle;
use crate::kept::{Clean, KeptStream};
use crate::state::{StateDir, broken};

/// The kinds of handles.
const KIND: &str = "report";
const KIT: &str = "kit";

/// Most kits that are looked through for one of a name.
const MAX_KITS: usize = 500;

/// Largest file of a report that is read back, in bytes.
const MAX_FILE: u64 = 64 << 20;

/// A file of a report, as it is made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReportFile {
    /// Its plain name.
    pub name: String,
    /// Its media type.
    pub mime: &'static str,
    /// What is in it. Secrets are taken out of what is text.
    pub bytes: Vec<u8>,
}

/// A file of a report, as it is kept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeptFile {
    /// Its plain name.
    pub name: String,
    /// Its media type.
    pub mime: String,
    /// Where its content is.
    pub content: KeptStream,
}

/// A report.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeptReport {
    /// What it is about.
    pub title: String,
    /// When it was made.
    pub at: String,
    /// Its files.
    pub files: Vec<KeptFile>,
}

/// Whether bytes of this type are text, in which secrets can be told.
fn is_text(mime: &str) -> bool {
    mime.starts_with("text/") || mime.ends_with("json") || mime.ends_with("xml")
}

impl StateDir {
    /// Keeps a report for `owner`, under the handle that is given back.
    pub fn keep_report(
        &self,
        title: &str,
        files: &[ReportFile],
        owner: &Principal,
        clean: &Clean,
    ) -> Result<Handle, Fault> {
        let as_it_is: Clean = Arc::new(<[u8]>::to_vec);
        let mut kept = Vec::new();
        for file in files {
            let clean = if is_text(file.mime) { clean } else { &as_it_is };
            let content = self.keep_stream(&file.bytes[..], clean).map_err(|e| broken("kept report", &e))?;
            kept.push(KeptFile { name: file.name.clone(), mime: file.mime.to_owned(), content });
        }
        let title = String::from_utf8_lossy(&clean(title.as_bytes())).into_owned();
        let report = KeptReport { title, at: format!("{:.3}", Timestamp::now()), files: kept };
        self.keep_handle(KIND, owner, &report)
    }

    /// A report of `owner`. One that expired, is unknown or belongs to someone else does not exist.
    pub fn report(&self, handle: &str, owner: &Principal) -> Result<KeptReport, Fault> {
        self.handle(KIND, handle, owner).map_err(|fault: Fault| match fault.code {
            Code::NotFound => {
                Fault::new(Code::NotFound, format!("there is no report {handle:?}: it expired, or never was"))
                    .suggest("Call the tool again: its result names the new report.")
            }
            _ => fault,
        })
    }

    /// The reports of `owner`, the latest first, `most` at most.
    #[must_use]
    pub fn reports(&self, owner: &Principal, most: usize) -> Vec<(String, KeptReport)> {
        let mut reports: Vec<(String, KeptReport)> = self.handles(KIND, owner);
        reports.sort_by(|a, b| b.1.at.cmp(&a.1.at));
        reports.truncate(most);
        reports
    }

    /// Keeps a review kit for `owner` under its own name. One of that name is the same kit, made of the same content: it is
    /// kept once, and as long as one that is made now. Its files say their own hashes, so they are kept as they are: secrets were taken out of what they are made of.
    pub fn keep_kit(&self, name: &str, files: &[ReportFile], owner: &Principal) -> Result<(), Fault> {
        let as_it_is: Clean = Arc::new(<[u8]>::to_vec);
        let mut kept = Vec::new();
        for file in files {
            let content = self.keep_stream(&file.bytes[..], &as_it_is).map_err(|e| broken("kept kit", &e))?;
            kept.push(KeptFile { name: file.name.clone(), mime: file.mime.to_owned(), content });
        }
        let kit = KeptReport { title: name.to_owned(), at: format!("{:.3}", Timestamp::now()), files: kept };
        match self.kit_handle(name, owner) {
            // What it holds was kept anew: bytes are swept by their own age.
            Some(handle) => self.keep_under(&handle, owner, &kit),
            None => self.keep_handle(KIT, owner, &kit).map(drop),
        }
    }

    /// The kits of `owner`, the latest first, `most` at most. A kit's title is its name.
    #[must_use]
    pub fn kits(&self, owner: &Principal, most: usize) -> Vec<KeptReport> {
        let mut kits: Vec<KeptReport> = self.handles(KIT, owner).into_iter().map(|(_, kit)| kit).collect();
        kits.sort_by(|a, b| b.at.cmp(&a.at));
        kits.truncate(most);
        kits
    }

    fn kit_handle(&self, name: &str, owner: &Principal) -> Option<Handle> {
        let kits: Vec<(String, KeptReport)> = self.handles(KIT, owner);
        let (handle, _) = kits.into_iter().find(|(_, kit)| kit.title == name)?;
        Handle::parse(KIT, &handle)
    }

    /// A kit of `owner`, by its name.
    pub fn kit(&self, name: &str, owner: &Principal) -> Result<KeptReport, Fault> {
        self.kits(owner, MAX_KITS).into_iter().find(|kit| kit.title == name).ok_or_else(|| {
            Fault::new(Code::NotFound, format!("there is no review kit {name:?}: it expired, or never was"))
                .suggest("Call review_kit_create again; the same change gives the same kit.")
        })
    }

    /// What is in a file of a report.
    pub fn report_file(&self, file: &KeptFile) -> Result<Vec<u8>, Fault> {
        let mut bytes = Vec::new();
        let content = self.output(&file.content)?;
        content.take(MAX_FILE).read_to_end(&mut bytes).map_err(|e| broken("kept report", &e))?;
        Ok(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The files in `dir`, however deep.
    fn walk(dir: &std::path::Path) -> Vec<std::path::PathBuf> {
        let entries = std::fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path());
        entries.flat_map(|path| if path.is_dir() { walk(&path) } else { vec![path] }).collect()
    }

    #[test]
    fn a_kit_is_kept_once_under_its_name_and_as_it_is() {
        let dir = tempfile::tempdir().unwrap();
        let state = StateDir::at(dir.path().join("state")).unwrap();
        let (owner, other) = (Principal::Local { uid: 1 }, Principal::Local { uid: 2 });
        let files =
            [ReportFile { name: "a/index.html".into(), mime: "text/html", bytes: b"secret".to_vec() }];
        state.keep_kit("abc-1-x-01234567", &files, &owner).unwrap();
        // Made again shortly before it would expire, it is kept as long as a new one.
        let handle = state.kit_handle("abc-1-x-01234567", &owner).unwrap();
        let file = state.path().join("handles").join(format!("{handle}.json"));
        let text = std::fs::read_to_string(&file).unwrap();
        let expires = |text: &str| {
            let kept: serde_json::Value = serde_json::from_str(text).unwrap();
            kept["expires"].as_str().unwrap().parse::<Timestamp>().unwrap()
        };
        let soon = Timestamp::now().checked_add(jiff::SignedDuration::from_secs(60)).unwrap();
        let old = text.replace(&format!("{:.3}", expires(&text)), &format!("{soon:.3}"));
        std::fs::write(&file, &old).unwrap();
        let first = &state.kit("abc-1-x-01234567", &owner).unwrap().files[0];
        let then = std::time::SystemTime::now() - std::time::Duration::from_hours(25);
        for entry in walk(&state.path().join("outputs")) {
            std::fs::File::options().write(true).open(entry).unwrap().set_modified(then).unwrap();
        }
        assert_eq!(state.report_file(first).unwrap(), b"secret");
        state.keep_kit("abc-1-x-01234567", &files, &owner).unwrap();
        assert!(expires(&std::fs::read_to_string(&file).unwrap()) > expires(&old));
        assert_eq!(state.expire(None, jiff::SignedDuration::from_hours(24)).unwrap(), 0, "it is young again");
        assert_eq!((state.kits(&owner, 9).len(), state.kits(&other, 9).len()), (1, 0));
        let kit = state.kit("abc-1-x-01234567", &owner).unwrap();
        assert_eq!(state.report_file(&kit.files[0]).unwrap(), b"secret");
        assert_eq!(state.kit("abc-1-x-01234567", &other).unwrap_err().code, Code::NotFound);
        assert!(state.reports(&owner, 9).is_empty(), "a kit is no report");
    }

    #[test]
    fn a_report_is_its_owners_its_texts_without_secrets_and_its_pictures_as_they_are() {
        let dir = tempfile::tempdir().unwrap();
        let state = StateDir::at(dir.path().join("state")).unwrap();
        let clean: Clean =
            Arc::new(|bytes: &[u8]| String::from_utf8_lossy(bytes).replace("secret", "[gone]").into_bytes());
        let file =
            |name: &str, mime, bytes: &[u8]| ReportFile { name: name.into(), mime, bytes: bytes.to_vec() };
        let files =
            [file("a.html", "text/html", b"a secret"), file("a.png", "image/png", b"\x89PNG secret \xff")];
        let (owner, other) = (Principal::Local { uid: 1 }, Principal::Local { uid: 2 });
        let handle = state.keep_report("the secret", &files, &owner, &clean).unwrap().to_string();
        let report = state.report(&handle, &owner).unwrap();
        assert_eq!((report.title.as_str(), report.files.len()), ("the [gone]", 2));
        assert_eq!(state.report_file(&report.files[0]).unwrap(), b"a [gone]");
        assert_eq!(state.report_file(&report.files[1]).unwrap(), files[1].bytes);
        assert_eq!(state.report(&handle, &other).unwrap_err().code, Code::NotFound);
        assert_eq!((state.reports(&owner, 9).len(), state.reports(&other, 9).len()), (1, 0));
    }
}
