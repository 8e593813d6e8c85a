//! By which files and dependencies a tool is recognised. One table per question; a row is a fact about the tool.

/// A tool that configuration files or dependencies give away.
pub(crate) struct Tool {
    pub(crate) name: &'static str,
    /// Names of configuration files; one `*` stands for anything.
    pub(crate) files: &'static [&'static str],
    /// Packages of npm; `*` as above.
    pub(crate) node: &'static [&'static str],
    /// Packages of the Python index.
    pub(crate) python: &'static [&'static str],
    /// Tables of `[tool]` in pyproject.toml, or sections of setup.cfg and tox.ini.
    pub(crate) tables: &'static [&'static str],
    /// Keys at the top of package.json.
    pub(crate) keys: &'static [&'static str],
    /// Hooks of pre-commit, by id.
    pub(crate) hooks: &'static [&'static str],
    /// The program, where it is no package of the project's own.
    pub(crate) program: &'static str,
}

const fn tool(name: &'static str, program: &'static str) -> Tool {
    Tool { name, files: &[], node: &[], python: &[], tables: &[], keys: &[], hooks: &[], program }
}

pub(crate) const LINTERS: &[Tool] = &[
    Tool {
        files: &["eslint.config.*", ".eslintrc", ".eslintrc.*"],
        node: &["eslint"],
        keys: &["eslintConfig"],
        hooks: &["eslint"],
        ..tool("eslint", "eslint")
    },
    Tool {
        files: &[".prettierrc", ".prettierrc.*", "prettier.config.*"],
        node: &["prettier"],
        keys: &["prettier"],
        hooks: &["prettier"],
        ..tool("prettier", "prettier")
    },
    Tool {
        files: &["biome.json", "biome.jsonc"],
        node: &["@biomejs/biome"],
        hooks: &["biome-check", "biome-lint"],
        ..tool("biome", "biome")
    },
    Tool { files: &[".oxlintrc.json"], node: &["oxlint"], hooks: &["oxlint"], ..tool("oxlint", "oxlint") },
    Tool {
        files: &[".stylelintrc", ".stylelintrc.*", "stylelint.config.*"],
        node: &["stylelint"],
        keys: &["stylelint"],
        hooks: &["stylelint"],
        ..tool("stylelint", "stylelint")
    },
    Tool {
        files: &[".markdownlint.*", ".markdownlintrc", ".markdownlint-cli2.*"],
        node: &["markdownlint-cli", "markdownlint-cli2", "markdownlint"],
        hooks: &["markdownlint", "markdownlint-cli2"],
        ..tool("markdownlint", "markdownlint")
    },
    Tool {
        files: &[".yamllint", ".yamllint.*"],
        python: &["yamllint"],
        hooks: &["yamllint"],
        ..tool("yamllint", "yamllint")
    },
    Tool {
        files: &["commitlint.config.*", ".commitlintrc", ".commitlintrc.*"],
        node: &["@commitlint/cli"],
        keys: &["commitlint"],
        hooks: &["commitlint"],
        ..tool("commitlint", "commitlint")
    },
    Tool {
        files: &[".golangci.yml", ".golangci.yaml", ".golangci.toml", ".golangci.json"],
        hooks: &["golangci-lint", "golangci-lint-full"],
        ..tool("golangci-lint", "golangci-lint")
    },
    Tool { files: &["staticcheck.conf"], ..tool("staticcheck", "staticcheck") },
    Tool {
        files: &["ruff.toml", ".ruff.toml"],
        python: &["ruff"],
        tables: &["ruff"],
        hooks: &["ruff", "ruff-check", "ruff-format"],
        ..tool("ruff", "ruff")
    },
    Tool { python: &["black"], tables: &["black"], hooks: &["black"], ..tool("black", "black") },
    Tool {
        files: &[".isort.cfg"],
        python: &["isort"],
        tables: &["isort"],
        hooks: &["isort"],
        ..tool("isort", "isort")
    },
    Tool {
        files: &[".flake8"],
        python: &["flake8"],
        tables: &["flake8"],
        hooks: &["flake8"],
        ..tool("flake8", "flake8")
    },
    Tool {
        files: &[".pylintrc", "pylintrc"],
        python: &["pylint"],
        tables: &["pylint"],
        hooks: &["pylint"],
        ..tool("pylint", "pylint")
    },
    Tool {
        files: &["mypy.ini", ".mypy.ini"],
        python: &["mypy"],
        tables: &["mypy"],
        hooks: &["mypy"],
        ..tool("mypy", "mypy")
    },
    Tool {
        files: &["pyrightconfig.json"],
        node: &["pyright"],
        python: &["pyright", "basedpyright"],
        tables: &["pyright", "basedpyright"],
        hooks: &["pyright"],
        ..tool("pyright", "pyright")
    },
    Tool { python: &["bandit"], tables: &["bandit"], hooks: &["bandit"], ..tool("bandit", "bandit") },
    Tool { files: &["clippy.toml", ".clippy.toml"], hooks: &["clippy"], ..tool("clippy", "cargo-clippy") },
    Tool {
        files: &["rustfmt.toml", ".rustfmt.toml"],
        hooks: &["fmt", "rustfmt"],
        ..tool("rustfmt", "rustfmt")
    },
    Tool {
        files: &[".hadolint.yaml", ".hadolint.yml"],
        hooks: &["hadolint"],
        ..tool("hadolint", "hadolint")
    },
    Tool { files: &[".shellcheckrc"], hooks: &["shellcheck"], ..tool("shellcheck", "shellcheck") },
    Tool { node: &["typescript"], files: &["tsconfig.json"], ..tool("tsc", "tsc") },
];

pub(crate) const TESTS: &[Tool] = &[
    Tool { files: &["jest.config.*"], node: &["jest"], keys: &["jest"], ..tool("jest", "jest") },
    Tool { files: &["vitest.config.*", "vitest.workspace.*"], node: &["vitest"], ..tool("vitest", "vitest") },
    Tool { files: &[".mocharc", ".mocharc.*"], node: &["mocha"], keys: &["mocha"], ..tool("mocha", "mocha") },
    Tool {
        files: &["playwright.config.*"],
        node: &["@playwright/test"],
        python: &["pytest-playwright"],
        ..tool("playwright", "playwright")
    },
    Tool { files: &["cypress.config.*"], node: &["cypress"], ..tool("cypress", "cypress") },
    Tool { node: &["ava"], files: &["ava.config.*"], keys: &["ava"], ..tool("ava", "ava") },
    Tool { node: &["tap"], files: &[".taprc"], keys: &["tap"], ..tool("tap", "tap") },
    Tool {
        files: &["pytest.ini", "conftest.py", "pytest.toml", ".pytest.ini"],
        python: &["pytest"],
        tables: &["pytest.ini_options", "pytest", "tool:pytest"],
        ..tool("pytest", "pytest")
    },
    Tool { python: &["tox"], files: &["tox.ini", "tox.toml"], tables: &["tox"], ..tool("tox", "tox") },
    Tool { python: &["nox"], files: &["noxfile.py"], ..tool("nox", "nox") },
];

pub(crate) const HOOKS: &[Tool] = &[
    Tool { node: &["husky"], keys: &["husky"], ..tool("husky", "husky") },
    Tool {
        files: &["lefthook.*", ".lefthook.*"],
        node: &["lefthook", "@evilmartians/lefthook"],
        python: &["lefthook"],
        ..tool("lefthook", "lefthook")
    },
    Tool {
        files: &[".pre-commit-config.yaml", ".pre-commit-config.yml"],
        python: &["pre-commit"],
        ..tool("pre-commit", "pre-commit")
    },
    Tool {
        files: &[".simple-git-hooks.*", "simple-git-hooks.*"],
        node: &["simple-git-hooks"],
        keys: &["simple-git-hooks"],
        ..tool("simple-git-hooks", "simple-git-hooks")
    },
];

/// Where a framework is used.
pub(crate) struct Use {
    pub(crate) name: &'static str,
    /// Packages, in the ecosystem's spelling.
    pub(crate) packages: &'static [&'static str],
    /// Whether it counts where only developing needs it: what a bundler puts in often stands there.
    pub(crate) dev: bool,
}

pub(crate) const NODE_FRAMEWORKS: &[Use] = &[
    Use { name: "React", packages: &["react"], dev: true },
    Use { name: "Vue", packages: &["vue"], dev: true },
    Use { name: "Angular", packages: &["@angular/core"], dev: true },
    Use { name: "Next", packages: &["next"], dev: true },
    Use { name: "Nuxt", packages: &["nuxt", "nuxt3", "nuxt-edge"], dev: true },
    Use { name: "Svelte", packages: &["svelte"], dev: true },
    Use { name: "Express", packages: &["express"], dev: false },
    Use { name: "Fastify", packages: &["fastify"], dev: false },
    Use { name: "NestJS", packages: &["@nestjs/core"], dev: false },
];

pub(crate) const PYTHON_FRAMEWORKS: &[Use] = &[
    Use { name: "Django", packages: &["django"], dev: false },
    Use { name: "Flask", packages: &["flask"], dev: false },
    Use { name: "FastAPI", packages: &["fastapi"], dev: false },
];

pub(crate) const RUST_FRAMEWORKS: &[Use] = &[
    Use { name: "Axum", packages: &["axum"], dev: false },
    Use { name: "Actix", packages: &["actix-web", "actix"], dev: false },
];

/// Module paths, without the major version at the end.
pub(crate) const GO_FRAMEWORKS: &[Use] = &[
    Use { name: "Gin", packages: &["github.com/gin-gonic/gin"], dev: false },
    Use { name: "Echo", packages: &["github.com/labstack/echo"], dev: false },
];

/// CI services: name, and the file, or the folder and what a file in it is called.
pub(crate) const CI: &[(&str, &str, &[&str])] = &[
    ("github", ".github/workflows", &["*.yml", "*.yaml"]),
    ("gitlab", "", &[".gitlab-ci.yml", ".gitlab-ci.yaml"]),
    ("circleci", ".circleci", &["config.yml", "config.yaml"]),
    ("travis", "", &[".travis.yml"]),
    ("azure", "", &["azure-pipelines.yml", "azure-pipelines.yaml"]),
    ("azure", ".azure-pipelines", &["*.yml", "*.yaml"]),
];

pub(crate) const DOCKER: &[&str] = &[
    "Dockerfile",
    "Dockerfile.*",
    "*.Dockerfile",
    "*.dockerfile",
    "Containerfile",
    "docker-compose.yml",
    "docker-compose.yaml",
    "docker-compose.*.yml",
    "docker-compose.*.yaml",
    "compose.yml",
    "compose.yaml",
    "compose.*.yml",
    "compose.*.yaml",
    "docker-bake.hcl",
];

/// Files that are Kubernetes' by their name.
pub(crate) const KUBERNETES: &[&str] =
    &["Chart.yaml", "kustomization.yaml", "kustomization.yml", "skaffold.yaml", "helmfile.yaml"];

/// Folders where files with `apiVersion` and `kind` are looked for.
pub(crate) const KUBERNETES_FOLDERS: &[&str] = &[
    "k8s",
    "kubernetes",
    "kube",
    "deploy",
    "deployment",
    "deployments",
    "manifests",
    "chart",
    "charts",
    "helm",
];

pub(crate) const EDITORS: &[&str] = &[
    ".editorconfig",
    ".vscode",
    ".idea",
    ".zed",
    ".fleet",
    ".devcontainer",
    ".vimrc",
    ".nvim.lua",
    "*.code-workspace",
];

/// Whether `name` fits `pattern`, in which one `*` stands for anything.
pub(crate) fn fits(pattern: &str, name: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == name,
        Some((before, after)) => {
            name.len() >= before.len() + after.len() && name.starts_with(before) && name.ends_with(after)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_star_stands_for_anything() {
        assert!(fits("eslint.config.*", "eslint.config.mjs"));
        assert!(fits("*.yml", "a.yml"));
        assert!(!fits("docker-compose.*.yml", "docker-compose.yml"));
        assert!(fits("compose.*.yml", "compose.dev.yml"));
        assert!(!fits("jest", "jest-x"));
    }
}
