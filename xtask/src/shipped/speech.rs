//! What is said to a server that is watched: sessions of both eras, over both transports.

use std::collections::BTreeSet;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::sh::Done;

/// Longest wait for a server: to begin, for one answer, to end.
const PATIENCE: Duration = Duration::from_mins(2);
/// How long to wait before a server is asked again whether it is there, or has ended.
const PAUSE: Duration = Duration::from_millis(20);

/// A tool, and what it is called with.
pub(super) type Call = (&'static str, Value);

fn io(error: std::io::Error) -> String {
    error.to_string()
}

/// The beginning of a session of the protocol's older era.
pub(super) fn begun() -> Vec<Value> {
    let client = json!({ "name": "xtask", "version": "0" });
    let hello = json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client });
    vec![
        json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello }),
        json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }),
        json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/list" }),
    ]
}

/// The whole of one.
pub(super) fn handshake(calls: &[Call]) -> Vec<Value> {
    let mut all = begun();
    all.pop();
    all.extend(requests(&json!({}), calls));
    all
}

/// The same questions in the newer one: each says everything itself.
pub(super) fn stateless(calls: &[Call]) -> Vec<Value> {
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { "name": "xtask", "version": "0" },
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    requests(&meta, calls)
}

fn requests(meta: &Value, calls: &[Call]) -> Vec<Value> {
    let list = json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/list", "params": { "_meta": meta } });
    let calls = calls.iter().zip(3..).map(|((name, arguments), id)| {
        let params = json!({ "name": name, "arguments": arguments, "_meta": meta });
        json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params })
    });
    std::iter::once(list).chain(calls).collect()
}

/// The id of a good answer; none of what is no answer. One that refuses is an error: it shows none of the way that was to be seen.
fn good(text: &str) -> Done<Option<u64>> {
    let Ok(answer) = serde_json::from_str::<Value>(text) else { return Ok(None) };
    if answer.get("error").is_some() || answer["result"]["isError"] == true {
        return Err(format!("a call was refused: {}", text.chars().take(600).collect::<String>()));
    }
    Ok(answer.get("result").and_then(|_| answer["id"].as_u64()))
}

/// A server that is ended when nobody has it any more.
pub(super) struct Watched(Child);

impl Drop for Watched {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Watched {
    /// Starts one whose input and output are spoken over; what it says to people is not listened to.
    pub(super) fn start(command: &mut Command) -> Done<Self> {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        command.spawn().map(Self).map_err(|e| format!("{}: {e}", command.get_program().display()))
    }

    /// Says all of `messages` to its input, waits for all answers, and lets it end.
    pub(super) fn talk(mut self, messages: Vec<Value>) -> Done {
        let mut input = self.0.stdin.take().ok_or("the server takes no input")?;
        let output = self.0.stdout.take().ok_or("the server gives no output")?;
        let mut asked: BTreeSet<u64> = messages.iter().filter_map(|message| message["id"].as_u64()).collect();
        let (say, said) = mpsc::channel();
        std::thread::spawn(move || {
            let lines = BufReader::new(output).lines().map_while(Result::ok);
            // Nobody listens any more where one was refused.
            let _ = lines.into_iter().try_for_each(|line| say.send(good(&line)));
        });
        // By a thread of its own: who only wrote would wait for a server that waits until its answers are read.
        let (close, closed) = mpsc::channel::<()>();
        std::thread::spawn(move || {
            let _ = messages.iter().try_for_each(|message| writeln!(input, "{message}"));
            // The input stays open until all is answered.
            let _ = closed.recv();
        });
        while !asked.is_empty() {
            let answer = said.recv_timeout(PATIENCE);
            let answer = answer.map_err(|why| format!("{} answers are missing: {why}", asked.len()))?;
            if let Some(id) = answer? {
                asked.remove(&id);
            }
        }
        drop(close);
        self.ended()
    }

    fn ended(&mut self) -> Done {
        let began = Instant::now();
        while began.elapsed() < PATIENCE {
            match self.0.try_wait().map_err(io)? {
                Some(status) if status.success() => return Ok(()),
                Some(status) => return Err(format!("the server ended with {status}")),
                None => std::thread::sleep(PAUSE),
            }
        }
        Err("the server did not end".to_owned())
    }

    /// Connects to where it will listen.
    fn connect(&mut self, address: &str) -> Done<TcpStream> {
        let began = Instant::now();
        loop {
            match TcpStream::connect(address) {
                Ok(stream) => return Ok(stream),
                Err(error) if began.elapsed() > PATIENCE => return Err(io(error)),
                Err(_) => std::thread::sleep(PAUSE),
            }
            if let Some(status) = self.0.try_wait().map_err(io)? {
                return Err(format!("the server ended with {status} before anybody could connect"));
            }
        }
    }
}

/// Has `start` begin a server at an address, says each of `conversations` to it over a connection of its own, and ends the server.
pub(super) fn over_http(start: impl FnOnce(&str) -> Done<Watched>, conversations: &[Vec<Value>]) -> Done {
    let port = TcpListener::bind("127.0.0.1:0").and_then(|free| free.local_addr()).map_err(io)?.port();
    let address = format!("127.0.0.1:{port}");
    let mut server = start(&address)?;
    for messages in conversations {
        converse(server.connect(&address)?, &address, messages)?;
    }
    // The shell's own: not every machine has the program.
    let pid = server.0.id().to_string();
    Command::new("sh").args(["-c", "kill -TERM \"$0\"", &pid]).status().map_err(io)?;
    server.ended()
}

fn converse(stream: TcpStream, address: &str, messages: &[Value]) -> Done {
    stream.set_read_timeout(Some(PATIENCE)).map_err(io)?;
    let mut stream = BufReader::new(stream);
    let mut session = None;
    for message in messages {
        let headers = headers(message, session.as_deref());
        let body = message.to_string();
        let request = format!(
            "POST /mcp HTTP/1.1\r\nhost: {address}\r\ncontent-type: application/json\r\naccept: application/json, text/event-stream\r\n\
             {headers}content-length: {}\r\n\r\n{body}",
            body.len()
        );
        stream.get_mut().write_all(request.as_bytes()).map_err(io)?;
        let answer = answered(&mut stream)?;
        if answer.id != message["id"].as_u64() {
            return Err(format!("{} was not answered over HTTP", message["method"]));
        }
        session = session.or(answer.session);
    }
    Ok(())
}

/// What a request's headers say of its message: the eras have other ones.
fn headers(message: &Value, session: Option<&str>) -> String {
    if let Some(session) = session {
        return format!("mcp-protocol-version: 2025-11-25\r\nmcp-session-id: {session}\r\n");
    }
    let method = message["method"].as_str().unwrap_or_default();
    if method == "initialize" {
        return String::new();
    }
    let name = message["params"]["name"].as_str().map(|name| format!("mcp-name: {name}\r\n"));
    format!("mcp-protocol-version: 2026-07-28\r\nmcp-method: {method}\r\n{}", name.unwrap_or_default())
}

/// An answer over HTTP.
#[derive(Debug, PartialEq, Eq)]
struct Answered {
    /// What it answers, if anything.
    id: Option<u64>,
    /// The session that it begins.
    session: Option<String>,
}

/// Reads an answer to its end.
fn answered(stream: &mut BufReader<TcpStream>) -> Done<Answered> {
    let (mut length, mut is_chunked, mut session) = (0, false, None);
    let status = line(stream)?;
    if !status.starts_with("HTTP/1.1 2") {
        return Err(format!("the server said {status}"));
    }
    loop {
        let header = line(stream)?;
        let Some((name, value)) = header.split_once(':') else { break };
        let value = value.trim();
        match name.to_ascii_lowercase().as_str() {
            "content-length" => length = value.parse().map_err(|e| format!("{header}: {e}"))?,
            "transfer-encoding" => is_chunked = value == "chunked",
            "mcp-session-id" => session = Some(value.to_owned()),
            _ => {}
        }
    }
    let mut body = Vec::new();
    loop {
        if is_chunked {
            let size = line(stream)?;
            length = usize::from_str_radix(&size, 16).map_err(|e| format!("{size}: {e}"))?;
        }
        let begins = body.len();
        body.resize(begins + length, 0);
        stream.read_exact(&mut body[begins..]).map_err(io)?;
        if is_chunked {
            line(stream)?;
        }
        if !is_chunked || length == 0 {
            break;
        }
    }
    let body = String::from_utf8(body).map_err(|e| e.to_string())?;
    // Events have theirs behind a word.
    let texts = body.lines().map(|line| line.strip_prefix("data:").unwrap_or(line));
    let ids: Vec<u64> = texts.map(good).filter_map(Result::transpose).collect::<Done<_>>()?;
    Ok(Answered { id: ids.first().copied(), session })
}

/// A line without its end.
fn line(stream: &mut BufReader<TcpStream>) -> Done<String> {
    let mut line = String::new();
    if stream.read_line(&mut line).map_err(io)? == 0 {
        return Err("the server ended the connection".to_owned());
    }
    line.truncate(line.trim_end().len());
    Ok(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_over_http_is_read_to_its_end_and_one_that_refuses_is_an_error() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let server = std::thread::spawn(move || {
            let (mut peer, _) = listener.accept().unwrap();
            peer.write_all(
                b"HTTP/1.1 200 OK\r\nMcp-Session-Id: abc\r\ntransfer-encoding: chunked\r\n\r\nb\r\n{\"id\":7,\"re\r\n9\r\nsult\":{}}\r\n0\r\n\r\n\
                  HTTP/1.1 202 Accepted\r\n\r\n\
                  HTTP/1.1 200 OK\r\ncontent-length: 38\r\n\r\nid: 1\ndata: {\"id\":8,\"result\":{\"a\":1}}\n\
                  HTTP/1.1 200 OK\r\ncontent-length: 34\r\n\r\n{\"id\":9,\"result\":{\"isError\":true}}\
                  HTTP/1.1 400 Bad Request\r\n\r\n",
            )
            .unwrap();
        });
        let mut stream = BufReader::new(TcpStream::connect(address).unwrap());
        server.join().unwrap();
        let session = Some("abc".to_owned());
        assert_eq!(answered(&mut stream), Ok(Answered { id: Some(7), session }));
        assert_eq!(answered(&mut stream), Ok(Answered { id: None, session: None }));
        assert_eq!(answered(&mut stream), Ok(Answered { id: Some(8), session: None }), "as an event");
        assert!(answered(&mut stream).unwrap_err().contains("refused"));
        assert!(answered(&mut stream).unwrap_err().contains("400"));
    }

    #[test]
    fn what_refuses_is_told_by_where_it_says_so() {
        assert_eq!(good(r#"{"id":3,"result":{"tools":[{"properties":{"error":{}}}]}}"#), Ok(Some(3)));
        assert_eq!(good(r#"{"id":3,"method":"ping"}"#), Ok(None), "a question is no answer");
        assert!(good(r#"{"id":3,"error":{"code":-32601}}"#).is_err());
    }

    #[test]
    fn a_server_that_refuses_or_ends_is_not_waited_for() {
        let watched = |script: &str| Watched::start(Command::new("sh").args(["-c", script])).unwrap();
        let refused = watched(r#"echo '{"id":1,"error":{}}'; exec sleep 600"#).talk(begun());
        assert!(refused.unwrap_err().contains("refused"));
        let ended = watched(r#"echo '{"id":1,"result":{}}'"#).talk(begun());
        assert!(ended.unwrap_err().contains("1 answers are missing"));
        let failed =
            watched(r#"echo '{"id":1,"result":{}}'; echo '{"id":2,"result":{}}'; exit 3"#).talk(begun());
        assert!(failed.unwrap_err().contains("exit status: 3"));
    }

    #[test]
    fn requests_say_of_their_era_what_it_wants() {
        let calls = [("git_status", json!({}))];
        let new = headers(stateless(&calls).last().unwrap(), None);
        assert!(new.contains("2026-07-28") && new.contains("mcp-name: git_status\r\n"), "{new}");
        let old = handshake(&calls);
        assert_eq!(headers(&old[0], None), "", "a session has no name before it has begun");
        assert_eq!(
            headers(&old[1], Some("abc")),
            "mcp-protocol-version: 2025-11-25\r\nmcp-session-id: abc\r\n"
        );
    }
}
