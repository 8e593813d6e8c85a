//! `go.mod`, directive by directive (<https://go.dev/ref/mod#go-mod-file>, Go 1.25).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::lines::{Line, lines};
use crate::project::Problem;

/// A module file.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct GoMod {
    /// The module path.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub module: Option<String>,
    /// Why the module is deprecated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deprecated: Option<String>,
    /// The Go version it asks for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub go: Option<String>,
    /// The toolchain it suggests.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub toolchain: Option<String>,
    /// What it requires.
    pub requires: Vec<Require>,
    /// What it puts in another's place.
    pub replaces: Vec<Replace>,
    /// Versions it refuses, as `path@version`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub excludes: Vec<String>,
    /// Its own versions taken back.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub retracts: Vec<Retract>,
    /// Packages of its tools.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<String>,
    /// Debug settings, as `key=value`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub godebug: Vec<String>,
    /// Folders that package patterns skip.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ignores: Vec<String>,
}

/// A required module.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Require {
    /// The module path.
    pub path: String,
    /// The lowest version.
    pub version: String,
    /// Whether only dependencies need it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub indirect: bool,
}

/// A module put in another's place.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Replace {
    /// What is replaced, `@version` where given.
    pub old: String,
    /// A folder, or a module `@version`.
    pub new: String,
    /// Whether the replacement is a folder.
    pub local: bool,
}

/// Versions taken back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Retract {
    /// The lowest version.
    pub low: String,
    /// The highest version.
    pub high: String,
    /// Why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
}

/// Reads a module file. A line that cannot be understood is a problem of `file`, and the rest is read on.
pub fn parse(file: &str, text: &str, problems: &mut Vec<Problem>) -> GoMod {
    let mut found = GoMod::default();
    for line in lines(file, text, problems) {
        if let Err(message) = take(&mut found, &line)
            && problems.len() < crate::project::MAX_PROBLEMS
        {
            problems.push(Problem::new(file, Some(line.number), message));
        }
    }
    found
}

fn take(found: &mut GoMod, line: &Line) -> Result<(), String> {
    let args: Vec<&str> = line.args.iter().map(String::as_str).collect();
    match (line.verb.as_str(), args.as_slice()) {
        ("module", [path]) => {
            once(&mut found.module, path, "module")?;
            found.deprecated = line
                .comment
                .as_deref()
                .and_then(|c| c.strip_prefix("Deprecated:"))
                .map(|why| why.trim().to_owned());
        }
        ("go", [version]) => once(&mut found.go, version, "go")?,
        ("toolchain", [name]) => once(&mut found.toolchain, name, "toolchain")?,
        ("require", [path, version]) => {
            let comment = line.comment.as_deref().unwrap_or_default();
            // `// indirect`, or `// indirect; and more`.
            let indirect = comment == "indirect" || comment.starts_with("indirect;");
            found.requires.push(Require {
                path: (*path).to_owned(),
                version: (*version).to_owned(),
                indirect,
            });
        }
        ("exclude", [path, version]) => found.excludes.push(format!("{path}@{version}")),
        ("replace", args) => found.replaces.push(replace(args).ok_or("replace is not `old => new`")?),
        ("retract", [version]) => found.retracts.push(retract(version, version, line)),
        ("retract", ["[", low, ",", high, "]"]) => found.retracts.push(retract(low, high, line)),
        ("tool", [path]) => found.tools.push((*path).to_owned()),
        ("godebug", [setting]) if setting.contains('=') => found.godebug.push((*setting).to_owned()),
        ("ignore", [path]) => found.ignores.push((*path).to_owned()),
        (
            verb @ ("module" | "go" | "toolchain" | "require" | "exclude" | "retract" | "tool" | "godebug"
            | "ignore"),
            _,
        ) => return Err(format!("{verb} has other arguments than it takes")),
        (verb, _) => return Err(format!("{verb} is no directive of a module file")),
    }
    Ok(())
}

pub(super) fn once(place: &mut Option<String>, value: &str, verb: &str) -> Result<(), String> {
    if place.is_some() {
        return Err(format!("{verb} is said twice"));
    }
    *place = Some(value.to_owned());
    Ok(())
}

/// `old [version] => folder`, or `old [version] => new version`.
pub(super) fn replace(args: &[&str]) -> Option<Replace> {
    let arrow = args.iter().position(|a| *a == "=>")?;
    let (old, new) = (args.get(..arrow)?, args.get(arrow + 1..)?);
    let at = |side: &[&str]| match side {
        [path] => Some((*path).to_owned()),
        [path, version] => Some(format!("{path}@{version}")),
        _ => None,
    };
    let local = match new {
        [path] if is_local(path) => true,
        [path, _] if !is_local(path) => false,
        _ => return None,
    };
    Some(Replace { old: at(old)?, new: at(new)?, local })
}

/// What the go command takes for a folder and not for a module path.
pub(super) fn is_local(path: &str) -> bool {
    path == "." || path == ".." || ["./", "../", "/", ".\\", "..\\"].iter().any(|p| path.starts_with(p))
}

fn retract(low: &str, high: &str, line: &Line) -> Retract {
    let why = line.comment.clone().filter(|c| !c.is_empty());
    Retract { low: low.to_owned(), high: high.to_owned(), why }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_directive_is_read() {
        let mut problems = Vec::new();
        let found = parse(
            "go.mod",
            "// About.\nmodule example.com/m/v2 // Deprecated: use v3.\n\ngo 1.25.0\ntoolchain go1.25.1\n\
             godebug default=go1.21\nrequire example.com/a v1.2.3\nrequire(\n\texample.com/b v0.0.0-2024 // indirect\n\
             \n\t// on its own\n\t\"example.com/c\" v1.0.0+incompatible // indirect; for d\n\
             \texample.com/e v1.0.0 // not indirect\n)\nexclude example.com/a v1.2.4\n\
             replace example.com/a => ../a\nreplace (\n\texample.com/b v1 => example.com/bb v1.1.1\n)\n\
             retract v1.0.0 // broken\nretract [v1.1.0, v1.2.0]\ntool example.com/t/cmd/t\nignore ./web\n",
            &mut problems,
        );
        assert_eq!(problems, []);
        assert_eq!(found.module.as_deref(), Some("example.com/m/v2"));
        assert_eq!(found.deprecated.as_deref(), Some("use v3."));
        assert_eq!((found.go.as_deref(), found.toolchain.as_deref()), (Some("1.25.0"), Some("go1.25.1")));
        let indirect: Vec<_> = found.requires.iter().map(|r| (r.path.as_str(), r.indirect)).collect();
        assert_eq!(
            indirect,
            [
                ("example.com/a", false),
                ("example.com/b", true),
                ("example.com/c", true),
                ("example.com/e", false)
            ]
        );
        assert_eq!(found.excludes, ["example.com/a@v1.2.4"]);
        assert!(found.replaces.first().unwrap().local && !found.replaces.last().unwrap().local);
        assert_eq!(found.replaces.last().unwrap().new, "example.com/bb@v1.1.1");
        assert_eq!(found.retracts.first().unwrap().why.as_deref(), Some("broken"));
        assert_eq!(found.retracts.last().unwrap().high, "v1.2.0");
        assert_eq!(found.tools, ["example.com/t/cmd/t"]);
        assert_eq!(found.ignores, ["./web"]);
        assert_eq!(found.godebug, ["default=go1.21"]);
    }

    #[test]
    fn what_is_wrong_is_said_with_its_line_and_the_rest_is_read() {
        let mut problems = Vec::new();
        let text = "module a\nmodule b\nrequire x\nfrobnicate y\n\"open\n/* no */\ngo 1.25\nreplace a => b\nrequire (\n";
        let found = parse("go.mod", text, &mut problems);
        assert_eq!(found.go.as_deref(), Some("1.25"));
        assert_eq!(found.module.as_deref(), Some("a"));
        let lines: Vec<_> = problems.iter().filter_map(|p| p.line).collect();
        assert_eq!(lines, [5, 6, 9, 2, 3, 4, 8]);
    }
}
