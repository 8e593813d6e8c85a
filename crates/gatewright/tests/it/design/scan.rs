//! Scans: real pages, real Chromium, real axe-core.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;

use serde_json::{Value, json};

use super::Bench;
use crate::bench::installed;
use crate::skip;

const PAGE: &str = r#"<!doctype html>
<html lang="en">
<head><title>Harbour</title><link rel="stylesheet" href="style.css"></head>
<body>
<main>
<h1>Harbour</h1>
<img src="ship.png">
<p class="faint">Hard to read</p>
<div id="later"></div>
<button id="more" onclick="later.innerHTML = '<input>'">More</button>
<iframe title="inner" src="inner.html"></iframe>
<img src="https://cdn.example/x.png" alt="far">
</main>
</body>
</html>
"#;

const STYLE: &str = ".faint { color: #bbb; background: #fff } \
    @media (prefers-color-scheme: dark) { body { background: #000; color: #fff } .faint { color: #ddd; background: #000 } }";

/// What a page that calls an element `axe` cannot keep from being looked at.
const NAMED: &str =
    "<!doctype html><html lang=en><title>n</title><main><h1>n</h1><div id=axe></div><img src=x></main>";

const INNER: &str =
    "<!doctype html><html lang=en><title>in</title><body><main><h1>in</h1><button></button></main>";

/// A site in a repository, with axe-core in its `node_modules`; where this machine has no browser, that is said.
fn site() -> Option<Bench> {
    let axe = installed("axe-core", "npm/design/node_modules/axe-core/axe.min.js")?;
    if !std::path::Path::new("/usr/lib/chromium/chromium-headless-shell").exists() {
        skip("scans in a browser (chromium-headless-shell is not installed)");
        return None;
    }
    let bench =
        Bench::new(&[("site/index.html", PAGE), ("site/style.css", STYLE), ("site/inner.html", INNER)]);
    let to = bench.place.root().join("node_modules/axe-core");
    std::fs::create_dir_all(&to).unwrap();
    std::fs::copy(axe, to.join("axe.min.js")).unwrap();
    Some(bench)
}

fn ids(answer: &Value) -> Vec<&str> {
    answer["issues"].as_array().unwrap().iter().map(|i| i["id"].as_str().unwrap()).collect()
}

fn issue<'v>(answer: &'v Value, id: &str) -> &'v Value {
    let found = answer["issues"].as_array().unwrap().iter().find(|i| i["id"] == id);
    found.unwrap_or_else(|| panic!("{id}: {answer}"))
}

#[test]
fn a11y_scan_finds_what_is_broken_with_places_criteria_and_frames() {
    let Some(bench) = site() else { return };
    let mut session = bench.serve();
    let answer = session.ok("a11y_scan", json!({ "url": "root:site/index.html" }));
    assert_eq!(
        (&answer["success"], &answer["mode"], &answer["issueCount"]),
        (&json!(false), &json!("browser"), &json!(4)),
        "{answer}"
    );
    assert_eq!(
        answer["engine"],
        json!({ "name": "axe-core", "version": "4.14.1", "from": "project", "verified": true })
    );
    let image = issue(&answer, "image-alt");
    assert_eq!(
        (&image["impact"], &image["criteria"], &image["nodeCount"]),
        (&json!("critical"), &json!(["1.1.1"]), &json!(1))
    );
    let node = &image["nodes"][0];
    assert!(node["html"].as_str().unwrap().contains("ship.png") && node["why"][0].is_string(), "{node}");
    assert_eq!(issue(&answer, "color-contrast")["nodes"][0]["target"], json!(["p"]));
    let inner = &issue(&answer, "button-name")["nodes"][0];
    assert_eq!(inner["target"], json!(["iframe", "button"]), "in the frame");
    assert!(inner["box"]["y"].as_f64().unwrap() > 50.0, "on the page, not in the frame: {inner}");
    assert_eq!(answer["pages"][0]["status"], 200);
    assert_eq!(
        answer["blocked"][0]["url"], "https://cdn.example/x.png",
        "a page of the root reaches the root alone: {answer}"
    );
    let record = bench.place.json(&["audit", "tail", "-n", "1", "--output", "json"]);
    assert_eq!(record[0]["confinement"], "full", "{record}");
    assert_eq!(bench.dirt(), "?? node_modules/\n", "nothing is written");
}

#[test]
fn a11y_scan_keeps_apart_what_somebody_has_to_look_at() {
    let Some(bench) = site() else { return };
    bench.put(
        "site/gradient.html",
        "<!doctype html><html lang=en><title>Gradient</title><main><h1>Gradient</h1>\
         <p style=\"background: linear-gradient(#000, #fff); color: #888\">Who can read this?</p></main>",
    );
    let mut session = bench.serve();
    let answer = session.ok("a11y_scan", json!({ "url": "root:site/gradient.html" }));
    assert_eq!((&answer["issueCount"], &answer["success"]), (&json!(0), &json!(true)), "{answer:#}");
    let doubt = &answer["incomplete"][0];
    assert_eq!((&doubt["id"], &doubt["nodeCount"]), (&json!("color-contrast"), &json!(1)), "{doubt:#}");
    assert_eq!(doubt["nodes"][0]["target"], json!(["p"]), "{doubt:#}");
    assert!(answer["message"].as_str().unwrap().contains("1 rule to be looked at"), "{answer:#}");
}

#[test]
fn a11y_scan_looks_where_how_and_for_what_it_is_told() {
    let Some(bench) = site() else { return };
    bench.put("site/named.html", NAMED);
    bench.put("site/fine.html", "<!doctype html><html lang=en><title>fine</title><main><h1>fine</h1></main>");
    let mut session = bench.serve();
    let page = "root:site/index.html";
    let mut scan = |arguments: Value| {
        let mut all = json!({ "url": page });
        all.as_object_mut().unwrap().extend(arguments.as_object().unwrap().clone());
        session.ok("a11y_scan", all)
    };
    assert!(
        !ids(&scan(json!({ "scheme": "dark" }))).contains(&"color-contrast"),
        "the dark one has contrast"
    );
    assert_eq!(ids(&scan(json!({ "tags": ["wcag143"] }))), ["color-contrast"]);
    assert!(!ids(&scan(json!({ "rules": { "color-contrast": false } }))).contains(&"color-contrast"));
    assert_eq!(ids(&scan(json!({ "include": [".faint"] }))), ["color-contrast"]);
    assert!(!ids(&scan(json!({ "exclude": ["img"] }))).contains(&"image-alt"));
    let acted = scan(json!({ "actions": ["click #more", "wait input"] }));
    assert_eq!(issue(&acted, "label")["nodes"][0]["target"], json!(["input"]), "{acted}");
    assert_eq!(scan(json!({ "threshold": "critical", "tags": ["wcag143"] }))["success"], true);
    let narrow = scan(json!({ "viewport": { "width": 320, "height": 600 }, "tags": ["wcag111"] }));
    let wide = scan(json!({ "tags": ["wcag111"] }));
    assert!(narrow["issues"].is_array() && wide["issues"].is_array());
    assert_eq!(ids(&scan(json!({ "url": "root:site/named.html" }))), ["image-alt"]);
    let several = scan(json!({ "urls": ["root:site/fine.html"], "wait": "idle" }));
    let pages = several["pages"].as_array().unwrap();
    assert_eq!((pages[1]["issueCount"].as_u64(), pages.len()), (Some(0), 2), "{several}");
}

#[test]
fn a11y_scan_holds_to_a_baseline_until_its_day() {
    let Some(bench) = site() else { return };
    let entry = |target: &str, rule: &str, day: &str| json!({ "rule": rule, "page": "root:site/index.html", "target": target, "expires": day, "reason": "known" });
    let baseline = json!({ "version": 1, "entries": [
        entry("p", "color-contrast", "2999-01-01"),
        entry("iframe | button", "button-name", "2020-01-01"),
        entry("#gone", "image-alt", "2999-01-01"),
    ]});
    bench.put("a11y.json", &baseline.to_string());
    bench.put("gatewright.toml", "[a11y]\nthreshold = \"critical\"\n");
    let mut session = bench.serve();
    let answer = session.ok("a11y_scan", json!({ "url": "root:site/index.html", "baseline": "a11y.json" }));
    assert_eq!(answer["baseline"], json!({ "suppressed": 1, "expired": 1, "gone": 1 }), "{answer}");
    assert!(!ids(&answer).contains(&"color-contrast") && ids(&answer).contains(&"button-name"));
    bench.put("a11y.json", "{ \"version\": 1, \"entries\": [{ \"rule\": \"x\" }] }");
    let wrong = session.fails("a11y_scan", json!({ "url": "root:site/index.html", "baseline": "a11y.json" }));
    assert_eq!(
        (&wrong["code"], &wrong["affectedFiles"]),
        (&json!("invalid_argument"), &json!(["a11y.json"]))
    );
}

/// A server of this machine's that answers every path with a page.
fn server() -> std::net::SocketAddr {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for caller in listener.incoming() {
            let mut caller = caller.unwrap();
            let mut head = [0; 4096];
            let read = caller.read(&mut head).unwrap_or(0);
            let asked = String::from_utf8_lossy(&head[..read]).into_owned();
            let (status, body) = if asked.starts_with("GET /inward") {
                ("302 Found\r\nLocation: http://169.254.169.254/", String::new())
            } else {
                (
                    "200 OK",
                    "<!doctype html><html lang=en><title>t</title><main><h1>t</h1><img src=x></main>"
                        .to_owned(),
                )
            };
            let _ = write!(
                caller,
                "HTTP/1.1 {status}\r\nContent-Type: text/html\r\nContent-Length: {}\r\n\r\n{body}",
                body.len()
            );
        }
    });
    address
}

#[test]
fn n02_n04_a11y_scan_reaches_loopback_for_the_local_user_and_no_metadata() {
    let Some(bench) = site() else { return };
    let address = server();
    let mut session = bench.serve();
    let answer = session.ok("a11y_scan", json!({ "url": format!("http://{address}/") }));
    assert_eq!((ids(&answer), &answer["pages"][0]["status"]), (vec!["image-alt"], &json!(200)), "{answer}");
    for url in [
        format!("http://{address}/inward"),
        "http://169.254.169.254/latest/".into(),
        "http://10.0.0.1/".into(),
    ] {
        let fault = session.fails("a11y_scan", json!({ "url": url }));
        assert_eq!(
            (&fault["type"], &fault["code"]),
            (&json!("policy"), &json!("forbidden")),
            "{url}: {fault}"
        );
    }
    for url in ["file:///etc/passwd", "javascript:alert(1)", "nonsense", "root:../x", "root:/etc/passwd"] {
        let fault = session.fails("a11y_scan", json!({ "url": url }));
        assert!(
            ["invalid_argument", "path_not_allowed", "not_found"].contains(&fault["code"].as_str().unwrap()),
            "{url}: {fault}"
        );
    }
    let closed = session.fails("a11y_scan", json!({ "url": "http://127.0.0.1:1/" }));
    assert_eq!(closed["code"], "not_found", "{closed}");
}

#[test]
fn a11y_scan_without_a_browser_looks_at_markup_and_says_what_it_cannot_decide() {
    let bench = Bench::new(&[("a.html", "<!doctype html>\n<html lang=en>\n<body><main><h1>x</h1></main>")]);
    bench.place.configure("[browser]\nprogram = \"/nowhere/chromium\"\n");
    let mut session = bench.serve();
    let answer = session.ok("a11y_scan", json!({ "url": "root:a.html" }));
    assert_eq!(
        (&answer["mode"], &answer["engine"]["name"], &answer["success"]),
        (&json!("static"), &json!("static"), &json!(false)),
        "{answer}"
    );
    assert_eq!(issue(&answer, "document-title")["nodes"][0]["line"], 2);
    assert!(answer["undecided"].as_array().unwrap().contains(&json!("color-contrast")));
    let asked = session.fails("a11y_scan", json!({ "url": "root:a.html", "mode": "browser" }));
    assert_eq!(asked["code"], "tool_execution_failed", "{asked}");
    let acted = session.fails("a11y_scan", json!({ "url": "root:a.html", "mode": "static", "wait": "idle" }));
    assert_eq!(acted["code"], "invalid_argument");
    let web = session.fails("a11y_scan", json!({ "url": "https://example.com/", "mode": "static" }));
    assert_eq!(web["code"], "invalid_argument");
    let none = session.fails("a11y_scan", json!({ "url": "root:none/*.html" }));
    assert_eq!(none["code"], "not_found");
}

#[test]
fn a11y_scan_of_tokens_checks_every_declared_pair_in_every_mode() {
    let bench = Bench::new(&[
        (
            "tokens/c.json",
            r##"{ "c": { "$type": "color", "ink": { "$value": "#111111" }, "page": { "$value": "#ffffff" } } }"##,
        ),
        ("dark.json", r##"{ "c": { "$type": "color", "page": { "$value": "#222222" } } }"##),
        (
            "gatewright.toml",
            "[[tokens.modes]]\nname = \"dark\"\nsources = [\"dark.json\"]\n[[tokens.contrast]]\nforeground = \"c.ink\"\nbackground = \"c.page\"\n",
        ),
    ]);
    let mut session = bench.serve();
    let answer = session.ok("a11y_scan", json!({ "url": "tokens:tokens" }));
    assert_eq!((&answer["success"], &answer["issueCount"]), (&json!(false), &json!(1)), "{answer}");
    let pairs = answer["contrast"].as_array().unwrap();
    assert_eq!(
        (pairs.len(), &pairs[0]["mode"], &pairs[0]["passes"], &pairs[1]["passes"]),
        (2, &json!("dark"), &json!(false), &json!(true))
    );
    assert!((pairs[1]["ratio"].as_f64().unwrap() - 18.88).abs() < 0.01, "{answer}");
    let both = session.fails("a11y_scan", json!({ "url": "tokens:tokens", "urls": ["root:x"] }));
    assert_eq!(both["code"], "invalid_argument");
}

#[test]
fn setup_fetches_axe_core_once_and_takes_nothing_else_for_it() {
    let Some(axe) = installed("axe-core", "npm/design/node_modules/axe-core/axe.min.js") else { return };
    let package = |script: &[u8]| {
        let gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        let mut tar = tar::Builder::new(gzip);
        for (name, bytes) in [("package/axe.min.js", script), ("package/LICENSE", &b"MPL-2.0"[..])] {
            let mut header = tar::Header::new_gnu();
            header.set_size(bytes.len() as u64);
            header.set_mode(0o644);
            header.set_cksum();
            tar.append_data(&mut header, name, bytes).unwrap();
        }
        tar.into_inner().unwrap().finish().unwrap()
    };
    let bench = Bench::new(&[(
        "a.html",
        "<!doctype html><html lang=en><title>t</title><main><h1>x</h1><img src=x></main>",
    )]);
    let good = package(&std::fs::read(axe).unwrap());
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let registry = format!("http://{}", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for caller in listener.incoming() {
            let mut caller = caller.unwrap();
            let mut head = [0; 4096];
            let read = caller.read(&mut head).unwrap_or(0);
            let is_asked = head[..read].starts_with(b"GET /axe-core/-/axe-core-4.14.1.tgz ");
            let (status, body) =
                if is_asked { ("200 OK", good.clone()) } else { ("404 Not Found", Vec::new()) };
            let _ = write!(
                caller,
                "HTTP/1.1 {status}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
                body.len()
            );
            let _ = caller.write_all(&body);
        }
    });
    let wrong = bench.place.scratch.path().join("wrong.tgz");
    std::fs::write(&wrong, package(b"window.axe = { pass: true }")).unwrap();
    let (_, message) = bench.place.fails(&["setup", "a11y", "--from", wrong.to_str().unwrap()]);
    assert!(message.contains("no release of axe-core"), "{message}");
    let (_, message) = bench.place.fails(&["setup", "a11y", "--registry", &format!("{registry}/none")]);
    assert!(message.contains("answered 404") && message.contains("--from"), "{message}");
    assert!(
        bench.place.ok(&["setup", "a11y", "--registry", &registry]).starts_with("axe-core 4.14.1 is in ")
    );
    let doctor = bench.place.run(&["doctor"]);
    assert!(String::from_utf8_lossy(&doctor.stdout).contains("axe-core is set up"), "{doctor:?}");
    if std::path::Path::new("/usr/lib/chromium/chromium-headless-shell").exists() {
        let answer = bench.serve().ok("a11y_scan", json!({ "url": "root:a.html" }));
        assert_eq!(
            (&answer["engine"]["from"], ids(&answer)),
            (&json!("setup"), vec!["image-alt"]),
            "{answer}"
        );
    }
}

#[test]
fn a11y_scan_leaves_a_report_that_only_its_owner_reads() {
    let Some(bench) = site() else { return };
    let mut session = bench.serve();
    let answer = session.ok("a11y_scan", json!({ "url": "root:site/index.html", "screenshots": true }));
    let uri = answer["report"].as_str().unwrap();
    let mut read = |uri: &str| session.0.request("resources/read", json!({ "uri": uri }));
    let index = read(uri)["result"]["contents"][0]["text"].as_str().unwrap().to_owned();
    assert!(
        index.contains("/report.html`: text/html") && index.contains("/page-1.png`: image/png"),
        "{index}"
    );
    let sarif = read(&format!("{uri}/report.sarif"));
    let sarif: Value =
        serde_json::from_str(sarif["result"]["contents"][0]["text"].as_str().unwrap()).unwrap();
    assert_eq!(
        (&sarif["version"], &sarif["runs"][0]["tool"]["driver"]["name"]),
        (&json!("2.1.0"), &json!("axe-core"))
    );
    let results = sarif["runs"][0]["results"].as_array().unwrap();
    let image = results.iter().find(|r| r["ruleId"] == "image-alt").unwrap();
    assert_eq!(image["level"], "error");
    assert_eq!(image["locations"][0]["physicalLocation"]["artifactLocation"]["uri"], "site/index.html");
    let picture = read(&format!("{uri}/page-1.png"));
    let content = &picture["result"]["contents"][0];
    assert_eq!(content["mimeType"], "image/png");
    assert!(content["blob"].as_str().unwrap().starts_with("iVBORw0KGgo"), "a PNG");
    let page =
        read(&format!("{uri}/report.html"))["result"]["contents"][0]["text"].as_str().unwrap().to_owned();
    assert!(
        page.contains("class=\"mark\"")
            && page.contains("data:image/png;base64,")
            && !page.contains("<script")
    );
    assert!(read(&format!("{uri}/none")).get("error").is_some());
    assert!(read("report://report_00000000000000000000000000000000").get("error").is_some());
    drop(session);
    let out = bench.place.scratch.path().join("out");
    let written = bench.place.ok(&["report", "export", "last", out.to_str().unwrap()]);
    assert_eq!(written.lines().count(), 3, "{written}");
    assert_eq!(std::fs::read_to_string(out.join("report.html")).unwrap(), page);
    let (_, again) = bench.place.fails(&["report", "export", uri, out.to_str().unwrap()]);
    assert!(again.contains("empty or new"), "{again}");
    assert!(bench.place.ok(&["report", "list"]).contains("Accessibility of root:site/index.html"));
    let mut session = bench.serve();
    // Our own page keeps what it asks of others.
    bench.put("report.html", &page);
    let own = session.ok("a11y_scan", json!({ "url": "root:report.html" }));
    assert_eq!((&own["issueCount"], &own["blocked"]), (&json!(0), &Value::Null), "{own}");
    let dark = session.ok("a11y_scan", json!({ "url": "root:report.html", "scheme": "dark" }));
    assert_eq!(dark["issueCount"], 0, "{dark}");
}

#[test]
fn a11y_scan_looks_at_stories_of_a_storybook_that_was_built_and_one_that_runs() {
    let Some(bench) = site() else { return };
    let frame = "<!doctype html><html lang=en><title>story</title><body><main><h1 id=h></h1></main><script>
        const id = new URLSearchParams(location.search).get('id'); h.textContent = id;
        if (id === 'button--bare') document.querySelector('main').append(document.createElement('button'));
        document.body.className = 'sb-show-main'</script>";
    let index = r#"{"v":5,"entries":{"button--bare":{"type":"story"},"button--full":{"type":"story"},"button--docs":{"type":"docs"},"card--big":{"type":"story"}}}"#;
    bench.put("storybook/index.html", "<!doctype html><title>manager</title>");
    bench.put("storybook/iframe.html", frame);
    bench.put("storybook/index.json", index);
    let mut session = bench.serve();
    let answer = session.ok("a11y_scan", json!({ "url": "root:storybook", "stories": ["button--*"] }));
    let pages: Vec<&str> =
        answer["pages"].as_array().unwrap().iter().map(|p| p["url"].as_str().unwrap()).collect();
    assert_eq!(
        pages,
        [
            "root:storybook/iframe.html?id=button--bare&viewMode=story",
            "root:storybook/iframe.html?id=button--full&viewMode=story"
        ],
        "{answer}"
    );
    assert_eq!(
        (ids(&answer), &answer["issues"][0]["nodes"][0]["page"]),
        (vec!["button-name"], &json!(pages[0]))
    );
    let none = session.fails("a11y_scan", json!({ "url": "root:storybook", "stories": ["nothing"] }));
    assert_eq!(none["code"], "not_found", "{none}");
    let running = serve(move |asked| match asked {
        "/index.json" => index.to_owned(),
        _ => frame.to_owned(),
    });
    let answer =
        session.ok("a11y_scan", json!({ "url": format!("http://{running}/?path=/x"), "stories": ["*"] }));
    assert_eq!(
        (answer["pages"].as_array().unwrap().len(), ids(&answer)),
        (3, vec!["button-name"]),
        "{answer}"
    );
}

/// A server that answers each path with what it is told, and adds what it was sent.
fn serve(answer: impl Fn(&str) -> String + Send + 'static) -> std::net::SocketAddr {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for caller in listener.incoming() {
            let mut caller = caller.unwrap();
            let mut head = [0; 8192];
            let read = caller.read(&mut head).unwrap_or(0);
            let asked = String::from_utf8_lossy(&head[..read]).into_owned();
            let path = asked.split(' ').nth(1).unwrap_or("/").split('?').next().unwrap_or("/").to_owned();
            let mut body = answer(&path);
            // Which of them came with the secret: what they were would be taken out of the answer.
            let sent = ["x-key", "cookie"].map(|name| {
                let line = asked.lines().find(|line| line.to_lowercase().starts_with(&format!("{name}:")));
                format!("{name}-{}", line.is_some_and(|line| line.ends_with("open-sesame-4711")))
            });
            body = body.replace("SENT", &sent.join(" "));
            let mime = match path.rsplit('.').next() {
                Some("json") => "application/json",
                Some("xml") => "text/xml",
                _ => "text/html",
            };
            let _ = write!(
                caller,
                "HTTP/1.1 200 OK\r\nContent-Type: {mime}\r\nContent-Length: {}\r\n\r\n{body}",
                body.len()
            );
        }
    });
    address
}

#[test]
fn a11y_scan_follows_a_sitemap() {
    let Some(bench) = site() else { return };
    let place = std::sync::Arc::new(std::sync::OnceLock::<String>::new());
    let known = std::sync::Arc::clone(&place);
    let address = serve(move |asked| match asked {
        "/sitemap.xml" => format!(
            "<sitemapindex><sitemap><loc>{}/pages.xml</loc></sitemap></sitemapindex>",
            known.get().unwrap()
        ),
        "/pages.xml" => {
            let base = known.get().unwrap();
            format!("<urlset><url><loc>{base}/a</loc></url><url><loc>{base}/b</loc></url></urlset>")
        }
        _ => "<!doctype html><html lang=en><title>t</title><main><h1>t</h1></main>".to_owned(),
    });
    place.set(format!("http://{address}")).unwrap();
    let mut session = bench.serve();
    let answer =
        session.ok("a11y_scan", json!({ "url": format!("http://{address}/sitemap.xml"), "sitemap": true }));
    assert_eq!(
        (answer["pages"].as_array().unwrap().len(), &answer["issueCount"]),
        (2, &json!(0)),
        "{answer}"
    );
    let file = session.fails("a11y_scan", json!({ "url": "root:site/index.html", "sitemap": true }));
    assert_eq!(file["code"], "invalid_argument");
    let none = session.fails("a11y_scan", json!({ "url": format!("http://{address}/a"), "sitemap": true }));
    assert_eq!(none["code"], "invalid_source", "{none}");
}

#[test]
fn a11y_scan_sends_secrets_to_their_origins_alone_and_shows_them_nowhere() {
    let Some(bench) = site() else { return };
    let page = |_: &str| {
        "<!doctype html><html lang=en><title>t</title><main><h1>t</h1><img src=x class='SENT'></main>"
            .to_owned()
    };
    let (own, other) = (serve(page), serve(page));
    bench
        .place
        .configure(&format!("[secrets.staging]\nenv = \"STAGING_KEY\"\norigins = [\"http://{own}\"]\n"));
    let bench = bench.telling("STAGING_KEY", "open-sesame-4711".into());
    let mut session = bench.serve();
    let scan = |at: std::net::SocketAddr| json!({ "url": format!("http://{at}/"), "headers": { "x-key": "staging" }, "cookies": { "session": "staging" } });
    let answer = session.ok("a11y_scan", scan(own));
    assert_eq!(
        issue(&answer, "image-alt")["nodes"][0]["html"],
        "<img src=\"x\" class=\"x-key-true cookie-true\">"
    );
    assert!(!answer.to_string().contains("open-sesame"), "it is nowhere in the answer: {answer}");
    let answer = session.ok("a11y_scan", scan(other));
    let html = &issue(&answer, "image-alt")["nodes"][0]["html"];
    assert_eq!(html, "<img src=\"x\" class=\"x-key-false cookie-false\">", "another origin gets nothing");
    let unknown =
        session.fails("a11y_scan", json!({ "url": format!("http://{own}/"), "headers": { "x": "nothing" } }));
    assert_eq!(unknown["code"], "not_found", "{unknown}");
    drop(session);
    let record = bench.place.ok(&["audit", "export"]);
    assert!(!record.contains("open-sesame"), "nor in the record");
}

#[test]
fn n06_a_proxy_of_the_environment_is_not_asked_by_the_browser() {
    let Some(bench) = site() else { return };
    let proxy = Server::new();
    let bench = ["HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "ALL_PROXY"]
        .into_iter()
        .fold(bench, |bench, name| bench.telling(name, proxy.url.clone().into()));
    let answer = bench.serve().ok("a11y_scan", json!({ "url": format!("http://{}/", server()) }));
    assert_eq!(answer["pages"][0]["status"], 200, "{answer}");
    assert_eq!(proxy.asked(), 0);
}

/// A server that counts who asks it.
struct Server {
    url: String,
    count: std::sync::Arc<std::sync::atomic::AtomicUsize>,
}

impl Server {
    fn new() -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let count = std::sync::Arc::<std::sync::atomic::AtomicUsize>::default();
        let counted = std::sync::Arc::clone(&count);
        std::thread::spawn(move || {
            for _ in listener.incoming() {
                counted.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            }
        });
        Self { url, count }
    }

    fn asked(&self) -> usize {
        self.count.load(std::sync::atomic::Ordering::Relaxed)
    }
}
