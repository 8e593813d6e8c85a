//! Where a repository is kept elsewhere. The addresses are read past gix, which never sees them, and credentials leave first.

use gix::bstr::ByteSlice;

use crate::error::{Done, HistoryError};

/// Most bytes of a configuration that is read.
const MAX: u64 = 1 << 20;

/// Another place of a repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Remote {
    /// What it is called here.
    pub name: String,
    /// Its address, without a password or token.
    pub url: String,
}

impl crate::Repo {
    /// The remotes with an address, in the order of the configuration; includes and rewrites (`insteadOf`) are not followed.
    pub fn remotes(&self) -> Result<Vec<Remote>, HistoryError> {
        let path = self.git.common_dir().join("config");
        match std::fs::symlink_metadata(&path) {
            Ok(about) if about.is_file() && about.len() <= MAX => {}
            _ => return Ok(Vec::new()),
        }
        let bytes = std::fs::read(&path).map_err(HistoryError::io("the configuration could not be read"))?;
        remotes(&bytes)
    }
}

/// The remotes of a configuration.
fn remotes(bytes: &[u8]) -> Done<Vec<Remote>> {
    let meta = gix::config::file::Metadata::from(gix::config::Source::Local);
    let options = gix::config::file::init::Options::default();
    let file = gix::config::File::from_bytes_no_includes(bytes, meta, options)
        .map_err(HistoryError::git("the configuration could not be read"))?;
    let mut all: Vec<Remote> = Vec::new();
    for section in file.sections() {
        let header = section.header();
        let Some(name) = header.subsection_name() else { continue };
        if !header.name().eq_ignore_ascii_case(b"remote") {
            continue;
        }
        let (Ok(name), Some(url)) = (name.to_str(), section.value("url")) else { continue };
        let Ok(url) = url.to_str() else { continue };
        if all.iter().all(|remote| remote.name != name) {
            all.push(Remote { name: name.to_owned(), url: without_credentials(url) });
        }
    }
    Ok(all)
}

/// An address without what is secret in it: of HTTP all that stands before `@`, of other schemes the password; an address in scp's
/// spelling has none.
fn without_credentials(url: &str) -> String {
    let Some((scheme, rest)) = url.split_once("://") else {
        // scp's spelling knows no password; what has a colon before its `@` has one all the same.
        return match url.rsplit_once('@') {
            Some((user, host)) if user.contains(':') => host.to_owned(),
            _ => url.to_owned(),
        };
    };
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (authority, path) = rest.split_at(end);
    // What follows a question mark is no part of a repository's address, and may be a token.
    let path = path.split(['?', '#']).next().unwrap_or_default();
    let Some((user, host)) = authority.rsplit_once('@') else {
        return format!("{scheme}://{authority}{path}");
    };
    let is_http = scheme.eq_ignore_ascii_case("http") || scheme.eq_ignore_ascii_case("https");
    let user = user.split(':').next().filter(|user| !is_http && !user.is_empty());
    match user {
        Some(user) => format!("{scheme}://{user}@{host}{path}"),
        None => format!("{scheme}://{host}{path}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_come_without_credentials() {
        for (url, clean) in [
            ("https://user:pw@github.com/acme/app.git", "https://github.com/acme/app.git"),
            ("https://ghp_token@github.com/acme/app", "https://github.com/acme/app"),
            ("https://host/x?token=1#a", "https://host/x"),
            ("HTTP://a:b@c@host/x?token=1", "HTTP://host/x"),
            ("ssh://git:pw@host:22/acme/app.git", "ssh://git@host:22/acme/app.git"),
            ("git@github.com:acme/app.git", "git@github.com:acme/app.git"),
            ("deploy:pw@git.example.com:acme/app.git", "git.example.com:acme/app.git"),
            ("https://github.com/acme/a@b.git", "https://github.com/acme/a@b.git"),
            ("/srv/git/app.git", "/srv/git/app.git"),
        ] {
            assert_eq!(without_credentials(url), clean);
        }
    }

    #[test]
    fn remotes_are_read_in_their_order_and_nothing_else_is() {
        let text = b"[core]\n\tbare = false\n[remote \"fork\"]\n\turl = https://t@h/me/app\n[Remote \"origin\"]\n\turl = git@h:acme/app.git\n\
            [remote \"none\"]\n\tfetch = x\n[include]\n\tpath = /etc/passwd\n[branch \"main\"]\n\turl = no\n";
        let names: Vec<_> = remotes(text).unwrap().into_iter().map(|r| (r.name, r.url)).collect();
        assert_eq!(
            names,
            [("fork".into(), "https://h/me/app".into()), ("origin".into(), "git@h:acme/app.git".into())]
        );
        assert!(remotes(b"[remote").is_err());
        assert!(remotes(b"").unwrap().is_empty());
    }
}
