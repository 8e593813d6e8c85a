//! Files, data and the time.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::{Bench, Session};

#[test]
fn ensure_newline_checks_validates_and_fixes_what_lacks_its_end() {
    let bench = Bench::new(&[
        ("a.md", "fine\n"),
        ("b.md", "lacks"),
        ("docs/c.txt", "one\r\ntwo"),
        ("docs/empty.md", ""),
        ("docs/d.rs", "fn main() {}"),
        ("docs/old/e.md", "old"),
        ("docs/bin.md", "a\0b"),
        (".gitignore", "out/\n"),
    ]);
    bench.put("out/ignored.md", "made");
    let mut session = bench.serve();
    let all = json!({ "patterns": ["**/*"], "mode": "check" });
    let checked = session.ok("ensure_newline", all);
    let states = |result: &Value| {
        let files = result["files"].as_array().unwrap().iter();
        files
            .map(|one| {
                format!(
                    "{} {} {}",
                    one["path"].as_str().unwrap(),
                    one["state"].as_str().unwrap(),
                    one["detail"].as_str().unwrap()
                )
            })
            .collect::<Vec<_>>()
    };
    assert_eq!(
        states(&checked),
        ["b.md missing LF", "docs/c.txt missing CRLF", "docs/d.rs missing LF", "docs/old/e.md missing LF"]
    );
    assert_eq!(
        (&checked["success"], &checked["exitCode"], &checked["checked"]),
        (&json!(true), &json!(1), &json!(7)),
        "{checked}"
    );
    assert_eq!(checked["skipped"], json!({ "binary": 1, "large": 0, "ignored": 1 }));
    let gate = session.ok("ensure_newline", json!({ "patterns": ["*.md"], "mode": "validate" }));
    assert_eq!((&gate["success"], &gate["exitCode"]), (&json!(false), &json!(1)), "{gate}");
    let fine = session.ok("ensure_newline", json!({ "patterns": ["a.md"], "mode": "validate" }));
    assert_eq!((&fine["success"], &fine["exitCode"]), (&json!(true), &json!(0)), "{fine}");

    let some = |more: Value| {
        let mut input = json!({ "patterns": ["**/*"], "mode": "check" });
        input.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        input
    };
    let listed = |session: &mut Session, more: Value| states(&session.ok("ensure_newline", some(more)));
    assert_eq!(listed(&mut session, json!({ "cwd": "docs/old" })), ["docs/old/e.md missing LF"]);
    assert_eq!(
        listed(&mut session, json!({ "directory": "docs", "cwd": "old" })),
        ["docs/old/e.md missing LF"]
    );
    assert_eq!(
        listed(&mut session, json!({ "directory": "docs", "exclude": ["old/**", "*.rs"] })),
        ["docs/c.txt missing CRLF"]
    );
    assert_eq!(
        listed(&mut session, json!({ "fileTypes": ["rs", ".txt"] })),
        ["docs/c.txt missing CRLF", "docs/d.rs missing LF"]
    );
    assert_eq!(
        listed(&mut session, json!({ "patterns": ["out/ignored.md"] })),
        ["out/ignored.md missing LF"],
        "by its name"
    );
    let binary =
        session.ok("ensure_newline", some(json!({ "patterns": ["docs/bin.md"], "skipBinary": false })));
    assert_eq!(
        (states(&binary), &binary["skipped"]["binary"]),
        (vec!["docs/bin.md missing LF".to_owned()], &json!(0))
    );
    bench.put("large.md", &"x".repeat(3_000));
    let large =
        session.ok("ensure_newline", some(json!({ "patterns": ["large.md"], "maxFileSizeMB": 0.002 })));
    assert_eq!((&large["checked"], &large["skipped"]["large"]), (&json!(0), &json!(1)), "{large}");
    assert_eq!(session.fails("ensure_newline", some(json!({ "cwd": "gone" })))["code"], "not_found");
    assert_eq!(session.fails("ensure_newline", some(json!({ "cwd": "../x" })))["code"], "path_not_allowed");
    assert_eq!(session.fails("ensure_newline", some(json!({ "patterns": ["../*"] })))["type"], "policy");

    let fix = json!({ "patterns": ["**/*"], "mode": "fix" });
    let proposed = session.ok("ensure_newline", fix.clone());
    assert_eq!((&proposed["status"], &proposed["exitCode"]), (&json!("proposed"), &json!(0)), "{proposed}");
    assert_eq!(bench.read("b.md").unwrap(), "lacks", "a rehearsal");
    let mut apply = fix.clone();
    apply["apply"] = json!(true);
    apply["plan"] = proposed["plan"]["id"].clone();
    session.ok("ensure_newline", apply);
    assert_eq!(bench.read("b.md").unwrap(), "lacks\n");
    assert_eq!(bench.read("docs/c.txt").unwrap(), "one\r\ntwo\r\n");
    assert_eq!(bench.read("docs/bin.md").unwrap(), "a\0b");
    assert_eq!(bench.read("out/ignored.md").unwrap(), "made");
    let again = session.ok("ensure_newline", fix);
    assert_eq!((states(&again).len(), &again["plan"]["effects"]), (0, &json!([])), "{again}");
}

#[test]
fn ensure_newline_says_what_it_cannot_read_and_keeps_modes() {
    use std::os::unix::fs::PermissionsExt as _;
    let bench = Bench::new(&[("run.sh", "#!/bin/sh"), ("wide.txt", "x")]);
    std::fs::set_permissions(bench.path("run.sh"), std::fs::Permissions::from_mode(0o755)).unwrap();
    std::fs::write(bench.path("wide.txt"), b"\xff\xfea\0").unwrap();
    std::os::unix::fs::symlink("/etc/passwd", bench.path("link.txt")).unwrap();
    let mut session = bench.serve();
    let wide =
        session.ok("ensure_newline", json!({ "patterns": ["*.txt"], "mode": "check", "skipBinary": false }));
    assert_eq!(
        (&wide["exitCode"], &wide["success"], &wide["files"][0]["state"]),
        (&json!(2), &json!(false), &json!("unreadable")),
        "{wide}"
    );
    assert_eq!(wide["files"].as_array().unwrap().len(), 1, "the link is no file: {wide}");
    session.ok("ensure_newline", json!({ "patterns": ["run.sh"], "mode": "fix", "apply": true }));
    let mode = std::fs::metadata(bench.path("run.sh")).unwrap().permissions().mode();
    assert_eq!((mode & 0o777, bench.read("run.sh").unwrap().as_str()), (0o755, "#!/bin/sh\n"));
}

#[test]
fn dotenv_environment_masks_by_name_by_pattern_and_whatever_is_known_to_be_a_secret() {
    let bench = Bench::new(&[
        (
            ".env",
            "PORT=3000\nDB_PASSWORD=hunter2\nDB_HOST=db.local\nAUTHOR=Bob\nEMPTY_TOKEN=\nURL=http://$DB_HOST:${PORT}/\n",
        ),
        ("web/.env.test", "export A='x' # c\nA=2\nbroken line\nQ=\"open\nPATH=/x\n"),
    ]);
    let mut session = bench.serve();
    let by_name = |result: &Value, name: &str| {
        let all = result["variables"].as_array().unwrap();
        all.iter().find(|one| one["name"] == name).unwrap_or_else(|| panic!("{name}: {result}")).clone()
    };
    let usual = session.ok("dotenv_environment", json!({}));
    assert_eq!(
        by_name(&usual, "PORT"),
        json!({ "name": "PORT", "value": "3000", "masked": false, "line": 1 })
    );
    assert_eq!(by_name(&usual, "DB_PASSWORD")["value"], "****");
    assert_eq!(by_name(&usual, "AUTHOR")["masked"], true, "AUTH is in it");
    assert_eq!(
        by_name(&usual, "EMPTY_TOKEN"),
        json!({ "name": "EMPTY_TOKEN", "value": "", "masked": false, "line": 5 })
    );
    assert_eq!(by_name(&usual, "URL")["references"], json!(["DB_HOST", "PORT"]));
    assert_eq!(by_name(&usual, "URL")["value"], "http://$DB_HOST:${PORT}/", "nothing is substituted");
    let bare = session.ok("dotenv_environment", json!({ "mask": false }));
    assert_eq!(by_name(&bare, "AUTHOR")["value"], "Bob");
    assert!(!bare.to_string().contains("hunter2"), "what is known to be a secret never leaves: {bare}");
    let more = session.ok("dotenv_environment", json!({ "maskPatterns": ["^db_h", "port$"], "mask": false }));
    assert_eq!(
        (&by_name(&more, "DB_HOST")["value"], &by_name(&more, "PORT")["value"]),
        (&json!("****"), &json!("****"))
    );

    let other = session.ok(
        "dotenv_environment",
        json!({ "file": ".env.test", "directory": "web", "includeProcessEnv": true }),
    );
    assert_eq!(
        by_name(&other, "A"),
        json!({ "name": "A", "value": "2", "masked": false, "line": 2, "shadowed": false })
    );
    assert_eq!(by_name(&other, "PATH")["shadowed"], true);
    assert!(other["processEnv"].as_array().unwrap().contains(&json!("PATH")), "{other}");
    let lines: Vec<&Value> = other["problems"].as_array().unwrap().iter().map(|one| &one["line"]).collect();
    assert_eq!(
        (lines, usual["problems"].clone()),
        (vec![&json!(2), &json!(3), &json!(4)], json!([])),
        "{other}"
    );
    assert!(usual.get("processEnv").is_none());

    assert_eq!(session.fails("dotenv_environment", json!({ "file": ".env.gone" }))["code"], "not_found");
    assert_eq!(session.fails("dotenv_environment", json!({ "file": "../.env" }))["code"], "path_not_allowed");
    assert_eq!(
        session.fails("dotenv_environment", json!({ "maskPatterns": ["("] }))["code"],
        "invalid_argument"
    );
    bench.put(".env.large", &"A=1\n".repeat(250_001));
    assert_eq!(session.fails("dotenv_environment", json!({ "file": ".env.large" }))["code"], "too_large");
    std::fs::write(bench.path(".env.latin"), b"A=\xe9\n").unwrap();
    assert_eq!(
        session.fails("dotenv_environment", json!({ "file": ".env.latin" }))["code"],
        "invalid_argument"
    );
}

#[test]
fn jq_query_gives_every_value_and_text_as_it_is_asked_for() {
    let bench = Bench::new(&[]);
    let mut session = bench.serve();
    let data = json!({ "items": [{ "name": "b", "n": 2 }, { "name": "a", "n": 1 }] });
    let asked = |session: &mut Session, filter: &str, more: Value| {
        let mut input = json!({ "input": data, "filter": filter });
        input.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        session.ok("jq_query", input)
    };
    let plain = asked(&mut session, ".items | sort_by(.n)[] | .name", json!({}));
    assert_eq!((&plain["results"], &plain["count"]), (&json!(["a", "b"]), &json!(2)), "{plain}");
    assert!(plain.get("text").is_none() && plain["isCut"] == false, "{plain}");
    let compact = asked(&mut session, "{z: .items[0].n, a: [1]}", json!({ "compact": true }));
    assert_eq!(compact["text"], "{\"z\":2,\"a\":[1]}\n");
    let sorted = asked(&mut session, "{z: 1, a: 2}", json!({ "sort_keys": true }));
    assert_eq!(sorted["text"], "{\n  \"a\": 2,\n  \"z\": 1\n}\n");
    let raw = asked(&mut session, ".items[].name", json!({ "raw_output": true }));
    assert_eq!(raw["text"], "b\na\n");
    let failed = asked(&mut session, ".items[0].name, (.items | error(\"no\"))", json!({}));
    assert_eq!(
        (&failed["success"], &failed["results"], &failed["error"]),
        (&json!(false), &json!(["b"]), &json!("no")),
        "{failed}"
    );
    for value in [json!(null), json!(false), json!("text"), json!([1]), json!(1.5)] {
        assert_eq!(
            session.ok("jq_query", json!({ "input": value, "filter": "." }))["results"],
            json!([value])
        );
    }
    let pages = session.ok("jq_query", json!({ "input": null, "filter": "range(100)", "limit": 7 }));
    assert_eq!((pages["results"].as_array().unwrap().len(), &pages["count"]), (7, &json!(100)), "{pages}");

    drop(session);
    for (given, filter, wanted) in [
        ("{\"a\": 1}", ".a", json!([1])),
        ("plain text", "length", json!([10])),
        ("\"x\"", ".", json!(["x"])),
    ] {
        let said =
            bench.place.json(&["call", "jq_query", "--input", given, "--filter", filter, "--output", "json"]);
        assert_eq!(said["results"], wanted, "{given}: {said}");
    }
    let mut session = bench.serve();

    let fails = |session: &mut Session, filter: &str| {
        session.fails("jq_query", json!({ "input": null, "filter": filter }))
    };
    let wrong = fails(&mut session, ".a |\n map(");
    assert!(
        wrong["code"] == "invalid_argument" && wrong["message"].as_str().unwrap().contains("filter: 2:6"),
        "{wrong}"
    );
    for filter in ["env", "$ENV.HOME", "input", "now", "halt", "include \"x\"; .", "debug"] {
        assert_eq!(fails(&mut session, filter)["code"], "invalid_argument", "{filter}");
    }
}

#[test]
fn jq_query_ends_filters_without_end_and_filters_without_bound() {
    let bench = Bench::new(&[]);
    let mut session = bench.serve();
    for (filter, code) in [
        ("def f: f; f", "timeout"),
        ("last(repeat(1))", "timeout"),
        ("[range(1e12)]", "resource_exhausted"),
        ("[1] | def f: . + . | f; f", "resource_exhausted"),
        ("\"x\" * 4000000000", "resource_exhausted"),
        ("def f: 1 + f; f", "resource_exhausted"),
    ] {
        let since = Instant::now();
        let input = json!({ "input": null, "filter": filter, "timeout": if code == "timeout" { 500 } else { 10_000 } });
        let fault = session.fails("jq_query", input);
        assert_eq!(fault["code"], code, "{filter}: {fault}");
        assert!(since.elapsed() < Duration::from_secs(15), "{filter}");
        // What was ended has nothing to do with what comes next.
        assert_eq!(session.ok("jq_query", json!({ "input": 1, "filter": ". + 1" }))["results"], json!([2]));
    }
    let endless = session.ok("jq_query", json!({ "input": null, "filter": "repeat(1)", "limit": 3 }));
    assert_eq!((&endless["isCut"], &endless["count"]), (&json!(true), &json!(10_000)), "{endless}");
    let deep = session.ok("jq_query", json!({ "input": 1, "filter": "reduce range(5000) as $i (1; [.])" }));
    assert_eq!((&deep["success"], &deep["count"]), (&json!(false), &json!(0)), "{deep}");
    let most = session.fails("jq_query", json!({ "input": 1, "filter": ".", "timeout": 10_001 }));
    assert_eq!(most["code"], "invalid_argument");
}

#[test]
fn get_current_datetime_tells_the_time_of_a_zone_and_of_the_machine() {
    let bench = Bench::new(&[]).telling("TZ", "Asia/Kathmandu".into());
    let mut session = bench.serve();
    let before = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_secs();
    let here = session.ok("get_current_datetime", json!({}));
    assert_eq!(
        (&here["timezone"], &here["offset"], &here["isDst"]),
        (&json!("Asia/Kathmandu"), &json!("+05:45"), &json!(false)),
        "{here}"
    );
    let unix = here["unix"].as_u64().unwrap();
    assert!((before..before + 60).contains(&unix), "{here}");
    assert!(here["iso"].as_str().unwrap().ends_with("+05:45"));
    let utc = session.ok("get_current_datetime", json!({ "timezone": "UTC" }));
    let date = |format: &str| {
        let said = std::process::Command::new("date")
            .args(["-u", "-d", &format!("@{}", utc["unix"]), format])
            .output()
            .unwrap();
        String::from_utf8(said.stdout).unwrap().trim().to_owned()
    };
    assert_eq!(utc["iso"].as_str().unwrap(), date("+%Y-%m-%dT%H:%M:%S+00:00"));
    let calendar = &utc["calendar"];
    assert_eq!(calendar["weekday"].as_str().unwrap(), date("+%A"));
    assert_eq!(calendar["isoWeek"].as_str().unwrap(), date("+%G-W%V"));
    assert_eq!(calendar["dayOfYear"].to_string(), date("+%-j"));
    assert_eq!(calendar["quarter"].to_string(), date("+%q"));
    let plain =
        session.ok("get_current_datetime", json!({ "timezone": "Europe/Berlin", "include_calendar": false }));
    assert!(plain.get("calendar").is_none() && plain["timezone"] == "Europe/Berlin", "{plain}");
    let unknown = session.fails("get_current_datetime", json!({ "timezone": "Europe/Berln" }));
    assert_eq!(unknown["code"], "invalid_argument");
    assert!(unknown["suggestions"].to_string().contains("Europe/Berlin"), "{unknown}");
}
