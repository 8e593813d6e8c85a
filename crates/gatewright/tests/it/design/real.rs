//! The four operations on a design system that others made: the tokens and components of the municipality of Utrecht (NL Design
//! System), as npm has them.

use std::collections::BTreeSet;
use std::path::Path;

use serde_json::{Value, json};

use super::super::bench::installed;
use super::Bench;

/// Its own tokens, as its own build takes them, without those of other organisations and of the dark.
const SOURCE: &str = "src/{brand,common,component}/**/*.tokens.json";

const PAGES: [(&str, &str); 3] = [
    (
        "button",
        "<button class=\"utrecht-button utrecht-button--primary-action\" type=\"button\">Opslaan</button>",
    ),
    (
        "textbox",
        "<label class=\"utrecht-form-label\" for=\"name\">Naam</label> <input class=\"utrecht-textbox\" id=\"name\">",
    ),
    ("link", "<p><a class=\"utrecht-link utrecht-link--html-a\" href=\"#top\">Naar boven</a></p>"),
];

fn page(body: &str) -> String {
    let styles = [
        "dist/root.css",
        "vendor/button.css",
        "vendor/textbox.css",
        "vendor/form-label.css",
        "vendor/heading-1.css",
        "vendor/link.css",
    ]
    .iter()
    .map(|path| format!("<link rel=\"stylesheet\" href=\"../../{path}\">"))
    .collect::<Vec<_>>()
    .concat();
    format!(
        "<!doctype html><html lang=\"nl\"><head><meta charset=\"utf-8\"><title>Voorbeeld</title>{styles}</head>\
         <body><main id=\"top\"><h1 class=\"utrecht-heading-1\">Voorbeeld</h1>{body}</main></body></html>\n"
    )
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap().flatten() {
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &target);
        } else {
            std::fs::copy(entry.path(), target).unwrap();
        }
    }
}

fn system() -> Option<Bench> {
    let axe = installed("axe-core", "npm/design/node_modules/axe-core/axe.min.js")?;
    let tokens = installed("a real design system", "npm/design/node_modules/@utrecht/design-tokens")?;
    let bench = Bench::new(&[]);
    let root = bench.place.root();
    copy(&tokens, &root);
    for name in ["button", "textbox", "form-label", "heading-1", "link"] {
        let style = tokens.parent().unwrap().join(format!("{name}-css/dist/index.css"));
        bench.put(&format!("vendor/{name}.css"), &std::fs::read_to_string(style).unwrap());
    }
    for (name, body) in PAGES {
        bench.put(&format!("examples/{name}/plain.html"), &page(body));
    }
    bench
        .place
        .configure(&format!("[limits]\ndetach-after = 900\n[browser]\naxe = {:?}\n", axe.to_str().unwrap()));
    // What is released holds no pages and no styles of others.
    bench.put(".npmignore", "examples/\nvendor/\n");
    bench.commit("chore: as it was published");
    bench.git(&["tag", "v5.0.1"]);
    Some(bench)
}

/// Custom properties and their values, without comments.
fn properties(css: &str) -> BTreeSet<(String, String)> {
    css.lines()
        .filter_map(|line| line.trim().strip_prefix("--")?.split_once(':'))
        .map(|(name, rest)| {
            let value = rest.split("/*").next().unwrap_or(rest).trim().trim_end_matches(';');
            (name.to_owned(), value.to_owned())
        })
        .collect()
}

#[test]
fn a_real_design_system_is_built_scanned_reviewed_and_released() {
    let Some(bench) = system() else { return };
    let mut session = bench.serve();
    let built = session.ok("tokens_build", json!({ "source": SOURCE, "platforms": ["css"], "apply": true }));
    let file = built["artifacts"][0]["path"].as_str().unwrap_or_else(|| panic!("{built:#}")).to_owned();
    let (ours, theirs) =
        (properties(&bench.read(&file).unwrap()), properties(&bench.read("dist/root.css").unwrap()));
    let names =
        |of: &BTreeSet<(String, String)>| of.iter().map(|(name, _)| name.clone()).collect::<BTreeSet<_>>();
    assert_eq!(names(&ours), names(&theirs), "the same tokens as its own build");
    let same = ours.intersection(&theirs).count();
    // The others are spelled another way (`transparent`, `.5em`, 30 %) or in rem, which is a transform of its own.
    assert!(ours.len() == 1_240 && same >= 1_180, "{same} of {} values are written alike", ours.len());
    std::fs::remove_dir_all(bench.place.root().join("artifacts")).unwrap();

    // In one folder of the source a reference leads nowhere, in what was published.
    let fault = session.fails("tokens_build", json!({ "source": "src", "platforms": ["css"] }));
    assert!(fault["message"].as_str().unwrap().contains("data-badge.json:11:20"), "{fault}");

    if !Path::new("/usr/lib/chromium/chromium-headless-shell").exists() {
        super::super::skip("a real design system in a browser (chromium-headless-shell is not installed)");
        return;
    }
    let scan = session.ok("a11y_scan", json!({ "url": "root:examples/**/*.html" }));
    assert_eq!(
        (&scan["issueCount"], scan["pages"].as_array().map(Vec::len)),
        (&json!(0), Some(3)),
        "{scan:#}"
    );

    reviewed(&bench, &mut session);
    released(&bench, &mut session);
}

/// A branch on which the blue of its buttons is lighter.
fn reviewed(bench: &Bench, session: &mut super::super::bench::Session) {
    bench.git(&["switch", "--quiet", "--create", "lighter"]);
    let at = "src/brand/utrecht/color.tokens.json";
    let colors = bench.read(at).unwrap();
    assert!(colors.contains("hsl(211 60% 35%)"), "{colors}");
    bench.put(at, &colors.replace("hsl(211 60% 35%)", "hsl(211 60% 45%)"));
    let css = bench.read("dist/root.css").unwrap();
    bench.put(
        "dist/root.css",
        &css.replace(
            "--utrecht-color-blue-35: hsl(211 60% 35%)",
            "--utrecht-color-blue-35: hsl(211 60% 45%)",
        ),
    );
    bench.commit("feat(color): a lighter blue");
    let asked = json!({ "featureName": "lighter", "ticketId": "UTR-1", "source": SOURCE });
    let dry = session.ok("review_kit_create", asked.clone());
    assert_eq!(bench.git(&["branch", "--list", "sbx/*"]), "");
    let mut applied = asked;
    applied["apply"] = json!(true);
    let kit = session.ok("review_kit_create", applied);
    assert_eq!(
        (&kit["kit"], &kit["branchName"]),
        (&dry["kit"], &dry["branchName"]),
        "the same change, the same kit"
    );
    let uri = format!("{}/kit.json", kit["kit"].as_str().unwrap());
    let read = session.0.request("resources/read", json!({ "uri": uri }));
    let facts: Value = serde_json::from_str(read["result"]["contents"][0]["text"].as_str().unwrap()).unwrap();
    let facts = &facts["facts"];
    let changed: Vec<&str> =
        facts["tokens"]["changed"].as_array().unwrap().iter().map(|t| t["id"].as_str().unwrap()).collect();
    assert!(changed.contains(&"utrecht.color.blue.35"), "{changed:?}");
    assert!(changed.len() > 10, "those that refer to it are others too: {changed:?}");
    let components = facts["gallery"]["components"].as_array().unwrap();
    let names: Vec<&str> = components.iter().map(|c| c["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["button", "link", "textbox"]);
    let pictures = |name: &str| {
        let component = components.iter().find(|c| c["name"] == name).unwrap();
        component["examples"][0]["pictures"][0].clone()
    };
    assert!(
        pictures("button")["pixels"].as_u64().unwrap() > 0,
        "the button is another: {}",
        pictures("button")
    );
    assert_eq!(pictures("textbox")["pixels"], 0, "the textbox is not");
    bench.git(&["switch", "--quiet", "main"]);
}

/// The next release, which the real package needs little for.
fn released(bench: &Bench, session: &mut super::super::bench::Session) {
    bench.git(&["merge", "--quiet", "--ff-only", "lighter"]);
    let early = session.ok("release_pack_verify", json!({ "version": "5.0.2", "tokens": SOURCE }));
    let failed = |answer: &Value| {
        let checks = answer["verificationChecks"].as_array().unwrap().iter();
        let failed =
            checks.filter(|c| c["severity"] == "error").map(|c| c["checkName"].as_str().unwrap().to_owned());
        failed.collect::<BTreeSet<_>>()
    };
    assert_eq!(failed(&early), BTreeSet::from(["npm.version.manifest".to_owned()]), "{early:#}");
    let bump = &early["bumps"]["@utrecht/design-tokens"];
    assert_eq!((&bump["from"], &bump["required"]), (&json!("5.0.1"), &json!("minor")), "{bump}");
    let manifest = bench.read("package.json").unwrap();
    bench.put("package.json", &manifest.replace("\"version\": \"5.0.1\"", "\"version\": \"5.1.0\""));
    bench.commit("chore: 5.1.0");
    let args = [
        "call",
        "release_pack_verify",
        "--version",
        "5.1.0",
        "--tokens",
        SOURCE,
        "--smoke",
        "--apply",
        "--output",
        "json",
    ];
    let out = bench.command().args(args).output().unwrap();
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    let done: Value = serde_json::from_slice(&out.stdout).unwrap();
    assert_eq!(failed(&done), BTreeSet::new(), "{done:#}");
    let branch = done["branchName"].as_str().unwrap();
    let files = bench.git(&["ls-tree", "-r", "--name-only", branch, "releases/utrecht-design-tokens-5.1.0"]);
    assert_eq!(files.lines().count(), 4, "{files}");
    assert_eq!(bench.dirt(), "");
}
