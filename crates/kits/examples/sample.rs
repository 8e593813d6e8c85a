//! Writes a kit with something of everything into a folder: `cargo run -p gatewright-kits --example sample -- DIR`. With `empty`
//! after the folder, a kit of which everything is missing.
#![allow(clippy::disallowed_methods, reason = "an example is run by hand and writes where it is told")]
#![allow(
    clippy::unwrap_used,
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    clippy::many_single_char_names,
    clippy::too_many_lines,
    reason = "drawings of known size"
)]

extern crate gatewright_kits as kits;

#[path = "parts/draw.rs"]
mod draw;
#[path = "parts/facts.rs"]
mod facts;

use std::collections::BTreeMap;
use std::path::Path;

use kits::{Component, Example, Gallery, Kit, Missing, Picture, Pictures};

type Files = BTreeMap<String, Vec<u8>>;

/// How a component stands against its base.
#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Changed,
    Same,
    New,
    Gone,
}

fn main() {
    let mut arguments = std::env::args().skip(1);
    let folder = arguments.next().unwrap_or_else(|| "target/sample-kit".to_owned());
    let mut files = Files::new();
    let kit = if arguments.next().as_deref() == Some("empty") { empty() } else { full(&mut files) };
    let built = kits::build(&kit, files).unwrap();
    for (path, bytes) in &built {
        let path = Path::new(&folder).join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, bytes).unwrap();
    }
}

fn empty() -> Kit {
    let missing = |part: &str, why: &str| Missing { part: part.to_owned(), why: why.to_owned() };
    Kit {
        feature: "first-steps".into(),
        ticket: "DS-1".into(),
        project: "nothing-yet".into(),
        missing: vec![
            missing(
                "tokens",
                "No file of tokens was found. Name one in `source`, or put `tokens.json` at the top of the project.",
            ),
            missing(
                "gallery",
                "There is neither a Storybook nor a folder `examples`. Write an HTML page for a component, and name it in `examples`.",
            ),
        ],
        ..Kit::default()
    }
}

fn full(files: &mut Files) -> Kit {
    let all = [
        ("Button", State::Changed),
        ("Text field", State::Changed),
        ("Card", State::Changed),
        ("Alert", State::Same),
        ("Tabs", State::Changed),
        ("Data table", State::Changed),
        ("Dialog", State::Same),
        ("Switch", State::Changed),
        ("Avatar", State::Same),
        ("Side navigation", State::New),
        ("Ghost button", State::Gone),
    ];
    let components = all.into_iter().map(|(name, state)| component(name, state, files)).collect();
    Kit { gallery: Some(Gallery { origin: "examples".into(), storybook: None, components }), ..facts::kit() }
}

fn component(name: &str, state: State, files: &mut Files) -> Component {
    let mut examples = vec![example(name, "Default", name, state, files)];
    if name == "Button" {
        examples.push(example(name, "Destructive", "Button, destructive", State::Changed, files));
        examples.push(example(name, "Tooltip on hover", "Tooltip", State::Same, files));
    }
    Component { name: name.to_owned(), examples }
}

fn slug(text: &str) -> String {
    text.to_lowercase().chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect()
}

fn example(name: &str, title: &str, drawn: &str, state: State, files: &mut Files) -> Example {
    let slug = format!("{}-{}", slug(name), slug(title));
    let (findings, undecided) = facts::findings(if title == "Default" { name } else { "" });
    let page = (state != State::Gone).then(|| format!("examples/{slug}.html"));
    if let Some(page) = &page {
        files.insert(page.clone(), kits::guard_example(live(name, title).as_bytes()));
    }
    let schemes = ["light", "dark"].into_iter();
    Example {
        title: title.to_owned(),
        source: format!("examples/{slug}.html"),
        page,
        pictures: schemes.map(|scheme| pictures(&slug, drawn, scheme, state, files)).collect(),
        findings,
        undecided,
    }
}

fn pictures(slug: &str, drawn: &str, scheme: &str, state: State, files: &mut Files) -> Pictures {
    let is_dark = scheme == "dark";
    // The shadow of a card is not seen in the dark.
    let (was, is) =
        (draw::component(drawn, is_dark, state == State::Same), draw::component(drawn, is_dark, true));
    let mut put = |what: &str, canvas: &draw::Canvas| -> Picture {
        let path = format!("pictures/{slug}.{scheme}.{what}.png");
        files.insert(path.clone(), canvas.png());
        canvas.picture(&path)
    };
    let mut out = Pictures { scheme: scheme.to_owned(), is_new: state == State::New, ..Pictures::default() };
    if state != State::New {
        out.before = Some(put("before", &was));
    }
    if state != State::Gone {
        out.after = Some(put("after", &is));
    }
    if state == State::Changed {
        let (painted, differ) = is.against(&was);
        out.difference = Some(put("difference", &painted));
        out.pixels = differ;
        out.share = differ as f64 / painted.size() as f64;
    }
    out
}

/// A page that runs its own script and style.
fn live(name: &str, title: &str) -> String {
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<title>{name}: {title}</title>\n<style>\n\
         body {{ font: 16px/1.5 sans-serif; margin: 2rem; }}\n\
         button {{ padding: .75rem 1.5rem; border: 0; border-radius: 10px; background: #4338ca; color: #fff; font: inherit; }}\n\
         </style>\n</head>\n<body>\n<main>\n<h1>{name}</h1>\n<p><button type=\"button\">Pressed <span>0</span> times</button></p>\n</main>\n\
         <script>\nlet n = 0;\ndocument.querySelector(\"button\").onclick = (e) => {{ e.currentTarget.querySelector(\"span\").textContent = ++n; }};\n\
         </script>\n</body>\n</html>\n"
    )
}
