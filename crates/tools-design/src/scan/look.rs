//! What axe-core finds on pages in a browser.

use std::time::Instant;

use a11y::Findings;
use browser::Page;
use contract::Fault;
use kit::ReadDesk;
use kit::limits::Limits;

use super::Rules;
use super::browse::{Ask, Browsing, MAX_HEIGHT, Missing, is_over, stopped};
use super::engine::{self, Axe, Part};
use super::outcome::{Known, Outcome};
use super::place::{Home, Place};
use super::seen::{Looked, Scan, Seen, millis};
use crate::tools::a11y_scan::{Input, Mode};

/// A scan in a browser.
pub(crate) struct InBrowser<'i> {
    browsing: Browsing<'i>,
    input: &'i Input,
    axe: Axe,
}

impl<'i> InBrowser<'i> {
    pub(crate) fn begin(input: &'i Input, desk: &'i ReadDesk) -> Result<Self, Missing> {
        let ask = Ask {
            viewport: input.viewport,
            scheme: input.scheme,
            wait: input.wait.as_deref(),
            actions: &input.actions,
            headers: Some(&input.headers),
            cookies: Some(&input.cookies),
            stories: &input.stories,
            sitemap: input.sitemap,
        };
        let browsing = Browsing::begin(ask, desk, Limits::DEFAULT.timeout)?;
        let configured = browsing.pool.axe().map_err(Missing::Failed)?;
        let axe = Axe::found(desk, configured, browsing.pool.axe_set_up()).map_err(Missing::Part)?;
        Ok(Self { browsing, input, axe })
    }

    pub(crate) fn scan(
        &self,
        named: &[Place],
        rules: &Rules,
        known: &mut Known<'_>,
    ) -> Result<Scan, Missing> {
        let pages = self.browsing.pages(named).map_err(Missing::Failed)?;
        let mut scan = Scan::new(Mode::Browser, self.axe.engine.clone());
        let part = Part { include: self.input.include.clone(), exclude: self.input.exclude.clone() };
        for home in Home::ALL {
            let here: Vec<&Place> = pages.iter().filter(|page| page.home() == home).collect();
            if here.is_empty() {
                continue;
            }
            let tab = self.browsing.tab(home).map_err(Missing::Failed)?;
            for place in here {
                #[expect(clippy::cast_precision_loss, reason = "a few dozen pages")]
                self.browsing.desk.progress(scan.pages.len() as f64, Some(pages.len() as f64), place.shown());
                let began = Instant::now();
                let looked = self.look(&tab, place, rules, &part);
                scan.blocked.extend(tab.blocked().into_iter().map(stopped));
                let looked = looked.map(|(opened, findings, picture)| {
                    scan.seen.push(Seen { page: place.shown(), findings: findings.clone(), picture });
                    (opened, findings)
                });
                match told(place, looked, began, &mut scan.outcome, known) {
                    Ok(page) => scan.pages.push(page),
                    // Of one page, that is the answer; of several, the others have theirs.
                    Err(fault) if pages.len() == 1 || is_over(&fault, &tab) => {
                        return Err(Missing::Failed(fault));
                    }
                    Err(fault) => scan.pages.push(unlooked(place, &fault, began)),
                }
            }
        }
        Ok(scan)
    }

    fn look(&self, tab: &Page, place: &Place, rules: &Rules, part: &Part) -> Result<LookedAt, Fault> {
        let opened = self.browsing.open(tab, place)?;
        let findings = engine::look(tab, &self.axe, rules, part)?;
        let picture = self.input.screenshots.then(|| tab.picture(MAX_HEIGHT)).transpose()?;
        Ok((opened, findings, picture.map(|png| (png, self.browsing.window.width))))
    }
}

/// A page that was looked at: where it was, what was found, and its picture with its width.
type LookedAt = (browser::Opened, Findings, Option<(Vec<u8>, u32)>);

fn told(
    place: &Place,
    looked: Result<(browser::Opened, Findings), Fault>,
    began: Instant,
    outcome: &mut Outcome,
    known: &mut Known<'_>,
) -> Result<Looked, Fault> {
    let (opened, findings) = looked?;
    let url = place.shown();
    let issue_count = outcome.add(&url, findings, known);
    Ok(Looked { url, status: opened.status, issue_count, milliseconds: millis(began), error: None })
}

fn unlooked(place: &Place, fault: &Fault, began: Instant) -> Looked {
    Looked {
        url: place.shown(),
        status: None,
        issue_count: 0,
        milliseconds: millis(began),
        error: Some(fault.message.clone()),
    }
}
