//! What is looked at of a package, whatever its ecosystem: what came before it, what it asks for, what is said of it so far.

use contract::Fault;
use kit::ReadDesk;
use packaging::sbom::Component;
use packaging::version::Bump;
use packaging::{Check, Packed, Severity, Tree as _, changelog};
use semver::Version;

use super::past::{Past, Whose};
use super::tree::{Folder, Stored};
use super::{Archive, Asked, Asks, Verified, changes};

/// How many files a check names.
const NAMED: usize = 20;

/// A package that is looked at.
pub(super) struct Looking<'a> {
    pub(super) desk: &'a ReadDesk,
    pub(super) asked: &'a Asked,
    past: Result<&'a Past, &'a str>,
    whose: Whose<'a>,
    pub(super) checks: Vec<Check>,
    /// What could not be decided, and why.
    pub(super) undecided: Vec<String>,
    pub(super) asks: Asks,
}

impl<'a> Looking<'a> {
    pub(super) fn new(
        desk: &'a ReadDesk,
        asked: &'a Asked,
        past: Result<&'a Past, &'a str>,
        whose: Whose<'a>,
    ) -> Self {
        let (checks, undecided, asks) = (Vec::new(), Vec::new(), Asks::default());
        Self { desk, asked, past, whose, checks, undecided, asks }
    }

    /// Whether the archive is within its budget: the caller's, else what is usual for `ecosystem`.
    pub(super) fn sized(&mut self, ecosystem: &str, archive: &Archive, packed: &Packed, usual: u64) {
        let id = format!("{ecosystem}.size");
        let bytes = archive.bytes.len() as u64;
        let budget = self.asked.budget.unwrap_or(usual);
        let said = format!("{bytes} bytes packed, {} unpacked, {} files", archive.unpacked, archive.files);
        if bytes <= budget {
            self.checks.push(Check::passed(id, said));
            return;
        }
        let severity = if self.asked.budget.is_some() { Severity::Error } else { Severity::Warning };
        let mut largest: Vec<(usize, &str)> =
            packed.iter().map(|(path, file)| (file.bytes.len(), path)).collect();
        largest.sort_by(|a, b| b.cmp(a));
        let mut check = Check::failed(id, severity, format!("{said}; the budget is {budget} bytes"))
            .fix("Leave out what users do not need: the largest files are named.");
        check.files = largest.into_iter().take(5).map(|(_, path)| path.to_owned()).collect();
        self.checks.push(check);
    }

    /// Takes the checks that failed, or one that says that none did.
    pub(super) fn group(&mut self, id: &str, fine: &str, failed: impl Iterator<Item = Check>) {
        let before = self.checks.len();
        self.checks.extend(failed);
        if self.checks.len() == before {
            self.checks.push(Check::passed(id, fine));
        }
    }

    /// What came before: the changelog, tags, the tree. Gives the tag or commit that the release is compared with.
    pub(super) fn before(&mut self) -> Result<Option<String>, Fault> {
        let version = &self.asked.version;
        let said = self.changelog()?;
        self.checks.push(said);
        let last = self.past.ok().and_then(|past| past.last(&self.whose, version));
        self.asks.from = last.as_ref().map(|tagged| tagged.version.clone());
        match self.past {
            Ok(past) => self.checks.extend(past.checks(&self.whose, version)),
            Err(why) => self.undecided.push(format!("release.clean-tree, release.version: {why}")),
        }
        Ok(changes::base(self.asked, last.as_ref()))
    }

    /// What changed since `base` besides exports, and whether the version goes as far as all of it asks.
    pub(super) fn since(&mut self, base: Option<&str>) -> Result<(), Fault> {
        if let (Some(base), Some(source)) = (base, self.token_source()?) {
            match changes::of_tokens(self.desk, base, &source, &mut self.asks) {
                Ok(check) => self.checks.push(check),
                Err(why) => self.undecided.push(format!("release.tokens: {why}")),
            }
        }
        // Exports and tokens are facts; what follows are people's words.
        let hard: Bump = self.asks.required;
        if self.past.is_ok_and(|past| past.head().is_some()) {
            if base.is_none() && self.asks.from.is_some() {
                let why = "release.commits: no tag says since when: name the last release's commit as `base`";
                self.undecided.push(why.to_owned());
            } else {
                let brought = Past::brought(self.desk, base, self.whose.folder)?;
                let check = changes::of_commits(&brought, &mut self.asks);
                self.checks.push(check);
            }
        }
        if self.asks.from.is_none() {
            self.undecided.push("release.bump: there is no earlier release to compare with".to_owned());
        }
        self.checks.extend(changes::bump(&self.asks, hard, &self.asked.version));
        Ok(())
    }

    fn changelog(&self) -> Result<Check, Fault> {
        let (version, whose) = (&self.asked.version, self.whose.told());
        // In its folder, else in those above it.
        let mut folder = Some(self.whose.folder);
        while let Some(at) = folder {
            let tree = Folder::new(self.desk.view(), at);
            for name in changelog::NAMES {
                let path = tree.path(name)?;
                if let Some(bytes) = self.desk.view().read_optional(&path)? {
                    let text = String::from_utf8_lossy(&bytes);
                    return Ok(changelog::check(Some((path.as_str(), &text)), version, whose));
                }
            }
            folder = (!at.is_empty()).then(|| at.rsplit_once('/').map_or("", |(above, _)| above));
        }
        Ok(changelog::check(None, version, whose))
    }

    /// Takes the version of what is compared with as the one that the release follows: where no tag says it, or the last
    /// release's archive was named.
    pub(super) fn follows(&mut self, version: Option<&str>) {
        let version = version
            .and_then(|version| Version::parse(version).ok())
            .filter(|version| version.cmp_precedence(&self.asked.version).is_lt());
        if self.asked.previous.is_some() || self.asks.from.is_none() {
            self.asks.from = version.or(self.asks.from.take());
        }
    }

    /// The packed files that `commit` does not hold as they were packed.
    fn built(&mut self, packed: &Packed, commit: &str) -> Result<Vec<String>, Fault> {
        let tree = Stored::open(self.desk, commit, self.whose.folder)?;
        let is_stored =
            |path: &str, bytes: &[u8]| tree.read(path).is_ok_and(|stored| stored.as_deref() == Some(bytes));
        let built: Vec<String> = packed
            .iter()
            .filter(|(path, file)| !is_stored(path, &file.bytes))
            .map(|(path, _)| path.to_owned())
            .collect();
        let short = commit.get(..7).unwrap_or(commit);
        let mut check = Check::passed(
            "release.source",
            match built.len() {
                0 => format!("all {} files are as {short} has them", packed.len()),
                some => format!(
                    "{some} of {} files are not in {short}: they were built, and provenance says so",
                    packed.len()
                ),
            },
        );
        check.files = built.iter().take(NAMED).cloned().collect();
        self.checks.push(check);
        Ok(built)
    }

    /// Where the tokens are: as the call says, else where they usually are, in the package or at the top.
    fn token_source(&self) -> Result<Option<String>, Fault> {
        if let Some(source) = &self.asked.tokens {
            return Ok(Some(source.clone()));
        }
        crate::tokens::usual_below(self.desk, self.whose.folder)
    }

    /// What is said of the package, once all is.
    pub(super) fn verified(
        mut self,
        ecosystem: &'static str,
        archives: Vec<Archive>,
        packed: &Packed,
        bill: (Component, Vec<Component>),
        repository: Option<String>,
    ) -> Result<Verified, Fault> {
        let commit = self.past.ok().and_then(|past| past.commit(&self.whose)).map(str::to_owned);
        let built = match &commit {
            Some(commit) if !archives.is_empty() => self.built(packed, commit)?,
            _ => Vec::new(),
        };
        Ok(Verified {
            ecosystem,
            name: self.whose.package.to_owned(),
            folder: self.whose.folder.to_owned(),
            checks: self.checks,
            undecided: self.undecided,
            archives,
            bill,
            asks: self.asks,
            repository,
            commit,
            built,
        })
    }
}
