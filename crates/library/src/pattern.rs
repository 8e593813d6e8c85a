//! Which files of a library make which pattern.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::category::Category;
use crate::id::{IdError, PatternId, is_category, is_name};
use crate::problem::{Code, Problem, Problems};
use crate::text::shown;

/// How many folders deep a skill may be below `skills/`, its own counted.
pub const MAX_SKILL_DEPTH: usize = 4;
/// Folders that are never entered, beside those whose name begins with a dot.
pub const NOT_ENTERED: [&str; 2] = ["node_modules", "target"];
/// Most files that are kept of one skill's folder.
pub const MAX_FILES: usize = 2_000;
/// Most problems that a survey tells; [`Survey::more`] counts the others.
pub const MAX_SURVEY_PROBLEMS: usize = 1_000;

/// The folder that the format's later version puts categories into.
const PATTERNS: &str = "patterns";
/// The folder below which skills may be at any depth.
const SKILLS: &str = "skills";
/// What a skill's file is called.
const SKILL_FILE: &str = "SKILL.md";
/// What a metadata file's name ends in.
const META_END: &str = "-SKILL.md";

/// The files of a pattern. All paths are relative to the library, with `/`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Layout {
    /// `{name}.md`, and what stands beside it.
    Files {
        /// The documentation.
        document: String,
        /// `{name}.ts`, else `{name}.js`.
        code: Option<String>,
        /// `{name}-SKILL.md`.
        meta: Option<String>,
    },
    /// A folder with a `SKILL.md`.
    Folder {
        /// The folder.
        folder: String,
        /// All files below it, `SKILL.md` too, sorted; at most [`MAX_FILES`].
        files: Vec<String>,
        /// Whether there are more.
        is_cut: bool,
    },
}

/// A pattern or skill that was found. Its files were not read yet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Found {
    /// In its category.
    pub name: String,
    /// The folder; none for a skill that its folder puts into no category.
    pub category: Option<String>,
    /// Its files.
    pub layout: Layout,
}

impl Found {
    /// Its id in the library. `declared` is the category that a skill names; it counts only where the folder says nothing, and
    /// only as one of the seven.
    pub fn id(&self, declared: Option<&str>) -> Result<PatternId, IdError> {
        let declared = declared.and_then(|text| text.trim().parse::<Category>().ok()).map(Category::as_str);
        let category = self.category.as_deref().or(declared).unwrap_or(Category::NONE);
        PatternId::from_parts(None, category, &self.name)
    }

    /// The file that is read first.
    pub fn main(&self) -> String {
        match &self.layout {
            Layout::Files { document, .. } => document.clone(),
            Layout::Folder { folder, .. } => format!("{folder}/{SKILL_FILE}"),
        }
    }

    /// All of its files that are known.
    pub fn files(&self) -> Vec<&str> {
        match &self.layout {
            Layout::Files { document, code, meta } => [Some(document), code.as_ref(), meta.as_ref()]
                .into_iter()
                .flatten()
                .map(String::as_str)
                .collect(),
            Layout::Folder { files, .. } => files.iter().map(String::as_str).collect(),
        }
    }
}

/// What a library holds, by its files' names.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Survey {
    /// By category and name; skills without a category last.
    pub found: Vec<Found>,
    /// What is wrong with names and places.
    pub problems: Vec<Problem>,
    /// How many problems there are beyond [`MAX_SURVEY_PROBLEMS`].
    pub more: usize,
}

impl Survey {
    fn say(&mut self, file: &str, code: Code, message: impl Into<String>) {
        if self.problems.len() == MAX_SURVEY_PROBLEMS {
            self.more += 1;
            return;
        }
        let mut problems = Problems::of(file);
        problems.whole(code, message);
        self.problems.extend(problems.into_found());
    }
}

/// Whether a folder of this name is looked into.
pub fn is_entered(folder: &str) -> bool {
    !folder.starts_with('.') && !NOT_ENTERED.contains(&folder)
}

#[derive(Default)]
struct Group<'a> {
    document: Option<&'a str>,
    typescript: Option<&'a str>,
    javascript: Option<&'a str>,
    meta: Option<&'a str>,
}

/// What a listing of files holds: paths relative to the library's root, with `/`, in any order. Read are
/// `<category>/{name}.md` with `{name}.ts` or `.js` and `{name}-SKILL.md` beside it, the same below `patterns/`,
/// `<category>/<name>/SKILL.md`, `<name>/SKILL.md`, and skills at most [`MAX_SKILL_DEPTH`] deep below `skills/`. Other files are
/// passed over. O(n log n).
pub fn survey<'a>(paths: impl IntoIterator<Item = &'a str>) -> Survey {
    let mut survey = Survey::default();
    let mut paths: Vec<&str> = paths.into_iter().filter(|path| is_looked_at(path)).collect();
    paths.sort_unstable();
    paths.dedup();
    let folders = skill_folders(&paths, &mut survey);
    let mut skills: BTreeMap<&str, (Vec<String>, bool)> = BTreeMap::new();
    // By the place first: what stands at the top is before what stands below `patterns/`.
    let mut groups: BTreeMap<(bool, &str, &str), Group<'_>> = BTreeMap::new();
    for path in paths {
        if let Some(folder) = within(path, &folders) {
            let (files, is_cut) = skills.entry(folder).or_default();
            if files.len() < MAX_FILES {
                files.push(path.to_owned());
            } else {
                *is_cut = true;
            }
            continue;
        }
        let (later, rest) = path.strip_prefix("patterns/").map_or((false, path), |rest| (true, rest));
        let Some((category, file)) = rest.split_once('/') else { continue };
        if !file.contains('/') {
            grouped(path, (later, category, file), &mut groups, &mut survey);
        }
    }
    let mut taken: BTreeSet<(String, String)> = BTreeSet::new();
    for ((_, category, name), group) in groups {
        if let Some(found) = three(category, name, &group, &mut survey) {
            push(found, &mut taken, &mut survey);
        }
    }
    for (folder, (files, is_cut)) in skills {
        let name = folder.rsplit('/').next().unwrap_or(folder).to_owned();
        let main = format!("{folder}/{SKILL_FILE}");
        if !is_name(&name) {
            let why =
                "the folder's name is no skill's: lower-case letters, digits and single hyphens between them";
            survey.say(&main, Code::NameInvalid, why);
            continue;
        }
        let category = category_of(folder);
        if category.as_deref().is_some_and(|c| !is_category(c)) {
            survey.say(&main, Code::NameInvalid, "its category's folder is named so that no id has it: use lower-case letters, digits and single hyphens");
            continue;
        }
        push(
            Found { name, category, layout: Layout::Folder { folder: folder.to_owned(), files, is_cut } },
            &mut taken,
            &mut survey,
        );
    }
    survey.found.sort_by(|a, b| {
        (a.category.is_none(), &a.category, &a.name).cmp(&(b.category.is_none(), &b.category, &b.name))
    });
    survey
}

fn is_looked_at(path: &str) -> bool {
    let mut parts = path.split('/').rev();
    let file = parts.next().unwrap_or_default();
    !file.is_empty() && !file.starts_with('.') && parts.all(|folder| !folder.is_empty() && is_entered(folder))
}

/// Folders that hold a `SKILL.md`: of nested ones the outer, at the depths that are read.
fn skill_folders<'a>(paths: &[&'a str], survey: &mut Survey) -> BTreeSet<&'a str> {
    let mut all: Vec<&str> = Vec::new();
    for path in paths {
        if *path == SKILL_FILE {
            survey.say(
                path,
                Code::NameInvalid,
                "a skill has a folder of its own: move it into one of its name",
            );
            continue;
        }
        let Some(folder) = path.strip_suffix(SKILL_FILE).and_then(|folder| folder.strip_suffix('/')) else {
            continue;
        };
        if matches!(folder, PATTERNS | SKILLS) {
            survey.say(
                path,
                Code::NameInvalid,
                format!("`{folder}` holds skills and is none: move it into a folder of its name"),
            );
            continue;
        }
        let depth = folder.split('/').count();
        let most = match folder.split('/').next() {
            Some(SKILLS) => 1 + MAX_SKILL_DEPTH,
            Some(PATTERNS) => 3,
            _ => 2,
        };
        if depth <= most {
            all.push(folder);
        }
    }
    // The shorter ones first, so that an outer folder is there when an inner one is looked at.
    all.sort_by_key(|folder| folder.len());
    let mut kept = BTreeSet::new();
    for folder in all {
        if within(folder, &kept).is_none() {
            kept.insert(folder);
        }
    }
    kept
}

/// The folder of these that a path is in. At most as many look-ups as the path has parts.
fn within<'a>(path: &str, folders: &BTreeSet<&'a str>) -> Option<&'a str> {
    path.match_indices('/').find_map(|(at, _)| folders.get(path.get(..at)?).copied())
}

/// The category that a skill's folder says, if any.
fn category_of(folder: &str) -> Option<String> {
    let parts: Vec<&str> = folder.split('/').collect();
    match parts.as_slice() {
        [first, inner @ .., _] if *first == SKILLS => {
            inner.iter().rev().find(|part| part.parse::<Category>().is_ok()).map(|part| (*part).to_owned())
        }
        [first, category, _] if *first == PATTERNS => Some((*category).to_owned()),
        [first, _] if *first == PATTERNS => None,
        [category, _] => Some((*category).to_owned()),
        _ => None,
    }
}

/// Puts a file to the others of its name.
fn grouped<'a>(
    path: &'a str,
    (later, category, file): (bool, &'a str, &'a str),
    groups: &mut BTreeMap<(bool, &'a str, &'a str), Group<'a>>,
    survey: &mut Survey,
) {
    let (name, is) = if let Some(name) = file.strip_suffix(META_END) {
        (name, 'm')
    } else if let Some(name) = file.strip_suffix(".md") {
        (name, 'd')
    } else if let Some(name) = file.strip_suffix(".ts") {
        (name, 't')
    } else if let Some(name) = file.strip_suffix(".js") {
        (name, 'j')
    } else {
        return;
    };
    // Written for people about the folder, not a pattern; a skill's file where none may be was told before.
    if file == SKILL_FILE
        || is == 'd' && ["readme", "index", "changelog"].contains(&name.to_ascii_lowercase().as_str())
    {
        return;
    }
    // Beside a pattern's code, not code of a pattern.
    if matches!(is, 't' | 'j') && [".test", ".spec", ".d", ".bench"].iter().any(|end| name.ends_with(end)) {
        return;
    }
    if !is_category(category) {
        if is == 'd' {
            let why = format!(
                "the folder `{}` fits no id: use lower-case letters, digits and single hyphens",
                shown(category)
            );
            survey.say(path, Code::NameInvalid, why);
        }
        return;
    }
    if !is_name(name) {
        let why = "the file's name fits no id: use letters, digits and single `.`, `_` or `-` between them";
        survey.say(path, Code::NameInvalid, why);
        return;
    }
    let group = groups.entry((later, category, name)).or_default();
    let place = match is {
        'm' => &mut group.meta,
        'd' => &mut group.document,
        't' => &mut group.typescript,
        _ => &mut group.javascript,
    };
    *place = Some(path);
}

fn three(category: &str, name: &str, group: &Group<'_>, survey: &mut Survey) -> Option<Found> {
    let Some(document) = group.document else {
        for path in [group.typescript, group.javascript, group.meta].into_iter().flatten() {
            let why =
                format!("there is no {name}.md beside it, which makes a pattern: write it, or move the file");
            survey.say(path, Code::DocumentMissing, why);
        }
        return None;
    };
    if let (Some(_), Some(other)) = (group.typescript, group.javascript) {
        survey.say(other, Code::Ambiguous, format!("{name}.ts is taken; remove one of the two"));
    }
    if PatternId::from_parts(None, category, name).is_err() {
        survey.say(
            document,
            Code::NameInvalid,
            "category and name together are longer than an id may be: shorten the name",
        );
        return None;
    }
    let code = group.typescript.or(group.javascript).map(str::to_owned);
    let layout = Layout::Files { document: document.to_owned(), code, meta: group.meta.map(str::to_owned) };
    Some(Found { name: name.to_owned(), category: Some(category.to_owned()), layout })
}

fn push(found: Found, taken: &mut BTreeSet<(String, String)>, survey: &mut Survey) {
    let main = found.main();
    let category = found.category.clone().unwrap_or_default();
    if !taken.insert((category.clone(), found.name.clone())) {
        let why = "another file of this library has the same id and is taken: rename one of them";
        survey.say(&main, Code::Ambiguous, why);
        return;
    }
    if !category.is_empty() && category.parse::<Category>().is_err() {
        let why = format!(
            "`{category}` is none of the categories ({}): it is found only without a filter",
            Category::list()
        );
        survey.say(&main, Code::CategoryInvalid, why);
    }
    survey.found.push(found);
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn ids(survey: &Survey) -> Vec<String> {
        survey.found.iter().map(|f| f.id(None).unwrap().to_string()).collect()
    }

    fn told(survey: &Survey) -> Vec<(&str, Code)> {
        survey.problems.iter().map(|p| (p.file.as_str(), p.code)).collect()
    }

    #[test]
    fn three_files_of_a_name_are_one_pattern() {
        let survey = survey([
            "database/rls-policy.md",
            "database/rls-policy.ts",
            "database/rls-policy-SKILL.md",
            "database/rls-policy.test.ts",
            "patterns/ui/Card_v2.1.md",
            "patterns/ui/Card_v2.1.js",
            "README.md",
            "database/README.md",
            "database/deep/x.md",
        ]);
        assert_eq!(ids(&survey), ["database/rls-policy", "ui/Card_v2.1"]);
        assert_eq!(
            survey.found[0].files(),
            ["database/rls-policy.md", "database/rls-policy.ts", "database/rls-policy-SKILL.md"]
        );
        assert_eq!(survey.found[1].files(), ["patterns/ui/Card_v2.1.md", "patterns/ui/Card_v2.1.js"]);
        assert_eq!(survey.problems, []);
    }

    #[test]
    fn folders_with_a_skill_are_skills_wherever_they_may_be() {
        let survey = survey([
            "backend/queue/SKILL.md",
            "backend/queue/references/x.md",
            "backend/queue/nested/SKILL.md",
            "pdf-forms/SKILL.md",
            "pdf-forms/scripts/a.py",
            "skills/a/SKILL.md",
            "skills/team/testing/b/SKILL.md",
            "skills/1/2/3/c/SKILL.md",
            "skills/1/2/3/4/too-deep/SKILL.md",
            "patterns/ui/d/SKILL.md",
        ]);
        assert_eq!(
            ids(&survey),
            ["backend/queue", "testing/b", "ui/d", "skills/a", "skills/c", "skills/pdf-forms"]
        );
        assert_eq!(survey.found[0].files().len(), 3);
        assert_eq!(survey.found[0].main(), "backend/queue/SKILL.md");
        let declared = survey.found.last().unwrap().id(Some("security")).unwrap();
        assert_eq!(declared.as_str(), "security/pdf-forms");
        assert_eq!(survey.found.last().unwrap().id(Some("documents")).unwrap().as_str(), "skills/pdf-forms");
        assert_eq!(survey.problems, []);
    }

    #[test]
    fn what_is_no_pattern_is_told_and_the_others_go_on() {
        let survey = survey([
            "ui/a.md",
            "patterns/ui/a.md",
            "ui/lonely.ts",
            "ui/lonely-SKILL.md",
            "ui/b.md",
            "ui/b.ts",
            "ui/b.js",
            "ui/bad name.md",
            "ui/x\u{202e}dm.md",
            "ui/nul\0.md",
            "UI/c.md",
            "frontend/d.md",
            "SKILL.md",
            "skills/SKILL.md",
            "ui/bad skill/SKILL.md",
            "ui/-SKILL.md",
        ]);
        assert_eq!(ids(&survey), ["frontend/d", "ui/a", "ui/b"]);
        let mut found = told(&survey);
        found.sort_unstable();
        assert_eq!(
            found,
            [
                ("SKILL.md", Code::NameInvalid),
                ("UI/c.md", Code::NameInvalid),
                ("frontend/d.md", Code::CategoryInvalid),
                ("patterns/ui/a.md", Code::Ambiguous),
                ("skills/SKILL.md", Code::NameInvalid),
                ("ui/-SKILL.md", Code::NameInvalid),
                ("ui/b.js", Code::Ambiguous),
                ("ui/bad name.md", Code::NameInvalid),
                ("ui/bad skill/SKILL.md", Code::NameInvalid),
                ("ui/lonely-SKILL.md", Code::DocumentMissing),
                ("ui/lonely.ts", Code::DocumentMissing),
                ("ui/nul\\u{0}.md", Code::NameInvalid),
                ("ui/x\\u{202e}dm.md", Code::NameInvalid),
            ]
        );
    }

    #[test]
    fn some_folders_are_never_entered() {
        let survey = survey([
            ".git/a.md",
            "ui/.hidden.md",
            "node_modules/x/SKILL.md",
            "target/a.md",
            ".x/ui/a.md",
            "/ui/a.md",
            "ui//a.md",
        ]);
        assert_eq!(survey, Survey::default());
    }

    proptest! {
        #[test]
        fn every_file_is_in_at_most_one_pattern(
            paths in proptest::collection::vec("((skills|patterns|ui|x|-|\\PC|\\.)/){0,5}(SKILL|a|b-SKILL|-SKILL|\\PC)\\.(md|ts|js)", 0..30),
        ) {
            let survey = survey(paths.iter().map(String::as_str));
            let mut files: Vec<&str> = survey.found.iter().flat_map(Found::files).collect();
            let count = files.len();
            files.sort_unstable();
            files.dedup();
            prop_assert_eq!(count, files.len());
            for found in &survey.found {
                prop_assert!(found.id(None).is_ok(), "{:?}", found);
                prop_assert!(found.files().contains(&found.main().as_str()));
            }
        }
    }
}
