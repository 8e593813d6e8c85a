//! Compatibility, benchmarks and profiles.

use serde_json::{Value, json};

use super::{Bench, bench, command, serve, text};

const LOCK: &str = "{ \"name\": \"shop\", \"lockfileVersion\": 3, \"packages\": {
  \"\": { \"name\": \"shop\" },
  \"node_modules/old\": { \"version\": \"1.0.0\", \"engines\": { \"node\": \">=18\" } },
  \"node_modules/new\": { \"version\": \"2.0.0\", \"engines\": { \"node\": \">=24\" }, \"dev\": true },
  \"node_modules/odd\": { \"version\": \"3.0.0\", \"engines\": { \"node\": \"any\" } },
  \"node_modules/react\": { \"version\": \"18.2.0\" },
  \"node_modules/dom\": { \"version\": \"16.0.0\", \"peerDependencies\": { \"react\": \"^16.0.0\" } }
} }
";

#[test]
fn nodejs_compatibility_holds_every_locked_package_to_a_version() {
    let bench = Bench::new(&[
        ("package.json", "{ \"name\": \"shop\", \"engines\": { \"node\": \">=18\" } }\n"),
        ("package-lock.json", LOCK),
        ("good/package.json", "{ \"name\": \"good\" }\n"),
        (
            "good/package-lock.json",
            &LOCK.replace(">=24", ">=14").replace("any", "*").replace("^16.0.0", "18"),
        ),
        ("torn/package.json", "{ \"name\": \"torn\" }\n"),
        ("torn/package-lock.json", "{ \"lockfileVersion\": 9 }\n"),
    ]);
    let mut session = serve(&bench);
    let found = session.ok("nodejs_compatibility", json!({ "nodeVersion": "20.20.2" }));
    assert_eq!(
        found["incompatible"],
        json!([{ "package": "new", "version": "2.0.0", "wants": ">=24", "path": "node_modules/new", "dev": true }]),
        "{found}"
    );
    assert_eq!(
        found["peers"],
        json!([{ "package": "node_modules/dom", "peer": "react", "wants": "^16.0.0", "has": "18.2.0" }]),
        "{found}"
    );
    assert_eq!(found["unknown"][0]["package"], "odd", "{found}");
    assert_eq!((found["compared"].as_u64(), found["success"].as_bool()), (Some(4), Some(false)), "{found}");
    // Held to another version, other packages do not run.
    let newer = session.ok("nodejs_compatibility", json!({ "nodeVersion": "24", "checkDeps": false }));
    assert_eq!(
        (newer["success"].as_bool(), &newer["incompatible"], &newer["peers"]),
        (Some(true), &json!([]), &json!([])),
        "{newer}"
    );
    let older = session.ok("nodejs_compatibility", json!({ "nodeVersion": "v16.0.0" }));
    assert_eq!(older["incompatible"].as_array().unwrap().len(), 3, "{older}");
    assert_eq!(older["incompatible"][0]["package"], "shop", "{older}");
    let peers = session.ok("nodejs_compatibility", json!({ "checkEngines": false }));
    assert_eq!(
        (peers["compared"].as_u64(), peers["peers"].as_array().unwrap().len()),
        (Some(0), 1),
        "{peers}"
    );
    let node = peers["node"].as_str().unwrap();
    assert_eq!(node.split('.').count(), 3, "the node of this machine: {peers}");
    let good = session.ok("nodejs_compatibility", json!({ "directory": "good" }));
    assert_eq!(good["success"], true, "{good}");
    let torn = session.fails("nodejs_compatibility", json!({ "directory": "torn" }));
    assert_eq!(torn["code"], "invalid_source", "{torn}");
    let wrong = session.fails("nodejs_compatibility", json!({ "nodeVersion": "latest" }));
    assert_eq!(wrong["code"], "invalid_argument", "{wrong}");
    assert!(wrong.to_string().contains("20.11.0"), "{wrong}");
}

#[test]
fn nodejs_compatibility_without_npms_lock_goes_by_what_is_installed_and_says_so() {
    let Some(bench) =
        bench(&[("package.json", "{ \"name\": \"x\" }\n"), ("yarn.lock", "# yarn lockfile v1\n")])
    else {
        return;
    };
    let mut session = serve(&bench);
    let found = session.ok("nodejs_compatibility", json!({ "nodeVersion": "10.0.0" }));
    let packages: Vec<&str> =
        found["incompatible"].as_array().unwrap().iter().filter_map(|one| one["package"].as_str()).collect();
    assert!(packages.contains(&"@commitlint/cli"), "it does not run on node 10: {found}");
    assert!(found["notes"][0].as_str().unwrap().starts_with("yarn.lock says nothing of engines"), "{found}");
    assert!(found["truncated"]["total"].as_u64() > found["truncated"]["shown"].as_u64(), "{found}");
}

#[test]
fn nodejs_compatibility_reads_every_lock_and_what_none_of_them_says_is_not_known() {
    let asks = "{ \"name\": \"x\", \"dependencies\": { \"a\": \"1\" } }\n";
    let package = |name: &str, version: &str, node: &str| {
        format!(
            "{{ \"name\": \"{name}\", \"version\": \"{version}\", \"engines\": {{ \"node\": \"{node}\" }} }}\n"
        )
    };
    let berry = "__metadata:\n  version: 8\n\n\"a@npm:1\":\n  version: 1.0.0\n  resolution: \"a@npm:1.0.0\"\n\n\"x@workspace:.\":\n  version: 0.0.0-use.local\n  resolution: \"x@workspace:.\"\n";
    let classic = "# yarn lockfile v1\n\na@1:\n  version \"1.0.0\"\n  resolved \"https://registry.yarnpkg.com/a/-/a-1.0.0.tgz#0\"\n\nb@2:\n  version \"2.0.0\"\n  resolved \"https://registry.yarnpkg.com/b/-/b-2.0.0.tgz#0\"\n";
    let bun =
        "{ \"lockfileVersion\": 1, \"packages\": { \"a\": [\"a@1.0.0\", \"\", {}, \"sha512-0\"], }, }\n";
    let pnpm = "lockfileVersion: '9.0'\n\npackages:\n\n  a@1.0.0:\n    resolution: {integrity: sha512-0}\n    engines: {node: '>=24'}\n";
    let bench = Bench::new(&[
        ("bare/package.json", asks),
        ("empty/package.json", "{ \"name\": \"x\" }\n"),
        ("bun/package.json", asks),
        ("bun/bun.lock", bun),
        ("pnpm/package.json", asks),
        ("pnpm/pnpm-lock.yaml", pnpm),
        ("berry/package.json", asks),
        ("berry/yarn.lock", berry),
        ("classic/package.json", asks),
        ("classic/yarn.lock", classic),
        ("classic/node_modules/a/package.json", &package("a", "1.0.0", ">=18")),
        ("classic/node_modules/a/node_modules/b/package.json", &package("b", "2.0.0", ">=24")),
        ("stale/package.json", asks),
        ("stale/yarn.lock", classic),
        ("stale/node_modules/a/package.json", &package("a", "1.0.0", ">=18")),
        ("stale/node_modules/b/package.json", &package("b", "1.9.0", ">=18")),
    ]);
    let mut session = serve(&bench);
    let mut held = |directory: &str| {
        session.ok("nodejs_compatibility", json!({ "nodeVersion": "20", "directory": directory }))
    };
    for (directory, why) in [
        ("bare", "neither a lock nor an installed package"),
        ("bun", "1 of 1 locked package"),
        ("berry", "1 of 1 locked package"),
        ("stale", "1 of 2 locked packages"),
    ] {
        let told = held(directory);
        assert_eq!(
            (&told["success"], &told["incompatible"]),
            (&json!(false), &json!([])),
            "{directory}: {told}"
        );
        assert!(told["notKnown"].as_str().unwrap().contains(why), "{directory}: {told}");
        let message = text(&told);
        assert!(message.starts_with("Not known: ") && message.contains("nodejs_install_deps"), "{message}");
    }
    let empty = held("empty");
    assert_eq!(
        (&empty["success"], &empty["notKnown"]),
        (&json!(true), &json!(null)),
        "it asks for nothing: {empty}"
    );
    let pnpm = held("pnpm");
    assert_eq!(
        (&pnpm["incompatible"][0]["package"], &pnpm["notKnown"]),
        (&json!("a"), &json!(null)),
        "{pnpm}"
    );
    let classic = held("classic");
    assert_eq!(
        classic["incompatible"],
        json!([{ "package": "b", "version": "2.0.0", "wants": ">=24", "path": "classic/node_modules/a/node_modules/b" }]),
        "{classic}"
    );
    assert_eq!((&classic["compared"], &classic["notKnown"]), (&json!(2), &json!(null)), "{classic}");
}

const BENCH: &str = "import { bench, describe } from 'vitest';
describe('sums', () => {
  bench('loop', () => { let x = 0; for (let i = 0; i < 1000; i += 1) x += i; }, { time: 20, warmupTime: 5 });
});
";

#[test]
fn nodejs_benchmark_measures_and_says_what_threw() {
    let throws = "import { bench } from 'vitest';\nbench('throws', () => { throw new Error('no'); }, { time: 20, warmupTime: 5 });\n";
    let Some(bench) = bench(&[
        ("package.json", "{ \"name\": \"x\", \"type\": \"module\" }\n"),
        ("src/a.bench.js", BENCH),
        ("more/b.bench.js", &BENCH.replace("loop", "again")),
        ("bad/c.bench.js", throws),
    ]) else {
        return;
    };
    let mut session = serve(&bench);
    let measured = session.ok("nodejs_benchmark", json!({ "directory": "src" }));
    let first = &measured["benchmarks"][0];
    assert_eq!(
        (measured["success"].as_bool(), first["name"].as_str(), first["suite"].as_str()),
        (Some(true), Some("sums > loop"), Some("src/a.bench.js")),
        "{measured}"
    );
    assert!(first["nsPerOp"].as_f64().unwrap() > 1.0 && first["extra"]["ops/s"].as_f64().unwrap() > 1.0);
    assert!(measured.get("plan").is_none_or(|plan| plan["effects"] == json!([])), "{measured}");
    let globbed =
        session.ok("nodejs_benchmark", json!({ "pattern": "{src,more}/*.bench.js", "iterations": 3 }));
    assert_eq!(globbed["benchmarks"].as_array().unwrap().len(), 2, "{globbed}");
    assert_eq!(globbed["runs"].as_array().unwrap().len(), 3, "{globbed}");
    assert!(text(&globbed).contains("2 results, medians of 3 rounds"), "{globbed}");
    let named = session.ok("nodejs_benchmark", json!({ "pattern": "more", "args": ["--globals"] }));
    assert_eq!(named["benchmarks"][0]["name"], "sums > again", "{named}");
    assert!(
        command(&named).starts_with("node node_modules/.bin/vitest bench --run --globals more"),
        "{named}"
    );
    let threw = session.ok("nodejs_benchmark", json!({ "pattern": "bad/c.bench.js" }));
    assert_eq!(
        (threw["success"].as_bool(), threw["diagnostics"][0]["file"].as_str()),
        (Some(false), Some("bad/c.bench.js")),
        "{threw}"
    );
    assert_eq!(session.fails("nodejs_benchmark", json!({ "pattern": "*.none.js" }))["code"], "not_found");
    assert_eq!(session.fails("nodejs_benchmark", json!({ "iterations": 0 }))["code"], "invalid_argument");
    let bare = Bench::new(&[("package.json", "{}\n")]);
    let fault = serve(&bare).fails("nodejs_benchmark", json!({}));
    assert_eq!(fault["code"], "tool_execution_failed", "{fault}");
    assert!(text(&fault).contains("vitest"), "{fault}");
}

const BUSY: &str = "function hot() {
  let x = 0;
  for (let i = 0; i < 6e7; i += 1) x += Math.sqrt(i);
  return x;
}
const kept = [];
function fill() {
  for (let i = 0; i < 2e5; i += 1) kept.push({ i, text: `${i}` });
}
fill();
hot();
console.log(kept.length, process.argv.length);
";

#[test]
fn nodejs_profile_names_the_function_that_takes_the_time_and_the_one_that_allocates() {
    let bench = Bench::new(&[
        ("package.json", "{ \"name\": \"x\", \"scripts\": { \"start\": \"node busy.js\", \"serve\": \"node serve.js\", \"fails\": \"node fails.js\", \"none\": \"true\", \"endless\": \"node endless.js\" } }\n"),
        ("busy.js", BUSY),
        ("serve.js", "setInterval(() => {}, 50);\nconsole.log('on');\n"),
        ("fails.js", "function breaks() { throw new Error('no'); }\nbreaks();\n"),
        ("endless.js", "function spin() { for (;;) {} }\nspin();\n"),
        ("sub/package.json", "{ \"scripts\": { \"start\": \"node ../busy.js\" } }\n"),
    ])
    .patient();
    let mut session = serve(&bench);
    let told = session.ok("nodejs_profile", json!({}));
    let first = &told["cpu"]["top"][0];
    assert_eq!(
        (
            told["success"].as_bool(),
            first["function"].as_str(),
            first["file"].as_str(),
            first["line"].as_u64()
        ),
        (Some(true), Some("hot"), Some("busy.js"), Some(1)),
        "{told}"
    );
    assert!(first["selfMs"].as_f64().unwrap() > 5.0 && told.get("heap").is_none(), "{told}");
    assert_eq!(told["files"], json!(["profiles/cpu-1.cpuprofile"]), "npm itself is not profiled: {told}");
    assert_eq!(told["plan"]["effects"].as_array().unwrap().len(), 1, "{told}");
    assert_eq!(bench.dirt(), "", "nothing is written without apply");
    let both = session.ok(
        "nodejs_profile",
        json!({ "heapProfile": true, "cpuProfile": true, "outputDir": "out/prof/", "directory": "sub" }),
    );
    assert_eq!(
        both["files"],
        json!(["sub/out/prof/cpu-1.cpuprofile", "sub/out/prof/heap-1.heapprofile"]),
        "{both}"
    );
    let named = |list: &Value| list.as_array().unwrap().iter().any(|one| one["function"] == "fill");
    assert!(named(&both["heap"]["top"]), "{both}");
    let heap = session.ok("nodejs_profile", json!({ "heapProfile": true }));
    assert!(heap.get("cpu").is_none() && heap["heap"]["totalBytes"].as_f64().unwrap() > 1e6, "{heap}");
    // What goes on for ever is ended, and what it did until then is told.
    let served = session.ok("nodejs_profile", json!({ "script": "serve", "duration": 1 }));
    assert_eq!((served["success"].as_bool(), served["exitCode"].as_i64()), (Some(true), Some(0)), "{served}");
    let failed = session.ok("nodejs_profile", json!({ "script": "fails" }));
    assert_eq!(
        (failed["success"].as_bool(), failed["exitCode"].as_i64()),
        (Some(false), Some(1)),
        "{failed}"
    );
    let none = session.ok("nodejs_profile", json!({ "script": "none" }));
    assert_eq!((none["success"].as_bool(), &none["files"]), (Some(false), &json!([])), "{none}");
    assert!(text(&none).contains("Only processes of Node"), "{none}");
    // A loop that never lets anything else have its turn is ended by the time that the call may take.
    let endless =
        session.fails("nodejs_profile", json!({ "script": "endless", "duration": 1, "timeout": 4_000 }));
    assert_eq!(endless["code"], "timeout", "{endless}");
    for refused in [
        json!({ "cpuProfile": false }),
        json!({ "duration": 0 }),
        json!({ "args": ["--node-options=--require=./x.js"] }),
    ] {
        assert_eq!(session.fails("nodejs_profile", refused)["code"], "invalid_argument");
    }
    assert_eq!(session.fails("nodejs_profile", json!({ "outputDir": "../x" }))["code"], "path_not_allowed");
    assert_eq!(session.fails("nodejs_profile", json!({ "script": "gone" }))["code"], "not_found");
}

#[test]
fn profiles_that_are_there_are_neither_read_again_nor_written_over() {
    let bench = Bench::new(&[
        ("package.json", "{ \"scripts\": { \"start\": \"node busy.js\" } }\n"),
        ("busy.js", BUSY),
        ("profiles/cpu-1.cpuprofile", "{\"nodes\":[],\"samples\":[],\"timeDeltas\":[]}"),
    ]);
    let told = serve(&bench).ok("nodejs_profile", json!({}));
    assert_eq!(told["files"], json!(["profiles/cpu-2.cpuprofile"]), "{told}");
    let effects = told["plan"]["effects"].as_array().unwrap();
    assert!(
        effects.len() == 1 && effects[0].as_str().unwrap().starts_with("create profiles/cpu-2.cpuprofile"),
        "{told}"
    );
}
