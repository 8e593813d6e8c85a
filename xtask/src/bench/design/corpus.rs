//! The pages that are looked at: every fixture of govuk-frontend, and pages of our own for what it has not: frames of the same
//! and of other origins, shadow trees, the dark, and much that is wrong.

use std::path::Path;

use serde_json::Value;

use super::site::Site;
use crate::node;
use crate::sh::{Done, top};

/// Where our own pages are.
const OWN: &str = "xtask/npm/bench-design/pages";

/// What a page's name ends in that is looked at in the dark.
const DARK: &str = ".dark.html";

/// A page of the site.
#[derive(Debug, Clone)]
pub(super) struct Page {
    /// Below the site.
    pub(super) path: String,
    /// Where it comes from.
    pub(super) from: &'static str,
    /// `light` or `dark`.
    pub(super) scheme: &'static str,
}

/// The sources, in this order.
pub(super) const SOURCES: [&str; 2] = ["own", "govuk-frontend"];

/// Writes the pages into the site; gives at most `most` of them, of our own ones first, spread evenly over the fixtures.
pub(super) fn write(site: &Site, most: usize) -> Done<Vec<Page>> {
    let mut pages = own(site)?;
    let fixtures = fixtures(site)?;
    pages.truncate(most);
    let room = most - pages.len();
    let count = fixtures.len();
    let wanted = room.min(count);
    let chosen = (0..wanted).filter_map(|n| fixtures.get(n * count / wanted).cloned());
    pages.extend(chosen);
    Ok(pages)
}

fn own(site: &Site) -> Done<Vec<Page>> {
    let folder = top().join(OWN);
    let mut pages = Vec::new();
    for below in ["", "parts/"] {
        for entry in entries(&folder.join(below))? {
            let Some(name) = entry.strip_suffix(".html") else { continue };
            let file = folder.join(format!("{below}{entry}"));
            let text = std::fs::read_to_string(&file).map_err(|e| format!("{}: {e}", file.display()))?;
            let path = format!("own/{below}{name}.html");
            site.put(&path, text.replace("{{other}}", &site.other_origin()).as_bytes())?;
            let scheme = if path.ends_with(DARK) { "dark" } else { "light" };
            pages.push(Page { path, from: SOURCES[0], scheme });
        }
    }
    Ok(pages)
}

fn entries(folder: &Path) -> Done<Vec<String>> {
    let read = std::fs::read_dir(folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    let mut names: Vec<String> =
        read.flatten().filter_map(|entry| entry.file_name().into_string().ok()).collect();
    names.sort();
    Ok(names)
}

/// Each fixture of each component as a page of its own, with the stylesheet of the system.
fn fixtures(site: &Site) -> Done<Vec<Page>> {
    let package = node::DESIGN.install()?.join("node_modules/govuk-frontend/dist/govuk");
    let read = |path: &Path| std::fs::read(path).map_err(|e| format!("{}: {e}", path.display()));
    site.put("govuk/govuk.css", &read(&package.join("govuk-frontend.min.css"))?)?;
    for folder in ["assets/fonts", "assets/images"] {
        for name in entries(&package.join(folder))? {
            site.put(&format!("{folder}/{name}"), &read(&package.join(folder).join(&name))?)?;
        }
    }
    let mut pages = Vec::new();
    for component in entries(&package.join("components"))? {
        let file = package.join("components").join(&component).join("fixtures.json");
        let Ok(text) = std::fs::read(&file) else { continue };
        let all: Value = serde_json::from_slice(&text).map_err(|e| format!("{}: {e}", file.display()))?;
        for (number, fixture) in all["fixtures"].as_array().into_iter().flatten().enumerate() {
            let html = fixture["html"].as_str().unwrap_or_default();
            let path = format!("govuk/{component}-{number:02}.html");
            site.put(&path, page(&component, html).as_bytes())?;
            pages.push(Page { path, from: SOURCES[1], scheme: "light" });
        }
    }
    Ok(pages)
}

fn page(title: &str, body: &str) -> String {
    format!(
        "<!doctype html>\n<html lang=\"en\" class=\"govuk-template\">\n<head><meta charset=\"utf-8\"><title>{title}</title>\
         <link rel=\"stylesheet\" href=\"govuk.css\"></head>\n<body class=\"govuk-template__body\"><main class=\"govuk-main-wrapper\">\
         <h1>{title}</h1>\n{body}\n</main></body>\n</html>\n"
    )
}
