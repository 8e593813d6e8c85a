//! Secrets in what is packed, found by the rules that keep them out of transcripts.

use kit::ReadDesk;
use packaging::{Check, Packed, Severity};

/// The largest file that is looked at, in bytes: what is longer is data or a bundle of others' code.
const MAX_FILE: usize = 4 << 20;

/// How many places a check names.
const NAMED: usize = 10;

/// What the redaction calls what only its surroundings make a secret, as opposed to text that is one by its shape.
const BY_PLACE: [&str; 4] = ["[redacted:keyed:", "[redacted:url:", "[redacted:header:", "[redacted:bearer:"];

/// Whether a name that promises a secret means one there: in code and in prose it hardly ever does.
fn is_configuration(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path).to_ascii_lowercase();
    let known = ["json", "yml", "yaml", "toml", "ini", "cfg", "conf", "properties", "env", "sh", "xml"];
    name.starts_with('.') || name.rsplit_once('.').is_some_and(|(_, extension)| known.contains(&extension))
}

/// Looks through what is packed.
pub(crate) fn check(ecosystem: &str, packed: &Packed, desk: &ReadDesk) -> Check {
    let id = format!("{ecosystem}.secrets");
    let (mut found, mut weak) = (Vec::new(), Vec::new());
    for (path, file) in packed.iter() {
        let Ok(text) = std::str::from_utf8(&file.bytes) else { continue };
        if text.len() > MAX_FILE {
            continue;
        }
        let clean = desk.cleaned(text);
        if clean == text {
            continue;
        }
        // A key of several lines becomes one: what follows it stands elsewhere, and is not compared.
        let same_lines = text.lines().count() == clean.lines().count();
        for (number, (before, after)) in text.lines().zip(clean.lines()).enumerate() {
            if before == after {
                continue;
            }
            let place = format!("{path}:{}", number + 1);
            if !BY_PLACE.iter().any(|mark| after.contains(mark)) {
                found.push(place);
            } else if is_configuration(path) {
                weak.push(place);
            }
            if !same_lines {
                break;
            }
        }
    }
    let (places, severity, detail) = if !found.is_empty() {
        let detail = format!("{} places hold what looks like a credential", found.len());
        (found, Severity::Error, detail)
    } else if !weak.is_empty() {
        let detail = format!("{} places give a value to something that is called a secret", weak.len());
        (weak, Severity::Warning, detail)
    } else {
        return Check::passed(id, "nothing looks like a credential");
    };
    let mut check = Check::failed(id, severity, detail)
        .fix("Take it out, and revoke what was ever in a repository or a package.");
    check.files = places.into_iter().take(NAMED).collect();
    check
}
