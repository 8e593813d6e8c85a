//! Secrets in files that leave the project: found, and taken out, by the rules that keep them out of transcripts.

use kit::ReadDesk;

/// What the redaction calls what only its surroundings make a secret, as opposed to text that is one by its shape.
const BY_PLACE: [&str; 4] = ["[redacted:keyed:", "[redacted:url:", "[redacted:header:", "[redacted:bearer:"];

/// Whether a line that was cleaned held text that is a secret by its shape.
pub(crate) fn is_by_shape(cleaned: &str) -> bool {
    !BY_PLACE.iter().any(|mark| cleaned.contains(mark))
}

/// Whether a name that promises a secret means one there: in code and in prose it hardly ever does.
pub(crate) fn is_configuration(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path).to_ascii_lowercase();
    let known = ["json", "yml", "yaml", "toml", "ini", "cfg", "conf", "properties", "env", "sh", "xml"];
    name.starts_with('.') || name.rsplit_once('.').is_some_and(|(_, extension)| known.contains(&extension))
}

/// The file without its secrets. Of scripts and styles only what is a secret by its shape is taken out: a name such as `token`
/// stands there for code, which must still run.
pub(crate) fn taken_out(path: &str, bytes: Vec<u8>, desk: &ReadDesk) -> Vec<u8> {
    let text = match String::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => return error.into_bytes(),
    };
    let clean = desk.cleaned(&text);
    let ending = path.rsplit_once('.').map_or("", |(_, ending)| ending);
    let is_code = matches!(ending, "js" | "mjs" | "cjs" | "css");
    if !is_code || clean == text || text.lines().count() != clean.lines().count() {
        return clean.into_bytes();
    }
    let mut out = String::with_capacity(text.len());
    for (before, after) in text.split_inclusive('\n').zip(clean.split_inclusive('\n')) {
        out.push_str(if before == after || !is_by_shape(after) { before } else { after });
    }
    out.into_bytes()
}
