//! Secrets in files that leave the project, taken out by the rules that keep them out of transcripts.

use kit::ReadDesk;

/// The file without its secrets. Of scripts and styles only what is certainly one is taken out: a name such as `token` stands
/// there for code, which must still run.
pub(crate) fn taken_out(path: &str, bytes: &[u8], desk: &ReadDesk) -> Vec<u8> {
    let ending = path.rsplit_once('.').map_or("", |(_, ending)| ending);
    let is_text = std::str::from_utf8(bytes).is_ok();
    let redactor = desk.redactor();
    match ending {
        "js" | "mjs" | "cjs" | "css" => redactor.certain(bytes).into_owned(),
        _ if is_text => redactor.bytes(bytes).into_owned(),
        // Pictures and fonts: a change would break them.
        _ => bytes.to_vec(),
    }
}
