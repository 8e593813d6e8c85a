//! What a caller may name as a page.

use contract::{Fault, RelPath};
use exec::view::{self, View};
use kit::ReadDesk;

/// Most pages of one call.
const MAX_PAGES: usize = 50;

/// The host under which a root's files are pages (RFC 6761 §6.4: no network has it).
pub(crate) const HOST: &str = "root.invalid";

/// A page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Place {
    /// By HTTP.
    Web(String),
    /// A file of the root.
    File(RelPath),
}

impl Place {
    /// As the caller named it.
    pub(crate) fn shown(&self) -> String {
        match self {
            Self::Web(url) => url.clone(),
            Self::File(path) => format!("root:{path}"),
        }
    }

    /// Where a browser finds it.
    pub(crate) fn url(&self) -> String {
        match self {
            Self::Web(url) => url.clone(),
            Self::File(path) => {
                let encoded = path.components().map(encoded).collect::<Vec<_>>().join("/");
                format!("https://{HOST}/{encoded}")
            }
        }
    }
}

/// A component of a path in a URL (RFC 3986 §3.3): all that is not unreserved is written as bytes.
fn encoded(component: &str) -> String {
    let mut out = String::new();
    for byte in component.bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~') {
            out.push(char::from(byte));
        } else {
            out.push_str(&format!("%{byte:02X}"));
        }
    }
    out
}

/// What the caller wants looked at.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Wanted {
    /// Pages, in the order of their names.
    Pages(Vec<Place>),
    /// The colours of tokens.
    Tokens(String),
}

/// Reads the names of pages: `http://…`, `https://…`, `root:` and a file, folder or glob of the root; or `tokens:` and a source.
pub(crate) fn wanted(names: &[String], desk: &ReadDesk) -> Result<Wanted, Fault> {
    if let Some(source) = names.iter().find_map(|name| name.strip_prefix("tokens:")) {
        if names.len() > 1 {
            return Err(Fault::invalid("urls: tokens are looked at alone, not together with pages"));
        }
        return Ok(Wanted::Tokens(source.to_owned()));
    }
    let mut pages: Vec<Place> = Vec::new();
    for name in names {
        let more = match name.split_once(':') {
            Some(("root", path)) => files(path, desk.view())?,
            Some(("http" | "https", _)) => vec![Place::Web(name.clone())],
            _ => {
                let shown = contract::text::visible(name);
                return Err(Fault::invalid(format!("url: {shown:?} is no page that can be looked at"))
                    .suggest("Give `https://…`, `http://…`, `root:PATH` for files of the root, or `tokens:SOURCE`."));
            }
        };
        for page in more {
            if !pages.contains(&page) {
                pages.push(page);
            }
        }
    }
    if pages.len() > MAX_PAGES {
        let message = format!("{} pages are too many for one call: at most {MAX_PAGES}", pages.len());
        return Err(
            Fault::new(contract::Code::TooLarge, message).suggest("Name a folder or a narrower glob.")
        );
    }
    Ok(Wanted::Pages(pages))
}

fn files(path: &str, view: &View) -> Result<Vec<Place>, Fault> {
    let path = path.trim_start_matches('/');
    let none = |what: &str| {
        Fault::new(contract::Code::NotFound, format!("root:{what}: no page there")).about(what).suggest(
            "Name an HTML file, a folder or a glob relative to the root, such as `root:site/**/*.html`.",
        )
    };
    if path.split('/').any(view::is_pattern) {
        let found = view.glob(path)?;
        return if found.is_empty() {
            Err(none(path))
        } else {
            Ok(found.into_iter().map(Place::File).collect())
        };
    }
    let file = view::path_argument(path)?;
    match view.state(&file)? {
        contract::State::Absent => Err(none(path)),
        contract::State::Directory { .. } => {
            let found = view.glob(&format!("{file}/**/*.{{html,htm,xhtml}}"))?;
            if found.is_empty() { Err(none(path)) } else { Ok(found.into_iter().map(Place::File).collect()) }
        }
        _ => Ok(vec![Place::File(file)]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_files_name_is_no_part_of_a_url_but_its_path() {
        let page = Place::File(RelPath::new("a b/ü?#%.html").unwrap());
        assert_eq!(page.url(), "https://root.invalid/a%20b/%C3%BC%3F%23%25.html");
        assert_eq!(url::Url::parse(&page.url()).unwrap().query(), None);
    }
}
