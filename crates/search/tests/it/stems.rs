//! Stems decide what is found: what the stemmer says of 2,000 words is kept, and a new version of it that says something
//! else asks for another `ANALYSIS`. `GATEWRIGHT_BLESS=1` writes the file anew.

use gatewright_search::words_of;

const BASES: [&str; 80] = [
    "act",
    "agree",
    "apply",
    "arrive",
    "base",
    "begin",
    "build",
    "busy",
    "cache",
    "call",
    "care",
    "carry",
    "change",
    "chat",
    "check",
    "class",
    "clean",
    "clear",
    "commit",
    "communicate",
    "compile",
    "config",
    "connect",
    "control",
    "copy",
    "create",
    "decide",
    "define",
    "depend",
    "deploy",
    "describe",
    "die",
    "drop",
    "early",
    "edit",
    "enjoy",
    "error",
    "fail",
    "fetch",
    "fly",
    "format",
    "general",
    "generate",
    "handle",
    "happy",
    "hope",
    "index",
    "inform",
    "log",
    "love",
    "modify",
    "move",
    "nation",
    "notify",
    "occur",
    "operate",
    "parse",
    "pass",
    "plan",
    "policy",
    "prefer",
    "query",
    "quick",
    "rate",
    "recover",
    "relate",
    "rely",
    "retry",
    "run",
    "schedule",
    "secure",
    "sky",
    "stop",
    "test",
    "tie",
    "token",
    "use",
    "valid",
    "write",
    "yield",
];

const ENDINGS: [&str; 25] = [
    "", "s", "es", "ed", "ing", "er", "ers", "ly", "able", "ability", "ation", "ations", "ational", "ness",
    "ment", "ments", "ful", "fully", "ive", "ively", "ize", "izing", "ized", "ous", "al",
];

fn said() -> String {
    let mut said = String::new();
    for base in BASES {
        for ending in ENDINGS {
            // As it is spelt: no double e, and y becomes i before most endings.
            let begins_with_vowel = ending.starts_with(['a', 'e', 'i', 'o']);
            let base = match base {
                _ if ending.is_empty() => base.to_owned(),
                _ if base.ends_with('e') && begins_with_vowel => base[..base.len() - 1].to_owned(),
                _ if base.ends_with('y') && !ending.starts_with(['i', 's']) => {
                    format!("{}i", &base[..base.len() - 1])
                }
                _ => base.to_owned(),
            };
            let word = format!("{base}{ending}");
            let stems: Vec<String> = words_of(&word).into_iter().map(|(_, stem)| stem).collect();
            said += &format!("{word} {}\n", stems.join(" "));
        }
    }
    said
}

#[test]
#[allow(
    clippy::disallowed_methods,
    reason = "the file is this test's own, written when somebody asks for it"
)]
fn stems_are_what_they_were() {
    let said = said();
    assert_eq!(said.lines().count(), 2000);
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/stems.txt");
    if std::env::var_os("GATEWRIGHT_BLESS").is_some() {
        std::fs::write(file, &said).unwrap();
    }
    let kept = std::fs::read_to_string(file).unwrap();
    for (now, before) in said.lines().zip(kept.lines()) {
        assert_eq!(now, before, "another stem: another ANALYSIS, and every index is built anew");
    }
    assert_eq!(said.len(), kept.len());
}
