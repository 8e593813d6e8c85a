//! Where a tool says what it would change. Nothing happens here: a draft becomes a plan.

use std::collections::BTreeMap;

use contract::effect::{Branch, BranchChange, Change, Request};
use contract::{
    Code, Digest, Effect, Fault, FileMode, Mode, Plan, Principal, Push, RefMove, Refs, RelPath, SeenRef,
    State, ToolName,
};

use crate::branch;
use crate::jail;
use crate::root::Rights;
use crate::view::View;

/// Most effects in one plan.
pub const MAX_EFFECTS: usize = 10_000;

/// Most bytes that one plan may carry.
pub const MAX_PLAN_BYTES: u64 = 512 * 1024 * 1024;

/// A path of a branch's commit: new content and mode, or `None` to remove it.
pub type BranchFile = (RelPath, Option<(Vec<u8>, FileMode)>);

/// The changes that a tool proposes, in order.
#[derive(Debug, Default)]
pub struct Draft {
    effects: Vec<Effect>,
    blobs: BTreeMap<Digest, Vec<u8>>,
    bytes: u64,
    by_person: bool,
}

/// A plan with the bytes that it needs.
#[derive(Debug)]
pub struct Proposal {
    /// The plan.
    pub plan: Plan,
    /// The bytes that its effects name by digest.
    pub blobs: BTreeMap<Digest, Vec<u8>>,
}

impl Draft {
    /// A draft of a plan that only a person applies: it may hold gatewright's own configuration.
    #[must_use]
    pub fn by_person() -> Self {
        Self { by_person: true, ..Self::default() }
    }

    /// Takes over what another plan would do, to files alone.
    pub fn adopt(&mut self, view: &View, other: Proposal) -> Result<(), Fault> {
        for effect in other.plan.effects {
            let Some(change) = effect.change() else { continue };
            let before = self.before(view, &change.path)?;
            if before != change.before {
                let message = format!("{}: it is now {before}; nothing was changed", change.path);
                return Err(Fault::new(Code::Conflict, message).about(change.path.as_str()));
            }
            self.add(effect)?;
        }
        for (digest, bytes) in other.blobs {
            self.keep(&bytes)?;
            self.blobs.insert(digest, bytes);
        }
        Ok(())
    }

    /// Puts a file. No effect is added where the same bytes with the same mode stand already.
    pub fn put(&mut self, view: &View, path: &RelPath, bytes: Vec<u8>, mode: FileMode) -> Result<(), Fault> {
        let mode = match self.before(view, path)? {
            State::File { mode: standing, .. } => standing.replaced_by(mode),
            _ => Mode::created(mode, view.root().umask()),
        };
        self.put_exactly(view, path, bytes, mode)
    }

    /// Puts a file with exactly this mode.
    pub fn put_exactly(
        &mut self,
        view: &View,
        path: &RelPath,
        bytes: Vec<u8>,
        mode: Mode,
    ) -> Result<(), Fault> {
        let before = self.before(view, path)?;
        let digest = self.keep(&bytes)?;
        let after = State::File { digest, bytes: bytes.len() as u64, mode };
        if before != after {
            self.blobs.insert(digest, bytes);
            self.add(Effect::Put(Change { path: path.clone(), before, after }))?;
        }
        Ok(())
    }

    /// Removes a file or a link. Nothing is added where nothing is.
    pub fn remove(&mut self, view: &View, path: &RelPath) -> Result<(), Fault> {
        let before = self.before(view, path)?;
        if before != State::Absent {
            self.add(Effect::Remove(Change { path: path.clone(), before, after: State::Absent }))?;
        }
        Ok(())
    }

    /// Makes a symbolic link to `target`, relative to the link and inside the root.
    pub fn symlink(&mut self, view: &View, path: &RelPath, target: &str) -> Result<(), Fault> {
        path.resolve_link(target).map_err(|why| {
            Fault::new(Code::PathNotAllowed, format!("{path}: the link's target {target:?}: {why}"))
                .about(path.as_str())
        })?;
        let before = self.before(view, path)?;
        let after = State::Symlink { target: target.to_owned() };
        if before != after {
            self.add(Effect::Symlink(Change { path: path.clone(), before, after }))?;
        }
        Ok(())
    }

    /// Appends `line` and a newline to a file, or creates it.
    pub fn append(&mut self, view: &View, path: &RelPath, line: &str) -> Result<(), Fault> {
        if line.contains('\n') {
            return Err(Fault::internal("an appended line has a newline in it"));
        }
        let before = self.before(view, path)?;
        let mode = match before {
            State::File { mode: standing, .. } => standing,
            _ => Mode::created(FileMode::Regular, view.root().umask()),
        };
        let mut bytes = view.read_optional(path)?.unwrap_or_default();
        if bytes.last().is_some_and(|b| *b != b'\n') {
            bytes.push(b'\n');
        }
        bytes.extend_from_slice(line.as_bytes());
        bytes.push(b'\n');
        let after = State::File { digest: self.keep(&bytes)?, bytes: bytes.len() as u64, mode };
        self.blobs.insert(Digest::of(&bytes), bytes);
        self.add(Effect::Append(Change { path: path.clone(), before, after }))
    }

    /// Writes `files` (`None` removes) as one commit on the new branch `name`, on top of HEAD. A branch that is that
    /// already is left alone.
    pub fn branch(
        &mut self,
        view: &View,
        name: &str,
        message: &str,
        files: Vec<BranchFile>,
    ) -> Result<(), Fault> {
        branch::check_name(name)?;
        let base = branch::head(view.root())?;
        let mut changes = Vec::with_capacity(files.len());
        for (path, content) in files {
            let after = match content {
                None => State::Absent,
                Some((bytes, mode)) => {
                    let (digest, length) = (self.keep(&bytes)?, bytes.len() as u64);
                    self.blobs.insert(digest, bytes);
                    State::File { digest, bytes: length, mode: Mode::created(mode, 0o022) }
                }
            };
            changes.push(BranchChange { path, after });
        }
        changes.sort_by(|a, b| a.path.cmp(&b.path));
        let made = Branch { name: name.to_owned(), base, message: message.to_owned(), changes };
        branch::check_fits(view.root(), &made)?;
        if branch::is_there(view.root(), &made, |digest| self.blobs.get(digest).map(Vec::as_slice))? {
            return Ok(());
        }
        self.add(Effect::Branch(made))
    }

    /// Sends one request, after everything else.
    pub fn request(
        &mut self,
        method: &str,
        url: &str,
        headers: Vec<(String, String)>,
        body: Vec<u8>,
    ) -> Result<(), Fault> {
        self.request_about(method, url, headers, body, Vec::new())
    }

    /// As [`Self::request`], only while refs of the repository are where they were seen.
    pub fn request_about(
        &mut self,
        method: &str,
        url: &str,
        headers: Vec<(String, String)>,
        body: Vec<u8>,
        seen: Vec<SeenRef>,
    ) -> Result<(), Fault> {
        self.check_sends_nothing()?;
        crate::request::check(method, url)?;
        let digest = self.keep(&body)?;
        self.blobs.insert(digest, body);
        let (method, url) = (method.to_owned(), url.to_owned());
        self.add(Effect::Request(Request { method, url, headers, body: digest, seen }))
    }

    /// Moves refs of the root's repository, with every object that is new there as a pack.
    pub fn refs(&mut self, view: &View, pack: Option<Vec<u8>>, moves: Vec<RefMove>) -> Result<(), Fault> {
        let digest = pack.as_ref().map(|pack| self.keep(pack)).transpose()?;
        self.blobs.extend(digest.zip(pack));
        let refs = Refs { pack: digest, moves };
        crate::refs::check(view.root(), &refs)?;
        self.add(Effect::Refs(refs))
    }

    /// Pushes refs through the user's own git, after everything else.
    pub fn push(&mut self, view: &View, push: Push) -> Result<(), Fault> {
        self.check_sends_nothing()?;
        crate::push::check(view.root(), &push)?;
        self.add(Effect::Push(push))
    }

    /// Whether it has nothing but a request or a push.
    #[must_use]
    pub fn only_sends(&self) -> bool {
        self.effects.iter().all(Effect::sends)
    }

    /// Sends what `other` sends, where it [only sends](Self::only_sends), after everything else of its own.
    pub fn send(&mut self, other: Self) -> Result<(), Fault> {
        for effect in other.effects {
            self.check_sends_nothing()?;
            self.add(effect)?;
        }
        for (digest, bytes) in other.blobs {
            self.keep(&bytes)?;
            self.blobs.insert(digest, bytes);
        }
        Ok(())
    }

    fn check_sends_nothing(&self) -> Result<(), Fault> {
        if self.effects.iter().any(Effect::sends) {
            return Err(Fault::internal("a plan holds at most one request"));
        }
        Ok(())
    }

    /// The paths that it would change.
    pub fn paths(&self) -> impl Iterator<Item = &RelPath> {
        self.effects.iter().filter_map(|effect| effect.change().map(|change| &change.path))
    }

    /// Whether nothing would change.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.effects.is_empty()
    }

    /// The plan, with everything that `view` has seen.
    #[must_use]
    pub fn into_proposal(
        mut self,
        view: &View,
        tool: ToolName,
        arguments: Digest,
        owner: &Principal,
    ) -> Proposal {
        // Files first, then branches, then the request; within each, as the tool said.
        self.effects.sort_by_key(Effect::phase);
        let mut plan = Plan::empty(tool, arguments, view.root().id().to_owned(), owner);
        plan.observed = view.observed();
        plan.by_person = self.by_person;
        plan.effects = self.effects;
        Proposal { plan, blobs: self.blobs }
    }

    fn before(&self, view: &View, path: &RelPath) -> Result<State, Fault> {
        jail::check_writable_by(path, self.by_person)?;
        view.root().check_only(path)?;
        if view.root().rights() == Rights::Read {
            let name = view.root().name();
            return Err(
                Fault::new(Code::Forbidden, format!("the root {name:?} is read-only")).about(path.as_str())
            );
        }
        if self.effects.iter().filter_map(Effect::change).any(|c| c.path == *path) {
            return Err(Fault::internal(format!("{path} is changed twice in one plan")));
        }
        let state = view.state(path)?;
        if let State::Directory { .. } = state {
            return Err(
                Fault::new(Code::PathNotAllowed, format!("{path} is a directory")).about(path.as_str())
            );
        }
        Ok(state)
    }

    fn keep(&mut self, bytes: &[u8]) -> Result<Digest, Fault> {
        self.bytes += bytes.len() as u64;
        if self.bytes > MAX_PLAN_BYTES {
            return Err(Fault::new(
                Code::TooLarge,
                format!("the plan carries more than {} MiB", MAX_PLAN_BYTES >> 20),
            ));
        }
        Ok(Digest::of(bytes))
    }

    fn add(&mut self, effect: Effect) -> Result<(), Fault> {
        if self.effects.len() == MAX_EFFECTS {
            return Err(Fault::new(Code::TooLarge, format!("the plan has more than {MAX_EFFECTS} effects")));
        }
        self.effects.push(effect);
        Ok(())
    }
}
