//! Skills are served whole (SEP-2640): exactly, with their digests, to whom they are for, or not at all.

use std::collections::BTreeMap;
use std::fs;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use contract::Digest;
use serde_json::{Value, json};

use super::patterns::bench;
use crate::bench::{Bench, Session};
use crate::wire::meta;

pub(super) const OURS: [&str; 4] = [
    "skill://gatewright/gatewright-find-and-run-patterns/SKILL.md",
    "skill://gatewright/gatewright-keep-memory/SKILL.md",
    "skill://gatewright/gatewright-read-failures/SKILL.md",
    "skill://gatewright/gatewright-rehearse-apply/SKILL.md",
];

pub(super) fn skill(name: &str) -> String {
    format!(
        "---\nname: {name}\ndescription: About {name}.\nlicense: MIT\nmetadata:\n  team: \"core\"\n---\n\n# {name}\n"
    )
}

/// A request of the newer era.
fn ask(session: &mut Session, method: &str, mut params: Value) -> Value {
    params["_meta"] = meta("2026-07-28");
    session.0.request(method, params)
}

fn done(session: &mut Session, method: &str, params: Value) -> Value {
    let answer = ask(session, method, params);
    assert!(answer.get("error").is_none(), "{method}: {answer}");
    answer["result"].clone()
}

fn code(session: &mut Session, method: &str, uri: &str) -> Value {
    ask(session, method, json!({ "uri": uri }))["error"]["code"].clone()
}

/// Every skill that is listed, all pages.
fn listed(session: &mut Session) -> Vec<Value> {
    let (mut all, mut params) = (Vec::new(), json!({}));
    loop {
        let page = done(session, "skills/list", params);
        all.extend(page["skills"].as_array().unwrap().iter().cloned());
        match page["nextCursor"].as_str() {
            Some(next) => params = json!({ "cursor": next }),
            None => return all,
        }
    }
}

pub(super) fn uris(all: &[Value]) -> Vec<&str> {
    all.iter().map(|one| one["uri"].as_str().unwrap()).collect()
}

/// What is read there.
fn bytes(session: &mut Session, uri: &str) -> Vec<u8> {
    let read = done(session, "resources/read", json!({ "uri": uri }));
    let content = &read["contents"][0];
    assert_eq!(content["uri"], uri);
    match content["text"].as_str() {
        Some(text) => text.as_bytes().to_vec(),
        None => STANDARD.decode(content["blob"].as_str().unwrap()).unwrap(),
    }
}

/// Names with their media types.
fn children(session: &mut Session, uri: &str) -> BTreeMap<String, String> {
    let read = done(session, "resources/directory/read", json!({ "uri": uri }));
    let one = |child: &Value| {
        (child["uri"].as_str().unwrap().to_owned(), child["mimeType"].as_str().unwrap().to_owned())
    };
    read["resources"].as_array().unwrap().iter().map(one).collect()
}

/// A repository with a skill of its own, beside the example library.
pub(super) fn house_style() -> Bench {
    let bench = bench(&[
        ("README.md", "# App\n"),
        (".claude/skills/house-style/SKILL.md", &skill("house-style")),
        (".claude/skills/house-style/references/a b.md", "# A\r\n\u{feff}odd \u{202e} bytes\n"),
        (".claude/skills/house-style/references/deep/c.json", "{}"),
        (".claude/skills/house-style/.hidden", "not of it"),
    ]);
    fs::write(bench.path(".claude/skills/house-style/logo.png"), b"\x89PNG\r\n\x1a\n\x00\xff").unwrap();
    bench
}

#[test]
fn skills_are_listed_whole_ours_first_and_their_bytes_have_the_digests_that_were_told() {
    let bench = house_style();
    let mut session = bench.serve();
    let about = ask(&mut session, "server/discover", json!({}))["result"]["capabilities"].clone();
    assert_eq!(
        about["extensions"]["io.modelcontextprotocol/skills"],
        json!({ "directoryRead": true }),
        "{about}"
    );
    let all = listed(&mut session);
    assert_eq!(uris(&all)[..4], OURS, "{all:#?}");
    assert_eq!(all.len(), 4 + 6 + 1, "ours, the example library's, the repository's: {all:#?}");
    assert!(uris(&all)[4..10].iter().all(|uri| uri.starts_with("skill://user/")), "{all:#?}");
    for entry in &all {
        let uri = entry["uri"].as_str().unwrap();
        assert_eq!(uri.rsplit('/').nth(1), entry["frontmatter"]["name"].as_str(), "{entry}");
        for file in entry["resources"].as_array().unwrap() {
            let bytes = bytes(&mut session, file["uri"].as_str().unwrap());
            assert_eq!(file["size"], bytes.len() as u64, "{file}");
            assert_eq!(file["digest"], format!("sha256:{}", Digest::of(&bytes)), "{file}");
        }
        let got = done(&mut session, "skills/get", json!({ "uri": uri }));
        let fresh = if uri.starts_with("skill://gatewright/") { 300_000 } else { 0 };
        assert_eq!(
            (&got["skill"], &got["ttlMs"], &got["cacheScope"]),
            (entry, &json!(fresh), &json!("private"))
        );
        assert!(got.get("nextCursor").is_none());
    }
    let own = all.last().unwrap();
    let base = "skill://project.root/house-style";
    assert_eq!(
        own["frontmatter"],
        json!({ "name": "house-style", "description": "About house-style.", "license": "MIT", "metadata": { "team": "core" } })
    );
    let files: Vec<&str> =
        own["resources"].as_array().unwrap().iter().map(|file| file["uri"].as_str().unwrap()).collect();
    let below = |path: &str| format!("{base}/{path}");
    assert_eq!(
        files,
        [below("SKILL.md"), below("logo.png"), below("references/a%20b.md"), below("references/deep/c.json")]
    );
    assert_eq!(
        bytes(&mut session, &below("references/a%20b.md")),
        "# A\r\n\u{feff}odd \u{202e} bytes\n".as_bytes(),
        "what is hidden in it is served, too: the digest is of these bytes"
    );

    let of = |name: &str, mime: &str| (below(name), mime.to_owned());
    assert_eq!(
        children(&mut session, base),
        BTreeMap::from([
            of("SKILL.md", "text/markdown"),
            of("logo.png", "image/png"),
            of("references", "inode/directory"),
        ])
    );
    assert_eq!(
        children(&mut session, &below("references")),
        BTreeMap::from([
            of("references/a%20b.md", "text/markdown"),
            of("references/deep", "inode/directory")
        ])
    );
    let list = done(&mut session, "skills/list", json!({}));
    assert_eq!((&list["ttlMs"], &list["cacheScope"]), (&json!(0), &json!("private")));

    // As resources, in the older era as well: name and description are the front matter's.
    let mut known = BTreeMap::new();
    let mut params = json!({});
    loop {
        let page = session.0.request("resources/list", params)["result"].clone();
        for one in page["resources"].as_array().unwrap() {
            known.insert(one["uri"].as_str().unwrap().to_owned(), one.clone());
        }
        match page["nextCursor"].as_str() {
            Some(next) => params = json!({ "cursor": next }),
            None => break,
        }
    }
    for entry in &all {
        let one = &known[entry["uri"].as_str().unwrap()];
        assert_eq!(
            (&one["name"], &one["description"], &one["mimeType"]),
            (&entry["frontmatter"]["name"], &entry["frontmatter"]["description"], &json!("text/markdown"))
        );
    }
    assert!(
        !known.contains_key("pattern://skills/gatewright-keep-memory"),
        "what is built in is listed once"
    );
    let old = session.0.request("resources/read", json!({ "uri": below("SKILL.md") }))["result"].clone();
    assert_eq!(old["contents"][0]["text"], skill("house-style"), "{old}");
    drop(session);
    let records = bench.place.json(&["audit", "tail", "--output", "json"]).to_string();
    assert!(records.contains("resources/read"), "reads are on record");
}

#[test]
fn what_is_not_served_does_not_exist_and_the_older_era_has_no_such_methods() {
    let bench = house_style();
    fs::write(bench.path("../outside.md"), "# pelican\n").unwrap();
    let mut session = bench.serve();
    let base = "skill://project.root/house-style";
    for uri in [
        "skill://project.root/nothing/SKILL.md",
        "skill://project.other/house-style/SKILL.md",
        "skill://user/house-style/SKILL.md",
        "skill://nobody/house-style/SKILL.md",
        "skill://project.root/house-style/references/a%20b.md",
        "skill://project.root/house-style",
        "skill://project.root/house-style/../house-style/SKILL.md",
        "skill://project.root/%68ouse-style/SKILL.md",
        "SKILL.md",
        "",
    ] {
        assert_eq!(code(&mut session, "skills/get", uri), -32602, "{uri}");
    }
    for uri in [
        "../outside.md",
        "references/../../../../../outside.md",
        "%2e%2e/%2e%2e/%2e%2e/README.md",
        "..%2f..%2f..%2fREADME.md",
        "references/a b.md",
        "references//a%20b.md",
        "./SKILL.md",
        "skill.md",
        ".hidden",
        "nothing.md",
        "SKILL.md?x",
        "SKILL.md#x",
        "references",
        "",
    ] {
        let uri = format!("{base}/{uri}");
        assert_eq!(code(&mut session, "resources/read", &uri), -32602, "{uri}");
    }
    for uri in
        ["/SKILL.md", "/", "/references/", "/references/..", "/nothing", "/references/a%20b.md", "/.hidden"]
    {
        let uri = format!("{base}{uri}");
        assert_eq!(code(&mut session, "resources/directory/read", &uri), -32602, "{uri}");
    }
    for uri in ["skill://project.root", "skill://", "pattern://security/jwt-rotation", "file:///etc"] {
        assert_eq!(code(&mut session, "resources/directory/read", uri), -32602, "{uri}");
    }
    let refused = ask(&mut session, "skills/get", json!({ "uri": "skill://a/b/SKILL.md" }))["error"].clone();
    assert!(refused["message"].as_str().unwrap().contains("library check"), "{refused}");
    assert_eq!(refused["data"]["uri"], "skill://a/b/SKILL.md");
    for (method, params) in [
        ("skills/list", json!({ "cursor": "nonsense" })),
        ("skills/get", json!({})),
        ("skills/get", json!({ "uri": 3 })),
        ("resources/directory/read", json!({})),
        ("resources/directory/read", json!({ "uri": base, "cursor": "from-x" })),
    ] {
        assert_eq!(ask(&mut session, method, params.clone())["error"]["code"], -32602, "{method} {params}");
    }
    // The handshake of the older era declares no extension (`Wire::greeted`), and has no such methods.
    for (method, params) in [
        ("skills/list", json!({})),
        ("skills/get", json!({ "uri": OURS[0] })),
        ("resources/directory/read", json!({ "uri": base })),
    ] {
        assert_eq!(session.0.request(method, params)["error"]["code"], -32601, "{method}");
    }
    assert_eq!(listed(&mut session).len(), 11, "it goes on");
}

#[test]
fn what_cannot_be_served_exactly_is_found_and_told_and_not_served() {
    let bench = bench(&[
        ("README.md", "# App\n"),
        (".agents/skills/whole/SKILL.md", &skill("whole")),
        (".agents/skills/linked/SKILL.md", &skill("linked")),
        (".agents/skills/leaking/SKILL.md", &skill("leaking")),
        (".agents/skills/secret/SKILL.md", &format!("{}\npassword = \"hunter2hunter2\"\n", skill("secret"))),
        (".agents/skills/beside/SKILL.md", &skill("beside")),
        (
            ".agents/skills/beside/references/env.md",
            "AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI/K7MDENG/bPxRfiCYzzyyxxwwvv\n",
        ),
        (".agents/skills/many/SKILL.md", &skill("many")),
        (".agents/skills/large/SKILL.md", &skill("large")),
        (".agents/skills/other-name/SKILL.md", &skill("another")),
        (
            ".agents/skills/loose/SKILL.md",
            "---\nname: loose\ndescription: Loose.\nmetadata:\n  version: 1.0\n---\n",
        ),
        (".agents/skills/ui/twin/SKILL.md", &skill("twin")),
        (".agents/skills/backend/twin/SKILL.md", &skill("twin")),
        (".agents/skills/just/SKILL.md", &skill("just")),
    ]);
    fs::write(bench.path("../outside.md"), "# pelican\n").unwrap();
    std::os::unix::fs::symlink("../../../README.md", bench.path(".agents/skills/linked/extra.md")).unwrap();
    std::os::unix::fs::symlink("../../../../outside.md", bench.path(".agents/skills/leaking/extra.md"))
        .unwrap();
    for n in 0..512 {
        bench.put(&format!(".agents/skills/many/f{n}.txt"), "x");
    }
    for n in 0..511 {
        bench.put(&format!(".agents/skills/just/f{n}.txt"), "x");
    }
    let large = fs::File::create(bench.path(".agents/skills/large/data.bin")).unwrap();
    large.set_len(16 << 20).unwrap();
    let mut session = bench.serve();
    let all = listed(&mut session);
    let own: Vec<&str> =
        uris(&all).into_iter().filter(|uri| uri.starts_with("skill://project.root/")).collect();
    assert_eq!(
        own,
        [
            "skill://project.root/twin/SKILL.md",
            "skill://project.root/just/SKILL.md",
            "skill://project.root/whole/SKILL.md"
        ],
        "of two of one name the one whose id comes first"
    );
    assert_eq!(all[all.len() - 2]["resources"].as_array().unwrap().len(), 512);
    for name in ["linked", "leaking", "secret", "beside", "many", "large", "other-name", "another", "loose"] {
        let uri = format!("skill://project.root/{name}/SKILL.md");
        assert_eq!(code(&mut session, "skills/get", &uri), -32602, "{name}");
        assert_eq!(code(&mut session, "resources/read", &uri), -32602, "{name}");
    }
    for path in ["linked/extra.md", "leaking/extra.md", "beside/references/env.md"] {
        let uri = format!("skill://project.root/{path}");
        assert_eq!(code(&mut session, "resources/read", &uri), -32602, "{path}");
    }
    // Which folder a URI stands for is told, and its pages end.
    let (mut names, mut params) = (Vec::new(), json!({ "uri": "skill://project.root/just" }));
    loop {
        let page = done(&mut session, "resources/directory/read", params.clone());
        names.extend(page["resources"].as_array().unwrap().iter().map(|one| one["name"].to_string()));
        let Some(next) = page["nextCursor"].as_str() else { break };
        params["cursor"] = json!(next);
    }
    assert_eq!(names.len(), 512);
    // Nothing of it is lost to those who look for it.
    let found = session.ok("find_patterns", json!({ "query": "leaking" }));
    assert_eq!(found["data"][0]["id"], "skills/leaking", "{found:#}");

    let check = bench.command().args(["library", "check", "--output", "json"]).output().unwrap();
    let rows: Value = serde_json::from_slice(&check.stdout).unwrap();
    let told: BTreeMap<&str, &str> = rows
        .as_array()
        .unwrap()
        .iter()
        .filter(|row| row["problem"]["code"] == "not_served" && row["library"] == "project")
        .map(|row| (row["problem"]["file"].as_str().unwrap(), row["problem"]["message"].as_str().unwrap()))
        .collect();
    for (file, why) in [
        ("linked/extra.md", "a link"),
        ("leaking/extra.md", "a link"),
        ("secret/SKILL.md", "line 11 looks like it holds a secret"),
        ("beside/references/env.md", "line 1 looks like"),
        ("many", "more than 512 files"),
        ("large", "larger than 16 MiB"),
        ("other-name/SKILL.md", "front matter"),
        ("loose/SKILL.md", "front matter"),
        ("ui/twin", "`backend/twin` has the same name"),
    ] {
        assert!(told.get(file).is_some_and(|message| message.contains(why)), "{file}: {told:#?}");
    }
    assert_eq!(told.len(), 9, "{told:#?}");
    assert!(!rows.to_string().contains("hunter2"), "no secret is told");
}

#[test]
fn a_file_that_changes_after_it_was_listed_is_served_as_it_is_and_told_anew() {
    let bench = house_style();
    let mut session = bench.serve();
    let uri = "skill://project.root/house-style/references/deep/c.json";
    let main = "skill://project.root/house-style/SKILL.md";
    let digest = |session: &mut Session| {
        let got = done(session, "skills/get", json!({ "uri": main }))["skill"].clone();
        let files = got["resources"].as_array().unwrap().clone();
        files.iter().find(|file| file["uri"] == uri).map(|file| file["digest"].clone())
    };
    let before = digest(&mut session).unwrap();
    bench.put(".claude/skills/house-style/references/deep/c.json", "[]");
    assert_eq!(bytes(&mut session, uri), b"[]");
    let after = digest(&mut session).unwrap();
    assert!(after != before && after == format!("sha256:{}", Digest::of(b"[]")), "{after}");
    // A new skill is there at once; one that comes to hold a secret is not there any longer.
    bench.put(".agents/skills/fresh/SKILL.md", &skill("fresh"));
    assert!(uris(&listed(&mut session)).contains(&"skill://project.root/fresh/SKILL.md"));
    bench.put(".claude/skills/house-style/references/deep/c.json", "{ \"password\": \"hunter2hunter2\" }");
    assert_eq!(code(&mut session, "resources/read", uri), -32602);
    assert_eq!(code(&mut session, "skills/get", main), -32602);
    fs::remove_file(bench.path(".claude/skills/house-style/references/deep/c.json")).unwrap();
    assert_eq!(digest(&mut session), None, "it is a skill again, without that file");
    fs::remove_file(bench.path(".claude/skills/house-style/SKILL.md")).unwrap();
    assert_eq!(code(&mut session, "resources/read", main), -32602);
}

#[test]
fn a_library_of_many_skills_has_pages() {
    let bench = Bench::new(&[("README.md", "# App\n")]);
    let library = bench.path("../many");
    for n in 0..60 {
        let folder = library.join(format!("skill-{n:02}"));
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("SKILL.md"), skill(&format!("skill-{n:02}"))).unwrap();
    }
    bench.place.configure(&format!("[library.team.core]\npath = {:?}\n", library.to_str().unwrap()));
    let mut session = bench.serve();
    let first = done(&mut session, "skills/list", json!({}));
    assert_eq!((first["skills"].as_array().unwrap().len(), &first["nextCursor"]), (50, &json!("from-50")));
    let second = done(&mut session, "skills/list", json!({ "cursor": "from-50" }));
    assert_eq!((second["skills"].as_array().unwrap().len(), second.get("nextCursor")), (14, None));
    let beyond = done(&mut session, "skills/list", json!({ "cursor": "from-9999" }));
    assert_eq!((beyond["skills"].as_array().unwrap().len(), beyond.get("nextCursor")), (0, None));
    let all = listed(&mut session);
    assert_eq!(uris(&all)[4], "skill://team.core/skill-00/SKILL.md");
    assert_eq!(uris(&all).last(), Some(&"skill://team.core/skill-59/SKILL.md"));
}
