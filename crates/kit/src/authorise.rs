//! What a caller may call: everything that is switched on for the local user, what its scopes grant for a token.

use contract::{Code, Fault, Principal};
use policy::{Right, Scope};

use crate::call::Call;
use crate::registry::Registered;
use crate::wish;

/// The local user may call everything that is switched on. A token must grant what the call needs.
pub(crate) fn authorise(tool: &Registered, call: &Call) -> Result<(), Fault> {
    let Some(scope) = lacking(tool, call) else { return Ok(()) };
    Err(Fault::new(Code::Forbidden, format!("{}: the token lacks the scope {scope}", tool.spec().name))
        .suggest(format!("Ask for a token with the scope {scope}, then call again.")))
}

/// The scope that `call` needs and its principal was not granted.
pub(crate) fn lacking(tool: &Registered, call: &Call) -> Option<Scope> {
    let Principal::Token { scopes, .. } = &call.principal else { return None };
    let spec = tool.spec();
    let right = Right::needed(spec.kind, wish::performs(tool, &call.arguments));
    Some(Scope::new(&spec.toolset, right)).filter(|scope| !scope.is_granted(scopes))
}
