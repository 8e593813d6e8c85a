//! Pages against pictures of them.

use serde_json::{Value, json};

use super::Bench;
use crate::skip;

fn site() -> Option<Bench> {
    if !std::path::Path::new("/usr/lib/chromium/chromium-headless-shell").exists() {
        skip("pictures of pages (chromium-headless-shell is not installed)");
        return None;
    }
    let page = "<!doctype html><html lang=en><title>t</title><style>body{margin:0}p{margin:0;height:40px;background:#eee}\
        @keyframes m{to{transform:translateX(300px)}}.box{width:20px;height:20px;background:#00f;animation:m 30s infinite}\
        @media(prefers-color-scheme:dark){body{background:#111}}</style><p>Tides</p><div class=box></div><span class=clock></span>\
        <script>document.querySelector('.clock').textContent = performance.now()</script>";
    Some(Bench::new(&[("site/a.html", page), ("site/b.html", "<!doctype html><title>b</title><p>b")]))
}

fn page<'v>(answer: &'v Value, url: &str) -> &'v Value {
    answer["pages"]
        .as_array()
        .unwrap()
        .iter()
        .find(|p| p["url"] == url)
        .unwrap_or_else(|| panic!("{url}: {answer}"))
}

#[test]
fn visual_diff_proposes_pictures_and_then_says_what_changed_by_how_much_and_where() {
    let Some(bench) = site() else { return };
    let mut session = bench.serve();
    let base =
        json!({ "url": "root:site/*.html", "mask": [".clock"], "viewport": { "width": 400, "height": 300 } });
    let with = |more: Value| {
        let mut all = base.clone();
        all.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        all
    };
    let first = session.ok("visual_diff", base.clone());
    assert_eq!(
        (&first["newCount"], &first["changedCount"], &first["status"]),
        (&json!(2), &json!(0), &json!("completed")),
        "{first}"
    );
    let planned = session.ok("visual_diff", with(json!({ "update": true })));
    assert_eq!(planned["status"], "proposed", "{planned}");
    assert_eq!(bench.dirt(), "", "a rehearsal draws nothing");
    let plan = planned["plan"]["id"].clone();
    let applied = session.ok("visual_diff", with(json!({ "update": true, "apply": true, "plan": plan })));
    assert_eq!(applied["status"], "completed", "the same pictures again: {applied}");
    assert!(bench.place.root().join("visual/site-a.html.light.400x300.png").is_file());
    let same = session.ok("visual_diff", base.clone());
    assert_eq!(
        (&same["changedCount"], &same["newCount"], &same["renderer"], &same["success"]),
        (&json!(0), &json!(0), &json!("same"), &json!(true)),
        "{same}"
    );
    assert!(same.get("report").is_none());
    let exact = session.ok("visual_diff", with(json!({ "method": "exact" })));
    assert_eq!(exact["changedCount"], 0, "to the pixel: {exact}");

    let text = bench.read("site/a.html").unwrap();
    bench.put("site/a.html", &text.replace("background:#eee", "background:#f9c"));
    let changed = session.ok("visual_diff", base.clone());
    assert_eq!((&changed["changedCount"], &changed["success"]), (&json!(1), &json!(false)), "{changed}");
    let a = page(&changed, "root:site/a.html");
    assert_eq!(
        (&a["state"], &a["box"]["y"], &a["box"]["height"], &a["box"]["width"]),
        (&json!("changed"), &json!(0), &json!(40), &json!(400)),
        "{a}"
    );
    assert_eq!(page(&changed, "root:site/b.html")["state"], "same");
    let report = changed["report"].as_str().unwrap();
    let read = session.0.request(
        "resources/read",
        json!({ "uri": format!("{report}/site-a.html.light.400x300-difference.png") }),
    );
    assert_eq!(read["result"]["contents"][0]["mimeType"], "image/png");
    let loose = session.ok("visual_diff", with(json!({ "threshold": 0.5 })));
    assert_eq!(loose["changedCount"], 0, "{loose}");
    let nearly = text.replace("background:#eee", "background:#efefee");
    bench.put("site/a.html", &nearly);
    assert_eq!(session.ok("visual_diff", base.clone())["changedCount"], 0, "nobody sees it");
    assert_eq!(session.ok("visual_diff", with(json!({ "method": "exact" })))["changedCount"], 1);
    assert_eq!(session.ok("visual_diff", with(json!({ "scheme": "dark" })))["newCount"], 2, "other pictures");
    assert_eq!(session.ok("visual_diff", with(json!({ "base": "other" })))["newCount"], 2);
    let waited = with(
        json!({ "url": "root:site/b.html", "wait": "50", "actions": ["press Tab"], "urls": ["root:site/a.html"] }),
    );
    assert_eq!(session.ok("visual_diff", waited)["pages"].as_array().unwrap().len(), 2);
}

#[test]
fn visual_diff_compares_pages_with_what_they_were_at_a_revision() {
    let Some(bench) = site() else { return };
    bench.put("site/old.html", "<!doctype html><title>old</title><p>old");
    bench
        .put("book/index.json", r#"{"v":5,"entries":{"a--one":{"type":"story"},"a--two":{"type":"story"}}}"#);
    bench.put(
        "book/iframe.html",
        "<!doctype html><title>s</title><body class=sb-show-main><script>document.write(location.search)</script>",
    );
    bench.commit("As it was");
    let mut session = bench.serve();
    let ask = json!({ "url": "root:site", "since": "HEAD", "mask": [".clock"], "viewport": { "width": 400, "height": 300 } });
    let same = session.ok("visual_diff", ask.clone());
    assert_eq!(
        (&same["changedCount"], &same["newCount"], &same["renderer"], &same["success"]),
        (&json!(0), &json!(0), &json!("same"), &json!(true)),
        "{same}"
    );
    assert!(page(&same, "root:site/a.html").get("picture").is_none(), "no picture is kept: {same}");

    let text = bench.read("site/a.html").unwrap();
    bench.put("site/a.html", &text.replace("height:40px", "height:60px"));
    bench.put("site/new.html", "<!doctype html><title>new</title><p>new");
    std::fs::remove_file(bench.place.root().join("site/old.html")).unwrap();
    let changed = session.ok("visual_diff", ask);
    let states = ["a", "b", "new", "old"]
        .map(|name| page(&changed, &format!("root:site/{name}.html"))["state"].clone());
    assert_eq!(states, ["changed", "same", "new", "gone"].map(Value::from), "{changed}");
    assert_eq!(changed["success"], false);
    assert!(changed["report"].is_string(), "{changed}");
    assert_eq!(
        bench.dirt().lines().filter(|line| line.contains("visual/")).count(),
        0,
        "nothing is kept in the root"
    );

    let index = r#"{"v":5,"entries":{"a--one":{"type":"story"},"a--three":{"type":"story"}}}"#;
    bench.put("book/index.json", index);
    let stories = json!({ "url": "root:book/index.html", "stories": ["a--*"], "since": "HEAD" });
    bench.put("book/index.html", "<!doctype html><title>b</title>");
    let told = session.ok("visual_diff", stories);
    let states = ["one", "two", "three"].map(|name| {
        page(&told, &format!("root:book/iframe.html?id=a--{name}&viewMode=story"))["state"].clone()
    });
    assert_eq!(states, ["same", "gone", "new"].map(Value::from), "{told}");

    for (more, says) in [
        (json!({ "url": "root:site/b.html", "since": "HEAD", "update": true }), "update"),
        (json!({ "url": "root:site/b.html", "since": "no-such" }), "no-such"),
        (json!({ "url": "https://example.com/", "since": "HEAD" }), "example.com"),
    ] {
        let told = session.fails("visual_diff", more);
        assert!(told["message"].as_str().unwrap().contains(says), "{says}: {told}");
    }
}

#[test]
fn visual_diff_says_what_is_wrong_with_pictures_pages_and_arguments() {
    let Some(bench) = site() else { return };
    bench.put("visual/site-b.html.light.1280x800.png", "no picture");
    bench.put("visual/renderer.json", "{ \"browser\": \"Chrome/1\" }");
    let mut session = bench.serve();
    let broken = session.fails("visual_diff", json!({ "url": "root:site/b.html" }));
    assert_eq!(
        (&broken["code"], &broken["affectedFiles"][0]),
        (&json!("invalid_source"), &json!("visual/site-b.html.light.1280x800.png")),
        "{broken}"
    );
    let new = session.ok("visual_diff", json!({ "url": "root:site/a.html" }));
    assert_eq!(new["renderer"], "other", "{new}");
    for (arguments, code) in [
        (json!({ "url": "tokens:x" }), "invalid_argument"),
        (json!({ "url": "root:none.html" }), "not_found"),
        (json!({ "url": "root:site/a.html", "base": "../x" }), "path_not_allowed"),
        (json!({ "url": "root:site/a.html", "threshold": 2.0 }), "invalid_argument"),
        (json!({ "url": "root:site/a.html", "actions": ["dance"] }), "invalid_argument"),
        (json!({ "url": "http://169.254.169.254/" }), "forbidden"),
    ] {
        assert_eq!(session.fails("visual_diff", arguments.clone())["code"], code, "{arguments}");
    }
}
