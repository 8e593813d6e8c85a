//! The plugins that are a part of this program. What they say is pinned for each release, as our own tools are.

/// By their files' names: the text of each.
pub const ALL: [(&str, &str); 1] = [("git-spice", include_str!("../../plugins/git-spice.toml"))];

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::path::Path;

    use contract::Digest;
    use plugins::Plugin;

    use super::*;

    #[test]
    #[expect(clippy::disallowed_methods, reason = "a test reads what is pinned")]
    fn what_is_built_in_reads_and_is_as_it_is_pinned_for_this_release() {
        let file = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join(format!("releases/{}.plugins.json", env!("CARGO_PKG_VERSION")));
        let mut now: BTreeMap<&str, BTreeMap<String, String>> = BTreeMap::new();
        for (name, text) in ALL {
            let plugin = Plugin::read(text, env!("CARGO_PKG_VERSION")).unwrap();
            assert_eq!(plugin.name(), name);
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
