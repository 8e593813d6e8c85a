//! Says how the documents of a folder stand and what of them is not so: `cargo run -p gatewright-documents --example audit -- FOLDER
//! [DOCUMENT…]`. With `--make NAME` in place of documents: what would be made.
#![allow(clippy::disallowed_methods, clippy::print_stdout, reason = "an example looks at the machine itself")]
#![allow(clippy::unwrap_used, unreachable_pub, missing_docs, reason = "an example")]

#[path = "../tests/it/disk.rs"]
mod disk;

use gatewright_documents::{Ground, audit, capabilities, check, claims, defaults, generate};

fn main() {
    let mut arguments = std::env::args().skip(1);
    let look = disk::Disk(arguments.next().unwrap_or_else(|| ".".to_owned()).into());
    let documents: Vec<String> = arguments.collect();
    let began = std::time::Instant::now();
    let ground = Ground::survey(&look).unwrap();
    let surveyed = began.elapsed();
    if let [make, name] = documents.as_slice()
        && make == "--make"
    {
        let requirement = defaults().into_iter().find(|r| r.name == *name).unwrap();
        match generate(&ground, &requirement) {
            Ok(made) => println!("{}", made.text),
            Err(error) => println!("{error}"),
        }
        return;
    }
    if documents.is_empty() {
        for said in audit(&ground, &defaults(), &capabilities(&ground), &|_| None) {
            println!("{}", serde_json::to_string_pretty(&said).unwrap());
        }
    }
    for document in documents {
        let Ok(text) = std::fs::read_to_string(look.0.join(&document)) else { continue };
        let claims = claims(&text);
        println!("# {} {document}: {} claims", look.0.display(), claims.len());
        for finding in check(&ground, &claims, &document) {
            println!("  {document}:{} {:?} {:?}: {}", finding.line, finding.kind, finding.text, finding.why);
        }
    }
    eprintln!("surveyed in {surveyed:?}, all in {:?}", began.elapsed());
}
