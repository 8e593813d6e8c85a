//! Questions to servers that the user configured, outside every plan: an identity provider's keys, a token endpoint.
//!
//! Nothing of a repository and nothing of a caller chooses where they go.

use std::time::Duration;

use url::{Host, Url};

/// Largest answer, in bytes.
pub const MAX_ANSWER: u64 = 1 << 20;

/// How long a question may take, in all.
pub const TIMEOUT: Duration = Duration::from_secs(5);

/// How long a file may take.
const DOWNLOADS: Duration = Duration::from_mins(1);

/// Why there is no answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FetchError {
    /// The URL is neither https nor http on this machine, or has credentials in it.
    #[error("{0}: only https, or http on a loopback address, and without credentials in the URL")]
    Url(String),
    /// Nobody answered in time, or the answer broke off.
    #[error("{0}")]
    Failed(String),
    /// The answer is larger than [`MAX_ANSWER`].
    #[error("the answer is larger than {MAX_ANSWER} bytes")]
    TooLarge,
}

/// An answer, whatever its status.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fetched {
    /// The HTTP status. A redirect is not followed.
    pub status: u16,
    /// The body.
    pub body: Vec<u8>,
}

/// Asks: blocking, by https, with nothing from the environment and no redirects.
#[derive(Debug, Clone)]
pub struct Fetcher {
    agent: ureq::Agent,
}

impl Default for Fetcher {
    fn default() -> Self {
        Self { agent: manners(TIMEOUT).into() }
    }
}

/// How everything of ours asks: nothing from the environment, no redirects, any status an answer.
pub(crate) fn manners(timeout: Duration) -> ureq::config::Config {
    ureq::Agent::config_builder()
        .timeout_global(Some(timeout))
        .proxy(None)
        .http_status_as_error(false)
        .max_redirects(0)
        .max_redirects_will_error(false)
        .user_agent(concat!("gatewright/", env!("CARGO_PKG_VERSION")))
        .build()
}

impl Fetcher {
    /// `GET`s a JSON document.
    pub fn get(&self, url: &str) -> Result<Fetched, FetchError> {
        let url = checked(url)?;
        answer(self.agent.get(url.as_str()).header("accept", "application/json").call())
    }

    /// As [`Fetcher::get`], with headers and a time of its own.
    pub fn get_with(
        &self,
        url: &str,
        headers: &[(&str, &str)],
        timeout: Duration,
    ) -> Result<Fetched, FetchError> {
        let url = checked(url)?;
        let mut request = self.agent.get(url.as_str()).config().timeout_global(Some(timeout)).build();
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        answer(request.call())
    }

    /// `GET`s a file, whatever its type, at most [`MAX_ANSWER`] of it, in at most a minute.
    pub fn download(&self, url: &str) -> Result<Fetched, FetchError> {
        let url = checked(url)?;
        let patient = self.agent.get(url.as_str()).config().timeout_global(Some(DOWNLOADS)).build();
        answer(patient.header("accept", "*/*").call())
    }

    /// `POST`s a form, as the client `credentials` name (RFC 6749 §2.3.1: id and secret by HTTP Basic).
    pub fn post(
        &self,
        url: &str,
        credentials: (&str, &str),
        form: &[(&str, &str)],
    ) -> Result<Fetched, FetchError> {
        let url = checked(url)?;
        let encoded = |text: &str| url::form_urlencoded::byte_serialize(text.as_bytes()).collect::<String>();
        let basic = format!("{}:{}", encoded(credentials.0), encoded(credentials.1));
        let request = self
            .agent
            .post(url.as_str())
            .header("accept", "application/json")
            .header("authorization", format!("Basic {}", base64_of(basic.as_bytes())));
        answer(request.send_form(form.iter().copied()))
    }
}

fn base64_of(bytes: &[u8]) -> String {
    use base64::Engine as _;
    base64::engine::general_purpose::STANDARD.encode(bytes)
}

/// A URL that may be asked: https, or http where nobody listens in.
pub fn checked(text: &str) -> Result<Url, FetchError> {
    let refused = || FetchError::Url(text.to_owned());
    let url = Url::parse(text).map_err(|_| refused())?;
    if url.host().is_none() {
        return Err(refused());
    }
    let is_private = url.scheme() == "https" || url.scheme() == "http" && is_here(&url);
    let is_bare = url.username().is_empty() && url.password().is_none() && url.fragment().is_none();
    if is_private && is_bare { Ok(url) } else { Err(refused()) }
}

/// Whether a URL names this machine by a loopback address.
#[must_use]
pub fn is_here(url: &Url) -> bool {
    match url.host() {
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        Some(Host::Domain(name)) => name == "localhost",
        None => false,
    }
}

fn answer(asked: Result<ureq::http::Response<ureq::Body>, ureq::Error>) -> Result<Fetched, FetchError> {
    let mut response = asked.map_err(|e| FetchError::Failed(e.to_string()))?;
    let status = response.status().as_u16();
    match response.body_mut().with_config().limit(MAX_ANSWER).read_to_vec() {
        Ok(body) => Ok(Fetched { status, body }),
        Err(ureq::Error::BodyExceedsLimit(_)) => Err(FetchError::TooLarge),
        Err(error) => Err(FetchError::Failed(error.to_string())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_https_is_asked_or_this_machine() {
        for good in
            ["https://id.example/keys", "http://127.0.0.1:9/x", "http://[::1]:9/", "http://localhost:1/"]
        {
            assert!(checked(good).is_ok(), "{good}");
        }
        for bad in [
            "http://id.example/keys",
            "http://localhost.example/",
            "ftp://127.0.0.1/",
            "file:///etc/passwd",
            "javascript:alert(1)",
            "https://user:secret@id.example/",
            "https://id.example/#x",
            "/keys",
            "",
        ] {
            assert!(matches!(checked(bad), Err(FetchError::Url(_))), "{bad}");
        }
    }
}
