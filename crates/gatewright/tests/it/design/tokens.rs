//! What a branch changes of the tokens.

use serde_json::{Value, json};

use super::Bench;

const BASE: &str = r##"{
  "color": {
    "$type": "color",
    "red": { "$value": "#ff0000" },
    "ink": { "$value": "#111111" },
    "old": { "$value": "#00ff00" },
    "primary": { "$value": "{color.red}" }
  },
  "space": { "$type": "dimension", "small": { "$value": { "value": 4, "unit": "px" } } }
}"##;

const DARK: &str = r##"{ "color": { "$type": "color", "ink": { "$value": "#eeeeee" } } }"##;

/// A branch on which `color.old` is gone, `color.red` is called `color.red-500`, space is wider, ink is paler in the dark,
/// and one token is new.
fn branch() -> Bench {
    let bench = Bench::new(&[
        ("tokens/base.json", BASE),
        ("themes/dark.json", DARK),
        ("gatewright.toml", "[[tokens.modes]]\nname = \"dark\"\nsources = [\"themes/dark.json\"]\n"),
        (
            "src/app.css",
            ".a { color: var(--color-old); }\n.b { color: var(--color-older);\n  margin: var(--space-small) }\n",
        ),
        ("src/theme.ts", "import { token } from './tokens';\nexport const red = token('color.red');\n"),
        ("dist/app.css", ".a{color:var(--color-old)}\n"),
        (".gitignore", "dist/\n"),
    ]);
    bench.git(&["switch", "--quiet", "--create", "feature"]);
    let after = BASE
        .replace("\"red\"", "\"red-500\"")
        .replace("{color.red}", "{color.red-500}")
        .replace("    \"old\": { \"$value\": \"#00ff00\" },\n", "    \"sky\": { \"$value\": \"#0088ff\" },\n")
        .replace("\"value\": 4", "\"value\": 6");
    bench.put("tokens/base.json", &after);
    bench.put("themes/dark.json", &DARK.replace("eeeeee", "cccccc"));
    bench
}

fn change<'v>(answer: &'v Value, id: &str) -> &'v Value {
    let changes = answer["changes"].as_array().unwrap();
    changes.iter().find(|c| c["id"] == id).unwrap_or_else(|| panic!("{id}: {answer}"))
}

#[test]
fn tokens_diff_says_what_a_branch_changes_in_every_mode_and_who_uses_it() {
    let bench = branch();
    let base = bench.git(&["rev-parse", "main"]).trim().to_owned();
    let mut session = bench.serve();
    let answer = session.ok("tokens_diff", json!({ "source": "tokens" }));
    assert_eq!(
        (answer["from"].as_str(), answer["to"].as_str()),
        (Some(&*base), Some("worktree")),
        "{answer}"
    );
    let counts =
        ["removedCount", "renamedCount", "changedCount", "addedCount"].map(|n| answer[n].as_u64().unwrap());
    assert_eq!(counts, [1, 1, 2, 1], "{answer}");
    assert_eq!(answer["bump"], "major");
    let old = change(&answer, "color.old");
    assert_eq!(
        (&old["kind"], &old["bump"], &old["values"][0]["before"]),
        (&json!("removed"), &json!("major"), &json!("#00ff00"))
    );
    assert_eq!(
        old["consumers"],
        json!([{ "path": "src/app.css", "line": 1 }]),
        "neither a longer name nor what git ignores: {old}"
    );
    let renamed = change(&answer, "color.red-500");
    assert_eq!((&renamed["kind"], &renamed["was"]), (&json!("renamed"), &json!("color.red")));
    assert_eq!(renamed["consumers"][0], json!({ "path": "src/theme.ts", "line": 2 }), "{renamed}");
    let ink = change(&answer, "color.ink");
    assert_eq!(ink["values"].as_array().unwrap().len(), 1, "only where it differs: {ink}");
    assert_eq!(ink["values"][0]["mode"], "dark");
    assert!(ink["values"][0]["difference"].as_f64().unwrap() > 5.0, "{ink}");
    let space = change(&answer, "space.small");
    assert_eq!(
        (&space["what"], &space["values"][0]["difference"]),
        (&json!(["value"]), &json!(2.0)),
        "{space}"
    );
    assert_eq!((&space["bump"], &space["consumerCount"]), (&json!("patch"), &json!(1)));
    assert!(
        answer["message"].as_str().unwrap().contains("2 tokens removed or renamed, still used by name"),
        "{answer}"
    );
    assert_eq!(change(&answer, "color.sky")["bump"], "minor");
    let ids: Vec<&str> =
        answer["changes"].as_array().unwrap().iter().map(|c| c["id"].as_str().unwrap()).collect();
    assert!(!ids.contains(&"color.primary"), "that it follows a renamed token is no change: {ids:?}");
}

#[test]
fn tokens_diff_compares_revisions_pages_and_says_which_side_is_wrong() {
    let bench = branch();
    bench.commit("feat: other tokens");
    let mut session = bench.serve();
    let answer = session.ok(
        "tokens_diff",
        json!({ "source": "tokens/*.json", "from": "main", "to": "feature", "consumers": false }),
    );
    assert_eq!((answer["changes"].as_array().unwrap().len(), answer.get("searched")), (5, None), "{answer}");
    let back = session.ok("tokens_diff", json!({ "source": "tokens", "from": "feature", "to": "main" }));
    assert_eq!((&back["addedCount"], &back["removedCount"]), (&json!(1), &json!(1)));
    assert_eq!(change(&back, "color.red")["was"], "color.red-500");
    let quiet = session.ok("tokens_diff", json!({ "source": "tokens", "consumers": false }));
    assert!(quiet["changes"][0].get("consumerCount").is_none(), "{quiet}");
    let page = session.ok("tokens_diff", json!({ "source": "tokens", "limit": 2 }));
    assert_eq!(
        (page["changes"].as_array().unwrap().len(), &page["truncated"]["total"]),
        (2, &json!(5)),
        "{page}"
    );
    let none = session.ok("tokens_diff", json!({ "source": "tokens", "from": "HEAD" }));
    assert_eq!((&none["bump"], &none["message"]), (&json!("none"), &json!("No token differs.")));

    let unknown = session.fails("tokens_diff", json!({ "source": "tokens", "from": "nowhere" }));
    assert_eq!(unknown["code"], "not_found", "{unknown}");
    let option = session.fails("tokens_diff", json!({ "source": "tokens", "from": "--output=x" }));
    assert_eq!(option["code"], "invalid_argument", "{option}");
    let missing = session.fails("tokens_diff", json!({ "source": "none.json" }));
    assert!(missing["message"].as_str().unwrap().starts_with("in "), "{missing}");
    bench.put("tokens/base.json", "{ \"a\": { \"$value\": 1 } }");
    let broken = session.fails("tokens_diff", json!({ "source": "tokens" }));
    assert_eq!(broken["code"], "invalid_source");
    assert!(broken["message"].as_str().unwrap().starts_with("in the work tree: 1 error"), "{broken}");
}

#[test]
fn tokens_diff_without_a_repository_says_so() {
    let place = super::super::Place::new();
    let mut session = super::super::bench::Session::over(&mut place.command());
    let fault = session.fails("tokens_diff", json!({ "source": "tokens" }));
    assert_eq!(fault["code"], "not_found", "{fault}");
    assert!(fault["message"].as_str().unwrap().contains("no git repository"), "{fault}");
}
