//! What is kept of a repository's configuration: keys that say how to read it, none that name a program or a file.

use gix::bstr::{BStr, ByteSlice};

use crate::error::{Done, HistoryError, Refusal};

/// Keys of sections without a subsection.
const PLAIN: [(&str, &[&str]); 3] = [
    (
        "core",
        &[
            "repositoryformatversion",
            "bare",
            "filemode",
            "symlinks",
            "autocrlf",
            "eol",
            "trustctime",
            "checkstat",
            "abbrev",
            "sparsecheckout",
        ],
    ),
    (
        "extensions",
        &["objectformat", "worktreeconfig", "noop", "preciousobjects", "partialclone", "relativeworktrees"],
    ),
    ("index", &["sparse"]),
];

/// Keys of sections with one: which branch follows which.
const NAMED: [(&str, &[&str]); 2] = [("branch", &["remote", "merge"]), ("remote", &["fetch"])];

/// What gix is told besides, over everything else.
pub(crate) const OVERRIDES: [&str; 6] = [
    "core.useReplaceRefs=false",
    "core.protectHFS=true",
    "core.protectNTFS=true",
    "core.safecrlf=false",
    "core.commitGraph=false",
    // Largest object that is unpacked, whatever its kind.
    "gitoxide.objects.allocLimit=268435456",
];

/// Reduces the configuration of an open repository to the keys above.
pub(crate) fn reduce(repo: &mut gix::Repository) -> Done<()> {
    let failed = || HistoryError::git("the configuration could not be read");
    refuse(repo)?;
    let kept = kept(repo.config_snapshot().plumbing())?;
    let mut snapshot = repo.config_snapshot_mut();
    *snapshot = kept;
    snapshot.append_config(OVERRIDES, gix::config::Source::Api).map_err(failed())?;
    snapshot.commit().map_err(failed())?;
    Ok(())
}

/// What is harmless of a configuration file: keys that say how to read a repository and where its work tree is, none that names a
/// program. Nothing, of one that is no configuration; what it includes is not looked at.
#[must_use]
pub fn harmless_configuration(bytes: &[u8]) -> Vec<u8> {
    let meta = gix::config::file::Metadata::from(gix::config::Source::Local);
    let Ok(file) =
        gix::config::File::from_bytes_no_includes(bytes, meta, gix::config::file::init::Options::default())
    else {
        return Vec::new();
    };
    let Ok(mut kept) = kept(&file) else { return Vec::new() };
    // Of a submodule: git itself writes it, and it leads to the folder that the submodule is in.
    if let Some(tree) = file.string("core.worktree") {
        let _ = kept.set_raw_value("core.worktree", tree.as_bstr());
    }
    kept.to_bstring().into()
}

/// Keys that a clone for programs has besides: who commits, and what a tool's own section says. Nothing of them starts anything
/// outside the world that such a clone is made for.
const OF_CLONES: [(&str, &[&str]); 2] = [("user", &["name", "email"]), ("init", &["defaultbranch"])];

/// The configuration of a clone that programs work in: what is harmless of `all` (the user's own files before the repository's), who
/// commits, and every section called `own`. With it, where each remote of the last file is.
#[must_use]
pub fn configuration_of_clone(all: &[Vec<u8>], own: &[&str]) -> (Vec<u8>, Vec<(String, String)>) {
    let meta = || gix::config::file::Metadata::from(gix::config::Source::Local);
    let mut made = gix::config::File::new(meta());
    let mut remotes: Vec<(String, String)> = Vec::new();
    for (place, bytes) in all.iter().enumerate() {
        let options = gix::config::file::init::Options::default();
        let Ok(file) = gix::config::File::from_bytes_no_includes(bytes, meta(), options) else { continue };
        let is_repository = place + 1 == all.len();
        for section in file.sections() {
            let header = section.header();
            let name = header.name().to_str_lossy().to_ascii_lowercase();
            let sub = header.subsection_name();
            let url = section.value("pushurl").or_else(|| section.value("url"));
            if let (true, "remote", Some(remote), Some(url)) = (is_repository, name.as_str(), sub, url) {
                remotes.push((remote.to_string(), url.to_str_lossy().into_owned()));
            }
            let is_own = own.contains(&name.as_str());
            let plain =
                OF_CLONES.iter().find(|(known, _)| *known == name && sub.is_none()).map(|(_, keys)| *keys);
            let of_repository = is_repository.then(|| allowed(&name, sub)).flatten();
            let keys = plain.or(of_repository);
            if !is_own && keys.is_none() {
                continue;
            }
            let Ok(mut into) = made.new_section(&name, sub.map(ToOwned::to_owned)) else { continue };
            for (key, value) in values(&section) {
                let lower = key.to_ascii_lowercase();
                if is_own || keys.is_some_and(|keys| keys.contains(&lower.as_str())) {
                    let _ = into.push(&key, value.as_deref().map(ByteSlice::as_bstr));
                }
            }
        }
    }
    (made.to_bstring().into(), remotes)
}

fn kept(all: &gix::config::File) -> Done<gix::config::File> {
    let failed = || HistoryError::git("the configuration could not be read");
    let mut kept = gix::config::File::new(gix::config::file::Metadata::from(gix::config::Source::Local));
    for section in all.sections() {
        let header = section.header();
        let name = header.name().to_str_lossy().to_ascii_lowercase();
        let sub = header.subsection_name();
        let Some(keys) = allowed(&name, sub) else { continue };
        let mut into = kept.new_section(&name, sub.map(ToOwned::to_owned)).map_err(failed())?;
        for (key, value) in values(&section) {
            if keys.contains(&key.to_ascii_lowercase().as_str()) {
                into.push(&key, value.as_deref().map(ByteSlice::as_bstr)).map_err(failed())?;
            }
        }
    }
    Ok(kept)
}

fn allowed(name: &str, sub: Option<&BStr>) -> Option<&'static [&'static str]> {
    let list: &[(&str, &[&str])] = if sub.is_some() { &NAMED } else { &PLAIN };
    list.iter().find(|(known, _)| *known == name).map(|(_, keys)| *keys)
}

/// The keys and values of a section in their order; a key without a value is `None`.
fn values(section: &gix::config::file::SectionRef<'_>) -> Vec<(String, Option<Vec<u8>>)> {
    let mut out: Vec<(String, Option<Vec<u8>>)> = Vec::new();
    let mut names: Vec<String> = section.value_names().collect();
    names.sort_unstable();
    names.dedup_by(|a, b| a.eq_ignore_ascii_case(b));
    for name in names {
        match section.value_implicit(&name) {
            Some(None) => out.push((name, None)),
            _ => out.extend(section.values(&name).into_iter().map(|v| (name.clone(), Some(v.into())))),
        }
    }
    out
}

/// Refuses what the configuration makes of the repository: bare, elsewhere, in an unknown format.
fn refuse(repo: &gix::Repository) -> Result<(), Refusal> {
    let config = repo.config_snapshot();
    if config
        .plumbing()
        .sections_by_name("core")
        .into_iter()
        .flatten()
        .any(|s| s.contains_value_name("worktree"))
    {
        return Err(Refusal::WorkTree);
    }
    if config.boolean("core.bare") == Some(true) || repo.workdir().is_none() {
        return Err(Refusal::Bare);
    }
    if repo.object_hash() != gix::hash::Kind::Sha1 {
        return Err(Refusal::Format("extensions.objectFormat".to_owned()));
    }
    if config.integer("core.repositoryFormatVersion").unwrap_or(0) == 0 {
        // Extensions count from version 1 on.
        return Ok(());
    }
    let known = allowed("extensions", None).unwrap_or_default();
    for section in config.plumbing().sections_by_name("extensions").into_iter().flatten() {
        for name in section.value_names() {
            let lower = name.to_ascii_lowercase();
            let files = lower == "refstorage" && section.value(&name).is_some_and(|v| v == "files");
            if !files && !known.contains(&lower.as_str()) {
                return Err(Refusal::Format(format!("extensions.{name}")));
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clone_knows_who_commits_and_its_tools_settings_and_no_program() {
        let of_user = b"[user]\n\tname = \"A B; C\"\n\temail = a@b\n\tsigningKey = evil\n[alias]\n\tx = !evil\n[core]\n\tpager = evil\n\
            [spice \"log\"]\n\tall = true\n[remote \"user\"]\n\turl = evil\n";
        let of_repository = b"[core]\n\tfileMode = false\n\tfsmonitor = evil\n[remote \"origin\"]\n\turl = https://h/r\n\
            \tfetch = +refs/heads/*:refs/remotes/origin/*\n\tuploadpack = evil\n[remote \"up\"]\n\turl = a\n\tpushurl = b\n\
            [include]\n\tpath = evil\n[branch \"x\"]\n\tremote = origin\n[init]\n\tdefaultBranch = trunk\n\ttemplateDir = evil\n";
        let (text, remotes) = configuration_of_clone(&[of_user.to_vec(), of_repository.to_vec()], &["spice"]);
        let text = String::from_utf8(text).unwrap();
        assert!(!text.contains("evil") && !text.contains("https://"), "{text}");
        for there in [
            "email = a@b",
            "[spice \"log\"]",
            "all = true",
            "[branch \"x\"]",
            "defaultBranch = trunk",
            "fileMode = false",
        ] {
            assert!(text.contains(there), "{there}: {text}");
        }
        assert_eq!(remotes, [("origin".into(), "https://h/r".into()), ("up".into(), "b".into())]);
        let read = gix::config::File::from_bytes_no_includes(
            text.as_bytes(),
            gix::config::file::Metadata::from(gix::config::Source::Local),
            gix::config::file::init::Options::default(),
        );
        assert_eq!(read.unwrap().string("user.name").unwrap().to_string(), "A B; C");
    }

    #[test]
    fn nothing_that_names_a_program_is_left_of_a_configuration() {
        let hostile =
            b"[core]\n\tfileMode = false\n\tfsmonitor = ./evil\n\thooksPath = evil\n\tpager = evil\n\
            \tworktree = ../../../sub\n[filter \"x\"]\n\tclean = evil\n[diff \"x\"]\n\ttextconv = evil\n\
            [alias]\n\tst = !evil\n[include]\n\tpath = evil\n[branch \"main\"]\n\tmerge = refs/heads/main\n\
            [remote \"origin\"]\n\turl = https://evil@example.com\n\tuploadpack = evil\n";
        let left = String::from_utf8(harmless_configuration(hostile)).unwrap();
        assert!(!left.contains("evil"), "{left}");
        assert!(left.to_ascii_lowercase().contains("filemode = false"), "{left}");
        assert!(left.contains("worktree = ../../../sub") && left.contains("[branch \"main\"]"), "{left}");
        assert!(harmless_configuration(b"[no\nend").is_empty());
    }
}
