//! What parent and worker say to each other, and what a parent does not believe.

use gatewright_query::{Answer, Failure, Kind, Place, Question, Style, TalkError, limits};
use serde_json::{Value, json};

use super::asked;

fn question(filter: &str, input: Value) -> Question {
    Question { filter: filter.to_owned(), input, style: None }
}

fn deep(levels: usize) -> Value {
    (0..levels).fold(json!(1), |inner, _| json!([inner]))
}

#[test]
fn a_question_arrives_as_it_was_asked_and_bounded() {
    let mut asked = question(".a", json!({ "a": [1, 2.5, "é\n", u64::MAX, i64::MIN, null] }));
    asked.style = Some(Style { compact: true, raw: false, sort_keys: true });
    let line = asked.encode().unwrap();
    assert_eq!((line.last(), Question::decode(&line[..line.len() - 1])), (Some(&b'\n'), Ok(asked)));
    let long = question(&" ".repeat(limits::FILTER_BYTES + 1), json!(1));
    assert_eq!(long.encode(), Err(TalkError::Long("the filter", limits::FILTER_BYTES)));
    let large = question(".", json!("x".repeat(limits::INPUT_BYTES)));
    assert_eq!(large.encode(), Err(TalkError::Long("the input", limits::INPUT_BYTES)));
    assert_eq!(question(".", deep(limits::DEPTH + 1)).encode(), Err(TalkError::Deep("the input")));
    assert!(question(".", deep(limits::DEPTH)).encode().is_ok());
}

#[test]
fn a_parent_believes_no_answer_that_no_worker_of_ours_gives() {
    let plain = question(".", json!(1));
    let said = |answer: &Answer| {
        let mut line = serde_json::to_vec(answer).unwrap();
        line.push(b'\n');
        Answer::decode(&line[..line.len() - 1], &plain)
    };
    let done = |results: Vec<Value>, text: Option<&str>| Answer::Done {
        results,
        text: text.map(str::to_owned),
        is_cut: false,
        error: None,
    };
    assert!(said(&done(vec![deep(limits::DEPTH)], None)).is_ok());
    assert!(said(&done(vec![json!(1); limits::VALUES + 1], None)).is_err(), "too many values");
    assert!(said(&done(vec![deep(limits::DEPTH + 1)], None)).is_err(), "too deep");
    assert!(said(&done(vec![], Some("1\n"))).is_err(), "a text that nobody asked for");
    let message = "x".repeat(limits::MESSAGE_BYTES + 1);
    assert!(said(&Answer::Failed(Failure { kind: Kind::Engine, message, place: None })).is_err());
    for line in [&b"{}"[..], b"{\"done\":{}}", b"", b"null", b"{\"failed\":{\"kind\":\"other\"}}"] {
        assert!(Answer::decode(line, &plain).is_err(), "{line:?}");
    }
}

#[test]
fn a_style_says_how_the_text_is_written() {
    let text = |filter: &str, style: Style| match asked(filter, &json!("a\"b"), Some(style)) {
        Answer::Done { text: Some(text), .. } => text,
        other => panic!("{other:?}"),
    };
    let plain = Style::default();
    assert_eq!(text("{b: 1, a: [2, {}]}", plain), "{\n  \"b\": 1,\n  \"a\": [\n    2,\n    {}\n  ]\n}\n");
    assert_eq!(text("{b: 1, a: [2, []]}", Style { compact: true, ..plain }), "{\"b\":1,\"a\":[2,[]]}\n");
    assert_eq!(
        text("{b: {d: 1, c: 2}, a: 3}", Style { compact: true, sort_keys: true, ..plain }),
        "{\"a\":3,\"b\":{\"c\":2,\"d\":1}}\n"
    );
    assert_eq!(text("., [.]", Style { raw: true, compact: true, ..plain }), "a\"b\n[\"a\\\"b\"]\n");
    assert_eq!(text("., 1.0, nan", plain), "\"a\\\"b\"\n1\nnull\n");
}

#[test]
fn what_is_no_json_is_refused_and_what_is_larger_is_cut() {
    for filter in ["{(1): 2}", "\"a\" | tobytes"] {
        let Answer::Done { results, error: Some(error), .. } = asked(filter, &json!(null), None) else {
            panic!()
        };
        assert!(results.is_empty() && error.contains("JSON"), "{error}");
    }
    let Answer::Done { results, is_cut: true, error: None, .. } = asked("range(1e12)", &json!(null), None)
    else {
        panic!()
    };
    assert_eq!(results.len(), limits::VALUES);
    let Answer::Done { results, is_cut: true, .. } = asked("repeat(\"x\" * 100000)", &json!(null), None)
    else {
        panic!()
    };
    assert_eq!(results.len(), limits::OUTPUT_BYTES / 100_003);
    let Answer::Done { error: Some(error), .. } = asked("reduce range(200) as $i (1; [.])", &json!(1), None)
    else {
        panic!()
    };
    assert!(error.contains("deeper"), "{error}");
}

#[test]
fn a_filter_that_cannot_be_read_is_told_with_its_place() {
    let failed = |filter: &str| match asked(filter, &json!(null), None) {
        Answer::Failed(failure) => failure,
        other @ Answer::Done { .. } => panic!("{filter}: {other:?}"),
    };
    let cases = [
        (".a |\n  map(", Some((2, 7)), "closing parenthesis"),
        (".a | | .b", Some((1, 6)), "is wanted"),
        (".a | nope(1)", Some((1, 6)), "`nope/1`"),
        ("$x", Some((1, 1)), "variable"),
        ("", Some((1, 1)), "its end"),
        ("now", Some((1, 1)), "beyond the input"),
        ("$ENV", Some((1, 1)), "beyond the input"),
        ("[inputs]", Some((1, 2)), "beyond the input"),
        ("halt", Some((1, 1)), "beyond the input"),
        ("import \"a\" as a; 1", Some((1, 9)), "module"),
        ("include \"a\"; 1", Some((1, 10)), "module"),
    ];
    for (filter, place, words) in cases {
        let failure = failed(filter);
        assert_eq!(failure.kind, Kind::Filter, "{filter}");
        let place = place.map(|(line, column)| Place { line, column });
        assert_eq!(failure.place, place, "{filter}: {failure}");
        assert!(failure.message.contains(words), "{filter}: {failure}");
    }
}
