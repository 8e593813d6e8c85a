//! Repositories that are checked out on this machine: looked for where roots are and where the user says, never through a link.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use exec::history::Repo;
use tools_session::workplace::{Checkout, Checkouts};

/// How deep below a folder is looked.
const DEPTH: usize = 2;
/// Most folders that are looked into.
const MOST: usize = 500;

/// What is checked out beside the roots, and in the folders that are named.
pub fn found(roots: &[PathBuf], named: &[String]) -> Checkouts {
    let home = std::env::var_os("HOME").map(PathBuf::from).filter(|home| home.is_absolute());
    let mut places: Vec<PathBuf> = Vec::new();
    let beside = roots.iter().filter_map(|root| root.parent().map(Path::to_path_buf));
    // A whole disk is nobody's workshop.
    for place in named.iter().filter_map(|text| expanded(text, home.as_deref())).chain(beside) {
        if place.parent().is_some() && !places.contains(&place) {
            places.push(place);
        }
    }
    let mut seen = BTreeSet::new();
    let mut all = Checkouts::default();
    let mut look = |folder: &Path| {
        if !seen.insert(folder.to_path_buf()) || !folder.join(".git").is_dir() {
            return;
        }
        if let Some(repository) = repository(folder) {
            all.found.push(Checkout { repository, place: shown(folder, home.as_deref()) });
        }
    };
    for root in roots {
        look(root);
    }
    let mut left = MOST;
    for place in &places {
        walk(place, DEPTH, &mut left, &mut look);
    }
    all.found.sort_by(|a, b| (&a.repository, &a.place).cmp(&(&b.repository, &b.place)));
    all.looked_in = places.iter().map(|place| shown(place, home.as_deref())).collect();
    all
}

fn walk(folder: &Path, depth: usize, left: &mut usize, look: &mut impl FnMut(&Path)) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    let mut below: Vec<PathBuf> = entries
        .flatten()
        .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()))
        .map(|entry| entry.path())
        .filter(|path| path.file_name().is_some_and(|name| !name.to_string_lossy().starts_with('.')))
        .collect();
    below.sort();
    for path in below {
        if *left == 0 {
            return;
        }
        *left -= 1;
        look(&path);
        // What is within a repository is its own.
        if depth > 1 && !path.join(".git").exists() {
            walk(&path, depth - 1, left, look);
        }
    }
}

/// What a repository is called, by its `origin` or its only remote.
fn repository(folder: &Path) -> Option<String> {
    tools_session::of_remotes(&Repo::open(folder).ok()?.remotes().ok()?)
}

/// A place as a person writes it, `~` being the home.
fn expanded(text: &str, home: Option<&Path>) -> Option<PathBuf> {
    let path = match text.strip_prefix("~/") {
        Some(below) => home?.join(below),
        None if text == "~" => home?.to_path_buf(),
        None => PathBuf::from(text),
    };
    path.is_absolute().then_some(path)
}

fn shown(path: &Path, home: Option<&Path>) -> String {
    match home.and_then(|home| path.strip_prefix(home).ok()) {
        Some(below) if below.as_os_str().is_empty() => "~".to_owned(),
        Some(below) => format!("~/{}", below.display()),
        None => path.display().to_string(),
    }
}
