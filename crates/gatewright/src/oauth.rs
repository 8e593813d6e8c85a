//! `[oauth]`: whose tokens are accepted over HTTP, and which roots are whose.

use contract::{Fault, Principal};
use kit::house::Access;
use mcp::http::oauth::{Config, Introspection, IssuerConfig, ResourceServer};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// `[oauth]`: the user's alone. Without it HTTP is served on loopback only, to everyone who reaches it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub struct OAuthSection {
    /// This server as clients name it, `https://tools.example/mcp`: tokens must be written for it.
    pub resource: String,
    /// Other audiences that stand for this server, for issuers that cannot name it by its URL.
    pub audiences: Vec<String>,
    /// Whose tokens are accepted.
    pub issuers: Vec<IssuerSection>,
    /// Which roots are whose; a root that nobody is given is nobody's.
    pub access: Vec<AccessSection>,
}

/// `[[oauth.issuers]]`
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct IssuerSection {
    /// The issuer's identifier, exactly as it stands in tokens.
    pub issuer: String,
    /// Where its keys are, if its metadata does not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub jwks_uri: Option<String>,
    /// The signature algorithms that it uses. Default: RS256, PS256, ES256 and `EdDSA`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub algorithms: Vec<String>,
    /// Whether tokens that do not say `at+jwt` are taken for access tokens, too.
    #[serde(default)]
    pub plain_jwt: bool,
    /// How to ask about tokens that are not signed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub introspection: Option<IntrospectionSection>,
}

/// `[oauth.issuers.introspection]`
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct IntrospectionSection {
    /// Where to ask, if the issuer's metadata does not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub endpoint: Option<String>,
    /// This server's client id at the issuer.
    pub client_id: String,
    /// The environment variable that holds its secret.
    pub client_secret_env: String,
}

/// `[[oauth.access]]`
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct AccessSection {
    /// The subjects, as tokens name them; `*` is everyone whose token is accepted.
    pub subjects: Vec<String>,
    /// Whose subjects they are, where there are several issuers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub issuer: Option<String>,
    /// Names of roots; `*` is all.
    pub roots: Vec<String>,
}

impl OAuthSection {
    /// Whether anything is said.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// The resource server, whose clients may ask for `scopes`.
    pub fn resource_server(&self, scopes: Vec<String>, roots: &[&str]) -> Result<ResourceServer, Fault> {
        for access in &self.access {
            let is_known = |root: &&String| *root == "*" || roots.contains(&root.as_str());
            if let Some(unknown) = access.roots.iter().find(|root| !is_known(root)) {
                return Err(invalid(&format!(
                    "access: there is no root {unknown:?}; there are {}",
                    roots.join(", ")
                )));
            }
            match &access.issuer {
                Some(named) if !self.issuers.iter().any(|issuer| issuer.issuer == *named) => {
                    return Err(invalid(&format!("access: there is no issuer {named:?}")));
                }
                None if self.issuers.len() > 1 && access.subjects.iter().any(|subject| subject != "*") => {
                    let why = "access: with several issuers a subject needs its `issuer`: a name is somebody else's elsewhere";
                    return Err(invalid(why));
                }
                _ => {}
            }
        }
        let issuers = self.issuers.iter().map(IssuerSection::config).collect::<Result<_, _>>()?;
        let config =
            Config { resource: self.resource.clone(), audiences: self.audiences.clone(), issuers, scopes };
        ResourceServer::new(config).map_err(|e| invalid(&e.to_string()))
    }
}

fn invalid(why: &str) -> Fault {
    Fault::invalid(format!("[oauth]: {why}")).suggest("`gatewright config schema` prints what is understood.")
}

impl IssuerSection {
    fn config(&self) -> Result<IssuerConfig, Fault> {
        let introspection = self.introspection.as_ref().map(|section| {
            let name = &section.client_secret_env;
            let client_secret = std::env::var(name)
                .map_err(|_| invalid(&format!("the environment variable {name} is not set")))?;
            let (endpoint, client_id) = (section.endpoint.clone(), section.client_id.clone());
            Ok::<_, Fault>(Introspection { endpoint, client_id, client_secret })
        });
        Ok(IssuerConfig {
            issuer: self.issuer.clone(),
            jwks_uri: self.jwks_uri.clone(),
            algorithms: self.algorithms.clone(),
            plain_jwt: self.plain_jwt,
            introspection: introspection.transpose()?,
        })
    }
}

impl Access for OAuthSection {
    fn allows(&self, principal: &Principal, root: &str) -> bool {
        let Principal::Token { issuer, subject, .. } = principal else { return true };
        let named = |list: &[String], name: &str| list.iter().any(|one| one == "*" || one == name);
        self.access.iter().any(|access| {
            access.issuer.as_ref().is_none_or(|own| own == issuer)
                && named(&access.subjects, subject)
                && named(&access.roots, root)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roots_are_given_to_subjects_and_nobody_has_one_by_default() {
        let access = |text: &str| toml::from_str::<OAuthSection>(text).unwrap();
        let who = |issuer: &str, subject: &str| Principal::Token {
            issuer: issuer.into(),
            subject: subject.into(),
            scopes: vec!["gatewright:apply".into()],
        };
        assert!(!access("").allows(&who("i", "alice"), "app"));
        let some = access(
            "[[access]]\nsubjects = ['alice']\nissuer = 'i'\nroots = ['app']\n\
             [[access]]\nsubjects = ['*']\nroots = ['docs']\n",
        );
        assert!(some.allows(&who("i", "alice"), "app") && some.allows(&who("j", "bob"), "docs"));
        // The same name at another issuer is another person.
        assert!(!some.allows(&who("j", "alice"), "app") && !some.allows(&who("i", "bob"), "app"));
    }
}
