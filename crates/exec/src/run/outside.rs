//! What programs that are let through the door find outside, where the user says that it is not the public network.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::DOOR_PORT;
use crate::address::Reach;

/// Where systems keep the authorities that they trust, the first that is there.
const BUNDLES: &[&str] = &[
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/ca-bundle.pem",
    "/etc/ssl/cert.pem",
];

/// How programs are told of a file of authorities: OpenSSL and rustls, pip, Python's requests, Cargo, npm (whose own settings, a
/// project's among them, would go before what Node is told). Node adds them to those that it has; the others take them instead.
const AUTHORITIES: &[&str] = &[
    "SSL_CERT_FILE",
    "NODE_EXTRA_CA_CERTS",
    "PIP_CERT",
    "REQUESTS_CA_BUNDLE",
    "CARGO_HTTP_CAINFO",
    "npm_config_cafile",
];

/// What is outside for programs: the public network, and what the user names besides.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outside {
    reach: Reach,
    authorities: Option<PathBuf>,
}

impl Default for Outside {
    fn default() -> Self {
        Self::new(Vec::new(), None)
    }
}

impl Outside {
    /// `private` hosts may be at private addresses (`*.example.com`: those below one): that lets no program reach them
    /// whose tool does not name them. `authorities` is a file of certificates (PEM) that programs trust instead of the system's.
    #[must_use]
    pub fn new(private: Vec<String>, authorities: Option<PathBuf>) -> Self {
        Self { reach: Reach::public().with_hosts(private), authorities }
    }

    /// At which addresses hosts may be.
    pub(crate) const fn reach(&self) -> &Reach {
        &self.reach
    }

    /// The user's own file of authorities, which no system's folder holds.
    pub(crate) fn shown(&self) -> Option<&Path> {
        self.authorities.as_deref()
    }

    /// The variables of a program that is let through the door.
    pub(crate) fn variables(&self) -> BTreeMap<String, String> {
        let door = format!("http://127.0.0.1:{DOOR_PORT}");
        let mut all: BTreeMap<String, String> =
            ["HTTPS_PROXY", "https_proxy"].map(|name| (name.to_owned(), door.clone())).into();
        // Node asks for its proxy there from 22.21 on.
        all.insert("NODE_USE_ENV_PROXY".to_owned(), "1".to_owned());
        let system = || BUNDLES.iter().map(PathBuf::from).find(|bundle| bundle.is_file());
        if let Some(file) = self.authorities.clone().or_else(system) {
            let file = file.display().to_string();
            all.extend(AUTHORITIES.iter().map(|name| ((*name).to_owned(), file.clone())));
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_are_told_of_the_door_and_of_whom_to_trust() {
        let told = Outside::new(vec!["Packages.Corp.Example".into()], Some("/etc/corp.pem".into()));
        let variables = told.variables();
        assert_eq!(variables["HTTPS_PROXY"], format!("http://127.0.0.1:{DOOR_PORT}"));
        for name in AUTHORITIES {
            assert_eq!(variables[*name], "/etc/corp.pem", "{name}");
        }
        assert!(told.reach().allows("packages.corp.example", "10.1.2.3".parse().unwrap()));
        assert!(!Outside::default().reach().allows("packages.corp.example", "10.1.2.3".parse().unwrap()));
    }
}
