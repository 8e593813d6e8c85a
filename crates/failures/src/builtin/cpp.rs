//! gcc, clang, the linkers ld and lld, the sanitizers and Valgrind.

use serde_json::json;

use super::{Draft, draft};
use crate::pattern::{Category, Language, OutcomeSpec, PatternSpec, Priority, Severity};

const CPP: &[Language] = &[Language::Cpp];

pub(super) fn patterns() -> Vec<PatternSpec> {
    [compilation(), linker(), segfault(), leak()].map(|draft| draft.0).into()
}

fn compilation() -> Draft {
    draft("cpp-compilation-error", Category::Build, Severity::High, CPP, "C or C++ code does not compile")
        .because("The compiler refuses the sources.")
        .find(&["error: "], r"^(?<file>[^\s:][^:]*\.(?:c|cc|cpp|cxx|c\+\+|h|hh|hpp|hxx|ipp|inl|tpp|cu|m|mm)):(?<line>\d+):(?:(?<column>\d+):)? (?:fatal )?error: (?<message>.+)")
        .find(&["fatal error: "], r"^(?:cc1plus|cc1|gcc|g\+\+|clang|clang\+\+|c\+\+|cc): (?:fatal )?error: (?<message>.+)")
        .say(Priority::High, 0.8, "Repair {file} at line {line}: {message}")
        .say(Priority::Medium, 0.6, "Build again after the first repair: later errors often follow from the first.")
        .call("make_build", json!({}))
        .say(Priority::Low, 0.4, "If a header is missing, install the library's development package or add its include path.")
}

fn linker() -> Draft {
    draft("cpp-linker-error", Category::Build, Severity::High, CPP, "Linking fails")
        .because("A symbol is nowhere, or more than once, in the objects and libraries that are linked.")
        .find(
            &["undefined reference to"],
            r"(?:(?<file>[^\s:()]+):\S*\s)?undefined reference to [`'](?<name>[^`']+)'",
        )
        .find(&["undefined symbol: "], r"ld(?:\.lld|64\.lld)?: error: undefined symbol: (?<name>.+)")
        .near(0, 2, r"^>>> referenced by (?<file>[^\s:]+)")
        .find(&["Undefined symbols for architecture"], r"^Undefined symbols for architecture")
        .find(
            &["cannot find -l", "unable to find library -l", "library not found for -l"],
            r"(?:cannot find|unable to find library|library not found for) -l(?<library>[\w+.-]+)",
        )
        .find(&["multiple definition of"], r"multiple definition of [`'](?<name>[^`']+)'")
        .find(&["duplicate symbol: "], r"error: duplicate symbol: (?<name>.+)")
        .find(
            &["collect2: error: ", "linker command failed"],
            r"^(?:collect2: error: ld returned|clang(?:\+\+)?: error: linker command failed)",
        )
        .say(
            Priority::High,
            0.8,
            "Find where `{name}` is defined: link exactly one object or library that has it.",
        )
        .say(
            Priority::High,
            0.8,
            "Install the development package of the library {library}, or add its directory with -L.",
        )
        .say(Priority::Medium, 0.5, "Link libraries after the objects that need them.")
}

fn segfault() -> Draft {
    let ended = |exit_code, signal| OutcomeSpec { exit_code, signal, ..OutcomeSpec::default() };
    draft("cpp-segfault", Category::Build, Severity::High, CPP, "A program used memory that is not its own")
        .because("It followed a null or dangling pointer, ran past an array, or overflowed its stack.")
        .find(&["AddressSanitizer: "], r"ERROR: AddressSanitizer: (?<kind>SEGV|stack-overflow|heap-buffer-overflow|stack-buffer-overflow|global-buffer-overflow|heap-use-after-free|stack-use-after-return|use-after-poison)")
        .near(0, 12, r"^\s+#\d+ 0x[0-9a-f]+ in (?<name>\S+) (?<file>\S+\.\w+):(?<line>\d+)")
        .find(&["signal 11"], r"Process terminating with default action of signal 11")
        .near(16, 8, r"^==\d+==\s+(?:at|by) 0x[0-9A-F]+: (?<name>.+) \((?<file>[^\s:()]+):(?<line>\d+)\)")
        .find(&["Segmentation fault"], r"(?:^|: |\] |\d )Segmentation fault(?: \(core dumped\))?(?:\s+\S|$)")
        .find(&["SIGSEGV"], r"(?:signal SIGSEGV|\(signal: 11, SIGSEGV|SIGSEGV: segmentation violation|SIGSEGV \(0xb\))")
        .outcome(ended(Some(139), None))
        .outcome(ended(None, Some(11)))
        .say(Priority::High, 0.8, "Look at {file} line {line}, in {name|this function}: a pointer or an index is wrong there.")
        .say(Priority::Medium, 0.7, "Build with -g -fsanitize=address and run again: the report names the line.")
}

fn leak() -> Draft {
    draft("cpp-memory-leak", Category::Performance, Severity::High, CPP, "Memory is never freed")
        .because("A leak checker found allocations that nothing points to any more when the program ended.")
        .find(&["LeakSanitizer: detected memory leaks"], r"ERROR: LeakSanitizer: detected memory leaks")
        .near(0, 10, r"^\s+#[1-9]\d* 0x[0-9a-f]+ in (?<name>\S+) (?<file>\S+\.\w+):(?<line>\d+)")
        .find(
            &["are definitely lost in loss record"],
            r"(?<bytes>[\d,]+) (?:\([^)]*\) )?bytes in [\d,]+ blocks are definitely lost in loss record",
        )
        .near(0, 8, r"^==\d+==\s+by 0x[0-9A-F]+: (?<name>.+) \((?<file>[^\s:()]+):(?<line>\d+)\)")
        .find(&["definitely lost: "], r"definitely lost: (?<bytes>[1-9][\d,]*) bytes")
        .say(
            Priority::High,
            0.8,
            "Free what {name} allocates at {file} line {line}, or give it to an owner (`std::unique_ptr`).",
        )
        .say(
            Priority::Medium,
            0.6,
            "Run again under `valgrind --leak-check=full` or with -fsanitize=address to see each allocation.",
        )
}
