//! Secrets in what is packed, found by the rules that keep them out of transcripts.

use kit::ReadDesk;
use packaging::{Check, Packed, Severity};

/// How many places a check names.
const NAMED: usize = 10;

/// Whether a name that promises a secret means one there: in code and in prose it hardly ever does.
fn is_configuration(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path).to_ascii_lowercase();
    let known = ["json", "yml", "yaml", "toml", "ini", "cfg", "conf", "properties", "env", "sh", "xml"];
    name.starts_with('.') || name.rsplit_once('.').is_some_and(|(_, extension)| known.contains(&extension))
}

/// Looks through what is packed, whatever kind of file it is.
pub(crate) fn check(ecosystem: &str, packed: &Packed, desk: &ReadDesk) -> Check {
    let id = format!("{ecosystem}.secrets");
    let (mut certain, mut named) = (Vec::new(), Vec::new());
    for (path, file) in packed.iter() {
        let (mut line, mut at) = (1, 0);
        for secret in desk.redactor().secrets(&file.bytes) {
            let passed = file.bytes.get(at..secret.range.start).unwrap_or_default();
            line += passed.split(|byte| *byte == b'\n').count() - 1;
            at = at.max(secret.range.start);
            let place = format!("{path}:{line}");
            if secret.is_certain {
                certain.push(place);
            } else if is_configuration(path) {
                named.push(place);
            }
        }
    }
    for places in [&mut certain, &mut named] {
        places.dedup();
    }
    let (places, severity, detail) = if !certain.is_empty() {
        let detail = format!("{} places hold what looks like a credential", certain.len());
        (certain, Severity::Error, detail)
    } else if !named.is_empty() {
        let detail = format!("{} places give a value to something that is called a secret", named.len());
        (named, Severity::Warning, detail)
    } else {
        return Check::passed(id, "nothing looks like a credential");
    };
    let mut check = Check::failed(id, severity, detail)
        .fix("Take it out, and revoke what was ever in a repository or a package.");
    check.files = places.into_iter().take(NAMED).collect();
    check
}
