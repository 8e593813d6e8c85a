//! `build SOURCE OUT`: compiles one token file to CSS, SCSS and JavaScript, and does nothing else.
#![allow(clippy::disallowed_methods, clippy::print_stdout, reason = "a program of its own")]

use std::collections::BTreeMap;
use std::process::ExitCode;

use design_tokens::{Options, Platform, compile};

fn main() -> ExitCode {
    let mut args = std::env::args().skip(1);
    let (Some(source), Some(out)) = (args.next(), args.next()) else {
        println!("usage: build SOURCE OUT");
        return ExitCode::from(2);
    };
    match build(&source, &out) {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            println!("{why}");
            ExitCode::FAILURE
        }
    }
}

fn build(source: &str, out: &str) -> Result<(), Box<dyn std::error::Error>> {
    let files = BTreeMap::from([(source.to_owned(), std::fs::read_to_string(source)?)]);
    let options = Options::default();
    let compiled = compile(&[source.to_owned()], &files, &options)
        .map_err(|all| all.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))?;
    std::fs::create_dir_all(out)?;
    for (_, file) in compiled.emit_all(&[Platform::Css, Platform::Scss, Platform::Js], &options)? {
        std::fs::write(std::path::Path::new(out).join(file.name), file.text)?;
    }
    Ok(())
}
