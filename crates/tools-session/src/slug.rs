//! Repositories by the names that people call them.

use exec::history::Remote;

/// `host/owner/name` of a repository's address, in lower case and without `.git`: the same for `https://`, `ssh://`, `git://` and
/// scp's spelling. `None` where it is a folder, or no address at all.
#[must_use]
pub fn slug(url: &str) -> Option<String> {
    let url = url.trim();
    let (host, path) = match url.split_once("://") {
        Some((scheme, rest)) => {
            let known = ["https", "http", "ssh", "git", "git+ssh"];
            if !known.iter().any(|known| scheme.eq_ignore_ascii_case(known)) {
                return None;
            }
            let (authority, path) = rest.split_once('/')?;
            let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
            (without_port(host), path)
        }
        // As scp writes it; `C:\\x` and `/srv/x:y` are folders.
        None => {
            let (host, path) = url.split_once(':')?;
            let host = host.rsplit_once('@').map_or(host, |(_, host)| host);
            // What has another `@` or colon is no path, but a password before the host.
            if host.contains(['/', '\\']) || host.len() < 2 || path.contains(['@', ':']) {
                return None;
            }
            (host, path)
        }
    };
    let path = path.split(['?', '#']).next().unwrap_or_default().trim_matches('/');
    let path = path.strip_suffix(".git").unwrap_or(path).trim_end_matches('/').trim_start_matches("~/");
    let is_fine = |c: char| !c.is_control() && !c.is_whitespace();
    let parts = path.split('/').filter(|part| !part.is_empty() && *part != "." && *part != "..").count();
    let is_whole = parts == path.split('/').count();
    let slug = format!("{host}/{path}").to_lowercase();
    (!host.is_empty() && !path.is_empty() && is_whole && slug.chars().all(is_fine) && slug.len() <= 200)
        .then_some(slug)
}

/// What a repository is called by its remotes: by `origin`, else by the only one that there is.
#[must_use]
pub fn of_remotes(remotes: &[Remote]) -> Option<String> {
    let origin = remotes.iter().find(|remote| remote.name == "origin");
    let only = if let [one] = remotes { Some(one) } else { None };
    slug(&origin.or(only)?.url)
}

fn without_port(host: &str) -> &str {
    match host.rsplit_once(':') {
        Some((bare, port)) if port.bytes().all(|b| b.is_ascii_digit()) && !bare.ends_with(':') => bare,
        _ => host,
    }
}

/// The name at the end of a slug.
pub(crate) fn name(slug: &str) -> &str {
    slug.rsplit('/').next().unwrap_or(slug)
}

/// The `host/owner` of a slug.
pub(crate) fn owner(slug: &str) -> &str {
    slug.rsplit_once('/').map_or(slug, |(owner, _)| owner)
}

/// What a person wrote for a repository or an organisation, as slugs are written: a host of one's own is named, else it is GitHub.
pub(crate) fn meant(text: &str) -> String {
    let text = text.trim().trim_end_matches('/');
    if let Some(slug) = slug(text) {
        return slug;
    }
    let text = text.strip_suffix(".git").unwrap_or(text).to_lowercase();
    let has_host = text.split('/').next().is_some_and(|first| first.contains('.') || first.contains(':'));
    if has_host { text } else { format!("github.com/{text}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_repository_has_one_name_however_its_address_is_spelled() {
        for url in [
            "https://github.com/Acme/App.git",
            "https://github.com/acme/app/",
            "http://user@github.com:443/acme/app",
            "ssh://git@github.com:22/acme/app.git",
            "git@github.com:acme/app.git",
            "github.com:acme/app",
        ] {
            assert_eq!(slug(url).as_deref(), Some("github.com/acme/app"), "{url}");
        }
        assert_eq!(slug("https://gitlab.com/a/b/c.git").as_deref(), Some("gitlab.com/a/b/c"));
    }

    #[test]
    fn what_is_no_address_of_a_repository_has_no_name() {
        for url in [
            "",
            "deploy:secret@git.example.com:acme/app.git",
            "/srv/git/app.git",
            "../app",
            "file:///srv/app",
            "C:\\\\app",
            "https://github.com",
            "https://github.com/",
            "https://h/a/../b",
            "ext::sh -c x",
        ] {
            assert_eq!(slug(url), None, "{url}");
        }
    }

    #[test]
    fn what_people_write_is_meant_on_github_unless_they_name_a_host() {
        assert_eq!(meant("acme/app"), "github.com/acme/app");
        assert_eq!(meant("Acme"), "github.com/acme");
        assert_eq!(meant("git.acme.io/acme"), "git.acme.io/acme");
        assert_eq!(meant("git@github.com:acme/app.git"), "github.com/acme/app");
    }
}
