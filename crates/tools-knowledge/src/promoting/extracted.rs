//! A new pattern of an earlier session's code and text.

use contract::{Code, Fault, FileMode, RelPath};
use kit::ChangeDesk;
use library::PatternId;
use library::markdown::MAX_DOCUMENT;
use library::meta::{self, Meta};
use library::pattern::survey;
use library::quality::{Criteria, Criterion, is_verified};
use library::session::{MAX_PACK, Main, Session, render};
use library::{ProjectName, SessionId};

use super::files::{ENDS, File, check_secrets, put};
use super::{Done, Target, admitted};
use crate::artifacts::{kept, main_of, project};
use crate::libraries::Looked;

/// Which code of which session.
#[derive(Debug, Clone)]
pub(crate) struct From {
    pub(crate) project: ProjectName,
    pub(crate) session: SessionId,
    /// Counted from 1.
    pub(crate) block: usize,
}

/// Drafts the files of the new pattern `id` into `target`.
pub(crate) fn extract(
    desk: &ChangeDesk,
    target: &Target,
    looked: &Looked,
    (id, from, criteria): (&PatternId, &From, &Criteria),
) -> Result<Done, Fault> {
    let missing: Vec<&str> = criteria.missing().into_iter().map(field).collect();
    if !missing.is_empty() {
        return Err(Fault::invalid(format!(
            "criteria: what is extracted is scored by all five; missing: {}",
            missing.join(", ")
        )));
    }
    let quality = admitted(id, None, criteria)?;
    let (project, session) = session(desk, from)?;
    let total = session.code_blocks.len();
    let block = from.block.checked_sub(1).and_then(|at| session.code_blocks.get(at)).cloned();
    let block = block.ok_or_else(|| {
        let message =
            format!("from.block: the session {} has no block {}; it has {total}", from.session, from.block);
        Fault::new(Code::NotFound, message)
            .suggest("`get_session_code` without `language` lists them in their order.")
    })?;
    let end = match block.language.as_str() {
        "typescript" => Some(".ts"),
        "javascript" => Some(".js"),
        // Only those run, and only those have a file of their own.
        _ => None,
    };
    let title = title(id.name());
    let clean = |items: &[String]| items.iter().map(|item| desk.cleaned(item)).collect();
    let document = Session {
        title: Some(title.clone()),
        summary: desk.cleaned(&session.summary),
        decisions: clean(&session.decisions),
        challenges: clean(&session.challenges),
        code_blocks: if end.is_some() { Vec::new() } else { vec![block.clone()] },
        ..Session::default()
    };
    let source = format!(
        "\n## Source\n\nThe session `{}` of {project}, block {} of its code.\n",
        from.session, from.block
    );
    let language = Some(block.language.clone()).filter(|language| !language.is_empty());
    let about = Meta {
        category: Some(id.category().to_owned()),
        language,
        criteria: *criteria,
        reuse_count: Some(0),
        verified: Some(is_verified(0)),
        ..Meta::default()
    };
    let new = |end: &str, text: String| File {
        name: format!("{}{end}", id.short()),
        bytes: text.into_bytes(),
        mode: FileMode::Regular,
    };
    let mut files = vec![new(".md", render(&document) + &source)];
    files.extend(end.map(|end| new(end, format!("{}\n", block.code))));
    files.push(new("-SKILL.md", meta::create(&title, &about)));
    let surveyed = survey(files.iter().map(|file| file.name.as_str()));
    if !surveyed.found.iter().any(|found| found.id(None).is_ok_and(|found| found == *id)) {
        let message =
            format!("name: no pattern can be called {}: files of that name are something else", id.name());
        return Err(Fault::invalid(message));
    }
    check_secrets(desk, &files)?;
    let place = |end: &str| target.place(&format!("{}{end}", id.short()));
    target.check_free(looked, id, &place(".md")?)?;
    let others = ENDS
        .into_iter()
        .filter(|end| !files.iter().any(|file| file.name.strip_prefix(id.short()) == Some(*end)));
    let mut others = others.map(place).collect::<Result<Vec<RelPath>, _>>()?;
    // A skill's folder would be the same pattern.
    others.push(place("/SKILL.md")?);
    let files = put(desk, target, files, &others)?;
    Ok(Done { id: id.clone(), quality: Some(quality), files, uses: None })
}

/// The project and the session, read through the view, so that the plan holds only while it is as it was.
fn session(desk: &ChangeDesk, from: &From) -> Result<(String, Session), Fault> {
    let home = desk.home();
    if !home.has_root() {
        return Err(Fault::new(Code::NoRoot, "from: there is no root to look for sessions in")
            .suggest("Start the server in a git repository, or name a directory with `--root PATH`."));
    }
    let project = project(home, Some(from.project.as_str()))?;
    let id = from.session.clone();
    let kept = kept(home, None)?;
    let files = kept.get(&id)?;
    let place = kept.place(main_of(files))?;
    let bytes = home.view().read(&place)?;
    let most = match &files.main {
        Main::Markdown(_) => MAX_DOCUMENT,
        Main::Pack(_) => MAX_PACK,
    };
    if bytes.len() > most {
        return Err(Fault::new(Code::TooLarge, format!("{place} is larger than {} KiB", most >> 10))
            .about(place.as_str()));
    }
    Ok((project, kept.session(files, &String::from_utf8_lossy(&bytes))?))
}

/// `rls-policy` as a heading: `Rls policy`.
fn title(name: &str) -> String {
    let words = name.replace(['-', '_'], " ");
    let mut letters = words.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// A criterion as the argument calls it.
const fn field(criterion: Criterion) -> &'static str {
    match criterion {
        Criterion::Correctness => "correctness",
        Criterion::Reusability => "reusability",
        Criterion::Documentation => "documentation",
        Criterion::TestCoverage => "testCoverage",
        Criterion::Performance => "performance",
    }
}
