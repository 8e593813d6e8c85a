//! `pom.xml` (Maven 3 and 4), and what Gradle's scripts say in plain literals: they are programs and are not run.

use roxmltree::{Document, Node, ParsingOptions};

use super::{Dependency, text};

/// Most nodes of a document that are looked at.
pub(crate) const MAX_NODES: u32 = 200_000;

/// What is read of a pom.xml or of Gradle's scripts.
#[derive(Debug, Default)]
pub(crate) struct Build {
    pub(crate) name: Option<String>,
    /// `group:artifact`.
    pub(crate) dependencies: Vec<Dependency>,
    pub(crate) modules: Vec<String>,
    /// Whether Kotlin is compiled.
    pub(crate) kotlin: bool,
}

/// Parses XML without a document type: no entities, so nothing can grow.
pub(crate) fn xml(text: &str) -> Result<Document<'_>, (Option<usize>, String)> {
    if depth(text) > MAX_DEPTH {
        return Err((None, format!("elements are nested more than {MAX_DEPTH} deep")));
    }
    let options = ParsingOptions { allow_dtd: false, nodes_limit: MAX_NODES, ..ParsingOptions::default() };
    Document::parse_with_options(text, options)
        .map_err(|error| (usize::try_from(error.pos().row).ok(), error.to_string()))
}

/// Deepest nesting of elements.
const MAX_DEPTH: usize = 256;

/// An upper bound of how deep elements nest, before a parser that recurses is asked.
fn depth(text: &str) -> usize {
    let (mut now, mut most) = (0_usize, 0);
    for tag in text.split('<').skip(1) {
        if tag.starts_with('/') {
            now = now.saturating_sub(1);
        } else if !tag.starts_with(['!', '?']) && !tag.split('>').next().unwrap_or_default().ends_with('/') {
            now += 1;
            most = most.max(now);
        }
    }
    most
}

/// The child element `name`, in any namespace.
pub(crate) fn child<'a, 'i>(node: Node<'a, 'i>, name: &str) -> Option<Node<'a, 'i>> {
    node.children().find(|n| n.is_element() && n.tag_name().name() == name)
}

fn value<'a>(node: Node<'a, '_>, name: &str) -> Option<&'a str> {
    child(node, name)?.text().map(str::trim).filter(|t| !t.is_empty())
}

/// Reads `pom.xml`. The error is a line, from 1, and what is wrong.
pub(crate) fn pom(bytes: &[u8]) -> Result<Build, (Option<usize>, String)> {
    let document = xml(text(bytes)?)?;
    let project = document.root_element();
    if project.tag_name().name() != "project" {
        return Err((Some(1), "the document is no Maven project".to_owned()));
    }
    let mut found = Build { name: value(project, "artifactId").map(str::to_owned), ..Build::default() };
    let elements = |node: Option<Node<'_, '_>>, name: &'static str| {
        let all: Vec<_> = node
            .into_iter()
            .flat_map(|n| n.children().collect::<Vec<_>>())
            .filter(|n| n.is_element() && n.tag_name().name() == name)
            .map(|n| n.id())
            .collect();
        all.into_iter().filter_map(|id| document.get_node(id)).collect::<Vec<_>>()
    };
    for dependency in elements(child(project, "dependencies"), "dependency") {
        let (Some(group), Some(artifact)) = (value(dependency, "groupId"), value(dependency, "artifactId"))
        else {
            continue;
        };
        let dev = value(dependency, "scope") == Some("test");
        let version = value(dependency, "version");
        found.dependencies.push(Dependency::new(format!("{group}:{artifact}"), version, dev));
    }
    for (list, item) in [("modules", "module"), ("subprojects", "subproject")] {
        let modules = elements(child(project, list), item);
        found.modules.extend(modules.iter().filter_map(Node::text).map(|m| m.trim().to_owned()));
    }
    let plugins = child(project, "build").and_then(|b| child(b, "plugins"));
    found.kotlin = elements(plugins, "plugin")
        .iter()
        .any(|p| value(*p, "artifactId").is_some_and(|a| a == "kotlin-maven-plugin"));
    Ok(found)
}

/// Reads `build.gradle` or `build.gradle.kts`: dependencies that are written as `"group:artifact:version"`.
pub(crate) fn gradle(text: &str) -> Build {
    let mut found = Build::default();
    for line in text.lines().map(str::trim).filter(|l| !l.starts_with("//")) {
        let word = line.split(|c: char| !c.is_ascii_alphanumeric()).next().unwrap_or_default();
        let lower = word.to_ascii_lowercase();
        let dev = lower.starts_with("test") || lower.starts_with("androidtest");
        let declares = ["implementation", "api", "compileonly", "runtimeonly", "classpath", "kapt", "ksp"];
        if declares.iter().any(|d| lower.ends_with(d)) {
            for literal in literals(line) {
                let mut parts = literal.split(':');
                // `:core` is a project of the same build.
                if let (Some(group), Some(artifact)) = (parts.next().filter(|g| !g.is_empty()), parts.next())
                {
                    let name = format!("{group}:{artifact}");
                    found.dependencies.push(Dependency::new(name, parts.next(), dev));
                }
            }
        }
        found.kotlin |= line.contains("kotlin(\"") || line.contains("org.jetbrains.kotlin");
    }
    found
}

/// Reads `settings.gradle` or `settings.gradle.kts`: the root's name, and folders that `include` names as literals.
pub(crate) fn settings(text: &str) -> Build {
    let mut found = Build::default();
    let mut including = false;
    for line in text.lines().map(str::trim).filter(|l| !l.starts_with("//")) {
        if line.starts_with("rootProject.name") {
            found.name = literals(line).first().map(|n| (*n).to_owned());
        }
        including |= line.starts_with("include ") || line.starts_with("include(");
        if including {
            let folders = literals(line).into_iter().map(|l| l.trim_start_matches(':').replace(':', "/"));
            found.modules.extend(folders);
            // A list goes on while its lines end with a comma or an open parenthesis.
            including = line.ends_with([',', '(']);
        }
    }
    found
}

/// Texts in single or double quotes on a line, without those that interpolate.
fn literals(line: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut rest = line;
    while let Some(open) = rest.find(['"', '\'']) {
        let quote = if rest.get(open..).is_some_and(|r| r.starts_with('"')) { '"' } else { '\'' };
        let inner = rest.get(open + 1..).unwrap_or_default();
        let Some(close) = inner.find(quote) else { break };
        found.extend(inner.get(..close).filter(|l| !l.is_empty() && !l.contains('$')));
        rest = inner.get(close + 1..).unwrap_or_default();
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pom_is_read() {
        let found = pom(
            br#"<?xml version="1.0"?><project xmlns="http://maven.apache.org/POM/4.0.0"><artifactId>app</artifactId>
            <modules><module>core</module><module> web </module></modules>
            <dependencies><dependency><groupId>org.junit.jupiter</groupId><artifactId>junit-jupiter</artifactId>
            <version>5.13</version><scope>test</scope></dependency></dependencies></project>"#,
        )
        .unwrap();
        assert_eq!(found.name.as_deref(), Some("app"));
        assert_eq!(found.modules, ["core", "web"]);
        let first = found.dependencies.first().unwrap();
        assert!(first.dev && first.name == "org.junit.jupiter:junit-jupiter");
    }

    #[test]
    fn entities_and_depth_are_refused() {
        let bomb = b"<!DOCTYPE p [<!ENTITY a \"aaaa\"><!ENTITY b \"&a;&a;\">]><project>&b;</project>";
        assert!(pom(bomb).is_err());
        let deep = format!("{}{}", "<project>".repeat(100_000), "</project>".repeat(100_000));
        assert!(pom(deep.as_bytes()).is_err());
        assert_eq!(pom(b"<project>\n<a>\n</b></project>").unwrap_err().0, Some(3));
    }

    #[test]
    fn gradle_literals_are_read() {
        let found = gradle(
            "plugins { kotlin(\"jvm\") version \"2.2\" }\ndependencies {\n  implementation(\"a.b:c:1.0\")\n\
             // implementation 'no:no:1'\n  testImplementation 'org.junit:junit:5'\n  implementation(project(\":x\"))\n}\n",
        );
        let names: Vec<_> = found.dependencies.iter().map(|d| (d.name.as_str(), d.dev)).collect();
        assert_eq!(names, [("a.b:c", false), ("org.junit:junit", true)]);
        assert!(found.kotlin);
        let found =
            settings("rootProject.name = 'shop'\ninclude(\n  \":app\",\n  \":lib:core\"\n)\ninclude 'x'\n");
        assert_eq!(found.name.as_deref(), Some("shop"));
        assert_eq!(found.modules, ["app", "lib/core", "x"]);
    }
}
