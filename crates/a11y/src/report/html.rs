//! A page for people: self-contained, without scripts, in light and dark; elements are outlined on pictures.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use maud::{DOCTYPE, Markup, PreEscaped, html as markup};

use super::{Looker, PageFindings};
use crate::finding::{Finding, Impact, Node};

/// Most elements of one finding that are shown.
const SHOWN: usize = 50;

const STYLE: &str = ":root{color-scheme:light dark;--page:#fff;--ink:#1b1f24;--line:#8884;--quiet:#59636e;--card:#f6f8fa;--critical:#b3001b;--serious:#a13d00;\
--moderate:#6f5200;--minor:#3d5166}\
@media(prefers-color-scheme:dark){:root{--page:#0d1117;--ink:#e6edf3;--quiet:#9aa5b1;--card:#161b22;--critical:#ff9aa2;--serious:#ffb27d;--moderate:#e8c95d;\
--minor:#a9c1d9}}\
html{background:var(--page);color:var(--ink)}body{font:16px/1.5 system-ui,sans-serif;max-width:70rem;margin:0 auto;padding:1.5rem}h1{font-size:1.6rem;margin:0}\
h2{font-size:1.2rem;margin:2rem 0 .5rem;overflow-wrap:anywhere}h3{font-size:1rem;margin:0}p{margin:.25rem 0}\
.quiet{color:var(--quiet)}section.rule{border:1px solid var(--line);border-radius:8px;margin:.75rem 0;padding:.75rem 1rem}\
.impact{font-weight:600}.critical{color:var(--critical)}.serious{color:var(--serious)}.moderate{color:var(--moderate)}\
.minor{color:var(--minor)}ul{padding-left:1.2rem;margin:.5rem 0}li{margin:.5rem 0}\
code{font:.85em ui-monospace,monospace;overflow-wrap:anywhere}pre{background:var(--card);border-radius:6px;padding:.5rem .75rem;\
margin:.25rem 0;overflow:auto;white-space:pre-wrap}.page{position:relative;border:1px solid var(--line);margin:.75rem 0;\
width:fit-content;max-width:100%;overflow:auto}.page img{display:block;max-width:none}.mark{position:absolute;\
outline:3px solid #b3001b}.mark b{position:absolute;right:0;top:0;background:#b3001b;color:#fff;\
font:600 12px/1 system-ui;padding:2px 4px}a{color:inherit}";

/// The findings of all pages.
#[must_use]
pub fn html(title: &str, pages: &[PageFindings<'_>], looker: Looker<'_>) -> String {
    let broken: usize = pages.iter().map(|page| page.findings.violations.len()).sum();
    let page = markup! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta http-equiv="content-security-policy" content="default-src 'none'; style-src 'unsafe-inline'; img-src data:";
                title { (title) }
                style { (PreEscaped(STYLE)) }
            }
            body {
                header {
                    h1 { (title) }
                    p class="quiet" { (looker.name) " " (looker.version) }
                    p { @if broken == 0 { "Nothing that breaks a rule was found." } @else { (counted(broken, "finding")) " on " (counted(pages.len(), "page")) "." } }
                }
                main { @for page in pages { (of_page(page)) } }
            }
        }
    };
    page.into_string()
}

fn of_page(page: &PageFindings<'_>) -> Markup {
    let mut findings: Vec<&Finding> = page.findings.violations.iter().collect();
    findings.sort_by(|a, b| b.impact.cmp(&a.impact).then_with(|| a.rule.cmp(&b.rule)));
    let mut numbered: Vec<(usize, &Node)> = Vec::new();
    for node in findings.iter().flat_map(|finding| finding.nodes.iter().take(SHOWN)) {
        numbered.push((numbered.len() + 1, node));
    }
    let mut next = 0;
    markup! {
        h2 { (page.page) }
        @if let Some((png, width)) = page.picture {
            div class="page" tabindex="0" role="region" aria-label=(format!("Picture of {}", page.page)) {
                img src=(format!("data:image/png;base64,{}", STANDARD.encode(png))) width=(width)
                    alt=(format!("The page {}, with {} outlined", page.page, counted(numbered.len(), "element")));
                @for (number, node) in &numbered {
                    // What is the whole page needs no outline.
                    @if let Some(area) = node.area.filter(|_| !matches!(node.target.last().map(String::as_str), Some("html" | "body"))) {
                        span class="mark" style=(format!(
                            "left:{}px;top:{}px;width:{}px;height:{}px", area.x, area.y, area.width.max(4.0), area.height.max(4.0)
                        )) { b { (number) } }
                    }
                }
            }
        }
        @if findings.is_empty() { p { "Nothing that breaks a rule." } }
        @for finding in &findings {
            section class="rule" {
                h3 { (finding.help) }
                p {
                    span class=(format!("impact {}", word(finding.impact))) { (word(finding.impact)) }
                    " · " code { (finding.rule) }
                    @if !finding.criteria.is_empty() { " · WCAG " (finding.criteria.join(", ")) }
                    " · " a href=(finding.help_url) { "about " (finding.rule) }
                }
                ul {
                    @for node in finding.nodes.iter().take(SHOWN) {
                        (of_node(node, { next += 1; next }))
                    }
                }
                @if finding.nodes.len() > SHOWN { p class="quiet" { "and " (finding.nodes.len() - SHOWN) " more" } }
            }
        }
        @if !page.findings.incomplete.is_empty() {
            section class="rule" {
                h3 { "To be looked at by somebody" }
                ul {
                    @for finding in &page.findings.incomplete {
                        li { code { (finding.rule) } ": " (finding.help) " (" (finding.nodes.len()) ")" }
                    }
                }
            }
        }
    }
}

fn of_node(node: &Node, number: usize) -> Markup {
    markup! {
        li {
            "[" (number) "] " code { (node.target.join(" | ")) }
            @if let Some(line) = node.line { span class="quiet" { " line " (line) } }
            @if !node.html.is_empty() { pre tabindex="0" { code { (node.html) } } }
            @for why in &node.why { p { (why) } }
        }
    }
}

fn counted(count: usize, what: &str) -> String {
    if count == 1 { format!("1 {what}") } else { format!("{count} {what}s") }
}

const fn word(impact: Impact) -> &'static str {
    match impact {
        Impact::Minor => "minor",
        Impact::Moderate => "moderate",
        Impact::Serious => "serious",
        Impact::Critical => "critical",
    }
}
