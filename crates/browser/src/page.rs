//! A tab: opened, waited for, acted on, drawn. Its cookies and storage are its own and gone with it.

use std::sync::Arc;
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use exec::run::{Shut, Web};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

pub use crate::events::Blocked;
use crate::events::Shared;
use crate::frame::Frame;
use crate::policy::{Decision, Given, decide};
use crate::wire::{Until, Wire};
use crate::{BrowserError, Done};

/// How long a command may take that needs nothing from anybody.
const SOON: Duration = Duration::from_secs(20);

/// How long fonts and the last requests are waited for, after a page has loaded.
const SETTLES: Duration = Duration::from_secs(2);

/// Which colours a page is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Scheme {
    /// Light ones.
    #[default]
    Light,
    /// Dark ones.
    Dark,
}

/// What a page is seen through.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Window {
    /// In CSS pixels.
    pub width: u32,
    /// In CSS pixels.
    pub height: u32,
    /// Which colours it is asked for.
    pub scheme: Scheme,
}

impl Default for Window {
    fn default() -> Self {
        Self { width: 1280, height: 800, scheme: Scheme::Light }
    }
}

/// A page that was opened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Opened {
    /// The status that it was answered with, where it came by HTTP.
    pub status: Option<u16>,
    /// Where it is now, after redirects.
    pub url: String,
}

/// A tab.
pub struct Page {
    shared: Arc<Shared>,
    web: Arc<Web>,
    context: String,
    target: String,
    cancel: CancellationToken,
    deadline: Instant,
}

impl std::fmt::Debug for Page {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Page").field("target", &self.target).finish_non_exhaustive()
    }
}

impl Page {
    /// Opens an empty tab. Whatever is done with it ends at `deadline` or when `cancel` is cancelled.
    pub(crate) fn new(
        wire: &Arc<Wire>,
        web: &Arc<Web>,
        window: Window,
        given: Given,
        (deadline, cancel): (Instant, CancellationToken),
    ) -> Done<Self> {
        let until = Until { deadline, cancel: cancel.clone() }.within(SOON);
        let call = |method, params| wire.call("", method, params, &until);
        let context = call("Target.createBrowserContext", json!({ "disposeOnDetach": true }))?;
        let context = text(&context["browserContextId"]);
        let opened = (|| {
            let download = json!({ "behavior": "deny", "browserContextId": context });
            call("Browser.setDownloadBehavior", download)?;
            let target = call(
                "Target.createTarget",
                json!({
                    "url": "about:blank", "browserContextId": context,
                    "width": window.width, "height": window.height,
                }),
            )?;
            let target = text(&target["targetId"]);
            let attached = call("Target.attachToTarget", json!({ "targetId": target, "flatten": true }))?;
            Ok((target, text(&attached["sessionId"])))
        })();
        let (target, session) = match opened {
            Ok(opened) => opened,
            Err(error) => {
                wire.tell("", "Target.disposeBrowserContext", json!({ "browserContextId": context }));
                return Err(error);
            }
        };
        let (sender, receiver) = channel();
        let shared = Shared::new(
            Arc::clone(wire),
            (session.clone(), target.clone()),
            sender.clone(),
            web.reach().clone(),
            given,
        );
        wire.attend(&session, sender);
        let listening = Arc::downgrade(&shared);
        let thread = std::thread::Builder::new().name("page".to_owned());
        let spawned = thread.spawn(move || {
            // It holds nothing of the page but while it answers: the end of the page is the end of what is heard.
            while let Ok(event) = receiver.recv() {
                match listening.upgrade() {
                    Some(shared) => shared.take(&event),
                    None => return,
                }
            }
        });
        let page = Self { shared, web: Arc::clone(web), context, target, cancel, deadline };
        spawned.map_err(|e| BrowserError::Ended(e.to_string()))?;
        page.shared.prepare(&session);
        let features = [
            json!({ "name": "prefers-color-scheme", "value": if window.scheme == Scheme::Dark { "dark" } else { "light" } }),
            json!({ "name": "prefers-reduced-motion", "value": "reduce" }),
        ];
        page.call("Emulation.setEmulatedMedia", json!({ "features": features }))?;
        let metrics = json!({
            "width": window.width, "height": window.height, "deviceScaleFactor": 1, "mobile": false,
        });
        page.call("Emulation.setDeviceMetricsOverride", metrics)?;
        Ok(page)
    }

    fn until(&self, time: Duration) -> Until {
        Until { deadline: self.deadline, cancel: self.cancel.clone() }.within(time)
    }

    fn call(&self, method: &'static str, params: Value) -> Done<Value> {
        self.shared.wire.call(&self.shared.session, method, params, &self.until(SOON))
    }

    /// Opens `url` and waits until it has loaded and its fonts are there, at most `patience`.
    pub fn open(&self, url: &str, patience: Duration) -> Result<Opened, BrowserError> {
        self.shared.known().is_opening = true;
        let opened = self.opened(url, patience);
        self.shared.known().is_opening = false;
        opened
    }

    fn opened(&self, url: &str, patience: Duration) -> Done<Opened> {
        if let Decision::Refused(why) = decide(url, &self.shared.reach, self.shared.given.pages.as_ref()) {
            return Err(BrowserError::Refused { url: url.to_owned(), why: why.to_owned() });
        }
        let until = self.until(patience);
        {
            let mut known = self.shared.known();
            (known.status, known.requests) = (None, 0);
            known.lifecycle.clear();
        }
        let wire = &self.shared.wire;
        let answer = wire.call(&self.shared.session, "Page.navigate", json!({ "url": url }), &until)?;
        if let Some(why) = answer["errorText"].as_str() {
            return Err(self.unopened(url, why));
        }
        let loader = text(&answer["loaderId"]);
        self.wait(&until, "loading the page", |known| {
            known.lifecycle.contains(&(loader.clone(), "load".to_owned()))
        })?;
        let main = self.main()?;
        // Fonts change what is drawn, and the last requests what there is to draw. Neither is worth a failure.
        let settles = self.until(SETTLES).within(patience);
        let _ = main.evaluate(&self.shared, "document.fonts.ready.then(() => true)", &settles);
        let status = self.shared.known().status;
        let here = main.evaluate(&self.shared, "location.href", &self.until(SOON))?;
        let here = here.as_str().unwrap_or(url).to_owned();
        // What the door answered in place of the page.
        if let Some(shut) = status.filter(|s| matches!(s, 403 | 502 | 504)).and_then(|_| self.refused(&here))
        {
            return Err(of_the_door(&here, shut));
        }
        Ok(Opened { status, url: here })
    }

    /// Waits until no request has been under way for half a second, at most `patience`; says whether it came to that.
    pub fn settle(&self, patience: Duration) -> Result<bool, BrowserError> {
        let until = self.until(patience);
        let is_idle =
            |known: &crate::events::Known| known.lifecycle.iter().any(|(_, name)| name == "networkIdle");
        match self.wait(&until, "the network", is_idle) {
            Err(BrowserError::Timeout(_)) => Ok(false),
            other => other.map(|()| true),
        }
    }

    fn wait(
        &self,
        until: &Until,
        what: &'static str,
        is: impl Fn(&crate::events::Known) -> bool,
    ) -> Done<()> {
        loop {
            {
                let known = self.shared.known();
                if known.crashed {
                    return Err(BrowserError::Crashed);
                }
                if is(&known) {
                    return Ok(());
                }
            }
            if let Some(why) = self.shared.wire.over() {
                return Err(BrowserError::Ended(why));
            }
            until.check(what)?;
            self.shared.pause(until.tick());
        }
    }

    /// Why the door let nothing through to where `url` leads, if it did not.
    fn refused(&self, url: &str) -> Option<Shut> {
        let url = url::Url::parse(url).ok()?;
        let host = url.host_str()?;
        self.web.refusal(&format!("{host}:{}", url.port_or_known_default()?))
    }

    fn unopened(&self, url: &str, why: &str) -> BrowserError {
        let blocked = self.shared.known().blocked.last().cloned();
        match (why, blocked, self.refused(url)) {
            ("net::ERR_BLOCKED_BY_CLIENT", Some(blocked), _) => {
                BrowserError::Refused { url: blocked.url, why: blocked.why.to_owned() }
            }
            (_, _, Some(shut)) => of_the_door(url, shut),
            _ => BrowserError::Unreached { url: url.to_owned(), why: why.to_owned() },
        }
    }

    /// The page's main document as it is now.
    pub fn main(&self) -> Result<Frame, BrowserError> {
        let until = self.until(SOON);
        Frame::enter(&self.shared, &self.shared.session, &self.target, &until)
    }

    /// The value of an expression in a frame, waited for at most `patience`.
    pub fn evaluate(
        &self,
        frame: &Frame,
        expression: &str,
        patience: Duration,
    ) -> Result<Value, BrowserError> {
        if self.shared.known().crashed {
            return Err(BrowserError::Crashed);
        }
        let evaluated = frame.evaluate(&self.shared, expression, &self.until(patience));
        match evaluated {
            Err(_) if self.shared.known().crashed => Err(BrowserError::Crashed),
            other => other,
        }
    }

    /// The frame within `frame` that the element is which an expression gives.
    pub fn child(&self, frame: &Frame, expression: &str) -> Result<Option<Frame>, BrowserError> {
        frame.child(&self.shared, expression, &self.until(SOON))
    }

    /// Waits until something matches `selector`, at most `patience`.
    pub fn wait_for(&self, selector: &str, patience: Duration) -> Result<(), BrowserError> {
        let until = self.until(patience);
        let expression = format!("!!document.querySelector({})", Value::from(selector));
        loop {
            let main = self.main()?;
            match main.evaluate(&self.shared, &expression, &until) {
                Ok(Value::Bool(true)) => return Ok(()),
                Ok(_) | Err(BrowserError::Command { .. }) => {}
                Err(BrowserError::Timeout(_)) => return Err(BrowserError::NoElement(selector.to_owned())),
                Err(other) => return Err(other),
            }
            if matches!(until.check("an element"), Err(BrowserError::Timeout(_))) {
                return Err(BrowserError::NoElement(selector.to_owned()));
            }
            self.shared.pause(until.tick());
        }
    }

    /// The middle of the first element that matches, scrolled into view.
    fn middle(&self, selector: &str) -> Done<(f64, f64)> {
        let expression = format!(
            "(() => {{ const e = document.querySelector({}); if (!e) return null; \
             e.scrollIntoView({{ block: 'center', inline: 'center', behavior: 'instant' }}); \
             const r = e.getBoundingClientRect(); return [r.x + r.width / 2, r.y + r.height / 2]; }})()",
            Value::from(selector)
        );
        let at = self.main()?.evaluate(&self.shared, &expression, &self.until(SOON))?;
        match (at[0].as_f64(), at[1].as_f64()) {
            (Some(x), Some(y)) => Ok((x, y)),
            _ => Err(BrowserError::NoElement(selector.to_owned())),
        }
    }

    /// Clicks on the first element that matches.
    pub fn click(&self, selector: &str) -> Result<(), BrowserError> {
        let (x, y) = self.middle(selector)?;
        for kind in ["mouseMoved", "mousePressed", "mouseReleased"] {
            let button = if kind == "mouseMoved" { "none" } else { "left" };
            self.call(
                "Input.dispatchMouseEvent",
                json!({ "type": kind, "x": x, "y": y, "button": button, "clickCount": 1 }),
            )?;
        }
        Ok(())
    }

    /// Types text into the first element that matches.
    pub fn type_into(&self, selector: &str, words: &str) -> Result<(), BrowserError> {
        self.click(selector)?;
        self.call("Input.insertText", json!({ "text": words })).map(drop)
    }

    /// Presses a key by its name (`Enter`, `Tab`, `Escape`, `ArrowDown`, a letter).
    pub fn press(&self, key: &str) -> Result<(), BrowserError> {
        let (code, typed) = match key {
            "Enter" => (13, "\r"),
            "Tab" => (9, ""),
            "Escape" => (27, ""),
            "Backspace" => (8, ""),
            "Delete" => (46, ""),
            "Space" | " " => (32, " "),
            "ArrowLeft" => (37, ""),
            "ArrowUp" => (38, ""),
            "ArrowRight" => (39, ""),
            "ArrowDown" => (40, ""),
            "Home" => (36, ""),
            "End" => (35, ""),
            "PageUp" => (33, ""),
            "PageDown" => (34, ""),
            other => (other.bytes().next().map_or(0, |b| u32::from(b.to_ascii_uppercase())), other),
        };
        let name = if key == "Space" { " " } else { key };
        for kind in ["keyDown", "keyUp"] {
            let mut params = json!({ "type": kind, "key": name, "windowsVirtualKeyCode": code });
            if let (true, false, Some(object)) = (kind == "keyDown", typed.is_empty(), params.as_object_mut())
            {
                object.insert("text".to_owned(), typed.into());
            }
            self.call("Input.dispatchKeyEvent", params)?;
        }
        Ok(())
    }

    /// Brings what moves to its end, and hides what matches `selectors`, so that two pictures of one state are the same.
    pub fn quiet(&self, selectors: &[String]) -> Result<(), BrowserError> {
        let expression = format!(
            "(() => {{ for (const a of document.getAnimations()) {{ try {{ a.finish() }} catch {{ a.cancel() }} }} \
             for (const v of document.querySelectorAll('video, audio')) v.pause(); \
             document.documentElement.style.setProperty('caret-color', 'transparent', 'important'); \
             for (const s of {}) for (const e of document.querySelectorAll(s)) e.style.setProperty('visibility', 'hidden', 'important') }})()",
            Value::from(selectors.to_vec())
        );
        let main = self.main()?;
        self.evaluate(&main, &expression, SOON).map(drop)
    }

    /// Which browser draws it, with its version.
    pub fn product(&self) -> Result<String, BrowserError> {
        let version = self.shared.wire.call("", "Browser.getVersion", json!({}), &self.until(SOON))?;
        Ok(text(&version["product"]))
    }

    /// A picture of the whole page, at most `most` pixels high, as PNG.
    pub fn picture(&self, most: u32) -> Result<Vec<u8>, BrowserError> {
        let metrics = self.call("Page.getLayoutMetrics", json!({}))?;
        let size = &metrics["cssContentSize"];
        let extent = |name: &str, least: f64| size[name].as_f64().unwrap_or(least).max(1.0);
        let clip = json!({
            "x": 0, "y": 0, "scale": 1,
            "width": extent("width", 1280.0).min(8_192.0),
            "height": extent("height", 800.0).min(f64::from(most)),
        });
        let params = json!({ "format": "png", "captureBeyondViewport": true, "clip": clip });
        let until = self.until(SOON);
        let shot = self.shared.wire.call(&self.shared.session, "Page.captureScreenshot", params, &until)?;
        STANDARD
            .decode(shot["data"].as_str().unwrap_or_default())
            .map_err(|e| BrowserError::Ended(format!("its picture is not understood: {e}")))
    }

    /// Waits.
    pub fn pause(&self, time: Duration) -> Result<(), BrowserError> {
        let until = self.until(time);
        loop {
            match until.check("a pause") {
                Err(BrowserError::Timeout(_)) => return Ok(()),
                other => other?,
            }
            self.shared.pause(until.tick());
        }
    }

    /// Whether nothing more can be done with it.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.shared.known().crashed || self.shared.wire.over().is_some() || Instant::now() >= self.deadline
    }

    /// The requests that were not let through, and forgets them.
    pub fn blocked(&self) -> Vec<Blocked> {
        std::mem::take(&mut self.shared.known().blocked)
    }
}

impl Drop for Page {
    fn drop(&mut self) {
        let wire = &self.shared.wire;
        let sessions: Vec<String> = self.shared.known().frames.values().cloned().collect();
        for session in sessions.iter().chain([&self.shared.session]) {
            wire.leave(session);
        }
        wire.tell("", "Target.disposeBrowserContext", json!({ "browserContextId": self.context }));
    }
}

/// What it means that the door let nothing through.
fn of_the_door(url: &str, shut: Shut) -> BrowserError {
    let (url, why) = (url.to_owned(), format!("its host {}", shut.why));
    if shut.is_refused { BrowserError::Refused { url, why } } else { BrowserError::Unreached { url, why } }
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}
