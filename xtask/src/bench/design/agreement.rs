//! Whether a scan finds what axe-core finds: the same rules, impacts and elements on every page of the corpus.

use std::path::Path;

use serde_json::json;

use super::corpus::{Page, SOURCES};
use super::findings::{Findings, Kind};
use super::known::Known;
use super::peers::{Browser, Lines, Packages};
use super::site::Site;
use super::{Scratch, scans};
use crate::node;
use crate::sh::Done;

/// After how many pages it is said how far this is.
const EVERY: usize = 100;

/// What the pages of one source came to.
#[derive(Debug, Default)]
struct Tally {
    pages: usize,
    same: usize,
    /// Ours, theirs and both, of violations and of what is incomplete.
    counts: [[u64; 3]; 2],
}

impl Tally {
    fn add(&mut self, ours: &Findings, theirs: &Findings, is_same: bool) {
        self.pages += 1;
        self.same += usize::from(is_same);
        for (counts, kind) in self.counts.iter_mut().zip([Kind::Violation, Kind::Incomplete]) {
            let found = [ours.count(kind), theirs.count(kind), ours.shared(theirs, kind)];
            counts.iter_mut().zip(found).for_each(|(sum, more)| *sum += more);
        }
    }

    fn print(&self, name: &str) {
        let [violations, incomplete] =
            self.counts.map(|[ours, theirs, both]| format!("{ours} / {theirs} / {both}"));
        println!("{name:<16} {:>6} {:>6} {violations:>22} {incomplete:>22}", self.pages, self.same);
    }
}

/// Prints what agrees and every difference; gives the number of those that nobody has explained.
pub(super) fn measure(
    ours: &Path,
    browser: &Browser,
    site: &Site,
    pages: &[Page],
    scratch: &Scratch,
) -> Done<usize> {
    let packages = Packages::install()?;
    let known = Known::read()?;
    println!("\n▶ findings on {} pages, ours and those of axe-core alone", pages.len());
    let mut reference = Lines::start(&reference(&packages, browser)?)?;
    let mut session = scratch.place(ours, &scans::root(scratch)?, "agreement")?.serve()?;
    let mut tallies = SOURCES.map(|source| (source, Tally::default()));
    let (mut differences, mut unexplained, mut unlooked) = (Vec::new(), 0, Vec::new());
    for (number, page) in pages.iter().enumerate() {
        if number > 0 && number % EVERY == 0 {
            println!("  {number} of {}", pages.len());
        }
        let question = json!({ "url": site.url(&page.path), "scheme": page.scheme });
        let theirs = reference.ask(&question).map(|(_, answer)| Findings::of_reference(&answer));
        let mut arguments = question;
        arguments["mode"] = "browser".into();
        let found = Findings::of_scan(&mut session, &arguments);
        let (own, theirs) = match (found, theirs) {
            (Ok(own), Ok(theirs)) => (own, theirs),
            (own, theirs) => {
                let why = own.err().into_iter().chain(theirs.err()).collect::<Vec<_>>().join("; ");
                unlooked.push(format!("{}: {why}", page.path));
                continue;
            }
        };
        let differ = Findings::differences(&own, &theirs);
        if let Some((_, tally)) = tallies.iter_mut().find(|(source, _)| *source == page.from) {
            tally.add(&own, &theirs, differ.is_empty());
        }
        for one in differ {
            let kind = if one.kind == Kind::Violation { "violation" } else { "incomplete" };
            let who = if one.ours { "only ours" } else { "only axe-core" };
            let what = format!("{kind}: {who}: {}", one.what);
            let why = known.why("page", &page.path, &what);
            unexplained += usize::from(why.is_none());
            differences.push(format!("  {}: {what}\n    {}", page.path, why.unwrap_or("NOT EXPLAINED")));
        }
    }
    session.finish()?;
    println!(
        "\nagreement with axe.run() of the same axe-core and the same browser, each page by itself: violations are the same where \
         rule, impact and element are, incomplete ones where rule and element are"
    );
    println!(
        "{:<16} {:>6} {:>6} {:>22} {:>22}",
        "pages", "", "agree", "violations ours/axe/=", "incomplete ours/axe/="
    );
    for (name, tally) in &tallies {
        tally.print(name);
    }
    println!("differences: {}, of them without an explanation: {unexplained}", differences.len());
    for difference in &differences {
        println!("{difference}");
    }
    println!("pages that were not looked at: {}", unlooked.len());
    for page in &unlooked {
        println!("  {page}");
    }
    Ok(unexplained + unlooked.len())
}

/// The words that start the reference script.
pub(super) fn reference(packages: &Packages, browser: &Browser) -> Done<Vec<String>> {
    let axe = node::DESIGN.install()?.join("node_modules/axe-core/axe.min.js");
    let mut words = packages.node("reference.mjs");
    words.extend([browser.program.display().to_string(), axe.display().to_string()]);
    Ok(words)
}
