//! Texts of types and bounds in which names stand for what they mean, not for how they were imported.

use std::collections::BTreeMap;

use proc_macro2::{Spacing, TokenStream, TokenTree};
use quote::ToTokens;

use super::Error;
use super::attrs::{brackets, push};
use super::scope::{Scope, Target};

/// A part of a signature.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Piece {
    Text(String),
    /// An item of the crate: its number among those that were met.
    Item(usize),
}

/// A type, a bound, a list of them.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Signature(pub(super) Vec<Piece>);

impl Signature {
    fn text(&mut self, text: &str) {
        match self.0.last_mut() {
            Some(Piece::Text(last)) => push(last, text),
            Some(Piece::Item(_)) if text.starts_with(|c: char| c.is_alphanumeric() || c == '_') => {
                self.0.push(Piece::Text(format!(" {text}")));
            }
            _ => self.0.push(Piece::Text(text.to_owned())),
        }
    }

    fn item(&mut self, item: usize) {
        if let Some(Piece::Text(last)) = self.0.last_mut()
            && last.ends_with(|c: char| c.is_alphanumeric() || c == '_')
        {
            last.push(' ');
        }
        self.0.push(Piece::Item(item));
    }

    /// A text of no names.
    pub(super) fn of(text: &str) -> Self {
        Self(vec![Piece::Text(text.to_owned())])
    }

    /// With another behind it.
    pub(super) fn then(mut self, other: &Self) -> Self {
        for piece in &other.0 {
            match piece {
                Piece::Text(text) => self.text(text),
                Piece::Item(item) => self.item(*item),
            }
        }
        self
    }

    /// As text; `name` says what an item is called.
    pub(super) fn say(&self, name: &dyn Fn(usize) -> String) -> String {
        let parts = self.0.iter().map(|piece| match piece {
            Piece::Text(text) => text.clone(),
            Piece::Item(item) => name(*item),
        });
        parts.collect()
    }
}

/// The items of the crate that signatures name, numbered.
#[derive(Debug, Default)]
pub(super) struct Items {
    numbers: BTreeMap<(usize, usize), usize>,
    pub(super) all: Vec<(usize, usize)>,
}

impl Items {
    pub(super) fn number(&mut self, module: usize, item: usize) -> usize {
        *self.numbers.entry((module, item)).or_insert_with(|| {
            self.all.push((module, item));
            self.all.len() - 1
        })
    }
}

/// What names mean where a signature stands.
#[derive(Debug, Clone, Default)]
pub(super) struct Here {
    pub(super) module: usize,
    /// Parameters by name, and what they are called in signatures.
    pub(super) parameters: BTreeMap<String, String>,
    /// What `Self` is.
    pub(super) own: Option<Signature>,
}

/// Names that need no import, and where they are
/// ([Preludes](https://doc.rust-lang.org/std/prelude/index.html)).
const PRELUDE: [(&str, &str); 42] = [
    ("AsMut", "convert"),
    ("AsRef", "convert"),
    ("Box", "boxed"),
    ("Clone", "clone"),
    ("Copy", "marker"),
    ("Debug", "fmt"),
    ("Default", "default"),
    ("DoubleEndedIterator", "iter"),
    ("Drop", "ops"),
    ("Eq", "cmp"),
    ("Err", "result::Result"),
    ("ExactSizeIterator", "iter"),
    ("Extend", "iter"),
    ("Fn", "ops"),
    ("FnMut", "ops"),
    ("FnOnce", "ops"),
    ("From", "convert"),
    ("FromIterator", "iter"),
    ("Future", "future"),
    ("IntoFuture", "future"),
    ("Hash", "hash"),
    ("Into", "convert"),
    ("IntoIterator", "iter"),
    ("Iterator", "iter"),
    ("None", "option::Option"),
    ("Ok", "result::Result"),
    ("Option", "option"),
    ("Ord", "cmp"),
    ("PartialEq", "cmp"),
    ("PartialOrd", "cmp"),
    ("Result", "result"),
    ("Send", "marker"),
    ("Sized", "marker"),
    ("Some", "option::Option"),
    ("String", "string"),
    ("Sync", "marker"),
    ("ToOwned", "borrow"),
    ("ToString", "string"),
    ("TryFrom", "convert"),
    ("TryInto", "convert"),
    ("Unpin", "marker"),
    ("Vec", "vec"),
];

/// A path of another crate in one spelling: the standard library has three names, and serde two.
pub(super) fn elsewhere(path: &str) -> String {
    for (prefix, place) in [
        ("std::os::raw::", "std::ffi::"),
        ("serde_core::", "serde::"),
        ("core::", "std::"),
        ("alloc::", "std::"),
    ] {
        if let Some(rest) = path.strip_prefix(prefix) {
            return format!("{place}{rest}");
        }
    }
    match PRELUDE.iter().find(|(name, _)| *name == path) {
        Some((name, place)) => format!("std::{place}::{name}"),
        None => path.to_owned(),
    }
}

/// What a path of the standard library is called when it is shown: the last name alone, where everybody knows it.
pub(super) fn shown(path: &str) -> &str {
    match path.rsplit_once("::") {
        Some((place, name)) => {
            let place = place.strip_prefix("std::").unwrap_or(place);
            if PRELUDE.contains(&(name, place)) { name } else { path }
        }
        None => path,
    }
}

/// Types that are always there. `use std::str` brings in a module, and `str` stays a type.
const PRIMITIVE: [&str; 20] = [
    "bool", "char", "f128", "f16", "f32", "f64", "i128", "i16", "i32", "i64", "i8", "isize", "str", "u128",
    "u16", "u32", "u64", "u8", "usize", "_",
];

/// A signature's text without its lifetimes (`'static` stays) and without what it captures: where two are the same but for these,
/// it takes the compiler to tell whether they mean the same.
pub(super) fn loose(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let step = if let Some(after) = rest.strip_prefix("+use<") {
            rest = after.split_once('>').map_or("", |(_, after)| after);
            continue;
        } else if c == '\'' {
            let name = rest.get(1..).unwrap_or_default();
            let end = name.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(name.len());
            let (name, after) = name.split_at(end);
            if name == "static" || end == 0 {
                out.push_str("'static");
                rest = after;
                continue;
            }
            // With it goes the comma behind it, the sum before it, and the space that kept it apart.
            rest = after.strip_prefix(',').unwrap_or(after);
            rest = rest.strip_prefix(' ').unwrap_or(rest);
            if out.ends_with('+') {
                out.pop();
            }
            continue;
        } else {
            c.len_utf8()
        };
        let (part, after) = rest.split_at(step);
        if part == ">" && out.ends_with('<') {
            out.pop();
        } else {
            out.push_str(part);
        }
        rest = after;
    }
    out
}

const KEYWORDS: [&str; 16] = [
    "as", "async", "const", "crate", "dyn", "extern", "fn", "for", "impl", "mut", "ref", "static", "unsafe",
    "where", "use", "type",
];

pub(super) struct Writer<'s, 'm> {
    pub(super) scope: &'s mut Scope<'m>,
    pub(super) items: &'s mut Items,
}

impl Writer<'_, '_> {
    /// The signature of a part of the syntax.
    pub(super) fn of(&mut self, part: &impl ToTokens, here: &Here) -> Result<Signature, Error> {
        let mut out = Signature::default();
        self.level(part.to_token_stream(), here, &mut out)?;
        Ok(out)
    }

    /// Descends as deep as the source was allowed to nest.
    fn level(&mut self, stream: TokenStream, here: &Here, out: &mut Signature) -> Result<(), Error> {
        let tokens: Vec<TokenTree> = stream.into_iter().collect();
        let punct = |at: usize| match tokens.get(at) {
            Some(TokenTree::Punct(p)) => (p.as_char(), p.spacing() == Spacing::Joint),
            _ => (' ', false),
        };
        let is_colons = |at: usize| punct(at) == (':', true) && punct(at + 1).0 == ':';
        let mut at = 0;
        while let Some(token) = tokens.get(at) {
            match token {
                TokenTree::Group(group) => {
                    let (open, close) = brackets(group.delimiter());
                    out.text(open);
                    self.level(group.stream(), here, out)?;
                    out.text(close);
                    at += 1;
                }
                TokenTree::Punct(p) if p.as_char() == '\'' => {
                    let name = tokens.get(at + 1).map(|t| format!("'{t}")).unwrap_or_default();
                    out.text(here.parameters.get(&name).unwrap_or(&name));
                    at += 2;
                }
                // A comma at the end of a list says nothing.
                TokenTree::Punct(p) if p.as_char() == ',' => {
                    let last = tokens.get(at + 1).is_none() || punct(at + 1).0 == '>';
                    // One-element tuples need theirs.
                    if !last || (tokens.get(at + 1).is_none() && at == 1) {
                        out.text(",");
                    }
                    at += 1;
                }
                TokenTree::Ident(_) => {
                    let within = at >= 2 && is_colons(at - 2);
                    let absolute = within
                        && (at == 2
                            || !matches!(tokens.get(at - 3), Some(TokenTree::Ident(_)))
                                && punct(at - 3).0 != '>');
                    if within && !absolute {
                        out.text(&token.to_string());
                        at += 1;
                        continue;
                    }
                    let mut path = vec![plain(token)];
                    let mut end = at + 1;
                    while is_colons(end) {
                        let Some(next @ TokenTree::Ident(_)) = tokens.get(end + 2) else { break };
                        path.push(plain(next));
                        end += 3;
                    }
                    let binds = path.len() == 1
                        && match punct(end) {
                            ('=', joint) => !joint,
                            (':', _) => !is_colons(end),
                            _ => false,
                        };
                    if binds
                        || (path.len() == 1 && path.first().is_some_and(|p| KEYWORDS.contains(&p.as_str())))
                    {
                        let name = path.first().map(String::as_str).unwrap_or_default();
                        let name =
                            if binds { here.parameters.get(name).map_or(name, String::as_str) } else { name };
                        out.text(name);
                    } else {
                        self.path(&path, absolute, here, out)?;
                    }
                    at = end;
                }
                token => {
                    out.text(&token.to_string());
                    at += 1;
                }
            }
        }
        Ok(())
    }

    fn path(
        &mut self,
        path: &[String],
        absolute: bool,
        here: &Here,
        out: &mut Signature,
    ) -> Result<(), Error> {
        let Some((first, rest)) = path.split_first() else { return Ok(()) };
        let tail = |out: &mut Signature, rest: &[String]| {
            for part in rest {
                out.text(&format!("::{part}"));
            }
        };
        if !absolute {
            if let Some(parameter) = here.parameters.get(first) {
                out.text(parameter);
                tail(out, rest);
                return Ok(());
            }
            if first == "Self" {
                match &here.own {
                    Some(own) => *out = std::mem::take(out).then(own),
                    None => out.text("Self"),
                }
                tail(out, rest);
                return Ok(());
            }
        }
        let mut found = self.scope.resolve(here.module, path, absolute)?;
        if path.len() == 1 && PRIMITIVE.contains(&first.as_str()) {
            found.retain(|(_, target, _)| matches!(target, Target::Item(..)));
        }
        // `::` was written before it: it belongs to the path.
        if absolute && let Some(Piece::Text(last)) = out.0.last_mut() {
            let kept = last.trim_end_matches("::").len();
            last.truncate(kept);
        }
        match found.into_iter().next() {
            Some((_, Target::Item(module, item), used)) => {
                out.item(self.items.number(module, item));
                tail(out, path.get(used..).unwrap_or_default());
            }
            Some((_, Target::Variant(module, item, name), used)) => {
                out.item(self.items.number(module, item));
                out.text(&format!("::{name}"));
                tail(out, path.get(used..).unwrap_or_default());
            }
            Some((_, Target::Elsewhere(text), used)) => {
                out.text(shown(&elsewhere(&text)));
                tail(out, path.get(used..).unwrap_or_default());
            }
            _ => out.text(&path.join("::")),
        }
        Ok(())
    }
}

fn plain(token: &TokenTree) -> String {
    token.to_string().trim_start_matches("r#").to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lifetimes_can_be_left_out_of_the_comparison() {
        for (one, other) in [
            ("&'t0 self", "&self"),
            ("Name<'t0>", "Name"),
            ("Map<'_,K>", "Map<K>"),
            ("impl Iterator<Item=u8>+'s0+use<'s0>", "impl Iterator<Item=u8>"),
            ("&'s0 str", "&str"),
        ] {
            assert_eq!(loose(one), loose(other), "{one}");
        }
        assert_ne!(loose("&'static str"), loose("&str"));
        assert_eq!(elsewhere("core::os"), "std::os");
        assert_eq!(shown(&elsewhere("Vec")), shown(&elsewhere("alloc::vec::Vec")));
        assert_eq!(elsewhere("std::os::raw::c_int"), "std::ffi::c_int");
    }
}
