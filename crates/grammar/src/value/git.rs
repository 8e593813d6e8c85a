//! Git's own names: references, revisions, ranges, path specifications, formats.

use super::path;
use super::word::plain;
use super::{Fits, Unfit};
use crate::place::Place;

/// Longest name of a reference: a file's name on the file systems that hold it.
const MAX_REF: usize = 250;

/// A name after the rules of `git check-ref-format`, and stricter: nothing that a reader or an option parser takes for
/// something else.
pub(super) fn reference(value: &str) -> Fits {
    if value.is_empty() {
        return Err(Unfit::Empty);
    }
    if value.len() > MAX_REF {
        return Err(Unfit::TooLong(MAX_REF));
    }
    plain(value)?;
    if value.starts_with('-') {
        return Err(Unfit::Form("begins with `-`"));
    }
    if let Some(c) = value.chars().find(|c| " ~^:?*[\\".contains(*c)) {
        return Err(Unfit::Character(c));
    }
    if value.contains("..") || value.contains("@{") || value == "@" {
        return Err(Unfit::Form("has `..` or `@{`, which stand for other things than a name"));
    }
    if value.ends_with('.')
        || value.split('/').any(|p| p.is_empty() || p.starts_with('.') || p.strip_suffix(".lock").is_some())
    {
        return Err(Unfit::Form(
            "has an empty part, one that begins with a dot or ends with `.lock`, or a dot at its end",
        ));
    }
    Ok(())
}

/// A commit or object by name, with git's suffixes: `HEAD~2`, `v1^{commit}`, `main@{upstream}`, `^main`, `HEAD:src/a.rs`,
/// `:0:a.rs`.
pub(super) fn revision(value: &str) -> Fits {
    plain(value)?;
    let (commit, file) = match value.split_once(':') {
        // The colon in `@{2024-01-01 10:00}` is not one of these; dates are not taken.
        Some((commit, file)) => (commit, Some(file)),
        None => (value, None),
    };
    if let Some(file) = file {
        let file = match file.split_once(':') {
            Some((stage, file)) if commit.is_empty() && matches!(stage, "0" | "1" | "2" | "3") => file,
            _ => file,
        };
        // In git's tree the path starts at the top, whatever the directory is; `./` is the run's.
        if !file.is_empty() {
            path::path(file, &Place::root())?;
        }
        if commit.is_empty() {
            return if file.is_empty() { Err(Unfit::Empty) } else { Ok(()) };
        }
    }
    let commit = commit.strip_prefix('^').unwrap_or(commit);
    let end = suffixes(commit);
    let (name, suffix) = commit.split_at_checked(end).ok_or(Unfit::Form("is not a revision"))?;
    if !(name == "@" || (name.is_empty() && suffix.starts_with("@{"))) {
        reference(name)?;
    }
    suffix_fits(suffix)
}

/// Where the suffixes begin.
fn suffixes(commit: &str) -> usize {
    let at = commit.find(['~', '^']).unwrap_or(commit.len());
    commit.find("@{").unwrap_or(commit.len()).min(at)
}

fn suffix_fits(mut rest: &str) -> Fits {
    let wrong = Unfit::Form("has a suffix that is none of `~2`, `^2`, `^{commit}`, `@{1}`, `@{upstream}`");
    while !rest.is_empty() {
        let after = if let Some(inner) = rest.strip_prefix("@{") {
            braced(inner, |w| {
                digits(w.strip_prefix('-').unwrap_or(w)) || ["u", "upstream", "push"].contains(&w)
            })
        } else if let Some(inner) = rest.strip_prefix("^{") {
            braced(inner, |w| ["", "commit", "tree", "blob", "tag", "object"].contains(&w))
        } else if let Some(inner) = rest.strip_prefix(['^', '~']) {
            let end = inner
                .find(|c: char| !c.is_ascii_digit() && !matches!(c, '!' | '@' | '-'))
                .unwrap_or(inner.len());
            let after = inner.get(end..);
            // `^@{` is `^` followed by the next suffix.
            if inner.starts_with("@{") { Some(inner) } else { after }
        } else {
            None
        };
        rest = after.ok_or_else(|| wrong.clone())?;
    }
    Ok(())
}

fn digits(text: &str) -> bool {
    !text.is_empty() && text.len() <= 9 && text.bytes().all(|b| b.is_ascii_digit())
}

fn braced(inner: &str, fits: impl Fn(&str) -> bool) -> Option<&str> {
    inner.split_once('}').filter(|(word, _)| fits(word)).map(|(_, after)| after)
}

/// `a..b`, `a...b`; one side may be left out.
pub(super) fn range(value: &str) -> Fits {
    let (from, to) = value
        .split_once("...")
        .or_else(|| value.split_once(".."))
        .ok_or(Unfit::Form("is not a range such as `main..feature`"))?;
    if from.is_empty() && to.is_empty() {
        return Err(Unfit::Form("names neither end of the range"));
    }
    for side in [from, to].into_iter().filter(|side| !side.is_empty()) {
        if side.contains(':') || side.starts_with('^') {
            return Err(Unfit::Form("is not a range of commits"));
        }
        revision(side)?;
    }
    Ok(())
}

/// A path, perhaps with wildcards, perhaps with git's signature: `:!vendor`, `:(exclude,glob)**/*.pb.go`, `:/docs`.
pub(super) fn pathspec(value: &str, place: &Place) -> Fits {
    let root = Place::root();
    if let Some(long) = value.strip_prefix(":(") {
        let (words, rest) = long.split_once(')').ok_or(Unfit::Form("has `:(` without `)`"))?;
        let known = ["top", "literal", "icase", "glob", "exclude"];
        if let Some(word) = words.split(',').find(|w| !known.contains(w)) {
            let reason = "is not a word of a path specification that is taken here";
            return Err(Unfit::Word { word: word.to_owned(), reason });
        }
        let from = if words.split(',').any(|w| w == "top") { &root } else { place };
        return if rest.is_empty() { Ok(()) } else { path::glob(rest, from) };
    }
    match value.strip_prefix(':') {
        Some(short) => {
            let rest = short.trim_start_matches(['!', '^', '/']);
            let signature = short.get(..short.len() - rest.len()).unwrap_or_default();
            if signature.is_empty() || signature.len() > 2 {
                return Err(Unfit::Form("begins with `:` and is neither `:!`, `:^` nor `:/`"));
            }
            let from = if signature.contains('/') { &root } else { place };
            if rest.is_empty() { Ok(()) } else { path::glob(rest, from) }
        }
        None => path::glob(value, place),
    }
}

/// A built-in name or a format, without the parts that make git start a program that configuration names: `%G…` and
/// `%(signature…)` verify signatures with `gpg.program`.
pub(super) fn pretty(value: &str) -> Fits {
    let named = ["oneline", "short", "medium", "full", "fuller", "reference", "email", "mboxrd", "raw"];
    if value.is_empty() || named.contains(&value) {
        return Ok(());
    }
    if !value.contains('%') && !value.starts_with("format:") && !value.starts_with("tformat:") {
        return Err(Unfit::Form(
            "is neither a built-in name nor a format with `%` (named formats are configuration)",
        ));
    }
    if let Some(c) = value.chars().find(|c| *c == '\0') {
        return Err(Unfit::Hidden(u32::from(c)));
    }
    // `%%` is a percent sign; what follows it begins anew. `%+G?`, `%-G?` and `% G?` are `%G?` with a newline or so.
    let bare = value.replace("%%", "");
    let verifies = bare.split('%').skip(1).any(|atom| {
        let atom = atom.trim_start_matches(['+', '-', ' ', '*']);
        atom.starts_with('G') || atom.to_lowercase().trim_start_matches(['(', '*']).starts_with("signature")
    });
    if verifies {
        return Err(Unfit::Form(
            "verifies signatures, for which git starts the program that configuration names",
        ));
    }
    Ok(())
}

/// `-L`: `10,20`, `10,+5:src/a.rs`, `:function:src/a.rs`.
pub(super) fn lines(value: &str, place: &Place) -> Fits {
    let wrong = || Unfit::Form("is not `START,END`, `START,END:FILE` or `:FUNCTION:FILE`");
    plain(value)?;
    if let Some(function) = value.strip_prefix(':') {
        return match function.rsplit_once(':') {
            Some((name, file)) if !name.is_empty() => path::path(file, place).map(|_| ()),
            None if !function.is_empty() => Ok(()),
            _ => Err(wrong()),
        };
    }
    let (span, file) = value.split_once(':').map_or((value, None), |(span, file)| (span, Some(file)));
    let (start, end) = span.split_once(',').unwrap_or((span, ""));
    let end = end.strip_prefix(['+', '-']).unwrap_or(end);
    if !(start.is_empty() || digits(start))
        || !(end.is_empty() || digits(end))
        || (start.is_empty() && end.is_empty())
    {
        return Err(wrong());
    }
    file.map_or(Ok(()), |file| path::path(file, place).map(|_| ()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn g16_names_that_are_flags_ranges_or_tricks_are_no_references() {
        for good in ["main", "feature/x-1", "release/1.2", "sbx/a", "fix_1", "HEAD", "日本"] {
            assert!(reference(good).is_ok(), "{good}");
        }
        let long = "x".repeat(300);
        for bad in [
            "-evil",
            "--output=x",
            "a..b",
            "x.lock",
            "a.lock/b",
            "@{",
            "a@{1}",
            "refs/../x",
            "a\u{202e}b",
            "a\u{7}",
            "a b",
            "a//b",
            "/a",
            "a/",
            ".a",
            "a/.b",
            "a.",
            "@",
            "a~1",
            "a^",
            "a:b",
            "a?",
            "a*",
            "a[",
            "a\\b",
            "",
            "a\u{200b}",
            &long,
        ] {
            assert!(reference(bad).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn revisions_have_gits_suffixes_and_no_others() {
        for good in [
            "HEAD~2",
            "abc123^",
            "HEAD^2~3",
            "v1.0^{}",
            "v1^{commit}",
            "main@{upstream}",
            "@{u}",
            "@",
            "@~1",
            "HEAD@{3}",
            "^main",
            "HEAD:src/a b.rs",
            ":0:a.rs",
            "HEAD^!",
            "HEAD^@",
            "HEAD:",
            "@{-1}",
        ] {
            assert!(revision(good).is_ok(), "{good}");
        }
        for bad in [
            "-x",
            "--output=x",
            "a..b",
            "^--x",
            "x^{/fix}",
            "x@{a}",
            "HEAD:../x",
            "HEAD:/etc/passwd",
            "",
            "~1",
            "a~x",
            "a^{",
            "HEAD\n",
            ":",
            "HEAD:.git/config",
        ] {
            assert!(revision(bad).is_err(), "{bad:?}");
        }
        for good in ["a..b", "main...HEAD~1", "v1..", "..v2", "origin/main..HEAD"] {
            assert!(range(good).is_ok(), "{good}");
        }
        for bad in ["..", "...", "a", "a..-x", "-a..b", "a....b", "a..b..c", "../x", "a..b:c"] {
            assert!(range(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn path_specifications_stay_inside() {
        let app = Place::at(contract::RelPath::new("app").unwrap());
        for good in [
            "src",
            "*.rs",
            ":!vendor",
            ":^a",
            ":/docs",
            ":(exclude,glob)**/*.pb.go",
            ":!/x",
            "../lib",
            ":(top)x",
            ":/",
        ] {
            assert!(pathspec(good, &app).is_ok(), "{good}");
        }
        for bad in
            ["../../x", "/etc", ":(attr:diff=x)y", ":(top)../x", ":x", ":(", ":!../../x", ":(prefix:3)x"]
        {
            assert!(pathspec(bad, &app).is_err(), "{bad}");
        }
    }

    #[test]
    fn formats_verify_no_signatures() {
        for good in [
            "oneline",
            "%h %s",
            "format:%an <%ae> %ad",
            "tformat:%H%n%b",
            "%%G is text",
            "%(trailers:key=Fixes)",
        ] {
            assert!(pretty(good).is_ok(), "{good}");
        }
        for bad in ["%G?", "%h %GK", "format:%+G?", "mine", "%(signature)", "%(*signature:grade)", "%-GG"] {
            assert!(pretty(bad).is_err(), "{bad}");
        }
        for (value, fits) in [
            ("1,5", true),
            (":main:src/a.rs", true),
            ("3,+2:a.rs", true),
            ("5", true),
            ("1,5:/etc/passwd", false),
            ("/re/,/x/", false),
            ("", false),
            (":f:../x", false),
        ] {
            assert_eq!(lines(value, &Place::root()).is_ok(), fits, "{value}");
        }
    }
}
