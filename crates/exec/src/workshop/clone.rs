//! The project's record for programs that change it: a throw-away clone in the place of `.git`. Its objects are the project's, borrowed
//! and read-only; its refs and its index are copies; of the configuration it has what names no program. What such a program does to its
//! refs, and pushes to its remotes (bare folders, in the world too), is looked at afterwards, and is what the plan has.
//!
//! - What is looked at was written by programs: only plain files of a bounded size are read, links are never followed, and every object
//!   is what its name says.
//! - What programs do to the work tree, HEAD and the index goes with the clone: those are the user's.

mod seen;

use std::collections::BTreeMap;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use contract::{Code, Fault, Push};
use flate2::read::ZlibDecoder;
use gix::ObjectId;
use gix::objs::Kind;
use launcher::Bound;

use seen::{Refs, branch_of, known, moved, packed, plain, read_refs};

use super::{Unplannable, Workshop};
use crate::branch::{open, refused};
use crate::draft::Draft;
use crate::push;
use crate::refs::{self, pack};
use crate::request::Sender;
use crate::root::Root;
use crate::state::broken;
use crate::view::View;

/// Where programs find the project's objects, in the clone: below what they may see.
const OBJECTS: &str = "borrowed";

/// Where they find the remotes.
const REMOTES: &str = "/home/remotes";

/// Largest index that is copied.
const MAX_INDEX: u64 = 256 << 20;

/// Largest object that is read.
const MAX_OBJECT: u64 = 128 << 20;

/// What a tool's programs need of the project's record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cloning {
    /// The sections of git's configuration that are its own, in lower case.
    pub sections: Vec<String>,
    /// The refs that it moves: whole names, or such that end in `/*`.
    pub refs: Vec<String>,
    /// Whether what it pushes becomes a push; else it is refused.
    pub pushes: bool,
    /// Keys of its configuration that are set for it, and their values.
    pub sets: Vec<(String, String)>,
}

impl Cloning {
    /// Whether a ref is one that it moves.
    fn moves(&self, name: &str) -> bool {
        self.refs.iter().any(|declared| match declared.strip_suffix('*') {
            Some(front) => front.ends_with('/') && name.starts_with(front) && name.len() > front.len(),
            None => declared == name,
        })
    }
}

/// Another repository, as it was last seen.
struct Remote {
    name: String,
    url: String,
    git: PathBuf,
    before: Refs,
}

/// A clone.
pub(crate) struct Throwaway {
    git: PathBuf,
    /// The project's own objects, and where the world has them.
    objects: PathBuf,
    borrowed: PathBuf,
    remotes_at: PathBuf,
    before: Refs,
    head: Option<String>,
    remotes: Vec<Remote>,
}

impl Throwaway {
    /// A clone of the repository at the top of `root`, made in `place`.
    pub(crate) fn of(root: &Root, place: &Path, cloning: &Cloning) -> Result<Self, Fault> {
        let repo = open(root)?;
        let real = repo.git_dir().to_owned();
        if ["rebase-merge", "rebase-apply", "MERGE_HEAD", "CHERRY_PICK_HEAD"]
            .iter()
            .any(|busy| real.join(busy).exists())
        {
            return Err(Fault::new(Code::Conflict, "the repository is in the middle of a rebase or merge")
                .suggest("Finish it (`git rebase --continue`) or leave it (`git rebase --abort`), then call again."));
        }
        let (before, symbolic) = known(&repo)?;
        let head = plain(&real.join("HEAD"), 4096).ok_or_else(|| refused("HEAD cannot be read"))?;
        let made = Self {
            git: place.join("clone"),
            objects: real.join("objects"),
            borrowed: root.path().join(".git").join(OBJECTS),
            remotes_at: place.join("remotes"),
            head: branch_of(&head),
            before,
            remotes: Vec::new(),
        };
        made.lay(&real, &head, &symbolic, cloning).map_err(|e| broken("clone", &e))
    }

    fn lay(
        mut self,
        real: &Path,
        head: &[u8],
        symbolic: &BTreeMap<String, String>,
        cloning: &Cloning,
    ) -> std::io::Result<Self> {
        let git = &self.git;
        for folder in ["objects/info", "objects/pack", "refs/heads", "refs/tags", "info", OBJECTS] {
            std::fs::create_dir_all(git.join(folder))?;
        }
        std::fs::create_dir_all(&self.remotes_at)?;
        std::fs::write(git.join("HEAD"), head)?;
        std::fs::write(git.join("packed-refs"), packed(&self.before))?;
        std::fs::write(git.join("objects/info/alternates"), format!("{}\n", self.borrowed.display()))?;
        for (name, to) in symbolic {
            let file = git.join(name);
            file.parent().map_or(Ok(()), std::fs::create_dir_all)?;
            std::fs::write(file, format!("ref: {to}\n"))?;
        }
        let shared =
            std::fs::read_dir(real)?.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned());
        let shared = shared.filter(|name| name.starts_with("sharedindex."));
        let files = ["index", "shallow", "info/exclude", "info/sparse-checkout", "info/attributes"]
            .map(str::to_owned);
        for name in files.into_iter().chain(shared) {
            if let Some(bytes) = plain(&real.join(&name), MAX_INDEX) {
                std::fs::write(git.join(name), bytes)?;
            }
        }
        let home = std::env::var_os("HOME").map(PathBuf::from);
        let folder = std::env::var_os("XDG_CONFIG_HOME").map(PathBuf::from);
        let folder = folder.or_else(|| home.as_ref().map(|home| home.join(".config")));
        let named = std::env::var_os("GIT_CONFIG_GLOBAL").map(PathBuf::from);
        let of_user = match named {
            Some(file) => vec![file],
            None => folder
                .map(|dir| dir.join("git/config"))
                .into_iter()
                .chain(home.map(|home| home.join(".gitconfig")))
                .collect(),
        };
        let files = of_user.into_iter().chain([real.join("config")]);
        // A user's own file may well be a link.
        let all: Vec<Vec<u8>> = files
            .map(|file| {
                std::fs::canonicalize(file).ok().and_then(|file| plain(&file, super::record::MAX_CONFIG))
            })
            .map(Option::unwrap_or_default)
            .collect();
        let own: Vec<&str> = cloning.sections.iter().map(String::as_str).collect();
        let (mut config, remotes) = history::configuration_of_clone(&all, &own);
        config.extend_from_slice(
            b"\n[core]\n\thooksPath = /dev/null\n\tfsmonitor = false\n\ttrustctime = false\n\tcheckStat = minimal\n[gc]\n\tauto = 0\n\
              [maintenance]\n\tauto = false\n[fetch]\n\tunpackLimit = 1000000\n[commit]\n\tgpgSign = false\n[tag]\n\tgpgSign = false\n",
        );
        for (name, url) in remotes {
            if !push::is_name(&name) || self.remotes.iter().any(|remote| remote.name == name) {
                continue;
            }
            let folder = format!("{}.git", self.remotes.len());
            let remote = self.remote(name, url, &folder, symbolic)?;
            config.extend(format!("[remote \"{}\"]\n\turl = {REMOTES}/{folder}\n", remote.name).bytes());
            self.remotes.push(remote);
        }
        for (key, value) in &cloning.sets {
            if let Some((section, key)) = key.rsplit_once('.') {
                let section = section
                    .split_once('.')
                    .map_or_else(|| section.to_owned(), |(one, sub)| format!("{one} \"{sub}\""));
                config.extend(format!("[{section}]\n\t{key} = {value}\n").bytes());
            }
        }
        std::fs::write(git.join("config"), config)?;
        Ok(self)
    }

    /// The bare folder that stands for a remote, with what was last seen there.
    fn remote(
        &self,
        name: String,
        url: String,
        folder: &str,
        symbolic: &BTreeMap<String, String>,
    ) -> std::io::Result<Remote> {
        let git = self.remotes_at.join(folder);
        push::bare(&git, &self.borrowed)?;
        let front = format!("refs/remotes/{name}/");
        let seen = self.before.iter().filter_map(|(known, id)| {
            Some((format!("refs/heads/{}", known.strip_prefix(&front)?), id.clone()))
        });
        let before: Refs = seen.collect();
        std::fs::write(git.join("packed-refs"), packed(&before))?;
        if let Some(main) = symbolic.get(&format!("{front}HEAD")).and_then(|to| to.strip_prefix(&front)) {
            std::fs::write(git.join("HEAD"), format!("ref: refs/heads/{main}\n"))?;
        }
        Ok(Remote { name, url, git, before })
    }

    /// Fetches what a remote has now, as `fetch` does it into a bare folder. Says what was fetched from.
    pub(crate) fn fetched(
        &mut self,
        name: &str,
        fetch: impl FnOnce(&str, &Path) -> Result<(), Fault>,
    ) -> Result<(), Fault> {
        let remote = self.remotes.iter_mut().find(|remote| remote.name == name).ok_or_else(|| {
            Fault::new(Code::NotFound, format!("the repository has no remote {name}"))
                .suggest(format!("`git remote add {name} URL` names one."))
        })?;
        let lead = |to: &str| std::fs::write(remote.git.join("objects/info/alternates"), format!("{to}\n"));
        lead(&self.objects.display().to_string()).map_err(|e| broken("clone", &e))?;
        fetch(&remote.url, &remote.git)?;
        lead(&self.borrowed.display().to_string()).map_err(|e| broken("clone", &e))?;
        remote.before = read_refs(&remote.git)?;
        Ok(())
    }

    /// The remotes, by name.
    pub(crate) fn remotes(&self) -> Vec<String> {
        self.remotes.iter().map(|remote| remote.name.clone()).collect()
    }

    /// What is put where: what is only read, and what is written.
    pub(crate) fn bounds(&self, root: &Path) -> (Vec<Bound>, Vec<Bound>) {
        let at = |from: &Path, at: PathBuf| Bound { from: from.to_owned(), at };
        let shown = vec![at(&self.objects, self.borrowed.clone())];
        let written = vec![at(&self.git, root.join(".git")), at(&self.remotes_at, REMOTES.into())];
        (shown, written)
    }

    /// The branch that the user has checked out.
    pub(crate) fn head(&self) -> Option<&str> {
        self.head.as_deref()
    }

    /// Where a ref was before the programs.
    pub(crate) fn was(&self, name: &str) -> Option<&str> {
        self.before.get(name).map(String::as_str)
    }

    /// The branch that is checked out in the clone now.
    pub(crate) fn head_now(&self) -> Option<String> {
        plain(&self.git.join("HEAD"), 4096)
            .and_then(|head| branch_of(&head))
            .filter(|branch| refs::check_name(&format!("refs/heads/{branch}")).is_ok())
    }

    /// What the programs did to refs and pushed, as a draft, and what of it no plan can have.
    pub(crate) fn changes(&self, view: &View, cloning: &Cloning) -> Result<(Draft, Vec<Unplannable>), Fault> {
        let mut draft = Draft::default();
        let mut blocked = Vec::new();
        let busy = refs::checked_out(view.root())?;
        let mut moves = Vec::new();
        for one in moved(&self.before, &read_refs(&self.git)?) {
            if !cloning.moves(&one.name) {
                // What it has of remotes is learnt by the user's git.
                if !one.name.starts_with("refs/remotes/") && one.name != "refs/stash" {
                    blocked.push(Unplannable::never(
                        one.name,
                        "the plugin does not declare that it moves this ref",
                    ));
                }
            } else if busy.contains(&one.name) {
                let short = one.short().to_owned();
                let why = format!(
                    "it is checked out, and no plan moves a branch under a work tree: `git switch` to another branch \
                     (or `git switch --detach`), and call again from {short}"
                );
                blocked.push(Unplannable::never(one.name, why));
            } else {
                moves.push(one);
            }
        }
        let mut pushes = Vec::new();
        for remote in &self.remotes {
            let there = moved(&remote.before, &read_refs(&remote.git)?);
            let others = there.iter().find(|one| !one.name.starts_with("refs/heads/"));
            if let Some(other) = others.filter(|_| cloning.pushes) {
                blocked.push(Unplannable::never(other.name.clone(), "only branches are pushed"));
            } else if !there.is_empty() && !cloning.pushes {
                let why = format!("the plugin does not declare that it pushes to {}", remote.name);
                blocked.push(Unplannable::never(there[0].name.clone(), why));
            } else if !there.is_empty() {
                pushes.push(Push { remote: remote.name.clone(), url: remote.url.clone(), refs: there });
            }
        }
        if let [_, other, ..] = pushes.as_slice() {
            let why = format!("a plan has one request, and this is a second push, to {}", other.remote);
            blocked.push(Unplannable::never(other.refs[0].name.clone(), why));
        }
        if !blocked.is_empty() {
            return Ok((draft, blocked));
        }
        // What is pushed is here first: the user's git takes it from here.
        let tips = moves.iter().chain(pushes.iter().flat_map(|push| &push.refs));
        let tips: Vec<ObjectId> =
            tips.filter_map(|one| ObjectId::from_hex(one.after.as_ref()?.as_bytes()).ok()).collect();
        let repo = open(view.root())?;
        let objects = pack::gather(tips, |id| repo.has_object(id), |id| self.object(id))?;
        let lost = pushes.iter().flat_map(|push| &push.refs).find(|one| {
            let is_moved = moves.iter().any(|other| other.after == one.after);
            let id = one.after.as_ref().and_then(|id| ObjectId::from_hex(id.as_bytes()).ok());
            !is_moved && id.is_some_and(|id| objects.iter().any(|object| object.id == id))
        });
        if let Some(lost) = lost {
            blocked.push(Unplannable::never(lost.name.clone(), "what is pushed is on no branch here"));
            return Ok((draft, blocked));
        }
        if !moves.is_empty() {
            let pack = if objects.is_empty() { None } else { Some(pack::write(&objects)?) };
            draft.refs(view, pack, moves)?;
        }
        for push in pushes {
            draft.push(view, push)?;
        }
        Ok((draft, blocked))
    }

    /// An object that programs made: in a file of its own, in the clone or in a remote. Git packs nothing there.
    fn object(&self, id: &ObjectId) -> Result<pack::Object, Fault> {
        let hex = id.to_string();
        let name = Path::new("objects").join(&hex[..2]).join(&hex[2..]);
        let mut gits = std::iter::once(&self.git).chain(self.remotes.iter().map(|remote| &remote.git));
        let bytes = gits.find_map(|git| plain(&git.join(&name), MAX_OBJECT));
        let no = |why: &str| {
            Fault::new(Code::ToolExecutionFailed, format!("the git object {hex} of the clone {why}"))
                .suggest("Call the tool again; where that does not help, do it with git itself.")
        };
        let bytes = bytes.ok_or_else(|| no("is not there, or not a file of its own"))?;
        let mut unpacked = Vec::new();
        ZlibDecoder::new(&bytes[..])
            .take(MAX_OBJECT + 1)
            .read_to_end(&mut unpacked)
            .map_err(|_| no("cannot be unpacked"))?;
        if unpacked.len() as u64 > MAX_OBJECT {
            return Err(no("is too large"));
        }
        let end = unpacked.iter().take(32).position(|byte| *byte == 0).ok_or_else(|| no("has no head"))?;
        let head = String::from_utf8_lossy(&unpacked[..end]).into_owned();
        let kind = match head.split(' ').next() {
            Some("commit") => Kind::Commit,
            Some("tree") => Kind::Tree,
            Some("blob") => Kind::Blob,
            Some("tag") => Kind::Tag,
            _ => return Err(no("is of no kind")),
        };
        let object = pack::Object::of(kind, unpacked.split_off(end + 1))?;
        if object.id == *id { Ok(object) } else { Err(no("is not what its name says")) }
    }
}

impl Workshop {
    /// Of a workshop with a clone: the branch that the user has checked out, and the one that the clone has now.
    #[must_use]
    pub fn heads(&self) -> (Option<String>, Option<String>) {
        self.throwaway().map_or((None, None), |clone| (clone.head().map(str::to_owned), clone.head_now()))
    }

    /// Whether the repository has a ref of this whole name, as the clone was made.
    #[must_use]
    pub fn had_ref(&self, name: &str) -> bool {
        self.throwaway().is_some_and(|clone| clone.was(name).is_some())
    }

    /// The id that a ref of this whole name had, as the clone was made.
    #[must_use]
    pub fn ref_was(&self, name: &str) -> Option<String> {
        self.throwaway().and_then(|clone| clone.was(name).map(str::to_owned))
    }

    /// The remotes of the clone.
    #[must_use]
    pub fn remotes(&self) -> Vec<String> {
        self.throwaway().map_or_else(Vec::new, |clone| clone.remotes())
    }

    /// Where a remote of the clone is, as the configuration says it.
    #[must_use]
    pub fn remote_url(&self, remote: &str) -> Option<String> {
        self.throwaway()?.remotes.iter().find(|known| known.name == remote).map(|known| known.url.clone())
    }

    /// Whether programs pushed something to a remote of the clone: what no other repository has yet, as far as is known.
    pub fn has_pushed(&self) -> Result<bool, Fault> {
        let Some(clone) = self.throwaway() else { return Ok(false) };
        for remote in &clone.remotes {
            if !moved(&remote.before, &read_refs(&remote.git)?).is_empty() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Fetches what a remote has now through the user's own git, into the folder that stands for it in the clone's world.
    pub fn fetch(&self, remote: &str, sender: &dyn Sender) -> Result<(), Fault> {
        let Some(mut clone) = self.throwaway() else {
            return Err(Fault::internal("there is no clone to fetch into"));
        };
        clone.fetched(remote, |url, into| {
            push::fetch(sender, (&self.root, &self.state), url, into, &self.cancel)
        })
    }
}
