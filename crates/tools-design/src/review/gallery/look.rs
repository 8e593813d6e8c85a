//! Pages looked at, in every colour scheme.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use a11y::Findings;
use browser::{Scheme, Tab};
use contract::{Code, Digest, Fault, RelPath};

use crate::review::before::Before;
use crate::review::examples::{Example, Shelf};
use crate::scan::Rules;
use crate::scan::browse::{Browsing, MAX_HEIGHT, is_over};
use crate::scan::drive;
use crate::scan::engine::{self, Axe, Part};

/// The colour schemes in which examples are looked at.
pub(super) const SCHEMES: [(Scheme, &str); 2] = [(Scheme::Light, "light"), (Scheme::Dark, "dark")];

/// What a page was made of: the digest of each file that it asked for.
type Asked = Arc<Mutex<BTreeMap<RelPath, Option<Digest>>>>;

/// An example in one colour scheme, at one time.
pub(super) struct Look {
    pub(super) png: Vec<u8>,
    pub(super) findings: Option<Findings>,
    pub(super) asked: BTreeMap<RelPath, Option<Digest>>,
}

/// Which example in which scheme.
type Key = (String, &'static str);

pub(super) fn key(example: &Example, scheme: &'static str) -> Key {
    (example.place.shown(), scheme)
}

/// Examples as they look, or why they could not be seen.
pub(super) type Looks = BTreeMap<Key, Result<Look, String>>;

/// Looks at examples.
pub(super) struct Looking<'a> {
    pub(super) browsing: &'a Browsing<'a>,
    pub(super) axe: Option<Axe>,
    pub(super) rules: Rules,
    pub(super) before: Option<&'a Before>,
}

impl Looking<'_> {
    /// Looks at every example that `wanted` wants, in every scheme; and whether the time was up before.
    pub(super) fn all(
        &self,
        examples: &[Example],
        given: &Shelf,
        wanted: impl Fn(&Example, &'static str) -> bool + Sync,
    ) -> Result<(Looks, bool), Fault> {
        // A page is waited for more than it is worked on: each scheme has a tab, and both go on together.
        let wanted = &wanted;
        let lanes = std::thread::scope(|scope| {
            let lanes = SCHEMES.map(|(scheme, word)| {
                scope.spawn(move || {
                    self.lane(examples, given, (scheme, word), |example| wanted(example, word))
                })
            });
            lanes.map(|lane| lane.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
        });
        let (mut looks, mut is_over) = (BTreeMap::new(), false);
        for lane in lanes {
            let (seen, over) = lane?;
            looks.extend(seen);
            is_over |= over;
        }
        Ok((looks, is_over))
    }

    /// Looks at examples in one scheme, one after the other.
    fn lane(
        &self,
        examples: &[Example],
        given: &Shelf,
        (scheme, word): (Scheme, &'static str),
        wanted: impl Fn(&Example) -> bool,
    ) -> Result<(Looks, bool), Fault> {
        let mut looks = BTreeMap::new();
        let asked: Asked = Arc::default();
        let mut tab: Option<Tab> = None;
        for example in examples {
            self.browsing.desk.check()?;
            if !wanted(example) {
                continue;
            }
            let page = match tab.take().map_or_else(|| self.tab(scheme, given, &asked), Ok) {
                Ok(page) => page,
                Err(fault) if fault.code == Code::Timeout => return Ok((looks, true)),
                Err(fault) => return Err(fault),
            };
            match self.look(&page, example, &asked) {
                Ok(look) => {
                    looks.insert(key(example, word), Ok(look));
                    tab = Some(page);
                }
                Err(fault) if fault.code == Code::Cancelled => return Err(fault),
                // What was seen so far is shown.
                Err(fault) if is_over(&fault, &page) && fault.code == Code::Timeout => {
                    return Ok((looks, true));
                }
                // A page that cannot be seen is one finding; the next gets a tab of its own.
                Err(fault) => {
                    looks.insert(key(example, word), Err(fault.message));
                }
            }
        }
        Ok((looks, false))
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
    pub(super) fn differs(&self, look: &Look) -> bool {
        let Some(before) = self.before else { return false };
        look.asked.iter().any(|(path, digest)| before.read(path).as_deref().map(Digest::of) != *digest)
    }
}
