//! What a plugin's call costs: a declarative plugin beside our own tool that runs the same program in the same world, and a
//! component, first and warm.

use std::fs;
use std::time::Instant;

use serde_json::{Value, json};

use super::{Bench, Spoken, median, millis};
use crate::sh::{Done, output, target, top};

/// The same program with the same arguments as `make_build` of the target `nothing`.
const PLUGIN: &str = r#"
schema = 1

[plugin]
name = "bench-make"
version = "1.0.0"
description = "Make, as a plugin."
required-commands = ["make"]

[[tool]]
name = "nothing"
title = "Nothing"
description = "Makes the target that does nothing."
kind = "read"
program = "make"
args = ["nothing"]
output = { parser = "text" }
example = [{ input = {}, argv = ["nothing"] }]
"#;

impl Bench {
    /// Calls of plugins.
    pub(super) fn plugins(&self) -> Done {
        let made = self.components()?;
        self.place("plugins", "")?;
        let place = self.scratch.join("plugins");
        let own = place.join("config/gatewright/plugins");
        fs::create_dir_all(&own).map_err(|e| e.to_string())?;
        let write =
            |path: std::path::PathBuf, bytes: &[u8]| fs::write(path, bytes).map_err(|e| e.to_string());
        write(own.join("bench-make.toml"), PLUGIN.as_bytes())?;
        write(place.join("root/Makefile"), b"nothing:\n\t@true\n")?;
        write(place.join("root/words.md"), b"one two three\n")?;
        self.approve("bench-make")?;
        if let Some((manifest, component)) = &made {
            write(own.join("word-count.toml"), manifest.as_bytes())?;
            write(own.join("word-count.wasm"), component)?;
            self.approve("word-count")?;
        }
        let count = self.size.rounds * 4;
        println!("\nplugins: the first call of a server, and the median of {count} more, in ms");
        println!("{:<44} {:>9} {:>9}", "", "first", "warm");
        let mut own_tool = None;
        for (what, tool, arguments) in [
            ("`make nothing` by make_build", "make_build", json!({ "target": "nothing" })),
            ("`make nothing` by a declarative plugin", "bench_make_nothing", json!({})),
            ("a component that reads one file", "word_count_count", json!({ "files": "*.md" })),
        ] {
            if tool == "word_count_count" && made.is_none() {
                println!(
                    "{what:<44} not measured: there is no target/plugins/word-count.wasm (`cargo xtask guests`)"
                );
                continue;
            }
            let mut server = Spoken::start(self.command("plugins").arg("serve"))?;
            let first = timed(&mut server, tool, &arguments)?;
            let warm: Done<Vec<f64>> = (0..count).map(|_| timed(&mut server, tool, &arguments)).collect();
            let warm = median(warm?);
            let added = own_tool.map(|own: f64| format!("   {:+.1} beside make_build", warm - own));
            println!(
                "{what:<44} {first:>9.1} {warm:>9.1}{}",
                added.filter(|_| tool != "word_count_count").unwrap_or_default()
            );
            own_tool.get_or_insert(warm);
        }
        Ok(())
    }

    /// The first word shows a plugin, the second takes it as it was shown.
    fn approve(&self, name: &str) -> Done {
        let named = format!("plugin:{name}");
        let shown = self.command("plugins").args(["approvals", "accept", &named]).output();
        shown.map_err(|e| e.to_string())?;
        self.said("plugins", &["approvals", "accept", &named]).map(drop)
    }

    /// The example's component and its file, where it was built.
    fn components(&self) -> Done<Option<(String, Vec<u8>)>> {
        let Ok(component) = fs::read(target().join("plugins/word-count.wasm")) else { return Ok(None) };
        let manifest = fs::read_to_string(top().join("examples/plugins/word-count/word-count.toml"));
        let manifest = manifest.map_err(|e| e.to_string())?;
        let file = self.scratch.join("word-count.wasm");
        fs::create_dir_all(&self.scratch)
            .and_then(|()| fs::write(&file, &component))
            .map_err(|e| e.to_string())?;
        let digest = output("sha256sum", &[&file.display().to_string()])?;
        let digest = digest.split_whitespace().next().unwrap_or_default().to_owned();
        Ok(Some((manifest.replace(&"0".repeat(64), &digest), component)))
    }
}

fn timed(server: &mut Spoken, tool: &str, arguments: &Value) -> Done<f64> {
    let began = Instant::now();
    let answer = server.ask("tools/call", &json!({ "name": tool, "arguments": arguments }))?;
    let time = millis(began.elapsed());
    let is_well = answer.pointer("/result/structuredContent/success") == Some(&json!(true));
    if is_well { Ok(time) } else { Err(format!("{tool}: {answer}")) }
}
