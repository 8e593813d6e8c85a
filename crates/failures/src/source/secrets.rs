//! Secrets: tokens by their issuers' shapes, and strings that are given to a name such as `password`. What is found
//! is masked wherever it would be shown.

use std::{ops::Range, sync::OnceLock};

use aho_corasick::AhoCorasick;
use regex::Regex;

use super::pieces::{Kind, Piece};
use crate::pattern::Language;

/// Shapes of tokens, each with literals of which one must be there.
const SHAPES: &[(&[&str], &str)] = &[
    (&["AKIA", "ASIA"], r"\b(?:AKIA|ASIA)[A-Z2-7]{16}\b"),
    (&["ghp_", "gho_", "ghu_", "ghs_", "ghr_"], r"\bgh[pousr]_[A-Za-z0-9]{36,255}\b"),
    (&["github_pat_"], r"\bgithub_pat_[A-Za-z0-9_]{22,255}\b"),
    (&["glpat-"], r"\bglpat-[A-Za-z0-9_-]{20,}"),
    (&["xox", "xapp-"], r"\b(?:xox[abeprs]-[A-Za-z0-9-]{10,}|xapp-\d-[A-Za-z0-9-]{20,})"),
    (
        &["sk_live_", "rk_live_", "sk_test_", "whsec_"],
        r"\b(?:[sr]k_(?:live|test)_[A-Za-z0-9]{10,99}|whsec_[A-Za-z0-9+/=]{20,})",
    ),
    (&["AIza"], r"\bAIza[0-9A-Za-z_-]{35}\b"),
    (&["sk-"], r"\bsk-(?:ant-|proj-|svcacct-)?[A-Za-z0-9_-]{32,}"),
    (&["npm_"], r"\bnpm_[A-Za-z0-9]{36}\b"),
    (&["pypi-AgEI"], r"\bpypi-AgEI[A-Za-z0-9_-]{50,}"),
    (&["hf_"], r"\bhf_[A-Za-z]{34}\b"),
    (&["SG."], r"\bSG\.[A-Za-z0-9_-]{16,32}\.[A-Za-z0-9_-]{16,64}"),
    (&["eyJ"], r"\beyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}"),
    (
        &["PRIVATE KEY-----"],
        r"-----BEGIN [A-Z ]{0,20}PRIVATE KEY-----[^-]*(?:-----END [A-Z ]{0,20}PRIVATE KEY-----)?",
    ),
    (
        &["://"],
        r"[A-Za-z][A-Za-z0-9+.-]{1,20}://[^\s/:@'\x22<>{}$]{1,128}:(?<secret>[^\s/:@'\x22<>{}$*\[\]]{4,128})@",
    ),
];

/// A name that holds a secret.
const NAME: &str = r"(?i)(?:pass(?:word|wd|phrase)|\bpwd|secret|api[_-]?key|access[_-]?key|private[_-]?key|encryption[_-]?key|auth[_-]?token|access[_-]?token|refresh[_-]?token|bearer|token|credentials?)[A-Za-z0-9_]{0,16}$";
/// Such a name that says where or what, and holds none.
const NOT_NAME: &str = r"(?i)(?:header|name|url|uri|path|field|type|file|prefix|suffix|label|placeholder|message|error|regex|pattern|param|length|policy|hint|prompt|column|key_?id|title|env|var)s?$";

struct Compiled {
    literals: AhoCorasick,
    of_literal: Vec<usize>,
    shapes: Vec<Regex>,
    name: Regex,
    not_name: Regex,
    keyed: Regex,
    setting: Regex,
    assigned: Regex,
}

fn compiled() -> Option<&'static Compiled> {
    static COMPILED: OnceLock<Option<Compiled>> = OnceLock::new();
    COMPILED.get_or_init(compile).as_ref()
}

fn compile() -> Option<Compiled> {
    let literals: Vec<&str> = SHAPES.iter().flat_map(|(literals, _)| literals.iter().copied()).collect();
    let of_literal =
        SHAPES.iter().enumerate().flat_map(|(i, (literals, _))| literals.iter().map(move |_| i)).collect();
    Some(Compiled {
        literals: AhoCorasick::new(literals).ok()?,
        of_literal,
        shapes: SHAPES.iter().map(|(_, shape)| Regex::new(shape).ok()).collect::<Option<_>>()?,
        name: Regex::new(NAME).ok()?,
        not_name: Regex::new(NOT_NAME).ok()?,
        keyed: Regex::new(
            r#"(?i)(?:pass(?:word|wd|phrase)|\bpwd|secret|api[_-]?key|access[_-]?key|private[_-]?key|token|credentials?)[A-Za-z0-9_]{0,16}["'\])]*\s*(?::\s*[\w&'<>\[\]]{1,24}\s*)?(?::=|=>|=|:)\s*[rbuf&]{0,2}(?:"(?<a>[^"\n]+)"?|'(?<b>[^'\n]+)'?|`(?<c>[^`\n]+)`?|(?<d>[^\s"'`,;)]{6,}))"#,
        )
        .ok()?,
        setting: Regex::new(r#"^\s*(?:export\s+|set\s+|-\s+|<add\s+key=)?["']?(?<name>[A-Za-z][A-Za-z0-9_.-]*)["']?\s*[:=]\s*(?<value>[^\s"'#;,]+)\s*(?:[#;,].*)?$"#).ok()?,
        assigned: Regex::new(r#"(?<name>[A-Za-z_$][\w$.-]*)\s*["'\]]?\s*(?::\s*[\w&'<>\[\]?: ]{1,32}\s*)?(?::=|=>|=|:)\s*[&(]?\s*$"#).ok()?,
    })
}

/// Parts of a line that must not be shown. More is masked than is reported: what is given to a secret's name, whatever
/// it looks like.
pub(crate) fn ranges(text: &str) -> Vec<Range<usize>> {
    let Some(compiled) = compiled() else { return std::iter::once(0..text.len()).collect() };
    let mut ranges = shapes(compiled, text);
    for captures in compiled.keyed.captures_iter(text) {
        let quoted = ["a", "b", "c"].iter().find_map(|name| captures.name(name));
        // Without quotes it may be a type or a word of a sentence.
        let bare = captures.name("d").filter(|value| value.as_str().bytes().any(|b| b.is_ascii_digit()));
        ranges.extend(quoted.or(bare).map(|value| value.range()));
    }
    // A line of a settings file, whatever its value looks like.
    if let Some(captures) = compiled.setting.captures(text)
        && let (Some(name), Some(value)) = (captures.name("name"), captures.name("value"))
        && compiled.name.is_match(name.as_str())
        && !compiled.not_name.is_match(name.as_str())
    {
        ranges.push(value.range());
    }
    ranges.sort_by_key(|range| (range.start, range.end));
    // One behind the other, none inside another.
    let mut apart: Vec<Range<usize>> = Vec::new();
    for range in ranges {
        match apart.last_mut() {
            Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
            _ => apart.push(range),
        }
    }
    apart
}

fn shapes(compiled: &Compiled, text: &str) -> Vec<Range<usize>> {
    let mut wanted: Vec<usize> = compiled
        .literals
        .find_overlapping_iter(text)
        .filter_map(|hit| compiled.of_literal.get(hit.pattern().as_usize()).copied())
        .collect();
    wanted.sort_unstable();
    wanted.dedup();
    let mut ranges = Vec::new();
    for shape in wanted.into_iter().filter_map(|shape| compiled.shapes.get(shape)) {
        for captures in shape.captures_iter(text) {
            let secret = captures.name("secret").or_else(|| captures.get(0));
            ranges.extend(secret.map(|secret| secret.range()));
        }
    }
    ranges
}

/// Where secrets begin.
pub(super) fn find(text: &str, pieces: &[Piece], language: Option<Language>) -> Vec<usize> {
    let Some(compiled) = compiled() else { return Vec::new() };
    let mut hits: Vec<usize> = shapes(compiled, text)
        .into_iter()
        .filter(|range| text.get(range.clone()).is_some_and(|secret| !is_placeholder(secret)))
        .map(|range| range.start)
        .collect();
    for (index, piece) in pieces.iter().enumerate() {
        let Some(value) = piece.inside(text) else { continue };
        if value.len() < 6 || value.len() > 512 {
            continue;
        }
        if let Some(name) = name_of(compiled, text, pieces, index)
            && holds(compiled, name, value)
        {
            hits.push(piece.range.start);
        }
    }
    if language.is_none() {
        let mut start = 0;
        for line in text.split_inclusive('\n') {
            if let Some(captures) = compiled.setting.captures(line.trim_end())
                && let (Some(name), Some(value)) = (captures.name("name"), captures.name("value"))
                && holds(compiled, name.as_str(), value.as_str())
            {
                hits.push(start + value.start());
            }
            start += line.len();
        }
    }
    hits
}

/// The name that a string is given to: `name = "…"`, `name: "…"`, `"name": "…"`, `name["x"] = "…"`.
fn name_of<'t>(compiled: &Compiled, text: &'t str, pieces: &[Piece], index: usize) -> Option<&'t str> {
    let code = pieces.get(index.checked_sub(1)?).filter(|piece| piece.kind == Kind::Code)?;
    let code_text = text.get(code.range.clone())?;
    if matches!(code_text.trim().trim_start_matches(']').trim(), ":" | "=" | "=>") {
        let key = index.checked_sub(2).and_then(|key| pieces.get(key)).and_then(|key| key.inside(text));
        if let Some(key) = key.filter(|key| !key.is_empty()) {
            return Some(key);
        }
    }
    let from = code_text.floor_char_boundary(code_text.len().saturating_sub(160));
    let tail = code_text.get(from..)?;
    let tail = tail.rsplit('\n').next()?;
    compiled.assigned.captures(tail)?.name("name").map(|name| name.as_str())
}

/// Whether a name holds a secret and the value is one, rather than a placeholder, a reference or a word.
fn holds(compiled: &Compiled, name: &str, value: &str) -> bool {
    if !compiled.name.is_match(name) || compiled.not_name.is_match(name) || is_placeholder(value) {
        return false;
    }
    let lower = name.to_ascii_lowercase();
    if ["pass", "pwd"].iter().any(|word| lower.contains(word)) {
        return value.len() >= 6;
    }
    // Keys and tokens are random: words alone are a name for one.
    value.len() >= 12
        && value.bytes().any(|b| b.is_ascii_digit())
        && value.bytes().any(|b| b.is_ascii_alphabetic())
}

fn is_placeholder(value: &str) -> bool {
    let lower = value.to_ascii_lowercase();
    const WORDS: &[&str] = &[
        "example",
        "placeholder",
        "changeme",
        "change-me",
        "change_me",
        "your-",
        "your_",
        "yourpassword",
        "dummy",
        "xxxx",
        "****",
        "....",
        "redacted",
        "process.env",
        "os.environ",
        "getenv",
        "secrets.",
        "[secret]",
        "insert-",
        "replace-",
        "todo",
    ];
    let first = lower.chars().next();
    WORDS.iter().any(|word| lower.contains(word))
        || value.contains(['<', '{', '}', ' ', '\n'])
        || value.starts_with(['$', '/', '%', '!', '@'])
        || value.starts_with("./")
        || value.contains("://") && !value.contains('@')
        || lower.chars().all(|c| Some(c) == first)
        || matches!(lower.as_str(), "password" | "passwd" | "secret" | "token" | "string" | "undefined" | "required" | "optional" | "hidden")
        // The name of an environment variable.
        || value.contains('_') && value.bytes().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b'_')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_masked_is_whole() {
        let line =
            r#"connect("postgres://shop:s3cretpw@db/x", password = "correct horse", token: 'abc123def456')"#;
        let shown: Vec<&str> = ranges(line).into_iter().map(|range| &line[range]).collect();
        assert_eq!(shown, ["s3cretpw", "correct horse", "abc123def456"]);
    }

    #[test]
    fn names_that_describe_and_values_that_refer_are_no_secrets() {
        let compiled = compiled().unwrap();
        for (name, value, expected) in [
            ("PASSWORD", "hunter2", true),
            ("dbPassword", "correct-horse-battery", true),
            ("api_key", "9f8e7d6c5b4a39281706", true),
            ("TOKEN_HEADER", "x-auth-token-1", false),
            ("password_label", "Enter it here", false),
            ("token", "access-token-name", false),
            ("password", "${DB_PASSWORD}", false),
            ("password", "DB_PASSWORD", false),
            ("password", "changeme-please", false),
            ("compass", "north-east-1", false),
            ("monkey", "a1b2c3d4e5f6a7b8", false),
        ] {
            assert_eq!(holds(compiled, name, value), expected, "{name} = {value}");
        }
    }
}
