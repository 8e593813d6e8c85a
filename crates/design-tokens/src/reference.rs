//! References: `{group.token}` for whole tokens, JSON Pointers (RFC 6901) for anything.

/// Parses a string that is entirely `{path}`. `None`: it is not a reference; `Err`: it looks like one and is malformed.
pub(crate) fn curly(text: &str) -> Option<Result<Vec<String>, &'static str>> {
    let inner = text.strip_prefix('{')?.strip_suffix('}')?;
    if inner.contains(['{', '}']) {
        // Several references in one string: not a reference of the format; older dialects template them.
        return None;
    }
    let segments: Vec<String> = inner.split('.').map(str::to_owned).collect();
    if segments.iter().any(String::is_empty) {
        return Some(Err("a part of the reference is empty"));
    }
    Some(Ok(segments))
}

/// Parses a JSON Pointer in a URI fragment.
pub(crate) fn pointer(text: &str) -> Result<Vec<String>, &'static str> {
    let fragment =
        text.strip_prefix('#').ok_or("only references within the document (`#/…`) are supported here")?;
    if fragment.is_empty() || fragment == "/" {
        return Ok(Vec::new());
    }
    let path = fragment.strip_prefix('/').ok_or("a JSON Pointer begins with `#/`")?;
    path.split('/').map(unescape).collect()
}

fn unescape(segment: &str) -> Result<String, &'static str> {
    let decoded = percent_decode(segment)?;
    let mut out = String::with_capacity(decoded.len());
    let mut chars = decoded.chars();
    while let Some(c) = chars.next() {
        match (c, c == '~') {
            (_, false) => out.push(c),
            _ => match chars.next() {
                Some('0') => out.push('~'),
                Some('1') => out.push('/'),
                _ => return Err("`~` is followed by 0 or 1 in a JSON Pointer"),
            },
        }
    }
    Ok(out)
}

fn percent_decode(text: &str) -> Result<String, &'static str> {
    if !text.contains('%') {
        return Ok(text.to_owned());
    }
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(b) = rest.next() {
        if b != b'%' {
            bytes.push(b);
            continue;
        }
        let digit = |b: Option<u8>| b.and_then(|b| char::from(b).to_digit(16));
        match (digit(rest.next()), digit(rest.next())) {
            (Some(high), Some(low)) => bytes.push(u8::try_from(high * 16 + low).unwrap_or_default()),
            _ => return Err("`%` is followed by two hexadecimal digits in a URI fragment"),
        }
    }
    String::from_utf8(bytes).map_err(|_| "the reference is not UTF-8")
}

/// One piece of a string with references in it, as older dialects have them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Piece {
    Text(String),
    Reference(Vec<String>),
}

/// Splits `text` at its `{…}` references. `None` when there is none, or one that is not closed.
pub(crate) fn template(text: &str) -> Option<Vec<Piece>> {
    let mut pieces = Vec::new();
    let mut rest = text;
    let mut any = false;
    while let Some(open) = rest.find('{') {
        let close = rest[open..].find('}')? + open;
        let inner = rest[open + 1..close].trim();
        if inner.is_empty() || inner.contains('{') {
            return None;
        }
        if open > 0 {
            pieces.push(Piece::Text(rest[..open].to_owned()));
        }
        pieces.push(Piece::Reference(inner.split('.').map(|s| s.trim().to_owned()).collect()));
        any = true;
        rest = &rest[close + 1..];
    }
    if !rest.is_empty() {
        pieces.push(Piece::Text(rest.to_owned()));
    }
    any.then_some(pieces)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn curly_references_are_whole_strings() {
        assert_eq!(curly("{a.b c.d/e}"), Some(Ok(vec!["a".into(), "b c".into(), "d/e".into()])));
        assert_eq!(curly("x {a}"), None);
        assert_eq!(curly("{a} {b}"), None);
        assert!(matches!(curly("{a..b}"), Some(Err(_))));
        assert!(matches!(curly("{}"), Some(Err(_))));
    }

    #[test]
    fn pointers_unescape_percent_then_tilde() {
        assert_eq!(
            pointer("#/a~1b/c~0d/e%20f/~01"),
            Ok(vec!["a/b".into(), "c~d".into(), "e f".into(), "~1".into()])
        );
        assert_eq!(pointer("#"), Ok(vec![]));
        assert!(pointer("other.json#/a").is_err());
        assert!(pointer("#/a~2").is_err());
        assert!(pointer("#/a%zz").is_err());
    }

    #[test]
    fn templates_split_at_references() {
        let pieces = template("calc({a.b} * 2)").unwrap();
        assert_eq!(pieces.len(), 3);
        assert_eq!(pieces[1], Piece::Reference(vec!["a".into(), "b".into()]));
        assert_eq!(template("plain"), None);
        assert_eq!(template("{open"), None);
    }
}
