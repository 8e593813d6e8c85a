//! Packages of npm, `PyPI` and crates.io by name: from the registry that the project configures, never from an address.

use super::word::MAX_NAME;
use super::{Fits, Unfit};

fn name_fits(name: &str, extra: &str) -> bool {
    !name.is_empty()
        && name.len() <= MAX_NAME
        && name.starts_with(|c: char| c.is_ascii_alphanumeric())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || extra.contains(c))
}

/// `name`, `@scope/name`, `name@^1.2`, `name@latest`, `alias@npm:name@1`.
pub(super) fn npm(value: &str) -> Fits {
    let wrong =
        Err(Unfit::Form("is not a package of the registry such as `name@^1.2.0` (no addresses, no paths)"));
    // A scope begins with `@`, which is not the one before a version.
    let from = usize::from(value.starts_with('@'));
    let (name, wanted) = match value.get(from..).and_then(|rest| rest.find('@')) {
        Some(at) => value.split_at_checked(at + from).map_or((value, None), |(n, w)| (n, w.get(1..))),
        None => (value, None),
    };
    let named = match name.strip_prefix('@') {
        Some(scoped) => scoped
            .split_once('/')
            .is_some_and(|(scope, name)| name_fits(scope, "-_.~") && name_fits(name, "-_.~")),
        None => name_fits(name, "-_.~"),
    };
    if !named {
        return wrong;
    }
    match wanted {
        None => Ok(()),
        Some(wanted) => match wanted.strip_prefix("npm:") {
            Some(other) if !other.contains("npm:") => npm(other),
            _ if !wanted.is_empty()
                && wanted.len() <= MAX_NAME
                && wanted.chars().all(|c| c.is_ascii_alphanumeric() || "-_.+^~<>=*| ".contains(c)) =>
            {
                Ok(())
            }
            _ => wrong,
        },
    }
}

/// `name`, `name[extra]==1.2`, `name>=1,<2`.
pub(super) fn python(value: &str) -> Fits {
    let end = value.find(|c: char| !c.is_ascii_alphanumeric() && !"-_.".contains(c)).unwrap_or(value.len());
    let (name, rest) = value.split_at_checked(end).unwrap_or((value, ""));
    let extras = match rest.strip_prefix('[').map(|inner| inner.split_once(']')) {
        Some(Some((extras, after))) if extras.split(',').all(|e| name_fits(e.trim(), "-_.")) => Some(after),
        Some(_) => None,
        None => Some(rest),
    };
    let specifier = |after: &str| {
        after.is_empty()
            || after.split(',').all(|one| {
                let version = one.trim().trim_start_matches(['=', '<', '>', '!', '~']);
                version.len() < one.trim().len() && name_fits(version.trim(), ".*+!-_")
            })
    };
    if name_fits(name, "-_.") && extras.is_some_and(specifier) {
        Ok(())
    } else {
        Err(Unfit::Form("is not a requirement by name such as `name>=1.2` (no addresses, no paths)"))
    }
}

/// `name`, `name@1.2.3`.
pub(super) fn cargo(value: &str) -> Fits {
    let (name, version) = value.split_once('@').or_else(|| value.split_once(':')).unwrap_or((value, "0"));
    if name_fits(name, "-_*?") && name_fits(version, ".+-") {
        Ok(())
    } else {
        Err(Unfit::Form("is not a package by name such as `name` or `name@1.2.3`"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packages_have_names_and_no_addresses() {
        for good in [
            "react",
            "@types/node",
            "react@^18.2.0",
            "@a/b@latest",
            "x@npm:@a/b@1",
            "x@>=1 <2",
            "lodash.get",
            "x@1.x || 2",
        ] {
            assert!(npm(good).is_ok(), "{good}");
        }
        for bad in [
            "",
            "-g",
            "git+ssh://x",
            "https://x/y.tgz",
            "github:a/b",
            "a/b",
            "./x",
            "../x",
            "/x",
            "file:../x",
            "x@file:..",
            "x@https://y",
            "@/x",
            "@a",
            "x@",
            "x@npm:",
            "x@git+https://a",
            "~x",
        ] {
            assert!(npm(bad).is_err(), "{bad}");
        }
        for good in ["requests", "a[b,c]==1.2.*", "x>=1,<2", "x~=1.4", "zope.interface"] {
            assert!(python(good).is_ok(), "{good}");
        }
        for bad in
            ["", "-r", "x @ https://y", "git+https://x", "./x", "x==", "x[", "x;y", "../x", "x>=1;os", "x /y"]
        {
            assert!(python(bad).is_err(), "{bad}");
        }
        for (value, fits) in [
            ("serde", true),
            ("serde@1.0.0", true),
            ("gate*", true),
            ("path+file:///x", false),
            ("https://x", false),
            ("-x", false),
            ("../x", false),
        ] {
            assert_eq!(cargo(value).is_ok(), fits, "{value}");
        }
    }
}
