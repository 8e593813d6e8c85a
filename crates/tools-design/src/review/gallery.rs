//! How components look, before and now, and what is wrong with them.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use a11y::Findings;
use browser::{Scheme, Tab};
use contract::{Digest, Fault, RelPath};
use kits::{Component, Example as Shown, Finding, Gallery, Picture, Pictures};
use pictures::{Method, Picture as Pixels, compare};

use super::before::Before;
use super::examples::{Example, Examples, Shelf};
use crate::scan::Rules;
use crate::scan::browse::{Ask, Browsing, MAX_HEIGHT, Missing, is_over};
use crate::scan::drive;
use crate::scan::engine::{self, Axe, Part};
use crate::scan::place::Place;
use crate::visual;

/// The colour schemes in which examples are looked at.
const SCHEMES: [(Scheme, &str); 2] = [(Scheme::Light, "light"), (Scheme::Dark, "dark")];

/// Most elements that a finding names.
const ELEMENTS: usize = 10;

/// The largest file that an example brings along, and all of them together, in bytes.
const MAX_ASSET: usize = 8 << 20;
const MAX_ASSETS: usize = 48 << 20;

/// What a page was made of: the digest of each file that it asked for.
type Asked = Arc<Mutex<BTreeMap<RelPath, Option<Digest>>>>;

/// A gallery, the files that it shows, and what could not be had.
pub(crate) struct Made {
    pub(crate) gallery: Gallery,
    pub(crate) files: BTreeMap<String, Vec<u8>>,
    /// Part and reason.
    pub(crate) missing: Vec<(&'static str, String)>,
}

/// An example in one colour scheme, at one time.
struct Look {
    png: Vec<u8>,
    findings: Option<Findings>,
    asked: BTreeMap<RelPath, Option<Digest>>,
}

/// Looks at all examples.
pub(crate) struct Looking<'a> {
    browsing: &'a Browsing<'a>,
    axe: Option<Axe>,
    rules: Rules,
    examples: &'a Examples,
    before: Option<&'a Before>,
}

/// A browser for the gallery, or why there is none.
pub(crate) fn browsing(desk: &kit::ReadDesk, time: Duration) -> Result<Browsing<'_>, Result<String, Fault>> {
    // A story shows itself when its script has run; files of examples are there at once.
    Browsing::begin(Ask { wait: Some("idle"), ..Ask::default() }, desk, time).map_err(|missing| match missing
    {
        Missing::Part(fault) => Ok(fault.message),
        Missing::Failed(fault) => Err(fault),
    })
}

/// Makes the gallery.
pub(crate) fn make(
    browsing: &Browsing<'_>,
    examples: &Examples,
    before: Option<&Before>,
    rules: Rules,
) -> Result<Made, Fault> {
    let desk = browsing.desk;
    let mut missing = Vec::new();
    let axe = match Axe::found(desk, browsing.pool.axe()?, browsing.pool.axe_set_up()) {
        Ok(axe) => Some(axe),
        Err(fault) => {
            missing.push(("accessibility", fault.message));
            None
        }
    };
    let looking = Looking { browsing, axe, rules, examples, before };
    let now = looking.all(&examples.shelf, |_, _| true)?;
    // Of a Storybook's build nothing was committed as a rule: there is nothing to compare with.
    let then = match before.filter(|_| examples.storybook.is_none()) {
        None => BTreeMap::new(),
        Some(before) => {
            let older = before.clone();
            let shelf: Shelf = Arc::new(move |path| older.read(path));
            looking.all(&shelf, |example, scheme| {
                let Place::File(path) = &example.place else { return false };
                before.has(path)
                    && now
                        .get(&key(example, scheme))
                        .and_then(|l| l.as_ref().ok())
                        .is_some_and(|l| looking.differs(l))
            })?
        }
    };
    looking.put_together(now, then, missing)
}

/// Which example in which scheme.
type Key = (String, &'static str);

fn key(example: &Example, scheme: &'static str) -> Key {
    (example.place.shown(), scheme)
}

type Looks = BTreeMap<Key, Result<Look, String>>;

impl Looking<'_> {
    /// Looks at every example that `wanted` wants, in every scheme.
    fn all(&self, given: &Shelf, wanted: impl Fn(&Example, &'static str) -> bool) -> Result<Looks, Fault> {
        let mut looks = BTreeMap::new();
        for (scheme, word) in SCHEMES {
            let asked: Asked = Arc::default();
            let mut tab: Option<Tab> = None;
            for example in &self.examples.pages {
                self.browsing.desk.check()?;
                if !wanted(example, word) {
                    continue;
                }
                let page = match tab.take() {
                    Some(tab) => tab,
                    None => self.tab(scheme, given, &asked)?,
                };
                match self.look(&page, example, &asked) {
                    Ok(look) => {
                        looks.insert(key(example, word), Ok(look));
                        tab = Some(page);
                    }
                    Err(fault)
                        if is_over(&fault, &page)
                            && matches!(fault.code, contract::Code::Cancelled | contract::Code::Timeout) =>
                    {
                        return Err(fault);
                    }
                    // A page that cannot be seen is one finding; the next gets a tab of its own.
                    Err(fault) => {
                        looks.insert(key(example, word), Err(fault.message));
                    }
                }
            }
        }
        Ok(looks)
    }

    fn tab(&self, scheme: Scheme, given: &Shelf, asked: &Asked) -> Result<Tab, Fault> {
        let (given, asked) = (Arc::clone(given), Arc::clone(asked));
        self.browsing.tab_of(
            scheme,
            drive::served(move |path| {
                let bytes = given(path);
                let digest = bytes.as_deref().map(Digest::of);
                asked.lock().unwrap_or_else(PoisonError::into_inner).insert(path.clone(), digest);
                bytes
            }),
        )
    }

    fn look(&self, tab: &Tab, example: &Example, asked: &Asked) -> Result<Look, Fault> {
        asked.lock().unwrap_or_else(PoisonError::into_inner).clear();
        self.browsing.open(tab, &example.place)?;
        let findings = self
            .axe
            .as_ref()
            .map(|axe| {
                engine::look(tab, axe, &self.rules, &Part { include: Vec::new(), exclude: Vec::new() })
            })
            .transpose()?;
        tab.quiet(&[])?;
        let png = tab.picture(MAX_HEIGHT)?;
        let asked = asked.lock().unwrap_or_else(PoisonError::into_inner).clone();
        Ok(Look { png, findings, asked })
    }

    /// Whether something that a page is made of was another at the base.
    fn differs(&self, look: &Look) -> bool {
        let Some(before) = self.before else { return false };
        look.asked.iter().any(|(path, digest)| before.read(path).as_deref().map(Digest::of) != *digest)
    }

    fn put_together(
        &self,
        mut now: Looks,
        mut then: Looks,
        mut missing: Vec<(&'static str, String)>,
    ) -> Result<Made, Fault> {
        let mut files = BTreeMap::new();
        let mut components: BTreeMap<String, Vec<Shown>> = BTreeMap::new();
        let mut brought = Brought { room: MAX_ASSETS, ..Brought::default() };
        for example in &self.examples.pages {
            let mut shown =
                Shown { title: example.title.clone(), source: source(&example.place), ..Shown::default() };
            let (mut findings, mut older, mut seen, mut seen_before) =
                (BTreeMap::new(), BTreeMap::new(), false, false);
            for (_, word) in SCHEMES {
                let key = key(example, word);
                let look = match now.remove(&key) {
                    Some(Ok(look)) => look,
                    Some(Err(why)) => {
                        missing.push(("pictures", format!("{} ({word}): {why}", shown.source)));
                        continue;
                    }
                    None => continue,
                };
                let had = self.before.is_some_and(|before| match &example.place {
                    Place::File(path) => before.has(path) && self.examples.storybook.is_none(),
                    _ => false,
                });
                let earlier = then.remove(&key).and_then(Result::ok);
                let is_same = had && earlier.is_none() && !self.differs(&look);
                if word == "light" {
                    shown.page = self.page(example, &look, &mut brought, &mut files);
                }
                if let Some(found) = &look.findings {
                    seen = true;
                    shown.undecided = shown.undecided.max(found.incomplete.len() as u64);
                    gather(found, &mut findings);
                    if is_same {
                        gather(found, &mut older);
                        seen_before = true;
                    }
                }
                if let Some(found) = earlier.as_ref().and_then(|l| l.findings.as_ref()) {
                    gather(found, &mut older);
                    seen_before = true;
                }
                let pictures = pictures(&shown.source, word, &look, earlier.as_ref(), is_same, &mut files)?;
                shown.pictures.push(pictures);
            }
            if seen {
                shown.findings = Some(
                    findings
                        .into_values()
                        .map(|mut finding: Finding| {
                            if seen_before {
                                finding.is_old =
                                    Some(older.get(&finding.rule).is_some_and(|old: &Finding| {
                                        finding.elements.iter().all(|element| old.elements.contains(element))
                                    }));
                            }
                            finding.elements.truncate(ELEMENTS);
                            finding
                        })
                        .collect(),
                );
            }
            components.entry(example.component.clone()).or_default().push(shown);
        }
        if brought.left > 0 {
            missing.push((
                "gallery",
                format!("{} files of examples are too large to bring along", brought.left),
            ));
        }
        if self.examples.more > 0 {
            missing.push((
                "gallery",
                format!("{} more examples: name fewer with `examples`", self.examples.more),
            ));
        }
        let is_storybook = self.examples.storybook.is_some();
        let gallery = Gallery {
            origin: if is_storybook { "storybook" } else { "examples" }.to_owned(),
            storybook: self.storybook(&mut files),
            components: components.into_iter().map(|(name, examples)| Component { name, examples }).collect(),
        };
        Ok(Made { gallery, files, missing })
    }

    /// Brings the Storybook along.
    fn storybook(&self, files: &mut BTreeMap<String, Vec<u8>>) -> Option<String> {
        let all = self.examples.storybook.as_ref()?;
        for (path, bytes) in all {
            let bytes = if is_page(path) { kits::guard_example(bytes) } else { bytes.clone() };
            files.insert(format!("storybook/{path}"), bytes);
        }
        all.contains_key("index.html").then(|| "storybook/index.html".to_owned())
    }

    /// Brings an example along with everything that it asked for, and says where it is.
    fn page(
        &self,
        example: &Example,
        look: &Look,
        brought: &mut Brought,
        files: &mut BTreeMap<String, Vec<u8>>,
    ) -> Option<String> {
        let path = match &example.place {
            Place::File(path) => path,
            Place::Story(_, query) => return Some(format!("storybook/iframe.html?{query}")),
            Place::Web(_) => return None,
        };
        for asked in look.asked.keys() {
            let to = format!("examples/{asked}");
            if files.contains_key(&to) || !kits::is_path(&to) {
                continue;
            }
            let Some(bytes) = (self.examples.shelf)(asked) else { continue };
            if bytes.len() > MAX_ASSET || bytes.len() > brought.room {
                brought.left += 1;
                continue;
            }
            brought.room -= bytes.len();
            let clean = match String::from_utf8(bytes) {
                Ok(text) => self.browsing.desk.cleaned(&text).into_bytes(),
                Err(error) => error.into_bytes(),
            };
            files.insert(to, if is_page(asked.as_str()) { kits::guard_example(&clean) } else { clean });
        }
        let page = format!("examples/{path}");
        files.contains_key(&page).then_some(page)
    }
}

/// What examples bring along.
#[derive(Default)]
struct Brought {
    room: usize,
    left: usize,
}

fn is_page(path: &str) -> bool {
    path.rsplit_once('.').is_some_and(|(_, ending)| matches!(ending, "html" | "htm"))
}

fn source(place: &Place) -> String {
    match place {
        Place::File(path) => path.to_string(),
        Place::Story(_, query) => {
            let id = query.strip_prefix("id=").and_then(|q| q.split('&').next()).unwrap_or(query);
            format!("story:{id}")
        }
        Place::Web(url) => url.clone(),
    }
}

/// Adds what was found, by rule.
fn gather(found: &Findings, to: &mut BTreeMap<String, Finding>) {
    for finding in &found.violations {
        let entry = to.entry(finding.rule.clone()).or_insert_with(|| Finding {
            rule: finding.rule.clone(),
            impact: finding.impact.word().to_owned(),
            help: finding.help.clone(),
            help_url: finding.help_url.clone(),
            ..Finding::default()
        });
        for node in &finding.nodes {
            let selector = node.target.join(" ");
            if !entry.elements.contains(&selector) {
                entry.elements.push(selector);
            }
        }
    }
}

/// The pictures of an example in a scheme: before, now, and what differs.
fn pictures(
    source: &str,
    scheme: &str,
    look: &Look,
    earlier: Option<&Look>,
    is_same: bool,
    files: &mut BTreeMap<String, Vec<u8>>,
) -> Result<Pictures, Fault> {
    let after = visual::read(&look.png, source)?;
    let stem = format!("pictures/{}-{scheme}", slug(source));
    let mut keep = |what: &str, picture: &Pixels| -> Result<Picture, Fault> {
        let path = format!("{stem}-{what}.png");
        // Written by us, so that the same picture always has the same bytes.
        files.insert(path.clone(), visual::write(picture)?);
        Ok(Picture { path, width: picture.width(), height: picture.height() })
    };
    let now = keep("after", &after)?;
    let mut shown = Pictures { scheme: scheme.to_owned(), after: Some(now.clone()), ..Pictures::default() };
    if is_same {
        shown.before = Some(now);
    } else if let Some(earlier) = earlier {
        let before = visual::read(&earlier.png, source)?;
        let difference = compare(&before, &after, Method::Perceptual);
        shown.pixels = difference.pixels;
        shown.share = (difference.share * 1e6).round() / 1e6;
        shown.before = Some(keep("before", &before)?);
        if difference.pixels > 0 {
            shown.difference = Some(keep("difference", &difference.shown)?);
        }
    }
    Ok(shown)
}

/// A name for files, of a path: what is no plain character is a dash, and a digest tells those apart that become the same.
fn slug(source: &str) -> String {
    let plain: String = source
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' })
        .collect();
    let plain: String = plain.chars().rev().take(48).collect::<Vec<_>>().into_iter().rev().collect();
    format!("{}-{}", plain.trim_matches('-'), Digest::of(source.as_bytes()).short(6))
}
