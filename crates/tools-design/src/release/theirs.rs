//! What the package manager that is installed says itself, asked in a confined run.

use std::sync::Arc;
use std::time::Duration;

use contract::{Code, Fault, RelPath};
use exec::Workshop;
use exec::run::{Command, find};
use kit::ReadDesk;
use serde_json::Value;

/// How long npm may take.
const TIME: Duration = Duration::from_mins(1);

/// An npm that is installed.
pub(crate) struct Npm {
    workshop: Arc<Workshop>,
    pub(crate) version: String,
}

/// What npm would pack.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Listed {
    /// Its files, sorted.
    pub(crate) files: Vec<String>,
}

/// Whether a program is installed.
pub(crate) fn has(desk: &ReadDesk, program: &str) -> bool {
    find(program, &desk.programs(), desk.view().root().path()).is_ok()
}

/// Whether a program that was asked gave no answer, which is no reason to end the call.
fn is_no_answer(fault: &Fault) -> bool {
    matches!(fault.code, Code::Timeout | Code::ToolExecutionFailed | Code::ResourceExhausted)
}

impl Npm {
    /// The npm of this machine. `Ok(None)`: there is none.
    pub(crate) async fn find(desk: &ReadDesk) -> Result<Option<Self>, Fault> {
        if !has(desk, "npm") {
            return Ok(None);
        }
        let workshop = desk.workshop().await?;
        let mut command = Command::new("npm", &["--version"]);
        command.timeout = TIME;
        let ran = match desk.run_in(&workshop, command).await {
            Ok(ran) => ran,
            Err(fault) if is_no_answer(&fault) => return Ok(None),
            Err(fault) => return Err(fault),
        };
        let version = ran.stdout.text().trim().to_owned();
        Ok(ran.is_success().then_some(Self { workshop, version }))
    }

    /// The files that npm would pack of a folder, or why it would not.
    pub(crate) async fn list(&self, desk: &ReadDesk, folder: &str) -> Result<Result<Listed, String>, Fault> {
        let mut command = Command::new(
            "npm",
            &["pack", "--dry-run", "--json", "--ignore-scripts", "--offline", "--loglevel=error"],
        );
        command.timeout = TIME;
        if !folder.is_empty() {
            command.dir = Some(RelPath::new(folder).map_err(|e| Fault::invalid(e.to_string()))?);
        }
        let ran = match desk.run_in(&self.workshop, command).await {
            Ok(ran) => ran,
            Err(fault) if is_no_answer(&fault) => return Ok(Err(format!("npm pack: {}", fault.message))),
            Err(fault) => return Err(fault),
        };
        let said = ran.stdout.text();
        Ok(match files(&said) {
            Some(files) => Ok(Listed { files }),
            None => {
                let error = ran.stderr.text();
                let error = error
                    .lines()
                    .chain(said.lines())
                    .find(|line| !line.trim().is_empty())
                    .unwrap_or("nothing");
                Err(format!("npm pack said: {}", error.chars().take(200).collect::<String>()))
            }
        })
    }

    /// Where programs run.
    pub(crate) fn workshop(&self) -> &Arc<Workshop> {
        &self.workshop
    }
}

/// What `npm pack --json` prints: a list of packages, of npm 12 an object by name.
fn files(printed: &str) -> Option<Vec<String>> {
    let printed: Value = serde_json::from_str(printed).ok()?;
    let package = match &printed {
        Value::Array(packages) => packages.first()?,
        Value::Object(packages) => packages.values().next()?,
        _ => return None,
    };
    let mut files: Vec<String> = package
        .get("files")?
        .as_array()?
        .iter()
        .filter_map(|f| f.get("path")?.as_str().map(str::to_owned))
        .collect();
    files.sort_unstable();
    Some(files)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ways_in_which_npm_prints_are_read() {
        let package = r#"{"files":[{"path":"b.js","size":1},{"path":"a.js","size":2}]}"#;
        let wanted = Some(vec!["a.js".to_owned(), "b.js".to_owned()]);
        assert_eq!(files(&format!("[{package}]")), wanted);
        assert_eq!(files(&format!("{{\"x\":{package}}}")), wanted);
        assert_eq!(files(r#"{"error":{"code":"E"}}"#), None);
        assert_eq!(files("npm error"), None);
    }
}
