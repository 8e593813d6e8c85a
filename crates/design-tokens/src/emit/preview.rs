//! A page to look at: colours, lengths, type, shadows, gradients and the rest, per mode. One file, no request.

use maud::{DOCTYPE, Markup, PreEscaped, html};

use super::text::{Writer, css_value};
use crate::compile::Compiled;
use crate::resolve::{Token, Tokens};
use crate::value::{Type, Value};

const STYLE: &str = "
:root { color-scheme: light dark; --line: light-dark(#d8dce3, #363b44); --ink: light-dark(#14171c, #eceff4);
  --soft: light-dark(#5a6270, #9aa3b2); --paper: light-dark(#ffffff, #14171c); --card: light-dark(#f6f7f9, #1c2027); }
* { box-sizing: border-box; }
body { margin: 0; font: 15px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper); }
header, main { max-width: 72rem; margin: 0 auto; padding: 1.5rem; }
header { border-bottom: 1px solid var(--line); }
h1 { font-size: 1.5rem; margin: 0; } h2 { font-size: 1.1rem; margin: 2.5rem 0 .75rem; }
p.lead { color: var(--soft); margin: .25rem 0 0; }
nav a { margin-right: 1rem; color: inherit; }
.grid { display: grid; gap: .75rem; grid-template-columns: repeat(auto-fill, minmax(13rem, 1fr)); list-style: none; margin: 0; padding: 0; }
.cell { border: 1px solid var(--line); border-radius: .5rem; background: var(--card); padding: .6rem; overflow: hidden; }
.sample { height: 3.5rem; border-radius: .35rem; margin-bottom: .5rem; border: 1px solid var(--line); overflow: hidden; }
.check { background: repeating-conic-gradient(#bbb 0 25%, #eee 0 50%) 0 0 / 16px 16px; }
.check > div { width: 100%; height: 100%; }
.bar { height: .75rem; background: var(--ink); border-radius: 2px; max-width: 100%; }
.stage { height: 4.5rem; display: grid; place-items: center; margin-bottom: .5rem; background: #fff; border-radius: .35rem; }
.stage > div { width: 60%; height: 50%; background: #fff; }
code { font: 12px/1.4 ui-monospace, monospace; overflow-wrap: anywhere; display: block; }
code.value { color: var(--soft); } .gone { text-decoration: line-through; }
";

/// The page. `title` is shown at its top.
#[must_use]
pub fn preview(compiled: &Compiled, title: &str) -> String {
    let page: Markup = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'";
                title { (title) " · design tokens" }
                style { (PreEscaped(STYLE)) }
            }
            body {
                header {
                    h1 { (title) }
                    p.lead { (compiled.tokens.len()) " tokens, " (compiled.modes.len() + 1) " modes" }
                    nav {
                        @for (mode, _) in compiled.permutations() { a href=(format!("#mode-{mode}")) { (shown(mode)) } }
                    }
                }
                main {
                    @for (mode, tokens) in compiled.permutations() {
                        section id=(format!("mode-{mode}")) {
                            h2 { "Mode: " (shown(mode)) }
                            (mode_page(tokens))
                        }
                    }
                }
            }
        }
    };
    page.into_string()
}

fn shown(mode: &str) -> &str {
    if mode.is_empty() { "default" } else { mode }
}

fn mode_page(tokens: &Tokens) -> Markup {
    let kinds = [
        (Type::Color, "Colours"),
        (Type::Gradient, "Gradients"),
        (Type::Dimension, "Lengths"),
        (Type::Typography, "Type"),
        (Type::FontFamily, "Families"),
        (Type::FontWeight, "Weights"),
        (Type::Shadow, "Shadows"),
        (Type::Border, "Borders"),
        (Type::StrokeStyle, "Strokes"),
        (Type::Duration, "Durations"),
        (Type::CubicBezier, "Curves"),
        (Type::Transition, "Transitions"),
        (Type::Number, "Numbers"),
        (Type::Text, "Other"),
    ];
    html! {
        @for (kind, heading) in kinds {
            @let members: Vec<(&String, &Token)> = tokens.iter().filter(|(_, t)| t.ty == kind).collect();
            @if !members.is_empty() {
                h2 { (heading) " (" (members.len()) ")" }
                ul.grid { @for (id, token) in members { (cell(id, token)) } }
            }
        }
    }
}

fn cell(id: &str, token: &Token) -> Markup {
    let css = match &token.value {
        Value::Typography(t) => Writer { variable: &|_| None, px_per_rem: None }.font(t).unwrap_or_default(),
        value => css_value(value),
    };
    html! {
        li.cell title=[token.description.as_deref()] {
            (sample(token, &css))
            code.gone[token.deprecated.is_some()] { (id) }
            code.value { (css) }
            @if let Some(alias) = &token.alias { code.value { "→ " (alias) } }
        }
    }
}

/// The style of one sample. Every value here was written by us from typed parts, so that none can leave its attribute
/// (maud escapes) or its declaration (the writer quotes).
fn sample(token: &Token, css: &str) -> Markup {
    match token.ty {
        Type::Color => html! { div.sample.check { div style=(format!("background: {css}")) {} } },
        Type::Gradient => {
            html! { div.sample.check { div style=(format!("background: linear-gradient(90deg, {css})")) {} } }
        }
        Type::Dimension => html! { div.bar style=(format!("width: {css}")) {} },
        Type::Typography => {
            html! { div.sample style=(format!("font: {css}; height: auto; border: 0")) { "Aa Bb Cc 123" } }
        }
        Type::FontFamily => {
            html! { div.sample style=(format!("font-family: {css}; border: 0; font-size: 1.5rem")) { "Aa Bb Cc" } }
        }
        Type::FontWeight => {
            html! { div.sample style=(format!("font-weight: {css}; border: 0; font-size: 1.5rem")) { "Aa Bb Cc" } }
        }
        Type::Shadow => html! { div.stage { div style=(format!("box-shadow: {css}")) {} } },
        Type::Border => html! { div.stage { div style=(format!("border: {css}")) {} } },
        Type::StrokeStyle => html! { div.stage { div style=(format!("border: 4px {css} #444")) {} } },
        _ => html! {},
    }
}
