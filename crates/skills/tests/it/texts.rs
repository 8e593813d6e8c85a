//! TypeScript and what is left of it.

use gatewright_skills::strip;

/// What stands between `⟦` and `⟧` is blanked; a character before `|` there is written where it began.
const CASES: &[&str] = &[
    // Annotations.
    "let a⟦: number⟧ = 1;",
    "let a⟦!: number⟧;",
    "const { b, c }⟦: { b: string; c?: number }⟧ = d;",
    "const [b, ...c]⟦: [number, ...string[]]⟧ = d;",
    "for (const a of b ⟦as string[]⟧) c(a);",
    "try {} catch (e⟦: unknown⟧) {}",
    "try {} catch (e⟦: any⟧) { e⟦!⟧.a }",
    // Functions.
    "function f(a⟦: number⟧, b⟦?: string⟧, ...c⟦: any[]⟧)⟦: void⟧ {}",
    "function f(a⟦?⟧ /* c */ ⟦: string⟧) {}",
    "function f(⟦this: Window,⟧ a⟦: number⟧) {}",
    "function f(⟦this: Window⟧) {}",
    "function f⟦<T extends { a: 1 }>⟧(a⟦: T⟧)⟦: a is T⟧ {}",
    "function f(a⟦: unknown⟧)⟦: asserts a is string⟧ {}",
    "⟦function f(a: string): void;⟧\nfunction f(a⟦: any⟧) {}",
    "⟦export function f(a: string): void;⟧\nexport function f(a⟦: any⟧) {}",
    "⟦export default function f(a: string): void;⟧\nexport default function f(a⟦: any⟧) {}",
    "async function* f(a = 1 ⟦as const⟧)⟦: AsyncGenerator<1>⟧ {}",
    "const f = async ⟦<T,>⟧(a⟦: T⟧)⟦: Promise<T>⟧ => a;",
    "const f = (a⟦?: number⟧, { b }⟦: { b?: 1 }⟧ = {}) => a⟦!⟧;",
    "const f = (a⟦: () => void⟧)⟦: (() => void)⟧ => a;",
    "const f = function ⟦<T>⟧(⟦this: T⟧)⟦: T⟧ { return this; };",
    "const o = { get a()⟦: number⟧ { return 1; }, set a(b⟦: number⟧) {}, async *c⟦<T>⟧(d⟦?: T⟧)⟦: any⟧ {} };",
    // Expressions.
    "a ⟦as string as any⟧;",
    "(a ⟦as any⟧).b = 1;",
    "a ⟦satisfies B⟧;",
    "a⟦!⟧.b⟦!⟧[c]⟦!⟧(d⟦!⟧)⟦!⟧;",
    "a⟦! as B⟧;",
    "a<b ⟦as any⟧>(c);",
    "f⟦<string>⟧(a); new F⟦<number>⟧(b); t⟦<C>⟧`d`; a?.⟦<T>⟧(b);",
    "const g = f⟦<string>⟧;",
    "x < y || z > (w ⟦as number⟧);",
    "const a = ⟦<T>⟧(b ⟦as T⟧);",
    "(⟦<any>⟧window).b = ⟦<string>⟧c;",
    "[a ⟦as any⟧, b⟦!⟧] = c ⟦as D⟧;",
    "`${a ⟦as string⟧}${b⟦!⟧}`;",
    "a ? (b ⟦as C⟧) : d ⟦satisfies E⟧;",
    // Statements.
    "⟦type A = { b: string } | C<D>;⟧",
    "⟦interface A extends B, C<D> { e(): void }⟧",
    "⟦export type A = 1; export interface B {}⟧",
    "⟦export default interface A {}⟧",
    "⟦declare const a: string; declare function b(): void; declare class C {}⟧",
    "⟦declare let a; declare enum B { C } declare namespace D { let e: 1 }⟧",
    "⟦declare module 'a' { export = b; } declare global { var c: 1 }⟧",
    "⟦namespace A { export type B = 1; interface C {} namespace D {} }⟧",
    "⟦export declare const a: string, b: number;⟧",
    "export ⟦abstract⟧ class A {}",
    // Modules.
    "⟦import type A from 'a'; import type { B } from 'b'; import type * as C from 'c';⟧",
    "import { ⟦type A,⟧ b, ⟦type C as D⟧ } from 'a';",
    "import a, { ⟦type B⟧ } from 'a';",
    "import type from 'a'; import { type } from 'b'; import { type as as } from 'c';",
    "⟦export type { A }; export type { B } from 'b'; export type * from 'c'; export type * as D from 'd';⟧",
    "const a = 1; export { a, ⟦type B⟧ };",
    "export { ⟦type A as B,⟧ c } from 'd';",
    "⟦import type A = require('a'); export as namespace B;⟧",
    // Classes.
    "class A⟦<T = 1>⟧ extends B⟦<T> implements C, D<E>⟧ {}",
    "⟦abstract⟧ class A { ⟦abstract b(): void; abstract c: string; abstract get d(): 1; abstract accessor e: 1⟧ }",
    "class A { ⟦private⟧ a = 1; ⟦protected⟧ static ⟦readonly⟧ b⟦: string⟧ = 'c'; ⟦public override⟧ d() {} }",
    "class A { a⟦?: number⟧; b⟦!: string⟧; ⟦readonly⟧ #c⟦?: 1⟧; [d]⟦?: 2⟧; 'e'⟦?: 3⟧; 4⟦!: 5⟧ }",
    "class A { ⟦declare a: string; [b: string]: any; static [c: number]: any⟧ }",
    "class A { ⟦constructor(a: string);⟧ constructor(a⟦: any⟧) {} ⟦b?(): void;⟧ b() {} }",
    "class A { ⟦private⟧ async *a⟦<T>⟧(⟦this: A,⟧ b⟦?: T⟧)⟦: AsyncGenerator<T>⟧ {} }",
    "class A { get a()⟦: number⟧ { return 1 } ⟦private⟧ set a(b⟦: number⟧) {} static { let c⟦: 1⟧ = 1 } }",
    "class A { public; private; readonly = 1; declare() {} abstract⟦?: 1⟧; override }",
    "class A { ⟦public⟧ get; ⟦private⟧ static; ⟦readonly⟧ async = 1 }",
    "const A = class⟦<T> implements B⟧ { c⟦: T⟧ };",
    "class A { ⟦readonly⟧ [b]⟦: c⟧ = 1; ⟦private⟧ [d]() {} }",
    "export default class⟦<T>⟧ extends A {}",
    "export default ⟦abstract⟧ class A⟦<T>⟧ {}",
    // Where spaces alone would join what stands apart.
    "a\n⟦;|type B = 1⟧\n(c)",
    "a\n⟦;|interface B {}⟧\n[c].d()",
    "a\n⟦;|declare let b⟧\n`c`",
    "a\n⟦;|type B = 1;⟧\n/b/.test(c)",
    "a\n⟦type B = 1⟧\n⟦;|type C = 2⟧\n+d",
    "let a = b ⟦;|as C⟧\n(d)",
    "let a = b ⟦;|satisfies C⟧\n[d].e()",
    "let a⟦: B⟧\n(c)",
    "class A { a = b\n ⟦;|public⟧ [c] = 1 }",
    "class A { a = b\n ⟦;|private⟧ *c() {} }",
    "class A { a = b\n ⟦;|declare c: 1⟧\n [d] = 1 }",
    "class A { get⟦;|: any⟧\n b() {} }",
    "class A { static⟦;|?: any⟧\n b() {} }",
    "class A { set⟦;|!: any⟧\n b() {} }",
    "const f = (a⟦): {\n b: 1⟧\n⟦)|}⟧ => a;",
    "const f = async ⟦(|<\nT,\n>(⟧a⟦: T⟧) => a;",
    "const f = () => { return ⟦(|<T,\n>(⟧a⟦: T⟧) => a; };",
    // Comments stay where they are, unless they are within a type.
    "let a /* b */ ⟦: C /* d */ | E⟧ /* f */ = 1; // g",
    "function f /* a */ ⟦<T>⟧ /* b */ (/* c */ ⟦this: T, ⟧d /* e */ ⟦?⟧ /* f */ ⟦: T⟧) {}",
    "class A { ⟦private⟧ /* b */ static /* c */ ⟦readonly⟧ /* d */ e /* f */ ⟦?⟧ /* g */ ⟦: h⟧ /* i */ = 1 }",
    "import { /* a */ ⟦type B⟧ /* c */ ⟦,⟧ d } from 'e'; // type F = 1",
    "a ⟦as // b\nC⟧; // d",
    // What only looks like types.
    "const a = { as: 1, type: 2, satisfies: 3, private: 4, declare: 5 }; a.as; a.type; type; declare; abstract;",
    "a ? b : c; a ? (b) : c => d; a ? (b)⟦: c⟧ => d : e; ({ a: b, c: d ? e : f });",
    "a < b; a > b; a << b >> c; a < (b > c); if (a < b && c > d) {} /<T>/.test(`<U>${a < b}`);",
    "label: for (;;) { break label; } switch (a) { case b: default: }",
    "class A { static async = 1; get = 2; set() {} static get get() { return 3 } async *[b]() {} }",
    "type; a\ninterface\nB\n{}",
    "const type = 1, of = 2, declare = 3; (type); async (a⟦: b⟧) => 1; async(type);",
    // Spaces do not join what a line end parts.
    "a⟦!⟧\n(b)",
];

/// A case's source, and what is expected of it.
fn case(marked: &str) -> (String, String) {
    let (mut source, mut expected) = (String::new(), String::new());
    for (index, part) in marked.split(['⟦', '⟧']).enumerate() {
        let (first, gone) = match part.split_once('|') {
            Some((first, gone)) if index % 2 == 1 && first.len() == 1 => (first, gone),
            _ => ("", part),
        };
        source.push_str(gone);
        if index % 2 == 0 {
            expected.push_str(part);
        } else {
            expected.push_str(first);
            expected.extend(gone.chars().skip(first.len()).map(|c| if c == '\n' { c } else { ' ' }));
        }
    }
    (source, expected)
}

#[test]
fn types_are_blanked_and_nothing_else() {
    for marked in CASES {
        let (source, expected) = case(marked);
        match strip("a.ts", &source) {
            Ok(stripped) => assert_eq!(stripped.text, expected, "{marked}"),
            Err(refusal) => panic!("{marked}\n{refusal}"),
        }
    }
}

#[test]
fn nothing_moves_whatever_a_character_takes() {
    for text in ["let a: 'äöü' = b;", "let a: '€\u{1f600}\u{2028}' = b;", "type Ä = 1; let b = 'ä' as Ä; c"]
    {
        let stripped = strip("a.ts", text).unwrap().text;
        assert_eq!(stripped.len(), text.len());
        assert_eq!(stripped.encode_utf16().count(), text.encode_utf16().count());
        let is_blank = |unit: u16| [0x20, 0xa0, 0x2003].contains(&unit);
        for (old, new) in text.encode_utf16().zip(stripped.encode_utf16()) {
            assert!(old == new || is_blank(new), "{text}: {stripped}");
        }
    }
    assert!(strip("a.ts", "let a: '\u{2028}' = b;").unwrap().text.contains('\u{2028}'));
    assert_eq!(strip("a.ts", "let a: 'ä€' = b;").unwrap().text, "let a  \u{20}\u{a0}\u{2003}  = b;");
}
