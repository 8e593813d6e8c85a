//! What a caller may call: everything that is switched on for the local user, what its scopes grant for a token.

use contract::{Code, Fault, Principal};
use policy::{Right, Scope, scope};

use crate::call::Call;
use crate::registry::{Registered, Registry};
use crate::wish;

/// The local user may call everything that is switched on. A token must grant what the call needs.
pub(crate) fn authorise(tool: &Registered, call: &Call, registry: &Registry) -> Result<(), Fault> {
    let Some(scope) = lacking(tool, call, registry) else { return Ok(()) };
    Err(Fault::new(Code::Forbidden, format!("{}: the token lacks the scope {scope}", tool.head().name))
        .suggest(format!("Ask for a token with the scope {scope}, then call again.")))
}

/// Looking at what is one's own takes a token that grants anything at all.
pub(crate) fn authorise_reading(owner: &Principal, registry: &Registry) -> Result<(), Fault> {
    let Some(scope) = lacking_for_reading(owner, registry) else { return Ok(()) };
    Err(Fault::new(Code::Forbidden, "the token grants nothing here")
        .suggest(format!("Ask for a token with the scope {scope}.")))
}

/// The scope that `call` needs and its principal was not granted, as a client can ask for it.
pub(crate) fn lacking(tool: &Registered, call: &Call, registry: &Registry) -> Option<Scope> {
    let head = tool.head();
    if head.toolset == scope::FRONT {
        // It does nothing of its own: what it calls is judged by itself.
        return lacking_for_reading(&call.principal, registry);
    }
    let right = Right::needed(head.kind, wish::performs(tool, &call.arguments));
    let needed = Scope::new(&head.toolset, right);
    (!is_granted(&needed, &call.principal, registry)).then_some(needed)
}

/// The scope to ask for, where a principal was granted nothing here.
pub(crate) fn lacking_for_reading(owner: &Principal, registry: &Registry) -> Option<Scope> {
    let front = Scope::new(scope::FRONT, Right::Read);
    (!is_granted(&front, owner, registry)).then(|| Scope::new(scope::EVERY, Right::Read))
}

/// Scopes of other products that look like ours grant nothing: only those of toolsets that are offered count.
fn is_granted(needed: &Scope, principal: &Principal, registry: &Registry) -> bool {
    let Principal::Token { scopes, .. } = principal else { return true };
    let ours = |text: &&String| {
        let toolset = text.split_once(':').map(|(toolset, _)| toolset);
        toolset.is_some_and(|toolset| toolset == scope::EVERY || registry.has_toolset(toolset))
    };
    let ours: Vec<String> = scopes.iter().filter(ours).cloned().collect();
    needed.is_granted(&ours)
}
