//! Linting, formatting and types.

use serde_json::json;

use super::{bench, command, serve, text};

const ESLINT: &str = "export default [{ rules: { 'no-var': 'error', 'no-unused-vars': 'warn' } }];\n";

#[test]
fn nodejs_lint_finds_lists_and_fixes() {
    let Some(bench) = bench(&[
        ("package.json", "{ \"name\": \"x\", \"type\": \"module\" }\n"),
        ("eslint.config.mjs", ESLINT),
        ("src/good.js", "export const a = 1;\n"),
        ("src/bad.js", "var a = 1;\nconst b = 2;\nexport { a };\n"),
        ("bare/package.json", "{}\n"),
    ]) else {
        return;
    };
    let mut session = serve(&bench);
    let found = session.ok("nodejs_lint", json!({}));
    let first = &found["diagnostics"][0];
    assert_eq!(
        (
            found["success"].as_bool(),
            first["rule"].as_str(),
            first["file"].as_str(),
            first["line"].as_u64(),
            first["column"].as_u64(),
            first["fix"].as_bool()
        ),
        (Some(false), Some("no-var"), Some("src/bad.js"), Some(1), Some(1), Some(true)),
        "{found}"
    );
    assert_eq!(found["levels"], json!({ "errors": 1, "warnings": 1, "notes": 0 }), "{found}");
    assert_eq!(command(&found), "node node_modules/.bin/eslint -f json .");
    assert!(!text(&found).contains("```"), "{found}");
    for (format, line) in [
        ("unix", "src/bad.js:1:1: Unexpected var, use let or const instead. [error/no-var]"),
        ("compact", "src/bad.js: line 1, col 1, error - Unexpected var, use let or const instead. (no-var)"),
        ("stylish", "  1:1  error  Unexpected var, use let or const instead.  no-var"),
        ("json", "\"rule\": \"no-var\""),
    ] {
        let listed = session.ok("nodejs_lint", json!({ "format": format }));
        assert!(text(&listed).contains(line), "{format}: {listed}");
        assert_eq!(listed["diagnostics"], found["diagnostics"], "{format}");
    }
    assert_eq!(session.ok("nodejs_lint", json!({ "files": ["src/good.js"] }))["success"], true);
    let fixed = session.ok("nodejs_lint", json!({ "fix": true, "files": ["src/bad.js"] }));
    assert!(fixed["plan"]["diff"].as_str().unwrap().contains("+let a = 1;"), "{fixed}");
    assert_eq!(bench.git(&["status", "--porcelain"]), "", "nothing is written without apply");
    let plan = fixed["plan"]["id"].clone();
    session.ok("nodejs_lint", json!({ "fix": true, "files": ["src/bad.js"], "apply": true, "plan": plan }));
    assert!(bench.read("src/bad.js").unwrap().starts_with("let a = 1;"));
    let quiet = session.ok("nodejs_lint", json!({ "args": ["--quiet"], "directory": "src" }));
    assert_eq!((quiet["levels"]["warnings"].as_u64(), quiet["success"].as_bool()), (Some(0), Some(true)));
    assert_eq!(
        session.fails("nodejs_lint", json!({ "args": ["--rulesdir", "x"] }))["code"],
        "invalid_argument"
    );
    assert_eq!(session.fails("nodejs_lint", json!({ "format": "html" }))["code"], "invalid_argument");
}

#[test]
fn nodejs_lint_without_a_configuration_says_so_in_eslints_words() {
    let Some(bench) = bench(&[("package.json", "{ \"name\": \"x\" }\n"), ("a.js", "1;\n")]) else { return };
    let mut session = serve(&bench);
    let fault = session.fails("nodejs_lint", json!({}));
    assert_eq!(fault["code"], "tool_execution_failed", "{fault}");
    assert!(text(&fault).contains("couldn't find an eslint.config"), "{fault}");
    bench.put("eslint.config.mjs", "export default [{ rules: { 'no-such-rule': 'error' } }];\n");
    let fault = session.fails("nodejs_lint", json!({}));
    assert!(text(&fault).contains("no-such-rule"), "{fault}");
}

#[test]
fn nodejs_format_names_what_is_not_formatted_and_proposes_it() {
    let Some(bench) = bench(&[
        ("package.json", "{}\n"),
        (".prettierrc", "{ \"semi\": false }\n"),
        ("src/good.js", "const a = 1\n"),
        ("src/bad.ts", "const a   = {b:1}\n"),
        ("docs/a.md", "*   one\n*   two\n"),
    ]) else {
        return;
    };
    let mut session = serve(&bench);
    let listed = session.ok("nodejs_format", json!({ "check": true }));
    assert_eq!(
        (listed["success"].as_bool(), &listed["unformatted"], command(&listed)),
        (
            Some(false),
            &json!(["docs/a.md", "src/bad.ts"]),
            "node node_modules/.bin/prettier --list-different ."
        ),
        "{listed}"
    );
    assert_eq!(text(&listed), "2 files not formatted: docs/a.md, src/bad.ts.");
    assert_eq!(listed["plan"]["effects"], json!([]), "{listed}");
    let below = session.ok("nodejs_format", json!({ "write": false, "directory": "docs" }));
    assert_eq!(below["unformatted"], json!(["docs/a.md"]), "{below}");
    let good = session.ok("nodejs_format", json!({ "check": true, "files": ["src/good.js"] }));
    assert_eq!((good["success"].as_bool(), text(&good)), (Some(true), "Every file is formatted."));
    let wide = session.ok("nodejs_format", json!({ "check": true, "files": ["src/good.js"], "args": ["--tab-width=8", "--config-precedence=prefer-file"] }));
    assert_eq!(wide["success"], true, "{wide}");
    let planned = session.ok("nodejs_format", json!({}));
    assert_eq!(planned["success"], true, "{planned}");
    assert!(planned["plan"]["diff"].as_str().unwrap().contains("+const a = { b: 1 }"), "{planned}");
    assert_eq!(bench.git(&["status", "--porcelain"]), "");
    let plan = planned["plan"]["id"].clone();
    session.ok("nodejs_format", json!({ "apply": true, "plan": plan }));
    assert_eq!(bench.read("src/bad.ts").as_deref(), Some("const a = { b: 1 }\n"));
    assert_eq!(session.ok("nodejs_format", json!({ "check": true }))["unformatted"], json!([]));
}

#[test]
fn nodejs_format_takes_what_does_not_parse_for_an_error_and_not_for_unformatted() {
    let Some(bench) =
        bench(&[("package.json", "{}\n"), ("bad.js", "const a   = 1;\n"), ("broken.js", "const = (\n")])
    else {
        return;
    };
    let mut session = serve(&bench);
    let found = session.ok("nodejs_format", json!({ "write": true }));
    let first = &found["diagnostics"][0];
    assert_eq!(
        (
            found["success"].as_bool(),
            &found["unformatted"],
            first["file"].as_str(),
            first["line"].as_u64(),
            first["rule"].as_str(),
            first["severity"].as_str()
        ),
        (Some(false), &json!(["bad.js"]), Some("broken.js"), Some(1), Some("SyntaxError"), Some("error")),
        "{found}"
    );
    let gone = session.ok("nodejs_format", json!({ "files": ["nope.js"] }));
    assert_eq!(
        (gone["success"].as_bool(), gone["levels"]["errors"].as_u64()),
        (Some(false), Some(1)),
        "{gone}"
    );
    assert!(text(&gone).contains("nope.js"), "{gone}");
    for refused in [
        json!({ "check": true, "write": true }),
        json!({ "args": ["--plugin=./x.js"] }),
        json!({ "files": ["../x"] }),
    ] {
        assert_eq!(session.fails("nodejs_format", refused)["code"], "invalid_argument");
    }
}

#[test]
fn nodejs_check_types_says_what_is_wrong_and_emits_only_where_it_is_asked_to() {
    let strict =
        "{ \"compilerOptions\": { \"strict\": true, \"outDir\": \"dist\" }, \"files\": [\"src/a.ts\"] }\n";
    let Some(bench) = bench(&[
        ("package.json", "{}\n"),
        ("tsconfig.json", strict),
        ("tsconfig.bad.json", "{ \"files\": [\"src/b.ts\"] }\n"),
        ("src/a.ts", "export const a: number = 1;\n"),
        ("src/b.ts", "export const ok = 1;\nexport const b: number = \"one\";\n"),
        ("none/x.ts", "1;\n"),
    ]) else {
        return;
    };
    let mut session = serve(&bench);
    let held = session.ok("nodejs_check_types", json!({}));
    assert_eq!(
        (held["success"].as_bool(), command(&held)),
        (Some(true), "node node_modules/.bin/tsc --pretty false --noEmit"),
        "{held}"
    );
    let found = session.ok("nodejs_check_types", json!({ "project": "tsconfig.bad.json" }));
    let first = &found["diagnostics"][0];
    assert_eq!(
        (found["success"].as_bool(), first["rule"].as_str(), first["file"].as_str(), first["line"].as_u64()),
        (Some(false), Some("TS2322"), Some("src/b.ts"), Some(2)),
        "{found}"
    );
    assert_eq!(found["history"][0]["is"], "new", "{found}");
    let emitted = session.ok("nodejs_check_types", json!({ "noEmit": false }));
    assert_eq!(emitted["sideWrites"]["paths"], json!(["dist/"]), "{emitted}");
    assert!(bench.path("dist/a.js").exists());
    let kept = session.ok("nodejs_check_types", json!({ "incremental": true }));
    assert!(command(&kept).ends_with("--noEmit --incremental"), "{kept}");
    assert!(bench.path("dist/tsconfig.tsbuildinfo").exists(), "{kept}");
    let more = session.ok("nodejs_check_types", json!({ "args": ["--noUnusedLocals"], "project": "." }));
    assert!(command(&more).contains("-p . --noEmit --noUnusedLocals"), "{more}");
    let refused = session.fails("nodejs_check_types", json!({ "project": "/etc/tsconfig.json" }));
    assert_eq!(refused["code"], "invalid_argument");
}

#[test]
fn nodejs_check_types_without_a_project_says_how_to_name_one() {
    let Some(bench) = bench(&[("package.json", "{}\n")]) else { return };
    let fault = serve(&bench).fails("nodejs_check_types", json!({}));
    assert_eq!(fault["code"], "not_found", "{fault}");
    assert!(text(&fault).contains("tsconfig.json"), "{fault}");
}
