//! Values that should be tokens.

use serde_json::{Value, json};

use super::Bench;

const TOKENS: &str = r##"{
  "color": { "$type": "color", "red": { "$value": "#ff0000" }, "sky": { "$value": "#0088ff" } },
  "text": { "danger": { "$value": "{color.red}" } },
  "space": { "$type": "dimension", "s": { "$value": "4px" }, "m": { "$value": "8px" } },
  "font": { "size": { "$type": "dimension", "s": { "$value": "14px" } } }
}"##;

const CSS: &str = "/* #f00 */\n.é { color: #f00; padding: 4px 9px; width: 14px; background: url(#f00) }\n.b { margin: var(--space-m); fill: RED }\n";

fn project() -> Bench {
    Bench::new(&[
        ("tokens/base.json", TOKENS),
        ("src/app.css", CSS),
        ("src/theme.scss", "@use '../lib/tokens' as t;\n.a { .b { font-size: 14px } } // 14px\n"),
        ("src/bare.scss", ".c { gap: 4px }\n"),
        ("src/less.less", "@x: 4px;\n.d { gap: 4px; top: @x }\n"),
        ("web/page.html", "<style>a { gap: 4px }</style>\n<p style='gap: 4px' title='4px'>\n"),
        (
            "web/App.vue",
            "<template><p :style=\"{ gap: '4px' }\"/></template>\n<style lang='scss'>a { gap: var(--space-m); b { gap: 4px } }</style>\n",
        ),
        ("web/Card.svelte", "<p style:gap=\"4px\"/>\n"),
        (
            "web/app.tsx",
            "export const a = <p style={{ gap: '4px', order: '4px' }}>4px</p>;\nconst b = { gap: '4px' };\n",
        ),
        ("dist/app.css", ".a { color: #f00 }\n"),
        (".gitignore", "dist/\n"),
    ])
}

fn replacements<'v>(answer: &'v Value, path: &str) -> Vec<(&'v str, &'v str)> {
    let all = answer["usages"].as_array().unwrap().iter().filter(|usage| usage["path"] == path);
    all.map(|u| (u["value"].as_str().unwrap(), u["replacement"].as_str().unwrap())).collect()
}

#[test]
fn tokens_usage_finds_values_by_property_and_writes_what_each_language_would() {
    let bench = project();
    let mut session = bench.serve();
    let answer = session.ok("tokens_usage", json!({ "source": "tokens" }));
    let of = |path: &str| replacements(&answer, path);
    assert_eq!(
        of("src/app.css"),
        [("#f00", "var(--text-danger)"), ("4px", "var(--space-s)"), ("RED", "var(--text-danger)")],
        "a size of fonts is no width: {answer}"
    );
    assert_eq!(of("src/theme.scss"), [("14px", "t.$font-size-s")]);
    assert_eq!(of("src/bare.scss"), [("4px", "$space-s")]);
    assert_eq!(of("src/less.less"), [("4px", "var(--space-s)")]);
    assert_eq!(of("web/page.html"), [("4px", "var(--space-s)"); 2]);
    assert_eq!(of("web/App.vue"), [("4px", "var(--space-s)"); 2]);
    assert_eq!(of("web/Card.svelte"), [("4px", "var(--space-s)")]);
    assert_eq!(of("web/app.tsx"), [("4px", "var(--space-s)")]);
    assert_eq!(of("dist/app.css"), [], "what git ignores");
    let first = &answer["usages"][0];
    assert_eq!(
        (&first["path"], &first["line"], &first["column"], &first["property"], &first["tokenId"]),
        (&json!("src/app.css"), &json!(2), &json!(13), &json!("color"), &json!("text.danger"))
    );
    assert_eq!((&first["distance"], first.get("leftOut")), (&json!(0.0), None));
    let bare = answer["usages"].as_array().unwrap().iter().find(|u| u["path"] == "src/bare.scss").unwrap();
    assert_eq!(bare["leftOut"], "unloaded", "{bare}");
    assert_eq!((&answer["usageCount"], &answer["replacedCount"]), (&json!(12), &json!(0)));
    assert_eq!(answer["coverage"], json!({ "tokens": 2, "hardcoded": 12, "unknown": 0 }));
    assert_eq!(
        (&answer["unusedTokens"], &answer["unusedCount"]),
        (&json!(["color.red", "color.sky", "text.danger", "space.s", "font.size.s"]), &json!(5))
    );
    assert_eq!(answer["searched"], json!({ "files": 8, "skipped": 0 }));
}

#[test]
fn tokens_usage_replaces_what_is_exact_and_nothing_else() {
    let bench = project();
    let mut session = bench.serve();
    let planned = session.ok("tokens_usage", json!({ "source": "tokens", "fix": true, "tolerance": 1.5 }));
    assert_eq!(
        (&planned["status"], &planned["replacedCount"]),
        (&json!("proposed"), &json!(11)),
        "{planned}"
    );
    let near = planned["usages"].as_array().unwrap().iter().find(|u| u["value"] == "9px").unwrap();
    assert_eq!(
        (&near["tokenId"], &near["distance"], &near["leftOut"]),
        (&json!("space.m"), &json!(1.0), &json!("inexact"))
    );
    assert_eq!(bench.dirt(), "!! dist/\n", "a rehearsal changes nothing");
    let applied = session.ok(
        "tokens_usage",
        json!({ "source": "tokens", "fix": true, "tolerance": 1.5, "apply": true, "plan": planned["plan"]["id"] }),
    );
    assert_eq!(applied["status"], "completed", "{applied}");
    assert_eq!(
        bench.read("src/app.css").unwrap(),
        "/* #f00 */\n.é { color: var(--text-danger); padding: var(--space-s) 9px; width: 14px; background: url(#f00) }\n.b { margin: var(--space-m); fill: var(--text-danger) }\n"
    );
    assert_eq!(
        bench.read("src/theme.scss").unwrap(),
        "@use '../lib/tokens' as t;\n.a { .b { font-size: t.$font-size-s } } // 14px\n"
    );
    assert_eq!(
        bench.read("web/app.tsx").unwrap(),
        "export const a = <p style={{ gap: 'var(--space-s)', order: '4px' }}>4px</p>;\nconst b = { gap: '4px' };\n"
    );
    assert_eq!(bench.read("src/bare.scss").unwrap(), ".c { gap: 4px }\n");
    let after = session.ok("tokens_usage", json!({ "source": "tokens", "fix": true }));
    assert_eq!((&after["usageCount"], &after["replacedCount"]), (&json!(1), &json!(0)), "{after}");
    assert_eq!(after["unusedTokens"], json!(["color.sky"]));
    let some =
        session.ok("tokens_usage", json!({ "source": "tokens", "paths": ["web/*.html", "src/less.less"] }));
    assert_eq!((&some["usageCount"], &some["searched"]["files"]), (&json!(0), &json!(2)), "{some}");
}

#[test]
fn tokens_usage_says_what_is_wrong_with_tokens_and_arguments() {
    let bench = project();
    bench.put("broken.json", "{ \"a\": { \"$value\": 1 } }");
    let mut session = bench.serve();
    for (arguments, code) in [
        (json!({ "source": "broken.json" }), "invalid_source"),
        (json!({ "source": "none" }), "not_found"),
        (json!({ "source": "tokens", "paths": ["dist"] }), "not_found"),
        (json!({ "source": "tokens", "paths": ["/etc/*.css"] }), "path_not_allowed"),
        (json!({ "source": "tokens", "tolerance": 99 }), "invalid_argument"),
        (json!({ "source": "tokens", "unknown": 1 }), "invalid_argument"),
    ] {
        assert_eq!(session.fails("tokens_usage", arguments.clone())["code"], code, "{arguments}");
    }
    let page = session.ok("tokens_usage", json!({ "source": "tokens", "limit": 3 }));
    assert_eq!((page["usages"].as_array().unwrap().len(), &page["truncated"]["total"]), (3, &json!(12)));
}
