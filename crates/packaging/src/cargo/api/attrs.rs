//! What attributes say of an item, as far as users notice.

use std::collections::BTreeSet;

use proc_macro2::{Delimiter, TokenStream, TokenTree};
use syn::{Attribute, Item, Meta};

/// Attributes of one item.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Attrs {
    /// Under which conditions it is there, as they are written; all of `cfg(…)`.
    pub(super) gate: Option<String>,
    /// Whether it is there for tests alone.
    pub(super) test_only: bool,
    /// `#[doc(hidden)]`.
    pub(super) hidden: bool,
    pub(super) non_exhaustive: bool,
    pub(super) deprecated: bool,
    pub(super) macro_export: bool,
    /// What a procedural macro makes of it: `proc_macro`, `proc_macro_attribute`, or the name that is derived.
    pub(super) makes: Option<Makes>,
    /// `#[derive(…)]`, each path as it is written.
    pub(super) derives: Vec<Vec<String>>,
    /// What `#[repr(…)]` names.
    pub(super) repr: BTreeSet<String>,
    /// Attributes that are not the compiler's own, as they are written.
    pub(super) others: BTreeSet<String>,
}

/// What a function of a procedural macro crate defines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Makes {
    Function,
    Attribute,
    Derive(String),
}

/// Attributes of the compiler that say nothing to users of a library.
const SILENT: [&str; 32] = [
    "allow",
    "automatically_derived",
    "cfg",
    "cfg_attr",
    "cold",
    "deny",
    "deprecated",
    "derive",
    "diagnostic",
    "doc",
    "expect",
    "export_name",
    "forbid",
    "global_allocator",
    "ignore",
    "inline",
    "link",
    "link_name",
    "link_section",
    "macro_export",
    "macro_use",
    "must_use",
    "no_mangle",
    "non_exhaustive",
    "path",
    "proc_macro",
    "proc_macro_attribute",
    "proc_macro_derive",
    "repr",
    "target_feature",
    "track_caller",
    "warn",
];

/// Tools whose attributes are not seen by users: `rustfmt::skip`, `clippy::all`.
const TOOLS: [&str; 4] = ["clippy", "rustfmt", "rustdoc", "diagnostic"];

impl Attrs {
    pub(super) fn read(attrs: &[Attribute]) -> Self {
        let mut found = Self::default();
        for attr in attrs {
            found.take(&attr.meta);
        }
        found
    }

    fn take(&mut self, meta: &Meta) {
        let path = meta.path();
        let Some(name) = path.segments.first().map(|s| s.ident.to_string()) else { return };
        let list = match meta {
            Meta::List(list) => list.tokens.clone(),
            _ => TokenStream::new(),
        };
        match name.as_str() {
            "cfg" => {
                let text = plain(&list);
                self.test_only |= text == "test" || text == "doctest";
                match &mut self.gate {
                    Some(gate) => gate.push_str(&format!(" and {text}")),
                    None => self.gate = Some(text),
                }
            }
            "cfg_attr" => self.conditional(list),
            "doc" => self.hidden |= words(&list).iter().any(|word| word == "hidden"),
            "non_exhaustive" => self.non_exhaustive = true,
            "deprecated" => self.deprecated = true,
            "macro_export" => self.macro_export = true,
            "proc_macro" => self.makes = Some(Makes::Function),
            "proc_macro_attribute" => self.makes = Some(Makes::Attribute),
            "proc_macro_derive" => {
                self.makes = Some(Makes::Derive(words(&list).into_iter().next().unwrap_or_default()));
            }
            "derive" => self.derives.extend(parts(list).iter().map(path_of)),
            "repr" => self.repr.extend(parts(list).iter().map(plain)),
            _ if SILENT.contains(&name.as_str())
                || (TOOLS.contains(&name.as_str()) && path.segments.len() > 1) => {}
            _ => {
                self.others.insert(plain(&quote::ToTokens::to_token_stream(meta)));
            }
        }
    }

    /// `cfg_attr(CONDITION, ATTRIBUTES…)`: what derives and representations it adds counts as if it were always so; what else it
    /// adds is kept as it is written.
    fn conditional(&mut self, list: TokenStream) {
        let parts = parts(list);
        let Some((condition, added)) = parts.split_first() else { return };
        for tokens in added {
            let Ok(meta) = syn::parse2::<Meta>(tokens.clone()) else { continue };
            let is_cfg = meta.path().is_ident("cfg") || meta.path().is_ident("path");
            let is_doc_build = words(condition).iter().any(|word| word == "docsrs" || word == "doc");
            if !is_cfg && !is_doc_build && !meta.path().is_ident("cfg_attr") {
                self.take(&meta);
            }
        }
    }
}

/// The attributes of an item.
pub(super) fn of(item: &Item) -> &[Attribute] {
    match item {
        Item::Const(i) => &i.attrs,
        Item::Enum(i) => &i.attrs,
        Item::ExternCrate(i) => &i.attrs,
        Item::Fn(i) => &i.attrs,
        Item::ForeignMod(i) => &i.attrs,
        Item::Impl(i) => &i.attrs,
        Item::Macro(i) => &i.attrs,
        Item::Mod(i) => &i.attrs,
        Item::Static(i) => &i.attrs,
        Item::Struct(i) => &i.attrs,
        Item::Trait(i) => &i.attrs,
        Item::TraitAlias(i) => &i.attrs,
        Item::Type(i) => &i.attrs,
        Item::Union(i) => &i.attrs,
        Item::Use(i) => &i.attrs,
        _ => &[],
    }
}

/// Tokens split at commas.
pub(super) fn parts(stream: TokenStream) -> Vec<TokenStream> {
    let mut parts: Vec<Vec<TokenTree>> = vec![Vec::new()];
    for token in stream {
        match &token {
            TokenTree::Punct(p) if p.as_char() == ',' => parts.push(Vec::new()),
            _ => {
                if let Some(last) = parts.last_mut() {
                    last.push(token);
                }
            }
        }
    }
    parts.into_iter().filter(|part| !part.is_empty()).map(|part| part.into_iter().collect()).collect()
}

/// The words at the outermost level.
fn words(stream: &TokenStream) -> Vec<String> {
    let idents = stream.clone().into_iter().filter_map(|token| match token {
        TokenTree::Ident(ident) => Some(ident.to_string()),
        _ => None,
    });
    idents.collect()
}

fn path_of(stream: &TokenStream) -> Vec<String> {
    words(stream)
}

/// Tokens as text: a space only where two words would become one.
pub(super) fn plain(stream: &TokenStream) -> String {
    let mut out = String::new();
    spell(stream.clone(), &mut out);
    out
}

pub(super) fn push(out: &mut String, text: &str) {
    let word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '\'' | '"' | '#');
    let joins = out.chars().next_back().is_some_and(word) && text.chars().next().is_some_and(word);
    if joins && !out.ends_with('\'') {
        out.push(' ');
    }
    out.push_str(text);
}

pub(super) const fn brackets(delimiter: Delimiter) -> (&'static str, &'static str) {
    match delimiter {
        Delimiter::Parenthesis => ("(", ")"),
        Delimiter::Brace => ("{", "}"),
        Delimiter::Bracket => ("[", "]"),
        Delimiter::None => ("", ""),
    }
}

/// Descends as deep as the source was allowed to nest.
fn spell(stream: TokenStream, out: &mut String) {
    for token in stream {
        match token {
            TokenTree::Group(group) => {
                let (open, close) = brackets(group.delimiter());
                push(out, open);
                spell(group.stream(), out);
                out.push_str(close);
            }
            token => push(out, &token.to_string()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Attrs {
        let file = super::super::source::parse(format!("{text} struct S;").as_bytes()).unwrap();
        Attrs::read(of(&file.items[0]))
    }

    #[test]
    fn what_users_notice_is_read() {
        let attrs = read(
            "/// Words\n#[doc(hidden)] #[non_exhaustive] #[derive(Clone, serde::Serialize)] #[repr(C, align(8))] #[must_use] #[inline(always)]\
             #[clippy::x] #[my::attribute(a = 1)] #[cfg(feature = \"x\")] #[cfg(unix)]",
        );
        assert!(attrs.hidden && attrs.non_exhaustive && !attrs.test_only && !attrs.deprecated);
        assert_eq!(
            attrs.derives,
            [vec!["Clone".to_owned()], vec!["serde".to_owned(), "Serialize".to_owned()]]
        );
        assert_eq!(attrs.repr.iter().collect::<Vec<_>>(), ["C", "align(8)"]);
        assert_eq!(attrs.others.iter().collect::<Vec<_>>(), ["my::attribute(a=1)"]);
        assert_eq!(attrs.gate.as_deref(), Some("feature=\"x\" and unix"));
        assert!(read("#[cfg(test)]").test_only);
        let conditional = read(
            "#[cfg_attr(feature = \"serde\", derive(Serialize), repr(C))] #[cfg_attr(docsrs, doc(cfg(x)))]",
        );
        assert_eq!((conditional.derives.len(), conditional.repr.len(), conditional.others.len()), (1, 1, 0));
    }
}
