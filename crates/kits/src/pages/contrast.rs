//! Pairs of colours, as text on its ground.

use maud::{Markup, html};

use super::bits::{Mark, Tone, asked, badge, counted, mark, name, ratio, text};
use crate::draw;
use crate::facts::{ContrastRow, Tokens};

/// Most pairs that the page shows.
const MOST_PAIRS: usize = 1_000;

fn passes(row: &ContrastRow) -> bool {
    row.ratio >= row.required
}

/// Whether a pair was as it must be and is not any more.
fn is_lost(row: &ContrastRow) -> bool {
    !passes(row) && row.before.is_some_and(|before| before >= row.required)
}

pub(super) fn section(tokens: &Tokens) -> Markup {
    let mut rows: Vec<&ContrastRow> = tokens.contrast.iter().collect();
    // What fails now and did not is what a reviewer must see.
    rows.sort_by_key(|row| (passes(row), !is_lost(row), row.before.is_none()));
    let failing = rows.iter().filter(|row| !passes(row)).count();
    let pairs = counted(rows.len(), "pair");
    html! {
        @if !rows.is_empty() {
            section class="block" aria-labelledby="contrast" {
                h2 id="contrast" { (mark(Mark::Light)) "Contrast " span class="count" { (rows.len()) } }
                p class="quiet" {
                    @if failing == 0 { "All of the " (pairs) " that the tokens declare have the contrast that WCAG 2 asks for." }
                    @else { (failing) " of " (pairs) " have less contrast than WCAG 2 asks for." }
                }
                div class="table" tabindex="0" role="region" aria-label="Pairs of colours" {
                    table class="contrast" {
                        thead {
                            tr {
                                th scope="col" { "Sample" }
                                th scope="col" { "Pair" }
                                th scope="col" { "Mode" }
                                th scope="col" class="figure" { "Before" }
                                th scope="col" class="figure" { "Now" }
                                th scope="col" class="figure" { "Asked" }
                                th scope="col" { "Verdict" }
                            }
                        }
                        tbody { @for row in rows.iter().take(MOST_PAIRS) { (of_row(row)) } }
                    }
                }
                @if rows.len() > MOST_PAIRS { p class="quiet" { "and " (rows.len() - MOST_PAIRS) " more, which kit.json has" } }
            }
        }
    }
}

fn of_row(row: &ContrastRow) -> Markup {
    let verdict = match (passes(row), row.before) {
        (true, Some(before)) if before < row.required => badge(Tone::Pass, Mark::Pass, "Mended"),
        (true, _) => badge(Tone::Pass, Mark::Pass, "Pass"),
        (false, _) if is_lost(row) => badge(Tone::Fail, Mark::Fail, "Lost"),
        (false, _) => badge(Tone::Fail, Mark::Fail, "Fail"),
    };
    html! {
        tr {
            td data-th="Sample" {
                @if let Some(sample) = draw::on_ground(&row.colors.0, &row.colors.1) { (sample) } @else { span class="quiet" { "not drawn" } }
            }
            th scope="row" data-th="Pair" {
                (name(&row.foreground)) " " span class="on" { "on" } " " (name(&row.background))
                span class="pair-colors" { (text(&row.colors.0)) " / " (text(&row.colors.1)) }
            }
            td data-th="Mode" { (text(&row.mode)) }
            td data-th="Before" class="figure" {
                @if let Some(before) = row.before { (ratio(before)) } @else { span class="quiet" { "same" } }
            }
            td data-th="Now" class="figure" { strong { (ratio(row.ratio)) } }
            td data-th="Asked" class="figure" { (asked(row.required)) }
            td data-th="Verdict" { (verdict) }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(before: Option<f64>, ratio: f64) -> ContrastRow {
        ContrastRow {
            foreground: "text".into(),
            background: "page".into(),
            mode: "default".into(),
            colors: ("#777777".into(), "#fff".into()),
            ratio,
            before,
            required: 4.5,
        }
    }

    #[test]
    fn what_was_lost_comes_first_and_what_was_mended_is_told() {
        let rows = vec![row(None, 5.0), row(Some(3.0), 4.5), row(None, 4.4), row(Some(4.6), 4.499)];
        let tokens = Tokens { contrast: rows, ..Tokens::default() };
        let page = section(&tokens).into_string();
        let at = |word: &str| page.find(word).unwrap();
        assert!(at("</svg>Lost") < at("</svg>Fail") && at("</svg>Fail") < at("</svg>Mended"));
        assert!(page.contains("2 of 4 pairs") && page.contains("4.49"));
    }
}
