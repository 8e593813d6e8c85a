//! Changing a library: which one may be changed, what is taken into it, and how files come to stand in it. All of it is drafted, never done.

pub(crate) mod counted;
pub(crate) mod extracted;
pub(crate) mod files;
pub(crate) mod moved;

use contract::{Code, Fault, RelPath};
use kit::ChangeDesk;
use library::quality::{Criteria, Refused, Score, admit, contradiction};
use library::{LibraryName, PatternId};

use crate::libraries::{Libraries, Looked, PROJECT};

/// Where a repository's own patterns are put.
const OF_PROJECT: &str = ".shared-patterns";

/// The library that a call changes.
#[derive(Debug, Clone)]
pub(crate) struct Target {
    pub(crate) name: LibraryName,
    /// Its folder, from the root that is changed: the root itself where there is none.
    base: Option<RelPath>,
}

/// A pattern as it stands once the plan is applied.
#[derive(Debug, Clone)]
pub(crate) struct Done {
    pub(crate) id: PatternId,
    pub(crate) quality: Option<Score>,
    /// Its files that the plan is about, from the root that is changed.
    pub(crate) files: Vec<RelPath>,
    /// How often it was used, where that is written.
    pub(crate) uses: Option<u64>,
}

impl Target {
    /// The library `named`, or the call's own; refused with what to do where it may not be changed.
    pub(crate) fn of(desk: &ChangeDesk, libraries: &Libraries, named: Option<&str>) -> Result<Self, Fault> {
        let internal = |why: library::IdError| Fault::internal(why.to_string());
        let Some(named) = named else {
            let base = RelPath::new(OF_PROJECT).map_err(|why| Fault::internal(why.to_string()))?;
            return Ok(Self { name: LibraryName::new(PROJECT).map_err(internal)?, base: Some(base) });
        };
        if !desk.is_in_library() {
            return Err(refused(desk, libraries, named));
        }
        if !desk.view().root().may_be_written() {
            let message = format!("library: the folder of {named} is read-only for whoever runs gatewright");
            return Err(Fault::new(Code::Forbidden, message).suggest(
                "Make it writable, or name another library; `gatewright library list` says where they are.",
            ));
        }
        Ok(Self { name: LibraryName::new(named).map_err(internal)?, base: None })
    }

    /// A file of the library, from the root.
    pub(crate) fn place(&self, file: &str) -> Result<RelPath, Fault> {
        let path = self.base.as_ref().map_or_else(|| RelPath::new(file), |base| base.join(file));
        path.map_err(|why| Fault::new(Code::PathNotAllowed, format!("{file}: {why}")))
    }

    /// Fails where the library has this pattern in other files than `main`.
    fn check_free(&self, looked: &Looked, id: &PatternId, main: &RelPath) -> Result<(), Fault> {
        let own = looked.libraries.iter().find(|opened| opened.library.name == self.name);
        let items = own.map(|own| own.items(&[id.short().to_owned()])).transpose()?;
        let Some(item) = items.and_then(|mut items| items.pop()) else { return Ok(()) };
        let there = item.place(&item.found.main())?;
        if there == *main { Ok(()) } else { Err(stands(self, &[there])) }
    }
}

/// Why a library that was named is not the one that is changed.
fn refused(desk: &ChangeDesk, libraries: &Libraries, named: &str) -> Fault {
    let open = || libraries.places().iter().filter(|place| place.is_open_to(desk.principal()));
    let Some(place) = open().find(|place| place.name.as_str() == named) else {
        let mut there: Vec<&str> = open().map(|place| place.name.as_str()).collect();
        there.push(PROJECT);
        let message = format!(
            "library: there is no library {} here; there are: {}",
            contract::text::visible(named),
            there.join(", ")
        );
        return Fault::new(Code::NotFound, message);
    };
    let is_own = named == USER;
    if !place.write {
        let line = if is_own {
            "`[library] user-write = true`".to_owned()
        } else {
            format!("`[library.team.{named}] write = true`")
        };
        return Fault::new(Code::Forbidden, format!("library: tools may not change the library {named}"))
            .suggest(format!("A person can grant it in their own configuration: {line}."));
    }
    if !place.path.is_dir() {
        let folder = if is_own {
            "`~/.shared-patterns`, or the one that `[library] user` names".to_owned()
        } else {
            format!("the one that `[library.team.{named}] path` names")
        };
        return Fault::new(Code::NotFound, format!("library: the library {named} has no folder yet"))
            .suggest(format!("Make it ({folder}) and call again."));
    }
    Fault::new(Code::FilesystemError, format!("library: the library {named} cannot be opened"))
        .suggest("The server's log says why; `gatewright doctor` looks at the machine.")
}

/// The user's own library.
pub(crate) const USER: &str = "user";

/// Something else stands where a pattern would be put.
fn stands(target: &Target, there: &[RelPath]) -> Fault {
    let names: Vec<&str> = there.iter().map(RelPath::as_str).collect();
    let message =
        format!("the library {} has it already, with other content: {}", target.name, names.join(", "));
    let fault = Fault::invalid(message).suggest("Nothing is put over it: compare the two, then change the one that stands there, or take another name.");
    names.into_iter().fold(fault, Fault::about)
}

/// The score of what is to be taken; `forbidden` where it is less than the library takes.
fn admitted(id: &PatternId, stated: Option<Score>, criteria: &Criteria) -> Result<Score, Fault> {
    if let Some((stated, mean)) = contradiction(stated, criteria) {
        let message = format!("{id}: it states {stated}, and its criteria make {mean}");
        return Err(Fault::new(Code::InvalidSource, message)
            .suggest("Correct one of the two: `write_back` with `criteria` sets both."));
    }
    admit(stated, criteria).map_err(|refused| {
        let fault = Fault::new(Code::Forbidden, format!("{id}: {refused}"));
        match refused {
            Refused::TooLow { .. } => fault.suggest(
                "Make it better first; what is better is scored anew by `write_back` with `criteria`.",
            ),
            Refused::NotScored => fault.suggest("`write_back` with `criteria` scores it."),
        }
    })
}

/// Text of a file that must be text.
fn utf8(path: &RelPath, bytes: &[u8]) -> Result<String, Fault> {
    let text = std::str::from_utf8(bytes).map(str::to_owned);
    text.map_err(|_| {
        Fault::new(Code::InvalidSource, format!("{path}: it is not UTF-8 text"))
            .about(path.as_str())
            .suggest("Save it as UTF-8.")
    })
}
