//! What a component imports, held to what was declared, so that whoever wrote it reads a name and not a linker's error.

use wasmtime::Engine;
use wasmtime::component::Component;
use wasmtime::component::types::ComponentItem;

use crate::WORLD;
use crate::limits::Grants;
use crate::talk::Kind;

/// The interface of the host, without its version.
const HOST: &str = "gatewright:plugin/host";

/// The interface of the host, as components import it.
pub(crate) fn host() -> String {
    format!("{HOST}@{WORLD}")
}

/// Whether a component imports nothing but what it is given. Types come along with the functions that use them.
pub(crate) fn check(engine: &Engine, component: &Component, grants: Grants) -> Result<(), (Kind, String)> {
    let own = host();
    for (name, item) in component.component_type().imports(engine) {
        match item.ty {
            ComponentItem::Type(_) | ComponentItem::Resource(_) if !name.contains(':') => {}
            ComponentItem::ComponentInstance(instance) if name == own => {
                for (function, item) in instance.exports(engine) {
                    if matches!(item.ty, ComponentItem::Type(_)) {
                        continue;
                    }
                    match grants.of(function) {
                        Some((true, _)) => {}
                        Some((false, declaration)) => {
                            let message = format!(
                                "the component imports `{function}`, and its manifest does not declare `{declaration}`: declare it \
                                 in `[component]`, or build the component without it"
                            );
                            return Err((Kind::Import, message));
                        }
                        None => {
                            return Err((
                                Kind::Import,
                                format!(
                                    "the component imports `{function}` of {own}, which has no such function"
                                ),
                            ));
                        }
                    }
                }
            }
            _ if name == HOST || name.strip_prefix(HOST).is_some_and(|rest| rest.starts_with('@')) => {
                let version = name.split_once('@').map_or("no version", |(_, version)| version);
                let message = format!(
                    "the component is built for version {version} of the world gatewright:plugin, and this gatewright offers {WORLD}: \
                     build it with that version's `plugin.wit`"
                );
                return Err((Kind::World, message));
            }
            _ => {
                let advice = if name.starts_with("wasi:") {
                    ": there is no WASI here; build for wasm32-unknown-unknown, and use what `gatewright:plugin/host` offers"
                } else {
                    ": a plugin imports nothing but `gatewright:plugin/host`"
                };
                return Err((Kind::Import, format!("the component imports `{name}`{advice}")));
            }
        }
    }
    Ok(())
}
