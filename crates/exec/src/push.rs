//! The push effect: refs of another repository moved together through the user's own git, each only while it is where it was seen.
//!
//! The user's git has the user's credentials, so nothing that a repository says reaches it: it works in a folder of ours that borrows
//! the root's objects, with the user's own configuration alone, without hooks, for a URL that stands in the plan. Which places it may
//! speak to is `[egress]`, as for any request.

use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use contract::{Code, Fault, Push, RefMove};
use tokio_util::sync::CancellationToken;
use url::Url;

use crate::branch::parse_id;
use crate::helper::{self, HelperError, Program, Said};
use crate::refs;
use crate::request::{Outcome, Sender};
use crate::root::Root;
use crate::state::{StateDir, broken};

/// How long a push or fetch may take.
const PATIENCE: Duration = Duration::from_mins(2);

/// Most characters of what git says that a result has.
const MOST_SAID: usize = 1_000;

/// Where another repository is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Remote {
    /// On a host, as `[egress] hosts` has it: with a port where it is not the scheme's.
    Host(String),
    /// In a folder of this machine.
    Folder(PathBuf),
}

impl Remote {
    /// The host of an address, as `[egress] hosts` has it.
    #[must_use]
    pub fn of_url(url: &str) -> Option<Self> {
        let url = Url::parse(url).ok()?;
        let host = url.host()?.to_string();
        Some(Self::Host(url.port().map_or_else(|| host.clone(), |port| format!("{host}:{port}"))))
    }
}

impl fmt::Display for Remote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Host(host) => f.write_str(host),
            Self::Folder(folder) => write!(f, "{}", folder.display()),
        }
    }
}

/// Where the URL of a remote leads: https, ssh in both spellings, or a folder that is no part of `root`. Hooks of a repository on this
/// machine run with the user's rights, so that none that comes with a project is pushed to.
pub fn place_of(url: &str, root: &Root) -> Result<Remote, String> {
    if url.is_empty()
        || url.starts_with('-')
        || url != contract::text::visible(url)
        || url.contains(char::is_whitespace)
    {
        return Err("it is no URL".to_owned());
    }
    if let Some(folder) = url.strip_prefix("file://").or_else(|| url.starts_with('/').then_some(url)) {
        let real = std::fs::canonicalize(folder).map_err(|e| format!("{folder}: {}", e.kind()))?;
        if !folder.starts_with('/') || real != Path::new(folder) {
            return Err(format!("{folder} is not the whole path of a folder, without links"));
        }
        if real.starts_with(root.path()) || root.path().starts_with(&real) {
            return Err(format!("{folder} is a part of the project"));
        }
        return Ok(Remote::Folder(real));
    }
    if let Some((scheme, _)) = url.split_once("://") {
        let parsed = Url::parse(url).map_err(|e| e.to_string())?;
        let host = parsed.host_str().filter(|host| !host.is_empty() && !host.starts_with('-'));
        let host = host.ok_or("it names no host")?;
        let usual = match scheme {
            "https" if !parsed.username().is_empty() => return Err("it has credentials in it".to_owned()),
            "https" => 443,
            "ssh" => 22,
            _ => return Err(format!("{scheme} is neither https nor ssh")),
        };
        if parsed.password().is_some() {
            return Err("it has credentials in it".to_owned());
        }
        let port = parsed.port().filter(|port| *port != usual);
        return Ok(Remote::Host(port.map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"))));
    }
    // `user@host:path`, as ssh has it.
    let (front, path) = url.split_once(':').ok_or("it is neither a URL nor a whole path")?;
    if path.starts_with(':') {
        return Err("it names a helper of git's, and not a place".to_owned());
    }
    let host = front.rsplit_once('@').map_or(front, |(_, host)| host);
    let is_plain = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'-');
    if host.is_empty()
        || host.starts_with('-')
        || !host.bytes().all(is_plain)
        || path.is_empty()
        || path.starts_with('-')
    {
        return Err("it is neither a URL nor a whole path".to_owned());
    }
    Ok(Remote::Host(host.to_ascii_lowercase()))
}

/// Whether a remote may be called so.
pub(crate) fn is_name(name: &str) -> bool {
    let plain = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.' | b'/');
    !name.is_empty()
        && name.len() <= 100
        && name.bytes().all(plain)
        && name
            .split('/')
            .all(|part| part.starts_with(|c: char| c.is_ascii_alphanumeric()) && !part.contains(".."))
}

/// Fails unless a push may be planned.
pub(crate) fn check(root: &Root, push: &Push) -> Result<(), Fault> {
    let no = |why: String| {
        Fault::new(
            Code::Forbidden,
            format!("nothing is pushed to {}: {why}", contract::text::visible(&push.remote)),
        )
        .suggest("Push with git itself.")
    };
    if !is_name(&push.remote) {
        return Err(no("the remote's name is none that is taken".to_owned()));
    }
    place_of(&push.url, root).map_err(no)?;
    if push.refs.is_empty() || push.refs.len() > 200 {
        return Err(no("1 to 200 branches are pushed at once".to_owned()));
    }
    for one in &push.refs {
        refs::check_name(&one.name)?;
        if !one.name.starts_with("refs/heads/") {
            return Err(no(format!("{} is no branch", one.name)));
        }
        one.before.iter().chain(&one.after).try_for_each(|id| parse_id(id).map(drop))?;
    }
    Ok(())
}

/// What a push does, for people.
pub(crate) fn told(push: &Push) -> String {
    let mut text = format!("push to {} ({})\n", push.remote, push.url);
    for one in &push.refs {
        text.push_str(&refs::told::line(one));
    }
    text
}

/// Pushes.
pub(crate) fn perform(
    sender: &dyn Sender,
    (root, state): (&Root, &StateDir),
    push: &Push,
    cancel: &CancellationToken,
) -> Outcome {
    let reached = place_of(&push.url, root).and_then(|place| sender.reaches(&place));
    if let Err(why) = reached {
        return Outcome::NotSent { why };
    }
    let mut args: Vec<String> = [
        "push",
        "--porcelain",
        "--atomic",
        "--no-verify",
        "--no-follow-tags",
        "--recurse-submodules=no",
        "--signed=no",
    ]
    .map(str::to_owned)
    .to_vec();
    for one in &push.refs {
        args.push(format!("--force-with-lease={}:{}", one.name, one.before.as_deref().unwrap_or_default()));
    }
    args.extend(["--".to_owned(), push.url.clone()]);
    args.extend(
        push.refs.iter().map(|one| format!("{}:{}", one.after.as_deref().unwrap_or_default(), one.name)),
    );
    match through_git(root, state, &args, cancel) {
        Err(fault) => Outcome::NotSent { why: fault.message },
        Ok(Err(HelperError::Late { .. } | HelperError::Cancelled | HelperError::TooLarge { .. })) => {
            Outcome::PushUnknown
        }
        Ok(Err(error)) => Outcome::NotSent { why: error.to_string() },
        Ok(Ok(said)) if said.code == Some(0) => {
            remember(root, push);
            Outcome::Pushed
        }
        Ok(Ok(said)) => Outcome::Refused { why: complaint(&said) },
    }
}

/// What git said was wrong, short.
fn complaint(said: &Said) -> String {
    let rejected = String::from_utf8_lossy(&said.stdout);
    let rejected = rejected.lines().filter(|line| line.starts_with('!')).map(|line| line.replace('\t', " "));
    let all: Vec<String> = rejected.chain(said.stderr.lines().map(str::to_owned)).collect();
    contract::text::visible(&all.join("; ")).chars().take(MOST_SAID).collect()
}

/// As git does after a push: what the remote now has is known here. Where that fails, the next fetch knows it.
fn remember(root: &Root, push: &Push) {
    for one in &push.refs {
        let name = format!("refs/remotes/{}/{}", push.remote, one.short());
        let known = || -> Result<(), Fault> {
            refs::check_name(&name)?;
            let before = refs::where_is(root, &name)?;
            if before == one.after {
                return Ok(());
            }
            refs::make(root, &[RefMove { name: name.clone(), before, after: one.after.clone() }])
        };
        if let Err(fault) = known() {
            tracing::warn!("{name}: {}", fault.message);
        }
    }
}

/// Fetches every branch of a repository into the bare one at `into`, which is ours; what was said is the fault where that fails.
pub fn fetch(
    sender: &dyn Sender,
    (root, state): (&Root, &StateDir),
    url: &str,
    into: &Path,
    cancel: &CancellationToken,
) -> Result<(), Fault> {
    let failed = |why: String| Fault::new(Code::ToolExecutionFailed, format!("{url} was not fetched: {why}"));
    let place = place_of(url, root).map_err(failed)?;
    sender.reaches(&place).map_err(|why| {
        Fault::new(Code::Forbidden, format!("{url} was not fetched: {why}"))
            .suggest("A person allows it in the user's configuration.")
    })?;
    let git_dir = into.display().to_string();
    let args = [
        "--git-dir",
        &git_dir,
        "fetch",
        "--quiet",
        "--no-tags",
        "--prune",
        "--no-write-fetch-head",
        "--no-auto-maintenance",
        "--recurse-submodules=no",
        "--",
        url,
        "+refs/heads/*:refs/heads/*",
    ];
    let said = run(root, state, &args, cancel)?.map_err(|e| failed(e.to_string()))?;
    if said.code == Some(0) { Ok(()) } else { Err(failed(complaint(&said))) }
}

/// Runs the user's git in a repository of ours that borrows the objects of the root's.
fn through_git(
    root: &Root,
    state: &StateDir,
    args: &[String],
    cancel: &CancellationToken,
) -> Result<Result<Said, HelperError>, Fault> {
    let place = state.scratch()?;
    let git = place.path().join("push.git");
    bare(&git, &root.path().join(".git/objects")).map_err(|e| broken("scratch folder", &e))?;
    let git_dir = git.display().to_string();
    let all: Vec<&str> = ["--git-dir", &git_dir].into_iter().chain(args.iter().map(String::as_str)).collect();
    run(root, state, &all, cancel)
}

fn run(
    root: &Root,
    state: &StateDir,
    args: &[&str],
    cancel: &CancellationToken,
) -> Result<Result<Said, HelperError>, Fault> {
    let ours =
        ["-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false", "-c", "fetch.unpackLimit=1000000"];
    let all: Vec<&str> = ours.into_iter().chain(args.iter().copied()).collect();
    Ok(helper::run(Program::Git, (root.path(), &state.nowhere()?), &all, PATIENCE, cancel))
}

/// Makes an empty bare repository that borrows the objects at `objects`.
pub(crate) fn bare(git: &Path, objects: &Path) -> std::io::Result<()> {
    for folder in ["objects/info", "objects/pack", "refs/heads"] {
        std::fs::create_dir_all(git.join(folder))?;
    }
    std::fs::write(git.join("HEAD"), "ref: refs/heads/none\n")?;
    let config = "[core]\n\trepositoryformatversion = 0\n\tbare = true\n[gc]\n\tauto = 0\n[receive]\n\tunpackLimit = 1000000\n\
                  \tautogc = false\n\tdenyCurrentBranch = ignore\n[maintenance]\n\tauto = false\n";
    std::fs::write(git.join("config"), config)?;
    std::fs::write(git.join("objects/info/alternates"), format!("{}\n", objects.display()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::root::Rights;

    #[test]
    fn urls_lead_to_hosts_and_folders_that_are_not_the_projects() {
        let scratch = tempfile::tempdir().unwrap();
        let top = std::fs::canonicalize(scratch.path()).unwrap();
        for folder in ["root/evil.git", "other.git"] {
            std::fs::create_dir_all(top.join(folder)).unwrap();
        }
        std::os::unix::fs::symlink(top.join("root/evil.git"), top.join("link.git")).unwrap();
        let root = Root::open(&top.join("root"), "root", Rights::ReadWrite).unwrap();
        let host = |url: &str| match place_of(url, &root) {
            Ok(Remote::Host(host)) => host,
            other => panic!("{url}: {other:?}"),
        };
        assert_eq!(host("https://github.com/o/r.git"), "github.com");
        assert_eq!(host("https://git.example:8443/o/r"), "git.example:8443");
        assert_eq!(host("ssh://git@git.example/o/r"), "git.example");
        assert_eq!(host("ssh://git@git.example:2222/o/r"), "git.example:2222");
        assert_eq!(host("git@GitHub.com:o/r.git"), "github.com");
        let other = top.join("other.git").display().to_string();
        assert_eq!(place_of(&other, &root).unwrap(), Remote::Folder(top.join("other.git")));
        assert_eq!(
            place_of(&format!("file://{other}"), &root).unwrap(),
            Remote::Folder(top.join("other.git"))
        );
        let evil = top.join("root/evil.git").display().to_string();
        let link = top.join("link.git").display().to_string();
        let above = top.display().to_string();
        let around = format!("{other}/../root/evil.git");
        for bad in [
            "",
            "-x",
            "--upload-pack=id",
            "ext::sh -c id",
            "http://git.example/r",
            "git://git.example/r",
            "../other.git",
            "evil.git",
            "https://user:secret@git.example/r",
            "https://token@git.example/r",
            "ssh://-oProxyCommand=id/r",
            "-oProxyCommand=id:r",
            "git@-x:r",
            "https://a b/",
            "fd::7",
            &evil,
            &link,
            &above,
            &around,
            "/nowhere/at/all",
        ] {
            assert!(place_of(bad, &root).is_err(), "{bad:?}: {:?}", place_of(bad, &root));
        }
    }
}
