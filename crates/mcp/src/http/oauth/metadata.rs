//! Where a client learns whom to ask for a token (RFC 9728), and the challenges that lead it there (RFC 6750 §3).

use exec::fetch::checked;
use serde_json::{Value, json};

use super::{Config, ConfigError};

/// Where the metadata of a resource is, before the resource's own path (RFC 9728 §3).
const WELL_KNOWN: &str = "/.well-known/oauth-protected-resource";

/// The scope that a first token should have: looking, everywhere.
const FIRST: &str = "gatewright:read";

/// The metadata of this resource.
#[derive(Debug, Clone)]
pub struct Metadata {
    document: Value,
    url: String,
    path: String,
    host: String,
    scopes: Vec<String>,
}

impl Metadata {
    pub(super) fn new(config: &Config) -> Result<Self, ConfigError> {
        let wrong = |why: String| ConfigError::Url { what: "resource", why };
        let resource = checked(&config.resource).map_err(|e| wrong(e.to_string()))?;
        if resource.query().is_some() {
            return Err(wrong("a resource has no query".into()));
        }
        let plain = |c: char| c.is_ascii_alphanumeric() || "/-._~%".contains(c);
        if !resource.path().chars().all(plain) {
            return Err(wrong(format!(
                "{} has characters in its path that are none of `A-Za-z0-9/-._~`",
                config.resource
            )));
        }
        let issuers: Vec<&str> = config.issuers.iter().map(|i| i.issuer.as_str()).collect();
        let document = json!({
            "resource": config.resource,
            "resource_name": "Gatewright",
            "authorization_servers": issuers,
            "scopes_supported": config.scopes,
            "bearer_methods_supported": ["header"],
        });
        let own = resource.path().trim_end_matches('/');
        let path = format!("{WELL_KNOWN}{own}");
        let url = format!("{}{path}", resource.origin().ascii_serialization());
        let host = resource.host_str().unwrap_or_default().to_owned();
        Ok(Self { document, url, path, host, scopes: config.scopes.clone() })
    }

    /// The name that clients reach this server by.
    pub(in crate::http) fn host(&self) -> &str {
        &self.host
    }

    /// The document.
    pub(in crate::http) fn document(&self) -> &Value {
        &self.document
    }

    /// The paths that it is served at: the resource's own, the one for `/mcp`, and the host's.
    pub(in crate::http) fn paths(&self) -> Vec<String> {
        let mut paths = vec![self.path.clone(), WELL_KNOWN.to_owned(), format!("{WELL_KNOWN}/mcp")];
        paths.sort();
        paths.dedup();
        paths
    }

    /// For a request without a token.
    pub(super) fn challenge(&self) -> String {
        format!("Bearer resource_metadata=\"{}\", scope=\"{FIRST}\"", self.url)
    }

    /// For a request whose token is not accepted; `why` has no quotation marks.
    pub(super) fn invalid(&self, why: &str) -> String {
        format!(
            "Bearer error=\"invalid_token\", error_description=\"{why}\", resource_metadata=\"{}\", scope=\"{FIRST}\"",
            self.url
        )
    }

    /// For a request whose token does not suffice: everything that the next one must have, so that one step is enough.
    /// Of what was `granted` only our own scopes are repeated.
    pub(super) fn step_up(&self, granted: &[String], needed: &str) -> String {
        let ours = granted.iter().filter(|scope| self.scopes.contains(scope)).map(String::as_str);
        let mut scopes: Vec<&str> = ours.chain([needed]).collect();
        scopes.sort_unstable();
        scopes.dedup();
        format!(
            "Bearer error=\"insufficient_scope\", scope=\"{}\", resource_metadata=\"{}\"",
            scopes.join(" "),
            self.url
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn metadata(resource: &str) -> Result<Metadata, ConfigError> {
        let scopes = ["design:read", "design:apply"].map(str::to_owned).to_vec();
        Metadata::new(&Config { resource: resource.into(), audiences: vec![], issuers: vec![], scopes })
    }

    #[test]
    fn metadata_stands_at_the_path_of_the_resource() {
        let found = metadata("https://tools.example/team/mcp").unwrap();
        assert_eq!(found.url, "https://tools.example/.well-known/oauth-protected-resource/team/mcp");
        assert_eq!(found.paths().len(), 3);
        assert_eq!(metadata("https://tools.example/").unwrap().paths().len(), 2);
        for bad in [
            "http://tools.example/mcp",
            "https://tools.example/mcp#x",
            "https://tools.example/mcp?x=1",
            "mcp",
        ] {
            assert!(matches!(metadata(bad), Err(ConfigError::Url { what: "resource", .. })), "{bad}");
        }
    }

    #[test]
    fn a_step_up_names_all_that_is_needed_and_nothing_of_others() {
        let found = metadata("https://tools.example/mcp").unwrap();
        let granted = ["openid", "design:read", "\", scope=\"x"].map(str::to_owned);
        let challenge = found.step_up(&granted, "design:apply");
        assert!(challenge.contains("scope=\"design:apply design:read\""), "{challenge}");
    }
}
