//! Says what a folder is: `cargo run -p gatewright-projects --example detect -- FOLDER`. A Go module is shown too.
#![allow(clippy::disallowed_methods, clippy::print_stdout, reason = "an example looks at the machine itself")]
#![allow(clippy::unwrap_used, dead_code, unreachable_pub, missing_docs, reason = "an example")]

#[path = "../tests/it/disk.rs"]
mod disk;

fn main() {
    let folder = std::env::args_os().nth(1).unwrap_or_else(|| ".".into());
    let look = disk::Disk(folder.into());
    let began = std::time::Instant::now();
    let project = gatewright_projects::detect(&look, &[]).unwrap();
    let took = began.elapsed();
    println!("{}", serde_json::to_string_pretty(&project).unwrap());
    let began = std::time::Instant::now();
    if let Some(module) = gatewright_projects::go_module(&look).unwrap() {
        println!("{}", serde_json::to_string_pretty(&module).unwrap());
    }
    eprintln!("detect {took:?}, go_module {:?}", began.elapsed());
}
