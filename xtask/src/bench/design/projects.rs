//! Repositories that are made for a bench: the same ones every time.

use std::fs;
use std::path::Path;

use crate::bench::samples::timed;
use crate::sh::{Done, top};

/// Who commits, whoever runs the bench; and nothing of theirs is asked.
const GIT: [&str; 9] = [
    "git",
    "-c",
    "user.name=Bench",
    "-c",
    "user.email=bench@example.com",
    "-c",
    "commit.gpgsign=false",
    "-c",
    "core.hooksPath=/dev/null",
];

/// Tokens and example pages of a generated design system.
const TOKENS: usize = 300;

pub(crate) fn git(dir: &Path, args: &[&str]) -> Done {
    timed(dir, &[&GIT, args].concat()).map(drop)
}

/// Makes `dir` a repository of all that is in it.
pub(crate) fn repository(dir: &Path, message: &str) -> Done {
    git(dir, &["init", "--quiet", "--initial-branch=main"])?;
    git(dir, &["add", "--all", "--force"])?;
    git(dir, &["commit", "--quiet", "--message", message])
}

fn committed(dir: &Path, message: &str) -> Done {
    git(dir, &["add", "--all"])?;
    git(dir, &["commit", "--quiet", "--message", message])
}

pub(crate) fn put(dir: &Path, path: &str, text: &str) -> Done {
    let file = dir.join(path);
    let failed = |e: std::io::Error| format!("{}: {e}", file.display());
    if let Some(parent) = file.parent() {
        fs::create_dir_all(parent).map_err(failed)?;
    }
    fs::write(&file, text).map_err(failed)
}

/// Replaces the first `old` of a file.
pub(crate) fn edit(dir: &Path, path: &str, old: &str, new: &str) -> Done {
    let file = dir.join(path);
    let text = fs::read_to_string(&file).map_err(|e| format!("{}: {e}", file.display()))?;
    if !text.contains(old) {
        return Err(format!("{}: {old:?} is not in it any more: the bench has to follow", file.display()));
    }
    put(dir, path, &text.replacen(old, new, 1))
}

/// The example project, with a change on a branch of its own: a token, a rule and a page.
pub(super) fn harbor(dir: &Path) -> Done {
    copied(&top().join("examples/harbor"), dir)?;
    put(dir, ".gitignore", "node_modules/\n")?;
    repository(dir, "feat: harbor")?;
    git(dir, &["checkout", "--quiet", "-b", "calm"])?;
    edit(dir, "tokens/base.json", "\"components\": [0.6, 0.13, 230]", "\"components\": [0.55, 0.12, 230]")?;
    committed(dir, "feat(tokens): a calmer sea")?;
    edit(dir, "app/index.html", "Reserve", "Reserve this berth")?;
    put(dir, "app/more.css", ".card { padding: 2rem }\n")?;
    edit(dir, "app/index.html", "app.css\">", "app.css\">\n    <link rel=\"stylesheet\" href=\"more.css\">")?;
    committed(dir, "feat(card): more room")
}

/// Copies a folder.
pub(crate) fn copied(from: &Path, to: &Path) -> Done {
    let failed = |e: std::io::Error| format!("{}: {e}", from.display());
    fs::create_dir_all(to).map_err(failed)?;
    for entry in fs::read_dir(from).map_err(failed)?.flatten() {
        let (path, place) = (entry.path(), to.join(entry.file_name()));
        if path.is_dir() {
            copied(&path, &place)?;
        } else {
            fs::copy(&path, &place).map_err(failed)?;
        }
    }
    Ok(())
}

/// A generated system: [`TOKENS`] tokens and `components` components with a page each, of which a change touches every third.
pub(super) fn system(dir: &Path, components: usize) -> Done {
    put(dir, ".gitignore", "node_modules/\n")?;
    put(
        dir,
        "package.json",
        "{ \"name\": \"generated-system\", \"version\": \"1.0.0\", \"private\": true }\n",
    )?;
    put(dir, "tokens/tokens.json", &tokens(0))?;
    put(dir, "examples/system.css", &sheet(0))?;
    for number in 0..components {
        put(dir, &format!("examples/part-{number:02}/plain.html"), &component(number, "Go"))?;
    }
    repository(dir, "feat: a system")?;
    git(dir, &["checkout", "--quiet", "-b", "calm"])?;
    put(dir, "tokens/tokens.json", &tokens(40))?;
    put(dir, "examples/system.css", &sheet(40))?;
    committed(dir, "feat(tokens)!: other accents")?;
    for number in (0..components).step_by(3) {
        put(dir, &format!("examples/part-{number:02}/plain.html"), &component(number, "Go on"))?;
    }
    committed(dir, "fix(button): say what comes")
}

/// A share of a colour's range.
fn share(number: usize) -> f64 {
    f64::from(u32::try_from(number % 256).unwrap_or(0)) / 255.0
}

/// The colour of a token; those of every tenth are moved.
fn color(number: usize, moved: usize) -> [usize; 3] {
    let by = if number.is_multiple_of(10) { moved } else { 0 };
    [(number * 3 + by) % 256, (number * 7) % 256, (number * 11) % 256]
}

fn tokens(moved: usize) -> String {
    let mut text = String::from("{\n  \"color\": {\n    \"$type\": \"color\"");
    for number in 0..TOKENS {
        let [red, green, blue] = color(number, moved).map(share);
        text.push_str(&format!(
            ",\n    \"c{number}\": {{ \"$value\": {{ \"colorSpace\": \"srgb\", \"components\": [{red}, {green}, {blue}] }} }}"
        ));
    }
    text.push_str("\n  }\n}\n");
    text
}

fn sheet(moved: usize) -> String {
    let values = (0..TOKENS).map(|number| {
        let [red, green, blue] = color(number, moved);
        format!("  --c{number}: rgb({red} {green} {blue});\n")
    });
    format!(
        ":root {{\n{}}}\nbody {{ font: 16px/1.5 sans-serif; margin: 1rem }}\n@media (prefers-color-scheme: dark) {{ body {{ background: #111; color: #eee }} }}\n",
        values.collect::<String>()
    )
}

fn component(number: usize, word: &str) -> String {
    let token = number * 10 % TOKENS;
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n<title>Part {number}</title>\n\
         <link rel=\"stylesheet\" href=\"../system.css\">\n<main>\n<h1>Part {number}</h1>\n\
         <button style=\"background: var(--c{token}); color: #fff\">{word}</button>\n\
         <p style=\"color: var(--c{})\">Words of part {number}</p>\n<label>Name <input></label>\n</main>\n</html>\n",
        token + 1
    )
}
