//! What people see.

use std::io::Write as _;

use anstyle::{AnsiColor, Style};
use contract::Fault;

use crate::commands::CommandError;

pub const GOOD: Style = AnsiColor::Green.on_default();
pub const BAD: Style = AnsiColor::Red.on_default();
pub const NOTE: Style = AnsiColor::Cyan.on_default();
pub const BOLD: Style = Style::new().bold();
pub const DIM: Style = Style::new().dimmed();

/// The exit code of a command whose reader has gone away: what a shell says of a program that SIGPIPE ended.
pub const READER_GONE: u8 = 141;

/// Prints a line. A reader that has gone away (`| head`) ends the command quietly, and a full disk with a word; neither ends it
/// as a success: what was found out may not have been said.
pub fn line(text: std::fmt::Arguments<'_>) {
    if let Err(error) = writeln!(anstream::stdout().lock(), "{text}") {
        std::process::exit(i32::from(unsaid(&error)));
    }
}

/// The exit code where standard output could not be written.
pub fn unsaid(error: &std::io::Error) -> u8 {
    if error.kind() == std::io::ErrorKind::BrokenPipe {
        return READER_GONE;
    }
    anstream::eprintln!("{BAD}error{BAD:#}: standard output cannot be written: {error}");
    1
}

/// Prints a line to standard output, in colour where it is a terminal.
#[macro_export]
macro_rules! say {
    () => { $crate::term::line(format_args!("")) };
    ($($text:tt)*) => { $crate::term::line(format_args!($($text)*)) };
}

/// Prints a diff in colour.
pub fn diff(text: &str) {
    for line in text.lines() {
        let style = match line.as_bytes().first() {
            _ if line.starts_with("+++") || line.starts_with("---") => BOLD,
            Some(b'+') => GOOD,
            Some(b'-') => BAD,
            Some(b'@') => NOTE,
            _ => Style::new(),
        };
        say!("{style}{line}{style:#}");
    }
}

/// Prints why a command failed.
pub fn error(error: &CommandError) {
    match error {
        CommandError::Fault(fault) => self::fault(fault),
        other => anstream::eprintln!("{BAD}error{BAD:#}: {other}"),
    }
}

/// Prints a fault with its next steps.
pub fn fault(fault: &Fault) {
    anstream::eprintln!("{BAD}{}{BAD:#}: {}", fault.code.as_str(), fault.message);
    for suggestion in &fault.suggestions {
        anstream::eprintln!("  {NOTE}→{NOTE:#} {suggestion}");
    }
}
