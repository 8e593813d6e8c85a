//! What a skill asks for. Asking grants nothing: what is granted is decided elsewhere.

use serde::Serialize;
use thiserror::Error;

use crate::problem::{Code, Place, Problems};
use crate::text::{bare, shown};

/// Longest time that can be asked for, in milliseconds: ten minutes.
pub const MAX_TIMEOUT: u64 = 600_000;
/// Most memory that can be asked for, in bytes: 4 GiB.
pub const MAX_MEMORY: u64 = 4 << 30;
/// Most globs, and most hosts.
pub const MAX_LISTED: usize = 32;
/// Longest glob or host, in bytes.
pub const MAX_ITEM: usize = 200;

/// Where a skill's code runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Runtime {
    /// In the engine that is built in: no packages, no processes.
    Embedded,
    /// In Node.js, with the project's packages.
    Node,
}

/// What a skill asks for, by its metadata. Written as JSON it is the same for the same wishes, whatever their order was.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Asks {
    /// None where it does not say.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub runtime: Option<Runtime>,
    /// The file to begin with, relative to the skill's folder.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub entry: Option<String>,
    /// Globs of files to read, relative to the project, sorted.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub reads: Vec<String>,
    /// What time it is.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub clock: bool,
    /// Randomness.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub random: bool,
    /// Hosts to connect to, in lower case, with a port where it is not 443; sorted.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub network: Vec<String>,
    /// In milliseconds, 1 to [`MAX_TIMEOUT`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout: Option<u64>,
    /// In bytes, 1 to [`MAX_MEMORY`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory: Option<u64>,
}

/// Why a wish cannot be read, and how it is written.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum GrantError {
    /// No time.
    #[error("`{0}` is no time: write a whole number and a unit, as 500ms, 2s or 1m, at most 10m")]
    Time(String),
    /// No size.
    #[error("`{0}` is no size: write a whole number and a unit, as 64 MiB, 512 KiB or 100 MB, at most 4 GiB")]
    Size(String),
    /// Neither yes nor no.
    #[error("`{0}` is neither yes nor no: write yes or no")]
    Switch(String),
    /// No runtime.
    #[error("`{0}` is no runtime: write embedded or node")]
    Runtime(String),
    /// No glob.
    #[error(
        "`{0}` is no glob of files of the project: write it relative, with `/`, without `..`, as docs/**/*.md"
    )]
    Glob(String),
    /// No host.
    #[error(
        "`{0}` is no host: write its name alone or with a port, as api.example.com or api.example.com:8443"
    )]
    Host(String),
    /// No file of the skill.
    #[error("`{0}` is no file of the skill: write it relative to the skill's folder, as scripts/run.ts")]
    Entry(String),
    /// Too many.
    #[error("{0} are asked for, at most {MAX_LISTED} can be: ask for fewer, wider ones")]
    Many(usize),
}

impl Asks {
    /// Whether nothing is asked for.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Takes a key of metadata: of a `-SKILL.md` line (`Reads`) or of a skill's `metadata` (`gatewright-reads`, without the
    /// prefix). False: no key of this kind. What cannot be read is a problem, and not asked for.
    pub fn take(&mut self, key: &str, value: &str, place: Place, problems: &mut Problems) -> bool {
        let key = key.trim().to_ascii_lowercase();
        let done = match key.as_str() {
            "runtime" => runtime(value).map(|runtime| self.runtime = runtime),
            "entry" => entry(value).map(|entry| self.entry = entry),
            "reads" => listed(value, glob).map(|reads| self.reads = reads),
            "clock" => switch(value).map(|clock| self.clock = clock),
            "random" => switch(value).map(|random| self.random = random),
            "network" => listed(value, host).map(|hosts| self.network = hosts),
            "timeout" => optional(value, duration).map(|time| self.timeout = time),
            "memory" => optional(value, size).map(|size| self.memory = size),
            _ => return false,
        };
        if let Err(error) = done {
            problems.at(place, Code::GrantInvalid, error.to_string());
        }
        true
    }
}

/// What says that nothing is asked for.
fn is_none(text: &str) -> bool {
    matches!(text.to_ascii_lowercase().as_str(), "" | "none" | "no" | "-" | "–" | "—" | "n/a")
}

fn runtime(text: &str) -> Result<Option<Runtime>, GrantError> {
    match bare(text).to_ascii_lowercase().as_str() {
        "" => Ok(None),
        "embedded" => Ok(Some(Runtime::Embedded)),
        "node" => Ok(Some(Runtime::Node)),
        other => Err(GrantError::Runtime(shown(other))),
    }
}

/// `yes`, `true`, `no`, `false`, `none`; nothing is no.
pub(crate) fn switch(text: &str) -> Result<bool, GrantError> {
    match bare(text).to_ascii_lowercase().as_str() {
        "yes" | "true" => Ok(true),
        "false" => Ok(false),
        other if is_none(other) => Ok(false),
        other => Err(GrantError::Switch(shown(other))),
    }
}

fn optional<T>(text: &str, read: fn(&str) -> Result<T, GrantError>) -> Result<Option<T>, GrantError> {
    let text = bare(text);
    if is_none(text) { Ok(None) } else { read(text).map(Some) }
}

/// A whole number and its unit: `ms`, `s`, `m` (or `min`). In milliseconds, 1 to [`MAX_TIMEOUT`].
pub fn duration(text: &str) -> Result<u64, GrantError> {
    let no = || GrantError::Time(shown(text));
    let (number, unit) = measured(text).ok_or_else(no)?;
    let each = match unit {
        "ms" => 1,
        "s" => 1_000,
        "m" | "min" => 60_000,
        _ => return Err(no()),
    };
    number.checked_mul(each).filter(|ms| (1..=MAX_TIMEOUT).contains(ms)).ok_or_else(no)
}

/// A whole number and its unit: `B`, `KiB`, `MiB`, `GiB`, `kB` (or `KB`), `MB`, `GB`. In bytes, 1 to [`MAX_MEMORY`].
pub fn size(text: &str) -> Result<u64, GrantError> {
    let no = || GrantError::Size(shown(text));
    let (number, unit) = measured(text).ok_or_else(no)?;
    let each: u64 = match unit {
        "B" => 1,
        "KiB" => 1 << 10,
        "MiB" => 1 << 20,
        "GiB" => 1 << 30,
        "kB" | "KB" => 1_000,
        "MB" => 1_000_000,
        "GB" => 1_000_000_000,
        _ => return Err(no()),
    };
    number.checked_mul(each).filter(|bytes| (1..=MAX_MEMORY).contains(bytes)).ok_or_else(no)
}

fn measured(text: &str) -> Option<(u64, &str)> {
    let text = text.trim();
    let end = text.find(|c: char| !c.is_ascii_digit())?;
    let (number, unit) = text.split_at_checked(end)?;
    Some((number.parse().ok()?, unit.strip_prefix(' ').unwrap_or(unit)))
}

/// Items between commas, not those inside braces; sorted, each once.
fn listed(text: &str, read: fn(&str) -> Result<String, GrantError>) -> Result<Vec<String>, GrantError> {
    let text = text.trim();
    if is_none(bare(text)) {
        return Ok(Vec::new());
    }
    let mut depth = 0_usize;
    let items = text.split(|c| {
        match c {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        c == ',' && depth == 0
    });
    let items: Vec<&str> =
        items.map(|item| item.trim().trim_matches('`').trim()).filter(|item| !item.is_empty()).collect();
    if items.len() > MAX_LISTED {
        return Err(GrantError::Many(items.len()));
    }
    let mut found = items.into_iter().map(read).collect::<Result<Vec<_>, _>>()?;
    found.sort();
    found.dedup();
    Ok(found)
}

/// Whether a path or glob is relative, plain, and stays where it is.
fn stays(text: &str) -> bool {
    !text.is_empty()
        && text.len() <= MAX_ITEM
        && !text.contains('\\')
        && !text.contains(':')
        && !text.chars().any(crate::text::is_hidden)
        && text.split('/').all(|part| !matches!(part, "" | "." | ".."))
}

fn glob(text: &str) -> Result<String, GrantError> {
    // A brace could spell `..` in parts.
    let hides = text.contains('{') && text.contains("..");
    if stays(text) && !hides { Ok(text.to_owned()) } else { Err(GrantError::Glob(shown(text))) }
}

fn entry(text: &str) -> Result<Option<String>, GrantError> {
    let text = text.trim().trim_matches('`');
    let plain = stays(text) && !text.contains(['*', '?', '[', '{']);
    match text {
        "" => Ok(None),
        _ if plain => Ok(Some(text.to_owned())),
        _ => Err(GrantError::Entry(shown(text))),
    }
}

fn host(text: &str) -> Result<String, GrantError> {
    let no = || GrantError::Host(shown(text));
    let (name, port) = text.split_once(':').map_or((text, None), |(name, port)| (name, Some(port)));
    let label = |label: &str| {
        (1..=63).contains(&label.len())
            && !label.starts_with('-')
            && !label.ends_with('-')
            && label.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-')
    };
    if text.len() > MAX_ITEM || !name.split('.').all(label) {
        return Err(no());
    }
    let name = name.to_ascii_lowercase();
    match port {
        None => Ok(name),
        Some(port) => {
            let is_number = port.bytes().all(|b| b.is_ascii_digit());
            let port = port.parse::<u16>().ok().filter(|port| is_number && *port != 0).ok_or_else(no)?;
            Ok(if port == 443 { name } else { format!("{name}:{port}") })
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn taken(pairs: &[(&str, &str)]) -> (Asks, Vec<String>) {
        let (mut asks, mut problems) = (Asks::default(), Problems::of("x"));
        for (key, value) in pairs {
            assert!(asks.take(key, value, Place::line(1), &mut problems), "{key}");
        }
        (asks, problems.found().iter().map(|p| p.message.clone()).collect())
    }

    #[test]
    fn wishes_are_read_and_written_in_one_order() {
        let (asks, problems) = taken(&[
            ("Runtime", "Node"),
            ("reads", "src/**/*.ts, `docs/{a,b}.md`, docs/{a,b}.md"),
            ("CLOCK", "yes"),
            ("random", "no"),
            ("network", "API.Example.com:443, b.example:8443"),
            ("timeout", "2s"),
            ("memory", "64 MiB"),
            ("entry", "scripts/run.ts"),
        ]);
        assert_eq!(problems, Vec::<String>::new());
        assert_eq!(
            serde_json::to_string(&asks).unwrap(),
            r#"{"runtime":"node","entry":"scripts/run.ts","reads":["docs/{a,b}.md","src/**/*.ts"],"clock":true,"network":["api.example.com","b.example:8443"],"timeout":2000,"memory":67108864}"#
        );
        assert!(taken(&[("reads", "none"), ("network", "-"), ("timeout", ""), ("clock", "")]).0.is_empty());
        assert!(!Asks::default().take("category", "x", Place::line(1), &mut Problems::of("x")));
    }

    #[test]
    fn what_is_not_exactly_a_time_or_a_size_is_refused() {
        assert_eq!((duration("500ms"), duration("1 m"), duration("10m")), (Ok(500), Ok(60_000), Ok(600_000)));
        for text in
            ["", "2", "s", "2.5s", "-1s", "0s", "11m", "1h", "2  s", "2S", "99999999999999999999s", "1e3ms"]
        {
            assert!(duration(text).is_err(), "{text}");
        }
        assert_eq!(
            (size("64MiB"), size("1 GiB"), size("100 MB")),
            (Ok(64 << 20), Ok(1 << 30), Ok(100_000_000))
        );
        for text in ["64", "64 mib", "0 B", "5 GiB", "1.5 GiB", "18446744073709551615 GiB"] {
            assert!(size(text).is_err(), "{text}");
        }
    }

    #[test]
    fn what_leads_out_of_the_project_is_not_asked_for() {
        for text in [
            "../x",
            "/etc/passwd",
            "a/../b",
            "C:/x",
            "a\\b",
            "a//b",
            "./a",
            "a\0",
            "{.,a}./x/{..}",
            "a\u{202e}b",
        ] {
            let (asks, problems) = taken(&[("reads", text)]);
            assert!(asks.reads.is_empty() && problems.len() == 1, "{text}");
        }
        for text in
            ["*.example.com", "https://a.b", "a b", "a:0", "a:99999", "a..b", "-a.b", "é.example", "a:+1"]
        {
            let (asks, problems) = taken(&[("network", text)]);
            assert!(asks.network.is_empty() && problems.len() == 1, "{text}");
        }
        let many = vec!["a"; 33].join(",");
        assert!(taken(&[("reads", &many)]).1[0].contains("at most 32"));
        assert!(taken(&[("entry", "*.ts")]).1[0].contains("relative to the skill's folder"));
        assert!(taken(&[("clock", "maybe")]).1[0].contains("yes or no"));
    }

    proptest! {
        #[test]
        fn any_text_is_a_wish_or_a_problem(key in "runtime|entry|reads|clock|random|network|timeout|memory", text in "\\PC{0,40}|[.,/*{}a:0-9]{0,30}") {
            let (asks, _) = taken(&[(&key, &text)]);
            prop_assert!(asks.reads.iter().all(|g| !g.starts_with('/') && g.split('/').all(|p| p != "..")));
        }
    }
}
