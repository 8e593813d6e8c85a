//! What is more than a type is refused, with its place.

use gatewright_skills::{limits, strip};

fn refused(text: &str, line: u32, column: u32, words: &str) {
    match strip("a.ts", text) {
        Ok(stripped) => panic!("{text}\n{}", stripped.text),
        Err(refusal) => {
            assert_eq!((refusal.line, refusal.column), (line, column), "{text}: {refusal}");
            assert!(refusal.message.contains(words), "{text}: {refusal}");
        }
    }
}

#[test]
fn what_makes_values_is_refused() {
    refused("let a;\n enum B { C }", 2, 2, "`enum`");
    refused("const enum B { C }", 1, 1, "`enum`");
    refused("export enum B { C }", 1, 1, "`enum`");
    refused("namespace A { export const b = 1 }", 1, 1, "namespace");
    refused("namespace A.B { let c }", 1, 1, "namespace");
    refused("namespace A { type B = 1; c() }", 1, 1, "namespace");
    refused("class A { constructor(private a: string) {} }", 1, 23, "property");
    refused("class A { constructor(a, readonly b = 1) {} }", 1, 26, "property");
    refused("@a class B {}", 1, 1, "decorators");
    refused("class A { @b c() {} }", 1, 11, "decorators");
    refused("class A { b(@c d) {} }", 1, 13, "decorators");
    refused("import a = require('b');", 1, 1, "import");
    refused("import a = b.c;", 1, 1, "import");
    refused("export import a = b.c;", 1, 1, "import");
    refused("export = a;", 1, 1, "export default");
}

#[test]
fn the_first_of_several_is_told() {
    refused("let a: b;\nclass A { c = () => { enum D {} }; constructor(public e) {} }", 2, 23, "`enum`");
}

#[test]
fn angle_brackets_are_refused_where_spaces_would_change_what_they_mean() {
    for text in ["a => <B>{ c: 1 };", "<B>{ c: 1 };", "<A><B>function () {};", "export default <B>class {};"]
    {
        let refusal = strip("a.ts", text).unwrap_err();
        assert!(refusal.message.contains("`value as T`"), "{text}: {refusal}");
    }
    refused("function f() { return <\nB>c; }", 1, 23, "`value as T`");
    assert!(strip("a.ts", "const a = <B>{ c: 1 };").is_ok());
}

#[test]
fn other_languages_are_refused() {
    for path in ["a.tsx", "a.jsx", "a.cts", "a.cjs", "a.d.ts", "a.d.mts", "a.json", "a", "d.ts/x", ".ts/"] {
        assert!(strip(path, "").unwrap_err().message.contains("only .ts"), "{path}");
    }
    assert!(strip("a.ts", "const a = <b>c</b>;").is_err());
    assert!(strip("a.js", "let a: string;").is_err());
    assert!(strip("a.mjs", "export default 1;").is_ok());
}

#[test]
fn what_is_no_typescript_is_refused_with_its_place() {
    refused("let a = 1;\nlet b = ;\n", 2, 9, "");
    refused("let a = 'b\n';", 1, 9, "");
    refused("}", 1, 1, "");
}

#[test]
fn long_and_deep_texts_are_refused() {
    let long = "a;".repeat(limits::FILE_BYTES);
    assert!(strip("a.ts", &long).unwrap_err().message.contains("longer"));
    for (open, close) in
        [("(", ")"), ("[", "]"), ("{", "}"), ("a(", ")"), ("`${", "}`"), ("a<", ">"), ("(a: ", ")")]
    {
        let text = format!("x = {}1{}", open.repeat(20_000), close.repeat(20_000));
        assert!(strip("a.ts", &text).is_err(), "{open}");
    }
    for part in [
        "!",
        "-",
        "a ? b : ",
        "a => ",
        "if (a) ",
        "a + ",
        "typeof ",
        "a.",
        "else if (a) b; ",
        "new ",
        "await ",
    ] {
        let text = format!("if (a) b; {}1", part.repeat(20_000));
        let _ = strip("a.ts", &text);
    }
    let text = format!("x = {}1", "!".repeat(20_000));
    assert!(strip("a.ts", &text).unwrap_err().message.contains("too deep"));
    assert!(strip("a.ts", &format!("x = {}1{}", "[".repeat(200), "]".repeat(200))).is_ok());
}

#[test]
fn files_that_name_more_than_they_may_are_refused() {
    let text = "import 'a';\n".repeat(1_001);
    assert!(strip("a.ts", &text).unwrap_err().message.contains("1000"));
}

#[test]
fn what_would_be_another_program_without_its_types_is_refused() {
    for text in [
        "a + b as any * c;",
        "a ** b as any ** c;",
        "x = 1 + a as any ** c;",
        "let b = 1 + a as any[] * c;",
        "a ?? b as any || c;",
    ] {
        assert!(strip("a.ts", text).is_err(), "{text}");
    }
    refused("let a;\nlet d = a ** b as any ** c;", 2, 9, "parentheses");
    for text in [
        "(a + b as any) * c;",
        "a + (b as any) * c;",
        "a * b as any + c;",
        "1 + 1 as number + 2;",
        "a & b as any & T;",
    ] {
        assert!(strip("a.ts", text).is_ok(), "{text}");
    }
}

#[test]
fn what_nests_just_as_deep_as_it_may_is_read() {
    for part in ["!", "a ? b : ", "a => ", "if (a) ", "a + ", "typeof ", "a.", "new ", "a = ", "async () => "]
    {
        let text = format!("{}a;", part.repeat(9_900 / part.split_whitespace().count() / 2));
        assert!(strip("a.ts", &text).is_ok(), "{part}");
    }
    for (open, close) in [
        ("(", ")"),
        ("[", "]"),
        ("{", "}"),
        ("a(", ")"),
        ("async (a = ", ") => a"),
        ("`${", "}`"),
        ("() => {", "}"),
    ] {
        let text = format!("x = {}1{};", open.repeat(240), close.repeat(240));
        assert!(strip("a.ts", &text).is_ok() || open == "{", "{open}");
    }
}
