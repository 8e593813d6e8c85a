//! What a token is called where: style sheets of every kind, pages and scripts.

use super::{found, index, shown, usages};

#[test]
fn scss_writes_tokens_as_it_loads_them() {
    let rule = "a { color: #f00; b { gap: 4px } } // #f00 don't";
    for (front, red) in [
        ("@use '../lib/tokens';", "tokens.$text-danger"),
        ("@use \"tokens.scss\" as t;", "t.$text-danger"),
        ("@use '_tokens' as *;", "$text-danger"),
        ("@import \"reset\", \"tokens\";", "$text-danger"),
        (".x { top: $space-s }", "$text-danger"),
        (".x { top: theme.$space-s }", "theme.$text-danger"),
        (".x { top: var(--space-s) }", "var(--text-danger)"),
    ] {
        let all = found("a.scss", &format!("{front}\n{rule}"));
        assert_eq!(all[0], format!("#f00 -> {red}"), "{front}");
        assert_eq!(all.len(), 2, "{all:?}");
    }
    assert_eq!(found("a.scss", rule), ["#f00 -> $text-danger (NotLoaded)", "4px -> $space-s (NotLoaded)"]);
    assert_eq!(found("a.scss", "@use 'other'; a { gap: 4px }"), ["4px -> $space-s (NotLoaded)"]);
    // Another file uses them without loading anything: they are there wherever style sheets are built.
    let given = usages(&index(), &[("a.scss", rule), ("b.scss", "b { gap: $space-s }")], 0.0);
    assert_eq!(shown(&given[0]), ["#f00 -> $text-danger", "4px -> $space-s"]);
}

#[test]
fn scss_and_less_keep_what_they_compute_put_together_or_define() {
    let scss = |text: &str| found("a.scss", &format!("@import 'tokens'; $x: #f00; {text}"));
    assert_eq!(scss("a { gap: 4px + $y }"), ["4px -> $space-s (Mathematics)"]);
    assert_eq!(scss("a { border-radius: 4px / 4px }").len(), 2);
    assert_eq!(
        scss("a { gap: 4px#{$y}; color: darken(#f00, 10%); @include m(#f00); width: calc(40px + 1px) }"),
        [""; 0]
    );
    assert_eq!(scss("$map: (red: #f00, gap: 4px); @function f() { @return #f00; }"), [""; 0]);
    assert_eq!(scss("a { #{$side}: 4px; $gap: 4px; --x: #f00 }"), [""; 0]);
    assert_eq!(
        scss("@include m { color: #f00 } %p { gap: 4px }"),
        ["#f00 -> $text-danger", "4px -> $space-s"]
    );
    let less = |text: &str| found("a.less", text);
    assert_eq!(
        less("@c: #f00; .m(@d: #f00) { color: #f00; .n(#f00); } // #f00"),
        ["#f00 -> var(--text-danger)"]
    );
    assert_eq!(
        less("a { gap: 4px + @y; width: ~\"40px\"; color: fade(#f00, 10%) }"),
        ["4px -> var(--space-s) (Mathematics)"]
    );
}

#[test]
fn pages_have_styles_in_elements_and_attributes() {
    let html = "<style>a { color: #f00 }</style><p style=\"gap:4px\" title=\"gap:4px\">#f00</p><script>x.style.color='red'</script>
        <!-- <p style=\"gap:4px\"> --><p style='color:&#35;f00'>";
    assert_eq!(found("a.html", html), ["#f00 -> var(--text-danger)", "4px -> var(--space-s)"]);
    let vue = "<template><p :style=\"{ color: '#f00', gap: size }\" style=\"gap: 4px\"/></template>
        <style lang=\"scss\" scoped>@use 'tokens' as t; a { b { gap: 4px } }</style>";
    assert_eq!(
        found("a.vue", vue),
        ["#f00 -> var(--text-danger)", "4px -> var(--space-s)", "4px -> t.$space-s"]
    );
    let svelte = "<p style:color=\"#f00\" style=\"gap: {x}; color: #f00\" class={a > 'style=\"gap: 4px\"'}/><style>a { gap: 4px }</style>";
    assert_eq!(found("a.svelte", svelte), ["#f00 -> var(--text-danger)", "4px -> var(--space-s)"]);
}

#[test]
fn scripts_have_strings_in_style_objects() {
    let jsx = "const a = <p style={{ color: '#f00', border: \"1px solid red\", padding: 4, gap: '4px', fontWeight: 700 }} color='#f00'>4px</p>;
        a.style.gap = '4px'; const b = { color: '#f00' }; css`color: #f00`;";
    assert_eq!(
        found("a.tsx", jsx),
        [
            "#f00 -> var(--text-danger)",
            "1px -> var(--border-width-thin)",
            "red -> var(--border-danger)",
            "4px -> var(--space-s)",
            "4px -> var(--space-s)"
        ]
    );
}

#[test]
fn names_that_would_end_a_string_are_left() {
    let text =
        r#"{ "space": { "$type": "dimension", "a'b": { "$value": "4px" }, "1/2": { "$value": "8px" } } }"#;
    let options = design_tokens::Options { naming: design_tokens::Naming::Preserve, ..<_>::default() };
    let index = design_tokens::usage::Index::new(&super::compiled(&[("t.json", text)], &options), &options);
    let found = |path: &str, text: &str| shown(&usages(&index, &[(path, text)], 0.0)[0]);
    assert_eq!(
        found("a.css", "a { gap: 4px 8px }"),
        [r"4px -> var(--space-a\'b)", r"8px -> var(--space-1\/2)"]
    );
    assert_eq!(found("a.ts", "x.style.gap = '4px'"), [r"4px -> var(--space-a\'b) (Name)"]);
    assert_eq!(found("a.html", "<p style='gap: 8px'>"), [r"8px -> var(--space-1\/2) (Name)"]);
}
