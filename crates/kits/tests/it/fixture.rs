//! A kit with something in every field.

use std::collections::BTreeMap;

use kits::{
    Component, ContrastRow, Example, Finding, Gallery, Judgement, Kit, Missing, Note, Notes, Picture,
    Pictures, Revision, Section, TokenRow, Tokens, ValueRow, Verdict,
};

pub(crate) type Files = BTreeMap<String, Vec<u8>>;

/// What a PNG begins with is all that a kit looks at.
pub(crate) const PNG: &[u8] = b"\x89PNG\r\n\x1a\n";

/// How tokens read that changed in every way.
fn token(text: &str, kind: &str) -> TokenRow {
    let value = |before: Option<&str>, after: Option<&str>| ValueRow {
        mode: text.into(),
        before: before.map(str::to_owned),
        after: after.map(str::to_owned),
        distance: Some(1.5),
    };
    TokenRow {
        id: text.into(),
        was_called: Some(text.into()),
        kind: kind.into(),
        values: vec![
            value(Some(text), Some(text)),
            value(Some(text), None),
            value(None, Some(text)),
            value(None, None),
        ],
        used_in: vec![text.into(); 5],
    }
}

fn finding(text: &str, impact: &str, is_old: Option<bool>) -> Finding {
    Finding {
        rule: text.into(),
        impact: impact.into(),
        help: text.into(),
        help_url: text.into(),
        elements: vec![text.into(); 2],
        is_old,
    }
}

/// The kit in which every text is `text`, and every token's kind `kind`.
pub(crate) fn kit(text: &str, kind: &str) -> (Kit, Files) {
    let mut files = Files::new();
    files.insert("examples/a b.html".into(), b"<p>x".to_vec());
    files.insert("storybook/index.html".into(), b"<p>x".to_vec());
    let mut picture = |name: &str, height: u32| {
        let path = format!("pictures/{name}.png");
        files.insert(path.clone(), PNG.to_vec());
        Some(Picture { path, width: 300, height })
    };
    let mut pictures = |before: bool, after: bool, difference: bool, pixels: u64| Pictures {
        scheme: text.into(),
        before: before.then(|| picture("before", 100)).flatten(),
        after: after.then(|| picture("after", 110)).flatten(),
        difference: difference.then(|| picture("a b\"'<&?#%", 110)).flatten(),
        pixels,
        share: 0.25,
        is_new: !before,
    };
    let looks = [
        vec![pictures(true, true, true, 9), pictures(true, true, false, 9)],
        vec![pictures(false, true, false, 0)],
        vec![pictures(true, false, false, 0)],
        vec![pictures(true, true, true, 9); 3],
        vec![],
    ];
    let findings = vec![
        finding(text, text, None),
        finding(text, "serious", Some(true)),
        finding(text, "minor", Some(false)),
        finding(text, "minor", Some(false)),
    ];
    let examples = looks.into_iter().enumerate().map(|(i, pictures)| Example {
        title: text.into(),
        source: text.into(),
        page: (i % 2 == 0).then(|| "examples/a b.html".into()),
        pictures,
        findings: (i > 0).then(|| if i == 2 { Vec::new() } else { findings.clone() }),
        undecided: 3,
    });
    let component = Component { name: text.into(), examples: examples.collect() };
    let empty = Component { name: text.into(), examples: Vec::new() };
    let contrast = |ratio: f64, before: Option<f64>| ContrastRow {
        foreground: text.into(),
        background: text.into(),
        mode: text.into(),
        colors: (text.into(), text.into()),
        ratio,
        before,
        required: 4.5,
    };
    let note = |breaking| Note { scope: Some(text.into()), text: text.into(), commit: text.into(), breaking };
    let verdict = |verdict| Verdict { name: text.into(), verdict, detail: text.into() };
    let revision = || Some(Revision { name: text.into(), commit: "0123456789abcdef".into() });
    let kit = Kit {
        feature: text.into(),
        ticket: text.into(),
        project: text.into(),
        base: revision(),
        head: revision(),
        has_changes: true,
        verdicts: vec![verdict(Judgement::Fail), verdict(Judgement::Warn), verdict(Judgement::Pass)],
        missing: vec![Missing { part: text.into(), why: text.into() }],
        tokens: Some(Tokens {
            source: text.into(),
            bump: text.into(),
            count: 9,
            modes: vec![text.into(), text.into()],
            added: vec![token(text, kind); 4],
            changed: vec![token(text, kind); 4],
            renamed: vec![token(text, kind)],
            removed: vec![token(text, kind)],
            contrast: vec![contrast(5.0, Some(4.0)), contrast(4.0, Some(5.0)), contrast(3.0, None)],
        }),
        gallery: Some(Gallery {
            origin: text.into(),
            storybook: Some("storybook/index.html".into()),
            components: vec![component.clone(), empty, component],
        }),
        notes: Some(Notes {
            sections: vec![Section { title: text.into(), entries: vec![note(true), note(false)] }],
        }),
    };
    (kit, files)
}

/// The pages of a kit: those that [`kits::is_generated`] knows and a browser reads.
pub(crate) fn pages(built: &Files) -> BTreeMap<&str, &[u8]> {
    let is_page = |path: &str| kits::is_generated(path) && path.rsplit('.').next() == Some("html");
    built.iter().filter(|(p, _)| is_page(p)).map(|(p, b)| (p.as_str(), b.as_slice())).collect()
}
