//! Which program runs a project's tests, and how it is told what to run.

use contract::Fault;
use exec::run::Command;
use kit::RunDesk;
use projects::{BuildSystem, Project, ProjectType};
use reports::Format;

use crate::own::Own;
use crate::running::{Asked, words};
use crate::settings::{DevtoolsSection, TestRunner};

/// What is to be run.
#[derive(Debug, Clone, Default)]
pub(crate) struct Wish {
    pub(crate) pattern: Option<String>,
    pub(crate) coverage: bool,
    pub(crate) parallel: Option<bool>,
    pub(crate) verbose: bool,
    /// Whether coverage is left as istanbul's summary, below [`COVERAGE`].
    pub(crate) summary: bool,
    /// Which tests, as pytest's `-m` has it.
    pub(crate) markers: Option<String>,
}

/// Where coverage is left: where jest and vitest leave it unless they are told otherwise.
pub(crate) const COVERAGE: &str = "coverage";

/// What runs a project's tests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Chosen {
    /// A runner that is told what to run.
    Runner(TestRunner),
    /// The project's own command, as it stands.
    Own(Own),
}

impl Chosen {
    /// What runs the tests of `project`: the runner that the configuration names, else the command that it has for it, else
    /// the runner that is found.
    pub(crate) fn of(settings: &DevtoolsSection, project: &Project) -> Result<Option<Self>, Fault> {
        if let Some(named) = settings.test_runner {
            return Ok(Some(Self::Runner(named)));
        }
        let own = Own::of(settings, "test")?.map(Self::Own);
        Ok(own.or_else(|| TestRunner::of(project, settings).map(Self::Runner)))
    }

    /// The program's name.
    pub(crate) const fn program(&self) -> &'static str {
        match self {
            Self::Runner(runner) => runner.program(),
            Self::Own(own) => own.program,
        }
    }

    /// How its output is read.
    pub(crate) fn format(&self) -> Format {
        match self {
            Self::Runner(runner) => runner.format(),
            Self::Own(own) => own.format(),
        }
    }

    /// The command that runs what is wished for.
    pub(crate) fn command(&self, desk: &RunDesk, asked: &Asked<'_>, wish: &Wish) -> Result<Command, Fault> {
        let own = match self {
            Self::Runner(runner) => return runner.command(desk, asked, wish),
            Self::Own(own) => own,
        };
        let asks = [
            ("pattern", wish.pattern.is_some()),
            ("coverage", wish.coverage),
            ("parallel", wish.parallel.is_some()),
        ];
        match asks.iter().find(|(_, is)| *is) {
            Some((what, _)) => Err(own.unable(what)),
            None => own.command(desk, asked, Vec::new()),
        }
    }
}

impl TestRunner {
    /// All of them.
    const ALL: [Self; 9] = [
        Self::Make,
        Self::Jest,
        Self::Vitest,
        Self::Mocha,
        Self::Node,
        Self::Npm,
        Self::Pytest,
        Self::Go,
        Self::Cargo,
    ];

    /// The language whose runner it is; make is everybody's.
    const fn language(self) -> Option<ProjectType> {
        match self {
            Self::Make => None,
            Self::Jest | Self::Vitest | Self::Mocha | Self::Node | Self::Npm => Some(ProjectType::Node),
            Self::Pytest => Some(ProjectType::Python),
            Self::Go => Some(ProjectType::Go),
            Self::Cargo => Some(ProjectType::Rust),
        }
    }

    /// The runner of `project`, by the precedence of the catalogue: make, npm's, pytest, Go, cargo. Where the configuration says what
    /// the project is, another language's is none of it, and where it says what builds it, make is one only if it is that.
    pub(crate) fn of(project: &Project, settings: &DevtoolsSection) -> Option<Self> {
        let is_meant = |runner: Self| match (runner.language(), settings.project_type) {
            (None, _) => settings.build_system.is_none_or(|system| system == BuildSystem::Make),
            (_, None | Some(ProjectType::Mixed | ProjectType::Unknown)) => true,
            (language, said) => language == said,
        };
        let has_target =
            project.makefile.as_ref().is_some_and(|file| file.targets.iter().any(|t| t.name == "test"));
        let has_script = project.scripts.iter().any(|script| script.name == "test");
        let uses = |name: &str| project.test_frameworks.iter().any(|found| found.name == name);
        let builds = |system: BuildSystem| project.build_systems.contains(&system);
        let choices = [
            (has_target, Self::Make),
            (uses("jest"), Self::Jest),
            (uses("vitest"), Self::Vitest),
            (uses("mocha"), Self::Mocha),
            (has_script, Self::Npm),
            (uses("pytest"), Self::Pytest),
            (builds(BuildSystem::Go), Self::Go),
            (builds(BuildSystem::Cargo), Self::Cargo),
        ];
        choices.into_iter().find(|(is, runner)| *is && is_meant(*runner)).map(|(_, runner)| runner)
    }

    /// The runner of this name.
    pub(crate) fn named(program: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|runner| runner.program() == program)
    }

    /// The program, and what of it is the project's.
    pub(crate) const fn program(self) -> &'static str {
        match self {
            Self::Make => "make",
            Self::Jest => "jest",
            Self::Vitest => "vitest",
            Self::Mocha => "mocha",
            Self::Node => "node",
            Self::Npm => "npm",
            Self::Pytest => "pytest",
            Self::Go => "go",
            Self::Cargo => "cargo",
        }
    }

    /// How its output is read.
    pub(crate) const fn format(self) -> Format {
        match self {
            Self::Make => Format::Make,
            Self::Jest => Format::JestJson,
            Self::Vitest => Format::VitestJson,
            Self::Mocha => Format::MochaJson,
            Self::Node | Self::Npm => Format::Tap,
            Self::Pytest => Format::Pytest,
            Self::Go => Format::GoTestJson,
            Self::Cargo => Format::Libtest,
        }
    }

    /// The command that runs what is wished for.
    pub(crate) fn command(self, desk: &RunDesk, asked: &Asked<'_>, wish: &Wish) -> Result<Command, Fault> {
        let unable = |what: &str| Err(self.unable(what));
        let (mut flags, mut rest) = (Vec::new(), Vec::new());
        let serial = wish.parallel == Some(false);
        match self {
            Self::Make => {
                if wish.pattern.is_some() {
                    return unable("pattern");
                }
                if wish.coverage {
                    return unable("coverage");
                }
                flag(&mut flags, wish.parallel == Some(true), "-j4");
                rest.push("test".to_owned());
                asked.command("make", flags, rest)
            }
            Self::Jest | Self::Vitest | Self::Mocha | Self::Node => self.of_node(desk, asked, wish),
            Self::Npm => {
                if wish.pattern.is_some() {
                    return unable("pattern");
                }
                if wish.coverage {
                    return unable("coverage");
                }
                if wish.parallel.is_some() {
                    return unable("parallel");
                }
                asked.command("npm", vec!["test".to_owned()], rest)
            }
            Self::Pytest => {
                flags.extend(["-rA".to_owned(), "--tb=short".to_owned()]);
                flag(&mut flags, wish.verbose, "-v");
                flag(&mut flags, wish.coverage, "--cov");
                if wish.parallel == Some(true) {
                    flags.extend(["-n".to_owned(), "auto".to_owned()]);
                }
                if let Some(markers) = &wish.markers {
                    flags.extend(["-m".to_owned(), markers.clone()]);
                }
                if let Some(pattern) = &wish.pattern {
                    flags.extend(["-k".to_owned(), pattern.clone()]);
                }
                asked.command("pytest", flags, rest)
            }
            Self::Go => {
                flags.extend(["test".to_owned(), "-json".to_owned()]);
                if serial {
                    // Packages, and the tests of one that say they may run beside others.
                    flags.extend(["-p=1".to_owned(), "-parallel=1".to_owned()]);
                }
                flag(&mut flags, wish.coverage, "-cover");
                flags.extend(wish.pattern.iter().map(|pattern| format!("-run={pattern}")));
                rest.push("./...".to_owned());
                Ok(crate::go::offline(asked.command("go", flags, rest)?))
            }
            Self::Cargo => {
                if wish.coverage {
                    return unable("coverage");
                }
                flags.push("test".to_owned());
                flags.extend(wish.pattern.clone());
                if serial {
                    // Behind the dashes are the harness's own, which the caller may have begun.
                    let begun = asked.args.iter().any(|arg| arg == "--");
                    rest.extend((!begun).then(|| "--".to_owned()));
                    rest.push("--test-threads=1".to_owned());
                }
                Ok(crate::cargo::offline(asked.command("cargo", flags, rest)?))
            }
        }
    }

    /// Of a runner of Node's.
    fn of_node(self, desk: &RunDesk, asked: &Asked<'_>, wish: &Wish) -> Result<Command, Fault> {
        let (mut flags, rest) = (Vec::new(), Vec::new());
        let serial = wish.parallel == Some(false);
        match self {
            Self::Jest => {
                flag(&mut flags, true, "--json");
                flag(&mut flags, serial, "--runInBand");
                flag(&mut flags, wish.coverage, "--coverage");
                if wish.coverage && wish.summary {
                    flags.push("--coverageReporters=json-summary".to_owned());
                    flags.push(format!("--coverageDirectory={COVERAGE}"));
                }
                flags.extend(wish.pattern.iter().map(|pattern| format!("--testNamePattern={pattern}")));
                asked.node_command(desk, "jest", flags, rest)
            }
            Self::Vitest => {
                flags.extend(["run".to_owned(), "--reporter=json".to_owned()]);
                flag(&mut flags, serial, "--no-file-parallelism");
                flag(&mut flags, wish.coverage, "--coverage");
                if wish.coverage && wish.summary {
                    flags.extend(words(&[
                        "--coverage.reporter=json-summary",
                        "--coverage.reportOnFailure=true",
                    ]));
                    flags.push(format!("--coverage.reportsDirectory={COVERAGE}"));
                }
                flags.extend(wish.pattern.iter().map(|pattern| format!("--testNamePattern={pattern}")));
                asked.node_command(desk, "vitest", flags, rest)
            }
            Self::Mocha => {
                if wish.coverage {
                    return Err(self.unable("coverage"));
                }
                flags.extend(["--reporter".to_owned(), "json".to_owned()]);
                flag(&mut flags, wish.parallel == Some(true), "--parallel");
                flags.extend(wish.pattern.iter().map(|pattern| format!("--grep={pattern}")));
                asked.node_command(desk, "mocha", flags, rest)
            }
            Self::Node => {
                flags.extend(words(&["--test", "--test-reporter=tap"]));
                flag(&mut flags, serial, "--test-concurrency=1");
                flag(&mut flags, wish.coverage, "--experimental-test-coverage");
                flags.extend(wish.pattern.iter().map(|pattern| format!("--test-name-pattern={pattern}")));
                asked.command("node", flags, rest)
            }
            _ => Err(Fault::internal(format!("{} is no runner of Node's", self.program()))),
        }
    }

    /// Refuses what the runner has no word for.
    fn unable(self, what: &str) -> Fault {
        Fault::invalid(format!("{what}: `{}` cannot be told that", self.program()))
            .suggest("Leave it out, or call the tool of that program.")
    }
}

fn flag(flags: &mut Vec<String>, wanted: bool, flag: &str) {
    if wanted {
        flags.push(flag.to_owned());
    }
}
