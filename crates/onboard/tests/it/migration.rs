//! What the old program's configuration becomes.

use gatewright_onboard::configuration;
use gatewright_onboard::migrate::migrate;

#[test]
fn what_has_a_place_is_taken_over_and_the_rest_is_told() {
    let old = r#"{
        "$schema": "x", "commands": { "lint": "make lint", "test": "make test" }, "linters": ["eslint"], "testRunner": "jest",
        "timeout": 120000, "makeTargets": { "test": "check" }, "excludePaths": ["dist/**"], "environment": { "A": "1" },
        "parallel": 4, "golang": { "tags": ["x"], "race": true }, "projectType": "Node", "buildSystem": "npm",
        "python": { "markers": "not slow", "coverage": true }, "fileValidation": { "exclude": ["gen/**"], "fileTypes": ["md"], "maxFileSizeMB": 5 },
        "cache": { "enabled": true },
        "plugins": { "enabled": ["git-spice"], "git-spice": { "defaultBranch": "main", "autoRestack": false, "network": true } }, "security": {}, "timeuot": 1
    }"#;
    let made = migrate(old).unwrap();
    let want: toml::Table = r#"
        linters = ["eslint"]
        test-runner = "jest"
        timeout = 120000
        exclude-paths = ["dist/**"]
        parallel = 4
        project-type = "node"
        build-system = "npm"
        [python]
        markers = "not slow"
        cover = true
        [file-validation]
        exclude = ["gen/**"]
        file-types = ["md"]
        max-file-size-mb = 5
        [commands]
        lint = "make lint"
        test = "make test"
        [make-targets]
        test = "check"
        [environment]
        A = "1"
        [golang]
        tags = ["x"]
        race = true
    "#
    .parse()
    .unwrap();
    assert_eq!(made.devtools, want);
    let plugins: toml::Table =
        "enabled = ['git-spice']\n[git-spice]\nautoRestack = false\ndefaultBranch = 'main'\n"
            .parse()
            .unwrap();
    assert_eq!(made.plugins, plugins, "what widens what it may do stays out");
    let text = configuration(Some(&made));
    let whole: toml::Table = text.parse().unwrap();
    assert_eq!(
        (&whole["devtools"], &whole["plugins"]),
        (&made.devtools.clone().into(), &plugins.into()),
        "{text}"
    );
    let told = made.notes.join("\n");
    for word in [
        "cache: say it",
        "plugins: taken over",
        "plugins.git-spice.network: left out",
        "security: left out",
        "`timeout` may be meant",
    ] {
        assert!(told.contains(word), "{word}: {told}");
    }
    assert_eq!(made.notes.len(), 5, "{told}");
}

#[test]
fn what_fits_nothing_here_is_left_out_and_told() {
    for (old, word) in [
        ("{\"timeout\": 10}", "from 1000 to 600000"),
        ("{\"timeout\": \"10\"}", "whole number"),
        ("{\"parallel\": 17}", "from 1 to 16"),
        ("{\"testRunner\": \"karma\"}", "one of make"),
        ("{\"linters\": \"eslint\"}", "list of texts"),
        ("{\"commands\": {\"deploy\": \"x\"}}", "no \"deploy\""),
        ("{\"commands\": {\"lint\": 1}}", "no text"),
        ("{\"golang\": {\"x\": 1}}", "tags, race, cover"),
        ("{\"projectType\": \"cobol\"}", "one of node"),
        ("{\"buildSystem\": 1}", "one of make"),
        ("{\"python\": {\"venv\": \"x\"}}", "markers, cover"),
        ("{\"plugins\": {\"enabled\": [\"../x\"]}}", "names of plugins"),
        ("{\"plugins\": {\"Evil\": {}}}", "tables of plugins"),
        ("{\"plugins\": {\"a\": {\"x\": null}}}", "a value that is none"),
        ("{\"fileValidation\": {\"maxFileSizeMB\": 100}}", "from 1 to 60"),
    ] {
        let made = migrate(old).unwrap();
        assert!(
            made.devtools.is_empty() && made.plugins.is_empty() && made.notes[0].contains(word),
            "{old}: {:?}",
            made.notes
        );
    }
    assert!(migrate("[]").is_err() && migrate("{").is_err() && migrate("").is_err());
}
