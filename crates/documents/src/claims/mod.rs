//! What a document says that can be held against its repository: paths, commands, flags, versions, with their lines.
//!
//! Only what is written as code, as a link, or as a version that is asked for is taken; sections about the past or the future
//! say nothing of the present.

mod prose;
mod shell;
mod spans;

use pulldown_cmark::{CodeBlockKind, Event, HeadingLevel, Options, Parser, Tag, TagEnd};
use serde::Serialize;

use crate::ground::Runtime;

/// Most claims of one document.
pub const MAX_CLAIMS: usize = 2_000;

/// Something that a document says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Claim {
    /// What it is.
    pub kind: ClaimKind,
    /// As it is written.
    pub text: String,
    /// The line where it stands, from 1.
    pub line: u32,
}

/// What a claim says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ClaimKind {
    /// There is a file or folder, in a code span.
    Path(String),
    /// There is a file or folder that a link leads to, seen from the document.
    Link(String),
    /// There is a file that can be run.
    Run {
        /// Which.
        path: String,
        /// Where.
        folder: Folder,
    },
    /// There is a command.
    Command {
        /// Which.
        command: Command,
        /// Where.
        folder: Folder,
    },
    /// A program knows a flag.
    Flag {
        /// The program; empty for the one that `cargo run` starts.
        program: String,
        /// The flag, with its hyphens.
        flag: String,
    },
    /// A runtime of at least this version is needed.
    Runtime {
        /// Which.
        runtime: Runtime,
        /// Its numbers.
        version: Vec<u64>,
    },
    /// A dependency in this version.
    Dependency {
        /// Its name.
        name: String,
        /// The version.
        version: String,
    },
    /// How others depend on a package, in a manifest that is shown.
    Snippet {
        /// The package.
        name: String,
        /// The version that is asked for.
        version: String,
    },
}

/// Where a command is run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Folder {
    /// At the top, or wherever the document is.
    Top,
    /// In a folder below.
    In(String),
    /// Somewhere else: in what was just cloned, created or entered.
    Unknown,
}

/// A command that a repository defines.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Command {
    /// A target of make.
    Make(String),
    /// A script of package.json.
    Script(String),
    /// A recipe of just.
    Recipe(String),
    /// An alias of cargo.
    Alias(String),
    /// A crate that cargo is told to work on.
    Crate(String),
    /// A target of a crate: bin, example, test or bench, and its name.
    Target(&'static str, String),
    /// A feature of a crate.
    Feature(String),
}

/// Takes the claims out of a document, in its order: linear in its length, at most [`MAX_CLAIMS`]. Any text is Markdown.
#[must_use]
pub fn claims(text: &str) -> Vec<Claim> {
    let options =
        Options::ENABLE_TABLES | Options::ENABLE_YAML_STYLE_METADATA_BLOCKS | Options::ENABLE_STRIKETHROUGH;
    let mut reader = Reader::new(text);
    for (event, range) in Parser::new_ext(text, options).into_offset_iter() {
        if reader.found.len() >= MAX_CLAIMS {
            reader.found.truncate(MAX_CLAIMS);
            break;
        }
        reader.event(event, range.start);
    }
    reader.end_of_words();
    if reader.is_for_users {
        // What is run in a project of theirs is not defined here.
        reader
            .found
            .retain(|claim| !matches!(claim.kind, ClaimKind::Command { command: Command::Script(_), .. }));
    }
    reader.found
}

/// What is being read.
enum Inside {
    Heading(HeadingLevel, String),
    /// A block of code: its language and lines.
    Code(String, Vec<(u32, String)>),
    /// Front matter.
    Aside,
    Words,
}

struct Reader {
    /// Where lines begin.
    starts: Vec<usize>,
    found: Vec<Claim>,
    inside: Inside,
    /// Open headings, and whether what is below them is not of the present.
    headings: Vec<(HeadingLevel, bool)>,
    /// Text that is struck out.
    struck: usize,
    /// Whether readers are told to make a project, or to add packages to theirs.
    is_for_users: bool,
    /// Words of a paragraph so far, and on which lines they begin.
    words: String,
    lines: Vec<(usize, u32)>,
}

impl Reader {
    fn new(text: &str) -> Self {
        let starts = std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1)).collect();
        Self {
            starts,
            found: Vec::new(),
            inside: Inside::Words,
            headings: Vec::new(),
            struck: 0,
            is_for_users: false,
            words: String::new(),
            lines: Vec::new(),
        }
    }

    fn line(&self, at: usize) -> u32 {
        u32::try_from(self.starts.partition_point(|start| *start <= at)).unwrap_or(u32::MAX)
    }

    fn is_present(&self) -> bool {
        self.struck == 0 && !self.headings.iter().any(|(_, is_elsewhere)| *is_elsewhere)
    }

    fn event(&mut self, event: Event<'_>, at: usize) {
        match event {
            Event::Start(Tag::Heading { level, .. }) => {
                self.end_of_words();
                self.inside = Inside::Heading(level, String::new());
            }
            Event::Start(Tag::CodeBlock(kind)) => {
                self.end_of_words();
                let language = match kind {
                    CodeBlockKind::Fenced(info) => {
                        info.split([' ', ',', '{']).next().unwrap_or_default().to_lowercase()
                    }
                    CodeBlockKind::Indented => String::new(),
                };
                self.inside = Inside::Code(language, Vec::new());
            }
            Event::Start(Tag::MetadataBlock(_)) => self.inside = Inside::Aside,
            Event::Start(Tag::Strikethrough) => self.struck += 1,
            Event::End(TagEnd::Strikethrough) => self.struck = self.struck.saturating_sub(1),
            Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) => {
                if let Some(path) = spans::link(&dest_url).filter(|_| self.struck == 0) {
                    self.push(ClaimKind::Link(path), &dest_url, self.line(at));
                }
            }
            Event::End(TagEnd::Heading(_) | TagEnd::CodeBlock | TagEnd::MetadataBlock(_)) => self.close(),
            Event::Text(words) => self.text(&words, at),
            Event::Code(span) => self.span(&span, at),
            Event::SoftBreak | Event::HardBreak => self.words.push(' '),
            Event::End(TagEnd::Paragraph | TagEnd::Item | TagEnd::TableCell)
            | Event::Start(Tag::Item | Tag::Paragraph | Tag::BlockQuote(_)) => self.end_of_words(),
            _ => {}
        }
    }

    fn push(&mut self, kind: ClaimKind, text: &str, line: u32) {
        let text: String = text.chars().take(200).collect();
        self.found.push(Claim { kind, text, line });
    }

    fn text(&mut self, words: &str, at: usize) {
        let line = self.line(at);
        match &mut self.inside {
            Inside::Heading(_, heading) => heading.push_str(words),
            Inside::Code(_, lines) => {
                for (number, text) in (line..).zip(words.lines()) {
                    lines.push((number, text.to_owned()));
                }
            }
            Inside::Aside => {}
            Inside::Words => self.say(words, line),
        }
    }

    fn span(&mut self, span: &str, at: usize) {
        let line = self.line(at);
        if let Inside::Heading(_, heading) = &mut self.inside {
            heading.push_str(span);
        }
        if matches!(self.inside, Inside::Words) {
            self.say(span, line);
        }
        if !self.is_present() {
            return;
        }
        for kind in spans::read(span) {
            self.push(kind, span, line);
        }
    }

    fn say(&mut self, words: &str, line: u32) {
        self.lines.push((self.words.len(), line));
        self.words.push_str(words);
    }

    /// What a paragraph says, sentence by sentence.
    fn end_of_words(&mut self) {
        let (words, lines) = (std::mem::take(&mut self.words), std::mem::take(&mut self.lines));
        if !self.is_present() {
            return;
        }
        for (at, kind, text) in prose::read(&words) {
            let line =
                lines.partition_point(|(start, _)| *start <= at).checked_sub(1).and_then(|i| lines.get(i));
            self.push(kind, &text, line.map_or(1, |(_, line)| *line));
        }
    }

    fn close(&mut self) {
        match std::mem::replace(&mut self.inside, Inside::Words) {
            Inside::Heading(level, words) => {
                self.headings.retain(|(open, _)| *open < level);
                self.headings.push((level, prose::is_elsewhere(&words)));
            }
            Inside::Code(language, lines) if self.is_present() => {
                self.is_for_users |= shell::is_for_users(&language, &lines);
                for (line, text, kind) in shell::read(&language, &lines) {
                    self.push(kind, &text, line);
                }
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> Vec<(u32, ClaimKind)> {
        claims(text).into_iter().map(|c| (c.line, c.kind)).collect()
    }

    #[test]
    fn claims_stand_on_their_lines() {
        let text = "---\ntitle: `src/x.rs`\n---\n# Words\n\nSee `src/a.rs:12`,\n[b](docs/b.md#c) and `x/**`.\n\n> ```sh\n> cd web\n> make test\n> ```\n\nRequires Node 18+.\n\n## Changelog\n\n`src/old.rs` [l](l.md)\n\n### 1.0\n\n`src/old.rs`\n\n## After\n\n- ~~`src/gone.rs`~~ `src/b.rs`\n";
        let path = |p: &str| ClaimKind::Path(p.to_owned());
        assert_eq!(
            shown(text),
            [
                (6, path("src/a.rs")),
                (7, ClaimKind::Link("docs/b.md".to_owned())),
                (
                    11,
                    ClaimKind::Command {
                        command: Command::Make("test".to_owned()),
                        folder: Folder::In("web".to_owned())
                    }
                ),
                (14, ClaimKind::Runtime { runtime: Runtime::Node, version: vec![18] }),
                (18, ClaimKind::Link("l.md".to_owned())),
                (26, path("src/b.rs")),
            ]
        );
    }

    #[test]
    fn there_is_an_end_to_claims() {
        assert_eq!(claims(&"`a/b.c` ".repeat(MAX_CLAIMS + 10)).len(), MAX_CLAIMS);
    }
}
