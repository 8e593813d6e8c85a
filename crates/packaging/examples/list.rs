//! What npm packs of folders: `list [--npm=VERSION] [--folder=PATH] [--select=PATH …] folder …` prints, for each, the list as JSON, or
//! the error as a text. With `--tar`, the archive of one folder goes to standard output, inflated.
#![allow(clippy::disallowed_methods, clippy::print_stdout, reason = "an example reads its files itself")]

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use gatewright_packaging::npm::list::{Listing, Options, Rules, list_in};
use gatewright_packaging::{Entry, Kind, Tree, TreeError};
use serde_json::json;

/// A folder on the disk.
struct Disk(PathBuf);

impl Disk {
    fn at(&self, path: &str) -> PathBuf {
        if path.is_empty() { self.0.clone() } else { self.0.join(path) }
    }
}

fn kind(path: &Path) -> std::io::Result<Kind> {
    let about = path.symlink_metadata()?;
    Ok(if about.is_symlink() {
        Kind::Link
    } else if about.is_dir() {
        Kind::Folder
    } else if about.is_file() {
        Kind::File { executable: about.permissions().mode() & 0o111 != 0 }
    } else {
        Kind::Other
    })
}

impl Tree for Disk {
    fn entries(&self, folder: &str) -> Result<Vec<Entry>, TreeError> {
        let wrong = |error: std::io::Error| TreeError { path: folder.to_owned(), why: error.to_string() };
        let mut entries = Vec::new();
        for entry in std::fs::read_dir(self.at(folder)).map_err(wrong)? {
            let entry = entry.map_err(wrong)?;
            let name = entry.file_name().to_string_lossy().into_owned();
            entries.push(Entry { name, kind: kind(&entry.path()).map_err(wrong)? });
        }
        Ok(entries)
    }

    fn read(&self, path: &str) -> Result<Option<Vec<u8>>, TreeError> {
        match std::fs::read(self.at(path)) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(TreeError { path: path.to_owned(), why: error.to_string() }),
        }
    }
}

/// Links below `node_modules` folders, and the folders of the tree that they lead to.
fn links(top: &Path, folder: &Path, links: &mut BTreeMap<String, String>) -> std::io::Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        match kind(&path)? {
            Kind::Folder => self::links(top, &path, links)?,
            Kind::Link => {
                let real = std::fs::canonicalize(&path).ok();
                let below =
                    |path: &Path| path.strip_prefix(top).ok().map(|path| path.to_string_lossy().into_owned());
                if let (Some(link), Some(target)) = (below(&path), real.as_deref().and_then(below)) {
                    links.insert(link, target);
                }
            }
            _ => {}
        }
    }
    Ok(())
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut version = "12".to_owned();
    let (mut package, mut selected, mut folders) = (String::new(), Vec::new(), Vec::new());
    for argument in std::env::args().skip(1) {
        match argument.split_once('=') {
            Some(("--npm", value)) => value.clone_into(&mut version),
            Some(("--folder", value)) => value.clone_into(&mut package),
            Some(("--select", value)) => selected.push(value.to_owned()),
            _ => folders.push(argument),
        }
    }
    for folder in folders {
        let top = std::fs::canonicalize(&folder)?;
        let mut known = BTreeMap::new();
        links(&top, &top, &mut known)?;
        let options =
            Options { selected: selected.clone(), links: known, ..Options::new(Rules::of_npm(&version)) };
        let disk = Disk(top);
        let shown = match list_in(&disk, &package, &options) {
            Ok(listing) => paths(&listing),
            Err(error) => json!(error.to_string()),
        };
        println!("{shown}");
    }
    Ok(())
}

fn paths(listing: &Listing) -> serde_json::Value {
    listing.files.iter().map(gatewright_packaging::npm::list::Listed::printed).collect()
}
