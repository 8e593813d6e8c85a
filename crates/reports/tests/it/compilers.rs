//! gcc, clang, the linker, make.

use gatewright_reports::{Format, Level, Parsed, read};

use crate::{at, context, err, fixture, out, ruled};

#[test]
fn gcc_is_read_in_text_and_json_alike() {
    let text = err(Format::Gcc, "c", fixture!("gcc/fail.txt.stderr"), 1);
    let json = err(Format::GccJson, "c", fixture!("gcc/fail.json.stderr"), 1);
    let places = ["c/stock.c:4:18", "c/stock.c:10:18", "c/stock.h:1:5", "c/stock.c:11", "c/stock.c:11"];
    for report in [&text, &json] {
        assert_eq!(report.diagnostics.iter().map(at).collect::<Vec<_>>(), places);
        assert_eq!(ruled(report, "-Wreturn-type").severity, Level::Warning);
    }
    for (one, other) in text.diagnostics.iter().zip(&json.diagnostics) {
        assert_eq!(one.id, other.id);
    }
    let warned = err(Format::GccJson, "c", fixture!("gcc/warn.json.stderr"), 0);
    assert!(ruled(&warned, "-Wformat=").fix, "it says what to put instead");
}

#[test]
fn colours_change_nothing() {
    let plain = err(Format::Gcc, "c", fixture!("gcc/warn.txt.stderr"), 0);
    let coloured = err(Format::Gcc, "c", fixture!("gcc/colour.txt.stderr"), 0);
    assert_eq!(plain, coloured);
    assert_eq!((plain.levels.warnings, plain.parsed), (2, Parsed::Fully));
}

#[test]
fn notes_help_what_stands_above_them() {
    let report = err(Format::Gcc, "c", fixture!("gcc/clang-warn.txt.stderr"), 0);
    assert_eq!((report.levels.warnings, report.levels.notes), (2, 0));
    assert!(ruled(&report, "-Wparentheses").help.as_deref().unwrap().contains("place parentheses around"));
    let report = err(Format::Gcc, "c", fixture!("gcc/template.txt.stderr"), 1);
    assert_eq!((report.parsed, report.levels.errors), (Parsed::Fully, 4));
    assert!(report.diagnostics[1].outside);
}

#[test]
fn clang_and_the_linker_are_read() {
    let report = err(Format::Gcc, "c", fixture!("gcc/clang.txt.stderr"), 1);
    assert_eq!(at(&report.diagnostics[0]), "c/stock.h:1:17");
    for linked in [fixture!("gcc/link.txt.stderr"), fixture!("gcc/clang-link.txt.stderr")] {
        let report = err(Format::Gcc, "c", linked, 1);
        let missing = ruled(&report, "link");
        assert_eq!(
            (at(missing).as_str(), missing.message.as_str()),
            ("c/link.c", "undefined reference to `missing'")
        );
        assert_eq!((report.levels.errors, report.parsed), (1, Parsed::Fully));
    }
    let missing = err(Format::Gcc, "", b"/usr/bin/ld: cannot find -lfoo: No such file or directory\ncollect2: error: ld returned 1 exit status\n", 1);
    assert_eq!((missing.levels.errors, missing.diagnostics[0].rule.as_deref()), (1, Some("link")));
    let none = err(
        Format::Gcc,
        "",
        b"cc1: fatal error: x.c: No such file or directory\ncompilation terminated.\n",
        1,
    );
    assert_eq!(none.diagnostics[0].message, "x.c: No such file or directory");
}

#[test]
fn make_tells_the_target_and_where_its_recipe_is() {
    let report = read(
        Format::Make,
        fixture!("make/fail.txt"),
        fixture!("make/fail.txt.stderr"),
        Some(2),
        &context("make"),
    );
    let failed = ruled(&report, "target-failed");
    assert_eq!((at(failed).as_str(), failed.message.as_str()), ("make/Makefile:6", "target test: Error 1"));
    // What the compiler said on the way is told as the compiler's.
    let warned = ruled(&report, "-Wparentheses");
    assert_eq!(
        (at(warned).as_str(), warned.source.as_str(), failed.source.as_str()),
        ("c/warn.c:2:33", "gcc", "make")
    );
    assert_eq!(report.parsed, Parsed::Partly { unread_lines: 2, cut: false });
}

#[test]
fn make_in_a_directory_below_fails_there_first() {
    let report = read(
        Format::Make,
        fixture!("make/sub.txt"),
        fixture!("make/sub.txt.stderr"),
        Some(2),
        &context("make"),
    );
    assert_eq!(
        report.diagnostics.iter().map(at).collect::<Vec<_>>(),
        ["make/subdir/Makefile:3", "make/Sub.mk:2"]
    );
    let both = [
        fixture!("make/sub.txt"),
        b"make[1]: Entering directory '/srv/shop/make/subdir'\na.c:1:2: error: no\n",
    ]
    .concat();
    let report = read(Format::Make, &both, b"", Some(2), &context("make"));
    assert_eq!(at(&report.diagnostics[0]), "make/subdir/a.c:1:2");
}

#[test]
fn make_without_a_rule_or_with_a_broken_makefile_is_told() {
    let report = err(Format::Make, "make", fixture!("make/missing.txt.stderr"), 2);
    assert_eq!(ruled(&report, "no-rule").message, "No rule to make target 'nothing-here', needed by 'needs'");
    assert_eq!(err(Format::Make, "make", fixture!("make/norule.txt.stderr"), 2).levels.errors, 1);
    let report = err(Format::Make, "make", fixture!("make/syntax.txt.stderr"), 2);
    assert_eq!(at(ruled(&report, "makefile")), "make/Broken.mk:2");
    let report = err(Format::Make, "make", fixture!("make/keep.txt.stderr"), 2);
    assert_eq!(report.diagnostics[1].message, "target b: Killed");
    let report = err(Format::Make, "make", fixture!("make/ignored.txt.stderr"), 0);
    assert_eq!((report.first, report.diagnostics[0].severity), (None, Level::Note));
    let passed = read(
        Format::Make,
        fixture!("make/pass.txt"),
        fixture!("make/pass.txt.stderr"),
        Some(0),
        &context("make"),
    );
    assert_eq!((passed.levels.errors, passed.levels.warnings), (0, 2));
}

#[test]
fn go_below_make_is_read() {
    let report = out(
        Format::Make,
        "go",
        b"go vet ./...\n# example.com/shop\ncart/cart.go:3:4: no\nmake: *** [Makefile:2: vet] Error 1\n",
        2,
    );
    let found = &report.diagnostics[0];
    assert_eq!((at(found).as_str(), found.source.as_str()), ("go/cart/cart.go:3:4", "go"));
}
