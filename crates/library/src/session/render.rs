//! Sessions written.

use super::{Part, Session, escaped};

/// A session as Markdown, read back by [`super::read()`] as [`Session::normal`] has it, as long as the text is no longer than a
/// document may be (1 MiB).
pub fn render(session: &Session) -> String {
    let mut session = session.clone().normal();
    let mut out = String::new();
    if let Some(title) = &session.title {
        out.push_str(&format!("# {title}\n"));
    }
    for part in Part::ALL {
        let heading = part.heading();
        let text = match session.list(part) {
            None => lines(&session.summary, "", ""),
            Some(items) => items.iter().map(|item| lines(item, "- ", "  ")).collect(),
        };
        if !text.is_empty() {
            gap(&mut out);
            out.push_str(&format!("## {heading}\n\n{text}"));
        }
    }
    if !session.code_blocks.is_empty() {
        gap(&mut out);
        out.push_str("## Code\n");
    }
    for block in &session.code_blocks {
        let fence = "`".repeat(longest_run(&block.code).max(2) + 1);
        let file = block.file.as_deref().map(|file| format!("title=\"{file}\""));
        let info: Vec<&str> = [block.language.as_str(), file.as_deref().unwrap_or_default()]
            .into_iter()
            .filter(|part| !part.is_empty())
            .collect();
        out.push_str(&format!("\n{fence}{}\n{}\n{fence}\n", info.join(" "), block.code));
    }
    out
}

fn gap(out: &mut String) {
    if !out.is_empty() {
        out.push('\n');
    }
}

/// The lines of a text, the first behind `first`, the others behind `other`; blank ones are empty.
fn lines(text: &str, first: &str, other: &str) -> String {
    if text.is_empty() {
        return String::new();
    }
    let mut out = String::new();
    for (at, line) in text.split('\n').enumerate() {
        if !line.is_empty() {
            out.push_str(if at == 0 { first } else { other });
            out.push_str(&escaped(line));
        }
        out.push('\n');
    }
    out
}

fn longest_run(code: &str) -> usize {
    let (mut now, mut most) = (0_usize, 0);
    for byte in code.bytes() {
        now = if byte == b'`' { now + 1 } else { 0 };
        most = most.max(now);
    }
    most
}
