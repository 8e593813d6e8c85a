//! What somebody else's tool asks the caller's user in the middle of a call: a way to whoever can ask, and for how long was
//! waited for people, which no deadline counts.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use serde_json::{Map, Value};
use tokio::sync::{mpsc, oneshot};

/// Most questions that one call may ask.
pub const MOST: usize = 8;

/// What the user is to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Wanted {
    /// Fill in a form: its schema, an object of primitive fields (MCP, "Requested Schema").
    Form(Value),
    /// Open a page.
    Page(String),
}

/// A question of somebody else's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question {
    /// What the user reads: plain text that says whose question it is.
    pub text: String,
    /// What the user is to do.
    pub wanted: Wanted,
}

/// What the user did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Replied {
    /// Sent the form off, or opened the page.
    Accepted(Map<String, Value>),
    /// Said no.
    Declined,
    /// Closed the question, or gave no answer in time.
    Cancelled,
    /// Was not asked: nobody can be, or too much was asked already.
    Unasked,
}

impl Replied {
    /// For the record.
    const fn word(&self) -> &'static str {
        match self {
            Self::Accepted(_) => "answered",
            Self::Declined => "declined",
            Self::Cancelled => "cancelled",
            Self::Unasked => "not asked",
        }
    }
}

/// A question on its way to the user. Dropped without an answer it is cancelled.
#[derive(Debug)]
pub struct Inquiry {
    /// The question.
    pub question: Question,
    /// Where the answer goes; closed once nobody waits for one.
    pub answer: oneshot::Sender<Replied>,
}

/// The way to whoever can ask the user of one call.
#[derive(Debug, Clone)]
pub struct Inquiries {
    sender: mpsc::Sender<Inquiry>,
    opens_pages: bool,
    waiting: Waiting,
}

impl Inquiries {
    /// A way, and its other end, which asks; whether the user's client opens pages is given. Once the other end is dropped,
    /// nobody is asked any more.
    #[must_use]
    pub fn new(opens_pages: bool) -> (Self, mpsc::Receiver<Inquiry>) {
        let (sender, heard) = mpsc::channel(1);
        (Self { sender, opens_pages, waiting: Waiting::default() }, heard)
    }

    /// Asks, and waits for what the user does.
    pub(crate) async fn ask(&self, question: Question) -> Replied {
        let replied = self.asked(question).await;
        self.waiting.0.lock().unwrap_or_else(PoisonError::into_inner).said.push(replied.word());
        replied
    }

    async fn asked(&self, question: Question) -> Replied {
        if self.said().len() >= MOST || matches!(question.wanted, Wanted::Page(_)) && !self.opens_pages {
            return Replied::Unasked;
        }
        let _open = self.waiting.begin();
        let (answer, replied) = oneshot::channel();
        if self.sender.send(Inquiry { question, answer }).await.is_err() {
            return Replied::Unasked;
        }
        replied.await.unwrap_or(Replied::Cancelled)
    }

    /// What became of the questions so far.
    pub(crate) fn said(&self) -> Vec<&'static str> {
        self.waiting.0.lock().unwrap_or_else(PoisonError::into_inner).said.clone()
    }
}

/// For how long a call has waited for its user.
#[derive(Debug, Clone, Default)]
struct Waiting(Arc<Mutex<Waited>>);

#[derive(Debug, Default)]
struct Waited {
    open: usize,
    since: Option<Instant>,
    before: Duration,
    said: Vec<&'static str>,
}

/// A question that is open, until it is dropped.
struct Open(Waiting);

impl Waiting {
    fn begin(&self) -> Open {
        let mut waited = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        waited.open += 1;
        waited.since.get_or_insert_with(Instant::now);
        drop(waited);
        Open(self.clone())
    }

    fn whole(&self) -> Duration {
        let waited = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        waited.before + waited.since.map_or(Duration::ZERO, |since| since.elapsed())
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        let mut waited = self.0.0.lock().unwrap_or_else(PoisonError::into_inner);
        waited.open -= 1;
        if waited.open == 0
            && let Some(since) = waited.since.take()
        {
            waited.before += since.elapsed();
        }
    }
}

/// Comes back when `limit` has passed, the time not counted in which the user was asked.
pub(crate) async fn lapsed(limit: Duration, inquiries: Option<&Inquiries>) {
    let began = Instant::now();
    loop {
        let waited = inquiries.map_or(Duration::ZERO, |inquiries| inquiries.waiting.whole());
        let left = (limit + waited).saturating_sub(began.elapsed());
        if left.is_zero() {
            return;
        }
        // While a question is open the end moves on: it is looked for again, not too often.
        tokio::time::sleep(left.max(Duration::from_millis(20))).await;
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn run<T>(work: impl Future<Output = T>) -> T {
        tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(work)
    }

    fn question() -> Question {
        Question { text: "docs asks: how many?".into(), wanted: Wanted::Form(json!({ "type": "object" })) }
    }

    #[test]
    fn time_in_which_a_person_is_asked_is_not_the_calls() {
        run(async {
            let (inquiries, mut heard) = Inquiries::new(false);
            let asked = inquiries.clone();
            let asking = tokio::spawn(async move { asked.ask(question()).await });
            let inquiry = heard.recv().await.unwrap();
            let began = Instant::now();
            let lapsing = lapsed(Duration::from_millis(100), Some(&inquiries));
            tokio::pin!(lapsing);
            assert!(tokio::time::timeout(Duration::from_millis(400), &mut lapsing).await.is_err());
            inquiry.answer.send(Replied::Accepted(Map::new())).unwrap();
            assert_eq!(asking.await.unwrap(), Replied::Accepted(Map::new()));
            tokio::time::timeout(Duration::from_secs(2), lapsing).await.unwrap();
            assert!(began.elapsed() >= Duration::from_millis(480), "{:?}", began.elapsed());
            assert_eq!(inquiries.said(), ["answered"]);
        });
    }

    #[test]
    fn nobody_is_asked_where_nobody_listens_nor_for_pages_nor_without_end() {
        run(async {
            let (inquiries, mut heard) = Inquiries::new(false);
            let page = Question { wanted: Wanted::Page("https://docs.example/".into()), ..question() };
            assert_eq!(inquiries.ask(page).await, Replied::Unasked);
            let listening = tokio::spawn(async move {
                let mut count = 0;
                while let Some(inquiry) = heard.recv().await {
                    count += 1;
                    drop(inquiry);
                }
                count
            });
            for _ in 0..MOST + 3 {
                inquiries.ask(question()).await;
            }
            assert_eq!(inquiries.said().last(), Some(&"not asked"));
            drop(inquiries);
            assert_eq!(listening.await.unwrap(), MOST - 1);
            let (inquiries, heard) = Inquiries::new(true);
            drop(heard);
            assert_eq!(inquiries.ask(question()).await, Replied::Unasked);
        });
    }
}
