//! Which files of `.agent-artifacts/` are which session's.

use std::collections::BTreeMap;

use crate::id::SessionId;
use crate::problem::{Code, Problem, Problems};

/// Most raw files of one session.
pub const MAX_RAW: usize = 200;
/// Most problems that are told.
const MAX_TOLD: usize = 100;

/// The file that says what a session was.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Main {
    /// Markdown.
    Markdown(String),
    /// A `finalization-pack.json`.
    Pack(String),
}

/// The files of a session, relative to the folder of all.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Files {
    /// The name of its file, or of its folder.
    pub id: SessionId,
    /// `<id>.md`, else in its folder `session-summary.md`, `finalization-pack.md` or `finalization-pack.json`, the first that there is.
    pub main: Main,
    /// `<id>.metrics.json`, else `<id>/metrics.json`.
    pub metrics: Option<String>,
    /// `<id>/finalization-pack.json`, for its figures.
    pub pack: Option<String>,
    /// `*.jsonl`, `*.log` and `*.txt` of its folder, sorted, at most [`MAX_RAW`].
    pub raw: Vec<String>,
}

/// What a folder of sessions holds.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Sessions {
    /// By id.
    pub found: Vec<Files>,
    /// What is no session's, though it is named like one; at most 100.
    pub problems: Vec<Problem>,
}

#[derive(Default)]
struct Group<'a> {
    mains: [Option<&'a str>; 4],
    metrics: [Option<&'a str>; 2],
    raw: Vec<&'a str>,
}

/// What a listing holds: paths relative to `.agent-artifacts/`, with `/`, in any order. Other files are passed over.
pub fn sessions<'a>(paths: impl IntoIterator<Item = &'a str>) -> Sessions {
    let mut found = Sessions::default();
    let mut groups: BTreeMap<&str, Group<'_>> = BTreeMap::new();
    for path in paths {
        match path.split_once('/') {
            None => {
                if let Some(id) = path.strip_suffix(".metrics.json") {
                    groups.entry(id).or_default().metrics[0] = Some(path);
                } else if let Some(id) =
                    path.strip_suffix(".md").filter(|id| !id.eq_ignore_ascii_case("readme"))
                {
                    groups.entry(id).or_default().mains[0] = Some(path);
                }
            }
            Some((id, file)) => {
                let is_raw = |file: &str| [".jsonl", ".log", ".txt"].iter().any(|end| file.ends_with(end));
                match file {
                    "session-summary.md" => groups.entry(id).or_default().mains[1] = Some(path),
                    "finalization-pack.md" => groups.entry(id).or_default().mains[2] = Some(path),
                    "finalization-pack.json" => groups.entry(id).or_default().mains[3] = Some(path),
                    "metrics.json" => groups.entry(id).or_default().metrics[1] = Some(path),
                    file if !file.contains('/') && is_raw(file) => {
                        groups.entry(id).or_default().raw.push(path);
                    }
                    _ => {}
                }
            }
        }
    }
    for (id, group) in groups {
        let [plain, summary, pack_text, pack] = group.mains;
        let markdown = plain.or(summary).or(pack_text);
        let main =
            markdown.map(|m| Main::Markdown(m.to_owned())).or_else(|| pack.map(|p| Main::Pack(p.to_owned())));
        // Figures and logs alone are no session.
        let Some(main) = main else { continue };
        match SessionId::new(id) {
            Ok(id) => {
                let mut raw: Vec<String> = group.raw.into_iter().map(str::to_owned).collect();
                raw.sort_unstable();
                raw.truncate(MAX_RAW);
                let [first, second] = group.metrics;
                let metrics = first.or(second).map(str::to_owned);
                found.found.push(Files { id, main, metrics, pack: pack.map(str::to_owned), raw });
            }
            Err(error) if found.problems.len() < MAX_TOLD => {
                let (Main::Markdown(path) | Main::Pack(path)) = &main;
                let mut problems = Problems::of(path);
                problems.whole(Code::NameInvalid, error.to_string());
                found.problems.extend(problems.into_found());
            }
            Err(_) => {}
        }
    }
    found
}
