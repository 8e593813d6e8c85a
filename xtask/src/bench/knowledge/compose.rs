//! Libraries of any size, made of real Markdown: the same every time for the same texts.

use std::fs;
use std::path::{Path, PathBuf};

use crate::dice::Dice;
use crate::sh::{Done, target, top};

/// Where all dice of the measured libraries begin.
const SEED: u64 = 0x6761_7465;
/// The seven categories.
const CATEGORIES: [&str; 7] =
    ["database", "security", "ui", "backend", "testing", "architecture", "mcp-integration"];
/// Texts that are read at most, and bytes of each section.
const MOST_TEXTS: usize = 4_000;
const MOST_SECTION: usize = 700;
const LEAST_SECTION: usize = 80;
/// Sections of a pattern.
const LEAST: u64 = 2;
const MOST: u64 = 5;

/// A section of somebody's document.
struct Section {
    heading: String,
    body: String,
}

/// Sections of real documents.
pub(crate) struct Sources {
    sections: Vec<Section>,
    pub(super) what: String,
    seed: u64,
}

/// A library on the disk.
pub(crate) struct Library {
    pub(crate) folder: PathBuf,
    /// The documents, by number.
    pub(super) documents: Vec<PathBuf>,
    pub(super) files: usize,
    pub(super) bytes: usize,
    seed: u64,
}

impl Sources {
    /// The npm packages' documents where they are installed, else the repository's own.
    pub(super) fn find() -> Done<Self> {
        let packages = target().join("npm");
        let mut files = Vec::new();
        if packages.is_dir() {
            markdown(&packages, &mut files);
        }
        if files.len() >= 200 {
            return Self::of(files, "npm packages", SEED);
        }
        println!(
            "too few npm packages in {}: libraries are made of the repository's own documents",
            packages.display()
        );
        Self::own(SEED)
    }

    /// The repository's own documents, with dice of their own.
    pub(crate) fn own(seed: u64) -> Done<Self> {
        let mut files = Vec::new();
        for own in ["docs", "crates", "examples"] {
            markdown(&top().join(own), &mut files);
        }
        Self::of(files, "this repository", seed)
    }

    fn of(mut files: Vec<PathBuf>, whose: &str, seed: u64) -> Done<Self> {
        files.sort();
        files.truncate(MOST_TEXTS);
        let texts: Vec<String> = files.iter().filter_map(|file| fs::read_to_string(file).ok()).collect();
        let mut sections: Vec<Section> = texts.iter().flat_map(|text| cut(text)).collect();
        sections.sort_by(|a, b| (&a.heading, &a.body).cmp(&(&b.heading, &b.body)));
        sections.dedup_by(|a, b| a.body == b.body);
        if sections.len() < 50 {
            return Err(format!(
                "only {} sections of Markdown were found to make libraries of",
                sections.len()
            ));
        }
        let what = format!("{} sections of {} documents of {whose}", sections.len(), texts.len());
        Ok(Self { sections, what, seed })
    }

    /// Writes a library of so many patterns: all have a document, a third metadata, a quarter code.
    pub(crate) fn library(&self, folder: &Path, patterns: usize) -> Done<Library> {
        let io = |e: std::io::Error| format!("{}: {e}", folder.display());
        for category in CATEGORIES {
            fs::create_dir_all(folder.join(category)).map_err(io)?;
        }
        let mut dice = Dice::seeded(self.seed);
        let mut made =
            Library { folder: folder.to_owned(), documents: Vec::new(), files: 0, bytes: 0, seed: self.seed };
        for number in 0..patterns {
            let place = folder.join(CATEGORIES[number % CATEGORIES.len()]);
            let first = self.any(&mut dice);
            let second = self.any(&mut dice);
            let name = format!("{}-{}-{number}", slug(&first.heading), slug(&second.heading));
            let mut text = format!("# {} and {}\n\n{}\n", first.heading, second.heading, first.body);
            for _ in 0..LEAST + dice.below(MOST - LEAST) {
                let section = self.any(&mut dice);
                text.push_str(&format!("\n## {}\n\n{}\n", section.heading, section.body));
            }
            let document = place.join(format!("{name}.md"));
            let mut files = vec![(document.clone(), text)];
            if number % 3 == 0 {
                let (quality, uses) = (60 + dice.below(40), dice.below(8));
                let metadata = format!(
                    "# {name}\n\n**Language:** TypeScript\n**Quality:** {}.{}/10\n**Reuse Count:** {uses}\n",
                    quality / 10,
                    quality % 10
                );
                files.push((place.join(format!("{name}-SKILL.md")), metadata));
            }
            if number % 4 == 0 {
                let code = format!(
                    "export function execute(input: {{ items: number[] }}): number {{\n  // {}\n  const {}Limit = {};\n  \
                     return input.items.filter((item) => item < {}Limit).length;\n}}\n",
                    first.heading,
                    camel(&second.heading),
                    dice.below(1_000),
                    camel(&second.heading)
                );
                files.push((place.join(format!("{name}.ts")), code));
            }
            for (file, text) in files {
                fs::write(&file, &text).map_err(io)?;
                made.files += 1;
                made.bytes += text.len();
            }
            made.documents.push(document);
        }
        Ok(made)
    }

    fn any(&self, dice: &mut Dice) -> &Section {
        let at = usize::try_from(dice.below(self.sections.len() as u64)).unwrap_or(0);
        &self.sections[at.min(self.sections.len() - 1)]
    }
}

impl Library {
    /// Different questions in words of the library: one to five of one document; a tenth with a misspelt last word, a tenth with
    /// an unfinished one.
    pub(crate) fn questions(&self, count: usize) -> Done<Vec<String>> {
        let mut dice = Dice::seeded(self.seed + 1);
        let mut all: Vec<String> = Vec::new();
        for _ in 0..count * 50 {
            if all.len() == count {
                return Ok(all);
            }
            let at = usize::try_from(dice.below(self.documents.len() as u64)).unwrap_or(0);
            let text = fs::read_to_string(&self.documents[at]).map_err(|e| e.to_string())?;
            let words: Vec<&str> = text
                .split(|c: char| !c.is_ascii_alphabetic())
                .filter(|word| (4..=14).contains(&word.len()))
                .collect();
            if words.is_empty() {
                continue;
            }
            let from = usize::try_from(dice.below(words.len() as u64)).unwrap_or(0);
            let many = 1 + usize::try_from(dice.below(5)).unwrap_or(0);
            let mut asked: Vec<String> =
                words.iter().skip(from).take(many).map(|w| w.to_lowercase()).collect();
            if let Some(last) = asked.last_mut() {
                match dice.below(10) {
                    0 if last.len() > 5 => {
                        let taken = last.remove(2);
                        last.insert(3, taken);
                    }
                    1 if last.len() > 5 => last.truncate(last.len() - 2),
                    _ => {}
                }
            }
            let question = asked.join(" ");
            if !all.contains(&question) {
                all.push(question);
            }
        }
        Err(format!("{} different questions were found, and {count} are wanted", all.len()))
    }

    /// Adds a line to so many documents, each another; `round` is in it.
    pub(crate) fn edit(&self, many: usize, round: usize) -> Done {
        let step = (self.documents.len() / many).max(1);
        for document in self.documents.iter().step_by(step).take(many) {
            let mut text = fs::read_to_string(document).map_err(|e| e.to_string())?;
            text.push_str(&format!("\nEdited in round {round}.\n"));
            fs::write(document, text).map_err(|e| e.to_string())?;
        }
        Ok(())
    }
}

fn markdown(folder: &Path, files: &mut Vec<PathBuf>) {
    let mut below: Vec<PathBuf> =
        fs::read_dir(folder).into_iter().flatten().flatten().map(|e| e.path()).collect();
    below.sort();
    for path in below {
        if path.is_symlink() {
            continue;
        }
        if path.is_dir() {
            markdown(&path, files);
        } else if path.extension().is_some_and(|e| e == "md") {
            files.push(path);
        }
    }
}

/// Sections with a heading of words and some text; fences are whole or left out.
fn cut(text: &str) -> Vec<Section> {
    let mut sections: Vec<Section> = Vec::new();
    let mut is_fenced = false;
    for line in text.lines() {
        if line.starts_with("```") {
            is_fenced = !is_fenced;
        }
        if !is_fenced && line.starts_with('#') {
            let heading: String = line
                .trim_start_matches('#')
                .chars()
                .map(|c| if c.is_ascii_alphanumeric() { c } else { ' ' })
                .collect();
            let heading: Vec<&str> = heading.split_whitespace().take(5).collect();
            sections.push(Section { heading: heading.join(" "), body: String::new() });
        } else if let Some(section) = sections.last_mut()
            && section.body.len() + line.len() <= MOST_SECTION
        {
            section.body.push_str(line);
            section.body.push('\n');
        }
    }
    for section in &mut sections {
        // A fence that the cut left open would swallow what comes behind it.
        if section.body.matches("```").count() % 2 == 1 {
            section.body.push_str("```\n");
        }
        section.body = section.body.trim().to_owned();
    }
    sections.retain(|s| s.body.len() >= LEAST_SECTION && s.heading.chars().any(|c| c.is_ascii_alphabetic()));
    sections
}

/// The first two words of a heading, as an id has them.
fn slug(heading: &str) -> String {
    let words: Vec<String> = heading
        .split(|c: char| !c.is_ascii_alphanumeric())
        .filter(|word| !word.is_empty())
        .take(2)
        .map(|word| word.chars().take(16).collect::<String>().to_lowercase())
        .collect();
    words.join("-")
}

fn camel(heading: &str) -> String {
    let mut out = String::from("the");
    for word in slug(heading).split('-') {
        let (first, rest) = word.split_at(word.len().min(1));
        out.push_str(&first.to_uppercase());
        out.push_str(rest);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fence_that_a_cut_leaves_open_is_closed() {
        let long = "a line of code that is long enough to be cut somewhere;\n".repeat(40);
        let sections = cut(&format!("# One thing\n\n```ts\n# no heading\n{long}```\n\n## Two\n\nshort\n"));
        assert_eq!(sections.len(), 1, "the second is too short to be taken");
        assert_eq!(sections[0].heading, "One thing");
        assert!(sections[0].body.contains("# no heading") && sections[0].body.ends_with("```"));
        assert_eq!(sections[0].body.matches("```").count(), 2);
    }

    #[test]
    fn libraries_are_the_same_every_time() {
        let body = "Words that are long enough to be asked for later, and others that are not.".to_owned();
        let section = |heading: &str| Section { heading: heading.to_owned(), body: body.clone() };
        let sources = Sources {
            sections: vec![section("Row Level"), section("Token Bucket")],
            what: String::new(),
            seed: SEED,
        };
        let base = std::env::temp_dir().join(format!("gatewright-compose-{}", std::process::id()));
        let texts = |name: &str| {
            let made = sources.library(&base.join(name), 24).unwrap();
            let texts: Vec<String> = made.documents.iter().map(|d| fs::read_to_string(d).unwrap()).collect();
            (texts, made.files, made.questions(5).unwrap())
        };
        let (one, two) = (texts("one"), texts("two"));
        let _ = fs::remove_dir_all(&base);
        assert_eq!(one, two);
        assert_eq!(one.1, 24 + 8 + 6, "all have a document, a third metadata, a quarter code");
    }
}
