//! Imports, exports, and what specifiers mean.

use gatewright_skills::imports::{Source, functions, is_path, resolve};
use gatewright_skills::strip;

fn imports(text: &str) -> Vec<(String, Source, bool, u32)> {
    let found = strip("a.ts", text).unwrap().imports;
    found.into_iter().map(|import| (import.specifier, import.source, import.dynamic, import.line)).collect()
}

fn exports(text: &str) -> String {
    let found = strip("a.ts", text).unwrap().exports;
    let names =
        found.into_iter().map(|export| format!("{}{}", export.name, if export.function { "()" } else { "" }));
    names.collect::<Vec<_>>().join(" ")
}

#[test]
fn imports_that_are_there_at_run_time_are_found() {
    let text = "import a from './a';\nimport { type B } from '../b.js';\nimport type C from 'c';\nexport * from 'node:fs';\nexport { d } from '@d/e';\nexport type { F } from 'f';\nimport 'https://g';\nconst h = async () => { await import('h'); import(`i`); import(h as any); };\n";
    let expected = [
        ("./a", Source::Relative, false, 1),
        ("../b.js", Source::Relative, false, 2),
        ("node:fs", Source::Node, false, 4),
        ("@d/e", Source::Bare, false, 5),
        ("https://g", Source::Other, false, 7),
        ("h", Source::Bare, true, 8),
        ("i", Source::Bare, true, 8),
        ("", Source::Computed, true, 8),
    ];
    let expected =
        expected.map(|(specifier, source, dynamic, line)| (specifier.to_owned(), source, dynamic, line));
    assert_eq!(imports(text), expected);
}

#[test]
fn exports_that_are_there_at_run_time_are_found() {
    assert_eq!(
        exports("export function a(): void {} export const b = () => 1, c = 2; export class D {}"),
        "a() b() c D"
    );
    assert_eq!(
        exports("export const { a, b: [c = 1, ...d], ...e } = f; let f; export { f as g, type H }"),
        "a c d e g"
    );
    assert_eq!(exports("export default async () => {};"), "default()");
    assert_eq!(exports("export default class {}"), "default");
    assert_eq!(exports("export default (function () {});"), "default()");
    assert_eq!(
        exports("export * from 'a'; export * as b from 'b'; export { default as c } from 'c';"),
        "* b c"
    );
    assert_eq!(exports("export type A = 1; export interface B {} export declare const c: 1;"), "");
    assert_eq!(exports("export function a(b: 1): void; export function a(b: any) {}"), "a()");
}

#[test]
fn specifiers_mean_files_of_the_run_or_nothing() {
    let files = ["s/a.ts", "s/b.js", "s/c/index.ts", "d.mts", "s/e.ts", "s/e.js", "index.ts"];
    let found = |from: &str, specifier: &str| resolve(from, specifier, |path| files.contains(&path));
    let some = |path: &str| Some(path.to_owned());
    assert_eq!(found("s/a.ts", "./a.ts"), some("s/a.ts"));
    assert_eq!(found("s/a.ts", "./a.js"), some("s/a.ts"));
    assert_eq!(found("s/a.ts", "./a"), some("s/a.ts"));
    assert_eq!(found("s/a.ts", "./b"), some("s/b.js"));
    assert_eq!(found("s/a.ts", "./c"), some("s/c/index.ts"));
    assert_eq!(found("s/c/index.ts", "../../d.mjs"), some("d.mts"));
    assert_eq!(found("s/a.ts", "./e.js"), some("s/e.js"));
    assert_eq!(found("s/a.ts", ".."), some("index.ts"));
    for wrong in ["../../d.mts", "./f", "a", "/s/a.ts", "s/a.ts", "node:fs", "../../s/a.ts", ""] {
        assert_eq!(found("s/a.ts", wrong), None, "{wrong}");
    }
}

#[test]
fn paths_are_relative_and_plain() {
    for good in ["a", "a/b.ts", "ä/*.sql", "**/x", ".hidden"] {
        assert!(is_path(good), "{good}");
    }
    for bad in ["", "/a", "a/", "a//b", "./a", "a/..", "..", "a\0", "a\nb", "a\\b"] {
        assert!(!is_path(bad), "{bad:?}");
    }
    assert!(!is_path(&"a".repeat(513)));
}

#[test]
fn functions_are_named_in_camel_case() {
    let name = |skill: &str| functions(skill)[0].clone();
    assert_eq!(name("rls-policy"), "rlsPolicy");
    assert_eq!(name("RLS_policy.v2"), "rLSPolicyV2");
    assert_eq!(name("one"), "one");
    assert_eq!(functions("a-b"), ["aB", "execute", "default"]);
}
