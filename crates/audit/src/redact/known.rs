//! Values that are known to be secret, found in every encoding that programs commonly print.

use std::collections::BTreeSet;
use std::sync::OnceLock;

use aho_corasick::{AhoCorasick, MatchKind};
use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};

use super::{Hit, is_sensitive};

/// Shorter values would be found by chance.
const SHORTEST: usize = 8;

/// The values of environment variables whose names say that they hold secrets.
pub fn from_environment(vars: impl Iterator<Item = (String, String)>) -> Vec<String> {
    // The shell's working directory is no password, whatever it is called.
    let place = |name: &str| matches!(name, "PWD" | "OLDPWD");
    vars.filter(|(name, value)| value.len() >= SHORTEST && is_sensitive(name) && !place(name))
        .map(|(_, value)| value)
        .collect()
}

pub(super) struct Known {
    secrets: Vec<String>,
    /// Made when something is first redacted; `None` where it cannot be made.
    found: OnceLock<Option<AhoCorasick>>,
}

impl std::fmt::Debug for Known {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Known({})", self.secrets.len())
    }
}

impl Known {
    pub(super) fn new(secrets: &[String]) -> Self {
        let secrets = secrets.iter().filter(|secret| secret.len() >= SHORTEST).cloned().collect();
        Self { secrets, found: OnceLock::new() }
    }

    fn found(&self) -> Option<&AhoCorasick> {
        let built = || {
            let patterns: BTreeSet<Vec<u8>> = self.secrets.iter().flat_map(|s| encodings(s)).collect();
            AhoCorasick::builder().match_kind(MatchKind::LeftmostLongest).build(patterns).ok()
        };
        self.found.get_or_init(built).as_ref()
    }

    pub(super) fn find(&self, bytes: &[u8], mut each: impl FnMut(Hit)) {
        if self.secrets.is_empty() {
            return;
        }
        let Some(known) = self.found() else {
            // Rather too much than too little.
            return each(Hit { range: 0..bytes.len(), kind: "known" });
        };
        known.find_iter(bytes).for_each(|m| each(Hit { range: m.range(), kind: "known" }));
    }
}

/// The spellings under which `secret` may be printed.
fn encodings(secret: &str) -> Vec<Vec<u8>> {
    let bytes = secret.as_bytes();
    let mut out = vec![
        bytes.to_vec(),
        bytes.iter().rev().copied().collect(),
        secret.chars().rev().collect::<String>().into_bytes(),
        hex(bytes, false),
        hex(bytes, true),
        percent(bytes, false),
        percent(bytes, true),
        secret
            .replace('&', "&amp;")
            .replace('<', "&lt;")
            .replace('>', "&gt;")
            .replace('"', "&quot;")
            .into_bytes(),
    ];
    if let Ok(json) = serde_json::to_string(secret) {
        let inner = json.trim_matches('"');
        out.push(inner.as_bytes().to_vec());
        out.push(inner.replace('\\', "\\\\").into_bytes());
    }
    // Base64 of a text that merely contains the secret: three alignments, without the characters that mix with
    // what stands beside it.
    for shift in 0..3usize {
        let mut padded = vec![0; shift];
        padded.extend_from_slice(bytes);
        let skip = [0, 2, 3][shift];
        for engine in [&STANDARD_NO_PAD, &URL_SAFE_NO_PAD] {
            let text = engine.encode(&padded);
            let end = padded.len() / 3 * 4;
            if let Some(sure) = text.get(skip..end).filter(|t| t.len() >= SHORTEST) {
                out.push(sure.as_bytes().to_vec());
            }
        }
    }
    out.retain(|pattern| pattern.len() >= SHORTEST);
    out
}

fn hex(bytes: &[u8], upper: bool) -> Vec<u8> {
    let text: String =
        bytes.iter().map(|b| if upper { format!("{b:02X}") } else { format!("{b:02x}") }).collect();
    text.into_bytes()
}

/// Percent-encoding (RFC 3986 §2.1) of everything that is not unreserved; `lower` chooses the digits' case.
fn percent(bytes: &[u8], lower: bool) -> Vec<u8> {
    let mut out = String::new();
    for &b in bytes {
        match b {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => out.push(char::from(b)),
            _ if lower => out.push_str(&format!("%{b:02x}")),
            _ => out.push_str(&format!("%{b:02X}")),
        }
    }
    out.into_bytes()
}

#[cfg(test)]
mod tests {
    use super::super::Redactor;
    use super::*;

    const SECRET: &str = "p@ss/w0rd+\"quoted\"&<ümlaut>";

    #[test]
    fn r02_a_known_secret_leaks_in_no_encoding() {
        let redactor = Redactor::new(&[SECRET.to_owned()], [1; 32]);
        let b64 = |prefix: &str| STANDARD_NO_PAD.encode(format!("{prefix}{SECRET}tail"));
        let split: String = SECRET.chars().flat_map(|c| [c.to_string(), "\u{1b}[0m".into()]).collect();
        for (name, text) in [
            ("raw", SECRET.to_owned()),
            ("base64", b64("")),
            ("base64 shifted", b64("x")),
            ("base64 shifted twice", b64("xy")),
            ("base64url", URL_SAFE_NO_PAD.encode(SECRET)),
            ("hex", String::from_utf8(hex(SECRET.as_bytes(), false)).unwrap()),
            ("HEX", String::from_utf8(hex(SECRET.as_bytes(), true)).unwrap()),
            ("url", String::from_utf8(percent(SECRET.as_bytes(), false)).unwrap()),
            ("json", serde_json::to_string(SECRET).unwrap()),
            ("reversed", SECRET.chars().rev().collect()),
            ("html", "p@ss/w0rd+&quot;quoted&quot;&amp;&lt;ümlaut&gt;".into()),
            ("split by escapes", split),
        ] {
            let line = format!("before {text} after");
            let clean = redactor.text(&line);
            assert!(clean.contains("[redacted:known:"), "{name}: {clean}");
            assert!(clean.starts_with("before ") && clean.ends_with(" after"), "{name}: {clean}");
        }
    }

    #[test]
    fn secrets_come_from_the_environment_by_name() {
        let vars = [
            ("GITHUB_TOKEN", "0123456789"),
            ("EDITOR", "0123456789"),
            ("PASSWORD", "short"),
            ("PWD", "/home/somebody/work"),
            ("OLDPWD", "/home/somebody/work"),
        ];
        let found = from_environment(vars.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())));
        assert_eq!(found, ["0123456789"]);
    }
}
