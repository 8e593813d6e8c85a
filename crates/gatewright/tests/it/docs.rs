//! What the documentation says works.

use super::{Place, exists};

/// The commands of every `sh` block of a page, without comments.
fn commands(page: &str) -> Vec<Vec<String>> {
    let mut found = Vec::new();
    let mut inside = false;
    for line in page.lines() {
        match (line.trim(), inside) {
            ("```sh", _) => inside = true,
            ("```", true) => inside = false,
            (line, true) => {
                let words = line.split(" #").next().unwrap().split_whitespace();
                found.push(words.map(str::to_owned).collect());
            }
            _ => {}
        }
    }
    found
}

#[test]
fn every_command_of_the_guide_works() {
    let page = include_str!("../../../../docs/guide/start.md");
    let place = Place::new();
    let all = commands(page);
    assert!(all.len() >= 8, "{all:?}");
    for words in all {
        assert_eq!(words[0], "gatewright");
        let args: Vec<&str> = words[1..].iter().map(String::as_str).collect();
        place.ok(&args);
    }
    assert!(!exists(&place.root().join("artifacts")), "the last apply was undone");
}

#[test]
fn the_commands_of_the_readme_are_understood() {
    let page = include_str!("../../../../README.md");
    let place = Place::new();
    for words in commands(page).iter().filter(|w| w.first().is_some_and(|w| w == "gatewright")) {
        let args: Vec<&str> = words[1..].iter().map(String::as_str).collect();
        if args != ["doctor"] {
            place.ok(&args);
        }
    }
}

#[test]
fn the_settings_of_the_guide_are_understood() {
    let page = include_str!("../../../../docs/guide/tokens.md");
    let toml = page.split("```toml").nth(1).unwrap().split("```").next().unwrap();
    let place = Place::new();
    std::fs::write(place.root().join("gatewright.toml"), toml).unwrap();
    std::fs::create_dir(place.root().join("themes")).unwrap();
    std::fs::write(place.root().join("themes/dark.json"), "{}").unwrap();
    place.ok(&["config", "show"]);
    let text = place.ok(&["call", "tokens_build", "--source", "tokens", "--platforms", "css"]);
    assert!(text.contains("--harbor-space-s"), "{text}");
}

#[test]
fn the_roots_of_the_guide_are_understood() {
    let page = include_str!("../../../../docs/guide/clients.md");
    let toml = page.split("```toml").nth(1).unwrap().split("```").next().unwrap();
    let place = Place::new();
    std::fs::create_dir_all(place.scratch.path().join("config/gatewright")).unwrap();
    std::fs::create_dir_all(place.scratch.path().join("work/library/tokens")).unwrap();
    std::fs::write(place.scratch.path().join("work/library/tokens/a.json"), super::TOKENS).unwrap();
    std::fs::write(place.scratch.path().join("config/gatewright/config.toml"), toml).unwrap();
    let call = ["call", "tokens_build", "--source", "tokens", "--platforms", "css", "--root", "library"];
    assert!(place.fails(&call).1.contains("read-only"));
}

#[test]
fn the_team_server_of_the_guide_is_understood() {
    let page = include_str!("../../../../docs/guide/team.md");
    let toml = page.split("```toml").nth(1).unwrap().split("```").next().unwrap();
    let place = Place::new();
    let dir = place.scratch.path().join("config/gatewright");
    std::fs::create_dir_all(&dir).unwrap();
    // The same, with folders that are here.
    let here = place.scratch.path().join("srv").display().to_string();
    for name in ["app", "handbook"] {
        std::fs::create_dir_all(place.scratch.path().join("srv").join(name)).unwrap();
    }
    std::fs::write(dir.join("config.toml"), toml.replace("/srv", &here)).unwrap();
    let remote = super::remote::Remote::with(place.command().args(["serve", "--http", "127.0.0.1:0"]));
    let metadata = remote.request("GET", "/.well-known/oauth-protected-resource/mcp", &[], "");
    let metadata: serde_json::Value = serde_json::from_str(&metadata.body).unwrap();
    assert_eq!(metadata["resource"], "https://tools.example/mcp");
    assert_eq!(remote.request("POST", "/mcp", &[("host", "tools.example")], "{}").status, 401);
    remote.finish();
    for key in ["jwks-uri", "algorithms", "plain-jwt", "audiences", "introspection"] {
        assert!(page.contains(&format!("| `{key}")), "{key} is explained");
        assert!(place.ok(&["config", "schema"]).contains(&format!("\"{key}\"")), "{key} is there");
    }
}
