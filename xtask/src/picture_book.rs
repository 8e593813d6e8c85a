//! `cargo xtask pictures`: the pictures of the guide, taken by the program itself of what it made of the example project.

use std::path::Path;

use pictures::Picture;
use serde_json::{Value, json};

use crate::bench::design::projects::{copied, edit, git, put, repository};
use crate::bench::design::{Scratch, with_axe};
use crate::session::{Place, Session};
use crate::sh::{self, Done, target, top};

/// Where the guide has them.
const FOLDER: &str = "docs/guide/pictures";

/// Their widest and highest, in pixels: what is below is not missed.
const WIDTH: u32 = 1_100;
const HEIGHT: u32 = 1_000;

/// Which page is which picture, in which colours.
const PICTURES: [(&str, &str, &str); 5] = [
    ("kit/index.html", "light", "review-kit"),
    ("kit/index.html", "dark", "review-kit-dark"),
    ("kit/tokens.html", "light", "review-kit-tokens"),
    ("kit/components/button.html", "light", "review-kit-component"),
    ("scan/report.html", "light", "a11y-report"),
];

/// Components of the example, one page each.
const COMPONENTS: [(&str, &str); 3] = [
    ("button/primary", "<button type=\"button\">Reserve</button>"),
    ("button/danger", "<button type=\"button\" class=\"danger\">Close berth</button>"),
    (
        "card/berth",
        "<article class=\"card\"><h2>North quay 4</h2><p>14 m, power and water.</p><p class=\"quiet\">Sheltered from the west.</p></article>",
    ),
];

/// A page on which something is wrong.
const ARRIVALS: &str = "<article class=\"card\"><h2>Who arrives tonight?</h2><p style=\"color: #aab4be\">Name of the ship</p>\
    <input><button type=\"button\"></button></article>";

pub(crate) fn run() -> Done {
    sh::run("cargo", &["build", "--quiet", "--workspace"])?;
    let program = target().join("debug/gatewright");
    let scratch = Scratch::new()?;
    let root = scratch.folder("harbor")?;
    let place = scratch.place(&program, &root, "pictures")?;
    let mut session = project(&place, &root)?;
    let kit = json!({ "featureName": "calm-sea", "ticketId": "HARB-7", "source": "tokens" });
    session.call("review_kit_create", kit)?;
    session.call("a11y_scan", json!({ "url": "root:app/arrivals.html", "screenshots": true }))?;
    for (what, folder) in [("kits", "kit"), ("report", "scan")] {
        let out = place
            .command(&[what, "export", "last", &root.join(folder).display().to_string()])
            .output()
            .map_err(|e| e.to_string())?;
        if !out.status.success() {
            return Err(format!("{what} export: {}", String::from_utf8_lossy(&out.stderr)));
        }
    }
    let to = top().join(FOLDER);
    std::fs::create_dir_all(&to).map_err(|e| e.to_string())?;
    for (page, scheme, name) in PICTURES {
        let file = to.join(format!("{name}.png"));
        taken(&mut session, &root, (page, scheme), &file)?;
        println!("  {}", file.display());
    }
    session.finish()
}

/// The example with its tokens built, and a branch on which the sea is calmer.
fn project(place: &Place, root: &Path) -> Done<Session> {
    copied(&top().join("examples/harbor"), root)?;
    put(root, ".gitignore", "node_modules/\nkit/\nscan/\ntaken/\n")?;
    put(root, "package.json", "{ \"name\": \"harbor\", \"private\": true }\n")?;
    for (path, body) in COMPONENTS {
        put(root, &format!("examples/{path}.html"), &page(body, "../../app/"))?;
    }
    put(root, "app/arrivals.html", &page(ARRIVALS, ""))?;
    with_axe(root)?;
    repository(root, "feat: harbor")?;
    let mut session = place.serve()?;
    built(&mut session, root)?;
    git(root, &["add", "--all"])?;
    git(root, &["commit", "--quiet", "--message", "chore: tokens"])?;
    git(root, &["checkout", "--quiet", "-b", "calm"])?;
    edit(root, "tokens/base.json", "\"components\": [0.43, 0.1, 235]", "\"components\": [0.5, 0.12, 215]")?;
    built(&mut session, root)?;
    git(root, &["commit", "--quiet", "--all", "--message", "feat(tokens): a calmer sea"])?;
    edit(
        root,
        "app/app.css",
        "padding: var(--harbor-size-2) var(--harbor-size-4)",
        "padding: var(--harbor-size-4)",
    )?;
    git(root, &["commit", "--quiet", "--all", "--message", "fix(button): room for thumbs"])?;
    Ok(session)
}

fn page(body: &str, styles: &str) -> String {
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<title>Harbor</title>\n\
         <link rel=\"stylesheet\" href=\"{styles}tokens.css\">\n<link rel=\"stylesheet\" href=\"{styles}app.css\">\n</head>\n\
         <body>\n<main>\n<h1>Harbor</h1>\n{body}\n</main>\n</body>\n</html>\n"
    )
}

/// Builds the tokens, and puts the style sheet where the page looks for it.
fn built(session: &mut Session, root: &Path) -> Done {
    let asked = json!({ "source": "tokens", "platforms": ["css"], "apply": true });
    let answer = session.call("tokens_build", asked)?;
    let path = answer["artifacts"][0]["path"].as_str().ok_or_else(|| short(&answer))?;
    let css = std::fs::read_to_string(root.join(path)).map_err(|e| format!("{path}: {e}"))?;
    put(root, "app/tokens.css", &css)?;
    std::fs::remove_dir_all(root.join("artifacts")).map_err(|e| format!("artifacts: {e}"))
}

/// Takes one picture, as users do: `visual_diff` proposes it, and it is applied.
fn taken(session: &mut Session, root: &Path, (page, scheme): (&str, &str), to: &Path) -> Done {
    let asked = json!({
        "url": format!("root:{page}"), "scheme": scheme, "base": "taken",
        "viewport": { "width": WIDTH, "height": 800 }, "update": true, "apply": true,
    });
    let answer = session.call("visual_diff", asked)?;
    let picture = answer["pages"][0]["picture"].as_str();
    let picture = picture.ok_or_else(|| format!("{page}: no picture: {}", short(&answer)))?;
    let bytes = std::fs::read(root.join(picture)).map_err(|e| format!("{picture}: {e}"))?;
    let whole = Picture::read(&bytes).map_err(|e| format!("{picture}: {e}"))?;
    let cut = whole.part(WIDTH, HEIGHT).write().map_err(|e| e.to_string())?;
    std::fs::write(to, cut).map_err(|e| format!("{}: {e}", to.display()))
}

fn short(answer: &Value) -> String {
    answer["message"].as_str().unwrap_or_default().chars().take(400).collect()
}
