//! Differences from the peers that are known, each with its reason: `xtask/npm/bench-design/known.txt`.

use crate::sh::{Done, top};

/// Where they are.
const FILE: &str = "xtask/npm/bench-design/known.txt";

/// What stands for everything.
const ANY: &str = "*";

/// One line: `area | page or package | what it begins with | why`.
struct Entry {
    area: String,
    subject: String,
    what: String,
    why: String,
}

/// All lines.
pub(super) struct Known(Vec<Entry>);

impl Known {
    pub(super) fn read() -> Done<Self> {
        let text = std::fs::read_to_string(top().join(FILE)).map_err(|e| format!("{FILE}: {e}"))?;
        let lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
        lines.map(Entry::read).collect::<Done<_>>().map(Self)
    }

    /// Why this is not the same, where that is known.
    pub(super) fn why(&self, area: &str, subject: &str, what: &str) -> Option<&str> {
        let fits = |pattern: &str, is: bool| pattern == ANY || is;
        let entry = self.0.iter().find(|entry| {
            entry.area == area
                && fits(&entry.subject, subject.starts_with(&entry.subject))
                && fits(&entry.what, what.starts_with(&entry.what))
        })?;
        Some(&entry.why)
    }
}

impl Entry {
    fn read(line: &str) -> Done<Self> {
        let parts: Vec<&str> = line.splitn(4, " | ").map(str::trim).collect();
        let [area, subject, what, why] = parts.as_slice() else {
            return Err(format!(
                "{FILE}: {line:?}: write `area | page or package | what it begins with | why`"
            ));
        };
        let own = |text: &str| text.to_owned();
        Ok(Self { area: own(area), subject: own(subject), what: own(what), why: own(why) })
    }
}
