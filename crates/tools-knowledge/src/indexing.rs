//! A pattern as it is searched: which of its texts is which field. The server's index, the measure of its answers and the bench's
//! peers are all made of this.

use library::entry::Entry;
use library::markdown::Markdown;
use library::pattern::{Found, Layout};
use library::quality::Score;
use search::Document;

/// A pattern and its texts.
#[derive(Debug, Clone, Copy)]
pub struct Pattern<'p> {
    /// Its name in its category.
    pub name: &'p str,
    /// What its files say.
    pub entry: &'p Entry,
    /// What it is, as it may be found: [`Entry::description`] without secrets.
    pub description: &'p str,
    /// The text of its document, without secrets.
    pub document: &'p str,
    /// The text of its code, without secrets; empty where there is none.
    pub code: &'p str,
    /// Whether its code can be run.
    pub executable: bool,
    /// Whether it was used often enough.
    pub verified: bool,
}

impl Pattern<'_> {
    /// Gives the pattern, as an index takes it, to `take`. Linear in the texts.
    pub fn as_document<R>(&self, take: impl FnOnce(&Document<'_>) -> R) -> R {
        let markdown = Markdown::of(self.document);
        let headings: Vec<&str> =
            markdown.headings().iter().map(|heading| markdown.title_of(heading)).collect();
        let tags: Vec<&str> = self.entry.tags.iter().map(String::as_str).collect();
        take(&Document {
            id: self.entry.id.short(),
            category: self.entry.id.category(),
            quality: self.entry.quality.map(Score::tenths),
            executable: self.executable,
            verified: self.verified,
            name: self.name,
            title: &self.entry.title,
            tags: &tags,
            description: self.description,
            headings: &headings,
            code: self.code,
            body: markdown.slice(&markdown.body()),
        })
    }
}

/// The file whose function is called: beside a pattern its code; of a skill's folder what it names, or what is called as it is.
pub fn executable(found: &Found, entry: &Entry) -> Option<String> {
    match &found.layout {
        Layout::Files { code, .. } => code.clone(),
        Layout::Folder { folder, files, .. } => {
            let named = entry.asks.entry.as_ref().map(|file| vec![format!("{folder}/{file}")]);
            let usual = || vec![format!("{folder}/{}.ts", found.name), format!("{folder}/{}.js", found.name)];
            named.unwrap_or_else(usual).into_iter().find(|file| files.contains(file))
        }
    }
}
