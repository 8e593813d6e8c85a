//! Opening a page, and what is done before it is looked at.

use std::sync::Arc;
use std::time::Duration;

use browser::{Opened, Page, Pages, Served};
use contract::{Code, Fault, RelPath};
use exec::view::View;
use kit::ReadDesk;

use super::place::HOST;

/// How long a page may take to load.
const LOADS: Duration = Duration::from_secs(30);

/// How long is waited for something on it.
const WAITS: Duration = Duration::from_secs(15);

/// The longest plain wait.
const MAX_PAUSE: u64 = 10_000;

/// What is waited for before a page is looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Wait {
    /// Until no request is under way.
    Idle,
    /// For so many milliseconds.
    Pause(u64),
    /// Until something matches.
    For(String),
}

impl Wait {
    /// `idle`, a number of milliseconds, or a selector.
    pub(crate) fn read(text: &str) -> Result<Self, Fault> {
        if text == "idle" {
            return Ok(Self::Idle);
        }
        match text.parse::<u64>() {
            Ok(millis) if millis <= MAX_PAUSE => Ok(Self::Pause(millis)),
            Ok(_) => {
                Err(Fault::invalid(format!("wait: at most {MAX_PAUSE} ms; wait for a selector instead")))
            }
            Err(_) => Ok(Self::For(text.to_owned())),
        }
    }

    fn on(&self, page: &Page) -> Result<(), Fault> {
        match self {
            Self::Idle => page.settle(WAITS).map(drop)?,
            Self::Pause(millis) => page.pause(Duration::from_millis(*millis))?,
            Self::For(selector) => page.wait_for(selector, WAITS)?,
        }
        Ok(())
    }
}

/// What is done on a page before it is looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Action {
    /// Click on the first element that matches.
    Click(String),
    /// Type into the first element that matches.
    Type(String, String),
    /// Press a key.
    Press(String),
    /// Wait.
    Wait(Wait),
}

impl Action {
    /// `click SELECTOR`, `type SELECTOR = TEXT`, `press KEY`, `wait WHAT`.
    pub(crate) fn read(text: &str) -> Result<Self, Fault> {
        let wrong = || {
            Fault::invalid(format!("actions: {:?} is not understood", contract::text::visible(text))).suggest(
                "Write `click SELECTOR`, `type SELECTOR = TEXT`, `press KEY` or `wait SELECTOR|idle|MILLISECONDS`.",
            )
        };
        let (verb, rest) = text.split_once(' ').ok_or_else(wrong)?;
        let rest = rest.trim();
        if rest.is_empty() {
            return Err(wrong());
        }
        Ok(match verb {
            "click" => Self::Click(rest.to_owned()),
            "type" => {
                let (selector, words) = rest.split_once(" = ").ok_or_else(wrong)?;
                Self::Type(selector.trim().to_owned(), words.to_owned())
            }
            "press" => Self::Press(rest.to_owned()),
            "wait" => Self::Wait(Wait::read(rest)?),
            _ => return Err(wrong()),
        })
    }

    fn on(&self, page: &Page) -> Result<(), Fault> {
        match self {
            Self::Click(selector) => page.click(selector)?,
            Self::Type(selector, words) => page.type_into(selector, words)?,
            Self::Press(key) => page.press(key)?,
            Self::Wait(wait) => wait.on(page)?,
        }
        Ok(())
    }
}

/// Opens a page and brings it to where it is to be looked at.
pub(crate) fn open(page: &Page, url: &str, wait: Option<&Wait>, actions: &[Action]) -> Result<Opened, Fault> {
    let opened = page.open(url, LOADS)?;
    if let Some(wait) = wait {
        wait.on(page).map_err(|fault| said("wait", fault))?;
    }
    for action in actions {
        action.on(page).map_err(|fault| said("actions", fault))?;
    }
    Ok(opened)
}

/// The text that is at a URL, as a page of its origin reads it.
pub(crate) fn text(page: &Page, url: &str) -> Result<String, Fault> {
    let opened = page.open(url, LOADS)?;
    if opened.status.is_some_and(|status| status >= 400) {
        let status = opened.status.unwrap_or_default();
        return Err(Fault::new(Code::NotFound, format!("{url}: it was answered with {status}")));
    }
    let main = page.main()?;
    let read = "fetch(location.href).then(r => r.text())";
    let text = page.evaluate(&main, read, LOADS)?;
    Ok(text.as_str().unwrap_or_default().to_owned())
}

fn said(argument: &str, mut fault: Fault) -> Fault {
    fault.message = format!("{argument}: {}", fault.message);
    fault
}

/// A root's files as pages of [`HOST`]; whatever is asked of another host is not there.
pub(crate) fn files(desk: &ReadDesk) -> Pages {
    let desk = desk.clone();
    served(move |path| read(desk.view(), path))
}

/// What `read` has, as pages of [`HOST`].
pub(crate) fn served(read: impl Fn(&RelPath) -> Option<Vec<u8>> + Send + Sync + 'static) -> Pages {
    Arc::new(move |url| {
        if url.host_str() != Some(HOST) {
            return missing();
        }
        let path = url.path().trim_start_matches('/');
        let decoded = percent(path);
        let place = if decoded.is_empty() || decoded.ends_with('/') {
            format!("{decoded}index.html")
        } else {
            decoded
        };
        match RelPath::new(&place).ok().and_then(|path| read(&path)) {
            Some(body) => Served { status: 200, mime: mime(&place).to_owned(), headers: Vec::new(), body },
            None => missing(),
        }
    })
}

/// A file of the root, where a page may have it.
pub(crate) fn read(view: &View, path: &RelPath) -> Option<Vec<u8>> {
    match view.read_optional(path) {
        Ok(bytes) => bytes,
        Err(fault) => {
            if fault.code != Code::NotFound {
                tracing::debug!(%path, "a page asked for a file that is not given: {}", fault.message);
            }
            None
        }
    }
}

fn missing() -> Served {
    Served {
        status: 404,
        mime: "text/plain".to_owned(),
        headers: Vec::new(),
        body: b"there is no such file in the root".to_vec(),
    }
}

/// A path as it was before it was written in a URL; what is no text stays as it is.
fn percent(path: &str) -> String {
    let (bytes, mut out, mut at) = (path.as_bytes(), Vec::new(), 0);
    while let Some(byte) = bytes.get(at) {
        let hex = bytes.get(at + 1..at + 3).and_then(|hex| std::str::from_utf8(hex).ok());
        match hex.and_then(|hex| u8::from_str_radix(hex, 16).ok()).filter(|_| *byte == b'%') {
            Some(decoded) => {
                out.push(decoded);
                at += 3;
            }
            None => {
                out.push(*byte);
                at += 1;
            }
        }
    }
    String::from_utf8(out).unwrap_or_else(|_| path.to_owned())
}

/// The content type of a file, by its name: those that pages are made of.
pub(crate) fn mime(name: &str) -> &'static str {
    let ending = name.rsplit('.').next().unwrap_or_default().to_ascii_lowercase();
    match ending.as_str() {
        "html" | "htm" => "text/html; charset=utf-8",
        "xhtml" => "application/xhtml+xml",
        "css" => "text/css; charset=utf-8",
        "js" | "mjs" => "text/javascript; charset=utf-8",
        "json" | "map" => "application/json",
        "svg" => "image/svg+xml",
        "png" => "image/png",
        "jpg" | "jpeg" => "image/jpeg",
        "gif" => "image/gif",
        "webp" => "image/webp",
        "avif" => "image/avif",
        "ico" => "image/x-icon",
        "woff" => "font/woff",
        "woff2" => "font/woff2",
        "ttf" => "font/ttf",
        "otf" => "font/otf",
        "wasm" => "application/wasm",
        "mp4" => "video/mp4",
        "webm" => "video/webm",
        "mp3" => "audio/mpeg",
        "txt" | "md" => "text/plain; charset=utf-8",
        "xml" => "text/xml",
        "vtt" => "text/vtt",
        "pdf" => "application/pdf",
        _ => "application/octet-stream",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn actions_and_waits_are_read() {
        assert_eq!(Action::read("click #a b").unwrap(), Action::Click("#a b".into()));
        assert_eq!(
            Action::read("type input[a=b] = x = y").unwrap(),
            Action::Type("input[a=b]".into(), "x = y".into())
        );
        assert_eq!(Action::read("wait 200").unwrap(), Action::Wait(Wait::Pause(200)));
        assert_eq!(Wait::read("idle").unwrap(), Wait::Idle);
        assert_eq!(Wait::read("main").unwrap(), Wait::For("main".into()));
        for wrong in ["", "click", "click ", "type x", "hover a", "wait 99999"] {
            assert!(Action::read(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn paths_are_decoded_once() {
        assert_eq!(percent("a%20b/%C3%BC%2525"), "a b/ü%25");
        assert_eq!(percent("%zz%"), "%zz%");
        assert_eq!(percent("%FF"), "%FF");
    }
}
