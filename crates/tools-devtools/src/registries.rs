//! Where packages come from: the public registries, or those that the user names in their own configuration. A project does not
//! say: what it names (`.npmrc`, `uv.toml`) is asked for by its programs and refused at the door.

use contract::Fault;
use exec::run::Command;
use kit::ReadDesk;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use url::Url;

/// `[registries]`: the user's alone. Where packages come from, where that is not the public registry of their kind.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub struct RegistriesSection {
    /// Packages of npm; without, `https://registry.npmjs.org`.
    pub npm: RegistrySection,
    /// Packages of Python, by the simple API (PEP 503); without, `https://pypi.org/simple`.
    pub python: RegistrySection,
    /// Crates, by a sparse index; without, `https://index.crates.io`.
    pub cargo: RegistrySection,
    /// Modules of Go, by the proxy protocol; without, `https://proxy.golang.org`.
    pub go: RegistrySection,
    /// Advisories of Python's packages, by OSV's API (`/v1/query`); without, those of `pypi.org`.
    pub osv: RegistrySection,
}

/// One registry.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub struct RegistrySection {
    /// Its address: `https`, without user or password. One at a private address is named in `[security] private-hosts`, too.
    pub url: Option<String>,
    /// Hosts besides it that its packages come from, such as `files.example.com`.
    pub hosts: Vec<String>,
}

/// A registry, as programs are told of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Registry {
    /// Its address, where it is not the one that programs know.
    pub url: Option<Url>,
    /// The hosts that its packages come from.
    pub hosts: Vec<String>,
}

/// The registries, checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Registries {
    /// Of npm.
    pub npm: Registry,
    /// Of Python.
    pub python: Registry,
    /// Of Cargo.
    pub cargo: Registry,
    /// Of Go.
    pub go: Registry,
    /// Of advisories of Python's packages: none but the user's.
    pub osv: Registry,
}

impl Default for Registries {
    fn default() -> Self {
        let public =
            |hosts: &[&str]| Registry { url: None, hosts: hosts.iter().map(|&h| h.to_owned()).collect() };
        Self {
            npm: public(&["registry.npmjs.org"]),
            python: public(&["pypi.org", "files.pythonhosted.org"]),
            cargo: public(&["index.crates.io", "static.crates.io"]),
            // Modules, their checksums, and the toolchains that `go.mod` names.
            go: public(&["proxy.golang.org", "sum.golang.org", "storage.googleapis.com"]),
            osv: public(&[]),
        }
    }
}

impl Registries {
    /// As the user says. An address that is none, or is not `https`, or holds a password is refused.
    pub fn of(section: &RegistriesSection) -> Result<Self, Fault> {
        let public = Self::default();
        Ok(Self {
            npm: public.npm.told("npm", &section.npm)?,
            python: public.python.told("python", &section.python)?,
            cargo: public.cargo.told("cargo", &section.cargo)?,
            go: public.go.told("go", &section.go)?,
            osv: public.osv.told("osv", &section.osv)?,
        })
    }
}

impl Registry {
    /// This one, or the one that the user names in its place.
    fn told(self, name: &str, section: &RegistrySection) -> Result<Self, Fault> {
        let Self { url: _, mut hosts } = self;
        let url = section.url.as_deref().map(|url| address(name, url)).transpose()?;
        if let Some(url) = &url {
            let host = url.host_str().unwrap_or_default();
            hosts = vec![url.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"))];
        }
        hosts.extend(section.hosts.iter().cloned());
        Ok(Self { url, hosts })
    }

    /// The command, let through to the registry.
    pub(crate) fn reached_by(&self, mut command: Command) -> Command {
        command.hosts.extend(self.hosts.iter().cloned());
        command
    }
}

/// The registries of the configuration.
pub(crate) fn registries(desk: &ReadDesk) -> Registries {
    desk.service::<Registries>().map(|kept| Registries::clone(&kept)).unwrap_or_default()
}

fn address(name: &str, text: &str) -> Result<Url, Fault> {
    let refused = |why: &str| {
        Fault::invalid(format!("[registries.{name}]: `url` {why}"))
            .suggest("Name it as `https://packages.example.com/npm/`.")
    };
    let url = Url::parse(text).map_err(|error| refused(&format!("is no address: {error}")))?;
    if url.scheme() != "https" || url.host_str().is_none_or(str::is_empty) {
        return Err(refused("must begin with https://: programs reach registries by TLS alone"));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(refused(
            "holds a user or a password, which would stand in the configuration and in records",
        ));
    }
    Ok(url)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Result<Registries, Fault> {
        Registries::of(&toml::from_str(text).unwrap())
    }

    #[test]
    fn a_registry_of_the_users_is_reached_in_the_place_of_the_public_one() {
        let told = of("npm = { url = 'https://npm.corp.example:8443/all/', hosts = ['files.corp.example'] }\npython = { hosts = ['cdn.example'] }").unwrap();
        assert_eq!(told.npm.hosts, ["npm.corp.example:8443", "files.corp.example"]);
        assert_eq!(told.npm.url.as_ref().map(Url::as_str), Some("https://npm.corp.example:8443/all/"));
        assert_eq!(told.python.hosts, ["pypi.org", "files.pythonhosted.org", "cdn.example"]);
        assert_eq!((told.cargo, told.go), (Registries::default().cargo, Registries::default().go));
    }

    #[test]
    fn addresses_without_tls_or_with_a_password_are_refused_by_name() {
        for (url, why) in [
            ("http://npm.corp.example", "https://"),
            ("npm.corp.example", "no address"),
            ("https://me:secret@npm.corp.example", "password"),
            ("https://", "no address"),
            ("file:///srv/npm", "https://"),
        ] {
            let fault = of(&format!("npm = {{ url = '{url}' }}")).unwrap_err();
            assert!(
                fault.message.contains("[registries.npm]") && fault.message.contains(why),
                "{url}: {}",
                fault.message
            );
            assert!(!fault.message.contains("secret"));
        }
    }
}
