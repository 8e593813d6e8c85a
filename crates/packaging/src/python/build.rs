//! How a project is built: what to run, and what it made.
//!
//! Building runs the project's own code (its backend, `setup.py`, plugins): only ever in a confined run.

use super::project::Project;
use super::{name, version};

/// What is installed beside the Python that builds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Installed {
    /// The package `build`.
    pub build: bool,
    /// `pip`.
    pub pip: bool,
}

/// What to run to find out what is installed, after the interpreter's name: prints `build` and `pip`, each on a line, when they
/// can be imported.
pub const PROBE: [&str; 3] = [
    "-I",
    "-c",
    "import importlib.util as u\nfor n in ('build', 'pip'):\n    print(n if u.find_spec(n) else '')",
];

/// Variables to set for a build, so that the same files give the same bytes: times of files in archives are then 1 January 1980 (zip knows
/// none before), and the order of sets is the same every time.
pub const ENVIRONMENT: [(&str, &str); 4] = [
    ("SOURCE_DATE_EPOCH", "315532800"),
    ("PYTHONHASHSEED", "0"),
    ("PYTHONDONTWRITEBYTECODE", "1"),
    ("PIP_DISABLE_PIP_VERSION_CHECK", "1"),
];

/// Plugins of backends that take the version from the last tag, by names as indexes compare them; and the variable by which all of them
/// are told another
/// ([setuptools-scm](https://setuptools-scm.readthedocs.io/en/latest/overrides/), which hatch-vcs asks).
const FROM_TAGS: [&str; 2] = ["setuptools-scm", "hatch-vcs"];
const PRETEND: &str = "SETUPTOOLS_SCM_PRETEND_VERSION";

/// The plugin that takes the project's version from a tag, and the variable to set for a build of `version` before there is one. `None`
/// where the project says its version, or nothing is known to look at tags, or Python has no words for the version.
pub fn from_tags(
    project: &Project,
    version: &semver::Version,
) -> Option<(&'static str, (&'static str, String))> {
    if !project.is_dynamic("version") {
        return None;
    }
    let required = |plugin: &&&str| {
        let names = project.requires.iter().flatten().filter_map(|text| name::of_requirement(text));
        names.into_iter().any(|(name, _)| name::normal(name) == **plugin)
    };
    let plugin = FROM_TAGS.iter().find(required)?;
    Some((plugin, (PRETEND, version::of_semver(version)?.to_string())))
}

impl Installed {
    /// Reads what [`PROBE`] printed.
    pub fn read(stdout: &str) -> Self {
        let says = |name: &str| stdout.lines().any(|line| line.trim() == name);
        Self { build: says("build"), pip: says("pip") }
    }
}

/// A build that can be run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Command {
    /// Arguments after the interpreter's name. It is run in the project's folder.
    pub arguments: Vec<String>,
    /// Whether a source distribution is made too; the wheel is made from it then.
    pub makes_sdist: bool,
}

/// What to run to build into the folder `out`: `build` makes a source distribution and from it a wheel, `pip` a wheel alone. Neither
/// makes an environment of its own nor asks an index: the backend must be installed. Neither is looked for in the project, which may have a
/// `build.py` of its own. `None` when neither is there.
pub fn command(installed: Installed, out: &str) -> Option<Command> {
    let of = |words: &[&str], makes_sdist| Command {
        arguments: words.iter().map(ToString::to_string).collect(),
        makes_sdist,
    };
    if installed.build {
        return Some(of(&["-I", "-m", "build", "--no-isolation", "--outdir", out, "."], true));
    }
    let pip = [
        "-I",
        "-m",
        "pip",
        "wheel",
        "--no-deps",
        "--no-build-isolation",
        "--no-index",
        "--no-cache-dir",
        "--wheel-dir",
        out,
        ".",
    ];
    installed.pip.then(|| of(&pip, false))
}

/// What a build says that is missing: the backend's module.
pub fn missing(stderr: &str) -> Option<String> {
    stderr.lines().rev().find_map(|line| {
        let rest = line
            .split("No module named ")
            .nth(1)
            .or_else(|| line.contains("Backend '").then(|| line.split("Backend ").nth(1)).flatten())?;
        let name = rest.trim_start_matches(['\'', '"']);
        let end = name.find(['\'', '"', ' ', ';']).unwrap_or(name.len());
        name.get(..end).filter(|name| !name.is_empty()).map(str::to_owned)
    })
}

/// The archives among the names of files in the folder that was built into, sorted: wheels, and source distributions.
pub fn made<'n>(names: impl IntoIterator<Item = &'n str>) -> (Vec<&'n str>, Vec<&'n str>) {
    let (mut wheels, mut sdists) = (Vec::new(), Vec::new());
    for name in names {
        if name.ends_with(".whl") {
            wheels.push(name);
        } else if name.ends_with(".tar.gz") {
            sdists.push(name);
        }
    }
    wheels.sort_unstable();
    sdists.sort_unstable();
    (wheels, sdists)
}

/// The archives that a build says it made: `Successfully built a-1.tar.gz and a-1-py3-none-any.whl` of `build`, `filename=…` of `pip`.
pub fn said(output: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    // `build` colours names when it thinks that somebody looks.
    let mut parts = output.split('\u{1b}');
    let first = parts.next().unwrap_or_default().to_owned();
    let plain = parts.fold(first, |text, part| text + part.split_once('m').map_or(part, |(_, after)| after));
    for word in plain.split(|c: char| c.is_whitespace() || matches!(c, '=' | '\'' | '"' | ',')) {
        let name = word.rsplit(['/', '\\']).next().unwrap_or(word);
        let is_archive = name.ends_with(".whl") || name.ends_with(".tar.gz");
        if is_archive && !found.iter().any(|known| known == name) {
            found.push(name.to_owned());
        }
    }
    found.sort();
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_installed_decides_what_is_run() {
        let both = Installed::read("build\npip\n");
        assert_eq!(both, Installed { build: true, pip: true });
        assert!(command(both, "out").unwrap().makes_sdist);
        let pip = command(Installed::read("\npip\n"), "out").unwrap();
        assert!(!pip.makes_sdist && pip.arguments.contains(&"--no-build-isolation".to_owned()));
        assert_eq!(command(Installed::read("\n\n"), "out"), None);
    }

    #[test]
    fn a_plugin_that_looks_at_tags_is_told_the_version() {
        let of = |text: &str, version: &str| {
            let tree = crate::tree::MapTree::new().with("pyproject.toml", text);
            let project = crate::python::project::read(&tree).unwrap();
            from_tags(&project, &semver::Version::parse(version).unwrap())
        };
        let with = |requires: &str, field: &str| {
            format!("[build-system]\nrequires=[{requires}]\n[project]\nname='a'\n{field}\n")
        };
        let told = |plugin, version: &str| Some((plugin, (PRETEND, version.to_owned())));
        let dynamic = "dynamic=['version']";
        assert_eq!(
            of(&with("'setuptools>=64','setuptools_scm[toml]>=8'", dynamic), "1.2.0-rc.1"),
            told("setuptools-scm", "1.2.0rc1")
        );
        assert_eq!(of(&with("'hatchling', 'Hatch-VCS'", dynamic), "1.2.0"), told("hatch-vcs", "1.2.0"));
        assert_eq!(of(&with("'hatch-vcs'", "version='1'"), "1.2.0"), None, "it says its version");
        assert_eq!(of(&with("'hatchling'", dynamic), "1.2.0"), None);
        assert_eq!(of(&with("'hatch-vcs'", dynamic), "1.2.0-next.1"), None, "no words for that");
    }

    #[test]
    fn what_a_build_says_is_read() {
        assert_eq!(
            said("* Building\nSuccessfully built acme_ui-1.0.tar.gz and acme_ui-1.0-py3-none-any.whl\n"),
            ["acme_ui-1.0-py3-none-any.whl", "acme_ui-1.0.tar.gz"]
        );
        assert_eq!(
            said("  Created wheel for x: filename=x-1-py3-none-any.whl size=1 sha256=ab\n"),
            ["x-1-py3-none-any.whl"]
        );
        assert_eq!(said("Successfully built \u{1b}[4m\u{1b}[1ma-1.tar.gz\u{1b}[0m"), ["a-1.tar.gz"]);
        assert_eq!(missing("ModuleNotFoundError: No module named 'hatchling'\n"), Some("hatchling".into()));
        assert_eq!(
            missing("ERROR Backend 'flit_core.buildapi' is not available."),
            Some("flit_core.buildapi".into())
        );
        assert_eq!(missing("error: x"), None);
        assert_eq!(made(["b.whl", "x.txt", "a.tar.gz", "a.whl"]), (vec!["a.whl", "b.whl"], vec!["a.tar.gz"]));
    }
}
