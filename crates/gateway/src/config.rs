//! Which servers, how they are reached, with whose credentials, and what of them is offered.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use exec::StateDir;
use exec::run::Launcher;
use kit::Label;

use zeroize::Zeroizing;

use crate::name;

/// An upstream server.
#[derive(Debug, Clone)]
#[expect(clippy::struct_excessive_bools, reason = "switches of the user's that do not hang together")]
pub struct Upstream {
    /// What its tools' names begin with.
    pub name: String,
    /// How it is reached.
    pub reached: Reached,
    /// What of it is offered, and as what.
    pub chosen: Chosen,
    /// Whether links in its results that could carry something away are taken apart.
    pub defang: bool,
    /// Whether pictures and sounds of its results are passed on.
    pub media: bool,
    /// Whether its resources are offered.
    pub resources: bool,
    /// Whether its prompts are.
    pub prompts: bool,
    /// Before which of its calls a person is asked.
    pub asks: Asks,
    /// What it may ask the users of those who call it.
    pub questions: Questions,
    /// What its calls bring into a session, or take out of it.
    pub labels: Vec<Label>,
    /// How long one call may take.
    pub timeout: Duration,
}

/// Before which calls a person is asked, by what a tool says of itself.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Asks {
    /// Those that it says may destroy.
    #[default]
    Destructive,
    /// All but those that it says only look.
    Writing,
    /// None: the user's own policy says what is asked.
    Never,
}

/// What an upstream may ask users.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Questions {
    /// To fill in forms.
    #[default]
    Forms,
    /// The same, and to open pages.
    Pages,
    /// Nothing.
    Never,
}

/// How an upstream is reached.
#[derive(Debug, Clone)]
pub enum Reached {
    /// Over Streamable HTTP.
    Http(Http),
    /// As a program that is started here, over its standard input and output.
    Program(Program),
}

/// A server over Streamable HTTP.
#[derive(Debug, Clone)]
pub struct Http {
    /// Its MCP endpoint.
    pub url: String,
    /// What it is called with.
    pub credential: Credential,
    /// Headers that go with every request; their values are secrets.
    pub headers: Vec<(String, Zeroizing<String>)>,
    /// Whether the server's TLS key is a part of who it is: another key, another approval.
    pub pin_key: bool,
}

/// A server that is started here, in a world of its own.
#[derive(Debug, Clone)]
pub struct Program {
    /// The program: a name of the PATH, or a whole path.
    pub command: String,
    /// Its arguments; [`ROOT`] in one stands for the root.
    pub args: Vec<String>,
    /// Its variables.
    pub env: Vec<(String, String)>,
    /// Its variables whose values are secrets.
    pub secrets: Vec<(String, Zeroizing<String>)>,
    /// What it may do to the root.
    pub root: RootAccess,
    /// Folders that it reads.
    pub reads: Vec<PathBuf>,
    /// Folders that it reads and writes.
    pub writes: Vec<PathBuf>,
    /// The hosts that it may speak to.
    pub hosts: Vec<String>,
    /// Most bytes of memory that it may hold.
    pub memory: u64,
    /// For how long it goes on without being called.
    pub idle: Duration,
}

/// In an argument of a program's: the root.
pub const ROOT: &str = "{root}";

/// What a program may do to the root.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RootAccess {
    /// Nothing: it does not see it.
    None,
    /// Read it.
    Read,
    /// Write it, too: what it does there can be neither rehearsed nor undone.
    Write,
}

/// What of an upstream is offered, and as what. Names are those that it has for its tools itself.
#[derive(Debug, Clone, Default)]
pub struct Chosen {
    /// Only these; all where there are none. `*` stands for anything.
    pub allow: Vec<String>,
    /// None of these, whatever is allowed.
    pub deny: Vec<String>,
    /// Other names, by theirs.
    pub rename: Vec<(String, String)>,
    /// Other descriptions, by their names.
    pub describe: Vec<(String, String)>,
}

impl Chosen {
    /// Whether a tool is wanted.
    pub(crate) fn wants(&self, there: &str) -> bool {
        let named = |patterns: &[String]| patterns.iter().any(|pattern| matches(pattern, there));
        (self.allow.is_empty() || named(&self.allow)) && !named(&self.deny)
    }

    /// What it is to be called instead of its own name.
    pub(crate) fn called<'a>(&'a self, there: &'a str) -> &'a str {
        self.rename.iter().find(|(theirs, _)| theirs == there).map_or(there, |(_, ours)| ours)
    }
}

/// Whether a name is what a pattern means, in which `*` stands for anything.
fn matches(pattern: &str, name: &str) -> bool {
    let Some((front, rest)) = pattern.split_once('*') else { return pattern == name };
    let Some(mut left) = name.strip_prefix(front) else { return false };
    let parts: Vec<&str> = rest.split('*').collect();
    let Some((last, middle)) = parts.split_last() else { return true };
    for part in middle {
        match left.split_once(part) {
            Some((_, after)) => left = after,
            None => return false,
        }
    }
    left.ends_with(last)
}

/// What programs stand on.
#[derive(Debug, Clone)]
pub struct Ground {
    /// What starts them.
    pub launcher: Arc<Launcher>,
    /// Where their worlds are put together.
    pub state: StateDir,
    /// The user's home.
    pub home: Option<PathBuf>,
    /// The root, where there is one.
    pub root: Option<PathBuf>,
    /// What none of them ever sees: gatewright's own state and configuration.
    pub hidden: Vec<PathBuf>,
}

/// What an upstream is called with.
#[derive(Debug, Clone)]
pub enum Credential {
    /// Nothing.
    None,
    /// Gatewright's own token, the same for all callers.
    Own(Zeroizing<String>),
    /// A token of the caller's own, which its issuer gives for the one that the caller came with.
    Exchange(Exchange),
}

/// Where a caller's token is exchanged (RFC 8693).
#[derive(Debug, Clone)]
pub struct Exchange {
    /// The issuer's token endpoint.
    pub endpoint: String,
    /// Gatewright's client id there.
    pub client_id: String,
    /// And its secret.
    pub client_secret: Zeroizing<String>,
    /// Whom the new token is for: the upstream as its issuer names it (RFC 8707).
    pub resource: String,
    /// What it may grant; empty leaves that to the issuer.
    pub scopes: Vec<String>,
}

/// Headers that are the protocol's own.
const RESERVED: [&str; 8] = [
    "accept",
    "authorization",
    "connection",
    "content-length",
    "content-type",
    "cookie",
    "host",
    "last-event-id",
];

impl Upstream {
    /// Says what is wrong with it.
    pub(crate) fn check(&self) -> Result<(), String> {
        if !name::is_upstream(&self.name) {
            return Err(format!(
                "the name has at most {} lower-case letters, digits and single underscores, a letter first",
                name::MAX_UPSTREAM
            ));
        }
        match &self.reached {
            Reached::Http(http) => http.check()?,
            Reached::Program(program) => program.check()?,
        }
        for (theirs, ours) in &self.chosen.rename {
            name::wire(&self.name, ours).map_err(|e| format!("rename: {theirs}: {e}"))?;
        }
        Ok(())
    }

    /// Over HTTP: how.
    pub(crate) const fn http(&self) -> Option<&Http> {
        match &self.reached {
            Reached::Http(http) => Some(http),
            Reached::Program(_) => None,
        }
    }

    /// As a program: which.
    pub(crate) const fn program(&self) -> Option<&Program> {
        match &self.reached {
            Reached::Http(_) => None,
            Reached::Program(program) => Some(program),
        }
    }

    /// What it is given and may repeat.
    pub(crate) fn secrets(&self) -> impl Iterator<Item = &Zeroizing<String>> {
        let headers = self.http().map(|http| http.headers.iter()).into_iter().flatten();
        let variables = self.program().map(|program| program.secrets.iter()).into_iter().flatten();
        headers.chain(variables).map(|(_, value)| value)
    }
}

impl Http {
    fn check(&self) -> Result<(), String> {
        exec::fetch::checked(&self.url).map_err(|e| format!("url: {e}"))?;
        if self.url.contains('?') {
            return Err("url: no query: what is secret goes into token-env or headers-env".to_owned());
        }
        if self.pin_key && !self.url.starts_with("https:") {
            return Err("pin-key: there is a key only where the url begins with https".to_owned());
        }
        if let Credential::Exchange(exchange) = &self.credential {
            exec::fetch::checked(&exchange.endpoint).map_err(|e| format!("exchange: {e}"))?;
        }
        for (header, _) in &self.headers {
            let name = header.to_ascii_lowercase();
            if RESERVED.contains(&name.as_str()) || name.starts_with("mcp-") || name.starts_with("proxy-") {
                return Err(format!("headers: {header} is the protocol's own"));
            }
        }
        Ok(())
    }
}

impl Program {
    fn check(&self) -> Result<(), String> {
        if self.command.is_empty() {
            return Err("command: it names no program".to_owned());
        }
        if self.root == RootAccess::None && self.args.iter().any(|arg| arg.contains(ROOT)) {
            return Err(format!("args: {ROOT} is only there with root = \"read\" or \"write\""));
        }
        if let Some(place) = self.reads.iter().chain(&self.writes).find(|place| !place.is_absolute()) {
            return Err(format!("reads, writes: {} is no whole path", place.display()));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_mean_whole_names() {
        for (pattern, name, is_meant) in [
            ("read_*", "read_file", true),
            ("read_*", "xread_file", false),
            ("*", "anything", true),
            ("*_file", "read_file", true),
            ("*_file", "read_files", false),
            ("r*_*e", "read_some_file", true),
            ("read", "read_file", false),
            ("a*a", "a", false),
        ] {
            assert_eq!(matches(pattern, name), is_meant, "{pattern} {name}");
        }
    }

    #[test]
    fn what_is_denied_is_not_allowed_by_anything() {
        let chosen = Chosen {
            allow: vec!["*_file".into()],
            deny: vec!["write_*".into()],
            rename: vec![("read_file".into(), "look".into())],
            ..Chosen::default()
        };
        assert!(chosen.wants("read_file") && !chosen.wants("write_file") && !chosen.wants("list"));
        assert_eq!((chosen.called("read_file"), chosen.called("list")), ("look", "list"));
    }
}
