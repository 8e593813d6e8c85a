//! A source file as items, parsed without what is inside of functions.
//!
//! The parser descends once per nested construct and has no bound of its own. So a file is split into tokens first (which
//! descends nowhere), bodies of functions and values of constants are emptied, and what is left may nest only so deep and chain only
//! so long that it fits a small stack.

use std::str::FromStr as _;

use proc_macro2::{Delimiter, Group, Spacing, TokenStream, TokenTree};

/// Most bytes of a file.
const MAX_BYTES: usize = 4 << 20;

/// Brackets within brackets.
const MAX_DEPTH: usize = 64;

/// Tokens, over all open brackets, that may each nest into the one before: those since the last `,`, `;` or `}`.
const MAX_CHAIN: usize = 200;

/// Why a source is not read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unreadable {
    /// It is no Rust that is known here.
    #[error("it is no Rust: {0}")]
    Syntax(String),
    /// It nests deeper than is parsed.
    #[error("it nests more than {MAX_DEPTH} deep, or has more than {MAX_CHAIN} tokens without a break")]
    TooDeep,
    /// It is larger than is read.
    #[error("it has more than {} MiB, or is no UTF-8", MAX_BYTES >> 20)]
    TooLarge,
}

/// The items of a file.
pub(super) fn parse(bytes: &[u8]) -> Result<syn::File, Unreadable> {
    let text = std::str::from_utf8(bytes).ok().filter(|text| text.len() <= MAX_BYTES);
    let text = without_shebang(text.ok_or(Unreadable::TooLarge)?);
    let stream = TokenStream::from_str(text).map_err(|e| Unreadable::Syntax(e.to_string()))?;
    let reduced = Reducer { depth: 0, cost: 0 }.level(stream, false)?;
    syn::parse2(reduced).map_err(|e| Unreadable::Syntax(e.to_string()))
}

/// `#!` starts a script's first line, unless it starts an attribute.
fn without_shebang(text: &str) -> &str {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    match text.strip_prefix("#!") {
        Some(rest) if !rest.trim_start().starts_with('[') => {
            rest.find('\n').and_then(|at| rest.get(at..)).unwrap_or_default()
        }
        _ => text,
    }
}

#[derive(Clone, Copy)]
struct Reducer {
    depth: usize,
    /// Tokens since the last break, over all levels.
    cost: usize,
}

/// What an item at this place is, as far as its body is concerned.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Item {
    Other,
    /// From `fn` to its body or semicolon.
    Function,
    /// From `impl` to its body: `fn` is part of a type there.
    Impl,
    /// From `const NAME` or `static NAME` to its `=`.
    Value,
}

impl Reducer {
    /// One level of brackets. `opaque` ones are not parsed: only their depth counts.
    fn level(mut self, stream: TokenStream, opaque: bool) -> Result<TokenStream, Unreadable> {
        if self.depth > MAX_DEPTH {
            return Err(Unreadable::TooDeep);
        }
        let outer = self.cost;
        let mut out: Vec<TokenTree> = Vec::new();
        let (mut item, mut angles, mut joint) = (Item::Other, 0_usize, ' ');
        let mut tokens = stream.into_iter().peekable();
        while let Some(token) = tokens.next() {
            self.cost += 1;
            let mut before = ' ';
            match token {
                TokenTree::Group(group) => {
                    let attribute = group.delimiter() == Delimiter::Bracket && is_attribute(&out);
                    if attribute && is_doc(&group) {
                        while matches!(out.last(), Some(TokenTree::Punct(p)) if matches!(p.as_char(), '#' | '!'))
                        {
                            out.pop();
                        }
                        self.cost = self.cost.saturating_sub(3).max(outer);
                        continue;
                    }
                    let is_brace = group.delimiter() == Delimiter::Brace;
                    let body = is_brace && item == Item::Function && angles == 0;
                    let inner = if body {
                        // Not parsed, but to be cut off it must be walked past: tokens are flat, so this costs no stack.
                        TokenStream::new()
                    } else {
                        let hidden = opaque || attribute || is_macro(&out);
                        Self { depth: self.depth + 1, cost: self.cost }.level(group.stream(), hidden)?
                    };
                    let mut kept = Group::new(group.delimiter(), inner);
                    kept.set_span(group.span());
                    out.push(TokenTree::Group(kept));
                    if attribute {
                        self.cost = self.cost.saturating_sub(3).max(outer);
                    }
                    if is_brace && angles == 0 {
                        item = Item::Other;
                        if !goes_on(tokens.peek()) {
                            self.cost = outer;
                        }
                    }
                }
                TokenTree::Punct(punct) => {
                    let c = punct.as_char();
                    match c {
                        '<' => angles += 1,
                        '>' if !matches!(joint, '-' | '=') => angles = angles.saturating_sub(1),
                        ',' => self.cost = outer,
                        // Bounds stand beside each other; there are no sums in what is before a body.
                        '+' if angles == 0 && matches!(item, Item::Function | Item::Impl) => {
                            self.cost = outer;
                        }
                        ';' => {
                            (item, angles, self.cost) = (Item::Other, 0, outer);
                        }
                        '=' if item == Item::Value && angles == 0 && punct.spacing() == Spacing::Alone => {
                            out.push(TokenTree::Punct(punct));
                            out.push(TokenTree::Group(Group::new(
                                Delimiter::Parenthesis,
                                TokenStream::new(),
                            )));
                            while tokens
                                .next_if(|t| !matches!(t, TokenTree::Punct(p) if p.as_char() == ';'))
                                .is_some()
                            {}
                            continue;
                        }
                        _ => {}
                    }
                    if punct.spacing() == Spacing::Joint {
                        before = c;
                    }
                    out.push(TokenTree::Punct(punct));
                }
                TokenTree::Ident(ident) => {
                    let named = matches!(tokens.peek(), Some(TokenTree::Ident(next)) if next != "fn" && next != "unsafe" && next != "extern" && next != "async" && next != "trait" && next != "impl");
                    if item == Item::Other && angles == 0 {
                        item = match () {
                            () if ident == "fn" => Item::Function,
                            () if ident == "impl" => Item::Impl,
                            () if (ident == "const" || ident == "static") && named && !is_type(&out) => {
                                Item::Value
                            }
                            () => Item::Other,
                        };
                    }
                    out.push(TokenTree::Ident(ident));
                }
                TokenTree::Literal(literal) => out.push(TokenTree::Literal(literal)),
            }
            joint = before;
            if self.cost > MAX_CHAIN && !opaque {
                return Err(Unreadable::TooDeep);
            }
        }
        Ok(out.into_iter().collect())
    }
}

/// Whether what follows a block may belong to it: `else`, an operator, a call.
fn goes_on(next: Option<&TokenTree>) -> bool {
    match next {
        Some(TokenTree::Punct(p)) => p.as_char() != '#',
        Some(TokenTree::Ident(word)) => word == "else" || word == "as",
        Some(TokenTree::Group(group)) => group.delimiter() != Delimiter::Brace,
        _ => false,
    }
}

/// `*const T` and `&'static T` are types.
fn is_type(before: &[TokenTree]) -> bool {
    matches!(before.last(), Some(TokenTree::Punct(p)) if matches!(p.as_char(), '*' | '\''))
}

fn is_attribute(before: &[TokenTree]) -> bool {
    let punct = |back: usize| match before.iter().rev().nth(back) {
        Some(TokenTree::Punct(p)) => p.as_char(),
        _ => ' ',
    };
    punct(0) == '#' || (punct(0) == '!' && punct(1) == '#')
}

/// `name!` or `macro_rules! name` stand before.
fn is_macro(before: &[TokenTree]) -> bool {
    let mut back = before.iter().rev();
    let is_bang = |t: Option<&TokenTree>| matches!(t, Some(TokenTree::Punct(p)) if p.as_char() == '!');
    match back.next() {
        Some(TokenTree::Ident(_)) => is_bang(back.next()),
        last => is_bang(last) && matches!(back.next(), Some(TokenTree::Ident(_))),
    }
}

/// `doc = "…"`, which says nothing that is compared.
fn is_doc(group: &Group) -> bool {
    let mut tokens = group.stream().into_iter();
    matches!(tokens.next(), Some(TokenTree::Ident(word)) if word == "doc")
        && matches!(tokens.next(), Some(TokenTree::Punct(p)) if p.as_char() == '=')
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn items(text: &str) -> usize {
        parse(text.as_bytes()).unwrap_or_else(|e| panic!("{text}: {e}")).items.len()
    }

    #[test]
    fn items_are_read_without_what_is_inside() {
        for (text, count) in [
            ("#!/usr/bin/env run\nfn f() { not rust at all $ }", 1),
            (
                "#![no_std]\n//! Words\n/// More\npub fn f<const N: usize>() -> A<{ N }> where B: C { ( [ ] ) }\nstruct S;",
                2,
            ),
            (
                "const X: Map<K = V> = { many + tokens { } };\nstatic mut Y: fn() -> u8 = f;\npub const fn g() {}",
                3,
            ),
            ("impl A for fn(u8) -> u8 { fn m(&self) { x } type T = u8; }", 1),
            ("impl Trait for X { const A: usize = 1 << 3; fn f(); }", 1),
            ("trait T { const A: u8 = 1; fn f(&self) -> u8 { 1 } fn g(); }", 1),
            (
                "macro_rules! m { ($a:expr) => { fn f() { $a } } }\nm! { x }\nthread_local!(static X: u8 = 1);",
                3,
            ),
            (
                "pub fn p(x: *const u8, y: *mut u8) -> impl Fn(u8) -> u8 { |x| x }\nenum E { A = 1 << 2, B }",
                2,
            ),
            ("pub struct S<const N: usize = 3>; pub type F = unsafe extern \"C\" fn(*const u8) -> i32;", 2),
            (&format!("fn f<P>() where P: {} B {{}}", "A<X> + ".repeat(500)), 1),
            ("unsafe extern \"C\" { pub fn f(x: u8); pub static S: u8; }", 1),
        ] {
            assert_eq!(items(text), count, "{text}");
        }
        let file = parse(b"impl Trait for X { const A: usize = 1 << 3; fn f() {} }").unwrap();
        assert!(matches!(&file.items[0], syn::Item::Impl(i) if i.items.len() == 2));
    }

    #[test]
    fn what_nests_too_deep_is_refused_and_what_is_read_needs_little_stack() {
        let n = 200_000;
        let bad = [
            format!("type A = {}u8{};", "(".repeat(n), ")".repeat(n)),
            format!("type A = {}u8;", "&".repeat(n)),
            format!("type A = {}u8{};", "A<".repeat(n), ">".repeat(n)),
            format!("enum E {{ A = {}1 }}", "1 + ".repeat(n)),
            format!("enum E {{ A = {}1 }}", "!".repeat(n)),
            format!("enum E {{ A = {}1 }}", "return ".repeat(n)),
            format!("enum E {{ A = {} {{}} }}", "if x {} else ".repeat(n)),
            format!("fn f() -> {}u8 {{}}", "fn() -> ".repeat(n)),
            format!("m!{}{}", "{".repeat(n), "}".repeat(n)),
            format!("#[a{}{}] fn f() {{}}", "(".repeat(n), ")".repeat(n)),
            "mod a {".repeat(n) + &"}".repeat(n),
            format!("type A = {}u8;", "*const ".repeat(n)),
            format!("type A = {}u8;", "dyn Fn() -> ".repeat(n)),
        ];
        for text in &bad {
            assert_eq!(parse(text.as_bytes()).err(), Some(Unreadable::TooDeep), "{}", &text[..30]);
        }
        let fine = format!("fn f() {{ {}{} }}", "{".repeat(n), "}".repeat(n));
        assert_eq!(items(&fine), 1, "bodies may be as they like");
        // At the limit, half of what a thread has is enough.
        let run = || {
            let fits = |make: &dyn Fn(usize) -> String| {
                for n in (1..MAX_CHAIN + 20).rev() {
                    if parse(make(n).as_bytes()).is_ok() {
                        return n;
                    }
                }
                0
            };
            for make in [
                &(|n| format!("type A = {}u8{};", "(".repeat(n), ")".repeat(n))) as &dyn Fn(usize) -> String,
                &|n| format!("type A = {}u8;", "&".repeat(n)),
                &|n| format!("type A = {}u8{};", "A<".repeat(n), ">".repeat(n)),
                &|n| format!("enum E {{ A = {}1 }}", "!".repeat(n)),
                &|n| format!("enum E {{ A = {}1 }}", "1 + ".repeat(n)),
                &|n| format!("enum E {{ A = {}1{} }}", "(!".repeat(n), ")".repeat(n)),
                &|n| format!("enum E {{ A = {}x }}", "return ".repeat(n)),
                &|n| format!("enum E {{ A = {}x }}", "|| ".repeat(n)),
                &|n| format!("enum E {{ A = {}{{}} }}", "if x {} else ".repeat(n)),
                &|n| format!("enum E {{ A = {}x{} }}", "{ if ".repeat(n), " {} }".repeat(n)),
                &|n| format!("enum E {{ A = {}x{} }}", "if ".repeat(n), "{}".repeat(n)),
                &|n| format!("type A = [u8; {}1{}];", "{ if x {} else { [".repeat(n), "] } }".repeat(n)),
                &|n| format!("fn f() -> {}u8 {{}}", "fn() -> ".repeat(n)),
                &|n| "mod a {".repeat(n) + &"}".repeat(n),
            ] {
                let most = fits(make);
                assert!(most > 0, "{}", make(3));
            }
        };
        std::thread::Builder::new().stack_size(1 << 20).spawn(run).unwrap().join().unwrap();
    }

    proptest! {
        #[test]
        fn nothing_panics(text in r##"[ a-z<>(){}\[\];:,'"#!&*+=$\-/.|]{0,200}"##) {
            let _ = parse(text.as_bytes());
        }

        #[test]
        fn nor_on_words(words in prop::collection::vec(prop::sample::select(vec![
            "pub ", "fn ", "f", "(", ")", "{", "}", "<", ">", "impl ", "for ", "const ", "static ", ":", ";", "=", "struct ", "enum ", "A", ",",
            "#[cfg(x)]", "mod ", "use ", "::", "*", "&", "'a ", "where ", "->", "trait ", "type ", "macro_rules!", "m!",
        ]), 0..60)) {
            let _ = parse(words.concat().as_bytes());
        }
    }
}
