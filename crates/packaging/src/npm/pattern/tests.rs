use super::*;

fn meter() -> Meter {
    Meter::new(1_000_000)
}

fn rule(text: &str) -> Pattern {
    Pattern::new(text, Dialect::RULE, &meter()).unwrap()
}

/// As ignore rules are asked: with and without a slash in front.
fn fits(pattern: &str, path: &str) -> bool {
    let names = segments(path);
    let subject = Subject::new(&names).trail(path.ends_with('/'));
    let pattern = rule(pattern);
    pattern.matches(subject, &meter()).unwrap() || pattern.matches(subject.lead(true), &meter()).unwrap()
}

fn check(pattern: &str, fitting: &[&str], others: &[&str]) {
    for path in fitting {
        assert!(fits(pattern, path), "{pattern} takes {path}");
    }
    for path in others {
        assert!(!fits(pattern, path), "{pattern} leaves {path}");
    }
}

#[test]
fn one_name_fits_at_any_depth() {
    check("a.js", &["a.js", "d/a.js", "A.JS", "a.js/"], &["a.js/b", "b.js"]);
    check("a/", &["a/"], &["a", "a/b", "d/a/"]);
}

#[test]
fn a_slash_ties_a_pattern_to_its_folder() {
    check("/a", &["a", "a/"], &["q/a"]);
    check("a/b", &["a/b"], &["q/a/b"]);
    check("./a", &[], &["a"]);
    check("x/../y", &["y", "q/y", "x/y"], &["x"]);
}

#[test]
fn double_stars_take_any_depth() {
    check("a/**", &["a/b", "a/b/c", "a/"], &["a", "b/a/c"]);
    check("**/x", &["x", "a/x", "a/b/x"], &["x/a"]);
    check("a/**/b", &["a/b", "a/q/b", "a/q/r/b/"], &["a/q"]);
    check("**/a/**/b/**", &["q/a/b/c", "a/r/b/s/t"], &["a/b", "b/a/c"]);
    check("a**", &["abc", "d/ab"], &["a/b", "ba"]);
}

#[test]
fn single_stars_stay_within_a_name() {
    check("/*", &["a", ".a"], &["a/b"]);
    check("a/*", &["a/b", "a/b/"], &["a", "a/", "a/b/c"]);
    check("*.js", &["a.js", ".js", "d/A.JS"], &["a.ts"]);
    check("??.js", &["ab.js"], &["a.js", "abc.js"]);
}

#[test]
fn quick_forms_compare_backslashes() {
    check(r"*\.js", &[], &["a.js"]);
    check(r"a*\.js", &["ab.js"], &[]);
}

#[test]
fn brackets() {
    check("[a-c].js", &["b.js", "B.js"], &["d.js"]);
    check("[!a].js", &["b.js"], &["a.js", "A.js"]);
    check("[[:digit:]]x", &["1x", "٣x"], &["ax"]);
    check("[[:upper:]]x", &["Ax", "ax"], &["1x"]);
    check("a[b", &["a[b"], &["ab"]);
    check("[]a]x", &["]x", "ax"], &["bx"]);
    check("[z-a]x", &[], &["zx", "ax", "x"]);
    check("[*]x", &["*x"], &["ax"]);
    check(r"[\^a]x", &["bx"], &["ax"]);
}

#[test]
fn groups() {
    check("@(a|b).js", &["a.js", "b.js"], &["ab.js", ".js"]);
    check("?(a)b", &["ab", "b"], &["aab"]);
    check("+(ab)c", &["abc", "ababc"], &["c"]);
    check("*(ab)c", &["abc", "ababc", "c"], &["ac"]);
    check("/!(a).js", &["b.js", "ab.js", ".js"], &["a.js"]);
    check("!(a).js", &["(a).js"], &["b.js"]);
    check("x!(*.ts|*.js)", &["xa.md"], &["xa.ts", "xa.js"]);
    check("x@(!(a)|b)", &["xb", "xc", "x"], &["xa"]);
    check("x!()", &["xa"], &["x"]);
    check("+(a|+(b|c))d", &["abcd"], &["d"]);
    check("@(a", &["@(a"], &["a"]);
}

#[test]
fn an_escaped_bar_is_a_bar_of_the_regular_expression() {
    check(r"xa\|bz", &["xaq", "qbz"], &["xz"]);
}

#[test]
fn negation_counts_marks() {
    assert!(rule("!a").is_negated() && !rule("!!a").is_negated() && rule("!!!a").is_negated());
    check("!a", &["a"], &["b"]);
    check("#a", &[], &["#a", "a"]);
    check(r"\#a", &["#a"], &[]);
    check(r"\!a", &["!a"], &["a"]);
}

#[test]
fn a_beginning_is_recognised() {
    let begins = |pattern: &str, path: &str| {
        let names = segments(path);
        rule(pattern).begins(Subject::new(&names), &meter()).unwrap()
    };
    assert!(begins("a/b/c", "a") && begins("a/b/c", "a/b") && begins("a/**", "a") && begins("**/c", "q"));
    assert!(!begins("a/b/c", "b") && !begins("a/b/c", "a/c") && !begins("a", "b"));
}

#[test]
fn categories_with_awkward_neighbours_are_refused_as_by_npm() {
    let unreadable =
        |text| Pattern::new(text, Dialect::RULE, &meter()).err() == Some(PatternError::Unreadable);
    assert!(unreadable("[[:alpha:]]-x") && unreadable("?(a|*())"));
    assert!(!unreadable("[[:alpha:]]_x") && !unreadable("a-x"));
}

#[test]
fn hostile_patterns_end() {
    for text in [
        "*a".repeat(100),
        "**/".repeat(300),
        "!(a)".repeat(40),
        "+(".repeat(50),
        "*(".repeat(50) + "a" + &")".repeat(50),
        "{a,b}".repeat(30),
        "{".repeat(500),
        "+(a|b|ab)".repeat(20),
        "[[:alpha:]]".repeat(40),
    ] {
        let meter = Meter::new(20_000_000);
        let names = segments(&"ab".repeat(100));
        if let Ok(pattern) = Pattern::new(&text, Dialect::RULE, &meter) {
            let _ = pattern.matches(Subject::new(&names), &meter);
        }
        assert!(meter.spent() < 20_000_000, "{text} took {}", meter.spent());
    }
}
