//! Servers of this machine's that say what was asked of them.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{SocketAddr, TcpListener};
use std::sync::{Arc, Mutex};

/// A server that answers each path as it is told, and remembers what was asked.
pub(crate) struct Server {
    pub(crate) address: SocketAddr,
    asked: Arc<Mutex<Vec<String>>>,
}

impl Server {
    /// Answers by `answer`: the status line with further fields, and the body.
    pub(crate) fn new(answer: impl Fn(&str) -> (String, String) + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let address = listener.local_addr().unwrap();
        let asked = Arc::<Mutex<Vec<String>>>::default();
        let (heard, answer) = (Arc::clone(&asked), Arc::new(answer));
        std::thread::spawn(move || {
            for caller in listener.incoming().flatten() {
                let (heard, answer) = (Arc::clone(&heard), Arc::clone(&answer));
                std::thread::spawn(move || {
                    let mut reader = BufReader::new(caller.try_clone().unwrap());
                    let mut asking = String::new();
                    reader.read_line(&mut asking).unwrap_or_default();
                    let path = asking.split(' ').nth(1).unwrap_or_default().to_owned();
                    heard.lock().unwrap().push(path.clone());
                    let mut line = String::new();
                    while reader.read_line(&mut line).is_ok_and(|n| n > 2) {
                        line.clear();
                    }
                    let (status, body) = answer(&path);
                    let first = format!(
                        "HTTP/1.1 {status}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
                        body.len()
                    );
                    let mut caller = caller;
                    let _ = caller.write_all(first.as_bytes());
                    let _ = caller.write_all(body.as_bytes());
                });
            }
        });
        Self { address, asked }
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    pub(crate) fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap().clone()
    }
}

/// A page of HTML.
pub(crate) fn html(body: &str) -> (String, String) {
    ("200 OK\r\nContent-Type: text/html".to_owned(), body.to_owned())
}
