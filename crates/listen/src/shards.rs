//! Threads that answer connections, each with a runtime of its own: what a connection does stays on its thread, and wakes no
//! other one.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use tokio::runtime::{Builder, Handle};
use tokio_util::sync::CancellationToken;

use crate::attention::Attention;

/// How long what blocks in one of them has to end with it.
const ENDS: Duration = Duration::from_millis(500);

/// The threads. They end when this is dropped, and what still goes on in them ends then.
#[derive(Debug)]
pub struct Shards {
    /// Of each thread's runtime, and what its connections share.
    runtimes: Vec<(Handle, Arc<Attention>)>,
    threads: Vec<JoinHandle<()>>,
    next: AtomicUsize,
    over: CancellationToken,
}

impl Shards {
    /// Starts so many threads, at least one.
    ///
    /// # Errors
    ///
    /// Where the system has no room for a runtime or a thread.
    pub fn start(many: usize) -> io::Result<Self> {
        let mut shards = Self {
            runtimes: Vec::new(),
            threads: Vec::new(),
            next: AtomicUsize::new(0),
            over: CancellationToken::new(),
        };
        for number in 0..many.max(1) {
            let runtime = Builder::new_current_thread().enable_all().build()?;
            let attention = Arc::<Attention>::default();
            shards.runtimes.push((runtime.handle().clone(), Arc::clone(&attention)));
            let over = shards.over.clone();
            let thread = std::thread::Builder::new().name(format!("connections {number}"));
            let work = move || {
                runtime.spawn(async move { attention.pay().await });
                runtime.block_on(over.cancelled());
                runtime.shutdown_timeout(ENDS);
            };
            shards.threads.push(thread.spawn(work)?);
        }
        Ok(shards)
    }

    /// The runtime of the next connection, each in turn, and what it shares with that one's others.
    pub(crate) fn next(&self) -> (Handle, Arc<Attention>) {
        let at = self.next.fetch_add(1, Ordering::Relaxed) % self.runtimes.len().max(1);
        self.runtimes.get(at).cloned().unwrap_or_else(|| (Handle::current(), Arc::default()))
    }
}

impl Drop for Shards {
    fn drop(&mut self) {
        self.over.cancel();
        for thread in self.threads.drain(..) {
            // It said so when it panicked.
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

    use super::*;

    #[test]
    fn each_in_turn_gets_what_comes_and_none_goes_on_afterwards() {
        let shards = Shards::start(3).unwrap();
        let (said, heard) = std::sync::mpsc::channel();
        for _ in 0..6 {
            let said = said.clone();
            shards.next().0.spawn(async move {
                let name = std::thread::current().name().map(str::to_owned);
                said.send(name.unwrap_or_default()).unwrap();
                std::future::pending::<()>().await;
                drop(said);
            });
        }
        drop(said);
        let mut names: Vec<String> = heard.iter().take(6).collect();
        names.sort();
        names.dedup();
        assert_eq!(names, ["connections 0", "connections 1", "connections 2"]);
        drop(shards);
        assert!(heard.recv().is_err(), "what was pending is gone");
    }

    #[test]
    fn whoever_asks_again_at_once_has_the_threads_attention() {
        let shards = Shards::start(1).unwrap();
        let attention = Arc::clone(&shards.runtimes[0].1);
        let stop = CancellationToken::new();
        let runtime = Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
            let address = listener.local_addr().unwrap();
            let app = crate::routed(axum::Router::new().route("/", axum::routing::get(|| async { "here" })));
            let asking = async {
                let mut stream = tokio::net::TcpStream::connect(address).await.unwrap();
                let mut answer = [0; 4_096];
                // How soon it asks again is the machine's: a loaded one takes some tries.
                while !attention.is_paid() {
                    stream.write_all(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n").await.unwrap();
                    let read = stream.read(&mut answer).await.unwrap();
                    assert!(answer[..read].starts_with(b"HTTP/1.1 200"), "{read}");
                }
                drop(stream);
                stop.cancel();
            };
            let serving = crate::serve(listener, None, (10, Some(&shards)), app, stop.clone());
            let both = async { tokio::join!(asking, serving) };
            tokio::time::timeout(Duration::from_secs(30), both).await.unwrap();
        });
    }
}
