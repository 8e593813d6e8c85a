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
    /// The answer is larger than so many bytes.
    #[error("the answer is larger than {0} bytes")]
    TooLarge(u64),
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

/// A question with everything that it may have.
#[derive(Debug, Clone)]
pub struct Ask<'a> {
    /// The HTTP method.
    pub method: &'a str,
    /// Where: https, or http on this machine.
    pub url: &'a str,
    /// Headers.
    pub headers: &'a [(&'a str, &'a str)],
    /// The body, where it has one.
    pub body: Option<&'a [u8]>,
    /// How long connecting may take.
    pub connecting: Duration,
    /// How long all of it may take.
    pub timeout: Duration,
    /// Most bytes of the answer.
    pub most: u64,
}

/// An answer with its headers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Told {
    /// The HTTP status.
    pub status: u16,
    /// The headers that are text, names in lower case.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Vec<u8>,
}

impl Told {
    /// The first value of a header.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(own, _)| own == name).map(|(_, value)| value.as_str())
    }
}

impl Fetcher {
    /// Asks, whatever the method.
    pub fn ask(&self, ask: &Ask<'_>) -> Result<Told, FetchError> {
        let url = checked(ask.url)?;
        let wrong = |error: ureq::http::Error| FetchError::Failed(error.to_string());
        let mut request = ureq::http::Request::builder().method(ask.method).uri(url.as_str());
        for (name, value) in ask.headers {
            request = request.header(*name, *value);
        }
        let answer = match ask.body {
            Some(body) => {
                let request = request.body(body).map_err(wrong)?;
                self.agent.run(self.timed(request, ask))
            }
            None => {
                let request = request.body(()).map_err(wrong)?;
                self.agent.run(self.timed(request, ask))
            }
        };
        let mut answer = answer.map_err(|error| FetchError::Failed(error.to_string()))?;
        let headers = answer.headers().iter();
        let headers = headers
            .filter_map(|(name, value)| Some((name.as_str().to_owned(), value.to_str().ok()?.to_owned())))
            .collect();
        let status = answer.status().as_u16();
        let body = read(answer.body_mut(), ask.most)?;
        Ok(Told { status, headers, body })
    }

    fn timed<B: ureq::AsSendBody>(
        &self,
        request: ureq::http::Request<B>,
        ask: &Ask<'_>,
    ) -> ureq::http::Request<B> {
        self.agent
            .configure_request(request)
            .timeout_connect(Some(ask.connecting))
            .timeout_global(Some(ask.timeout))
            .build()
    }

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
    Ok(Fetched { status, body: read(response.body_mut(), MAX_ANSWER)? })
}

fn read(body: &mut ureq::Body, most: u64) -> Result<Vec<u8>, FetchError> {
    match body.with_config().limit(most).read_to_vec() {
        Ok(body) => Ok(body),
        Err(ureq::Error::BodyExceedsLimit(_)) => Err(FetchError::TooLarge(most)),
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
