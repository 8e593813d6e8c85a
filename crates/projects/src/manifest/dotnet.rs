//! Project files of `MSBuild` (`*.csproj`, `*.fsproj`, `*.vbproj`) and solutions (`*.sln`, `*.slnx`).

use super::jvm::xml;
use super::{Dependency, text};

/// Packages that a project file references. The error is a line, from 1, and what is wrong.
pub(crate) fn project(bytes: &[u8]) -> Result<Vec<Dependency>, (Option<usize>, String)> {
    let document = xml(text(bytes)?)?;
    if document.root_element().tag_name().name() != "Project" {
        return Err((Some(1), "the document is no MSBuild project".to_owned()));
    }
    let references = document.descendants().filter(|n| n.tag_name().name() == "PackageReference");
    Ok(references
        .filter_map(|n| {
            let name = n.attribute("Include").or_else(|| n.attribute("Update"))?;
            Some(Dependency::new(name.to_ascii_lowercase(), n.attribute("Version"), false))
        })
        .collect())
}

/// Project files that a solution lists, as it writes them.
pub(crate) fn solution(text: &str) -> Vec<String> {
    let is_project = |path: &&str| {
        let path = path.to_ascii_lowercase();
        [".csproj", ".fsproj", ".vbproj"].iter().any(|e| path.ends_with(e))
    };
    text.lines().flat_map(|line| line.split('"')).filter(is_project).map(|p| p.replace('\\', "/")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_and_solutions_are_read() {
        let found = project(
            b"\xef\xbb\xbf<Project Sdk=\"Microsoft.NET.Sdk\"><ItemGroup>\
              <PackageReference Include=\"xunit\" Version=\"2.9\" /></ItemGroup></Project>",
        )
        .unwrap();
        assert_eq!(found.first().map(|d| d.name.as_str()), Some("xunit"));
        let solution = solution(
            "Project(\"{FAE0}\") = \"App\", \"src\\App\\App.csproj\", \"{1}\"\nProject(\"{2}\") = \"s\", \"s\", \"{3}\"\n",
        );
        assert_eq!(solution, ["src/App/App.csproj"]);
    }
}
