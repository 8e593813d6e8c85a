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
    /// A story of a Storybook that was built into the root: its `iframe.html`, and what follows the question mark.
    Story(RelPath, String),
}

/// Where a page is from, which decides what it may reach.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Home {
    /// The root.
    Root,
    /// This machine.
    Here,
    /// Elsewhere.
    Web,
}

impl Home {
    /// All of them.
    pub(crate) const ALL: [Self; 3] = [Self::Root, Self::Here, Self::Web];
}

impl Place {
    /// Where it is from.
    pub(crate) fn home(&self) -> Home {
        let Self::Web(url) = self else { return Home::Root };
        let is_here = url::Url::parse(url).is_ok_and(|url| match url.host() {
            Some(url::Host::Ipv4(ip)) => ip.is_loopback(),
            Some(url::Host::Ipv6(ip)) => {
                ip.is_loopback() || ip.to_ipv4_mapped().is_some_and(|ip| ip.is_loopback())
            }
            Some(url::Host::Domain(name)) => {
                let name = name.trim_end_matches('.');
                name == "localhost" || name.ends_with(".localhost")
            }
            None => false,
        });
        if is_here { Home::Here } else { Home::Web }
    }

    /// As the caller named it.
    pub(crate) fn shown(&self) -> String {
        match self {
            Self::Web(url) => url.clone(),
            Self::File(path) => format!("root:{path}"),
            Self::Story(path, query) => format!("root:{path}?{query}"),
        }
    }

    /// Whether it is of the root.
    pub(crate) const fn is_file(&self) -> bool {
        !matches!(self, Self::Web(_))
    }

    /// Where a browser finds it.
    pub(crate) fn url(&self) -> String {
        match self {
            Self::Web(url) => url.clone(),
            Self::File(path) => url_of(path),
            Self::Story(path, query) => format!("{}?{query}", url_of(path)),
        }
    }
}

fn url_of(path: &RelPath) -> String {
    let encoded = path.components().map(encoded).collect::<Vec<_>>().join("/");
    format!("https://{HOST}/{encoded}")
}

/// A component of a path in a URL (RFC 3986 §3.3): all that is not unreserved is written as bytes.
pub(crate) fn encoded(component: &str) -> String {
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
    Ok(Wanted::Pages(at_most(pages)?))
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

/// The stories of a Storybook's `index.json` that are wanted, as pages beside it: `base` is where it is, with its slash.
pub(crate) fn stories(
    index: &str,
    wanted: &[String],
    page: impl Fn(String) -> Option<Place>,
) -> Result<Vec<Place>, Fault> {
    #[derive(serde::Deserialize)]
    struct Index {
        #[serde(alias = "stories")]
        entries: std::collections::BTreeMap<String, Entry>,
    }
    #[derive(serde::Deserialize)]
    struct Entry {
        #[serde(default, rename = "type")]
        kind: Option<String>,
    }
    let index: Index = serde_json::from_str(index).map_err(|e| {
        Fault::new(contract::Code::InvalidSource, format!("stories: index.json is no Storybook's: {e}"))
            .suggest("`url` is where Storybook is: `http://localhost:6006/`, or `root:storybook-static`.")
    })?;
    let mut patterns = Vec::new();
    for pattern in wanted {
        let glob = globset::Glob::new(pattern)
            .map_err(|e| Fault::invalid(format!("stories: {pattern:?}: {}", e.kind())))?;
        patterns.push(glob.compile_matcher());
    }
    let is_story = |entry: &Entry| entry.kind.as_deref().is_none_or(|kind| kind == "story");
    let found: Vec<Place> = index
        .entries
        .iter()
        .filter(|(id, entry)| is_story(entry) && patterns.iter().any(|pattern| pattern.is_match(id)))
        .filter_map(|(id, _)| page(format!("id={}&viewMode=story", encoded(id))))
        .collect();
    if found.is_empty() {
        let some: Vec<&str> = index.entries.keys().take(5).map(String::as_str).collect();
        return Err(Fault::new(
            contract::Code::NotFound,
            format!("stories: none of {} matches", wanted.join(", ")),
        )
        .suggest(format!("There are {} entries, such as {}.", index.entries.len(), some.join(", "))));
    }
    at_most(found)
}

/// The pages of a sitemap (sitemaps.org), or the sitemaps of an index of them.
pub(crate) fn sitemap(text: &str) -> Result<(Vec<String>, Vec<String>), Fault> {
    let document = roxmltree::Document::parse(text).map_err(|e| {
        Fault::new(contract::Code::InvalidSource, format!("sitemap: it is no sitemap: {e}"))
            .suggest("`url` is the sitemap itself, such as `https://example.com/sitemap.xml`.")
    })?;
    let of = |name: &str| {
        let entries = document
            .descendants()
            .filter(move |node| node.has_tag_name(name) || node.tag_name().name() == name);
        entries
            .filter_map(|entry| entry.children().find(|node| node.tag_name().name() == "loc"))
            .filter_map(|loc| loc.text())
            .map(|url| url.trim().to_owned())
            .filter(|url| url.starts_with("http://") || url.starts_with("https://"))
            .collect::<Vec<String>>()
    };
    Ok((of("url"), of("sitemap")))
}

/// The pages, if they are not too many.
pub(crate) fn at_most(pages: Vec<Place>) -> Result<Vec<Place>, Fault> {
    if pages.len() > MAX_PAGES {
        let message = format!("{} pages are too many for one call: at most {MAX_PAGES}", pages.len());
        return Err(Fault::new(contract::Code::TooLarge, message)
            .suggest("Name a part of them: a folder, a narrower pattern, or a smaller sitemap."));
    }
    Ok(pages)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stories_are_chosen_by_their_ids_and_documentation_is_none() {
        let index = r#"{"v":5,"entries":{"button--primary":{"type":"story"},"button--docs":{"type":"docs"},"card--big":{"type":"story"}}}"#;
        let page = |query: String| Some(Place::Web(query));
        let ids = |wanted: &[&str]| {
            stories(index, &wanted.iter().map(|w| (*w).to_owned()).collect::<Vec<_>>(), page)
        };
        assert_eq!(ids(&["button--*"]).unwrap(), [Place::Web("id=button--primary&viewMode=story".into())]);
        assert_eq!(ids(&["*"]).unwrap().len(), 2);
        assert!(ids(&["none"]).unwrap_err().suggestions[0].contains("button--docs"));
        assert!(stories("[]", &["*".into()], page).is_err());
    }

    #[test]
    fn a_sitemap_gives_pages_and_an_index_sitemaps() {
        let map = "<?xml version='1.0'?><urlset xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'><url><loc> https://a.example/ </loc></url>\
                   <url><loc>file:///etc/passwd</loc></url></urlset>";
        assert_eq!(sitemap(map).unwrap(), (vec!["https://a.example/".to_owned()], Vec::new()));
        let index = "<sitemapindex><sitemap><loc>https://a.example/1.xml</loc></sitemap></sitemapindex>";
        assert_eq!(sitemap(index).unwrap().1, ["https://a.example/1.xml"]);
        assert!(sitemap("<html").is_err());
    }

    #[test]
    fn a_page_of_this_machine_says_so_itself() {
        for (url, home) in [
            ("http://localhost:6006/", Home::Here),
            ("http://a.localhost./", Home::Here),
            ("http://127.1/", Home::Here),
            ("http://[::1]/", Home::Here),
            ("https://localhost.example/", Home::Web),
            ("http://10.0.0.1/", Home::Web),
        ] {
            assert_eq!(Place::Web(url.to_owned()).home(), home, "{url}");
        }
    }

    #[test]
    fn a_files_name_is_no_part_of_a_url_but_its_path() {
        let page = Place::File(RelPath::new("a b/ü?#%.html").unwrap());
        assert_eq!(page.url(), "https://root.invalid/a%20b/%C3%BC%3F%23%25.html");
        assert_eq!(url::Url::parse(&page.url()).unwrap().query(), None);
    }
}
