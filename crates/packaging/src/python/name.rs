//! Names of distributions ([PEP 503](https://peps.python.org/pep-0503/#normalized-names),
//! [PEP 508](https://peps.python.org/pep-0508/#names), the
//! [binary distribution format](https://packaging.python.org/en/latest/specifications/binary-distribution-format/#escaping-and-unicode)).

/// The name as indexes compare it: lower case, runs of `-`, `_` and `.` as one `-`.
pub fn normal(name: &str) -> String {
    let mut out = String::with_capacity(name.len());
    for c in name.chars() {
        if matches!(c, '-' | '_' | '.') {
            if !out.ends_with('-') {
                out.push('-');
            }
        } else {
            out.extend(c.to_lowercase());
        }
    }
    out
}

/// The name as archives' file names have it: normal, with `_`.
pub fn in_file(name: &str) -> String {
    normal(name).replace('-', "_")
}

/// Whether a text is a name: ASCII letters, digits, `.`, `-`, `_`; a letter or digit at both ends.
pub fn is_name(name: &str) -> bool {
    let end = |c: Option<char>| c.is_some_and(|c| c.is_ascii_alphanumeric());
    end(name.chars().next())
        && end(name.chars().next_back())
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'-' | b'_'))
}

/// The name that a requirement begins with, and the rest of it.
pub fn of_requirement(requirement: &str) -> Option<(&str, &str)> {
    let text = requirement.trim();
    let end = text
        .find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_')))
        .unwrap_or(text.len());
    let (name, rest) = text.split_at_checked(end)?;
    is_name(name).then_some((name, rest.trim_start()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_normal_as_pep_503_says() {
        for name in [
            "friendly-bard",
            "Friendly-Bard",
            "FRIENDLY-BARD",
            "friendly.bard",
            "friendly_bard",
            "friendly--bard",
            "FrIeNdLy-._.-bArD",
        ] {
            assert_eq!(normal(name), "friendly-bard", "{name}");
            assert_eq!(in_file(name), "friendly_bard", "{name}");
            assert!(is_name(name));
        }
        for bad in ["", "-a", "a-", "a b", "ä", ".a"] {
            assert!(!is_name(bad), "{bad}");
        }
        assert_eq!(
            of_requirement("a.b[x]>=1; python_version<'3'"),
            Some(("a.b", "[x]>=1; python_version<'3'"))
        );
        assert_eq!(of_requirement("a @ https://x"), Some(("a", "@ https://x")));
        assert_eq!(of_requirement("https://x"), Some(("https", "://x")));
        assert_eq!(of_requirement("-e ."), None);
    }
}
