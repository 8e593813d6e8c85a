//! Review kits of a change, in the real browser, on a branch, as resources and as the command serves them.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};

use super::super::bench::installed;
use super::Bench;

const TOKENS: &str = r##"{ "color": { "$type": "color",
  "primary": { "$value": "#1144cc" }, "on-primary": { "$value": "#ffffff" }, "old": { "$value": "#00aa00" } } }"##;

const CSS: &str = ":root { --color-primary: #1144cc; }\n.button { background: var(--color-primary); color: #fff; padding: 8px 16px; border: 0 }\n.old { color: var(--color-old) }\n";

fn page(body: &str) -> String {
    format!(
        "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\"><title>Example</title><link rel=\"stylesheet\" href=\"../../src/ui.css\"></head><body><main><h1>Example</h1>{body}</main></body></html>\n"
    )
}

/// A design system with two examples; on a branch a colour is another, a token is gone, a button has lost its name.
fn branch() -> Option<Bench> {
    let axe = installed("axe-core", "npm/design/node_modules/axe-core/axe.min.js")?;
    if !std::path::Path::new("/usr/lib/chromium/chromium-headless-shell").exists() {
        super::super::skip("review kits (chromium-headless-shell is not installed)");
        return None;
    }
    let bench = Bench::new(&[
        ("package.json", "{ \"name\": \"@acme/ui\" }\n"),
        ("tokens/base.json", TOKENS),
        ("src/ui.css", CSS),
        ("examples/button/primary.html", &page("<button class=\"button\" type=\"button\">Save</button>")),
        ("examples/card/plain.html", &page("<p>A card.</p>")),
    ]);
    // Kits are waited for, however busy the machine is.
    bench
        .place
        .configure(&format!("[limits]\ndetach-after = 900\n[browser]\naxe = {:?}\n", axe.to_str().unwrap()));
    bench.git(&["switch", "--quiet", "--create", "feature"]);
    bench.put(
        "tokens/base.json",
        &TOKENS.replace("#1144cc", "#99bbff").replace(", \"old\": { \"$value\": \"#00aa00\" }", ""),
    );
    bench.put("src/ui.css", &CSS.replace("#1144cc", "#99bbff"));
    bench.put("examples/button/primary.html", &page("<button class=\"button\" type=\"button\"></button>"));
    bench.put("examples/tag/new.html", &page("<p>New.</p>"));
    bench.commit("feat(button)!: calmer colours\n\nBREAKING CHANGE: `color.old` is gone");
    Some(bench)
}

const ASKED: fn() -> Value = || json!({ "featureName": "calm-buttons", "ticketId": "DS-42" });

fn facts(session: &mut super::super::bench::Session, kit: &str) -> Value {
    let read = session.0.request("resources/read", json!({ "uri": format!("{kit}/kit.json") }));
    let text = read["result"]["contents"][0]["text"].as_str().unwrap_or_else(|| panic!("{read}")).to_owned();
    serde_json::from_str(&text).unwrap()
}

#[test]
fn review_kit_create_shows_what_a_branch_does_and_the_same_change_is_the_same_kit() {
    let Some(bench) = branch() else { return };
    let mut session = bench.serve();
    let dry = session.ok("review_kit_create", ASKED());
    let kit = dry["kit"].as_str().unwrap().to_owned();
    assert!(kit.starts_with("kit://ds-42-calm-buttons-"), "{dry:#}");
    assert_eq!(bench.git(&["branch", "--list", "sbx/*"]), "", "a rehearsal makes no branch");
    let verdicts: Vec<(&str, &str)> = dry["verdicts"]
        .as_array()
        .unwrap()
        .iter()
        .map(|v| (v["name"].as_str().unwrap(), v["verdict"].as_str().unwrap()))
        .collect();
    for expected in
        [("Tokens", "fail"), ("Contrast", "fail"), ("Accessibility", "fail"), ("Pictures", "warn")]
    {
        assert!(verdicts.contains(&expected), "{expected:?}: {verdicts:?}");
    }
    assert_eq!(dry["success"], false, "something stops the change");
    let states: Vec<&str> =
        dry["parts"].as_array().unwrap().iter().map(|p| p["state"].as_str().unwrap()).collect();
    assert_eq!(states, ["made"; 4], "{dry:#}");

    let told = facts(&mut session, &kit);
    let facts = &told["facts"];
    assert_eq!(
        (&facts["project"], &facts["base"]["name"], &facts["head"]["name"]),
        (&json!("@acme/ui"), &json!("main"), &json!("feature"))
    );
    assert_eq!(
        (&facts["tokens"]["removed"][0]["id"], &facts["tokens"]["removed"][0]["usedIn"]),
        (&json!("color.old"), &json!(["src/ui.css:3"]))
    );
    assert_eq!(facts["tokens"]["changed"][0]["values"][0]["after"], "#99bbff");
    let components = facts["gallery"]["components"].as_array().unwrap();
    let of = |name: &str| {
        &components.iter().find(|c| c["name"] == name).unwrap_or_else(|| panic!("{name}"))["examples"][0]
    };
    let button = of("button");
    assert_eq!(button["findings"][0]["rule"], "button-name", "{button:#}");
    assert_eq!(button["findings"][0]["isOld"], false);
    let light = &button["pictures"][0];
    assert!(light["pixels"].as_u64().unwrap() > 0 && light["difference"].is_object(), "{light}");
    let card = of("card");
    assert_eq!(
        (&card["pictures"][0]["pixels"], card["pictures"][0]["before"].is_object()),
        (&json!(0), true),
        "{card:#}"
    );
    assert!(of("tag")["pictures"][0].get("before").is_none(), "it is new");
    assert_eq!(facts["notes"]["sections"][0]["entries"][0]["text"], "`color.old` is gone");

    let applied = session.ok(
        "review_kit_create",
        json!({ "featureName": "calm-buttons", "ticketId": "DS-42", "apply": true }),
    );
    assert_eq!(
        (&applied["kit"], &applied["branchName"], bench.dirt()),
        (&dry["kit"], &dry["branchName"], String::new()),
        "the same change is the same kit"
    );
    let branch = applied["branchName"].as_str().unwrap();
    let folder = "review-kits/DS-42-calm-buttons";
    let there = bench.git(&["ls-tree", "-r", "--name-only", branch, folder]);
    assert_eq!(there.lines().count() as u64, applied["fileCount"].as_u64().unwrap());
    hashes_hold(&bench, branch, folder, &told);
    let again = session.ok(
        "review_kit_create",
        json!({ "featureName": "calm-buttons", "ticketId": "DS-42", "apply": true }),
    );
    assert_eq!(again["plan"]["effects"], json!([]), "{again:#}");
}

/// `kit.json` has the digest of every other file.
fn hashes_hold(bench: &Bench, branch: &str, folder: &str, told: &Value) {
    let place = tempfile::tempdir().unwrap();
    let archive = Command::new("git")
        .args(["archive", branch, folder])
        .current_dir(bench.place.root())
        .output()
        .unwrap();
    tar::Archive::new(&archive.stdout[..]).unpack(place.path()).unwrap();
    let mut sums = String::new();
    for (path, file) in told["files"].as_object().unwrap() {
        sums.push_str(&format!("{}  {path}\n", file["sha256"].as_str().unwrap()));
    }
    std::fs::write(place.path().join("sums"), sums).unwrap();
    let checked = Command::new("sha256sum")
        .args(["--check", "--strict", "--quiet", "../../sums"])
        .current_dir(place.path().join(folder))
        .output()
        .unwrap();
    assert!(checked.status.success(), "{}", String::from_utf8_lossy(&checked.stdout));
}

#[test]
fn review_kit_create_takes_what_it_is_told_and_says_what_it_lacks() {
    let Some(bench) = branch() else { return };
    bench.put("other/base.json", TOKENS);
    bench.put("pages/only.html", &page("<p>Only.</p>").replace("../../", "../"));
    bench.commit("chore: more");
    let mut session = bench.serve();
    let asked = json!({ "featureName": "x", "ticketId": "A-1", "base": "HEAD", "source": "other", "gallery": "builtin", "examples": ["pages/*.html"] });
    let told = session.ok("review_kit_create", asked);
    let kit = told["kit"].as_str().unwrap().to_owned();
    let facts = facts(&mut session, &kit)["facts"].clone();
    assert_eq!((&facts["tokens"]["source"], &facts["base"]["name"]), (&json!("other"), &json!("HEAD")));
    let components = facts["gallery"]["components"].as_array().unwrap();
    assert_eq!(components.len(), 1, "{facts:#}");
    assert_eq!(components[0]["examples"][0]["source"], "pages/only.html");
    assert_eq!(told["parts"][2]["state"], "skipped", "nothing was committed since HEAD: {told:#}");
    for (arguments, code) in [
        (json!({ "featureName": "Calm Buttons", "ticketId": "DS-1" }), "invalid_argument"),
        (json!({ "featureName": "x", "ticketId": "ds-1" }), "invalid_argument"),
        (json!({ "featureName": "x", "ticketId": "DS-1", "base": "nowhere" }), "not_found"),
        (json!({ "featureName": "x", "ticketId": "DS-1", "source": "nowhere" }), "not_found"),
        (json!({ "featureName": "x", "ticketId": "DS-1", "examples": ["none/*.html"] }), "not_found"),
        (json!({ "featureName": "x", "ticketId": "DS-1", "gallery": "storybook" }), "invalid_source"),
    ] {
        let fault = session.fails("review_kit_create", arguments.clone());
        assert_eq!(fault["code"], code, "{arguments}: {fault}");
    }
}

/// `gatewright kits serve` on a free port, ended with the test.
struct Served(Child, u16);

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Served {
    fn start(bench: &Bench) -> Self {
        use std::io::BufRead as _;
        let mut child =
            bench.command().args(["kits", "serve", "--port", "0"]).stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        std::io::BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let port = line
            .trim()
            .trim_end_matches('/')
            .rsplit(':')
            .next()
            .unwrap()
            .parse()
            .unwrap_or_else(|_| panic!("{line}"));
        Self(child, port)
    }

    /// Status, head and body.
    fn get(&self, path: &str, host: &str) -> (String, String) {
        let mut stream = TcpStream::connect(("127.0.0.1", self.1)).unwrap();
        write!(stream, "GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n").unwrap();
        let mut all = Vec::new();
        stream.read_to_end(&mut all).unwrap();
        let all = String::from_utf8_lossy(&all).into_owned();
        let (head, body) = all.split_once("\r\n\r\n").unwrap();
        (head.to_ascii_lowercase(), body.to_owned())
    }
}

#[test]
fn kits_are_served_to_this_machine_under_a_strict_policy_and_written_into_folders() {
    let Some(bench) = branch() else { return };
    let mut session = bench.serve();
    let told = session.ok("review_kit_create", ASKED());
    let name = told["kit"].as_str().unwrap().trim_start_matches("kit://").to_owned();
    drop(session);
    let served = Served::start(&bench);
    let here = format!("127.0.0.1:{}", served.1);
    let (head, body) = served.get(&format!("/{name}/index.html"), &here);
    assert!(head.starts_with("http/1.1 200") && body.contains("calm-buttons"), "{head}");
    assert!(
        head.contains("content-security-policy: default-src 'none'") && head.contains("nosniff"),
        "{head}"
    );
    let (head, body) = served.get(&format!("/{name}/examples/examples/button/primary.html"), &here);
    assert!(head.starts_with("http/1.1 200") && head.contains("sandbox"), "{head}");
    assert!(
        body.contains("Content-Security-Policy"),
        "an example carries its policy where it is opened as a file: {body}"
    );
    let (head, body) = served.get("/", &here);
    assert!(head.starts_with("http/1.1 200") && body.contains(&name));
    for (path, host, status) in [
        (format!("/{name}/index.html"), "evil.example", "421"),
        (format!("/{name}/../../etc/passwd"), here.as_str(), "404"),
        (format!("/{name}/%2e%2e/%2e%2e/etc/passwd"), here.as_str(), "404"),
        ("/nothing/index.html".to_owned(), here.as_str(), "404"),
        (format!("/{name}"), here.as_str(), "307"),
    ] {
        assert!(served.get(&path, host).0.starts_with(&format!("http/1.1 {status}")), "{path} {host}");
    }
    let folder = bench.place.root().parent().unwrap().join("exported");
    let export =
        |to: &std::path::Path| bench.command().args(["kits", "export", "last"]).arg(to).output().unwrap();
    assert!(export(&folder).status.success());
    assert!(folder.join("index.html").is_file() && folder.join("kit.json").is_file());
    let twice = export(&folder);
    assert!(!twice.status.success() && String::from_utf8_lossy(&twice.stderr).contains("empty or new"));
    let listed = bench.command().args(["kits", "list"]).output().unwrap();
    assert!(String::from_utf8_lossy(&listed.stdout).contains(&name));
}

/// A design system with a Storybook that npm has installed and nobody has built.
fn with_storybook() -> Option<Bench> {
    let node = installed("Storybook", "npm/storybook/node_modules")?;
    let bench = branch()?;
    bench.put(
        ".storybook/main.js",
        "export default { stories: ['../stories/*.stories.js'], framework: '@storybook/html-vite', core: { disableTelemetry: true } };\n",
    );
    bench.put(
        "stories/button.stories.js",
        "export default { title: 'UI/Button', render: ({ label }) => `<button type=\"button\">${label}</button>` };\n\
         export const Primary = { args: { label: 'Save' } };\nexport const Nameless = { args: { label: '' } };\n",
    );
    bench.put("package.json", "{ \"name\": \"@acme/ui\", \"type\": \"module\" }\n");
    bench.put(".gitignore", "node_modules/\n");
    bench.commit("docs: stories");
    let to = bench.place.root().join("node_modules");
    let copied =
        |how: &str| Command::new("cp").arg(how).args([&node, &to]).output().unwrap().status.success();
    if !copied("-al") {
        std::fs::remove_dir_all(&to).unwrap_or_default();
        assert!(copied("-a"));
    }
    Some(bench)
}

#[test]
fn review_kit_create_builds_the_projects_own_storybook_and_shows_its_stories() {
    let Some(bench) = with_storybook() else { return };
    let mut session = bench.serve();
    let told = session.ok("review_kit_create", ASKED());
    let kit = told["kit"].as_str().unwrap().to_owned();
    let gallery = facts(&mut session, &kit)["facts"]["gallery"].clone();
    assert_eq!(
        (&gallery["origin"], &gallery["storybook"]),
        (&json!("storybook"), &json!("storybook/index.html")),
        "{told:#}"
    );
    let examples = gallery["components"][0]["examples"].as_array().unwrap();
    let of = |source: &str| {
        examples.iter().find(|e| e["source"] == source).unwrap_or_else(|| panic!("{source}: {gallery:#}"))
    };
    assert!(of("story:ui-button--primary")["pictures"][0]["after"].is_object());
    let nameless = of("story:ui-button--nameless")["findings"].to_string();
    assert!(nameless.contains("button-name"), "{nameless}");
    assert!(!bench.place.root().join("storybook-static").exists(), "it was built in a world of its own");
    // A Storybook that cannot be built is said, and the examples are shown instead; asked for by name it is a fault.
    bench.put(
        "stories/button.stories.js",
        "import './nowhere.js';\nexport default { title: 'X' };\nexport const A = {};\n",
    );
    bench.commit("docs: broken");
    let broken = session.ok("review_kit_create", ASKED());
    assert!(broken["message"].as_str().unwrap().contains("Storybook could not be built"), "{broken:#}");
    let kit = broken["kit"].as_str().unwrap().to_owned();
    assert_eq!(facts(&mut session, &kit)["facts"]["gallery"]["origin"], "examples");
    let asked = json!({ "featureName": "x", "ticketId": "A-1", "gallery": "storybook" });
    assert_eq!(session.fails("review_kit_create", asked)["code"], "invalid_source");
}

#[test]
fn review_kit_create_shows_what_is_gone_and_leaves_behind_what_is_nobodys_to_publish() {
    let Some(bench) = branch() else { return };
    let secret = format!("ghp_{}", "a1B2".repeat(9));
    // One example is named, one is gone since main; the named one asks for a built style and for data that git ignores.
    bench.git(&["rm", "--quiet", "examples/card/plain.html"]);
    bench.put(".gitignore", "built/\n");
    bench.put("built/ui.css", "main { color: #111 }\n");
    bench.put("built/people.json", "{ \"name\": \"Ada\" }\n");
    bench.put("examples/data.js", &format!("const token = \"{secret}\"; fetch('../built/people.json');\n"));
    bench.put(
        "examples/button/primary.html",
        &page("<script src=\"../data.js\"></script><link rel=\"stylesheet\" href=\"../../built/ui.css\"><p>Now.</p>"),
    );
    // An earlier kit of this name was merged.
    bench.put("review-kits/DS-42-calm-buttons/examples/old.html", "<p>old</p>\n");
    bench.commit("feat: less");
    let mut session = bench.serve();
    let asked = json!({
        "featureName": "calm-buttons", "ticketId": "DS-42", "apply": true,
        "examples": ["examples/button/primary.html", "examples/card/*.html"],
    });
    let told = session.ok("review_kit_create", asked);
    let facts = facts(&mut session, told["kit"].as_str().unwrap())["facts"].clone();
    let components = facts["gallery"]["components"].as_array().unwrap();
    let card = components.iter().find(|c| c["name"] == "card").unwrap_or_else(|| panic!("{facts:#}"));
    let pictures = &card["examples"][0]["pictures"][0];
    assert!(pictures["before"].is_object() && pictures.get("after").is_none(), "{pictures}");
    let verdict = told["verdicts"].as_array().unwrap().iter().find(|v| v["name"] == "Pictures").unwrap();
    assert!(verdict["detail"].as_str().unwrap().contains("1 gone"), "{verdict}");
    let branch = told["branchName"].as_str().unwrap();
    let files = bench.git(&["ls-tree", "-r", "--name-only", branch, "review-kits"]);
    assert!(
        files.contains("/examples/built/ui.css"),
        "a page is made of its styles, whoever built them: {files}"
    );
    assert!(!files.contains("people.json") && !files.contains("old.html"), "{files}");
    let script =
        bench.git(&["show", &format!("{branch}:review-kits/DS-42-calm-buttons/examples/examples/data.js")]);
    assert!(script.contains("[redacted:") && !script.contains(&secret), "{script}");
    let parts = told["parts"].to_string();
    assert!(parts.contains("ignored by git"), "{parts}");
}

#[test]
fn review_kit_create_goes_on_where_a_part_of_the_base_or_of_the_build_is_broken() {
    let Some(bench) = branch() else { return };
    // Tokens that the base has elsewhere are moved, not new; a folder that only is called so is no Storybook.
    bench.git(&["mv", "tokens", "brand"]);
    bench.put("storybook-static/readme.txt", "not a Storybook\n");
    bench.commit("refactor: tokens have moved");
    let mut session = bench.serve();
    let moved = session.ok(
        "review_kit_create",
        json!({ "featureName": "x", "ticketId": "A-1", "source": "brand", "examples": ["examples/tag/new.html"] }),
    );
    let facts_of = facts(&mut session, moved["kit"].as_str().unwrap())["facts"].clone();
    let tokens = &facts_of["tokens"];
    assert_eq!(
        (tokens["added"].as_array().unwrap().len(), &tokens["removed"][0]["id"]),
        (0, &json!("color.old"))
    );
    let auto =
        session.ok("review_kit_create", json!({ "featureName": "x", "ticketId": "A-1", "source": "brand" }));
    assert!(auto["message"].as_str().unwrap().contains("index.json cannot be read"), "{auto:#}");
    let gallery = facts(&mut session, auto["kit"].as_str().unwrap())["facts"]["gallery"].clone();
    assert_eq!(gallery["origin"], "examples");

    // Broken at the base, whole now.
    bench.git(&["switch", "--quiet", "--create", "broken"]);
    bench.put("brand/base.json", "{ \"color\": { \"$value\": ");
    bench.commit("feat: break");
    bench.git(&["branch", "--force", "main"]);
    bench.git(&["switch", "--quiet", "--create", "mended"]);
    bench.put("brand/base.json", TOKENS);
    bench.commit("fix: mend");
    let asked = |source: &str| json!({ "featureName": "x", "ticketId": "A-2", "source": source, "examples": ["examples/tag/new.html"] });
    let mended = session.ok("review_kit_create", asked("brand"));
    assert_eq!(mended["parts"][0]["state"], "made", "{mended:#}");
    assert!(mended["parts"][0]["why"].to_string().contains("cannot be read"), "{mended:#}");
    // Broken now: it is a verdict, and the rest is shown.
    bench.put("brand/base.json", "{ \"color\": { \"$value\": ");
    let broken = session.ok("review_kit_create", asked("brand"));
    assert_eq!(
        (&broken["verdicts"][0]["name"], &broken["verdicts"][0]["verdict"]),
        (&json!("Tokens"), &json!("fail"))
    );
    assert_eq!(broken["parts"][1]["state"], "made", "{broken:#}");
    // Without a repository there is a kit and no branch.
    std::fs::remove_dir_all(bench.place.root().join(".git")).unwrap();
    bench.put("brand/base.json", TOKENS);
    let alone = session.ok("review_kit_create", asked("brand"));
    assert_eq!(
        (alone.get("branchName"), &alone["parts"][2]["state"]),
        (None, &json!("skipped")),
        "{alone:#}"
    );
    assert!(alone["parts"][2]["why"].to_string().contains("no git repository"), "{alone:#}");
}

#[test]
fn the_pages_of_a_kit_pass_our_own_scanner_in_light_and_in_dark() {
    let Some(bench) = branch() else { return };
    bench.put(".gitignore", "kit/\n");
    bench.commit("chore: kits are not kept");
    let mut session = bench.serve();
    session.ok("review_kit_create", ASKED());
    let folder = bench.place.root().join("kit");
    assert!(bench.command().args(["kits", "export", "last"]).arg(&folder).status().unwrap().success());
    // What the project's own examples have wrong with them is theirs.
    std::fs::remove_dir_all(folder.join("examples")).unwrap();
    for scheme in ["light", "dark"] {
        for url in ["root:kit/*.html", "root:kit/components/*.html"] {
            let scan = session.ok("a11y_scan", json!({ "url": url, "scheme": scheme }));
            let pages = scan["pages"].as_array().unwrap().len();
            assert!(pages >= 3 && scan["mode"] == "browser", "{url}: {scan:#}");
            assert_eq!(scan["issueCount"], 0, "{url} {scheme}: {}", scan["issues"]);
        }
    }
}
