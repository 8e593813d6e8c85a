//! Code in fenced blocks.

use serde::{Deserialize, Serialize};

use crate::markdown::{Fence, Markdown};

/// Most blocks that are taken from one document.
pub const MAX_BLOCKS: usize = 1_000;
/// Longest name of a language, in characters.
pub const MAX_LANGUAGE: usize = 40;
/// Longest name of a file, in characters.
pub const MAX_FILE: usize = 200;

/// A fenced block.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Block {
    /// In one spelling (`typescript`, `bash`); empty where none is said.
    pub language: String,
    /// Without the fences; lines end in `\n`, the last without one.
    pub code: String,
    /// The file that it is of, where that is said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// Of the line that opens it, from 1; none where it comes from no Markdown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
}

/// A language's name in one spelling: lower case, aliases resolved.
pub fn language(name: &str) -> String {
    let kept = |c: &char| c.is_alphanumeric() || matches!(c, '+' | '#' | '-' | '.' | '_');
    let name: String = name.chars().filter(kept).take(MAX_LANGUAGE).flat_map(char::to_lowercase).collect();
    // Lower case may have more characters.
    let name: String = name.chars().filter(kept).take(MAX_LANGUAGE).collect();
    match name.as_str() {
        "ts" | "mts" | "cts" => "typescript".to_owned(),
        "js" | "mjs" | "cjs" | "node" => "javascript".to_owned(),
        "py" | "python3" => "python".to_owned(),
        "sh" | "shell" | "zsh" | "console" | "shellsession" => "bash".to_owned(),
        "yml" => "yaml".to_owned(),
        "rs" => "rust".to_owned(),
        "golang" => "go".to_owned(),
        "md" => "markdown".to_owned(),
        "rb" => "ruby".to_owned(),
        "kt" => "kotlin".to_owned(),
        "cs" | "c#" => "csharp".to_owned(),
        "c++" | "cc" | "cxx" => "cpp".to_owned(),
        "postgres" | "postgresql" | "psql" => "sql".to_owned(),
        "docker" => "dockerfile".to_owned(),
        "txt" | "plaintext" | "plain" => "text".to_owned(),
        _ => name,
    }
}

/// The language of an info string: its first word, without the braces and options that some tools write at it.
pub fn language_of(info: &str) -> String {
    let word = info.split_whitespace().next().unwrap_or_default();
    let word = word.trim_start_matches(['{', '.']);
    let end = word.find(['{', ',', ':', '}', '=']).unwrap_or(word.len());
    // `title=x` alone says no language.
    if word.get(end..).is_some_and(|rest| rest.starts_with('=')) {
        return String::new();
    }
    language(word.get(..end).unwrap_or_default())
}

/// A file's name as it is kept: one line, no quotes and backticks.
pub(crate) fn file_name(name: &str) -> Option<String> {
    let kept = |c: &char| !c.is_control() && !matches!(c, '`' | '"');
    let name: String = name.chars().filter(kept).take(MAX_FILE).collect();
    let name = name.trim();
    if name.is_empty() { None } else { Some(name.to_owned()) }
}

/// The file of an info string: `title="…"`, `title=…` or `file=…`, else the second word where it looks like a name.
fn file_of(info: &str) -> Option<String> {
    for key in ["title=", "file=", "filename="] {
        let Some(at) = info.find(key) else { continue };
        if info
            .get(..at)
            .and_then(|before| before.chars().next_back())
            .is_some_and(|c| !c.is_whitespace() && c != '{' && c != ',')
        {
            continue;
        }
        let value = info.get(at + key.len()..)?;
        let value = match value.chars().next() {
            Some(quote @ ('"' | '\'')) => value.get(1..)?.split(quote).next()?,
            _ => value.split([' ', '\t', ',', '}']).next()?,
        };
        return file_name(value);
    }
    let second = info.split_whitespace().nth(1)?;
    let is_name = second.contains(['.', '/']) && !second.contains(['=', '{', '}']);
    if is_name { file_name(second) } else { None }
}

/// The file that the first line of code names: `// file: a.ts`, `# file: a.py`, `-- file: a.sql`, `<!-- file: a.html -->`.
pub(crate) fn named_inside(code: &str) -> Option<String> {
    let line = code.split('\n').next()?.trim();
    let inner = ["//", "#", "--", "/*", "<!--", ";"].iter().find_map(|mark| line.strip_prefix(mark))?;
    let inner = inner.trim().trim_end_matches("*/").trim_end_matches("-->").trim();
    let (key, value) = inner.split_once(':')?;
    if key.trim().eq_ignore_ascii_case("file") { file_name(value) } else { None }
}

/// All fenced blocks that hold something, at most [`MAX_BLOCKS`].
pub fn blocks(document: &Markdown<'_>) -> Vec<Block> {
    document.fences().iter().filter_map(|fence| block(document, fence)).take(MAX_BLOCKS).collect()
}

/// One fenced block; none where it is empty.
pub fn block(document: &Markdown<'_>, fence: &Fence) -> Option<Block> {
    let info = document.slice(&fence.info);
    let lines = document.slice(&fence.body);
    let mut code = String::with_capacity(lines.len());
    for line in lines.split_inclusive('\n') {
        let line = line.strip_suffix('\n').map_or(line, |l| l.strip_suffix('\r').unwrap_or(l));
        code.push_str(unindented(line, fence.indent));
        code.push('\n');
    }
    code.pop();
    if code.trim().is_empty() {
        return None;
    }
    let file = file_of(info).or_else(|| named_inside(&code));
    Some(Block { language: language_of(info), code, file, line: Some(fence.line) })
}

/// A line without as many columns of white space as its fence has before it.
pub(crate) fn unindented(line: &str, columns: usize) -> &str {
    let mut rest = line;
    let mut left = columns;
    while left > 0 {
        if let Some(behind) = rest.strip_prefix(' ') {
            (rest, left) = (behind, left - 1);
        } else if let Some(behind) = rest.strip_prefix('\t') {
            (rest, left) = (behind, left.saturating_sub(4));
        } else {
            break;
        }
    }
    rest
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<(String, Option<String>, String)> {
        blocks(&Markdown::of(text)).into_iter().map(|b| (b.language, b.file, b.code)).collect()
    }

    #[test]
    fn a_block_has_its_language_in_one_spelling_and_its_file() {
        for (info, language, file) in [
            ("ts", "typescript", None),
            ("TypeScript src/a.ts", "typescript", Some("src/a.ts")),
            ("js title=\"my file.js\"", "javascript", Some("my file.js")),
            ("py title=a.py", "python", Some("a.py")),
            ("{.sh file='x.sh'}", "bash", Some("x.sh")),
            ("yml subtitle=no", "yaml", None),
            ("rust,ignore", "rust", None),
            ("c++", "cpp", None),
            ("ts twoslash", "typescript", None),
            ("", "", None),
        ] {
            assert_eq!(
                found(&format!("```{info}\nx\n```\n")),
                [(language.to_owned(), file.map(str::to_owned), "x".to_owned())],
                "{info}"
            );
        }
    }

    #[test]
    fn a_first_line_may_name_the_file() {
        assert_eq!(found("~~~sql\n-- file: a.sql\nselect 1\n~~~")[0].1.as_deref(), Some("a.sql"));
        assert_eq!(found("```html\n<!-- File: a.html -->\n```")[0].1.as_deref(), Some("a.html"));
        assert_eq!(found("```py\n# profile: x\n```")[0].1, None);
    }

    #[test]
    fn code_is_exactly_what_stands_there() {
        assert_eq!(found("- a\n\n  ```sh\n  if x\n    y\n\n  fi\n  ```\n")[0].2, "if x\n  y\n\nfi");
        assert_eq!(found("```\r\na\r\n\r\n```\r\n")[0].2, "a\n");
        assert_eq!(found("````md\n```ts\nx\n```\n````\n")[0].2, "```ts\nx\n```");
        assert_eq!(found("```ts\nnever closed\n")[0].2, "never closed");
        assert_eq!(found("```ts\n\n```\n"), []);
    }
}
