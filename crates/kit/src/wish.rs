//! What a caller asks for besides the tool's own arguments, taken out of them once they fit the schema.

use audit::Ledger;
use contract::{Digest, Fault, PlanId, canonical, text};
use serde_json::Value;

use crate::call::Call;
use crate::house::ROOT;
use crate::paging::{self, Of, Page};
use crate::registry::Registered;

/// What the caller asked for.
#[derive(Debug)]
pub(crate) struct Wish {
    /// Perform it.
    pub(crate) apply: bool,
    /// Exactly this plan.
    pub(crate) plan: Option<PlanId>,
    /// This part of the list.
    pub(crate) page: Page,
    /// Most entries that the caller wants, where it said so.
    pub(crate) wanted: Option<u64>,
    /// The digest of the tool's own arguments.
    pub(crate) arguments: Digest,
}

/// Whether a call of `tool` with these arguments asks to perform. It holds for arguments that were not checked yet, too.
pub(crate) fn performs(tool: &Registered, arguments: &Value) -> bool {
    let asked = |key: &str| arguments.get(key);
    tool.tool.always_performs()
        || tool.tool.is_rehearsed()
            && asked("apply").and_then(Value::as_bool).unwrap_or_else(|| asked("plan").is_some())
}

/// Checks the arguments against the tool's schema and takes out what is not the tool's own.
pub(crate) fn validate(tool: &Registered, call: &Call, ledger: &Ledger) -> Result<(Value, Wish), Fault> {
    let name = &tool.head().name;
    let errors = tool.misfits(&call.arguments, 8)?;
    if !errors.is_empty() {
        let fault = Fault::invalid(format!("{name}: {}", errors.join("; ")));
        let meant = tool.meant(&call.arguments).take(3);
        let fault = meant.fold(fault, |fault, (said, meant)| {
            fault.suggest(format!("Did you mean `{meant}` where it says `{}`?", text::spelled_name(said)))
        });
        return Err(fault.suggest(format!(
            "The input schema of {name} says what it takes; `gatewright tools {name}` shows it with examples."
        )));
    }
    let mut own = call.arguments.as_object().cloned().unwrap_or_default();
    let mut wish =
        Wish { apply: false, plan: None, page: Page::default(), wanted: None, arguments: Digest::ZERO };
    if tool.names_root() {
        // Which root was meant is settled by now: it chose the engine.
        own.remove(ROOT);
    }
    if tool.tool.is_rehearsed() {
        let apply = own.remove("apply").and_then(|v| v.as_bool());
        if let Some(plan) = own.remove("plan") {
            let text = plan.as_str().unwrap_or_default();
            wish.plan = Some(text.parse().map_err(|e| Fault::invalid(format!("plan: {e}")))?);
        }
        // Naming a reviewed plan asks for it, unless `apply` says otherwise.
        wish.apply = apply.unwrap_or(wish.plan.is_some());
        if wish.apply && own.get("dryRun") == Some(&Value::Bool(true)) {
            return Err(Fault::invalid(format!(
                "{name}: `dryRun` and `apply` ask for the contrary of each other"
            ))
            .suggest("Leave one of them out."));
        }
    }
    let asked = tool.tool.list().map(|_| (own.remove("limit"), own.remove("cursor")));
    wish.arguments = Digest::of(&canonical::of_object(&own));
    if let Some((limit, cursor)) = asked {
        wish.wanted = limit.and_then(|v| v.as_u64());
        let limit = wish.wanted.unwrap_or_else(|| tool.tool.page().into());
        let of = Of { tool: name.as_str(), arguments: wish.arguments, owner: &call.principal };
        wish.page = page(limit, cursor, of, ledger)?;
    }
    Ok((Value::Object(own), wish))
}

fn page(limit: u64, cursor: Option<Value>, of: Of<'_>, ledger: &Ledger) -> Result<Page, Fault> {
    let offset = match cursor.as_ref().and_then(Value::as_str) {
        None => 0,
        Some(cursor) => paging::resume(ledger, cursor, of)?,
    };
    Ok(Page { offset, limit })
}
