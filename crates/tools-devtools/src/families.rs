//! The families: one per ecosystem, since a project that has use for one need not have any for another.

use contract::Toolset;
use kit::settings::SectionEntry;
use kit::{Entry, Family};

use crate::settings::DevtoolsSection;
use crate::tools;

/// What runs said, and those that go on.
pub const RUNS: Toolset = Toolset("runs");

/// Projects with a Makefile.
pub const MAKE: Toolset = Toolset("make");

/// Git repositories.
pub const GIT: Toolset = Toolset("git");

/// Linters of every ecosystem.
pub const LINT: Toolset = Toolset("lint");

/// Tests of every ecosystem.
pub const TEST: Toolset = Toolset("test");

/// Explaining what failed.
pub const SMART: Toolset = Toolset("smart");

/// Go modules.
pub const GO: Toolset = Toolset("go");

/// Packages of Rust.
pub const RUST: Toolset = Toolset("rust");

/// Packages of Node.
pub const NODE: Toolset = Toolset("node");
/// Packages of Python.
pub const PYTHON: Toolset = Toolset("python");

/// Files, data and the time.
pub const FILES: Toolset = Toolset("files");

/// All of this crate.
pub static FAMILIES: &[&Family] = &[
    &RUNS_FAMILY,
    &GIT_FAMILY,
    &MAKE_FAMILY,
    &GO_FAMILY,
    &RUST_FAMILY,
    &NODE_FAMILY,
    &PYTHON_FAMILY,
    &LINT_FAMILY,
    &TEST_FAMILY,
    &SMART_FAMILY,
    &FILES_FAMILY,
];

/// Files, data and the time: of use anywhere, and shown where there are files of variables.
pub static FILES_FAMILY: Family = Family {
    name: "files",
    guide: "Files and data: jq_query, ensure_newline, dotenv_environment; get_current_datetime.",
    shelves: &[],
    markers: &[".env", ".env.example"],
    toolsets: &[FILES],
    tools: &[
        Entry::change::<tools::ensure_newline::EnsureNewline>(),
        Entry::read::<tools::dotenv_environment::DotenvEnvironment>(),
        Entry::read::<tools::jq_query::JqQuery>(),
        Entry::read::<tools::get_current_datetime::GetCurrentDatetime>(),
    ],
    sections: &[],
};

/// Tests of every ecosystem.
pub static TEST_FAMILY: Family = Family {
    name: "test",
    guide: "Tests, whatever runs them: run_tests; test_status says what failed before.",
    shelves: &[],
    markers: &["Makefile", "package.json", "go.mod", "Cargo.toml", "pyproject.toml", "pytest.ini"],
    toolsets: &[TEST],
    tools: &[Entry::run::<tools::run_tests::RunTests>(), Entry::read::<tools::test_status::TestStatus>()],
    sections: &[],
};

/// Git repositories.
pub static GIT_FAMILY: Family = Family {
    name: "git",
    guide: "Git, read without running anything of it: git_status, git_diff, git_log; code_review.",
    shelves: &[],
    markers: &[".git"],
    toolsets: &[GIT],
    tools: &[
        Entry::read::<tools::git_status::GitStatus>(),
        Entry::read::<tools::git_diff::GitDiff>(),
        Entry::read::<tools::git_log::GitLog>(),
        Entry::read::<tools::code_review::CodeReview>(),
        Entry::read::<tools::generate_pr_message::GeneratePrMessage>(),
    ],
    sections: &[],
};

/// Linters of every ecosystem.
pub static LINT_FAMILY: Family = Family {
    name: "lint",
    guide: "Linters: eslint, markdownlint, yamllint, actionlint, commitlint.",
    shelves: &[],
    markers: &[
        "*.md",
        ".markdownlint.json",
        ".yamllint",
        ".yamllint.yml",
        "eslint.config.js",
        "eslint.config.mjs",
        ".eslintrc.json",
        "commitlint.config.js",
    ],
    toolsets: &[LINT],
    tools: &[
        Entry::run::<tools::lint_all::LintAll>(),
        Entry::run::<tools::eslint::Eslint>(),
        Entry::run::<tools::markdownlint::Markdownlint>(),
        Entry::run::<tools::yamllint::Yamllint>(),
        Entry::run::<tools::actionlint::Actionlint>(),
        Entry::run::<tools::commitlint::Commitlint>(),
    ],
    sections: &[],
};

/// Explaining what failed.
pub static SMART_FAMILY: Family = Family {
    name: "smart",
    guide: "Why something failed: analyze_command, analyze_result.",
    shelves: &[],
    markers: &[],
    toolsets: &[SMART],
    tools: &[
        Entry::run::<tools::analyze_command::AnalyzeCommand>(),
        Entry::read::<tools::analyze_result::AnalyzeResult>(),
        Entry::read::<tools::get_knowledge_base_stats::GetKnowledgeBaseStats>(),
        Entry::read::<tools::recommend_mcp_servers::RecommendMcpServers>(),
    ],
    sections: &[],
};

/// Go modules.
pub static GO_FAMILY: Family = Family {
    name: "go",
    guide: "Go: go_test, go_build, go_fmt, go_vet and more; go_mod_tidy for modules.",
    shelves: &[],
    markers: &["go.mod", "go.work"],
    toolsets: &[GO],
    tools: &[
        Entry::run::<tools::go_test::GoTest>(),
        Entry::run::<tools::go_build::GoBuild>(),
        Entry::run::<tools::go_fmt::GoFmt>(),
        Entry::run::<tools::go_vet::GoVet>(),
        Entry::run::<tools::go_lint::GoLint>(),
        Entry::run::<tools::staticcheck::Staticcheck>(),
        Entry::run::<tools::go_mod_tidy::GoModTidy>(),
        Entry::run::<tools::go_mod_download::GoModDownload>(),
        Entry::run::<tools::go_benchmark::GoBenchmark>(),
        Entry::run::<tools::go_generate::GoGenerate>(),
        Entry::run::<tools::go_work::GoWork>(),
        Entry::run::<tools::go_vulncheck::GoVulncheck>(),
        Entry::read::<tools::go_project_info::GoProjectInfo>(),
    ],
    sections: &[],
};

/// Packages of Rust.
pub static RUST_FAMILY: Family = Family {
    name: "rust",
    guide: "Rust: cargo_check, cargo_test, cargo_clippy, cargo_build; `fetch` gets crates that are missing.",
    shelves: &[],
    markers: &["Cargo.toml"],
    toolsets: &[RUST],
    tools: &[
        Entry::run::<tools::cargo_check::CargoCheck>(),
        Entry::run::<tools::cargo_test::CargoTest>(),
        Entry::run::<tools::cargo_clippy::CargoClippy>(),
        Entry::run::<tools::cargo_build::CargoBuild>(),
        Entry::run::<tools::cargo_audit::CargoAudit>(),
        Entry::run::<tools::cargo_fmt::CargoFmt>(),
        Entry::read::<tools::rust_project_info::RustProjectInfo>(),
    ],
    sections: &[],
};

/// Packages of Node.
pub static NODE_FAMILY: Family = Family {
    name: "node",
    guide: "Node: nodejs_test, nodejs_lint, nodejs_format, nodejs_check_types, nodejs_build; packages: nodejs_install_deps, nodejs_update_deps, nodejs_security.",
    shelves: &[],
    markers: &["package.json"],
    toolsets: &[NODE],
    tools: &[
        Entry::run::<tools::nodejs_test::NodejsTest>(),
        Entry::run::<tools::nodejs_lint::NodejsLint>(),
        Entry::run::<tools::nodejs_format::NodejsFormat>(),
        Entry::run::<tools::nodejs_check_types::NodejsCheckTypes>(),
        Entry::run::<tools::nodejs_build::NodejsBuild>(),
        Entry::run::<tools::nodejs_install_deps::NodejsInstallDeps>(),
        Entry::run::<tools::nodejs_update_deps::NodejsUpdateDeps>(),
        Entry::run::<tools::nodejs_security::NodejsSecurity>(),
        Entry::read::<tools::nodejs_package_info::NodejsPackageInfo>(),
        Entry::run::<tools::nodejs_scripts::NodejsScripts>(),
        Entry::run::<tools::nodejs_benchmark::NodejsBenchmark>(),
        Entry::run::<tools::nodejs_profile::NodejsProfile>(),
        Entry::read::<tools::nodejs_project_info::NodejsProjectInfo>(),
        Entry::read::<tools::nodejs_version::NodejsVersion>(),
        Entry::read::<tools::nodejs_compatibility::NodejsCompatibility>(),
    ],
    sections: &[],
};

/// Packages of Python.
pub static PYTHON_FAMILY: Family = Family {
    name: "python",
    guide: "Python: python_test, python_lint, python_format, python_check_types, python_security and more.",
    shelves: &[],
    markers: &["pyproject.toml", "requirements.txt", "setup.py", "Pipfile"],
    toolsets: &[PYTHON],
    tools: &[
        Entry::run::<tools::python_test::PythonTest>(),
        Entry::run::<tools::python_lint::PythonLint>(),
        Entry::run::<tools::python_format::PythonFormat>(),
        Entry::run::<tools::python_check_types::PythonCheckTypes>(),
        Entry::run::<tools::python_benchmark::PythonBenchmark>(),
        Entry::run::<tools::python_profile::PythonProfile>(),
        Entry::run::<tools::python_security::PythonSecurity>(),
        Entry::run::<tools::python_venv::PythonVenv>(),
        Entry::run::<tools::python_install_deps::PythonInstallDeps>(),
        Entry::run::<tools::python_update_deps::PythonUpdateDeps>(),
        Entry::run::<tools::python_build::PythonBuild>(),
        Entry::read::<tools::python_compatibility::PythonCompatibility>(),
        Entry::read::<tools::python_version::PythonVersion>(),
        Entry::read::<tools::python_project_info::PythonProjectInfo>(),
    ],
    sections: &[],
};

/// Projects with a Makefile.
pub static MAKE_FAMILY: Family = Family {
    name: "make",
    guide: "Make targets: make_lint, make_test, make_build, make_depend, make_clean.",
    shelves: &[],
    markers: &["Makefile", "makefile", "GNUmakefile"],
    toolsets: &[MAKE],
    tools: &[
        Entry::run::<tools::make_lint::MakeLint>(),
        Entry::run::<tools::make_test::MakeTest>(),
        Entry::run::<tools::make_depend::MakeDepend>(),
        Entry::run::<tools::make_build::MakeBuild>(),
        Entry::run::<tools::make_clean::MakeClean>(),
        Entry::read::<tools::project_status::ProjectStatus>(),
    ],
    sections: &[],
};

/// What runs said, and those that go on: of use to whoever runs anything.
pub static RUNS_FAMILY: Family = Family {
    name: "runs",
    guide: "What a program said in full: run_output. Calls that go on: job_status, job_cancel.",
    shelves: &[],
    markers: &["Makefile", "go.mod", "go.work", "package.json", "Cargo.toml", "pyproject.toml"],
    toolsets: &[RUNS],
    tools: &[
        Entry::read::<tools::run_output::RunOutput>(),
        Entry::read::<tools::job_status::JobStatus>(),
        Entry::read::<tools::job_cancel::JobCancel>(),
        Entry::read::<tools::get_performance_metrics::GetPerformanceMetrics>(),
    ],
    sections: &[SectionEntry::of::<DevtoolsSection>()],
};
