//! What becomes of a request that a page makes.

use std::net::IpAddr;
use std::sync::Arc;

use exec::address::Reach;
use url::{Host, Url};

/// Most requests of one page.
pub(crate) const MAX_REQUESTS: u64 = 2_000;

/// Most redirects of one request.
pub(crate) const MAX_REDIRECTS: u32 = 5;

/// What a page of ours is answered with.
#[derive(Debug, Clone)]
pub struct Served {
    /// The status code.
    pub status: u16,
    /// The content type.
    pub mime: String,
    /// Fields of the head besides.
    pub headers: Vec<(String, String)>,
    /// The content.
    pub body: Vec<u8>,
}

/// Answers for hosts below `.invalid`, which no network has (RFC 6761 §6.4): by it, files are pages without a port.
pub type Pages = Arc<dyn Fn(&Url) -> Served + Send + Sync>;

/// A header or a cookie with a secret in it: only requests to its origins have it.
#[derive(Clone, PartialEq, Eq)]
pub struct Credential {
    /// The field's or the cookie's name.
    pub name: String,
    /// The secret.
    pub value: String,
    /// Whose requests have it, as `https://host:port`.
    pub origins: Vec<String>,
    /// Whether it is a cookie.
    pub is_cookie: bool,
}

impl std::fmt::Debug for Credential {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Credential")
            .field("name", &self.name)
            .field("origins", &self.origins)
            .finish_non_exhaustive()
    }
}

impl Credential {
    /// Whether a request to `url` has it.
    pub(crate) fn is_for(&self, url: &Url) -> bool {
        let origin = url.origin().ascii_serialization();
        self.origins
            .iter()
            .any(|own| Url::parse(own).is_ok_and(|own| own.origin().ascii_serialization() == origin))
    }
}

/// What a page is given besides its address.
#[derive(Clone, Default)]
pub struct Given {
    /// Answers for hosts that no network has.
    pub pages: Option<Pages>,
    /// Headers and cookies.
    pub credentials: Vec<Credential>,
}

/// What becomes of a request.
#[derive(Debug)]
pub(crate) enum Decision {
    /// It goes on to the door.
    GoesOn,
    /// It is answered here.
    Served(Served),
    /// It fails, for this reason.
    Refused(&'static str),
}

/// Decides by what the URL itself says: the addresses that its name has are for the door.
pub(crate) fn decide(url: &str, reach: &Reach, pages: Option<&Pages>) -> Decision {
    let Ok(url) = Url::parse(url) else { return Decision::Refused("it is no URL") };
    match url.scheme() {
        "http" | "https" => {}
        // Neither leaves the page.
        "data" | "blob" => return Decision::GoesOn,
        _ => return Decision::Refused("only http and https are spoken"),
    }
    let address = match url.host() {
        Some(Host::Domain(name)) => {
            let name = name.trim_end_matches('.');
            if name == "invalid" || name.ends_with(".invalid") {
                return match pages {
                    Some(pages) => Decision::Served(pages(&url)),
                    None => Decision::Refused("there is no such host"),
                };
            }
            if name == "localhost" || name.ends_with(".localhost") {
                Some(IpAddr::from([127, 0, 0, 1]))
            } else if !reach.is_wide() && !reach.names(name) {
                return Decision::Refused("it is a host that may not be reached from here");
            } else {
                None
            }
        }
        Some(Host::Ipv4(ip)) => Some(IpAddr::V4(ip)),
        Some(Host::Ipv6(ip)) => Some(IpAddr::V6(ip)),
        None => return Decision::Refused("it names no host"),
    };
    let host = url.host_str().unwrap_or_default().trim_start_matches('[').trim_end_matches(']');
    match address {
        Some(address) if !reach.allows(host, address) => {
            Decision::Refused("it is an address that may not be reached from here")
        }
        _ => Decision::GoesOn,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_credential_is_for_its_origins_alone() {
        let credential = Credential {
            name: "authorization".into(),
            value: "x".into(),
            origins: vec!["https://a.example".into(), "http://localhost:6006/".into()],
            is_cookie: false,
        };
        let is_for = |url: &str| credential.is_for(&Url::parse(url).unwrap());
        assert!(
            is_for("https://a.example/x?y")
                && is_for("https://a.example:443/")
                && is_for("http://localhost:6006/")
        );
        for other in [
            "http://a.example/",
            "https://a.example:444/",
            "https://b.a.example/",
            "https://evil.example/?a.example",
            "http://localhost/",
        ] {
            assert!(!is_for(other), "{other}");
        }
        assert!(!format!("{credential:?}").contains("\"x\""));
    }

    fn is_refused(url: &str, reach: &Reach) -> bool {
        matches!(decide(url, reach, None), Decision::Refused(_))
    }

    #[test]
    fn n02_n04_n08_no_spelling_of_an_inner_address_and_no_other_scheme_goes_on() {
        let public = Reach::public();
        for url in [
            "http://2130706433/",
            "http://0x7f.1/",
            "http://0177.0.0.1/",
            "http://[::1]/",
            "http://[::ffff:127.0.0.1]/",
            "http://[::ffff:7f00:1]/",
            "http://0/",
            "http://localhost./",
            "http://a.localhost/",
            "http://127.1/",
            "http://[64:ff9b::7f00:1]/",
            "http://[2002:7f00:1::]/",
            "http://169.254.169.254/latest/meta-data/",
            "http://10.0.0.1/",
            "http://[fe80::1]/",
            "https://[fd00:ec2::254]/",
            "file:///etc/passwd",
            "ftp://example.com/",
            "gopher://example.com/",
            "chrome://version/",
            "javascript:alert(1)",
            "view-source:http://example.com/",
            "http:///",
            "https://root.invalid/",
            "nonsense",
        ] {
            assert!(is_refused(url, &public), "{url}");
        }
        for url in
            ["https://example.com/", "http://example.com:8080/x", "http://1.1.1.1/", "data:text/html,x"]
        {
            assert!(!is_refused(url, &public), "{url}");
        }
        let local = Reach::public().with_loopback();
        for url in ["http://localhost:6006/", "http://127.0.0.1/", "http://[::1]/", "http://0x7f.1/"] {
            assert!(!is_refused(url, &local), "{url}");
        }
        assert!(is_refused("http://10.0.0.1/", &local) && is_refused("http://169.254.169.254/", &local));
        let named = Reach::nothing().with_hosts(vec!["cdn.example".into()]);
        assert!(
            !is_refused("https://cdn.example/x.css", &named) && is_refused("https://example.com/", &named)
        );
        assert!(is_refused("http://1.1.1.1/", &named) && is_refused("http://localhost/", &named));
    }
}
