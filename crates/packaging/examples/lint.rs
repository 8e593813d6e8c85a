//! What the linter says of packages: `lint package.tgz …` prints, for each, its messages in the form of publint's, as one line of
//! JSON.
#![allow(clippy::disallowed_methods, clippy::print_stdout, reason = "an example reads its files itself")]

use std::io::Read;

use gatewright_packaging::npm::lint::{Message, lint};
use gatewright_packaging::{Packed, Severity};
use serde_json::{Value, json};

/// An archive's files, without the folder that they are all in.
fn unpack(bytes: &[u8]) -> Result<Packed, Box<dyn std::error::Error>> {
    let mut packed = Packed::new();
    for entry in tar::Archive::new(flate2::read::GzDecoder::new(bytes)).entries()? {
        let mut entry = entry?;
        if !entry.header().entry_type().is_file() {
            continue;
        }
        let path = String::from_utf8_lossy(&entry.path_bytes()).into_owned();
        let executable = entry.header().mode()? & 0o111 != 0;
        let mut content = Vec::new();
        entry.read_to_end(&mut content)?;
        packed.put(path.split_once('/').map_or(path.as_str(), |(_, below)| below), &content, executable);
    }
    Ok(packed)
}

fn as_publint(message: &Message) -> Value {
    let kind = match message.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Note => "suggestion",
    };
    json!({"code": message.code, "type": kind, "path": message.at, "args": message.args})
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    for path in std::env::args().skip(1) {
        let said = match lint(&unpack(&std::fs::read(&path)?)?) {
            Ok(messages) => {
                json!({"package": path, "messages": messages.iter().map(as_publint).collect::<Vec<_>>()})
            }
            Err(fault) => json!({"package": path, "fault": fault.to_string()}),
        };
        println!("{said}");
    }
    Ok(())
}
