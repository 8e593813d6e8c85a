//! The plugins that are a part of this program. What they say is pinned for each release, as our own tools are.

use std::borrow::Cow;
use std::sync::{Arc, LazyLock};

use contract::{Annotations, Head, Kind, ToolName};
use exec::Root;
use plugins::Plugin;
use serde_json::Map;

use super::{Hosted, Origin};

/// One of them.
#[derive(Debug)]
pub struct BuiltIn {
    /// Its name, and its file's.
    pub name: &'static str,
    /// What its text says in `required-commands`: without one of them nobody needs the rest of it.
    pub programs: &'static [&'static str],
    /// Its file.
    pub text: &'static str,
}

/// All of them. Each is enabled where the user does not say otherwise.
pub const ALL: [BuiltIn; 1] = [BuiltIn {
    name: "git-spice",
    programs: &["git-spice"],
    text: include_str!("../../plugins/git-spice.toml"),
}];

type Read = Box<dyn FnOnce() -> Option<Hosted> + Send>;

/// One that is read when somebody asks for more than its name.
#[derive(Clone)]
pub struct Unread {
    name: &'static str,
    hosted: Arc<LazyLock<Option<Hosted>, Read>>,
}

impl std::fmt::Debug for Unread {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Unread").field("name", &self.name).finish_non_exhaustive()
    }
}

impl Unread {
    /// `built_in` for `root`, as it is where nothing is configured for it.
    pub fn new(built_in: &'static BuiltIn, root: Option<&Root>) -> Self {
        let root = root.map(|root| root.path().to_owned());
        let read = move || {
            let plugin = Plugin::pinned(built_in.text, env!("CARGO_PKG_VERSION")).ok()?;
            let settings = plugin.configured(&Map::new()).ok()?;
            Some(Hosted::new(plugin, Origin::BuiltIn, settings, false, root))
        };
        Self { name: built_in.name, hosted: Arc::new(LazyLock::new(Box::new(read))) }
    }

    /// The toolset of its tools.
    pub fn toolset(&self) -> String {
        self.name.replace('-', "_")
    }

    /// Whether its tools are wanted: they differ in nothing that decides it.
    pub fn are_wanted(&self, wanted: impl Fn(&Head) -> bool) -> bool {
        let Ok(name) = ToolName::new(self.toolset()) else { return false };
        let annotations = Annotations {
            read_only_hint: false,
            destructive_hint: true,
            idempotent_hint: false,
            open_world_hint: true,
        };
        wanted(&Head {
            name,
            title: Cow::default(),
            description: Cow::default(),
            kind: Kind::Foreign,
            toolset: self.toolset().into(),
            aliases: &[],
            annotations,
        })
    }

    /// What its text says. A test reads every one of them: there is nothing that does not read.
    pub fn hosted(&self) -> Option<&Hosted> {
        LazyLock::force(&self.hosted).as_ref()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::path::Path;

    use contract::Digest;

    use super::*;

    #[test]
    #[expect(clippy::disallowed_methods, reason = "a test reads what is pinned")]
    fn what_is_built_in_reads_and_is_as_it_is_pinned_for_this_release() {
        let file = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join(format!("releases/{}.plugins.json", env!("CARGO_PKG_VERSION")));
        let mut now: BTreeMap<&str, BTreeMap<String, String>> = BTreeMap::new();
        for built_in in &ALL {
            let &BuiltIn { name, programs, text } = built_in;
            let unread = Unread::new(built_in, None);
            for tool in unread.hosted().unwrap().tools() {
                let head = tool.head();
                assert_eq!(*head.toolset, unread.toolset());
                assert!(head.name.as_str().starts_with(&format!("{}_", unread.toolset())), "{}", head.name);
                // They are wanted, or not, like the one that stands for them.
                assert!(unread.are_wanted(|stands| {
                    (stands.kind, &stands.toolset, stands.annotations.read_only_hint)
                        == (head.kind, &head.toolset, head.annotations.read_only_hint)
                }));
            }
            let plugin = Plugin::read(text, env!("CARGO_PKG_VERSION")).unwrap();
            let about = &plugin.file.plugin;
            assert_eq!(plugin.name(), name);
            assert_eq!(about.required_commands, programs, "{name}");
            assert!(about.default_enabled, "{name}");
            assert!(plugin.configured(&Map::new()).is_ok(), "{name}");
            let file = ("file".to_owned(), Digest::of(text.as_bytes()).to_string());
            let tools = plugin.tools.iter().map(|tool| {
                let said =
                    serde_json::json!([tool.file.description, tool.schema(), tool.file.args]).to_string();
                (tool.name.to_string(), Digest::of(said.as_bytes()).to_string())
            });
            now.insert(name, tools.chain([file]).collect());
        }
        let now = serde_json::to_string_pretty(&now).unwrap() + "\n";
        if std::env::var_os("GATEWRIGHT_BLESS").is_some() {
            std::fs::write(&file, &now).unwrap();
        }
        assert_eq!(
            std::fs::read_to_string(&file).unwrap_or_default(),
            now,
            "GATEWRIGHT_BLESS=1 pins it anew"
        );
    }
}
