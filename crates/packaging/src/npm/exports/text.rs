//! Declarations as text that only changes when what is declared does.

/// The text of a part of a source: without comments, white space that separates nothing, and separators before a closing
/// bracket. Strings are in double quotes where they can be. `comments` are the comments of the source, in order.
pub(super) fn normal(source: &str, start: u32, end: u32, comments: &[(u32, u32)]) -> String {
    let (start, end) = (start as usize, end as usize);
    let mut out = String::new();
    let mut gap = false;
    let mut at = start;
    let mut comments = comments
        .get(comments.partition_point(|comment| (comment.1 as usize) <= start)..)
        .unwrap_or_default()
        .iter();
    let mut comment = comments.next();
    while at < end {
        while comment.is_some_and(|comment| (comment.1 as usize) <= at) {
            comment = comments.next();
        }
        if let Some((from, to)) = comment
            && *from as usize == at
        {
            gap = true;
            at = *to as usize;
            continue;
        }
        let Some(c) = source.get(at..end).and_then(|rest| rest.chars().next()) else { break };
        if c.is_whitespace() || c == '\u{feff}' {
            gap = true;
            at += c.len_utf8();
            continue;
        }
        if gap && joins(&out, c) {
            out.push(' ');
        }
        gap = false;
        match c {
            '"' | '\'' | '`' => {
                let length = quoted(source.get(at..end).unwrap_or_default(), c);
                let text = source.get(at..at + length).unwrap_or_default();
                let inner = text.get(1..text.len().saturating_sub(1)).unwrap_or_default();
                if c == '\'' && !inner.contains(['"', '\\']) {
                    out.push('"');
                    out.push_str(inner);
                    out.push('"');
                } else {
                    out.push_str(text);
                }
                at += length;
            }
            '}' | ']' | ')' => {
                while out.ends_with([';', ',']) {
                    out.pop();
                }
                out.push(c);
                at += 1;
            }
            _ => {
                out.push(c);
                at += c.len_utf8();
            }
        }
    }
    while out.ends_with(';') {
        out.pop();
    }
    out
}

/// Whether two characters would make one token without a space between.
fn joins(out: &str, next: char) -> bool {
    let word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '$' | '#' | '"' | '\'' | '`');
    let last = out.chars().next_back();
    last.is_some_and(|last| {
        (word(last) && word(next))
            || (last == next && matches!(next, '+' | '-' | '<' | '>' | '&' | '|' | '?' | '.'))
    })
}

/// Bytes of a string or a template at the start of a text. Parts of a template are taken as they are.
pub(super) fn quoted(text: &str, quote: char) -> usize {
    let mut escaped = false;
    for (place, c) in text.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            c if c == quote => return place + 1,
            _ => {}
        }
    }
    text.len()
}

/// Takes `export`, `default` and `declare` off the front.
pub(super) fn bare(mut text: &str) -> &str {
    loop {
        let rest = ["export ", "default ", "declare "].iter().find_map(|word| text.strip_prefix(word));
        match rest {
            Some(rest) => text = rest,
            None => return text,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn white_space_comments_quotes_and_last_separators_make_no_difference() {
        let long = "interface A {\n  a: 'x'; // first\n  b?: Map<string, /* no */ number>,\n}";
        let start = u32::try_from(long.find("//").unwrap()).unwrap();
        let inner = u32::try_from(long.find("/*").unwrap()).unwrap();
        let end = u32::try_from(long.len()).unwrap();
        let comments = [(start, start + 8), (inner, inner + 8)];
        assert_eq!(normal(long, 0, end, &comments), "interface A{a:\"x\";b?:Map<string,number>}");
    }

    #[test]
    fn words_stay_apart() {
        assert_eq!(normal("keyof   typeof a", 0, 16, &[]), "keyof typeof a");
        assert_eq!(normal("A > > B", 0, 7, &[]), "A> >B");
    }

    #[test]
    fn what_only_says_that_it_is_exported_is_taken_off() {
        assert_eq!(bare("export declare function f():void"), "function f():void");
    }
}
