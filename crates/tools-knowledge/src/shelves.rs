//! What is read by URI: patterns and skills (`pattern://category/name`, with a library in front where another one is meant).

use contract::{Code, Fault};
use kit::ReadDesk;
use kit::resources::{Reading, Shelf, Template};
use library::PatternId;

use crate::libraries::{service, used};
use crate::stock::{Again, read};

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
                let held = looked.hold();
                let mut all = Vec::new();
                for (library, stock) in held.iter() {
                    for (id, item) in &stock.items {
                        let is_first =
                            held.resolve(&item.id).is_ok_and(|(first, _)| first.name == library.name);
                        let name =
                            if is_first { id.clone() } else { item.id.within(&library.name).to_string() };
                        all.push((item.quality, name, item.description.clone()));
                    }
                }
                all.sort_by(|a, b| b.0.cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
                all.truncate(LISTED);
                // They are as they are now: no date says more of one than of another.
                let now = jiff::Timestamp::now().to_string();
                Ok(all.into_iter().map(|(_, name, description)| (name, description, now.clone())).collect())
            })
            .await
        })
    }

    fn read(&self, desk: ReadDesk, id: String) -> Reading<String> {
        Box::pin(async move {
            let id = PatternId::new(&id).map_err(|_| missing())?;
            let (libraries, used) = (service(&desk)?, used(&desk).await?);
            desk.blocking(move |desk| {
                let looked = libraries.look(desk, &used, Again::Looked)?;
                let held = looked.hold();
                let (library, item) = held.resolve(&id).map_err(|_| missing())?;
                let (_, texts) = read(library, &item.found, item.base.as_ref())?;
                Ok(texts.document)
            })
            .await
        })
    }
}
