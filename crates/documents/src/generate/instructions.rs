//! What somebody who works on a repository must know.

use projects::{Found, Project, ProjectType};
use pulldown_cmark::{Event, Parser, Tag, TagEnd};

use super::Body;
use crate::ground::Ground;
use crate::ground::tree::{There, join};
use crate::mark::{self, Origin};
use crate::md::{code, head, row, text};

/// Most rows of a table.
const MAX_ROWS: usize = 40;

/// Documents that are worth reading first, by their usual names.
const TO_READ: [&str; 9] = [
    "README.md",
    "CONTRIBUTING.md",
    "ARCHITECTURE.md",
    "DEVELOPMENT.md",
    "SECURITY.md",
    "docs/README.md",
    "docs/index.md",
    "docs/architecture.md",
    "docs/development.md",
];

pub(super) fn body(ground: &Ground<'_>) -> Body {
    let project = ground.project();
    let name = project.name.as_deref().map_or_else(|| "this repository".to_owned(), |name| text(name, 100));
    let mut out = format!("# Working on {name}\n\n");
    if let Some(summary) = ground.text("README.md").and_then(|readme| summary(&readme)) {
        out.push_str(&format!("{}\n\n", text(&summary, 600)));
    }
    what_it_is(project, &mut out);
    commands(ground, &mut out);
    checks(project, &mut out);
    versions(ground, &mut out);
    layout(ground, &mut out);
    Body { says: true, text: out, left_out: Vec::new() }
}

/// The first paragraph that says something: no pictures, no links alone.
pub(crate) fn summary(readme: &str) -> Option<String> {
    let mut inside = 0_usize;
    let (mut said, mut linked) = (String::new(), 0_usize);
    let mut links = 0_usize;
    for event in Parser::new(readme).take(2_000) {
        match event {
            Event::Start(Tag::Paragraph) => {
                inside += 1;
                said.clear();
                linked = 0;
            }
            Event::End(TagEnd::Paragraph) => {
                inside = inside.saturating_sub(1);
                let words = said.split_whitespace().count();
                if words >= 3 && linked * 2 < said.len() {
                    return Some(said);
                }
            }
            Event::Start(Tag::Link { .. } | Tag::Image { .. }) => links += 1,
            Event::End(TagEnd::Link | TagEnd::Image) => links = links.saturating_sub(1),
            Event::Text(words) | Event::Code(words) if inside > 0 => {
                said.push_str(&words);
                linked += if links > 0 { words.len() } else { 0 };
            }
            Event::SoftBreak | Event::HardBreak => said.push(' '),
            _ => {}
        }
    }
    None
}

fn what_it_is(project: &Project, out: &mut String) {
    let kind = match project.kind {
        ProjectType::Node => "Node.js",
        ProjectType::Python => "Python",
        ProjectType::Go => "Go",
        ProjectType::Rust => "Rust",
        ProjectType::Java => "Java or Kotlin",
        ProjectType::Dotnet => ".NET",
        ProjectType::Mixed => "several languages",
        ProjectType::Unknown => return,
    };
    out.push_str(&format!("A project in {kind}"));
    let frameworks: Vec<String> =
        project.frameworks.iter().take(MAX_ROWS).map(|f| text(&f.name, 60)).collect();
    if !frameworks.is_empty() {
        out.push_str(&format!(", with {}", frameworks.join(", ")));
    }
    let managers: Vec<String> = project.package_managers.iter().map(|m| text(&m.name, 60)).collect();
    if !managers.is_empty() {
        out.push_str(&format!(". Dependencies: {}", managers.join(", ")));
    }
    out.push_str(".\n\n");
    if project.packages.is_empty() {
        return;
    }
    out.push_str("## Packages\n\n");
    out.push_str(&head(&["folder", "name"]));
    for package in project.packages.iter().take(MAX_ROWS) {
        out.push_str(&row(&[code(&package.path), package.name.as_deref().map(code).unwrap_or_default()]));
    }
    more(project.packages.len(), out);
    out.push('\n');
}

fn more(count: usize, out: &mut String) {
    if let Some(more) = count.checked_sub(MAX_ROWS).filter(|more| *more > 0) {
        out.push_str(&format!("\nand {more} more.\n"));
    }
}

fn commands(ground: &Ground<'_>, out: &mut String) {
    let project = ground.project();
    let mut rows: Vec<[String; 2]> = Vec::new();
    if let Some(makefile) = &project.makefile {
        let targets = makefile.targets.iter().filter(|t| t.phony || t.help.is_some());
        rows.extend(targets.map(|t| {
            [code(&format!("make {}", t.name)), t.help.as_deref().map(|h| text(h, 160)).unwrap_or_default()]
        }));
    }
    if let Some(recipes) = &ground.recipes {
        rows.extend(recipes.names.iter().map(|name| [code(&format!("just {name}")), String::new()]));
    }
    rows.extend(ground.aliases.iter().map(|name| [code(&format!("cargo {name}")), String::new()]));
    let manager = ["pnpm", "yarn", "bun", "npm"]
        .into_iter()
        .find(|n| project.package_managers.iter().any(|m| m.name == *n));
    rows.extend(project.scripts.iter().map(|script| {
        [code(&format!("{} run {}", manager.unwrap_or("npm"), script.name)), code(&script.command)]
    }));
    let has = |name: &str| project.linters.iter().any(|l| l.name == name);
    let known: &[[&str; 2]] = match project.kind {
        ProjectType::Rust => &[["cargo build", "builds it"], ["cargo test", "tests it"]],
        ProjectType::Go => &[
            ["go build ./...", "builds it"],
            ["go test ./...", "tests it"],
            ["go vet ./...", "looks for mistakes"],
        ],
        _ => &[],
    };
    rows.extend(known.iter().map(|[command, why]| [code(command), (*why).to_owned()]));
    for (linter, command) in [
        ("clippy", "cargo clippy"),
        ("rustfmt", "cargo fmt"),
        ("ruff", "ruff check"),
        ("mypy", "mypy ."),
        ("golangci-lint", "golangci-lint run"),
    ] {
        if has(linter) {
            rows.push([code(command), format!("as {linter} is configured here")]);
        }
    }
    if project.kind == ProjectType::Python && project.test_frameworks.iter().any(|t| t.name == "pytest") {
        rows.push([code("pytest"), "tests it".to_owned()]);
    }
    if rows.is_empty() {
        return;
    }
    out.push_str("## Commands\n\n");
    out.push_str(&head(&["run", "what it does"]));
    for cells in rows.iter().take(MAX_ROWS) {
        out.push_str(&row(cells));
    }
    more(rows.len(), out);
    out.push('\n');
}

fn checks(project: &Project, out: &mut String) {
    let lists: [(&str, &[Found]); 4] = [
        ("Linters and formatters", &project.linters),
        ("Tests", &project.test_frameworks),
        ("Hooks", &project.git_hooks),
        ("CI", &project.ci),
    ];
    if lists.iter().all(|(_, list)| list.is_empty()) {
        return;
    }
    out.push_str("## Checks\n\n");
    for (what, list) in lists.iter().filter(|(_, list)| !list.is_empty()) {
        let shown: Vec<String> = list
            .iter()
            .take(MAX_ROWS)
            .map(|found| {
                let from: Vec<String> = found.from.iter().take(5).map(|f| code(f)).collect();
                format!("{} ({})", text(&found.name, 60), from.join(", "))
            })
            .collect();
        out.push_str(&format!("- {what}: {}\n", shown.join("; ")));
    }
    out.push('\n');
}

fn versions(ground: &Ground<'_>, out: &mut String) {
    let mut rows: Vec<[String; 2]> = Vec::new();
    let mut all: Vec<_> = ground.least.iter().collect();
    // What the top says goes before what packages repeat.
    all.sort_by_key(|least| (least.from.matches('/').count(), &least.from, least.runtime));
    for least in all {
        let version: Vec<String> = least.version.iter().map(u64::to_string).collect();
        let more = if least.is_pin { "" } else { " or later" };
        let [version, from] =
            [format!("{} {}{more}", least.runtime.name(), version.join(".")), code(&least.from)];
        if !rows.iter().any(|[known, _]| *known == version) && rows.len() < MAX_ROWS {
            rows.push([version, from]);
        }
    }
    if rows.is_empty() {
        return;
    }
    out.push_str("## Versions\n\n");
    out.push_str(&head(&["version", "says"]));
    for cells in &rows {
        out.push_str(&row(cells));
    }
    out.push('\n');
}

fn layout(ground: &Ground<'_>, out: &mut String) {
    // What is generated makes no difference, or each document that is made would make this one stale: they are in `docs`.
    let is_shown = |name: &&str| !name.starts_with('.') && *name != "docs";
    let folders: Vec<&str> = ground.tree.top().filter(is_shown).take(MAX_ROWS).collect();
    if !folders.is_empty() {
        out.push_str("## Folders\n\n");
        for folder in folders {
            let readme =
                ground.text(&join(folder, "README.md")).filter(|text| mark::read(text) == Origin::Written);
            let about = readme.and_then(|readme| summary(&readme));
            let about = about.map(|a| format!(": {}", text(&a, 160))).unwrap_or_default();
            out.push_str(&format!("- {}{about}\n", code(&format!("{folder}/"))));
        }
        out.push('\n');
    }
    let there: Vec<String> =
        TO_READ.iter().filter(|path| ground.tree.there(path) == There::Yes).map(|path| code(path)).collect();
    if !there.is_empty() {
        out.push_str(&format!("## Read\n\n{}\n\n", there.join(", ")));
    }
}
