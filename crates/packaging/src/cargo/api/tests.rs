//! What Cargo's SemVer page says of each kind of change, and how names are followed.

use super::*;
use crate::tree::MapTree;
use crate::version::Bump;

fn api(text: &str) -> Api {
    exported(&MapTree::new().with("src/lib.rs", text), "src/lib.rs", "2021")
        .unwrap_or_else(|e| panic!("{text}: {e}"))
}

fn differ(before: &str, after: &str) -> Difference {
    compare(&api(before), &api(after))
}

/// The bump and the words.
fn said(before: &str, after: &str) -> (Bump, Vec<String>) {
    let difference = differ(before, after);
    assert_eq!(difference.undecided, Vec::<String>::new(), "{before} -> {after}");
    (
        bump(&difference.changes).unwrap_or_default(),
        difference.changes.iter().map(ToString::to_string).collect(),
    )
}

fn names(text: &str) -> Vec<String> {
    api(text).names().map(str::to_owned).collect()
}

#[expect(clippy::too_many_lines, reason = "one row for each rule of the page")]
#[test]
fn each_kind_of_change_asks_for_what_cargos_page_says() {
    use Bump::{Major, Minor, None};
    let cases: &[(&str, &str, Bump)] = &[
        // Items.
        ("pub fn a() {}", "", Major),
        ("pub fn a() {}", "pub fn b() {}", Major),
        ("", "pub fn a() {}", Minor),
        ("pub fn a() {}", "pub(crate) fn a() {}", Major),
        ("pub fn a() {}", "#[doc(hidden)] pub fn a() {}", Major),
        ("#[doc(hidden)] pub fn a() {}", "", None),
        ("pub fn a() { 1 }", "/// Words\n#[inline]\npub fn a() { 2 }", None),
        // Layout.
        ("pub struct A { a: u8 }", "#[repr(C)] pub struct A { a: u8 }", Minor),
        ("#[repr(C)] pub struct A { a: u8 }", "pub struct A { a: u8 }", Major),
        ("pub struct A { a: u8 }", "#[repr(packed)] pub struct A { a: u8 }", Major),
        ("#[repr(u8)] pub enum E { A }", "#[repr(u16)] pub enum E { A }", Major),
        ("#[repr(transparent)] pub struct A(u8);", "pub struct A(u8);", Major),
        ("#[repr(align(8))] pub struct A { a: u8 }", "#[repr(C, align(8))] pub struct A { a: u8 }", Minor),
        // Structures.
        ("pub struct A { pub a: u8 }", "pub struct A { pub a: u8, b: u8 }", Major),
        ("pub struct A { pub a: u8 }", "pub struct A { pub a: u8, pub b: u8 }", Major),
        ("pub struct A { pub a: u8, x: u8 }", "pub struct A { pub a: u8, x: u8, pub b: u8 }", Minor),
        ("pub struct A { pub a: u8, x: u8 }", "pub struct A { pub a: u8, y: u16, z: u8 }", None),
        (
            "#[non_exhaustive] pub struct A { pub a: u8 }",
            "#[non_exhaustive] pub struct A { pub a: u8, pub b: u8 }",
            Minor,
        ),
        ("pub struct A { pub a: u8 }", "#[non_exhaustive] pub struct A { pub a: u8 }", Major),
        ("pub struct A { pub a: u8 }", "pub struct A { pub a: u16 }", Major),
        ("pub struct A { pub a: u8, x: u8 }", "pub struct A { x: u8 }", Major),
        ("pub struct A(u8);", "pub struct A { a: u8, b: u8 }", Minor),
        ("pub struct A(pub u8);", "pub struct A { pub a: u8 }", Major),
        ("pub struct A;", "pub struct A {}", Major),
        // Enumerations.
        ("pub enum E { A }", "pub enum E { A, B }", Major),
        ("#[non_exhaustive] pub enum E { A }", "#[non_exhaustive] pub enum E { A, B }", Minor),
        ("pub enum E { A, B }", "pub enum E { A }", Major),
        ("pub enum E { A }", "#[non_exhaustive] pub enum E { A }", Major),
        ("pub enum E { A { a: u8 } }", "pub enum E { A { a: u8, b: u8 } }", Major),
        (
            "pub enum E { #[non_exhaustive] A { a: u8 } }",
            "pub enum E { #[non_exhaustive] A { a: u8, b: u8 } }",
            Minor,
        ),
        ("pub enum E { A(u8) }", "pub enum E { A(u8, u8) }", Major),
        ("pub enum E { A = 1 }", "pub enum E { A = 2 }", Major),
        ("pub enum E { A, B }", "pub enum E { B, A }", None),
        // Traits.
        ("pub trait T { fn a(&self); }", "pub trait T { fn a(&self); fn b(&self); }", Major),
        ("pub trait T { fn a(&self); }", "pub trait T { fn a(&self); fn b(&self) {} }", Minor),
        ("pub trait T { fn a(&self); }", "pub trait T { fn a(&self); fn b<X>(&self, x: X) {} }", Major),
        (
            "pub trait T { fn a(&self); }",
            "pub trait T { fn a(&self); fn b<X>(&self, x: X) where Self: Sized {} }",
            Minor,
        ),
        ("pub trait T { fn a(&self); }", "pub trait T { fn a(&self, x: u8); }", Major),
        ("pub trait T { fn a(&self); }", "pub trait T { #[deprecated] fn a(&self); }", Minor),
        ("pub trait T { fn a(&self); }", "pub trait T {}", Major),
        ("pub trait T {}", "pub trait T { type A; }", Major),
        ("pub trait T {}", "pub trait T { const A: u8 = 1; }", Major),
        ("pub trait T {}", "pub trait T: Clone {}", Major),
        ("pub trait T {}", "pub unsafe trait T {}", Major),
        ("pub trait T {}", "pub trait T<A> {}", Major),
        ("pub trait T {}", "pub trait T<A = u8> {}", Minor),
        (
            "mod s { pub trait S {} } pub trait T: s::S {}",
            "mod s { pub trait S {} } pub trait T: s::S { fn a(&self); }",
            Minor,
        ),
        ("pub trait T {}", "mod s { pub trait S {} } pub trait T: s::S {}", Major),
        // Implementations.
        ("#[derive(Clone)] pub struct A;", "pub struct A;", Major),
        (
            "#[derive(Clone)] pub struct A;",
            "pub struct A; impl Clone for A { fn clone(&self) -> Self { A } }",
            None,
        ),
        ("pub struct A;", "#[derive(Debug)] pub struct A;", Minor),
        ("use std::fmt; pub struct A; impl fmt::Debug for A {}", "#[derive(Debug)] pub struct A;", None),
        ("pub struct A; impl From<u8> for A {}", "pub struct A; impl core::convert::From<u8> for A {}", None),
        ("pub struct A; impl From<u8> for A {}", "pub struct A; impl From<u16> for A {}", Major),
        (
            "pub struct A; impl Iterator for A { type Item = u8; }",
            "pub struct A; impl Iterator for A { type Item = u16; }",
            Major,
        ),
        ("pub trait T {}", "pub trait T {} impl<X> T for X {}", Major),
        ("struct P; impl Clone for P {}", "struct P;", None),
        ("pub struct A; impl<'a> From<&'a u8> for A {}", "pub struct A; impl From<&u8> for A {}", None),
        ("use std::str; pub fn f(x: &str) {}", "pub fn f(x: &str) {}", None),
        // Generic parameters.
        ("pub struct A<T>(T);", "pub struct A<T: Clone>(T);", Major),
        ("pub struct A<T: Clone>(T);", "pub struct A<T>(T);", Minor),
        ("pub struct A<T>(T);", "pub struct A<U>(U);", None),
        ("pub struct A<T>(T) where T: Clone;", "pub struct A<U: Clone>(U);", None),
        ("pub struct A<T>(T);", "pub struct A<T, U = u8>(T, U);", Minor),
        ("pub struct A<T>(T);", "pub struct A<T, U>(T, U);", Major),
        ("pub struct A<T: ?Sized>(Box<T>);", "pub struct A<T>(Box<T>);", Major),
        ("pub struct A<'a>(&'a u8);", "pub struct A<'b>(&'b u8);", None),
        ("pub struct A<T = u8>(T);", "pub struct A<T = u16>(T);", Major),
        ("pub struct A<const N: usize>;", "pub struct A<const N: u8>;", Major),
        // Functions.
        ("pub fn a() {}", "pub fn a(x: u8) {}", Major),
        ("pub fn a(x: u8) {}", "pub fn a(y: u8) {}", None),
        ("pub fn a(x: u8) {}", "pub fn a(x: u16) {}", Major),
        ("pub fn a() -> u8 { 1 }", "pub fn a() -> u16 { 1 }", Major),
        ("pub fn a() {}", "pub fn a<T>() {}", Minor),
        ("pub fn a<T>(x: T) {}", "pub fn a<T: Clone>(x: T) {}", Major),
        ("pub fn a() {}", "pub unsafe fn a() {}", Major),
        ("pub unsafe fn a() {}", "pub fn a() {}", Minor),
        ("pub const fn a() {}", "pub fn a() {}", Major),
        ("pub fn a() {}", "pub const fn a() {}", Minor),
        ("pub fn a() {}", "pub async fn a() {}", Major),
        ("pub fn a() {}", "pub extern \"C\" fn a() {}", Major),
        ("pub fn a() {}", "#[deprecated] pub fn a() {}", Minor),
        (
            "pub struct A; impl A { pub fn a(&self) {} }",
            "pub struct A; impl A { pub fn a(&mut self) {} }",
            Major,
        ),
        (
            "pub struct A; impl A { pub fn a(&self) {} fn b(&self) {} }",
            "pub struct A; impl A { pub fn a(&self) {} }",
            None,
        ),
        ("pub struct A; impl A { pub fn a(&self) {} }", "pub struct A; impl A {}", Major),
        (
            "pub struct A; impl A { pub fn a() -> Self { A } }",
            "pub struct A; impl A { pub fn a() -> A { A } }",
            None,
        ),
        // Others.
        ("pub const A: u8 = 1;", "pub const A: u8 = 2;", None),
        ("pub const A: u8 = 1;", "pub const A: u16 = 1;", Major),
        ("pub const A: u8 = 1;", "pub static A: u8 = 1;", Major),
        ("pub type A = u8;", "pub type A = u16;", Major),
        ("pub static A: u8 = 1;", "pub static mut A: u8 = 1;", Major),
        ("#![no_std]\npub fn a() {}", "pub fn a() {}", Major),
        ("extern \"C\" { pub fn a(x: u8); }", "extern \"C\" { pub fn a(x: u16); }", Major),
        ("#[macro_export] macro_rules! m { () => {} }", "", Major),
        (
            "#[macro_export] macro_rules! m { () => {} }",
            "#[macro_export] macro_rules! m { () => {}; (x) => {} }",
            Minor,
        ),
        (
            "#[macro_export] macro_rules! m { () => {} }",
            "#[macro_export] macro_rules! m { () => { 1 } }",
            None,
        ),
        (
            "#[proc_macro_derive(A)] pub fn a(x: T) -> T {}",
            "#[proc_macro_derive(A)] pub fn b(x: T) -> T {}",
            None,
        ),
        (
            "#[proc_macro_derive(A)] pub fn a(x: T) -> T {}",
            "#[proc_macro_derive(B)] pub fn a(x: T) -> T {}",
            Major,
        ),
    ];
    for (before, after, bump) in cases {
        let said = said(before, after);
        assert_eq!(said.0, *bump, "{before}\n -> {after}\n{:?}", said.1);
    }
}

#[test]
fn names_are_followed_wherever_they_lead() {
    assert_eq!(names("mod a { pub struct B; pub fn c() {} } pub use a::B;"), ["B"]);
    assert_eq!(names("pub mod a { pub struct B; } pub use self::a::B as C;"), ["C", "a", "a::B"]);
    assert_eq!(names("mod a { mod b { pub struct X; } pub use self::b::*; } pub use a::*;"), ["X"]);
    assert_eq!(names("mod a { pub use super::b::X; } mod b { pub struct X; } pub use crate::a::X;"), ["X"]);
    assert_eq!(
        names("pub mod a { pub use super::*; pub fn f() {} } pub fn g() {}"),
        ["a", "a::f", "a::g", "g"]
    );
    assert_eq!(names("mod e { pub enum E { A, B } } pub use e::E::{self, *};"), ["A", "B", "E"]);
    assert_eq!(names("pub use std::fmt::Debug; pub extern crate alloc;"), ["Debug", "alloc"]);
    assert_eq!(
        names("mod a { pub fn f() {} } mod b { pub fn f() {} pub fn g() {} } pub use a::f; pub use b::*;"),
        ["f", "g"]
    );
    assert_eq!(names("pub struct A; pub fn A() {}"), ["A", "A"]);
    assert_eq!(names("pub mod a { pub use crate::b; } pub mod b { pub use crate::a; }").len(), 4);
    assert_eq!(names("mod a { pub struct S; impl S { pub fn m(&self) {} } } pub use a::S;"), ["S", "S::m"]);
    assert_eq!(names("mod a { #[macro_export] macro_rules! m { () => {} } }"), ["m!"]);
    assert_eq!(names("#[cfg(test)] pub fn t() {} #[cfg(feature = \"x\")] pub fn u() {}"), ["u"]);
    assert_eq!(names("use std::fmt; pub fn fmt() {}"), ["fmt"]);
}

#[test]
fn moving_and_importing_otherwise_is_no_change() {
    let one = "mod a { pub struct S; } pub use a::S; pub fn f(s: &S) -> std::vec::Vec<S> { x }";
    let other = "mod b { mod c { pub struct S; } pub use c::S; pub(crate) fn g() {} } pub use self::b::S; use std::vec::Vec; pub fn f(s: &crate::b::S) -> Vec<S> { y }";
    assert_eq!(said(one, other), (Bump::None, vec![]));
    // A new path beside the old one is an addition and nothing else.
    let more = "pub mod a { pub struct S; } pub use a::S; pub fn f(s: &S) -> std::vec::Vec<S> { x }";
    assert_eq!(said(one, more), (Bump::Minor, vec!["a::S is new".to_owned()]));
    let shorter = "pub mod long { pub struct S; impl S { pub fn m(&self) -> S { x } } }";
    let both = "pub mod long { pub struct S; impl S { pub fn m(&self) -> Self { x } } } pub use long::S;";
    let difference = differ(shorter, both);
    assert_eq!(bump(&difference.changes), Some(Bump::Minor), "{:?}", difference.changes);
    let back = differ(both, shorter);
    assert_eq!(bump(&back.changes), Some(Bump::Major));
    assert!(back.changes.iter().all(|c| !c.to_string().contains("declared")), "{:?}", back.changes);
}

#[test]
fn what_cannot_be_told_is_said() {
    let undecided = |before: &str, after: &str| differ(before, after).undecided;
    assert_eq!(
        undecided("bitflags! { pub struct A: u8 {} }", "bitflags! { pub struct A: u8 {} }"),
        Vec::<String>::new()
    );
    assert_eq!(
        undecided("bitflags! { pub struct A: u8 {} }", "bitflags! { pub struct A: u16 {} }"),
        ["what `bitflags!` makes in the crate's top: it is given something else"]
    );
    assert_eq!(undecided("include!(\"x.rs\");", "include!(\"x.rs\");").len(), 1);
    assert_eq!(undecided("#[cfg(unix)] pub fn a() {}", "#[cfg(windows)] pub fn a() {}").len(), 1);
    assert_eq!(
        undecided("#[cfg(unix)] pub fn a() {} #[cfg(windows)] pub fn a() {}", "#[cfg(unix)] pub fn a() {}")
            .len(),
        1
    );
    assert_eq!(
        undecided(
            "#[cfg(unix)] pub fn a() {} #[cfg(windows)] pub fn a() {}",
            "#[cfg(windows)] pub fn a() {} #[cfg(unix)] pub fn a() {}"
        ),
        Vec::<String>::new()
    );
    assert_eq!(undecided("#[my::make] pub struct A;", "#[my::make(more)] pub struct A;").len(), 1);
    assert_eq!(
        undecided(
            "#[macro_export] macro_rules! m { (a) => {} }",
            "#[macro_export] macro_rules! m { (b) => {} }"
        )
        .len(),
        1
    );
    assert_eq!(undecided("mod gone;", "").len(), 1);
    let lifetimes = differ(
        "pub struct N<'a>(&'a u8); pub fn f(x: &u8) -> N { x }",
        "pub struct N<'a>(&'a u8); pub fn f<'a>(x: &'a u8) -> N<'a> { x }",
    );
    assert_eq!((lifetimes.changes.len(), lifetimes.undecided.len()), (0, 1));
    let of_trait = differ(
        "pub struct N<'a>(&'a u8); pub trait T { fn f(&self) -> N; }",
        "pub struct N<'a>(&'a u8); pub trait T { fn f(&self) -> N<'_>; }",
    );
    assert_eq!((of_trait.changes.len(), of_trait.undecided.len()), (0, 1), "{of_trait:?}");
    let made = differ("pub struct Alpha; impl Clone for Alpha {}", "pub struct Alpha; cloned!(Alpha);");
    assert_eq!((made.changes.len(), made.undecided.len()), (0, 2), "{made:?}");
}

#[test]
fn changes_are_said_in_words() {
    let (_, words) = said("pub fn a(x: Option<u8>) {}", "pub fn a(x: u8) -> std::string::String { x }");
    assert_eq!(words, ["a: parameter 1 was `Option<u8>` and is `u8`, it returned `()` and returns `String`"]);
    let (_, words) = said(
        "mod m { pub struct A; } pub use m::A; pub fn f(a: &mut A) {}",
        "mod m { pub struct A; } pub use m::A; pub fn f(a: &A) {}",
    );
    assert_eq!(words, ["f: parameter 1 was `&mut A` and is `&A`"]);
}

#[test]
fn circles_and_crowds_end() {
    let circle = "pub mod a { pub use super::b::*; pub use super::b::X; } pub mod b { pub use super::a::*; pub use super::a::X; } pub use a::*; pub use b::*;";
    let _ = api(circle);
    let _ = api(
        "pub use self::a as b; pub use self::b as a; pub use a::b::a::b as c; use crate as me; pub use me::*; pub fn f(x: a::b) {}",
    );
    let mut wide = String::new();
    for i in 0..300 {
        wide.push_str(&format!("pub mod m{i} {{ pub use super::*; pub fn f{i}() {{}} }}\n"));
    }
    let read = exported(&MapTree::new().with("src/lib.rs", wide), "src/lib.rs", "2021");
    assert!(matches!(read, Ok(_) | Err(Error::TooMany)));
}

#[test]
fn the_first_edition_begins_paths_at_the_top() {
    let tree = MapTree::new()
        .with("src/lib.rs", "mod a { pub struct X; } mod b { pub use a::X; } pub use b::X as Y;");
    let names = |edition| {
        exported(&tree, "src/lib.rs", edition).unwrap().names().map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(names("2015"), ["Y"]);
}

proptest::proptest! {
    #[test]
    fn nothing_panics_and_nothing_differs_from_itself(words in proptest::collection::vec(proptest::sample::select(vec![
        "pub struct A;", "pub mod a { pub use super::*; pub struct B; }", "pub use a::*;", "pub use self::a::B as A;", "impl A { pub fn f(&self) -> Self {} }",
        "pub trait T: Clone { type X; fn g(&self) -> Self::X; }", "impl<S: Copy> T for Vec<S> { type X = A; }", "pub enum E { A, B(u8) }", "pub use E::*;",
        "use E as a;", "pub use crate::T as U;", "pub fn f<'a, X: T<X = A>>(x: &'a X, y: impl Fn(A) -> E) -> Box<dyn T + 'a> where X::X: Clone {}",
        "mod c { pub use super::{a, E}; }", "pub use c::a::*;", "m! { x }", "pub const X: [u8; 3] = [1];", "#[cfg(x)] pub fn f() {}", "pub use std::*;",
    ]), 0..14)) {
        if let Ok(read) = exported(&MapTree::new().with("src/lib.rs", words.concat()), "src/lib.rs", "2021") {
            let difference = compare(&read, &read);
            proptest::prop_assert_eq!(difference.changes, vec![]);
            let _ = compare(&Api::default(), &read);
        }
    }
}
