//! Whether a changelog knows a release ([Keep a Changelog 1.1.0](https://keepachangelog.com/en/1.1.0/), and what changesets,
//! conventional-changelog and release-please write).

use semver::Version;

use crate::check::{Check, Severity};
use crate::version::Scheme;

/// What a changelog is called, in the order in which it is looked for.
pub const NAMES: [&str; 6] =
    ["CHANGELOG.md", "CHANGELOG", "changelog.md", "CHANGES.md", "HISTORY.md", "RELEASES.md"];

/// A release's section.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Section {
    /// 1-based.
    pub line: usize,
    /// Whether anything is said below the heading.
    pub has_words: bool,
}

/// The package that a changelog tells of.
#[derive(Debug, Clone, Copy)]
pub struct Whose<'p> {
    /// Its name.
    pub package: &'p str,
    /// How it writes versions.
    pub scheme: Scheme,
}

impl Whose<'_> {
    fn is_named(self, heading: &str, version: &Version) -> bool {
        let Some(said) = self.first_version(heading) else { return false };
        match self.scheme {
            Scheme::SemVer => said == version.to_string(),
            Scheme::Python => self.scheme.read(said) == Some(self.scheme.plain(version)),
        }
    }

    /// The first word of a heading that looks like a version.
    fn first_version(self, heading: &str) -> Option<&str> {
        heading
            .split(|c: char| c.is_whitespace() || matches!(c, '[' | ']' | '(' | ')' | ':' | ',' | '*' | '`'))
            .map(|word| word.rsplit_once('@').map_or(word, |(_, version)| version))
            .map(|word| self.scheme.behind(word, self.package).unwrap_or(word))
            .map(|word| word.strip_prefix('v').unwrap_or(word))
            .find(|word| word.starts_with(|c: char| c.is_ascii_digit()) && word.contains('.'))
    }
}

/// The section of a version: a heading in `#` or underlined that begins with it, in brackets, with `v`, behind the package's name, with
/// a link or a date behind it.
pub fn section(text: &str, version: &Version, whose: Whose<'_>) -> Option<Section> {
    let lines: Vec<&str> = text.trim_start_matches('\u{feff}').lines().collect();
    let mut fenced = false;
    for (i, line) in lines.iter().enumerate() {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
        }
        if fenced || heading(&lines, i).is_none_or(|h| !whose.is_named(h, version)) {
            continue;
        }
        let is_underlined = !line.starts_with('#');
        let rest = lines.iter().enumerate().skip(i + 1 + usize::from(is_underlined));
        let level = level(line);
        let mut has_words = false;
        for (j, line) in rest {
            match heading(&lines, j) {
                // Headings of kinds ("Added") say nothing by themselves; some have them at the same level.
                Some(h) if self::level(line) >= level && whose.first_version(h).is_none() => {}
                Some(_) => break,
                None => has_words |= !line.trim().is_empty(),
            }
        }
        return Some(Section { line: i + 1, has_words });
    }
    None
}

fn level(line: &str) -> usize {
    let marks = line.bytes().take_while(|b| *b == b'#').count();
    if marks == 0 { 2 } else { marks }
}

fn heading<'t>(lines: &[&'t str], i: usize) -> Option<&'t str> {
    let line = lines.get(i)?;
    if line.starts_with('#') {
        let rest = line.trim_start_matches('#');
        return rest.starts_with([' ', '\t']).then(|| rest.trim());
    }
    let under = lines.get(i + 1)?.trim_end();
    let is_underlined =
        under.len() >= 3 && (under.bytes().all(|b| b == b'-') || under.bytes().all(|b| b == b'='));
    (is_underlined && !line.trim().is_empty()).then(|| line.trim())
}

/// The check: `text` is the changelog and its name, where there is one.
pub fn check(text: Option<(&str, &str)>, version: &Version, whose: Whose<'_>) -> Check {
    const ID: &str = "release.changelog";
    let written = whose.scheme.write(version);
    let Some((name, text)) = text else {
        return Check::failed(ID, Severity::Warning, "there is no changelog").fix(format!(
            "Add CHANGELOG.md with a section `## {written}` that says what changed for users."
        ));
    };
    match section(text, version, whose) {
        Some(Section { has_words: true, line }) => {
            Check::passed(ID, format!("{name}:{line} tells of {version}"))
        }
        Some(Section { line, .. }) => {
            Check::failed(ID, Severity::Warning, format!("{name}:{line}: the section of {version} is empty"))
                .fix("Say there what changed for users.")
                .about(name)
        }
        None => Check::failed(ID, Severity::Warning, format!("{name} does not tell of {version}"))
            .fix(format!("Add a section `## {written}` that says what changed for users."))
            .about(name),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALONE: Whose<'_> = Whose { package: "acme-ui", scheme: Scheme::SemVer };

    #[test]
    fn headings_of_python_are_read_as_python_writes_versions() {
        let whose = Whose { package: "Acme.UI", scheme: Scheme::Python };
        let has = |heading: &str, version: &str| {
            let version = Version::parse(version).unwrap();
            section(&format!("{heading}\n\n- x\n"), &version, whose).is_some()
        };
        for (heading, version) in [
            ("## 1.2.0rc1 (2026-11-22)", "1.2.0-rc.1"),
            ("## v1.2.0rc1", "1.2.0-rc1"),
            ("1.2\n---", "1.2.0"),
            ("## acme_ui-1.2.0", "1.2.0"),
            ("## acme-ui v1.2.0", "1.2.0"),
        ] {
            assert!(has(heading, version), "{heading}");
        }
        for heading in ["## 1.2.0rc1", "## 1.2.0.post1", "## other-1.2.0", "## 1"] {
            assert!(!has(heading, "1.2.0"), "{heading}");
        }
        let told = check(Some(("C", "")), &Version::parse("1.2.0-rc.1").unwrap(), whose);
        assert!(told.fix.unwrap().contains("`## 1.2.0rc1`"));
    }

    #[test]
    fn a_release_is_found_as_people_write_it() {
        let version = Version::new(1, 2, 3);
        for heading in [
            "## 1.2.3",
            "## [1.2.3] - 2026-11-22",
            "## [v1.2.3](https://example.com/compare/v1.2.2...v1.2.3) (2026-11-22)",
            "# v1.2.3",
            "### 1.2.3 / 2026-11-22",
            "## Version 1.2.3",
            "1.2.3\n-----",
            "## `@acme/ui@1.2.3`",
            "## acme-ui-v1.2.3",
        ] {
            let text =
                format!("# Changelog\n\n## Unreleased\n\n{heading}\n\n### Added\n\n- x\n\n## 1.2.2\n\n- y\n");
            assert!(section(&text, &version, ALONE).is_some_and(|s| s.has_words), "{heading}");
        }
        for heading in
            ["## 1.2.30", "## 1.2.3-rc.1", "## 11.2.3", "text 1.2.3", "##1.2.3", "## From 1.0.0 to 1.2.3"]
        {
            assert_eq!(section(&format!("{heading}\n\n- x\n"), &version, ALONE), None, "{heading}");
        }
        assert_eq!(section("```\n## 1.2.3\n```\n", &version, ALONE), None);
        assert!(
            section("\u{feff}## 1.2.3\n\n- x\n", &version, ALONE).is_some(),
            "a byte order mark is no part of it"
        );
    }

    #[test]
    fn a_section_with_headings_alone_is_empty() {
        let text = "## 1.2.3\n\n### Added\n\n## 1.2.2\n\n- x\n";
        assert_eq!(section(text, &Version::new(1, 2, 3), ALONE), Some(Section { line: 1, has_words: false }));
        assert!(!check(Some(("CHANGELOG.md", text)), &Version::new(1, 2, 3), ALONE).passed);
        assert!(check(Some(("CHANGELOG.md", text)), &Version::new(1, 2, 2), ALONE).passed);
        assert!(!check(None, &Version::new(1, 2, 2), ALONE).passed);
    }
}
