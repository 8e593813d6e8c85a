//! Flame graphs (Brendan Gregg, "The Flame Graph", CACM 59:6): a bar for each function, as wide as its share of the samples, on top of the
//! one that called it. One page of HTML, without scripts and without anything from elsewhere.

use std::collections::BTreeMap;

use maud::{DOCTYPE, html};

/// The width of all samples, in pixels.
const WIDTH: f64 = 1200.0;
/// The height of a bar.
const HEIGHT: u32 = 18;
/// What is narrower is not drawn.
const LEAST: f64 = 0.4;
/// What is deeper is not drawn.
const DEEPEST: usize = 200;

/// Functions that called each other, the outermost first, and how often they were seen so.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Stack {
    pub(crate) frames: Vec<Frame>,
    pub(crate) samples: u64,
}

/// A function, and where it was.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Frame {
    pub(crate) function: String,
    pub(crate) file: Option<String>,
    pub(crate) line: Option<u32>,
}

#[derive(Default)]
struct Node {
    samples: u64,
    above: BTreeMap<String, Node>,
}

struct Bar {
    name: String,
    samples: u64,
    depth: usize,
    left: f64,
    width: f64,
}

impl Node {
    fn bars(&self, depth: usize, left: f64, scale: f64, bars: &mut Vec<Bar>) {
        let mut left = left;
        for (name, node) in &self.above {
            #[expect(clippy::cast_precision_loss, reason = "a share of some thousand samples")]
            let width = node.samples as f64 * scale;
            if width >= LEAST && depth < DEEPEST {
                bars.push(Bar { name: name.clone(), samples: node.samples, depth, left, width });
                node.bars(depth + 1, left, scale, bars);
            }
            left += width;
        }
    }
}

/// The page.
pub(crate) fn page(title: &str, stacks: &[Stack]) -> String {
    let mut root = Node::default();
    for stack in stacks {
        root.samples += stack.samples;
        let mut node = &mut root;
        for frame in &stack.frames {
            let name = match &frame.file {
                Some(file) => format!("{} ({file})", frame.function),
                None => frame.function.clone(),
            };
            node = node.above.entry(name).or_default();
            node.samples += stack.samples;
        }
    }
    let mut bars = Vec::new();
    #[expect(clippy::cast_precision_loss, reason = "a share of some thousand samples")]
    let all = root.samples.max(1) as f64;
    root.bars(0, 0.0, WIDTH / all, &mut bars);
    let depth = bars.iter().map(|bar| bar.depth + 1).max().unwrap_or(1);
    let height = u32::try_from(depth).unwrap_or(1) * HEIGHT;
    let style = "body{font:14px system-ui,sans-serif;margin:1rem;background:Canvas;color:CanvasText}svg{width:100%;height:auto}\
                 text{font:11px ui-monospace,monospace;fill:#1c1206;pointer-events:none}rect{stroke:Canvas;stroke-width:.5}";
    html! {
        (DOCTYPE)
        html lang="en" {
            head { meta charset="utf-8"; title { (title) } style { (style) } }
            body {
                h1 { (title) }
                p { (root.samples) " samples. A bar is as wide as its share of them, and stands on what called it; point at one for its name." }
                svg viewBox=(format!("0 0 {WIDTH} {height}")) role="img" aria-label=(title) {
                    @for bar in &bars {
                        @let y = height - HEIGHT - u32::try_from(bar.depth).unwrap_or(0) * HEIGHT;
                        @let share = format!("{:.1}", bar.width / WIDTH * 100.0);
                        g {
                            title { (bar.name) ": " (bar.samples) " samples, " (share) " %" }
                            rect x=(format!("{:.2}", bar.left)) y=(y) width=(format!("{:.2}", bar.width)) height=(HEIGHT - 1) fill=(colour(&bar.name)) {}
                            @if let Some(shown) = fitting(&bar.name, bar.width) {
                                text x=(format!("{:.2}", bar.left + 3.0)) y=(y + HEIGHT - 6) { (shown) }
                            }
                        }
                    }
                }
            }
        }
    }
    .into_string()
}

/// As much of a name as a bar has room for.
fn fitting(name: &str, width: f64) -> Option<String> {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between 0 and 1200")]
    let room = ((width - 6.0) / 6.7).max(0.0) as usize;
    let has = name.chars().count();
    match room {
        0..=2 => None,
        _ if has <= room => Some(name.to_owned()),
        _ => Some(name.chars().take(room - 1).chain(['…']).collect()),
    }
}

/// A warm colour that a name always has.
fn colour(name: &str) -> String {
    let sum =
        name.bytes().fold(0x811c_9dc5_u32, |sum, byte| (sum ^ u32::from(byte)).wrapping_mul(0x0100_0193));
    format!("hsl({} {}% {}%)", 18 + sum % 35, 70 + (sum >> 8) % 20, 62 + (sum >> 16) % 12)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stack(names: &[&str], samples: u64) -> Stack {
        let frame = |name: &&str| Frame { function: (*name).to_owned(), file: None, line: None };
        Stack { frames: names.iter().map(frame).collect(), samples }
    }

    #[test]
    fn a_bar_is_as_wide_as_its_share_and_stands_on_its_caller() {
        let page = page("a & b", &[stack(&["main", "<f>"], 3), stack(&["main"], 1)]);
        assert!(page.contains("<title>a &amp; b</title>") && page.contains("4 samples"), "{page}");
        assert!(
            page.contains("main: 4 samples, 100.0 %") && page.contains("&lt;f&gt;: 3 samples, 75.0 %"),
            "{page}"
        );
        assert!(
            page.contains("x=\"0.00\" y=\"18\" width=\"1200.00\"")
                && page.contains("y=\"0\" width=\"900.00\""),
            "{page}"
        );
        assert!(!page.contains("<script") && !page.contains("http"), "{page}");
    }

    #[test]
    fn nothing_and_much_are_drawn_too() {
        assert!(page("x", &[]).contains("0 samples"));
        let deep: Vec<String> = (0..1000).map(|n| format!("f{n}")).collect();
        let deep: Vec<&str> = deep.iter().map(String::as_str).collect();
        let page = page("x", &[stack(&deep, 1)]);
        assert!(page.contains("f199: ") && !page.contains("f200: "));
        assert_eq!(fitting("abcdefgh", 40.0).as_deref(), Some("abcd…"));
        assert_eq!(fitting("abcdefgh", 10.0), None);
    }
}
