//! Attributes of tracked files, as far as they say how a file is stored: `text`, `eol`, `ident`, and whether somebody
//! else's program would be asked.
//!
//! Read as git does for a comparison with the work tree: `.gitattributes` of each folder from the work tree, else from the
//! index; `.git/info/attributes` over them. Nothing from the user's or the system's configuration.

use std::collections::BTreeSet;
use std::path::Path;

use gix::attrs::search::{MetadataCollection, Outcome};
use gix::attrs::{Search, StateRef};
use gix::bstr::{BStr, BString, ByteSlice};
use gix::filter::plumbing::eol::{AttributesDigest, AutoCrlf, Configuration, Mode};
use gix::glob::pattern::Case;
use gix::index::State;

use crate::error::{Done, HistoryError};
use crate::paths::{join, parent};
use crate::worktree::Tree;

/// Largest file of rules, in bytes.
pub(crate) const MAX_RULES: u64 = 1 << 20;

const NAMES: [&str; 7] = ["crlf", "text", "eol", "ident", "filter", "working-tree-encoding", "diff"];

/// How a file of the work tree becomes what is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Conversion {
    /// A filter driver is named: the file cannot be compared here.
    pub(crate) filtered: bool,
    /// Another encoding than UTF-8 is named: likewise.
    pub(crate) encoded: bool,
    pub(crate) ident: bool,
    pub(crate) eol: AttributesDigest,
    /// `diff` is unset: never compared as text. Set: always.
    pub(crate) text: Option<bool>,
}

impl Conversion {
    /// Whether the stored bytes are those of the file.
    pub(crate) fn is_none(self) -> bool {
        !self.ident && self.eol == AttributesDigest::Binary
    }
}

/// The attributes of a work tree, read as they are needed.
pub(crate) struct Attributes<'a> {
    tree: &'a Tree<'a>,
    state: &'a State,
    search: Search,
    collection: MetadataCollection,
    outcome: Outcome,
    seen: BTreeSet<BString>,
    info: Vec<u8>,
    config: Configuration,
}

impl<'a> Attributes<'a> {
    pub(crate) fn new(tree: &'a Tree<'a>, state: &'a State) -> Done<Self> {
        let config = tree.repo.config_snapshot();
        let auto_crlf = match config.string("core.autocrlf") {
            Some(text) if text.eq_ignore_ascii_case(b"input") => AutoCrlf::Input,
            _ if config.boolean("core.autocrlf") == Some(true) => AutoCrlf::Enabled,
            _ => AutoCrlf::Disabled,
        };
        let eol = config.string("core.eol").and_then(|text| match text.as_slice() {
            b"lf" => Some(Mode::Lf),
            b"crlf" => Some(Mode::CrLf),
            _ => None,
        });
        let failed = HistoryError::io("the attributes could not be read");
        let mut collection = MetadataCollection::default();
        let mut none = Vec::new();
        let search =
            Search::new_globals(std::iter::empty::<&Path>(), &mut none, &mut collection).map_err(failed)?;
        // Checked to be an ordinary, small file when the repository was opened.
        let info = std::fs::read(tree.repo.common_dir().join("info/attributes")).unwrap_or_default();
        let config = Configuration { auto_crlf, eol };
        let mut this = Self {
            tree,
            state,
            search,
            collection,
            outcome: Outcome::default(),
            seen: BTreeSet::new(),
            info,
            config,
        };
        this.push_info()?;
        Ok(this)
    }

    fn push_info(&mut self) -> Done<()> {
        let from = "info/attributes".into();
        self.search
            .add_patterns_buffer(&self.info, from, None, &mut self.collection, true)
            .map_err(HistoryError::io("the attributes could not be read"))
    }

    /// Takes in the rules of a folder and of those above it.
    fn load(&mut self, dir: &BStr) -> Done<()> {
        let mut above: Vec<BString> = Vec::new();
        let mut at = dir;
        while !self.seen.contains(at) {
            above.push(at.to_owned());
            if at.is_empty() {
                break;
            }
            at = parent(at);
        }
        for dir in above.into_iter().rev() {
            let path = join(dir.as_bstr(), b".gitattributes");
            self.seen.insert(dir.clone());
            let Some(rules) = self.tree.rules(self.state, path.as_bstr())? else { continue };
            // The folder's rules go under those of `info/attributes`, which stay the last.
            self.search.pop_pattern_list();
            self.search
                .add_patterns_buffer(
                    &rules,
                    gix::path::from_bstr(path.as_bstr())
                        .map_err(HistoryError::git("the attributes could not be read"))?
                        .into_owned(),
                    Some(Path::new("")),
                    &mut self.collection,
                    dir.is_empty(),
                )
                .map_err(HistoryError::io("the attributes could not be read"))?;
            self.push_info()?;
        }
        Ok(())
    }

    /// How the file at `path` is stored.
    pub(crate) fn of(&mut self, path: &BStr) -> Done<Conversion> {
        self.load(parent(path))?;
        self.outcome = Outcome::default();
        self.outcome.initialize_with_selection(&self.collection, NAMES);
        self.search.pattern_matching_relative_path(path, Case::Sensitive, Some(false), &mut self.outcome);
        let mut conversion = Conversion {
            filtered: false,
            encoded: false,
            ident: false,
            eol: AttributesDigest::Binary,
            text: None,
        };
        let (mut text, mut crlf, mut eol) = (None, None, None);
        for found in self.outcome.iter_selected() {
            let state = found.assignment.state;
            match found.assignment.name.as_str() {
                "text" => text = digest(state),
                "crlf" => crlf = digest(state),
                "eol" => {
                    eol = value(state).and_then(|v| match v.as_slice() {
                        b"lf" => Some(Mode::Lf),
                        b"crlf" => Some(Mode::CrLf),
                        _ => None,
                    });
                }
                "ident" => conversion.ident = matches!(state, StateRef::Set),
                "filter" => conversion.filtered = value(state).is_some(),
                "working-tree-encoding" => {
                    conversion.encoded = value(state).is_some_and(|v| {
                        !v.eq_ignore_ascii_case(b"utf-8") && !v.eq_ignore_ascii_case(b"utf8")
                    });
                }
                "diff" => {
                    conversion.text = match state {
                        StateRef::Unset => Some(false),
                        StateRef::Set => Some(true),
                        _ => None,
                    }
                }
                _ => {}
            }
        }
        conversion.eol = self.eol(text.or(crlf), eol);
        Ok(conversion)
    }

    /// What gitattributes(5) says about `text` and `eol` together, and the configuration where they are silent.
    fn eol(&self, text: Option<AttributesDigest>, eol: Option<Mode>) -> AttributesDigest {
        use AttributesDigest as D;
        let merged = match (text, eol) {
            (Some(D::Binary), _) => Some(D::Binary),
            (Some(D::TextAuto), Some(Mode::Lf)) => Some(D::TextAutoInput),
            (Some(D::TextAuto), Some(Mode::CrLf)) => Some(D::TextAutoCrlf),
            (_, Some(Mode::Lf)) => Some(D::TextInput),
            (_, Some(Mode::CrLf)) => Some(D::TextCrlf),
            (text, None) => text,
        };
        match merged {
            None => self.config.auto_crlf.into(),
            Some(D::Text) => self.config.to_eol().into(),
            Some(known) => known,
        }
    }
}

fn digest(state: StateRef<'_>) -> Option<AttributesDigest> {
    match state {
        StateRef::Set => Some(AttributesDigest::Text),
        StateRef::Unset => Some(AttributesDigest::Binary),
        StateRef::Value(v) if v.as_bstr() == "input" => Some(AttributesDigest::TextInput),
        StateRef::Value(v) if v.as_bstr() == "auto" => Some(AttributesDigest::TextAuto),
        _ => None,
    }
}

fn value(state: StateRef<'_>) -> Option<BString> {
    match state {
        StateRef::Value(v) => Some(v.as_bstr().to_owned()),
        _ => None,
    }
}
