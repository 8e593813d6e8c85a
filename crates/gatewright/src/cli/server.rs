//! The command line of a server: clients start one again and again, and wait for it. All that the other commands say of themselves is
//! not needed to understand it.

use std::ffi::OsString;

use clap::{Parser, Subcommand};

use super::{Cli, Command, Everywhere, ServeArgs};

/// `gatewright serve`, and no other command.
#[derive(Debug, Parser)]
#[command(name = "gatewright", version, propagate_version = true)]
struct ServerCli {
    #[command(flatten)]
    everywhere: Everywhere,

    #[command(subcommand)]
    command: ServerCommand,
}

#[derive(Debug, Subcommand)]
enum ServerCommand {
    Serve(ServeArgs),
}

impl Cli {
    /// What was asked for on the command line. Ends the process where that is help, or not understood.
    pub fn of_process() -> Self {
        Self::of_server(std::env::args_os()).unwrap_or_else(Self::parse)
    }

    /// The same of a server. Whatever is not understood as one, help among it, is for the whole command line to say.
    fn of_server(words: impl IntoIterator<Item = OsString>) -> Option<Self> {
        let words: Vec<OsString> = words.into_iter().collect();
        if !words.iter().any(|word| word == "serve") {
            return None;
        }
        let ServerCli { everywhere, command: ServerCommand::Serve(args) } =
            ServerCli::try_parse_from(words).ok()?;
        Some(Self { everywhere, command: Command::Serve(args) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_is_asked_for_in_the_same_words_whoever_reads_them() {
        let words = |line: &str| -> Vec<OsString> { line.split(' ').map(OsString::from).collect() };
        for line in [
            "gatewright serve",
            "gatewright --root a serve --root b=c --read-only",
            "gatewright serve --toolsets git,lint --http 127.0.0.1:1 --insecure-loopback --allow-host a --allow-host b",
            "gatewright serve --http [::1]:0 --tls-cert a --tls-key b --allow-origin https://a.example",
        ] {
            let (short, whole) = (Cli::of_server(words(line)), Cli::try_parse_from(words(line)));
            assert_eq!(format!("{:?}", short.unwrap()), format!("{:?}", whole.unwrap()), "{line}");
        }
        for line in [
            "gatewright",
            "gatewright --help",
            "gatewright serve --help",
            "gatewright serve --version",
            "gatewright help serve",
            "gatewright serve --sideways",
            "gatewright serve --insecure-loopback",
            "gatewright --root serve tools",
            "gatewright context serve",
            "gatewright call serve",
        ] {
            assert!(Cli::of_server(words(line)).is_none(), "{line}: the whole command line says what it is");
        }
    }
}
