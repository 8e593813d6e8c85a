//! Our reading of Makefiles against GNU make's own.

use std::collections::BTreeSet;
use std::process::Command;

use gatewright_projects::makefile;

/// A Makefile with what people write, and no variables in names, so that make and we can agree.
const MAKEFILE: &str = "\
SHELL := /bin/sh
.DEFAULT_GOAL := build
VERSION ?= 1:2
export PATH
.PHONY: build test \\
        lint
build: deps bin/app ## Builds everything.
## Runs the tests.
test lint: build ; @true x:y
deps::
\t@echo 'not: a rule'
deps::
\t@true
ifeq ($(VERSION),1:2)
here:
endif
bin/app: LDFLAGS = -s
bin/app: src/main.c
\tcc -o $@ $<
%.o: %.c
\tcc -c $<
.c.s:
\tcc -S $<
define RECIPE
fake: rule
endef
a.o b.o: %.o: %.c
with\\:colon:
include mk/more.mk
";

#[test]
fn targets_are_those_that_make_knows() {
    let (scratch, look) = crate::folder(&[
        ("Makefile", MAKEFILE),
        ("mk/more.mk", "more: test # and why\n-include mk/gone.mk\n"),
        ("src/main.c", ""),
    ]);
    let ours = makefile(&look, &mut Vec::new()).unwrap();
    let names: BTreeSet<String> = ours.targets.iter().map(|t| t.name.clone()).collect();
    assert_eq!(ours.default.as_deref(), Some("build"));
    let Ok(make) = Command::new("make")
        .args(["-qpR", "-f", "Makefile"])
        .env("LC_ALL", "C")
        .current_dir(scratch.path())
        .output()
    else {
        eprintln!("make is not installed: nothing to compare with");
        return;
    };
    let database = String::from_utf8_lossy(&make.stdout).into_owned();
    let (_, files) = database.split_once("\n# Files\n").expect("make prints its rules");
    let mut theirs = BTreeSet::new();
    for block in files.split("\n\n") {
        // What make only knows as a prerequisite, or looked for, is `Not a target`.
        let rule = block.lines().find(|l| !l.is_empty() && !l.starts_with('#'));
        if let (false, Some(line)) = (block.contains("# Not a target:"), rule) {
            // A colon of the name itself is printed as it is.
            let name = line.split(": ").next().unwrap_or_default().trim_end_matches(':').to_owned();
            if !name.is_empty() && !name.starts_with('.') {
                theirs.insert(name);
            }
        }
    }
    // Its own file is a target to make, to be remade.
    for own in ["Makefile", "mk/more.mk", "mk/gone.mk"] {
        theirs.remove(own);
    }
    assert_eq!(names, theirs);
}
