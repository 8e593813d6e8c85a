//! Pictures of pages: how they are named, and how those that changed are shown.

pub(crate) mod since;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use contract::{Code, Fault};
use maud::{DOCTYPE, PreEscaped, html};
use pictures::Picture;

/// A page whose picture is not what it was.
pub(crate) struct Pair {
    /// The page.
    pub(crate) page: String,
    /// Its picture's name.
    pub(crate) name: String,
    pub(crate) before: Picture,
    pub(crate) after: Picture,
    /// What differs.
    pub(crate) shown: Picture,
}

/// Longest part of a name that says which page it is.
const MAX_NAME: usize = 120;

/// What the picture of a page is called: the page, the colours and the window.
pub(crate) fn name(page: &str, scheme: &str, (width, height): (u32, u32)) -> String {
    let bare = page.strip_prefix("root:").unwrap_or(page);
    let mut slug = String::new();
    for c in bare.chars() {
        if c.is_ascii_alphanumeric() || matches!(c, '.' | '_') {
            slug.push(c);
        } else if !slug.ends_with('-') {
            slug.push('-');
        }
    }
    let slug = slug.trim_matches(['-', '.']);
    let is_plain = bare.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '/'));
    if slug.len() > MAX_NAME || !is_plain || slug.is_empty() {
        // Two names that begin alike, or are written alike, are two pictures.
        let digest = contract::Digest::of(page.as_bytes()).to_string();
        let digest: String = digest.rsplit(':').next().unwrap_or(&digest).chars().take(12).collect();
        let front: String = slug.chars().take(MAX_NAME - 13).collect();
        return format!("{front}-{digest}.{scheme}.{width}x{height}.png");
    }
    format!("{slug}.{scheme}.{width}x{height}.png")
}

/// Reads a picture that is called `what`.
pub(crate) fn read(png: &[u8], what: &str) -> Result<Picture, Fault> {
    Picture::read(png).map_err(|e| {
        Fault::new(Code::InvalidSource, format!("{what}: {e}"))
            .about(what)
            .suggest("Remove the file, and call again with `update`.")
    })
}

/// As PNG.
pub(crate) fn write(picture: &Picture) -> Result<Vec<u8>, Fault> {
    picture.write().map_err(|e| Fault::internal(e.to_string()))
}

const STYLE: &str = ":root{color-scheme:light dark;--page:#fff;--ink:#1b1f24;--line:#8886}\
@media(prefers-color-scheme:dark){:root{--page:#0d1117;--ink:#e6edf3}}html{background:var(--page);color:var(--ink)}\
body{font:16px/1.5 system-ui,sans-serif;margin:0 auto;padding:1.5rem;max-width:110rem}h1{font-size:1.6rem;margin:0 0 1rem}\
h2{font-size:1.1rem;overflow-wrap:anywhere}.three{display:grid;grid-template-columns:repeat(3,1fr);gap:1rem}\
figure{margin:0}figcaption{font-weight:600;margin:.25rem 0}img{width:100%;border:1px solid var(--line)}\
@media(max-width:50rem){.three{grid-template-columns:1fr}}";

/// A page that shows before, after and difference beside each other.
pub(crate) fn page(title: &str, pairs: &[Pair]) -> Result<String, Fault> {
    let mut sections = Vec::new();
    for pair in pairs {
        let mut figures = Vec::new();
        for (what, picture) in pair.pictures() {
            figures.push((what, STANDARD.encode(write(picture)?)));
        }
        sections.push((&pair.page, figures));
    }
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta http-equiv="content-security-policy" content="default-src 'none'; style-src 'unsafe-inline'; img-src data:";
                title { (title) }
                style { (PreEscaped(STYLE)) }
            }
            body {
                main {
                    h1 { (title) }
                    @for (page, figures) in &sections {
                        section {
                            h2 { (page) }
                            div class="three" {
                                @for (what, data) in figures {
                                    figure {
                                        figcaption { (what) }
                                        img alt=(format!("{page}, {what}")) src=(format!("data:image/png;base64,{data}"));
                                    }
                                }
                            }
                        }
                    }
                }
            }
        }
    };
    Ok(page.into_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_say_what_is_on_the_picture_and_never_leave_the_folder() {
        assert_eq!(name("root:site/a.html", "dark", (320, 600)), "site-a.html.dark.320x600.png");
        let all = ["root:a b.html", "root:a-b.html", "root:a/b.html", "root:日本.html", "root:中国.html"];
        let names: std::collections::BTreeSet<String> =
            all.iter().map(|page| name(page, "light", (1, 1))).collect();
        assert_eq!(names.len(), all.len(), "{names:?}");
        let long = "x".repeat(300);
        let (one, other) =
            (name(&format!("{long}a"), "light", (1, 1)), name(&format!("{long}b"), "light", (1, 1)));
        assert!(one != other && one.len() < 200);
        for odd in ["root:..", "root:/", ".", "…"] {
            let name = name(odd, "light", (1, 1));
            assert!(!name.contains('/') && !name.starts_with('.'), "{name}");
        }
    }
}
