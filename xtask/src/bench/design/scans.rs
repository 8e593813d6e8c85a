//! Scans of the same pages by several programs, cold and warm.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::peers::{Browser, Lines, Packages, ran};
use super::site::Site;
use super::{Scratch, agreement};
use crate::bench::samples::Samples;
use crate::node;
use crate::session::Place;
use crate::sh::Done;

/// The pages: right and wrong, short and long, with frames of another origin, of a real design system.
const PAGES: [&str; 6] = [
    "own/article.html",
    "own/forms.html",
    "own/late.html",
    "own/frames-other.html",
    "govuk/table-00.html",
    "govuk/radios-00.html",
];

/// One program's times.
struct Times {
    name: &'static str,
    cold: Vec<Duration>,
    warm: Vec<Duration>,
    /// What it said last of [`PAGES`], issues or rules, to show that it looked.
    found: String,
}

impl Times {
    fn new(name: &'static str) -> Self {
        Self { name, cold: Vec::new(), warm: Vec::new(), found: String::new() }
    }
}

/// A root with axe-core in it.
pub(super) fn root(scratch: &Scratch) -> Done<PathBuf> {
    let root = scratch.folder("root")?;
    with_axe(&root)?;
    Ok(root)
}

/// Puts axe-core where a project has it.
pub(crate) fn with_axe(root: &Path) -> Done {
    let axe = node::DESIGN.install()?.join("node_modules/axe-core/axe.min.js");
    let folder = root.join("node_modules/axe-core");
    std::fs::create_dir_all(&folder)
        .and_then(|()| std::fs::copy(&axe, folder.join("axe.min.js")))
        .map(drop)
        .map_err(|e| format!("{}: {e}", folder.display()))
}

/// Prints the times of all programs.
pub(super) fn measure(ours: &Path, browser: &Browser, site: &Site, rounds: usize, scratch: &Scratch) -> Done {
    let packages = Packages::install()?;
    println!("\n▶ scans, {rounds} rounds");
    let place = scratch.place(ours, &root(scratch)?, "scans")?;
    let urls: Vec<String> = PAGES.iter().map(|page| site.url(page)).collect();
    let peers = Peers::new(&packages, browser, scratch)?;
    let mut all = [
        Times::new("gatewright, over stdio"),
        Times::new("axe-core by puppeteer-core, our script"),
        Times::new("pa11y 10 --runner axe"),
        Times::new("pa11y 10, its own runner (htmlcs)"),
        Times::new("@axe-core/cli"),
    ];
    let mut warm = Warm::start(&place, &peers)?;
    warm.round(&urls, &mut all, false)?;
    for round in 0..rounds {
        cold(&place, &peers, &urls, round, &mut all)?;
        warm.round(&urls, &mut all, true)?;
    }
    warm.session.finish()?;
    print(&all, browser, rounds);
    Ok(())
}

/// How the peers are started.
struct Peers {
    reference: Vec<String>,
    pa11y: Vec<String>,
    pa11y_lines: Vec<String>,
    axe: Option<Vec<String>>,
    dir: PathBuf,
}

impl Peers {
    fn new(packages: &Packages, browser: &Browser, scratch: &Scratch) -> Done<Self> {
        let dir = scratch.folder("peers")?;
        let program = browser.program.display().to_string();
        let config = dir.join("pa11y.json");
        let launch = json!({ "chromeLaunchConfig": { "executablePath": program, "args": ["--no-sandbox"] } });
        std::fs::write(&config, launch.to_string()).map_err(|e| format!("{}: {e}", config.display()))?;
        let with = |mut words: Vec<String>, more: &[&str]| {
            words.extend(more.iter().map(|word| (*word).to_owned()));
            words
        };
        let config = config.display().to_string();
        let axe = browser.driver.as_ref().map(|driver| {
            let driver = driver.display().to_string();
            let flags = ["--stdout", "--chromedriver-path", &driver, "--chrome-path", &program];
            with(with(packages.program("axe"), &flags), &["--chrome-options", "no-sandbox"])
        });
        Ok(Self {
            reference: agreement::reference(packages, browser)?,
            pa11y: with(packages.program("pa11y"), &["--config", &config, "--reporter", "json"]),
            pa11y_lines: with(packages.node("pa11y.mjs"), &[&program]),
            axe,
            dir,
        })
    }

    /// pa11y as its command is, on one page.
    fn pa11y(&self, url: &str, runner: &str) -> Done<Duration> {
        let mut words = self.pa11y.clone();
        words.extend(["--runner", runner, url].map(str::to_owned));
        // It ends with 2 where it found something.
        ran(&words, &self.dir, &[0, 2]).map(|ran| ran.took)
    }

    /// `axe` on all these pages, one after another in one browser.
    fn axe(&self, urls: &[String]) -> Done<Option<(Duration, String)>> {
        let Some(words) = &self.axe else { return Ok(None) };
        // Options take lists: the pages come first.
        let (program, options) = words.split_at(2);
        let words = [program, urls, options].concat();
        let ran = ran(&words, &self.dir, &[0])?;
        let said: Value =
            serde_json::from_str(&ran.printed).map_err(|e| format!("@axe-core/cli: {e}: {}", ran.printed))?;
        let pages = said.as_array().map_or(&[][..], Vec::as_slice);
        if pages.len() != urls.len() {
            return Err(format!("@axe-core/cli looked at {} of {} pages", pages.len(), urls.len()));
        }
        let rules: usize = pages.iter().map(|page| page["violations"].as_array().map_or(0, Vec::len)).sum();
        Ok(Some((ran.took, format!("{rules} rules broken"))))
    }
}

/// Each program from its start to its end, for one page.
fn cold(place: &Place, peers: &Peers, urls: &[String], round: usize, all: &mut [Times; 5]) -> Done {
    let Some(url) = urls.get(round % urls.len()) else { return Err("there is no page".to_owned()) };
    let [ours, script, pa11y, htmlcs, axe] = all;
    let began = Instant::now();
    let mut session = place.serve()?;
    session.call("a11y_scan", json!({ "url": url, "mode": "browser" }))?;
    session.finish()?;
    ours.cold.push(began.elapsed());
    let began = Instant::now();
    let mut lines = Lines::start(&peers.reference)?;
    lines.ask(&json!({ "url": url, "scheme": "light" }))?;
    drop(lines);
    script.cold.push(began.elapsed());
    pa11y.cold.push(peers.pa11y(url, "axe")?);
    htmlcs.cold.push(peers.pa11y(url, "htmlcs")?);
    let Some((one, _)) = peers.axe(std::slice::from_ref(url))? else { return Ok(()) };
    axe.cold.push(one);
    // It has no way to stay: what each further page costs is what it has of being warm.
    let mut pages = vec![url.clone()];
    pages.extend(urls.iter().filter(|other| *other != url).cloned());
    if let Some((many, found)) = peers.axe(&pages)? {
        let further = u32::try_from(pages.len().saturating_sub(1)).unwrap_or(u32::MAX);
        axe.warm.push(many.saturating_sub(one) / further.max(1));
        axe.found = found;
    }
    Ok(())
}

/// The programs that stay.
struct Warm {
    session: crate::session::Session,
    script: Lines,
    pa11y: Lines,
}

impl Warm {
    fn start(place: &Place, peers: &Peers) -> Done<Self> {
        Ok(Self {
            session: place.serve()?,
            script: Lines::start(&peers.reference)?,
            pa11y: Lines::start(&peers.pa11y_lines)?,
        })
    }

    /// Every page once by every program, one after another.
    fn round(&mut self, urls: &[String], all: &mut [Times; 5], counts: bool) -> Done {
        let mut found = [0_u64; 4];
        for url in urls {
            let arguments = json!({ "url": url, "mode": "browser" });
            let (ours, answer) = self.session.timed("a11y_scan", &arguments)?;
            if answer["pages"][0]["status"] != 200 {
                return Err(format!("{url}: {answer}"));
            }
            let (script, said) = self.script.ask(&json!({ "url": url, "scheme": "light" }))?;
            let (pa11y, axe) = self.pa11y.ask(&json!({ "url": url, "runner": "axe" }))?;
            let (htmlcs, other) = self.pa11y.ask(&json!({ "url": url, "runner": "htmlcs" }))?;
            let counted = [
                answer["issueCount"].as_u64(),
                said["violations"].as_array().map(|rows| rows.len() as u64),
                axe["issues"].as_u64(),
                other["issues"].as_u64(),
            ];
            for (sum, more) in found.iter_mut().zip(counted) {
                *sum += more.unwrap_or(0);
            }
            if counts {
                let times = [ours, script, pa11y, htmlcs];
                all.iter_mut().zip(times).for_each(|(of, time)| of.warm.push(time));
            }
        }
        let units = ["rules broken", "elements", "issues", "issues"];
        for ((of, count), unit) in all.iter_mut().zip(found).zip(units) {
            of.found = format!("{count} {unit}");
        }
        Ok(())
    }
}

fn print(all: &[Times; 5], browser: &Browser, rounds: usize) {
    println!(
        "\nscans of {} pages on loopback, seconds, medians of interleaved rounds. cold: a process from its start to its end, one page, \
         {rounds} rounds; warm: a further page in a browser that runs, {rounds} rounds of every page. Ratios: to gatewright's. pa11y \
         waits until the network is idle (half a second), and its runners look at the page without its frames.",
        PAGES.len()
    );
    println!("{:<40} {:>8} {:>8} {:>8} {:>8}   found on all pages", "", "cold", "ratio", "warm", "ratio");
    let median = |times: &[Duration]| Samples::of(times).median() / 1e3;
    let (cold, warm) =
        all.first().map_or((f64::NAN, f64::NAN), |ours| (median(&ours.cold), median(&ours.warm)));
    for times in all {
        if times.cold.is_empty() {
            continue;
        }
        let (own_cold, own_warm) = (median(&times.cold), median(&times.warm));
        println!(
            "{:<40} {own_cold:>8.2} {:>7.1}x {own_warm:>8.2} {:>7.1}x   {}",
            times.name,
            own_cold / cold,
            own_warm / warm,
            times.found
        );
    }
    if browser.driver.is_none() {
        println!(
            "SKIPPED: @axe-core/cli: chromedriver is missing (Debian: apt-get install chromium-driver chromium)"
        );
    }
}
