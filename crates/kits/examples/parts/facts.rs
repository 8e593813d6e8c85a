//! The facts of a change that never was: a design system's buttons, made calmer.

use kits::{
    ContrastRow, Finding, Judgement, Kit, Missing, Note, Notes, Revision, Section, TokenRow, Tokens,
    ValueRow, Verdict,
};

fn s(text: &str) -> String {
    text.to_owned()
}

fn row(id: &str, kind: &str, values: &[(&str, &str, &str, f64)], used: &[&str]) -> TokenRow {
    let some = |text: &str| (!text.is_empty()).then(|| s(text));
    TokenRow {
        id: s(id),
        was_called: None,
        kind: s(kind),
        values: values
            .iter()
            .map(|(mode, before, after, distance)| ValueRow {
                mode: s(mode),
                before: some(before),
                after: some(after),
                distance: (*distance > 0.0).then_some(*distance),
            })
            .collect(),
        used_in: used.iter().map(|u| s(u)).collect(),
    }
}

fn tokens() -> Tokens {
    let mut renamed = row("color.action.primary.pressed", "color", &[], &["src/button/button.css:41"]);
    renamed.was_called = Some(s("color.action.primary.active"));
    let mut moved = row(
        "font.body.large",
        "typography",
        &[("default", "400 17px/1.5 \"Inter\", sans-serif", "400 18px/1.55 \"Inter\", sans-serif", 0.0)],
        &[],
    );
    moved.was_called = Some(s("font.lead"));
    Tokens {
        source: s("tokens/meridian.resolver.json"),
        bump: s("major"),
        count: 412,
        modes: vec![s("default"), s("dark")],
        added: vec![
            row(
                "color.surface.scrim",
                "color",
                &[("default", "", "#11131880", 0.0), ("dark", "", "#000000b3", 0.0)],
                &["src/dialog/dialog.css:12"],
            ),
            row("color.accent.vivid", "color", &[("default", "", "oklch(62% 0.24 283)", 0.0)], &[]),
            row(
                "radius.large",
                "dimension",
                &[("default", "", "1rem", 0.0)],
                &["src/card/card.css:8", "src/dialog/dialog.css:15"],
            ),
            row(
                "gradient.hero",
                "gradient",
                &[("default", "", "#4338ca 0%, #7c3aed 55%, rgb(219 39 119 / 0.8) 100%", 0.0)],
                &[],
            ),
            row(
                "motion.enter",
                "transition",
                &[("default", "", "240ms cubic-bezier(0.16, 1, 0.3, 1) 0ms", 0.0)],
                &["src/dialog/dialog.css:31"],
            ),
        ],
        changed: vec![
            row(
                "color.action.primary.background",
                "color",
                &[("default", "#635bff", "#4338ca", 12.4), ("dark", "#818cf8", "#a5b4fc", 9.1)],
                &[
                    "src/button/button.css:12",
                    "src/tabs/tabs.css:30",
                    "src/switch/switch.css:9",
                    "src/link/link.css:4",
                    "src/table/table.css:88",
                    "docs/theme.css:17",
                ],
            ),
            row(
                "color.text.muted",
                "color",
                &[("default", "#8b909a", "#7c828d", 4.6)],
                &["src/text-field/text-field.css:22"],
            ),
            row(
                "color.border.field",
                "color",
                &[("default", "#dee0e5", "#7c828d", 28.3), ("dark", "#343943", "#8a92a0", 31.0)],
                &["src/text-field/text-field.css:14"],
            ),
            row(
                "color.feedback.info.background.subtle.hover.with-a-name-that-somebody-let-grow-for-years",
                "color",
                &[("default", "rgb(99 91 255 / 0.12)", "rgb(67 56 202 / 0.12)", 1.6)],
                &[],
            ),
            row(
                "radius.control",
                "dimension",
                &[("default", "6px", "10px", 0.0)],
                &["src/button/button.css:14", "src/text-field/text-field.css:15"],
            ),
            row(
                "size.control.medium",
                "dimension",
                &[("default", "40px", "44px", 0.0)],
                &["src/button/button.css:9"],
            ),
            row(
                "shadow.raised",
                "shadow",
                &[
                    (
                        "default",
                        "0 1px 3px 0 rgb(10 12 24 / 0.28)",
                        "0 1px 2px 0 rgb(10 12 24 / 0.06), 0 12px 28px -6px rgb(10 12 24 / 0.22)",
                        0.0,
                    ),
                    ("dark", "0 1px 3px 0 rgb(0 0 0 / 0.6)", "0 12px 28px -6px rgb(0 0 0 / 0.8)", 0.0),
                ],
                &["src/card/card.css:11"],
            ),
            row(
                "font.heading.page",
                "typography",
                &[(
                    "default",
                    "700 32px/1.2 \"Inter\", system-ui, sans-serif",
                    "650 36px/1.15 \"Inter\", system-ui, sans-serif",
                    0.0,
                )],
                &["src/heading/heading.css:3"],
            ),
            row(
                "font.family.code",
                "fontFamily",
                &[("default", "\"Courier New\", monospace", "\"JetBrains Mono\", monospace", 0.0)],
                &[],
            ),
            row(
                "font.weight.strong",
                "fontWeight",
                &[("default", "700", "600", 0.0)],
                &["src/badge/badge.css:6"],
            ),
            row(
                "duration.quick",
                "duration",
                &[("default", "120ms", "160ms", 0.0)],
                &["src/switch/switch.css:17"],
            ),
            row(
                "easing.standard",
                "cubicBezier",
                &[("default", "cubic-bezier(0.42, 0, 0.58, 1)", "cubic-bezier(0.2, 0, 0, 1)", 0.0)],
                &[],
            ),
            row(
                "border.focus",
                "border",
                &[("default", "2px solid #635bff", "3px solid #4338ca", 0.0)],
                &["src/button/button.css:50"],
            ),
            row("opacity.disabled", "number", &[("default", "0.4", "0.5", 0.0)], &[]),
        ],
        renamed: vec![renamed, moved],
        removed: vec![row(
            "color.action.ghost",
            "color",
            &[("default", "#eef0ff", "", 0.0), ("dark", "#23263a", "", 0.0)],
            &["src/legacy/ghost-button.css:3", "src/legacy/ghost-button.css:19"],
        )],
        contrast: contrast(),
    }
}

fn contrast() -> Vec<ContrastRow> {
    let pair = |(front, ground, mode, colors, ratio, before, required): (
        &str,
        &str,
        &str,
        (&str, &str),
        f64,
        Option<f64>,
        f64,
    )| ContrastRow {
        foreground: s(front),
        background: s(ground),
        mode: s(mode),
        colors: (s(colors.0), s(colors.1)),
        ratio,
        before,
        required,
    };
    [
        (
            "color.action.primary.text",
            "color.action.primary.background",
            "default",
            ("#ffffff", "#4338ca"),
            7.9,
            Some(4.7),
            4.5,
        ),
        (
            "color.action.primary.text",
            "color.action.primary.background",
            "dark",
            ("#14162a", "#a5b4fc"),
            8.93,
            Some(5.9),
            4.5,
        ),
        ("color.text.muted", "color.surface.page", "default", ("#7c828d", "#ffffff"), 3.87, Some(3.2), 4.5),
        ("color.text.muted", "color.surface.page", "dark", ("#8a92a0", "#111318"), 5.93, None, 4.5),
        (
            "color.border.field",
            "color.surface.page",
            "default",
            ("#7c828d", "#ffffff"),
            3.87,
            Some(1.32),
            3.0,
        ),
        (
            "color.accent.vivid",
            "color.surface.page",
            "default",
            ("oklch(62% 0.24 283)", "#ffffff"),
            4.12,
            Some(4.61),
            4.5,
        ),
        ("color.text.default", "color.surface.page", "default", ("#1e2128", "#ffffff"), 16.12, None, 4.5),
    ]
    .map(pair)
    .into()
}

fn notes() -> Notes {
    let note = |scope: &str, text: &str, commit: &str, breaking: bool| Note {
        scope: (!scope.is_empty()).then(|| s(scope)),
        text: s(text),
        commit: s(commit),
        breaking,
    };
    Notes {
        sections: vec![
            Section {
                title: s("Breaking changes"),
                entries: vec![
                    note(
                        "tokens",
                        "remove color.action.ghost; ghost buttons use color.surface.subtle",
                        "9f1c2ab",
                        true,
                    ),
                    note("button", "call the pressed state pressed everywhere", "41d07e3", true),
                ],
            },
            Section {
                title: s("Features"),
                entries: vec![
                    note("dialog", "dim the page with a scrim", "c0ffee1", false),
                    note("side-navigation", "add a navigation for the side of a page", "7b2e90d", false),
                    note("tokens", "add a gradient for heroes", "2a64f18", false),
                ],
            },
            Section {
                title: s("Fixes"),
                entries: vec![
                    note("text-field", "draw the border so that it is seen (WCAG 1.4.11)", "e19ab03", false),
                    note(
                        "",
                        "keep the focus ring inside of tables that scroll, also where a cell holds a button with a very long label and no place to break",
                        "5d3c77a",
                        false,
                    ),
                ],
            },
            Section {
                title: s("Others"),
                entries: vec![note("docs", "say how tokens are named", "0be5512", false)],
            },
        ],
    }
}

/// What is wrong with an example of a component.
pub(crate) fn findings(component: &str) -> (Option<Vec<Finding>>, u64) {
    let one = |rule: &str, impact: &str, help: &str, elements: &[&str], is_old: bool| Finding {
        rule: s(rule),
        impact: s(impact),
        help: s(help),
        help_url: format!("https://dequeuniversity.com/rules/axe/4.14/{rule}?application=axeAPI"),
        elements: elements.iter().map(|e| s(e)).collect(),
        is_old: Some(is_old),
    };
    let contrast = "Elements must meet minimum color contrast ratio thresholds";
    match component {
        "Text field" => (
            Some(vec![one(
                "color-contrast",
                "serious",
                contrast,
                &[".field__hint", "#email::placeholder"],
                false,
            )]),
            1,
        ),
        "Side navigation" => (
            Some(vec![
                one(
                    "aria-hidden-focus",
                    "serious",
                    "ARIA hidden element must not be focusable or contain focusable elements",
                    &["nav > ul > li:nth-child(3) > a[href$=\"settings\"]"],
                    false,
                ),
                one(
                    "color-contrast",
                    "serious",
                    contrast,
                    &[".nav__item[aria-disabled=\"true\"] > span"],
                    false,
                ),
                one(
                    "region",
                    "moderate",
                    "All page content should be contained by landmarks",
                    &[".nav__footer"],
                    true,
                ),
            ]),
            2,
        ),
        "Data table" => (
            Some(vec![one(
                "scrollable-region-focusable",
                "serious",
                "Scrollable region must have keyboard access",
                &[".table__scroll"],
                true,
            )]),
            0,
        ),
        "Avatar" => (None, 0),
        _ => (Some(Vec::new()), 0),
    }
}

/// All but the components.
pub(crate) fn kit() -> Kit {
    let verdict = |name: &str, verdict, detail: &str| Verdict { name: s(name), verdict, detail: s(detail) };
    Kit {
        feature: s("calmer-buttons"),
        ticket: s("DS-1482"),
        project: s("@meridian/design-system"),
        base: Some(Revision { name: s("main"), commit: s("3f2a91c6d0b84e1f9a7c55e2b6d1038f4c9e7a21") }),
        head: Some(Revision {
            name: s("calmer-buttons"),
            commit: s("9f1c2ab47e6d03518cb2f9d4a8e7160c35bd2e90"),
        }),
        has_changes: true,
        verdicts: vec![
            verdict(
                "Contrast",
                Judgement::Fail,
                "1 pair lost the contrast that it had: color.accent.vivid on color.surface.page is 4.12 : 1 and must be 4.5 : 1.",
            ),
            verdict(
                "Accessibility",
                Judgement::Fail,
                "3 findings are new, in Text field and Side navigation.",
            ),
            verdict(
                "Tokens",
                Judgement::Warn,
                "1 token is gone and 2 have other names: the next version is a major one.",
            ),
            verdict("Pictures", Judgement::Warn, "8 of 11 components look different from main."),
            verdict("Notes", Judgement::Pass, "Every commit says what it does."),
        ],
        missing: vec![Missing {
            part: s("pictures"),
            why: s(
                "Avatar: the example did not finish loading within 10 s, so that nobody scanned it. Look whether it waits for a network.",
            ),
        }],
        tokens: Some(tokens()),
        gallery: None,
        notes: Some(notes()),
    }
}
