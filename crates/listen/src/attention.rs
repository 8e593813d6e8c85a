//! Attention: where one request follows another at once, a thread looks for the next before it sleeps.
//!
//! To wake a processor that has come to rest takes nearly as long as to answer a small request. Whoever asks once in a while does not
//! notice, and nothing is spent on him: only after a request that came right behind an answer is the next one looked for.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::sync::Notify;

/// How long the next request is looked for.
const LOOKS: Duration = Duration::from_micros(100);

/// How soon behind an answer a request must have come for the next one to be looked for: longer than that by what waking takes.
const NEAR: Duration = Duration::from_micros(200);

/// How often looking in vain counts at most: after so many times in a row 2 to their power near requests go by for each look.
const MISSES: u32 = 6;

/// How long giving the processor away may take. Where it takes longer, others need it more.
const YIELDS: Duration = Duration::from_micros(50);

/// What the connections of one thread share. Times are nanoseconds since it was made; nothing depends on their order between threads.
#[derive(Debug)]
pub(crate) struct Attention {
    since: Instant,
    answered: AtomicU64,
    is_asked: AtomicBool,
    is_near: AtomicBool,
    /// Whether something came while it was looked.
    is_found: AtomicBool,
    /// How often it was looked in vain since something was found.
    misses: AtomicU32,
    /// How many near requests are let go by before it is looked again.
    rests: AtomicU32,
    is_paid: AtomicBool,
    begins: Notify,
}

impl Default for Attention {
    fn default() -> Self {
        Self {
            since: Instant::now(),
            answered: AtomicU64::new(0),
            is_asked: AtomicBool::new(false),
            is_near: AtomicBool::new(false),
            is_found: AtomicBool::new(false),
            misses: AtomicU32::new(0),
            rests: AtomicU32::new(0),
            is_paid: AtomicBool::new(false),
            begins: Notify::new(),
        }
    }
}

impl Attention {
    /// Whether the next request is being looked for, or the one that was found answered.
    #[cfg(test)]
    pub(crate) fn is_paid(&self) -> bool {
        self.is_paid.load(Ordering::Relaxed)
    }

    fn now(&self) -> u64 {
        u64::try_from(self.since.elapsed().as_nanos()).unwrap_or(u64::MAX)
    }

    /// How long ago the last answer was given.
    fn silence(&self, now: u64) -> Duration {
        Duration::from_nanos(now.saturating_sub(self.answered.load(Ordering::Relaxed)))
    }

    fn asked(&self, now: u64) {
        self.is_asked.store(true, Ordering::Relaxed);
        self.is_found.store(true, Ordering::Relaxed);
        let is_near = self.silence(now) < NEAR;
        let rests = self.rests.load(Ordering::Relaxed);
        if is_near && rests > 0 {
            self.rests.store(rests - 1, Ordering::Relaxed);
        }
        self.is_near.store(is_near && rests == 0, Ordering::Relaxed);
    }

    fn answered(&self, now: u64) {
        self.answered.store(now, Ordering::Relaxed);
        self.is_asked.store(false, Ordering::Relaxed);
        if self.is_near.load(Ordering::Relaxed) && !self.is_paid.load(Ordering::Relaxed) {
            self.begins.notify_one();
        }
    }

    /// It is looked from now on. What came since the answer counts as found.
    fn begin(&self) {
        self.is_found.store(self.is_asked.load(Ordering::Relaxed), Ordering::Relaxed);
        self.is_paid.store(true, Ordering::Relaxed);
    }

    /// It is looked no more: nothing came in time, what came takes longer, or others want the processor.
    fn end(&self, is_wanted: bool) {
        let found = self.is_found.load(Ordering::Relaxed);
        let misses = self.misses.load(Ordering::Relaxed);
        let misses = if found { 0 } else { (misses + 1).min(MISSES) };
        self.misses.store(misses, Ordering::Relaxed);
        if !found || is_wanted {
            // Whoever takes longer each time is not waited for; nor is an answer that goes on in pieces.
            self.rests.store((1 << misses.max(1)) - 1, Ordering::Relaxed);
            self.is_near.store(false, Ordering::Relaxed);
        }
        self.is_paid.store(false, Ordering::Relaxed);
    }

    /// Looks for requests whenever there is reason to, for ever.
    pub(crate) async fn pay(&self) {
        loop {
            self.begins.notified().await;
            self.begin();
            let mut is_wanted = false;
            while !is_wanted && self.silence(self.now()) < LOOKS {
                // Whoever asks may need this processor for it.
                let gave = self.now();
                std::thread::yield_now();
                is_wanted = Duration::from_nanos(self.now() - gave) > YIELDS;
                // The runtime does what there is to be done, asks the system for more, and comes back.
                tokio::task::yield_now().await;
            }
            self.end(is_wanted);
        }
    }
}

/// A stream whose thread pays attention to it.
pub(crate) struct Heeded<S> {
    stream: S,
    /// None where it has no thread of its own.
    attention: Option<Arc<Attention>>,
}

impl<S> Heeded<S> {
    pub(crate) fn new(stream: S, attention: Option<Arc<Attention>>) -> Self {
        Self { stream, attention }
    }

    fn told(&self, of: impl FnOnce(&Attention, u64)) {
        if let Some(attention) = &self.attention {
            of(attention, attention.now());
        }
    }

    fn wrote(&self, wrote: Poll<io::Result<usize>>) -> Poll<io::Result<usize>> {
        if wrote.is_ready() {
            self.told(Attention::answered);
        }
        wrote
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Heeded<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = into.filled().len();
        let read = Pin::new(&mut self.stream).poll_read(cx, into);
        if into.filled().len() > before {
            self.told(Attention::asked);
        }
        read
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Heeded<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let wrote = Pin::new(&mut self.stream).poll_write(cx, bytes);
        self.wrote(wrote)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        parts: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let wrote = Pin::new(&mut self.stream).poll_write_vectored(cx, parts);
        self.wrote(wrote)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    use tokio::time::timeout;

    use super::*;

    const MICRO: u64 = 1_000;
    const LONG: Duration = Duration::from_secs(20);

    /// Whether the next request is looked for once `attention` was told this: when something was asked and answered.
    fn looks(attention: &Attention, told: &[(u64, u64)]) -> bool {
        for (asked, answered) in told {
            attention.asked(asked * MICRO);
            attention.answered(answered * MICRO);
        }
        attention.is_near.load(Ordering::Relaxed)
    }

    #[test]
    fn only_behind_a_request_that_came_right_after_an_answer_is_the_next_one_looked_for() {
        let attention = Attention::default();
        assert!(!looks(&attention, &[(1_000, 1_050)]), "the first");
        assert!(!looks(&attention, &[(9_000, 9_050)]), "a while later");
        assert!(looks(&attention, &[(9_150, 9_200)]), "at once");
        assert!(looks(&attention, &[(9_399, 9_500), (9_500, 9_600)]), "again and again");
        assert!(!looks(&attention, &[(9_800, 9_900)]), "not any more");
    }

    /// How many near requests go by until the next one is looked for, where each is found at once.
    fn go_by(attention: &Attention, now: &mut u64) -> Option<u32> {
        (0..1_000).find(|_| {
            *now += 150;
            looks(attention, &[(*now, *now)])
        })
    }

    #[test]
    fn the_more_often_it_was_looked_in_vain_the_seldomer_it_is_looked() {
        let (attention, mut now) = (Attention::default(), 1_000);
        attention.answered(now * MICRO);
        let mut after = |looked: &dyn Fn(&Attention)| {
            looked(&attention);
            go_by(&attention, &mut now)
        };
        let in_vain = |attention: &Attention| {
            attention.begin();
            attention.end(false);
        };
        let found = |is_wanted: bool| {
            move |attention: &Attention| {
                attention.begin();
                // However quickly it was answered.
                let at = attention.answered.load(Ordering::Relaxed);
                attention.asked(at);
                attention.answered(at);
                attention.end(is_wanted);
            }
        };
        assert_eq!(after(&|_| ()), Some(0));
        for goes in [1, 3, 7, 15, 31, 63, 63] {
            assert_eq!(after(&in_vain), Some(goes));
        }
        assert_eq!(after(&|attention| found(false)(attention)), Some(0));
        assert_eq!(after(&in_vain), Some(1), "from the beginning");
        assert_eq!(after(&|attention| found(true)(attention)), Some(1), "others want the processor");
        assert_eq!(after(&in_vain), Some(1));
    }

    #[test]
    fn a_request_that_came_before_it_was_looked_was_found_if_it_is_being_answered() {
        for (is_answered, misses) in [(false, 0), (true, 1)] {
            let attention = Attention::default();
            attention.asked(0);
            if is_answered {
                attention.answered(0);
            }
            attention.begin();
            attention.end(false);
            assert_eq!(attention.misses.load(Ordering::Relaxed), misses);
        }
    }

    #[tokio::test]
    async fn attention_begins_behind_a_near_answer_only_and_ends_by_itself() {
        let attention = Arc::<Attention>::default();
        let paying = Arc::clone(&attention);
        let task = tokio::spawn(async move { paying.pay().await });
        let is_paid = || attention.is_paid();

        attention.is_near.store(false, Ordering::Relaxed);
        attention.answered(attention.now());
        for _ in 0..10 {
            tokio::task::yield_now().await;
            assert!(!is_paid());
        }
        // It may be cut short where the processor is wanted by others.
        timeout(LONG, async {
            while !is_paid() {
                attention.is_near.store(true, Ordering::Relaxed);
                attention.answered(u64::MAX);
                tokio::task::yield_now().await;
            }
        })
        .await
        .unwrap();
        attention.answered(attention.now());
        timeout(LONG, async {
            while is_paid() {
                tokio::task::yield_now().await;
            }
        })
        .await
        .unwrap();
        assert!(!task.is_finished());
        assert!(!attention.is_near.load(Ordering::Relaxed), "it was in vain");
        assert!(attention.rests.load(Ordering::Relaxed) > 0);
    }

    #[tokio::test]
    async fn what_is_heeded_passes_unchanged_and_is_told_of() {
        let (ours, mut theirs) = tokio::io::duplex(64);
        let attention = Arc::<Attention>::default();
        let mut stream = Heeded::new(ours, Some(Arc::clone(&attention)));
        attention.answered(0);
        theirs.write_all(b"asked").await.unwrap();
        attention.is_near.store(true, Ordering::Relaxed);
        tokio::time::sleep(NEAR).await;
        let mut read = [0; 5];
        stream.read_exact(&mut read).await.unwrap();
        assert_eq!(&read, b"asked");
        assert!(!attention.is_near.load(Ordering::Relaxed), "it came late");
        stream.write_all(b"ans").await.unwrap();
        let wrote = stream.write_vectored(&[IoSlice::new(b"we"), IoSlice::new(b"red")]).await.unwrap();
        stream.flush().await.unwrap();
        assert!(attention.silence(attention.now()) < LONG && attention.answered.load(Ordering::Relaxed) > 0);
        stream.shutdown().await.unwrap();
        drop(stream);
        let mut all = String::new();
        theirs.read_to_string(&mut all).await.unwrap();
        assert_eq!(all, ["answe", "answered"][usize::from(wrote > 2)]);
    }
}
