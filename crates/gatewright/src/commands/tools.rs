//! `gatewright tools`.

use std::process::ExitCode;

use contract::{Fault, Spec, tokens_used};
use serde_json::{Value, json};

use super::{CommandResult, print_json};
use crate::cli::{Format, ToolsArgs};
use crate::compose::{self, Offer};
use crate::term::{BOLD, DIM};

/// What a tool costs on a menu: name, description and input schema.
fn cost(spec: &Spec) -> u64 {
    let shown =
        json!({ "name": spec.name, "description": spec.description, "inputSchema": spec.input_schema });
    tokens_used(shown.to_string().chars().count() as u64)
}

pub fn run(args: &ToolsArgs) -> CommandResult {
    let registry = compose::registry(&Offer::default(), &[])?;
    if let Some(name) = &args.name {
        let tool = registry.resolve(name).ok_or_else(|| {
            let fault = Fault::new(contract::Code::NotFound, format!("there is no tool {name:?}"));
            registry
                .closest(name)
                .map(|c| format!("Did you mean `{c}`?"))
                .into_iter()
                .fold(fault, Fault::suggest)
        })?;
        let (spec, examples) = (tool.spec(), tool.tool.examples());
        if args.output == Format::Json {
            return print_json(&json!({ "tool": spec, "examples": examples }));
        }
        show(spec, examples);
        return Ok(ExitCode::SUCCESS);
    }
    if args.output == Format::Json {
        let tools: Vec<Value> =
            registry.iter().map(|t| json!({ "tool": t.spec(), "tokens": cost(t.spec()) })).collect();
        return print_json(&json!(tools));
    }
    for tool in registry.iter() {
        let spec = tool.spec();
        if args.tokens {
            say!("{:>6}  {}", cost(spec), spec.name);
        } else {
            say!("{BOLD}{:<24}{BOLD:#} {} {DIM}[{}]{DIM:#}", spec.name.as_str(), spec.title, spec.toolset);
        }
    }
    if args.tokens {
        let total: u64 = registry.iter().map(|t| cost(t.spec())).sum();
        say!("{total:>6}  in all");
    }
    Ok(ExitCode::SUCCESS)
}

fn show(spec: &Spec, examples: &[Value]) {
    say!("{BOLD}{}{BOLD:#} — {}\n\n{}\n", spec.name, spec.title, spec.description);
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
        say!("  gatewright call {} --json '{example}'", spec.name);
    }
}
