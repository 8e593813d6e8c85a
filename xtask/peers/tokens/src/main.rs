//! Reads names of files, one on a line, and says for each how many characters and tokens it has: characters, then by
//! `o200k_base`, then by `cl100k_base`, with tabs between them. What is no UTF-8 is an error: it is not what models are shown.

use std::error::Error;
use std::io::{BufRead as _, Write as _};

fn main() -> Result<(), Box<dyn Error>> {
    let tokenizers = [tiktoken_rs::o200k_base()?, tiktoken_rs::cl100k_base()?];
    let mut out = std::io::stdout().lock();
    for line in std::io::stdin().lock().lines() {
        let line = line?;
        let text = std::fs::read_to_string(&line).map_err(|e| format!("{line}: {e}"))?;
        // As plain text: what looks like a special token is none in a tool's answer.
        let counts = tokenizers.each_ref().map(|tokenizer| tokenizer.encode_ordinary(&text).len());
        writeln!(out, "{}\t{}\t{}", text.chars().count(), counts[0], counts[1])?;
    }
    Ok(())
}
