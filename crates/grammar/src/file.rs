//! The form of a grammar's file: what TOML may say, before it is understood. Unknown keys are refused.

use std::collections::BTreeMap;

use serde::Deserialize;

/// `programs/<program>.toml`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
#[expect(clippy::struct_excessive_bools, reason = "independent facts about a program, as its file says them")]
pub(crate) struct File {
    pub(crate) program: String,
    /// Other names of the same program (`python3`).
    #[serde(default)]
    pub(crate) also: Vec<String>,
    /// The program and version whose option table this follows.
    pub(crate) follows: String,
    pub(crate) style: Style,
    /// Several one-letter flags behind one `-`.
    #[serde(default)]
    pub(crate) cluster: bool,
    /// The program does not read `-nVALUE` as a flag and its value (it may read it as many flags).
    #[serde(default)]
    pub(crate) no_stuck: bool,
    /// The program reads arguments from a file that `@file` names.
    #[serde(default)]
    pub(crate) response_files: bool,
    /// Flags come before the positionals, because the program stops looking for them there.
    #[serde(default)]
    pub(crate) flags_first: bool,
    /// The program does not know `--`.
    #[serde(default)]
    pub(crate) no_double_dash: bool,
    /// The flags of the whole program may also follow a sub-command.
    #[serde(default)]
    pub(crate) global_anywhere: bool,
    #[serde(rename = "match")]
    pub(crate) accepts: Vec<Vec<String>>,
    #[serde(rename = "no-match")]
    pub(crate) refuses: Vec<NoMatch>,
    /// What stands before a sub-command, or in programs without any.
    #[serde(default)]
    pub(crate) top: Level,
    #[serde(default)]
    pub(crate) sets: BTreeMap<String, BTreeMap<String, String>>,
    #[serde(default)]
    pub(crate) rests: BTreeMap<String, Level>,
    #[serde(default)]
    pub(crate) commands: BTreeMap<String, Level>,
    #[serde(default)]
    pub(crate) refused_commands: BTreeMap<String, String>,
}

/// How a program spells its flags.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Style {
    /// `--long`, `--long=value`, `--long value`, `-s`, `-svalue`, `-s value`.
    Gnu,
    /// Go's `flag`: `-name` and `--name` alike, `-name=value`, `-name value`, and a flag without value is `-name` or
    /// `-name=false`.
    Single,
}

/// `programs/sets.toml`: flags that several programs have.
pub(crate) type Sets = BTreeMap<String, BTreeMap<String, String>>;

/// An argument vector that must be refused, and words of the reason.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct NoMatch {
    pub(crate) args: Vec<String>,
    pub(crate) why: String,
}

/// What may be said in one place: after the program's name, after a sub-command, or after `--`.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Level {
    /// Names of `sets` whose flags count here.
    #[serde(rename = "use")]
    pub(crate) uses: Vec<String>,
    /// Flags and what they take.
    pub(crate) flags: BTreeMap<String, String>,
    /// Flags that are refused with a reason of their own.
    pub(crate) refused: BTreeMap<String, String>,
    /// Slots in order: how many, of what. Absent: none, and where there are sub-commands one must be named.
    pub(crate) positionals: Option<Vec<String>>,
    /// Slots behind `--`, where they differ from `positionals`.
    pub(crate) after: Option<Vec<String>>,
    /// The name of one of `rests`: what follows `--` goes to another program.
    pub(crate) rest: Option<String>,
    /// Each list of flags excludes one another.
    pub(crate) conflicts: Vec<Vec<String>>,
    /// One of these flags must be there.
    pub(crate) one_of: Vec<String>,
    /// Of a sub-command: several one-letter flags may stand behind one `-`, as `cluster` says for the whole program.
    pub(crate) cluster: bool,
    /// Of a sub-command: `flags-first` does not hold for it.
    pub(crate) flags_anywhere: bool,
    /// Of a sub-command: other spellings of its words.
    pub(crate) alias: Vec<String>,
    /// Of a sub-command: its arguments are those of another program that has a grammar.
    pub(crate) delegate: Option<String>,
}
