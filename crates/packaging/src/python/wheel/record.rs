//! `RECORD`: the list of a wheel's files with their digests
//! ([PEP 376](https://peps.python.org/pep-0376/#record), as the binary distribution format takes it).

use std::collections::{BTreeMap, BTreeSet};

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use sha2::Digest as _;

use super::{Wheel, about, failed};
use crate::check::{Check, Severity};

/// A row of comma-separated values: fields with commas or quotes are in quotes.
fn row(line: &str) -> Option<Vec<String>> {
    let mut fields = Vec::new();
    let mut rest = line;
    loop {
        if let Some(quoted) = rest.strip_prefix('"') {
            let mut field = String::new();
            let mut chars = quoted.char_indices().peekable();
            let end = loop {
                let (at, c) = chars.next()?;
                if c != '"' {
                    field.push(c);
                } else if chars.next_if(|(_, next)| *next == '"').is_some() {
                    field.push('"');
                } else {
                    break at + 1;
                }
            };
            fields.push(field);
            rest = quoted.get(end..)?;
            match rest.strip_prefix(',') {
                Some(next) => rest = next,
                None => return rest.is_empty().then_some(fields),
            }
        } else {
            match rest.split_once(',') {
                Some((field, next)) => {
                    fields.push(field.to_owned());
                    rest = next;
                }
                None => {
                    fields.push(rest.to_owned());
                    return Some(fields);
                }
            }
        }
    }
}

/// What `RECORD` says is wrong, by what is wrong.
fn recorded(wheel: &Wheel) -> Result<BTreeMap<&'static str, Vec<String>>, String> {
    let path = format!("{}/RECORD", wheel.dist_info);
    let text = wheel.packed.text(&path).ok_or_else(|| format!("there is no {path}"))?;
    let mut wrong: BTreeMap<&'static str, Vec<String>> = BTreeMap::new();
    let mut seen = BTreeSet::new();
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        let fields = row(line.trim_end_matches('\r'))
            .ok_or_else(|| format!("{path} has a line that cannot be read"))?;
        let [file, digest, size] = fields.as_slice() else {
            return Err(format!("{path} has a line of {} fields", fields.len()));
        };
        let mut say = |why: &'static str| wrong.entry(why).or_default().push(file.clone());
        if !seen.insert(file.clone()) {
            say("listed twice");
        }
        let Some(bytes) = wheel.packed.get(file) else {
            say("listed and not there");
            continue;
        };
        // The list itself and its signatures cannot hold their own digests.
        let is_own = *file == path || *file == format!("{path}.jws") || *file == format!("{path}.p7s");
        if is_own {
            if *file == path && !digest.is_empty() {
                say("the list itself has a digest");
            }
            continue;
        }
        let is_right = match digest.split_once('=') {
            Some(("sha256", text)) => {
                let own = BASE64_URL_SAFE_NO_PAD.encode(sha2::Sha256::digest(bytes));
                text.trim_end_matches('=') == own
            }
            Some(("sha384", text)) => {
                text.trim_end_matches('=') == BASE64_URL_SAFE_NO_PAD.encode(sha2::Sha384::digest(bytes))
            }
            Some(("sha512", text)) => {
                text.trim_end_matches('=') == BASE64_URL_SAFE_NO_PAD.encode(sha2::Sha512::digest(bytes))
            }
            _ => {
                say("without a digest of sha256 or better");
                continue;
            }
        };
        if !is_right {
            say("with another digest");
        }
        if !size.is_empty() && size.parse() != Ok(bytes.len()) {
            say("of another size");
        }
    }
    for (file, _) in wheel.packed.iter() {
        let is_signature = file == format!("{path}.jws") || file == format!("{path}.p7s");
        if !seen.contains(file) && !is_signature {
            wrong.entry("there and not listed").or_default().push(file.to_owned());
        }
    }
    Ok(wrong)
}

/// Whether the list of a wheel's files is of the files that it has.
pub(super) fn record(wheel: &Wheel) -> Check {
    const ID: &str = "python.wheel.record";
    const FIX: &str =
        "Build the wheel again, and change nothing in it afterwards (`wheel pack` writes the list anew).";
    match recorded(wheel) {
        Err(why) => failed(ID, Severity::Error, why, FIX),
        Ok(wrong) if wrong.is_empty() => {
            Check::passed(ID, format!("RECORD lists all {} files with their digests", wheel.packed.len()))
        }
        Ok(wrong) => {
            let words: Vec<String> =
                wrong.iter().map(|(why, files)| format!("{} {why}", files.len())).collect();
            let check = failed(ID, Severity::Error, format!("RECORD is wrong: {}", words.join(", ")), FIX);
            about(check, wrong.into_values().flatten())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_read_as_spreadsheets_write_them() {
        assert_eq!(row("a,b,c"), Some(vec!["a".into(), "b".into(), "c".into()]));
        assert_eq!(row("\"a,\"\"b\",,"), Some(vec!["a,\"b".into(), String::new(), String::new()]));
        assert_eq!(row("\"a"), None);
        assert_eq!(row("\"a\"b,c"), None);
    }
}
