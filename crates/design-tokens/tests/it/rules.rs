//! The format's rules, one small case each.

use design_tokens::Options;

use super::{css, errors, files, one, scss};

/// A token of each type beside the CSS that it must give.
#[test]
fn every_type_is_written_as_css_understands_it() {
    for (ty, value, expected) in [
        ("color", r#"{"colorSpace":"srgb","components":[1,0,0.5019607843137255]}"#, "#ff0080"),
        ("color", r#"{"colorSpace":"srgb","components":[0,0,0],"alpha":0.5}"#, "rgb(0 0 0 / 0.5)"),
        ("color", r#"{"colorSpace":"srgb","components":[0.1,"none",0.3]}"#, "color(srgb 0.1 none 0.3)"),
        (
            "color",
            r#"{"colorSpace":"srgb-linear","components":[0.1,0.2,0.3]}"#,
            "color(srgb-linear 0.1 0.2 0.3)",
        ),
        ("color", r#"{"colorSpace":"hsl","components":[330,100,50],"alpha":0.9}"#, "hsl(330 100% 50% / 0.9)"),
        ("color", r#"{"colorSpace":"hwb","components":["none",0,0]}"#, "hwb(none 0% 0%)"),
        ("color", r#"{"colorSpace":"lab","components":[60.17,93.54,-60.5]}"#, "lab(60.17% 93.54 -60.5)"),
        ("color", r#"{"colorSpace":"lch","components":[60.17,111.4,327.11]}"#, "lch(60.17% 111.4 327.11)"),
        ("color", r#"{"colorSpace":"oklab","components":[0.7,0.27,-0.17]}"#, "oklab(0.7 0.27 -0.17)"),
        ("color", r#"{"colorSpace":"oklch","components":[0.7,0.32,328.4]}"#, "oklch(0.7 0.32 328.4)"),
        ("color", r#"{"colorSpace":"display-p3","components":[1,0,0]}"#, "color(display-p3 1 0 0)"),
        ("color", r#"{"colorSpace":"a98-rgb","components":[1,0,0]}"#, "color(a98-rgb 1 0 0)"),
        ("color", r#"{"colorSpace":"prophoto-rgb","components":[1,0,0]}"#, "color(prophoto-rgb 1 0 0)"),
        ("color", r#"{"colorSpace":"rec2020","components":[1,0,0]}"#, "color(rec2020 1 0 0)"),
        ("color", r#"{"colorSpace":"xyz-d65","components":[0.95,1,1.089]}"#, "color(xyz-d65 0.95 1 1.089)"),
        ("color", r#"{"colorSpace":"xyz-d50","components":[0.1,0.2,0.3]}"#, "color(xyz-d50 0.1 0.2 0.3)"),
        ("dimension", r#"{"value":-0.5,"unit":"rem"}"#, "-0.5rem"),
        ("dimension", r#"{"value":0,"unit":"px"}"#, "0px"),
        (
            "fontFamily",
            r#"["Inter","Helvetica Neue","sans-serif"]"#,
            r#"Inter, "Helvetica Neue", sans-serif"#,
        ),
        ("fontWeight", r#""extra-bold""#, "800"),
        ("fontWeight", "350", "350"),
        ("duration", r#"{"value":1.5,"unit":"s"}"#, "1.5s"),
        ("cubicBezier", "[0.5,-1,1,2.5]", "cubic-bezier(0.5, -1, 1, 2.5)"),
        ("number", "1e-7", "0.0000001"),
        ("strokeStyle", r#""groove""#, "groove"),
        ("strokeStyle", r#"{"dashArray":[{"value":4,"unit":"px"}],"lineCap":"butt"}"#, "dashed"),
        (
            "border",
            r#"{"color":{"colorSpace":"srgb","components":[0,0,0]},"width":{"value":1,"unit":"px"},"style":"solid"}"#,
            "1px solid #000000",
        ),
        (
            "transition",
            r#"{"duration":{"value":200,"unit":"ms"},"delay":{"value":0,"unit":"ms"},"timingFunction":[0,0,1,1]}"#,
            "200ms cubic-bezier(0, 0, 1, 1) 0ms",
        ),
        (
            "gradient",
            r#"[{"color":{"colorSpace":"srgb","components":[0,0,0]},"position":0},{"color":{"colorSpace":"srgb","components":[1,1,1]},"position":0.666}]"#,
            "#000000 0%, #ffffff 66.6%",
        ),
    ] {
        let compiled = one(&format!(r#"{{"t":{{"$type":"{ty}","$value":{value}}}}}"#))
            .unwrap_or_else(|e| panic!("{value}: {e:?}"));
        let text = css(&compiled, &Options::default());
        assert!(text.contains(&format!("--t: {expected};")), "{ty} {value}: {text}");
        assert!(!scss(&compiled, &Options::default()).is_empty(), "{value}");
    }
}

#[test]
fn shadows_and_typography_keep_the_references_of_their_parts() {
    let text = r##"{
      "ink": {"$type":"color","$value":{"colorSpace":"srgb","components":[0,0,0]}},
      "px": {"$type":"dimension","$value":{"value":2,"unit":"px"}},
      "s": {"$type":"shadow","$value":[
        {"color":"{ink}","offsetX":"{px}","offsetY":{"value":1,"unit":"px"},"blur":{"value":0,"unit":"px"},"spread":{"$ref":"#/px"},"inset":true},
        {"color":{"colorSpace":"srgb","components":[1,1,1]},"offsetX":"{px}","offsetY":"{px}","blur":"{px}","spread":"{px}"}]},
      "f": {"$type":"typography","$value":{"fontFamily":"Inter","fontSize":"{px}","fontWeight":700,"letterSpacing":{"value":0,"unit":"px"},"lineHeight":1.5}},
      "g": {"$value":"{f}"}
    }"##;
    let compiled = one(text).unwrap();
    let out = css(&compiled, &Options::default());
    for expected in [
        "--s: inset var(--px) 1px 0px var(--px) var(--ink), var(--px) var(--px) var(--px) var(--px) #ffffff;",
        "--f: 700 var(--px)/1.5 Inter;",
        "--f-font-size: var(--px);",
        "--f-letter-spacing: 0px;",
        "--g-line-height: var(--f-line-height);",
    ] {
        assert!(out.contains(expected), "{expected}: {out}");
    }
    let sass = scss(&compiled, &Options::default());
    assert_eq!(sass["f"], "700 2px/1.5 Inter", "Sass does not divide");
    assert_eq!(sass["px"], "2px");
}

#[test]
fn types_come_from_the_token_then_the_reference_then_the_group() {
    let compiled = one(
        r##"{"g":{"$type":"number","own":{"$type":"dimension","$value":{"value":1,"unit":"px"}},"ref":{"$value":"{g.own}"},
            "ptr":{"$ref":"#/g/own"},"val":{"$value":{"$ref":"#/g/own/$value"}},"plain":{"$value":3}}}"##,
    )
    .unwrap();
    let out = css(&compiled, &Options::default());
    assert!(out.contains("--g-ref: var(--g-own);") && out.contains("--g-ptr: var(--g-own);"), "{out}");
    assert!(out.contains("--g-val: var(--g-own);") && out.contains("--g-plain: 3;"), "{out}");
}

#[test]
fn references_reach_parts_roots_and_escaped_names() {
    let compiled = one(
        r##"{"a/b":{"c~d":{"$type":"color","$value":{"colorSpace":"srgb","components":[0.2,0.4,0.6]}}},
            "mix":{"$type":"color","$value":{"colorSpace":"srgb","components":[{"$ref":"#/a~1b/c~0d/$value/components/2"},0,0]}},
            "brand colors":{"$root":{"$type":"number","$value":7},"x":{"$value":"{brand colors.$root}"}},
            "t":{"$type":"typography","$value":{"fontFamily":"A","fontSize":{"value":3,"unit":"px"},"fontWeight":400,"letterSpacing":{"value":0,"unit":"px"},"lineHeight":1}},
            "d":{"$type":"dimension","$ref":"#/t/$value/fontSize"},"n":{"$type":"number","$ref":"#/t/$value/lineHeight"}}"##,
    )
    .unwrap();
    let out = css(&compiled, &Options::default());
    for expected in [
        "--mix: #990000;",
        "--brand-colors: 7;",
        "--brand-colors-x: var(--brand-colors);",
        "--d: 3px;",
        "--n: 1;",
    ] {
        assert!(out.contains(expected), "{expected}: {out}");
    }
}

#[test]
fn groups_extend_and_the_local_wins_whole() {
    let compiled = one(
        r##"{"base":{"$type":"color","$deprecated":"old","bg":{"$value":{"colorSpace":"srgb","components":[1,1,1]}},
              "deep":{"fg":{"$value":{"colorSpace":"srgb","components":[0,0,0]},"$description":"kept"}}},
            "top":{"$type":"dimension","mine":{"$extends":"{base}","bg":{"$type":"number","$value":1}},"w":{"$value":{"value":1,"unit":"px"}}},
            "again":{"$extends":"#/top/mine"},"third":{"$ref":"#/base"}}"##,
    )
    .unwrap();
    let out = css(&compiled, &Options::default());
    for expected in
        ["--top-mine-bg: 1;", "--top-mine-deep-fg: #000000;", "--again-deep-fg: #000000;", "--again-bg: 1;"]
    {
        assert!(out.contains(expected), "{expected}: {out}");
    }
}

#[test]
fn descriptions_and_deprecations_become_comments_that_stay_comments() {
    let compiled = one(
        r#"{"g":{"$deprecated":"use h","a":{"$type":"number","$value":1,"$description":"evil */ } body { x: y } /* </style>"},
            "b":{"$type":"number","$value":2,"$deprecated":false}}}"#,
    )
    .unwrap();
    let out = css(&compiled, &Options::default());
    assert_eq!(out.matches("*/").count(), 2, "{out}");
    assert!(out.contains("@deprecated use h") && !out.contains("</style"), "{out}");
    assert!(!out.split("--g-a").nth(1).unwrap().contains("@deprecated"), "false overrides the group: {out}");
}

/// What must be refused, with the code that says why.
#[test]
fn what_the_format_forbids_is_an_error_with_its_code() {
    let color = r#"{"colorSpace":"srgb","components":[0,0,0]}"#;
    for (text, code) in [
        (r#"{"a":{"$value":1}}"#.to_owned(), "no-type"),
        (r#"{"a":{"$type":"colour","$value":1}}"#.to_owned(), "unknown-type"),
        (r#"{"a":{"$type":"number","$value":"x{"}}"#.to_owned(), "value-type"),
        (r#"{"a":{"$type":"number","$value":1,"b":{"$value":2}}}"#.to_owned(), "token-with-children"),
        (r#"{"a{b":{"$type":"number","$value":1}}"#.to_owned(), "bad-name"),
        (r#"{"a":{"$type":"number","$value":1},"a":{}}"#.to_owned(), "duplicate-name"),
        (r#"{"a":{"$type":"number","$value":"{b}"}}"#.to_owned(), "dangling-reference"),
        (r#"{"a":{"$type":"number","$value":"{a}"}}"#.to_owned(), "alias-cycle"),
        (r#"{"a":{"$value":"{b}"},"b":{"$value":"{c}"},"c":{"$value":"{a}"}}"#.to_owned(), "alias-cycle"),
        (r##"{"a":{"$type":"color","$value":{"colorSpace":"srgb","components":[{"$ref":"#/a/$value/components/0"},0,0]}}}"##.to_owned(), "alias-cycle"),
        (r##"{"x":{"$type":"color","$value":{"colorSpace":"srgb","components":[{"$ref":"#/b/$value/components/0"},0,0]}},"b":{"$type":"color","$value":{"colorSpace":"srgb","components":[{"$ref":"#/b/$value/components/0"},0,0]}}}"##.to_owned(), "alias-cycle"),
        (r#"{"g":{"x":{"$type":"number","$value":1}},"a":{"$value":"{g}"}}"#.to_owned(), "reference-to-group"),
        (format!(r#"{{"c":{{"$type":"color","$value":{color}}},"a":{{"$type":"number","$value":"{{c}}"}}}}"#), "alias-type"),
        (r#"{"a":{"$type":"dimension","$value":"{b"}}"#.to_owned(), "bad-reference"),
        (r#"{"a":{"$type":"number","$value":{"$ref":"other.json#/x"}}}"#.to_owned(), "bad-reference"),
        (r#"{"a":{"$type":"color","$value":{"colorSpace":"p3","components":[0,0,0]}}}"#.to_owned(), "color-space"),
        (r#"{"a":{"$type":"color","$value":{"colorSpace":"hsl","components":[360,0,0]}}}"#.to_owned(), "color-range"),
        (r#"{"a":{"$type":"color","$value":{"colorSpace":"srgb","components":[2,0,0]}}}"#.to_owned(), "color-range"),
        (r#"{"a":{"$type":"color","$value":{"colorSpace":"srgb","components":[0,0,0],"alpha":1.5}}}"#.to_owned(), "color-range"),
        (r#"{"a":{"$type":"color","$value":{"colorSpace":"srgb","components":[0,0]}}}"#.to_owned(), "value-type"),
        (r#"{"a":{"$type":"dimension","$value":{"value":1,"unit":"parsec"}}}"#.to_owned(), "unit"),
        (r#"{"a":{"$type":"dimension","$value":{"value":1}}}"#.to_owned(), "missing-member"),
        (r#"{"a":{"$type":"dimension","$value":{"value":1,"unit":"px","x":1}}}"#.to_owned(), "extra-member"),
        (r#"{"a":{"$type":"fontWeight","$value":1001}}"#.to_owned(), "font-weight"),
        (r#"{"a":{"$type":"fontWeight","$value":"chunky"}}"#.to_owned(), "font-weight"),
        (r#"{"a":{"$type":"cubicBezier","$value":[1.5,0,0,0]}}"#.to_owned(), "curve-range"),
        (r#"{"a":{"$type":"strokeStyle","$value":"none"}}"#.to_owned(), "stroke-style"),
        (r#"{"a":{"$extends":"{a}"}}"#.to_owned(), "extends-cycle"),
        (r#"{"a":{"b":{"$extends":"{a}"}}}"#.to_owned(), "extends-cycle"),
        (r#"{"a":{"$extends":"{b}"},"b":{"$extends":"{a}"}}"#.to_owned(), "extends-cycle"),
        (r#"{"a":{"$extends":"{nope}"}}"#.to_owned(), "extends-missing"),
        (r#"{"t":{"$type":"number","$value":1},"a":{"$extends":"{t}"}}"#.to_owned(), "extends-token"),
        (r#"{"a":{"$type":"number","$value":1,"$description":5}}"#.to_owned(), "property-type"),
        (r#"{"a-b":{"$type":"number","$value":1},"a":{"b":{"$type":"number","$value":2}}}"#.to_owned(), "name-collision"),
        (r#"{"a":{"b":{"$type":"number","$value":1}},"a.b":{"$type":"number","$value":2}}"#.to_owned(), "bad-name"),
        ("[]".to_owned(), "not-an-object"),
        ("{".to_owned(), "syntax"),
    ] {
        let found = errors(one(&text));
        assert!(found.contains(&code), "{text}: {found:?}");
    }
}

#[test]
fn hostile_files_end_in_an_error_and_not_in_a_crash() {
    let mut doubling = String::from(r#"{"l0":{"x":{"$type":"number","$value":1}}"#);
    for i in 1..40 {
        doubling.push_str(&format!(
            r#","l{i}":{{"x":{{"$extends":"{{l{}}}"}},"y":{{"$extends":"{{l{}}}"}}}}"#,
            i - 1,
            i - 1
        ));
    }
    doubling.push('}');
    assert!(errors(one(&doubling)).contains(&"too-many-tokens"));
    let mut template = String::from(r#"{"t0":{"value":"a b"}"#);
    for i in 1..40 {
        template.push_str(&format!(r#","t{i}":{{"value":"{{t{}}} {{t{}}}"}}"#, i - 1, i - 1));
    }
    template.push('}');
    assert!(errors(one(&template)).contains(&"too-long"));
    let nested = format!("{}1{}", r#"{"a":"#.repeat(5_000), "}".repeat(5_000));
    assert!(!errors(one(&nested)).is_empty());
}

#[test]
fn long_chains_of_references_are_followed_in_either_order() {
    for reverse in [false, true] {
        let mut tokens: Vec<String> =
            (0..1_000).map(|i| format!(r#""t{i}":{{"$value":"{{t{}}}"}}"#, i + 1)).collect();
        tokens.push(r#""t1000":{"$type":"number","$value":42}"#.into());
        if reverse {
            tokens.reverse();
        }
        let compiled = one(&format!("{{{}}}", tokens.join(","))).unwrap();
        assert_eq!(design_tokens::css_value(&compiled.tokens["t0"].value), "42");
    }
    let mut shadows: Vec<String> =
        (0..254).map(|i| format!(r#""t{i}":{{"$type":"shadow","$value":["{{t{}}}"]}}"#, i + 1)).collect();
    let px = r#"{"value":1,"unit":"px"}"#;
    shadows.push(format!(
        r#""t254":{{"$type":"shadow","$value":{{"color":{{"colorSpace":"srgb","components":[0,0,0]}},"offsetX":{px},"offsetY":{px},"blur":{px},"spread":{px}}}}}"#
    ));
    assert!(one(&format!("{{{}}}", shadows.join(","))).is_ok());
}

#[test]
fn older_dialects_are_read_and_said_to_be_old() {
    let compiled = one(r##"{"c":{"$type":"color","$value":"#f00"},"d":{"$type":"dimension","$value":"16px"},"t":{"$type":"duration","$value":"200ms"},"b":{"$type":"cubicBezier","$value":"ease-in-out"}}"##).unwrap();
    let out = css(&compiled, &Options::default());
    for expected in ["--c: #ff0000;", "--d: 16px;", "--t: 200ms;", "--b: cubic-bezier(0.42, 0, 0.58, 1);"] {
        assert!(out.contains(expected), "{out}");
    }
    assert_eq!(compiled.warnings.iter().filter(|w| w.code == "legacy-value").count(), 4);
    let compiled = files(
        &[(
            "sd.json5",
            "{ color: { base: { red: { value: '#cc0000', comment: 'Red' } }, font: { value: '{color.base.red.value}' } },\n  size: { m: { value: '16px' }, l: { value: '{size.m} * 2' }, pad: { value: '{size.m} 4px' } }, // a comment\n}",
        )],
        &Options::default(),
    )
    .unwrap();
    let out = css(&compiled, &Options::default());
    for expected in [
        "/* Red */",
        "--color-font: var(--color-base-red);",
        "--size-l: calc(var(--size-m) * 2);",
        "--size-pad: var(--size-m) 4px;",
    ] {
        assert!(out.contains(expected), "{expected}: {out}");
    }
}

#[test]
fn text_of_older_dialects_cannot_break_out_of_its_declaration() {
    for hostile in ["red; } body { display: none", "a}b", "url(x", "</style><script>", "x !important"] {
        let text = serde_json::json!({ "t": { "$type": "string", "$value": hostile } }).to_string();
        let out = css(&one(&text).unwrap(), &Options::default());
        assert!(out.contains("  --t: \"") && out.ends_with("\";\n}\n"), "one quoted string: {out}");
        assert!(!out.contains("</style"), "{out}");
    }
    let text = serde_json::json!({ "g": { "value": "linear-gradient(\n 90deg,\n red, blue);" } }).to_string();
    let out = css(&one(&text).unwrap(), &Options::default());
    assert!(out.contains("--g: linear-gradient( 90deg, red, blue);"), "{out}");
}

#[test]
fn names_that_begin_with_a_digit_are_variables_in_scss() {
    let sass = scss(&one(r#"{"2xl":{"$type":"number","$value":1}}"#).unwrap(), &Options::default());
    assert_eq!(sass["2xl"], "1");
}

#[test]
fn lists_of_fonts_are_told_from_names_with_commas() {
    let text = |value: &str| {
        let text = css(
            &one(&format!(r#"{{"f":{{"$type":"fontFamily","$value":{value}}}}}"#)).unwrap(),
            &Options::default(),
        );
        text.lines().find_map(|l| l.trim().strip_prefix("--f: ")).unwrap().to_owned()
    };
    assert_eq!(text(r#""'Foo, Bar', serif""#), r#""Foo, Bar", serif;"#);
    assert_eq!(text(r#"["Foo, Bar", "serif"]"#), r#""Foo, Bar", serif;"#);
    assert_eq!(text(r#"["Menlo, 'Courier New', monospace"]"#), r#"Menlo, "Courier New", monospace;"#);
    let stray = one(r#"{"c":{"$type":"number","$value":1,"alpha":0.5}}"#).unwrap_err();
    assert!(stray[0].code == "token-with-children" && stray[0].fix.contains("into $value"), "{stray:?}");
}
