//! `gatewright tools`.

use std::process::ExitCode;

use contract::Spec;
use kit::menu::{self, cost};
use serde_json::{Value, json};

use super::{CommandResult, print_json};
use crate::cli::{Format, ToolsArgs};
use crate::compose;
use crate::families;
use crate::roots::Asked;
use crate::term::{BOLD, DIM};

pub fn run(asked: &Asked, args: &ToolsArgs) -> CommandResult {
    let registry = compose::registry_with_approved(asked.first().ok().flatten().as_deref())?;
    if let Some(name) = &args.name {
        let tool = registry.resolve(name).ok_or_else(|| registry.unknown(name))?;
        let (spec, examples) = (tool.spec(), tool.tool.examples());
        if args.output == Format::Json {
            return print_json(&json!({ "tool": spec, "examples": examples }));
        }
        show(&spec, &examples);
        return Ok(ExitCode::SUCCESS);
    }
    if args.output == Format::Json {
        let tools: Vec<Value> =
            registry.iter().map(|t| json!({ "tool": t.spec(), "tokens": cost(t) })).collect();
        return print_json(&json!(tools));
    }
    for tool in registry.iter() {
        let head = tool.head();
        if args.tokens {
            say!("{:>6}  {}", cost(tool), head.name);
        } else {
            say!("{BOLD}{:<24}{BOLD:#} {} {DIM}[{}]{DIM:#}", head.name.as_str(), head.title, head.toolset);
        }
    }
    if args.tokens {
        let total: u64 = registry.iter().map(|t| cost(t)).sum();
        let root = asked.first()?;
        let detected = menu::detected(families::ALL, root.as_deref());
        let listed = menu::chosen(&registry, tools_front::FRONT.0, &detected);
        let menu: u64 = listed.iter().map(|t| cost(t)).sum();
        say!("{total:>6}  in all");
        say!(
            "{menu:>6}  on the menu that `serve` lists here: {} tools (at most {}, {} tokens)",
            listed.len(),
            menu::MAX_TOOLS,
            menu::MAX_TOKENS
        );
    }
    Ok(ExitCode::SUCCESS)
}

fn show(spec: &Spec, examples: &[Value]) {
    say!("{BOLD}{}{BOLD:#} — {}\n\n{}\n", spec.head.name, spec.head.title, spec.head.description);
    let required = spec.input_schema.get("required").and_then(Value::as_array).cloned().unwrap_or_default();
    say!("{BOLD}Arguments{BOLD:#}");
    for (name, schema) in spec.input_schema.get("properties").and_then(Value::as_object).into_iter().flatten()
    {
        let kind = schema.get("type").and_then(Value::as_str).unwrap_or("any");
        let words = schema.get("enum").or_else(|| schema.pointer("/items/enum")).map(ToString::to_string);
        let must = if required.contains(&json!(name)) { ", required" } else { "" };
        let about = schema.get("description").and_then(Value::as_str).unwrap_or_default();
        say!("  --{name} ({kind}{must}) {about} {DIM}{}{DIM:#}", words.unwrap_or_default());
    }
    say!("\n{BOLD}Examples{BOLD:#}");
    for example in examples {
        say!("  gatewright call {} --json '{example}'", spec.head.name);
    }
}
