//! How long it takes: `cargo run --release -p gatewright-search --example measure -- 10000 100000`. Documents of about
//! 1.1 KB, made of words by Zipf's law from a seed, the same on every machine. Times of building are the
//! processor's, for one thread; those of questions the clock's.
#![allow(clippy::print_stdout, reason = "what a measurement is for")]

use std::time::{Duration, Instant};

use gatewright_search::{
    Analysed, Analyst, Blob, Builder, Columns, Delta, Document, Filters, LibraryView, Mode, Need, Order,
    Plan, Query, SearchError, Vocabulary, answer,
};

/// A generator of numbers (splitmix64).
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, most: u64) -> u64 {
        self.next() % most.max(1)
    }
}

/// Words by rank: the first are said most.
struct Lexicon(Vec<String>);

impl Lexicon {
    fn new(words: u64) -> Self {
        const ONSETS: [&str; 20] = [
            "b", "c", "d", "f", "g", "h", "l", "m", "n", "p", "r", "s", "t", "v", "st", "tr", "pl", "gr",
            "sh", "ch",
        ];
        const VOWELS: [&str; 8] = ["a", "e", "i", "o", "u", "ea", "io", "ou"];
        const ENDS: [&str; 10] = ["", "n", "r", "s", "t", "l", "ing", "ed", "er", "tion"];
        let mut numbers = Numbers(7);
        let mut pick = |of: &[&str]| {
            let at = usize::try_from(numbers.below(of.len() as u64)).unwrap_or(0);
            of.get(at).copied().unwrap_or("").to_owned()
        };
        let word = |rank: u64| {
            let mut word = String::new();
            for _ in 0..2 + rank % 2 {
                word.push_str(&pick(&ONSETS));
                word.push_str(&pick(&VOWELS));
            }
            word + &pick(&ENDS)
        };
        Self((0..words).map(word).collect())
    }

    fn rank(&self, numbers: &mut Numbers) -> usize {
        // Evenly over the logarithm of the rank: Zipf's law.
        #[allow(clippy::cast_precision_loss, reason = "a draw from 0 to 1")]
        let draw = numbers.below(1 << 30) as f64 / f64::from(1u32 << 30);
        #[allow(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            clippy::cast_precision_loss,
            reason = "below the number of words"
        )]
        let rank = (self.0.len() as f64).powf(draw) as usize - 1;
        rank
    }

    fn word(&self, numbers: &mut Numbers) -> &str {
        self.0.get(self.rank(numbers)).map_or("", String::as_str)
    }

    /// A word that somebody asks for: none of the fifty that every text has.
    fn asked(&self, numbers: &mut Numbers) -> &str {
        loop {
            let rank = self.rank(numbers);
            if rank >= 50 {
                return self.0.get(rank).map_or("", String::as_str);
            }
        }
    }

    fn text(&self, numbers: &mut Numbers, words: u64) -> String {
        let words: Vec<&str> = (0..words).map(|_| self.word(numbers)).collect();
        words.join(" ")
    }
}

fn percentile(times: &mut [Duration], percent: usize) -> Duration {
    times.sort_unstable();
    times.get((times.len() * percent / 100).min(times.len().saturating_sub(1))).copied().unwrap_or_default()
}

/// What this thread had of the processor: other work on the machine does not count.
fn worked() -> Duration {
    #[allow(clippy::disallowed_methods, reason = "this program measures itself")]
    let status = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    Duration::from_nanos(status.split(' ').next().and_then(|n| n.parse().ok()).unwrap_or(0))
}

/// What this process takes of memory, in MB.
fn resident() -> u64 {
    #[allow(clippy::disallowed_methods, reason = "this program measures itself")]
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let of = |key: &str| {
        let line = status.lines().find(|line| line.starts_with(key))?;
        line.split_whitespace().nth(1)?.parse::<u64>().ok()
    };
    of("VmHWM:").unwrap_or(0) / 1024
}

fn main() -> Result<(), SearchError> {
    let sizes: Vec<u32> = std::env::args().skip(1).filter_map(|arg| arg.parse().ok()).collect();
    let lexicon = Lexicon::new(120_000);
    for size in if sizes.is_empty() { vec![10_000, 100_000] } else { sizes } {
        measure(size, &lexicon)?;
    }
    Ok(())
}

/// What was built, as a store would keep it.
struct Built {
    vocabulary: Vocabulary,
    columns: Columns,
    blobs: Vec<(Vec<u8>, Vec<u8>)>,
    last: Option<Analysed>,
}

fn measure(size: u32, lexicon: &Lexicon) -> Result<(), SearchError> {
    let built = built(size, lexicon)?;
    let mut delta = Delta::new();
    let start = Instant::now();
    for _ in 0..100 {
        if let Some(analysed) = built.last.clone() {
            delta.put(analysed);
        }
    }
    println!("  100 changes {:.1?}", start.elapsed());
    for (what, mode) in [
        ("fast", Mode::Fast),
        ("fast, one word misspelt", Mode::Fast),
        ("comprehensive", Mode::Comprehensive),
        ("phrases", Mode::Fast),
    ] {
        ask(what, mode, &built, &delta, lexicon)?;
    }
    Ok(())
}

/// The texts of a document: id, name, title, tag, description, heading, code, body.
type Texts = [String; 8];

fn texts(n: u32, lexicon: &Lexicon, numbers: &mut Numbers) -> Texts {
    let name = format!("{}-{n}", lexicon.word(numbers));
    let call = |numbers: &mut Numbers| format!("{}_{}(", lexicon.word(numbers), lexicon.word(numbers));
    let code: Vec<String> = (0..8).map(|_| call(numbers)).collect();
    let mut text = |words| lexicon.text(numbers, words);
    let (title, tag, description, heading, body) = (text(5), text(1), text(14), text(3), text(90));
    [format!("database/p{n:07}-{name}"), name, title, tag, description, heading, code.join(" "), body]
}

fn analysed(n: u32, texts: &Texts, analyst: &mut Analyst) -> Analysed {
    let [id, name, title, tag, description, heading, code, body] = texts;
    analyst.analyse(&Document {
        id,
        category: "database",
        quality: Some(u8::try_from(n % 101).unwrap_or(0)),
        executable: n.is_multiple_of(3),
        verified: n.is_multiple_of(5),
        name,
        title,
        tags: &[tag],
        description,
        headings: &[heading],
        code,
        body,
    })
}

fn built(size: u32, lexicon: &Lexicon) -> Result<Built, SearchError> {
    const BATCH: usize = 1000;
    let (mut builder, mut analyst, mut numbers) = (Builder::new(), Analyst::new(), Numbers(42));
    let (mut analysing, mut adding, mut bytes) = (Duration::ZERO, Duration::ZERO, 0);
    let mut last = None;
    for from in (0..size).step_by(BATCH) {
        let all: Vec<(u32, Texts)> =
            (from..size).take(BATCH).map(|n| (n, texts(n, lexicon, &mut numbers))).collect();
        bytes += all.iter().flat_map(|(_, texts)| texts.iter().skip(1)).map(String::len).sum::<usize>();
        let start = worked();
        let all: Vec<Analysed> = all.iter().map(|(n, texts)| analysed(*n, texts, &mut analyst)).collect();
        let between = worked();
        for analysed in &all {
            builder.add(analysed)?;
        }
        (analysing, adding) =
            (analysing + between.saturating_sub(start), adding + worked().saturating_sub(between));
        last = all.into_iter().next_back();
    }
    drop(analyst);
    let start = worked();
    let encoded = builder.finish()?;
    let finishing = worked().saturating_sub(start);
    println!(
        "{size} documents of {} bytes: analysis {analysing:.1?}, adding {adding:.1?}, finishing {finishing:.1?}; \
         peak {} MB",
        bytes / usize::try_from(size).unwrap_or(1).max(1),
        resident()
    );
    let start = worked();
    let of_documents: usize = encoded.document_terms().map(|terms| terms.len()).sum();
    let blobs: Vec<(Vec<u8>, Vec<u8>)> =
        encoded.terms().map(|term| (term.postings, term.positions)).collect();
    println!(
        "  written in {:.1?}: {} terms; vocabulary {} KB, columns {} KB, postings {} KB, positions {} KB, \
         terms of documents {} KB",
        worked().saturating_sub(start),
        blobs.len(),
        encoded.vocabulary().len() / 1024,
        encoded.columns().len() / 1024,
        blobs.iter().map(|(postings, _)| postings.len()).sum::<usize>() / 1024,
        blobs.iter().map(|(_, positions)| positions.len()).sum::<usize>() / 1024,
        of_documents / 1024
    );
    let start = Instant::now();
    let (vocabulary, columns) =
        (Vocabulary::decode(encoded.vocabulary())?, Columns::decode(encoded.columns())?);
    println!("  opened in {:.1?}", start.elapsed());
    Ok(Built { vocabulary, columns, blobs, last })
}

fn ask(what: &str, mode: Mode, built: &Built, delta: &Delta, lexicon: &Lexicon) -> Result<(), SearchError> {
    const QUESTIONS: usize = 400;
    let view = LibraryView { vocabulary: &built.vocabulary, columns: &built.columns, delta };
    let (mut times, mut planning, mut found, mut numbers) = (Vec::new(), Vec::new(), 0, Numbers(99));
    for _ in 0..QUESTIONS {
        let words: Vec<&str> = (0..=numbers.below(5)).map(|_| lexicon.asked(&mut numbers)).collect();
        let mut text = words.join(" ");
        if what.ends_with("misspelt") {
            text.insert(text.len() / 2, 'q');
        }
        if what == "phrases" {
            text = format!("\"{} {}\"", lexicon.word(&mut numbers), lexicon.word(&mut numbers));
        }
        let query = Query::parse(&text, mode, Filters::default())?;
        let start = Instant::now();
        let plan = Plan::new(&query, &[view]);
        planning.push(start.elapsed());
        let blob = |need: Need| {
            let (postings, positions) = built.blobs.get(usize::try_from(need.term).ok()?)?;
            Some(Blob { term: need.term, postings, positions })
        };
        let given: Vec<Blob<'_>> = plan.needs(0).into_iter().filter_map(blob).collect();
        found += answer(&[view], &plan, &[given], Order::Score, 10)?.total;
        times.push(start.elapsed());
    }
    println!(
        "  {what}: p50 {:.2?}, p95 {:.2?}, p99 {:.2?}; of that planning p50 {:.2?}, p95 {:.2?}; {} found on average",
        percentile(&mut times, 50),
        percentile(&mut times, 95),
        percentile(&mut times, 99),
        percentile(&mut planning, 50),
        percentile(&mut planning, 95),
        found / QUESTIONS
    );
    Ok(())
}
