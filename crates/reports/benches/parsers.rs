//! How fast reports are read: captured output of each program, some megabytes of it. A figure is one line of JSON;
//! `cargo xtask bench runs` makes a table of them.
#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "a bench prints and may fail loudly"
)]

use std::path::Path;
use std::time::Instant;

use gatewright_reports::{Context, Format, Report, read};
use serde_json::{Value, json};

const ROUNDS: usize = 7;

/// Bytes of each input, about.
const SIZE: usize = 4_000_000;

/// How one captured run becomes many.
#[derive(Clone, Copy)]
enum Grow {
    /// One after the other.
    Whole,
    /// What these arrays of the document hold; of the document itself, where none is named.
    Arrays(&'static [&'static str]),
    /// What the outermost element holds.
    Element(&'static str),
}

/// Format, captured output, whether that is standard error, how it grows, and what each copy has in place of what, so that
/// its files are others: `#` is its number.
type Row = (Format, &'static str, bool, Grow, [&'static str; 2]);

const SHOP: [&str; 2] = ["/srv/shop/", "/srv/shop/m#/"];

const ROWS: &[Row] = &[
    (Format::GoTestJson, "go-test/fail.json", false, Grow::Whole, ["com/shop/", "com/shop/m#/"]),
    (Format::GoBuild, "go-build/build.txt.stderr", true, Grow::Whole, ["broken/", "m#/broken/"]),
    (Format::Junit, "junit/pytest.xml", false, Grow::Element("testsuites"), ["tests.", "tests.m#."]),
    (Format::Tap, "tap/tap.tap", false, Grow::Whole, SHOP),
    (Format::Pytest, "pytest/fail.txt", false, Grow::Whole, ["tests/", "tests/m#/"]),
    (Format::JestJson, "jest/fail.json", false, Grow::Arrays(&["/testResults"]), SHOP),
    (Format::VitestJson, "vitest/fail.json", false, Grow::Arrays(&["/testResults"]), SHOP),
    (Format::MochaJson, "mocha/fail.json", false, Grow::Arrays(MOCHA), SHOP),
    (Format::Libtest, "libtest/fail.txt", false, Grow::Whole, ["src/", "src/m#/"]),
    (Format::Nextest, "nextest/fail.json", false, Grow::Whole, ["src/", "src/m#/"]),
    (Format::CargoJson, "cargo/fail.json", false, Grow::Whole, ["src/", "src/m#/"]),
    (Format::Gcc, "gcc/fail.txt.stderr", true, Grow::Whole, ["stock.", "m#/stock."]),
    (Format::GccJson, "gcc/fail.json.stderr", true, Grow::Arrays(&[]), ["stock.", "m#/stock."]),
    (Format::Tsc, "tsc/fail.txt", false, Grow::Whole, ["ts/", "ts/m#/"]),
    (Format::EslintJson, "eslint/fail.json", false, Grow::Arrays(&[]), SHOP),
    (Format::Markdownlint, "markdownlint/fail.txt.stderr", true, Grow::Whole, ["bad.md", "m#/bad.md"]),
    (
        Format::GolangciJson,
        "golangci/fail-v1.json",
        false,
        Grow::Arrays(&["/Issues"]),
        ["\"Filename\":\"", "\"Filename\":\"m#/"],
    ),
    (Format::StaticcheckJson, "staticcheck/fail.json", false, Grow::Whole, SHOP),
    (
        Format::Sarif,
        "sarif/staticcheck.sarif",
        false,
        Grow::Arrays(&["/runs/0/results"]),
        ["\"uri\":\"", "\"uri\":\"m#/"],
    ),
    (Format::Make, "make/fail.txt.stderr", true, Grow::Whole, ["../c/", "m#/"]),
];

const MOCHA: &[&str] = &["/tests", "/pending", "/failures", "/passes"];

fn main() {
    for (format, file, is_stderr, grow, place) in ROWS {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures").join(file);
        let one = std::fs::read_to_string(path).unwrap();
        let (many, copies) = grown(&one, *grow, place);
        let context = Context { root: "/srv/shop", dir: "", modules: &[("example.com/shop", "go")] };
        let reading = |text: &str| {
            let (out, err) = if *is_stderr { ("", text) } else { (text, "") };
            read(*format, out.as_bytes(), err.as_bytes(), Some(1), &context)
        };
        let (single, whole) = (found(&reading(&one)), found(&reading(&many)));
        // What each copy says alike is counted once, and pytest's figures are those of its last line; but all is read.
        let expected = if *format == Format::Pytest { single } else { single * copies as u64 };
        assert!(single > 0 && whole >= expected / 2, "{file}: {whole} found, and {expected} are in it");
        let mut millis: Vec<f64> = Vec::new();
        for _ in 0..ROUNDS {
            let began = Instant::now();
            std::hint::black_box(reading(&many));
            millis.push(began.elapsed().as_secs_f64() * 1e3);
        }
        let line = json!({
            "part": "parsers", "work": format.name(), "way": file, "millis": millis, "bytes": many.len(),
            "found": whole,
        });
        println!("{line}");
    }
}

/// How many tests and diagnostics were counted.
fn found(report: &Report) -> u64 {
    let levels = report.levels;
    report.counts.map_or(0, |counts| counts.total) + levels.errors + levels.warnings + levels.notes
}

/// Copies of a captured run, each with files of its own, in one output; and how many there are.
fn grown(one: &str, grow: Grow, [what, with]: &[&str; 2]) -> (String, usize) {
    let copy = |text: &str, number: usize| text.replace(what, &with.replace('#', &number.to_string()));
    match grow {
        Grow::Whole => {
            let copies = SIZE / one.len();
            ((0..copies).map(|number| copy(one, number)).collect(), copies)
        }
        Grow::Element(name) => {
            let begin = one.find(&format!("<{name}")).unwrap();
            let begin = begin + one[begin..].find('>').unwrap() + 1;
            let end = one.rfind(&format!("</{name}>")).unwrap();
            let copies = SIZE / (end - begin);
            let inner: String = (0..copies).map(|number| copy(&one[begin..end], number)).collect();
            (format!("{}{inner}{}", &one[..begin], &one[end..]), copies)
        }
        Grow::Arrays(pointers) => {
            let pointers = if pointers.is_empty() { &[""] } else { pointers };
            let mut document: Value = serde_json::from_str(one).unwrap();
            let texts: Vec<String> =
                pointers.iter().map(|pointer| document.pointer(pointer).unwrap().to_string()).collect();
            let copies = SIZE / texts.iter().map(String::len).sum::<usize>();
            for (pointer, text) in pointers.iter().zip(&texts) {
                let all = (0..copies)
                    .flat_map(|number| serde_json::from_str::<Vec<Value>>(&copy(text, number)).unwrap())
                    .collect();
                *document.pointer_mut(pointer).unwrap() = Value::Array(all);
            }
            (document.to_string(), copies)
        }
    }
}
