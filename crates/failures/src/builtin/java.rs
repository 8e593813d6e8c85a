//! javac and the JVM (checked with 17), Maven and Gradle.

use serde_json::json;

use super::{Draft, draft};
use crate::pattern::{Category, Language, PatternSpec, Priority, Severity};

/// The first frame that is not the JVM's own.
const FRAME: &str =
    r"^\s+at (?<name>(?:[\w$]+\.)*[\w$<>]+)\((?<file>\w+\.(?:java|kt|scala|groovy)):(?<line>\d+)\)";

pub(super) fn patterns() -> Vec<PatternSpec> {
    [maven(), compilation(), class_not_found(), null_pointer()].map(|draft| draft.0).into()
}

fn null_pointer() -> Draft {
    draft("java-null-pointer", Category::Build, Severity::High, &[Language::Java], "Java code met a null")
        .because("Something that is null was used as if it were an object.")
        .find(
            &["NullPointerException"],
            r"(?:^|: |\s)(?:java\.lang\.)NullPointerException(?:: (?<message>.+))?$",
        )
        .near(8, 8, FRAME)
        .say(Priority::High, 0.8, "Look at {file} line {line}: {message|something there is null}")
        .say(
            Priority::Medium,
            0.5,
            "Set the value before it is used, or check it: `Objects.requireNonNull` says which one it was.",
        )
}

fn class_not_found() -> Draft {
    draft(
        "java-class-not-found",
        Category::Dependencies,
        Severity::High,
        &[Language::Java],
        "A Java class is not on the class path",
    )
    .because("The JVM was asked for a class that is in no directory or archive of the class path.")
    .find(&["Could not find or load main class"], r"Could not find or load main class (?<name>\S+)")
    .find(&["ClassNotFoundException"], r"java\.lang\.ClassNotFoundException: (?<name>\S+)")
    .find(&["NoClassDefFoundError"], r"java\.lang\.NoClassDefFoundError: (?<name>\S+)")
    .say(Priority::High, 0.7, "Put the archive or directory that holds {name} on the class path, or add its dependency to the build.")
    .say(Priority::Medium, 0.6, "Build everything anew: the class may never have been compiled.")
    .call("make_build", json!({}))
}

fn compilation() -> Draft {
    draft(
        "java-compilation-error",
        Category::Build,
        Severity::High,
        &[Language::Java],
        "Java code does not compile",
    )
    .because("javac refuses the sources.")
    .find(&[".java:"], r"^(?<file>[^\s:\[][^:\[]*\.java):(?<line>\d+): error: (?<message>.+)")
    .find(
        &[".java:["],
        r"^\[ERROR\] (?<file>[^\s:\[][^:\[]*\.java):\[(?<line>\d+)(?:,(?<column>\d+))?\] (?<message>.+)",
    )
    .find(&["COMPILATION ERROR"], r"^\[ERROR\] COMPILATION ERROR")
    .find(
        &["Compilation failed; see the compiler"],
        r"Compilation failed; see the compiler (?:error )?output",
    )
    .say(Priority::High, 0.8, "Repair {file} at line {line}: {message}")
    .say(
        Priority::Medium,
        0.6,
        "If a symbol is missing, check the import and whether the build lists its dependency.",
    )
}

fn maven() -> Draft {
    draft(
        "java-maven-dependency",
        Category::Dependencies,
        Severity::High,
        &[Language::Java],
        "Maven cannot get an artifact",
    )
    .because("A dependency or plugin is not in the local repository and could not be downloaded.")
    .find(&["Could not resolve dependencies for project"], r"Could not resolve dependencies for project (?<project>\S+?)(?:: |$)(?:.*?(?:artifacts?|at|find artifact) (?<artifact>[\w.-]+:[\w.-]+:[\w.:-]+\w))?")
    .find(&["or one of its dependencies could not be resolved"], r"Plugin (?<artifact>\S+) or one of its dependencies could not be resolved")
    .find(&["Could not find artifact "], r"Could not find artifact (?<artifact>\S+)")
    .find(&["'dependencies.dependency.version'"], r"'dependencies\.dependency\.version' for (?<artifact>\S+) is missing")
    .find(&["Non-resolvable parent POM", "Non-resolvable import POM"], r"Non-resolvable (?:parent|import) POM(?: for (?<artifact>\S+?):? )?")
    .say(Priority::High, 0.7, "Check the coordinates of {artifact|the dependency} in pom.xml: group, name and version.")
    .say(Priority::Medium, 0.6, "Let the run reach the repository (network, proxy, settings.xml), or install {artifact|it} locally first.")
}
