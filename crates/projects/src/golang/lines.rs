//! The line grammar that `go.mod` and `go.work` share (`golang.org/x/mod/modfile`, Go 1.25): a verb and its
//! arguments, or a verb and a parenthesised block of them.

use crate::project::Problem;

/// One directive, of a line of its own or out of a block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Line {
    /// From 1.
    pub(crate) number: usize,
    pub(crate) verb: String,
    pub(crate) args: Vec<String>,
    /// What stands behind `//` on the same line, trimmed.
    pub(crate) comment: Option<String>,
}

/// Takes `text` apart. What cannot be read is a problem, and the next line is gone on with.
pub(crate) fn lines(file: &str, text: &str, problems: &mut Vec<Problem>) -> Vec<Line> {
    let mut found = Vec::new();
    let mut block: Option<String> = None;
    let mut wrong = |number: usize, message: String| {
        if problems.len() < crate::project::MAX_PROBLEMS {
            problems.push(Problem::new(file, Some(number), message));
        }
    };
    let mut rest = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut number = 0;
    while !rest.is_empty() {
        number += 1;
        let first = number;
        let (tokens, comment, after) = match tokens(rest) {
            Ok((tokens, comment, after, crossed)) => {
                number += crossed;
                (tokens, comment, after)
            }
            Err((message, after)) => {
                wrong(first, message.to_owned());
                rest = after;
                continue;
            }
        };
        rest = after;
        let mut args = tokens.into_iter();
        let Some(head) = args.next() else { continue };
        let args: Vec<Token> = args.collect();
        if let Some(verb) = block.clone() {
            if head == Token::Mark(")") {
                if !args.is_empty() {
                    wrong(first, "something follows `)`".to_owned());
                }
                block = None;
                continue;
            }
            let mut all = vec![head];
            all.extend(args);
            match plain(all) {
                Some(args) => found.push(Line { number: first, verb, args, comment }),
                None => wrong(first, "a parenthesis inside a block".to_owned()),
            }
            continue;
        }
        let Token::Word(verb) = head else {
            wrong(first, "a line begins with a parenthesis or bracket".to_owned());
            continue;
        };
        match (args.first(), args.last()) {
            (Some(Token::Mark("(")), Some(Token::Mark("("))) if args.len() == 1 => block = Some(verb),
            (Some(Token::Mark("(")), Some(Token::Mark(")"))) if args.len() == 2 => {}
            _ => match plain(args) {
                Some(args) => found.push(Line { number: first, verb, args, comment }),
                None => wrong(first, format!("{verb} has a parenthesis where none may stand")),
            },
        }
    }
    if let Some(verb) = block {
        wrong(number, format!("the block of {verb} is not closed"));
    }
    found
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Token {
    Word(String),
    Mark(&'static str),
}

/// Words and brackets as texts; parentheses may not be among them.
fn plain(tokens: Vec<Token>) -> Option<Vec<String>> {
    tokens
        .into_iter()
        .map(|token| match token {
            Token::Word(word) => Some(word),
            Token::Mark("(" | ")") => None,
            Token::Mark(mark) => Some(mark.to_owned()),
        })
        .collect()
}

/// The tokens of the first line of `text`, its comment, what follows the line, and how many more lines a raw string
/// crossed; or what is wrong, and what follows.
type Tokens<'a> = Result<(Vec<Token>, Option<String>, &'a str, usize), (&'static str, &'a str)>;

fn tokens(text: &str) -> Tokens<'_> {
    let mut tokens = Vec::new();
    let mut at = 0;
    let mut crossed = 0;
    let next_line = |at: usize| {
        let rest = text.get(at..).unwrap_or_default();
        rest.find('\n').map_or("", |end| rest.get(end + 1..).unwrap_or_default())
    };
    loop {
        let rest = text.get(at..).unwrap_or_default();
        let Some(c) = rest.chars().next() else { return Ok((tokens, None, "", crossed)) };
        match c {
            '\n' => return Ok((tokens, None, rest.get(1..).unwrap_or_default(), crossed)),
            ' ' | '\t' | '\r' => at += 1,
            _ if rest.starts_with("//") => {
                let end = rest.find('\n').unwrap_or(rest.len());
                let comment = rest.get(2..end).unwrap_or_default().trim().to_owned();
                return Ok((tokens, Some(comment), rest.get(end + 1..).unwrap_or_default(), crossed));
            }
            _ if rest.starts_with("/*") => {
                return Err(("`/* */` is no comment here; use `//`", next_line(at)));
            }
            '(' | ')' | '[' | ']' | '{' | '}' | ',' => {
                let mark = ["(", ")", "[", "]", "{", "}", ","].into_iter().find(|m| rest.starts_with(m));
                tokens.push(Token::Mark(mark.unwrap_or(",")));
                at += 1;
            }
            '"' => {
                let (word, length) = interpreted(rest).map_err(|message| (message, next_line(at)))?;
                tokens.push(Token::Word(word));
                at += length;
            }
            '`' => {
                let inner = rest.get(1..).unwrap_or_default();
                let Some(end) = inner.find('`') else {
                    return Err(("a raw string is not closed", next_line(at)));
                };
                let word = inner.get(..end).unwrap_or_default();
                crossed += word.matches('\n').count();
                tokens.push(Token::Word(word.to_owned()));
                at += end + 2;
            }
            _ if rest.starts_with("=>") => {
                tokens.push(Token::Word("=>".to_owned()));
                at += 2;
            }
            _ => {
                let end = word_end(rest);
                tokens.push(Token::Word(rest.get(..end).unwrap_or_default().to_owned()));
                at += end;
            }
        }
    }
}

/// Where an unquoted word ends: at a blank, a bracket, a comma or a comment.
fn word_end(rest: &str) -> usize {
    let mut before_slash = false;
    for (at, c) in rest.char_indices() {
        match c {
            ' ' | '\t' | '\r' | '\n' | '(' | ')' | '[' | ']' | '{' | '}' | ',' => return at,
            '/' if before_slash => return at - 1,
            _ => {}
        }
        before_slash = c == '/';
    }
    rest.len()
}

/// A string in double quotes, with Go's escapes; its text and its length with the quotes.
fn interpreted(rest: &str) -> Result<(String, usize), &'static str> {
    let mut word = String::new();
    let mut chars = rest.char_indices().skip(1);
    while let Some((at, c)) = chars.next() {
        match c {
            '"' => return Ok((word, at + 1)),
            '\n' => break,
            '\\' => match chars.next().map(|(_, c)| c) {
                Some('n') => word.push('\n'),
                Some('t') => word.push('\t'),
                Some(c @ ('"' | '\\')) => word.push(c),
                Some('\n') | None => break,
                Some(_) => return Err("a string has an escape that module files do not use"),
            },
            c => word.push(c),
        }
    }
    Err("a string is not closed")
}
