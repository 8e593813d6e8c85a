//! `go.work` (<https://go.dev/ref/mod#workspaces>, Go 1.25).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::gomod::{Replace, once, replace};
use super::lines::lines;
use crate::project::Problem;

/// A workspace file.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct GoWork {
    /// The Go version it asks for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub go: Option<String>,
    /// The toolchain it suggests.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub toolchain: Option<String>,
    /// Folders of its modules, as written.
    pub uses: Vec<String>,
    /// What it puts in another's place.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub replaces: Vec<Replace>,
    /// Debug settings, as `key=value`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub godebug: Vec<String>,
}

/// Reads a workspace file. A line that cannot be understood is a problem of `file`, and the rest is read on.
pub fn parse(file: &str, text: &str, problems: &mut Vec<Problem>) -> GoWork {
    let mut found = GoWork::default();
    for line in lines(file, text, problems) {
        let args: Vec<&str> = line.args.iter().map(String::as_str).collect();
        let taken = match (line.verb.as_str(), args.as_slice()) {
            ("go", [version]) => once(&mut found.go, version, "go"),
            ("toolchain", [name]) => once(&mut found.toolchain, name, "toolchain"),
            ("use", [dir]) => {
                found.uses.push((*dir).to_owned());
                Ok(())
            }
            ("godebug", [setting]) => {
                found.godebug.push((*setting).to_owned());
                Ok(())
            }
            ("replace", args) => match replace(args) {
                Some(replace) => {
                    found.replaces.push(replace);
                    Ok(())
                }
                None => Err("replace is not `old => new`".to_owned()),
            },
            (verb, _) => Err(format!("{verb} is no directive of a workspace file, or has other arguments")),
        };
        if let Err(message) = taken
            && problems.len() < crate::project::MAX_PROBLEMS
        {
            problems.push(Problem::new(file, Some(line.number), message));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uses_are_read_from_lines_and_blocks() {
        let mut problems = Vec::new();
        let text = "go 1.25\n\nuse ./a\nuse (\n\t./b // why\n\t../c\n)\nreplace x => ./x\n";
        let found = parse("go.work", text, &mut problems);
        assert_eq!(problems, []);
        assert_eq!(found.uses, ["./a", "./b", "../c"]);
        assert_eq!(found.replaces.len(), 1);
    }
}
