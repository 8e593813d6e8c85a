//! A kit's files, from the facts.

use std::collections::BTreeMap;

use serde::Serialize;
use sha2::{Digest as _, Sha256};

use crate::error::KitError;
use crate::facts::{Kit, Picture};
use crate::looks;
use crate::{MAX_COMPONENTS, pages, paths};

/// What a PNG begins with (PNG, 5.2).
const PNG: [u8; 8] = [0x89, b'P', b'N', b'G', b'\r', b'\n', 0x1A, b'\n'];

/// Builds a kit: the files that are handed over, and the pages that show them.
///
/// `files` are pictures and the project's own pages with what belongs to them, by path within the kit. They are taken as they are;
/// an HTML page should have gone through [`guard_example`](crate::guard_example). The same facts and files always give the same
/// bytes.
pub fn build(kit: &Kit, files: BTreeMap<String, Vec<u8>>) -> Result<BTreeMap<String, Vec<u8>>, KitError> {
    let components = looks::components(kit);
    if components.len() > MAX_COMPONENTS {
        return Err(KitError::TooMany(components.len()));
    }
    paths::check(&files)?;
    for pictures in components.iter().flat_map(|c| &c.examples).flat_map(|e| &e.pictures) {
        for picture in [&pictures.before, &pictures.after, &pictures.difference].into_iter().flatten() {
            check_picture(picture, &files)?;
        }
    }
    let pages = pages::all(kit, &files)?;
    let mut files = files;
    files.extend(pages.into_iter().map(|(path, text)| (path, text.into_bytes())));
    files.insert("style.css".to_owned(), pages::STYLE.as_bytes().to_vec());
    files.insert("icon.svg".to_owned(), pages::icon(kit).into_bytes());
    let manifest = manifest(kit, &files)?;
    files.insert("kit.json".to_owned(), manifest);
    Ok(files)
}

/// A picture is shown in pages and opened by itself: what is no PNG, or would be opened as something else, is refused.
fn check_picture(picture: &Picture, files: &BTreeMap<String, Vec<u8>>) -> Result<(), KitError> {
    let Some(bytes) = files.get(&picture.path) else {
        return Err(KitError::Missing { path: picture.path.clone(), what: "a picture" });
    };
    let is_called_so = picture.path.rsplit_once('.').is_some_and(|(_, end)| end.eq_ignore_ascii_case("png"));
    if bytes.starts_with(&PNG) && is_called_so { Ok(()) } else { Err(KitError::NotPng(picture.path.clone())) }
}

/// What `kit.json` says.
#[derive(Serialize)]
struct Manifest<'k> {
    schema: u32,
    facts: &'k Kit,
    files: BTreeMap<&'k str, Entry>,
}

/// One file.
#[derive(Serialize)]
struct Entry {
    sha256: String,
    bytes: usize,
}

fn manifest(kit: &Kit, files: &BTreeMap<String, Vec<u8>>) -> Result<Vec<u8>, KitError> {
    let entry = |bytes: &Vec<u8>| Entry { sha256: hex(&Sha256::digest(bytes)), bytes: bytes.len() };
    let files = files.iter().map(|(path, bytes)| (path.as_str(), entry(bytes))).collect();
    let mut text = serde_json::to_vec_pretty(&Manifest { schema: 1, facts: kit, files })?;
    text.push(b'\n');
    Ok(text)
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |out, b| out + &format!("{b:02x}"))
}
