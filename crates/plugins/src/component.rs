//! The file beside a WebAssembly component: what its code may read, propose, run and keep, and how much of what it may take.
//! What is not declared is not linked. The code itself is nothing that is understood here.

use std::collections::BTreeMap;

use contract::Digest;
use grammar::{Place, ValueKind};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::SCHEMA;
use crate::file::{About, Input};
use crate::input::{self, Inputs};
use crate::plugin::{BadPlugin, MAX_FILE, bad, check_about, held, inputs, with_nearest};

/// A component's file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct File {
    /// The schema's version: 1.
    pub schema: u32,
    /// What the plugin is.
    pub plugin: About,
    /// What the user may set in `[plugins.NAME]`.
    #[serde(default)]
    pub config: BTreeMap<String, Input>,
    /// Its code, and what that may.
    pub component: Section,
}

/// `[component]`
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Section {
    /// The component's file, beside this one: a plain name that ends in `.wasm`.
    pub file: String,
    /// SHA-256 of its bytes, in hexadecimal.
    pub sha256: String,
    /// Globs of the files that it may read.
    #[serde(default)]
    pub reads: Vec<String>,
    /// Globs of the files whose change it may propose.
    #[serde(default)]
    pub writes: Vec<String>,
    /// The programs that it may run, and with which arguments.
    #[serde(default)]
    pub programs: Vec<Program>,
    /// Whether it keeps state between calls: 1 MB for each repository.
    #[serde(default)]
    pub state: bool,
    /// Steps that one call may take.
    #[serde(default = "fuel")]
    pub fuel: u64,
    /// Mebibytes of its memory.
    #[serde(default = "memory")]
    pub memory_mb: u32,
    /// Seconds that one call may take.
    #[serde(default = "timeout")]
    pub timeout: u64,
}

const fn fuel() -> u64 {
    1_000_000_000
}

const fn memory() -> u32 {
    64
}

const fn timeout() -> u64 {
    10
}

/// A program, and one form of its arguments. Several of one name are several forms.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Program {
    /// One of the required commands.
    pub name: String,
    /// Its arguments: each a literal, or one with a `{kind}` in it, such as `--file={path}`. One that ends in `...` stands for any number.
    pub args: Vec<String>,
}

/// A word that arguments are held to.
#[derive(Debug, Clone)]
struct Word {
    before: String,
    kind: Option<(ValueKind, String)>,
    after: String,
    many: bool,
}

/// A component's file that was understood.
#[derive(Debug, Clone)]
pub struct Manifest {
    /// As it was read.
    pub file: File,
    forms: Vec<(String, Vec<Word>)>,
    config: Inputs,
    canonical: Value,
    digest: Digest,
}

impl Manifest {
    /// Whether a plugin's file is one of a component.
    #[must_use]
    pub fn is_one(text: &str) -> bool {
        // Most are none, which is seen without reading them.
        text.contains("component")
            && toml::from_str::<toml::Table>(text).is_ok_and(|table| table.contains_key("component"))
    }

    /// Understands a file's text. `server` is the version of gatewright.
    pub fn read(text: &str, server: &str) -> Result<Self, BadPlugin> {
        if text.len() as u64 > MAX_FILE {
            return Err(bad("file", format!("it has {} bytes, at most {MAX_FILE} are taken", text.len())));
        }
        let table: toml::Table = toml::from_str(text).map_err(|e| bad("file", e.message()))?;
        let file: File = toml::from_str(text).map_err(|e| bad("file", with_nearest(e.message())))?;
        if file.schema != SCHEMA {
            return Err(bad("schema", format!("it is {}, this gatewright reads {SCHEMA}", file.schema)));
        }
        check_about(&file.plugin, server, 0)?;
        if file.plugin.health.is_some() {
            return Err(bad("plugin.health", "a component has none: it says itself what is wrong"));
        }
        check(&file.component)?;
        let config = inputs("config", &file.config)?;
        let mut forms = Vec::new();
        for program in &file.component.programs {
            if !file.plugin.required_commands.contains(&program.name) {
                let why = format!("{} is none of required-commands", program.name);
                return Err(bad("component.programs", why));
            }
            let words = words(&program.args).map_err(|why| bad("component.programs", why))?;
            forms.push((program.name.clone(), words));
        }
        let is_run = |name: &&String| !forms.iter().any(|(program, _)| program == *name);
        if let Some(unused) = file.plugin.required_commands.iter().find(is_run) {
            let why = format!("{unused} is none of component.programs");
            return Err(bad("plugin.required-commands", why));
        }
        let canonical = serde_json::to_value(&table).map_err(|e| bad("file", e.to_string()))?;
        Ok(Self { forms, config, canonical, digest: Digest::of(text.as_bytes()), file })
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.file.plugin.name
    }

    /// The toolset of its tools: what their names begin with.
    #[must_use]
    pub fn toolset(&self) -> String {
        self.name().replace('-', "_")
    }

    /// Holds what a user configures for it to what it declares; the answer has its defaults.
    pub fn configured(&self, given: &Map<String, Value>) -> Result<Map<String, Value>, String> {
        input::held(&self.config, given, None)
    }

    /// Holds a command line to what is declared, and to the program's own grammar, where there is one.
    pub fn may_run(&self, program: &str, args: &[String]) -> Result<(), String> {
        let mut why = format!("{program} is not declared in component.programs");
        for (_, words) in self.forms.iter().filter(|(name, _)| name == program) {
            match fits(words, args) {
                Ok(()) => return held(program, args, None),
                Err(unfit) => why = format!("{program} is not declared with these arguments: {unfit}"),
            }
        }
        Err(why)
    }

    /// What an approval of a tool is bound to: the whole file, the code by its digest, what it says of itself, and which programs
    /// those are.
    #[must_use]
    pub fn identity(
        &self,
        tool: &str,
        origin: &str,
        described: &Value,
        programs: &BTreeMap<String, Value>,
    ) -> Value {
        json!({
            "kind": "plugin",
            "schema": SCHEMA,
            "origin": origin,
            "toolName": tool,
            "file": self.canonical,
            "sha256": self.digest,
            "described": described,
            "programs": programs,
        })
    }

    /// What it may do, in words: what a person reads before the file.
    #[must_use]
    pub fn told(&self) -> Vec<String> {
        let (about, section) = (&self.file.plugin, &self.file.component);
        let mut lines = vec![format!("{} {}: {}", about.name, about.version, about.description)];
        lines.push(format!(
            "It is code (WebAssembly), {} with SHA-256 {}, run without files, network and clock.",
            section.file, section.sha256
        ));
        let list = |what: &str, globs: &[String]| {
            if globs.is_empty() {
                format!("It {what} nothing.")
            } else {
                format!("It {what} {}.", globs.join(", "))
            }
        };
        lines.push(list("reads", &section.reads));
        lines.push(list("proposes changes of", &section.writes));
        for program in &section.programs {
            lines.push(format!(
                "It runs {} {}; what that writes is thrown away.",
                program.name,
                program.args.join(" ")
            ));
        }
        if section.state {
            lines.push("It keeps up to 1 MB for each repository, which nobody else reads.".to_owned());
        }
        lines.push(format!(
            "A call takes at most {} s, {} MiB and {} steps.",
            section.timeout, section.memory_mb, section.fuel
        ));
        lines
    }
}

fn check(section: &Section) -> Result<(), BadPlugin> {
    let at = |key: &str| format!("component.{key}");
    let stem = section.file.strip_suffix(".wasm").unwrap_or_default();
    let is_plain = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.');
    if stem.is_empty()
        || section.file.len() > 100
        || stem.starts_with('.')
        || !section.file.bytes().all(is_plain)
    {
        return Err(bad(at("file"), "it is a plain name beside this file that ends in .wasm"));
    }
    let is_hex = |b: u8| b.is_ascii_digit() || (b'a'..=b'f').contains(&b);
    if section.sha256.len() != 64 || !section.sha256.bytes().all(is_hex) {
        return Err(bad(at("sha256"), "it is 64 digits of 0-9 and a-f: `sha256sum FILE` prints them"));
    }
    for (key, globs) in [("reads", &section.reads), ("writes", &section.writes)] {
        if globs.len() > 50 {
            return Err(bad(at(key), "at most 50 are taken"));
        }
        let kind = ValueKind::parse("glob");
        for glob in globs {
            if let Some(Err(why)) = kind.as_ref().map(|kind| kind.check(glob, &Place::root())) {
                return Err(bad(at(key), format!("{glob:?}: {why}")));
            }
        }
    }
    if section.programs.len() > 20 {
        return Err(bad(at("programs"), "at most 20 are taken"));
    }
    if !(1_000..=1_000_000_000_000).contains(&section.fuel) {
        return Err(bad(at("fuel"), "1000 to 1000000000000 are taken"));
    }
    if !(1..=1_024).contains(&section.memory_mb) {
        return Err(bad(at("memory-mb"), "1 to 1024 are taken"));
    }
    if !(1..=60).contains(&section.timeout) {
        return Err(bad(at("timeout"), "1 to 60 seconds are taken"));
    }
    Ok(())
}

/// The words of a form.
fn words(args: &[String]) -> Result<Vec<Word>, String> {
    if args.len() > 100 {
        return Err("at most 100 words are taken".to_owned());
    }
    let mut words = Vec::new();
    for (place, arg) in args.iter().enumerate() {
        let (text, many) = match arg.strip_suffix("...") {
            Some(text) if text.contains('{') => (text, true),
            _ => (arg.as_str(), false),
        };
        if many && place + 1 != args.len() {
            return Err(format!("{arg:?}: only the last word stands for any number"));
        }
        let Some((before, rest)) = text.split_once('{') else {
            words.push(Word { before: text.to_owned(), kind: None, after: String::new(), many });
            continue;
        };
        let (name, after) = rest.split_once('}').ok_or_else(|| format!("{arg:?}: a brace has no end"))?;
        if after.contains('{') {
            return Err(format!("{arg:?}: a word has one value"));
        }
        let kind = ValueKind::parse(name).ok_or_else(|| {
            format!("{arg:?}: {name:?} is no kind of value, such as path, word, line or int")
        })?;
        words.push(Word {
            before: before.to_owned(),
            kind: Some((kind, name.to_owned())),
            after: after.to_owned(),
            many,
        });
    }
    Ok(words)
}

/// Whether arguments are these words, one for one.
fn fits(words: &[Word], args: &[String]) -> Result<(), String> {
    let many = words.last().is_some_and(|word| word.many);
    let least = words.len() - usize::from(many);
    if args.len() < least || (!many && args.len() > least) {
        return Err(format!("there are {} of them, and the form has {least}", args.len()));
    }
    let mut is_ended = false;
    for (place, arg) in args.iter().enumerate() {
        let Some(word) = words.get(place).or(words.last()) else { return Err("there are none".to_owned()) };
        let Some((kind, name)) = &word.kind else {
            if *arg != word.before {
                return Err(format!("{arg:?} stands where {:?} is declared", word.before));
            }
            is_ended |= arg == "--";
            continue;
        };
        let value =
            arg.strip_prefix(word.before.as_str()).and_then(|arg| arg.strip_suffix(word.after.as_str()));
        let value = value.ok_or_else(|| format!("{arg:?} is not {}{{{name}}}{}", word.before, word.after))?;
        if word.before.is_empty() && !is_ended && value.starts_with('-') {
            return Err(format!("{arg:?} begins with `-` before any `--`"));
        }
        kind.check(value, &Place::root()).map_err(|why| format!("{arg:?} is no {name}: {why}"))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = r#"schema = 1
[plugin]
name = "count"
version = "0.1.0"
description = "Counts."
required-commands = ["wc"]
[component]
file = "count.wasm"
sha256 = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
reads = ["**/*.md"]
programs = [{ name = "wc", args = ["-w", "--", "{path}..."] }, { name = "wc", args = ["--files0-from={path}"] }]
"#;

    fn read(text: &str) -> Result<Manifest, String> {
        Manifest::read(text, "0.1.0").map_err(|bad| bad.to_string())
    }

    #[test]
    fn programs_are_held_to_their_forms() {
        let manifest = read(TEXT).unwrap();
        let may = |program: &str, args: &[&str]| {
            manifest.may_run(program, &args.iter().map(ToString::to_string).collect::<Vec<_>>())
        };
        assert_eq!(may("wc", &["-w", "--", "a.md", "-b.md"]), Ok(()));
        assert_eq!(may("wc", &["-w", "--"]), Ok(()));
        assert_eq!(may("wc", &["--files0-from=list"]), Ok(()));
        assert!(may("wc", &["-c", "--", "a.md"]).is_err());
        assert!(may("wc", &["-w", "a.md"]).is_err());
        assert!(may("wc", &["-w", "--", "../a"]).is_err());
        assert!(may("wc", &["-w", "--", "/etc/passwd"]).is_err());
        assert!(may("wc", &["--files0-from=/etc/passwd"]).is_err());
        assert!(may("sh", &["-c", "id"]).unwrap_err().contains("not declared"));
    }

    #[test]
    fn a_file_that_says_something_else_is_refused_with_its_place() {
        for (from, to, said) in [
            ("count.wasm", "../count.wasm", "component.file"),
            ("count.wasm", "count.so", "component.file"),
            ("e3b0", "E3B0", "component.sha256"),
            ("**/*.md", "/etc/**", "component.reads"),
            ("**/*.md", "../**", "component.reads"),
            ("{path}...", "{nothing}", "component.programs"),
            ("reads", "raeds", "reads"),
            ("[\"wc\"]", "[\"wc\", \"sed\"]", "required-commands"),
            ("[component]", "[component]\ntimeout = 61", "component.timeout"),
            ("[component]", "[component]\nmemory-mb = 0", "component.memory-mb"),
            ("[component]", "[component]\nfuel = 1", "component.fuel"),
        ] {
            let why = read(&TEXT.replacen(from, to, 1)).unwrap_err();
            assert!(why.contains(said), "{to}: {why}");
        }
    }
}
