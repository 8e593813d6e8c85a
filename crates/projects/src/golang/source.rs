//! The head of a Go source file: its build constraint and its package clause (`go help buildconstraint`, Go 1.25).

/// What the head of a file says.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Head {
    /// The name behind `package`.
    pub(crate) package: String,
    /// Tags that the constraint speaks of, sorted.
    pub(crate) tags: Vec<String>,
    /// Whether the constraint leaves the file out of every build, as `//go:build ignore` is used.
    pub(crate) ignored: bool,
}

/// Reads the head. `None`: there is no package clause in `text`, which may have been cut.
pub(crate) fn head(text: &str) -> Option<Head> {
    let mut found = Head::default();
    let mut modern: Option<&str> = None;
    let mut legacy: Vec<&str> = Vec::new();
    let mut rest = text.strip_prefix('\u{feff}').unwrap_or(text);
    loop {
        rest = rest.trim_start_matches([' ', '\t', '\r', '\n', ';']);
        if let Some(comment) = rest.strip_prefix("//") {
            let end = comment.find('\n')?;
            let line = comment.get(..end)?.trim_end();
            if let Some(constraint) = line.strip_prefix("go:build ") {
                modern.get_or_insert(constraint);
            } else if let Some(constraint) = line.trim_start().strip_prefix("+build ") {
                legacy.push(constraint);
            }
            rest = comment.get(end..)?;
        } else if let Some(comment) = rest.strip_prefix("/*") {
            rest = comment.get(comment.find("*/")? + 2..)?;
        } else {
            break;
        }
    }
    let clause = rest.strip_prefix("package")?;
    let name = clause.trim_start_matches([' ', '\t', '\r', '\n']);
    if name.len() == clause.len() {
        return None;
    }
    let end = name.find(|c: char| !(c.is_alphanumeric() || c == '_'))?;
    name.get(..end).filter(|n| !n.is_empty())?.clone_into(&mut found.package);
    let (constraint, separators): (String, &[char]) = match modern {
        Some(constraint) => (constraint.to_owned(), &['&', '|', '!', '(', ')', ' ', '\t']),
        None => (legacy.join(" "), &[',', '!', ' ', '\t']),
    };
    found.ignored = constraint.trim() == "ignore";
    found.tags = constraint.split(separators).filter(|t| !t.is_empty()).map(str::to_owned).collect();
    found.tags.sort();
    found.tags.dedup();
    Some(found)
}

/// Tags that a file's name stands for: `_GOOS`, `_GOARCH`, `_GOOS_GOARCH`, before `_test`.
pub(crate) fn name_tags(file: &str) -> Vec<String> {
    let stem = file.strip_suffix(".go").unwrap_or(file);
    let stem = stem.strip_suffix("_test").unwrap_or(stem);
    let parts: Vec<&str> = stem.split('_').collect();
    let last = match parts.as_slice() {
        [_, .., os, arch] if SYSTEMS.contains(os) && MACHINES.contains(arch) => vec![*os, *arch],
        [_, .., one] if SYSTEMS.contains(one) || MACHINES.contains(one) => vec![*one],
        _ => vec![],
    };
    last.into_iter().map(str::to_owned).collect()
}

/// `go tool dist list`, Go 1.25, and what older releases knew.
const SYSTEMS: [&str; 17] = [
    "aix",
    "android",
    "darwin",
    "dragonfly",
    "freebsd",
    "hurd",
    "illumos",
    "ios",
    "js",
    "linux",
    "nacl",
    "netbsd",
    "openbsd",
    "plan9",
    "solaris",
    "wasip1",
    "windows",
];

const MACHINES: [&str; 19] = [
    "386", "amd64", "amd64p32", "arm", "arm64", "armbe", "loong64", "mips", "mips64", "mips64le", "mipsle",
    "ppc", "ppc64", "ppc64le", "riscv64", "s390x", "sparc64", "wasm", "riscv",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_clause_is_found_behind_comments_and_constraints() {
        let text = "// Copyright\n\n//go:build (linux && !cgo) || ignore_me\n// +build linux\n\n/* package no */\n\
                    // Package x is.\npackage x // import \"y\"\n";
        let found = head(text).unwrap();
        assert_eq!(found.package, "x");
        assert_eq!(found.tags, ["cgo", "ignore_me", "linux"]);
        assert!(!found.ignored);
        assert!(head("//go:build ignore\n\npackage main\n").unwrap().ignored);
        assert_eq!(head("// +build a,!b c\n\npackage p;").unwrap().tags, ["a", "b", "c"]);
    }

    #[test]
    fn what_is_cut_or_no_go_has_no_head() {
        for text in
            ["", "// package x", "/* package x", "packagex\n", "package", "package x", "func main() {}\n"]
        {
            assert_eq!(head(text), None, "{text:?}");
        }
    }

    #[test]
    fn names_of_files_stand_for_tags() {
        assert_eq!(name_tags("a_linux.go"), ["linux"]);
        assert_eq!(name_tags("a_linux_arm64_test.go"), ["linux", "arm64"]);
        assert_eq!(name_tags("a_amd64.go"), ["amd64"]);
        assert_eq!(name_tags("linux.go"), Vec::<String>::new());
        assert_eq!(name_tags("linux_arm64.go"), ["arm64"]);
        assert_eq!(name_tags("a_unix.go"), Vec::<String>::new());
    }
}
