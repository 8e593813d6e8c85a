//! Which files hold the tokens that a caller names.

use contract::{Code, Fault, RelPath};
use design_tokens::Loader;
use exec::view::{self, View};
use serde_json::Value;

/// The files that `source` means: a folder's resolver document where it has exactly one, else all its token files.
pub(super) fn sources(source: &str, view: &View) -> Result<Vec<String>, Fault> {
    let named = |paths: Vec<RelPath>| paths.iter().map(ToString::to_string).collect::<Vec<_>>();
    if source.split('/').any(view::is_pattern) {
        let found = named(view.glob(source)?);
        return if found.is_empty() { Err(nothing(source)) } else { Ok(found) };
    }
    let path = view::path_argument(source)?;
    match view.state(&path)? {
        contract::State::Directory { .. } => {
            if has_themes(&path, view)? {
                return Ok(vec![format!("{path}/$themes.json")]);
            }
            let resolvers = view.glob(&format!("{path}/*.resolver.json"))?;
            if let [one] = resolvers.as_slice() {
                return Ok(vec![one.to_string()]);
            }
            let mut found = named(view.glob(&format!("{path}/**/*.{{json,json5,jsonc,tokens}}"))?);
            // Tokens Studio's index files hold no tokens.
            found.retain(|f| {
                !f.rsplit('/').next().is_some_and(|n| matches!(n, "$themes.json" | "$metadata.json"))
            });
            if found.is_empty() { Err(nothing(source)) } else { Ok(found) }
        }
        contract::State::Absent => Err(nothing(source)),
        _ => Ok(vec![path.to_string()]),
    }
}

/// Whether the folder is Tokens Studio's, with themes that say which of its files count. An empty list says nothing.
fn has_themes(folder: &RelPath, view: &View) -> Result<bool, Fault> {
    let Ok(path) = folder.join("$themes.json") else { return Ok(false) };
    let bytes = view.read_optional(&path)?.unwrap_or_default();
    Ok(serde_json::from_slice::<Vec<Value>>(&bytes).is_ok_and(|themes| !themes.is_empty()))
}

fn nothing(source: &str) -> Fault {
    Fault::new(Code::NotFound, format!("{source}: no token file there"))
        .about(source)
        .suggest("Name a file, a folder or a glob relative to the root, such as `tokens/**/*.json`.")
}

/// Reads files that others name through what the tool sees.
pub(super) struct FromView<'v>(pub(super) &'v View);

impl Loader for FromView<'_> {
    fn load(&self, name: &str) -> Result<String, String> {
        let path = view::path_argument(name).map_err(|f| f.message)?;
        self.0.read_text(&path).map_err(|f| f.message)
    }
}
