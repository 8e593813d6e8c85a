use gatewright_failures::{Analyzer, FailedRun, PatternError, PatternSpec};

fn spec(text: &str) -> PatternSpec {
    toml::from_str(&format!(
        "id = 'shop-down'\ncategory = 'configuration'\nseverity = 'high'\ntitle = 'The shop is down'\n{text}"
    ))
    .unwrap()
}

fn refusal(text: &str) -> String {
    Analyzer::new(&[spec(text)]).unwrap_err().to_string()
}

#[test]
fn a_projects_own_pattern_comes_before_equally_severe_built_in_ones() {
    let own = spec(
        "expressions = [{ find = '--- FAIL: TestShop', context = [{ find = 'dial tcp (?<address>\\S+): connection refused', after = 3, required = true }] }]\n\
         suggestions = [{ text = 'Start what listens on {address}.', priority = 'high', tool = { name = 'make_build', arguments = { target = 'db' } } }]",
    );
    let analyzer = Analyzer::new(&[own]).unwrap();
    let stdout =
        "--- FAIL: TestShop (0.00s)\n    shop_test.go:7: dial tcp 127.0.0.1:5432: connection refused\n";
    let analysis = analyzer.analyze(&FailedRun { stdout, ..FailedRun::default() });
    let ids: Vec<_> = analysis.findings.iter().map(|finding| finding.pattern.as_str()).collect();
    assert_eq!(ids, ["shop-down", "go-test-fail"]);
    assert!(analysis.suggestions.iter().any(|s| s.text == "Start what listens on 127.0.0.1:5432."));
    let without = "--- FAIL: TestShop (0.00s)\n    shop_test.go:7: something else\n";
    assert_eq!(analyzer.analyze(&FailedRun { stdout: without, ..FailedRun::default() }).findings.len(), 1);
    assert_eq!(analyzer.knowledge(None).own, 1);
}

#[test]
fn an_expression_without_literals_is_tried_on_every_line_and_a_command_narrows_it() {
    let own = spec("expressions = [{ find = '^shop: (?<name>\\w+) is closed$', command = '^make open' }]");
    let analyzer = Analyzer::new(&[own]).unwrap();
    let args = ["open".to_owned()];
    let run = FailedRun {
        program: "make",
        args: &args,
        stderr: "x\ny\nshop: bakery is closed\n",
        ..FailedRun::default()
    };
    let analysis = analyzer.analyze(&run);
    assert_eq!((analysis.matches[0].line, analysis.matches[0].captures["name"].as_str()), (3, "bakery"));
    assert!(!analyzer.analyze(&FailedRun { program: "npm", ..run }).explained);
}

#[test]
fn an_outcome_alone_is_a_pattern() {
    let analyzer = Analyzer::new(&[spec("outcomes = [{ exit_code = 75 }]")]).unwrap();
    assert!(analyzer.analyze(&FailedRun { exit_code: Some(75), ..FailedRun::default() }).explained);
    assert!(!analyzer.analyze(&FailedRun { exit_code: Some(1), ..FailedRun::default() }).explained);
}

#[test]
fn a_bad_pattern_is_an_error_that_names_it_and_the_reason() {
    let said = refusal("expressions = [{ find = 'a(b' }]");
    assert!(
        said.contains("`shop-down`") && said.contains("`a(b`") && said.contains("unclosed group"),
        "{said}"
    );
    assert!(refusal("expressions = [{ find = 'x*' }]").contains("empty line"));
    assert!(refusal(&format!("expressions = [{{ find = '{}' }}]", "a".repeat(1_001))).contains("1,000"));
    assert!(refusal("expressions = [{ find = '(?:a{1000}){1000}' }]").contains("limit"));
    assert!(refusal("").contains("never matches"));
    assert!(refusal("outcomes = [{ command = 'x' }]").contains("outcome"));
    assert!(refusal("expressions = [{ find = 'a', context = [{ find = 'b', after = 21 }] }]").contains("20"));
    let said = refusal("expressions = [{ find = 'a' }]\nsuggestions = [{ text = 'See {file}.' }]");
    assert!(said.contains("{file}"), "{said}");
    let mut bad = spec("expressions = [{ find = 'a' }]");
    bad.id = "Shop Down".to_owned();
    assert!(Analyzer::new(&[bad]).unwrap_err().to_string().contains("lower-case"));
}

#[test]
fn ids_are_taken_once() {
    let mut own = spec("expressions = [{ find = 'a' }]");
    assert_eq!(
        Analyzer::new(&[own.clone(), own.clone()]).unwrap_err(),
        PatternError::Twice { id: "shop-down".to_owned() }
    );
    for built_in in ["go-test-fail", "perf-nested-loops"] {
        built_in.clone_into(&mut own.id);
        assert_eq!(
            Analyzer::new(&[own.clone()]).unwrap_err(),
            PatternError::BuiltIn { id: built_in.to_owned() }
        );
    }
    let many: Vec<_> = (0..201).map(|n| PatternSpec { id: format!("p{n}"), ..own.clone() }).collect();
    assert_eq!(Analyzer::new(&many).unwrap_err(), PatternError::TooMany { given: 201, limit: 200 });
}

#[test]
fn an_unknown_key_is_an_error() {
    let text = "id = 'a'\ncategory = 'test'\nseverity = 'low'\ntitle = 'x'\nexpresions = []\n";
    assert!(toml::from_str::<PatternSpec>(text).unwrap_err().to_string().contains("expresions"));
}
