//! What is read by URI: patterns and skills (`pattern://category/name`, with a library in front where another one is meant).

use contract::{Code, Fault};
use kit::ReadDesk;
use kit::resources::{Reading, Shelf, Template};
use library::PatternId;
use search::{Filters, Mode, Order, Query};

use crate::libraries::{service, used};
use crate::stock::{Again, Unkept, read};

/// Most patterns that are listed: the best ones.
const LISTED: usize = 200;

/// Patterns of the libraries that a call may look into.
#[derive(Debug)]
pub(crate) struct Patterns;

fn missing() -> Fault {
    Fault::new(Code::NotFound, "there is none of that name")
}

impl Shelf for Patterns {
    fn template(&self) -> Template {
        Template {
            scheme: "pattern",
            title: "A pattern",
            description: "A pattern or skill of the libraries by its id, its documentation whole: read it when find_patterns names it.",
            mime: "text/markdown",
            has_parts: true,
        }
    }

    fn tool(&self) -> &'static str {
        "load_skill"
    }

    fn list(&self, desk: ReadDesk) -> Reading<Vec<(String, String, String)>> {
        Box::pin(async move {
            let (libraries, used) = (service(&desk)?, used(&desk).await?);
            desk.blocking(move |desk| {
                let looked = libraries.look(desk, &used, Again::Changed)?;
                // No word is asked for: all of them answer, the best first.
                let query = Query::parse("", Mode::Fast, Filters::default())
                    .map_err(|error| Fault::internal(error.to_string()))?;
                let found = match looked.search(&query, Order::Quality, LISTED) {
                    Err(Unkept::Gone) => return Ok(Vec::new()),
                    Err(Unkept::Fault(fault)) => return Err(fault),
                    Ok(found) => found,
                };
                let mut all = Vec::new();
                for hit in found.hits {
                    let Some(opened) = looked.libraries.get(hit.library) else { continue };
                    // What is part of the program is listed as skills.
                    if opened.library.is_built_in() {
                        continue;
                    }
                    let Some(item) = opened.items(std::slice::from_ref(&hit.id))?.pop() else { continue };
                    let is_first = looked.owners(&hit.id).first() == Some(&hit.library);
                    let name =
                        if is_first { hit.id } else { item.id.within(&opened.library.name).to_string() };
                    let modified = item.stamps.iter().map(|(_, stamp)| stamp.modified).max();
                    let modified = modified.and_then(|at| jiff::Timestamp::from_nanosecond(at).ok());
                    let modified = modified.unwrap_or(jiff::Timestamp::UNIX_EPOCH);
                    all.push((name, item.description.clone(), modified.to_string()));
                }
                Ok(all)
            })
            .await
        })
    }

    fn read(&self, desk: ReadDesk, id: String) -> Reading<String> {
        Box::pin(async move {
            let id = PatternId::new(&id).map_err(|_| missing())?;
            let (libraries, used) = (service(&desk)?, used(&desk).await?);
            desk.blocking(move |desk| {
                let (library, item) = libraries.pattern(desk, &used, &id).map_err(|_| missing())?;
                let (_, texts) = read(&library, &item.found, item.base.as_ref())?;
                Ok(texts.document)
            })
            .await
        })
    }
}
