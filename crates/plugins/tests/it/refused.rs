//! What a file may not say.

use serde_json::json;

use super::{read, why, with};

const FILE: &str = "input.file = { type = 'path', required = true, description = 'A file.' }\n";
const EXAMPLE: &str = "example = [{ input = { file = 'a' }, argv = ['-l', '--', 'a'] }]\n";

fn plain(change: &str, to: &str) -> String {
    with("['-l', '--', '{file}']", &format!("{FILE}{EXAMPLE}")).replacen(change, to, 1)
}

#[test]
fn a_small_plugin_is_understood() {
    let plugin = read(&plain("", "")).unwrap();
    assert_eq!((plugin.name(), plugin.toolset().as_str()), ("word-count", "word_count"));
    let tool = &plugin.tools[0];
    assert_eq!(tool.name.as_str(), "word_count_lines");
    let schema = tool.schema();
    assert_eq!(schema["required"], json!(["file"]));
    assert_eq!(schema["additionalProperties"], false);
    assert!(schema["properties"].get("directory").is_none());
}

#[test]
fn the_example_is_understood() {
    let plugin = read(include_str!("../../../../examples/plugins/ruff.toml")).unwrap();
    assert_eq!(plugin.tools.len(), 2);
    let config = plugin.configured(json!({ "targetVersion": "py311" }).as_object().unwrap()).unwrap();
    let argv = plugin.tools[1].argv(json!({ "path": "a.py" }).as_object().unwrap(), &config, None).unwrap();
    assert!(argv.contains(&"--target-version=py311".to_owned()), "{argv:?}");
    let why = plugin.configured(json!({ "targetVersion": 311 }).as_object().unwrap()).unwrap_err();
    assert!(why.contains("targetVersion: it is not a text"), "{why}");
    let why = plugin.configured(json!({ "targetVersoin": "py311" }).as_object().unwrap()).unwrap_err();
    assert!(why.contains("no such key"), "{why}");
}

#[test]
fn a_pattern_of_health_is_held_to_be_one_before_its_program_is_ever_asked() {
    let asked = |pattern: &str| {
        let health = format!("health = {{ program = 'wc', args = ['--version'], matches = '{pattern}' }}");
        plain("required-commands = ['wc']", &format!("required-commands = ['wc']\n{health}"))
    };
    let why = why(&asked("^wc ("));
    assert!(why.contains("plugin.health: `matches` is no pattern"), "{why}");
    let plugin = read(&asked("^wc [(]GNU")).unwrap();
    let matches = plugin.healthy.unwrap();
    assert!(matches.is_match("some line\nwc (GNU coreutils) 9.1") && !matches.is_match("busybox wc"));
}

#[test]
fn what_a_file_may_not_say_is_refused_with_the_place_and_the_reason() {
    let cases = [
        ("schema = 1", "schema = 2", "schema: it is 2"),
        ("kind = 'read'", "knid = 'read'", "unknown key `knid`: did you mean `kind`?"),
        ("name = 'word-count'", "name = 'Word'", "plugin.name"),
        ("name = 'word-count'", "name = 'word--count'", "plugin.name"),
        ("version = '1.0.0'", "version = '1'", "plugin.version"),
        ("description = 'Counts.'", "description = \"Counts\\u202e.\"", "hidden character U+202E"),
        ("version = '1.0.0'", "version = '1.0.0'\nhomepage = 'http://x'", "plugin.homepage"),
        ("version = '1.0.0'", "version = '1.0.0'\nrequired-server-version = '>=9'", "wants gatewright >=9"),
        ("required-commands = ['wc']", "required-commands = ['bash']", "is a shell"),
        ("required-commands = ['wc']", "required-commands = ['./wc']", "no plain name"),
        ("required-commands = ['wc']", "required-commands = []", "1 to 10"),
        ("program = 'wc'", "program = 'cat'", "none of required-commands"),
        ("name = 'lines'", "name = 'Lines'", "tool Lines: name"),
        ("kind = 'read'", "kind = 'run'", "says in `paths`"),
        ("kind = 'read'", "kind = 'read'\nwrites = { paths = ['**'] }", "proposes nothing"),
        ("kind = 'read'", "kind = 'run'\nwrites = { paths = ['../x'] }", "no glob"),
        ("kind = 'read'", "kind = 'read'\nwrites = { persists = ['.cache'] }", "leaves nothing"),
        ("kind = 'read'", "kind = 'read'\nenv = { LD_PRELOAD = 'x' }", "cannot be set"),
        ("kind = 'read'", "kind = 'read'\nenv = { PATH = 'x' }", "cannot be set"),
        ("kind = 'read'", "kind = 'read'\ntimeout = 601", "1 to 600"),
        ("kind = 'read'", "kind = 'read'\noutput = { parser = 'sariff' }", "no report format"),
        ("kind = 'read'", "kind = 'read'\noutput = { findings-exit = [0] }", "from 1 to 255"),
        ("kind = 'read'", "kind = 'read'\nnetwork = { hosts = ['a b'] }", "no host"),
        ("input.file", "input.apply", "gatewright's own"),
        ("'{file}']", "'{other}']", "no input other"),
        ("'{file}']", "'{file}{file}']", "more than one value"),
        ("'{file}']", "'{file']", "a brace stands alone"),
        ("'{file}']", "'{}', '{file}']", "there is none here"),
        ("'{file}']", "'x']", "file is not used"),
        ("argv = ['-l', '--', 'a']", "argv = ['-l', 'a']", "example 1: it makes"),
        ("example = [", "example = []\n#", "has no example"),
    ];
    for (change, to, reason) in cases {
        let text = plain(change, to);
        let said = why(&text);
        assert!(said.contains(reason), "{to}: {said}");
    }
    assert!(why("schema = \n").contains("line 1"));
    assert!(why(&"x".repeat(300_000)).contains("at most 262144"));
}

/// A plugin whose tool moves refs, with `table` as its `git` and `head` as the plugin's own.
fn of_git(head: &str, kind: &str, table: &str) -> String {
    let more = format!("{FILE}{EXAMPLE}git = {table}\n{head}\n");
    with("['-l', '--', '{file}']", &more).replacen("kind = 'read'", &format!("kind = '{kind}'"), 1)
}

#[test]
fn what_moves_refs_says_which_and_has_a_clone_that_names_no_program() {
    let whole = "{ clone = true, refs = ['refs/heads/*', 'refs/own/data'], push = 'request', fetch = true }";
    let plugin = read(&of_git("", "run", whole)).unwrap();
    let told = plugin.told().join("\n");
    assert!(
        told.contains("proposes moves of refs/heads/*, refs/own/data") && told.contains("[egress]"),
        "{told}"
    );
    read(&of_git("", "read", "{ clone = true }")).unwrap();
    for (kind, table, reason) in [
        ("run", "{ clone = false, refs = ['refs/heads/*'] }", "clone = true"),
        ("run", "{ clone = true }", "says in `refs`"),
        ("read", whole, "moves no refs"),
        ("read", "{ clone = true, push = 'request' }", "pushes nothing"),
        ("run", "{ clone = true, refs = ['HEAD'] }", "is no ref"),
        ("run", "{ clone = true, refs = ['refs/*'] }", "is no ref"),
        ("run", "{ clone = true, refs = ['refs/heads/**'] }", "is no ref"),
        ("run", "{ clone = true, refs = ['refs/own/../heads'] }", "is no ref"),
        ("run", "{ clone = true, refs = ['refs/tags/*'] }", "is git's"),
        ("run", "{ clone = true, refs = ['refs/remotes/*'] }", "is git's"),
        ("run", "{ clone = true, refs = ['refs/heads/*'], pull = true }", "unknown"),
        ("run", "{ clone = true, refs = ['refs/heads/*'] }\nwrites = { paths = ['**'] }", "writes no files"),
        ("run", "{ clone = true, refs = ['refs/heads/*'] }\nnetwork = { hosts = ['h.example'] }", "neither"),
    ] {
        let said = why(&of_git("", kind, table));
        assert!(said.contains(reason), "{table}: {said}");
    }
    for (head, reason) in [
        ("sections = ['core']", "not a section of a program's own"),
        ("sections = ['alias']", "not a section of a program's own"),
        ("sections = ['own.x']", "not a section"),
        ("settings = { 'own.x' = 'y' }", "no key of its own sections"),
        ("sections = ['own']\nsettings = { 'core.editor' = 'y' }", "no key of its own sections"),
        ("sections = ['own']\nsettings = { 'own.x' = 'a;b' }", "no plain value"),
        ("sections = ['own']\nsettings = { 'own.\"x' = 'a' }", "no key"),
        ("begin = { unless = 'refs/own/data', args = ['{file}'] }", "no input"),
        ("begin = { unless = 'main', args = ['init'] }", "is no ref"),
    ] {
        let text = of_git("", "run", whole).replacen("[[tool]]", &format!("[git]\n{head}\n[[tool]]"), 1);
        let said = why(&text);
        assert!(said.contains(reason), "{head}: {said}");
    }
}

#[test]
fn pull_requests_are_for_what_is_pushed_and_asked_for_by_a_switch() {
    let of = |push: &str, pulls: &str| {
        let switch = "input.open = { type = 'boolean', description = 'Open.' }";
        let git = format!(
            "git = {{ clone = true, refs = ['refs/heads/*'], push = '{push}', pulls = {{ {pulls} }} }}"
        );
        let words = "['-l', { when = 'open', then = ['-o'] }, '--', '{file}']";
        with(words, &format!("{FILE}{switch}\n{EXAMPLE}{git}\n")).replacen("kind = 'read'", "kind = 'run'", 1)
    };
    let whole = "when = 'open', stack = ['--json'], branch = '/name', base = '/down/name'";
    let plugin = read(&of("request", whole)).unwrap();
    assert!(plugin.told().join("\n").contains("open pull requests at GitHub with your account"));
    let given = |value: serde_json::Value| value.as_object().unwrap().clone();
    assert!(plugin.tools[0].is_set("open", &given(json!({ "open": true }))));
    assert!(!plugin.tools[0].is_set("open", &given(json!({}))));
    for (push, pulls, reason) in [
        ("refuse", whole.to_owned(), "push = \"request\""),
        ("request", whole.replace("'open'", "'file'"), "file is no boolean input"),
        ("request", whole.replace("'open'", "'other'"), "other is no boolean input"),
        ("request", format!("{whole}, draft = 'file'"), "file is no boolean input"),
        ("request", whole.replace("['--json']", "[]"), "1 to 20 words"),
        ("request", whole.replace("'/name'", "'name'"), "no JSON pointer"),
        ("request", whole.replace("'/down/name'", "''"), "no JSON pointer"),
        ("request", format!("{whole}, forge = 'x'"), "unknown"),
    ] {
        let said = why(&of(push, &pulls));
        assert!(said.contains(reason), "{pulls}: {said}");
    }
}

#[test]
fn a_refusal_that_does_not_hold_or_holds_for_another_reason_refuses_the_plugin() {
    let text = plain("", "") + "refuses = [{ input = { file = 'fine' }, why = 'x' }]\n";
    assert!(why(&text).contains("it is not refused"));
    let text = plain("", "") + "refuses = [{ input = { file = '../a' }, why = 'begins with' }]\n";
    assert!(why(&text).contains("another reason"));
    let text = plain("", "") + "refuses = [{ input = { file = '../a' }, why = 'leaves' }]\n";
    assert!(read(&text).is_ok());
}

#[test]
fn a_program_with_a_grammar_is_held_to_it_as_well() {
    let text = with(
        "['push', '--', '{file}']",
        &format!("{FILE}example = [{{ input = {{ file = 'a' }}, argv = ['push', '--', 'a'] }}]\n"),
    )
    .replace("'wc'", "'git'");
    let said = why(&text);
    assert!(said.contains("git is not run") || said.contains("refused"), "{said}");
}

#[test]
fn a_value_that_begins_with_a_dash_is_no_option() {
    let words = "input.word = { type = 'line', description = 'W.' }\nexample = [{ argv = ['-l'] }]\n";
    let plugin = read(&with("['-l', '{word}']", words)).unwrap();
    let given = json!({ "word": "--files0-from=x" });
    let said = plugin.tools[0].argv(given.as_object().unwrap(), &serde_json::Map::new(), None).unwrap_err();
    assert!(said.contains("begins with `-`"), "{said}");
    // Behind `--`, or as the value of an option, it is what it is.
    let behind = "input.word = { type = 'line', description = 'W.' }\nexample = [{ argv = ['--'] }]\n";
    let plugin = read(&with("['--', '{word}']", behind)).unwrap();
    assert_eq!(
        plugin.tools[0].argv(given.as_object().unwrap(), &serde_json::Map::new(), None).unwrap()[1],
        "--files0-from=x"
    );
}

#[test]
fn words_depend_on_inputs() {
    let more = "input.all = { type = 'boolean', description = 'A.' }\n\
                input.mode = { type = 'enum', values = ['a', 'b'], default = 'a', description = 'M.' }\n\
                input.names = { type = 'identifier', list = true, description = 'N.' }\n\
                example = [{ argv = ['one', '{x}'] }, { input = { all = true, mode = 'b', names = ['p', 'q'] }, argv = ['--all', 'two', '--name', 'p', '--name', 'q', '{x}'] }, \
                { input = { all = false }, argv = ['one', '{x}'] }]\n";
    let args = "[{ when = 'all', then = ['--all'] }, { when = 'mode', is = 'b', then = ['two'], else = ['one'] }, \
                { each = 'names', as = ['--name', '{}'] }, '{{x}}']";
    read(&with(args, more)).unwrap();
    let said = why(&with(&args.replace("is = 'b'", "is = 'c'"), more));
    assert!(said.contains("never be so"), "{said}");
}

#[test]
fn the_schema_of_files_names_every_key() {
    let text = gatewright_plugins::schema().to_string();
    for key in ["required-commands", "findings-exit", "default-enabled", "max-items", "refuses"] {
        assert!(text.contains(key), "{key}");
    }
}
