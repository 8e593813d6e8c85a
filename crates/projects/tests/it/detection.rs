//! One small project per thing that is to be recognised.

use gatewright_projects::{BuildSystem, DetectError, Found, Language, Project, ProjectType, Within, detect};

use crate::{detected, disk, folder};

fn names(found: &[Found]) -> Vec<&str> {
    found.iter().map(|f| f.name.as_str()).collect()
}

fn frameworks(project: &Project) -> Vec<&str> {
    project.frameworks.iter().map(|f| f.name.as_str()).collect()
}

fn package(dependencies: &str) -> String {
    format!("{{\"name\":\"x\",\"dependencies\":{{{dependencies}}}}}")
}

#[test]
fn every_type_is_recognised_by_each_of_its_indicators() {
    for (file, text, kind, build) in [
        ("package.json", "{}", ProjectType::Node, BuildSystem::Npm),
        ("go.mod", "module x\n", ProjectType::Go, BuildSystem::Go),
        ("requirements.txt", "", ProjectType::Python, BuildSystem::Pip),
        ("pyproject.toml", "", ProjectType::Python, BuildSystem::Pip),
        ("setup.py", "", ProjectType::Python, BuildSystem::Pip),
        ("Pipfile", "", ProjectType::Python, BuildSystem::Pip),
        ("Cargo.toml", "", ProjectType::Rust, BuildSystem::Cargo),
        ("pom.xml", "<project/>", ProjectType::Java, BuildSystem::Maven),
        ("build.gradle", "", ProjectType::Java, BuildSystem::Gradle),
        ("build.gradle.kts", "", ProjectType::Java, BuildSystem::Gradle),
        ("App.csproj", "<Project/>", ProjectType::Dotnet, BuildSystem::Dotnet),
    ] {
        let project = detected(&[(file, text)]);
        assert_eq!((project.kind, project.build_system), (kind, Some(build)), "{file}");
        assert_eq!(project.indicators, [file]);
        assert_eq!(project.problems, [], "{file}");
    }
    let nothing = detected(&[("README.md", "# x\n")]);
    assert_eq!((nothing.kind, nothing.build_system), (ProjectType::Unknown, None));
    let mixed = detected(&[("package.json", "{}"), ("go.mod", "module x\n")]);
    assert_eq!(mixed.kind, ProjectType::Mixed);
    assert_eq!(mixed.languages, [Language::Javascript, Language::Go]);
}

#[test]
fn every_framework_is_recognised_by_its_package() {
    for (name, dependency) in [
        ("React", "react"),
        ("Vue", "vue"),
        ("Angular", "@angular/core"),
        ("Next", "next"),
        ("Nuxt", "nuxt"),
        ("Svelte", "svelte"),
        ("Express", "express"),
        ("Fastify", "fastify"),
        ("NestJS", "@nestjs/core"),
    ] {
        let project = detected(&[("package.json", &package(&format!("\"{dependency}\":\"1\"")))]);
        assert_eq!(frameworks(&project), [name]);
        assert_eq!(project.frameworks[0].version.as_deref(), Some("1"));
    }
    for (name, dependency) in [("Django", "Django"), ("Flask", "flask[async]"), ("FastAPI", "fastapi")] {
        let project =
            detected(&[("requirements.txt", &format!("{dependency} >= 1 ; python_version > '3'\n"))]);
        assert_eq!(frameworks(&project), [name]);
    }
    for (name, module) in [("Gin", "github.com/gin-gonic/gin"), ("Echo", "github.com/labstack/echo/v4")] {
        let project = detected(&[("go.mod", &format!("module x\nrequire {module} v1.0.0\n"))]);
        assert_eq!(frameworks(&project), [name]);
        let project = detected(&[("go.mod", &format!("module x\nrequire {module} v1.0.0 // indirect\n"))]);
        assert_eq!(frameworks(&project), [""; 0], "indirect {name}");
    }
    for (name, text) in [("Axum", "axum = '0.8'"), ("Actix", "web = {package = 'actix-web', version = '4'}")]
    {
        let project = detected(&[("Cargo.toml", &format!("[dependencies]\n{text}\n"))]);
        assert_eq!(frameworks(&project), [name]);
    }
}

#[test]
fn what_only_tests_or_extras_need_is_no_framework() {
    let text = "[project]\nname='x'\n[project.optional-dependencies]\nweb=['flask']\n[dependency-groups]\nt=['django']\n";
    assert_eq!(frameworks(&detected(&[("pyproject.toml", text)])), [""; 0]);
    let text = "{\"devDependencies\":{\"express\":\"5\",\"svelte\":\"5\"}}";
    assert_eq!(frameworks(&detected(&[("package.json", text)])), ["Svelte"]);
    assert_eq!(frameworks(&detected(&[("Cargo.toml", "[dev-dependencies]\naxum='0.8'\n")])), [""; 0]);
}

#[test]
fn build_systems_go_by_the_precedence() {
    let all = [
        ("Makefile", "all:\n"),
        ("package.json", "{}"),
        ("yarn.lock", ""),
        ("pyproject.toml", ""),
        ("poetry.lock", ""),
        ("go.mod", "module x\n"),
        ("Cargo.toml", ""),
        ("pom.xml", "<project/>"),
        ("build.gradle", ""),
        ("x.csproj", "<Project/>"),
    ];
    let project = detected(&all);
    use BuildSystem::{Cargo, Dotnet, Go, Gradle, Make, Maven, Poetry, Yarn};
    assert_eq!(project.build_systems, [Make, Yarn, Poetry, Go, Cargo, Maven, Gradle, Dotnet]);
    assert_eq!(project.build_system, Some(Make));
    assert_eq!(detected(&all[1..]).build_system, Some(Yarn));
}

#[test]
fn package_managers_follow_the_pin_then_the_lock_file() {
    let manager = |files: &[(&str, &str)]| {
        let project = detected(files);
        let first = project.package_managers[0].clone();
        (first.name, first.version, first.lock, project.notes.len())
    };
    for (lock, name) in [
        ("pnpm-lock.yaml", "pnpm"),
        ("yarn.lock", "yarn"),
        ("bun.lock", "bun"),
        ("bun.lockb", "bun"),
        ("package-lock.json", "npm"),
    ] {
        let found = manager(&[("package.json", "{}"), (lock, "")]);
        assert_eq!(found, (name.to_owned(), None, Some(lock.to_owned()), 0));
    }
    let pinned = "{\"packageManager\":\"pnpm@9.1.0\"}";
    let found = manager(&[("package.json", pinned), ("yarn.lock", "")]);
    assert_eq!(found, ("pnpm".to_owned(), Some("9.1.0".to_owned()), None, 1));
    assert_eq!(manager(&[("package.json", "{}"), ("yarn.lock", ""), ("bun.lock", "")]).3, 1);
    for (file, text, name) in [
        ("uv.lock", "", "uv"),
        ("poetry.lock", "", "poetry"),
        ("Pipfile.lock", "{}", "pipenv"),
        ("Pipfile", "", "pipenv"),
        ("requirements.txt", "", "pip"),
    ] {
        assert_eq!(manager(&[("pyproject.toml", ""), (file, text)]).0, name, "{file}");
    }
    assert_eq!(manager(&[("pyproject.toml", "[tool.poetry]\nname='x'\n")]).0, "poetry");
    assert_eq!(manager(&[("pyproject.toml", "[tool.uv]\npackage=true\n")]).0, "uv");
}

#[test]
fn linters_are_found_by_files_dependencies_tables_keys_and_hooks() {
    let project = detected(&[
        (
            "package.json",
            "{\"devDependencies\":{\"eslint\":\"9\",\"@commitlint/cli\":\"20\"},\"prettier\":{},\"scripts\":{\"t\":\"node --test\"}}",
        ),
        ("eslint.config.mjs", ""),
        (".markdownlint.json", "{}"),
        (".yamllint", ""),
        (".golangci.yml", ""),
        ("pyproject.toml", "[tool.ruff]\nline-length=100\n[dependency-groups]\ndev=['mypy', 'pytest']\n"),
        ("pyrightconfig.json", "{}"),
        (".pre-commit-config.yaml", "repos:\n- repo: x\n  hooks:\n  - id: black\n"),
        (".github/workflows/ci.yml", "on: push\n"),
        ("clippy.toml", ""),
    ]);
    let mut found = names(&project.linters);
    found.sort_unstable();
    assert_eq!(
        found,
        [
            "actionlint",
            "black",
            "clippy",
            "commitlint",
            "eslint",
            "golangci-lint",
            "markdownlint",
            "mypy",
            "prettier",
            "pyright",
            "ruff",
            "yamllint"
        ]
    );
    let eslint = project.linters.iter().find(|l| l.name == "eslint").unwrap();
    assert_eq!(eslint.from, ["eslint.config.mjs", "package.json"]);
    assert_eq!(names(&project.test_frameworks), ["pytest", "node:test"]);
    assert_eq!(names(&project.git_hooks), ["pre-commit"]);
    // What package.json brings is no program of the machine.
    for (program, needed) in
        [("eslint", false), ("commitlint", false), ("markdownlint", true), ("ruff", true)]
    {
        assert_eq!(project.programs.iter().any(|p| p == program), needed, "{program}");
    }
}

#[test]
fn test_frameworks_are_found() {
    for (files, wanted) in [
        (&[("package.json", "{\"jest\":{}}")][..], &["jest"][..]),
        (&[("package.json", "{}"), ("vitest.config.ts", "")], &["vitest"]),
        (&[("package.json", "{}"), (".mocharc.yml", "")], &["mocha"]),
        (&[("package.json", "{\"devDependencies\":{\"@playwright/test\":\"1\"}}")], &["playwright"]),
        (&[("setup.py", ""), ("setup.cfg", "[tool:pytest]\n")], &["pytest"]),
        (&[("setup.py", ""), ("tests/test_x.py", "import unittest\n")], &["unittest"]),
        (&[("setup.py", ""), ("tests/test_x.py", "from pytest import raises\n")], &["pytest"]),
        (&[("setup.py", ""), ("tests/test_x.py", "# import unittest\n")], &[]),
        (&[("go.mod", "module x\n")], &["go test"]),
        (&[("Cargo.toml", ""), (".config/nextest.toml", "")], &["cargo test", "cargo nextest"]),
    ] {
        assert_eq!(names(&detected(files).test_frameworks), wanted, "{files:?}");
    }
}

#[test]
fn ci_containers_hooks_and_editors_are_found() {
    let project = detected(&[
        (".github/workflows/a.yaml", ""),
        (".github/workflows/README.md", ""),
        (".gitlab-ci.yml", ""),
        (".circleci/config.yml", ""),
        (".travis.yml", ""),
        ("azure-pipelines.yml", ""),
        ("Dockerfile", ""),
        ("compose.dev.yaml", ""),
        ("k8s/app.yaml", "apiVersion: v1\nkind: Service\n"),
        ("k8s/values.yaml", "replicas: 1\n"),
        ("charts/app/Chart.yaml", ""),
        (".husky/pre-commit", ""),
        ("lefthook.yml", ""),
        (".simple-git-hooks.json", "{}"),
        (".editorconfig", ""),
        (".vscode/settings.json", "{}"),
    ]);
    assert_eq!(names(&project.ci), ["github", "gitlab", "circleci", "travis", "azure"]);
    assert_eq!(project.ci[0].from, [".github/workflows/a.yaml"]);
    assert_eq!(project.docker, ["Dockerfile", "compose.dev.yaml"]);
    assert_eq!(project.kubernetes, ["charts/app/Chart.yaml", "k8s/app.yaml"]);
    assert_eq!(names(&project.git_hooks), ["husky", "lefthook", "simple-git-hooks"]);
    assert_eq!(project.editors, [".editorconfig", ".vscode"]);
    for program in ["docker", "helm", "kubectl", "lefthook"] {
        assert!(project.programs.iter().any(|p| p == program), "{program}");
    }
}

#[test]
fn workspaces_of_every_kind_are_followed() {
    for (top, member) in [
        (&[("package.json", "{\"workspaces\":[\"packages/*\",\"!packages/no\"]}")][..], "package.json"),
        (
            &[
                ("package.json", "{}"),
                ("pnpm-workspace.yaml", "packages:\n  - 'packages/**'\n  - '!**/no'\n"),
            ],
            "package.json",
        ),
        (&[("package.json", "{}"), ("lerna.json", "{\"packages\":[\"packages/yes\"]}")], "package.json"),
        (&[("go.work", "go 1.25\nuse (\n\t./packages/yes\n)\n")], "go.mod"),
        (&[("Cargo.toml", "[workspace]\nmembers=['packages/*']\nexclude=['packages/no']\n")], "Cargo.toml"),
        (
            &[("pyproject.toml", "[tool.uv.workspace]\nmembers=['packages/*']\nexclude=['packages/no']\n")],
            "pyproject.toml",
        ),
        (&[("pom.xml", "<project><modules><module>packages/yes</module></modules></project>")], "pom.xml"),
        (&[("settings.gradle", "include ':packages:yes'\n"), ("build.gradle", "")], "build.gradle"),
        (&[("x.sln", "Project(\"{1}\") = \"a\", \"packages\\yes\\yes.csproj\", \"{2}\"\n")], "yes.csproj"),
    ] {
        let text = match member {
            "package.json" => "{\"name\":\"m\",\"dependencies\":{\"react\":\"19\"}}",
            "go.mod" => "module m\n",
            "Cargo.toml" => "[package]\nname='m'\n",
            "pyproject.toml" => "[project]\nname='m'\n",
            "pom.xml" => "<project><artifactId>m</artifactId></project>",
            "yes.csproj" => "<Project/>",
            _ => "",
        };
        let (yes, no) = (format!("packages/yes/{member}"), format!("packages/no/{member}"));
        let mut files = top.to_vec();
        files.extend([(yes.as_str(), text), (no.as_str(), text)]);
        let project = detected(&files);
        let members: Vec<_> = project.packages.iter().filter(|p| p.member).map(|p| p.path.as_str()).collect();
        assert_eq!(members, ["packages/yes"], "{top:?}");
        assert_eq!(project.problems, [], "{top:?}");
        if member == "package.json" {
            assert_eq!(project.frameworks[0].from, "packages/yes/package.json");
        }
    }
}

#[test]
fn a_folder_of_projects_is_what_they_are() {
    let project = detected(&[("web/package.json", "{\"name\":\"web\"}"), ("api/go.mod", "module api\n")]);
    assert_eq!(project.kind, ProjectType::Mixed);
    assert_eq!(project.build_system, None);
    assert_eq!(project.packages.iter().map(|p| p.path.as_str()).collect::<Vec<_>>(), ["api", "web"]);
    let project = detected(&[("node_modules/x/package.json", "{}"), ("tests/fixtures/go.mod", "module a\n")]);
    assert_eq!(project.kind, ProjectType::Unknown);
}

#[test]
fn what_is_excluded_is_not_there() {
    let (_scratch, look) = folder(&[("web/package.json", "{}"), ("go.mod", "module x\n")]);
    let project = detect(&look, &["web/**".to_owned()]).unwrap();
    assert_eq!(project.languages, [Language::Go]);
    let error = detect(&look, &["a[".to_owned()]).unwrap_err();
    assert!(matches!(error, DetectError::Exclude { pattern, .. } if pattern == "a["));
}

#[test]
fn what_cannot_be_read_is_a_problem_with_its_place() {
    let project = detected(&[
        ("package.json", "{\n  \"a\": 1,\n}"),
        ("go.mod", "module x\nrequire y\n"),
        ("pyproject.toml", "[project\n"),
        ("Cargo.toml", "\n\na = = 1\n"),
        ("pom.xml", "<project>\n</projct>"),
        ("pnpm-workspace.yaml", "packages: [\n"),
        ("big.csproj", "no"),
    ]);
    let mut found: Vec<_> = project.problems.iter().map(|p| (p.file.as_str(), p.line)).collect();
    found.sort_unstable();
    assert_eq!(
        found.iter().map(|(file, _)| *file).collect::<Vec<_>>(),
        [
            "Cargo.toml",
            "big.csproj",
            "go.mod",
            "package.json",
            "pnpm-workspace.yaml",
            "pom.xml",
            "pyproject.toml"
        ]
    );
    for (file, line) in
        [("package.json", 3), ("go.mod", 2), ("Cargo.toml", 3), ("pom.xml", 2), ("pyproject.toml", 1)]
    {
        assert!(found.contains(&(file, Some(line))), "{file}: {found:?}");
    }
    assert_eq!(project.kind, ProjectType::Mixed);
}

#[test]
fn this_repository_is_a_rust_workspace() {
    let top = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let project = detect(&disk::Disk(top), &[]).unwrap();
    assert_eq!(project.kind, ProjectType::Rust);
    assert_eq!(project.problems, []);
    let kit = project.packages.iter().find(|p| p.path == "crates/kit").unwrap();
    assert!(kit.member && kit.name.as_deref() == Some("gatewright-kit"));
    let axum = project.frameworks.iter().find(|f| f.name == "Axum").unwrap();
    assert_eq!(axum.version.as_deref(), Some("0.8"));
    assert!(project.programs.iter().any(|p| p == "cargo"));
}

#[test]
fn a_folder_within_is_seen_as_a_top() {
    let (_scratch, look) = folder(&[("a/b/package.json", "{}"), ("go.mod", "module x\n")]);
    let project = detect(&Within::new(&look, "a/b/"), &[]).unwrap();
    assert_eq!((project.kind, project.indicators), (ProjectType::Node, vec!["package.json".to_owned()]));
}

#[test]
fn the_answer_is_written_and_read_in_camel_case() {
    let project = detected(&[("package.json", "{}"), ("Makefile", "a: ## Help\n")]);
    let json = serde_json::to_value(&project).unwrap();
    assert_eq!(json["buildSystem"], "make");
    assert_eq!(json["type"], "node");
    assert_eq!(json["notes"][0], "Makefile: variables were not expanded.");
    assert_eq!(serde_json::from_value::<Project>(json).unwrap(), project);
}

#[test]
fn a_workspace_of_many_members_is_not_cut() {
    let names: Vec<String> = (0..200).map(|n| format!("packages/p{n}/package.json")).collect();
    let mut files: Vec<(&str, &str)> = names.iter().map(|n| (n.as_str(), "{}")).collect();
    files.push(("package.json", "{\"workspaces\":[\"packages/*\"]}"));
    let project = detected(&files);
    assert_eq!((project.packages.len(), project.truncated), (200, false));
}
