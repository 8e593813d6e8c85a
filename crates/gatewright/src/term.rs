//! What people see.

use anstyle::{AnsiColor, Style};
use contract::Fault;

use crate::commands::CommandError;

pub const GOOD: Style = AnsiColor::Green.on_default();
pub const BAD: Style = AnsiColor::Red.on_default();
pub const NOTE: Style = AnsiColor::Cyan.on_default();
pub const BOLD: Style = Style::new().bold();
pub const DIM: Style = Style::new().dimmed();

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
        anstream::println!("{style}{line}{style:#}");
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
