//! HTML, Vue and Svelte: where style sheets, style attributes and style expressions stand. A scanner, not a parser: what it does not
//! understand it passes over.

use std::ops::Range;

use super::sheet::Syntax;

/// Styles in a page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Segment {
    /// A style sheet.
    Sheet(Syntax, Range<usize>),
    /// Declarations of an attribute.
    Declarations(Range<usize>),
    /// An object of a script, as the value of an attribute.
    Object(Range<usize>),
    /// The value of one property.
    Property(String, Range<usize>),
}

/// Elements whose content is no markup.
const RAW: [&str; 5] = ["script", "style", "textarea", "title", "template"];

/// The styles of a page, in the order in which they stand.
pub(super) fn segments(text: &str) -> Vec<Segment> {
    let mut scanner = Scanner { text, at: 0, found: Vec::new() };
    while let Some(open) = scanner.find("<") {
        scanner.at = open + 1;
        let rest = scanner.rest();
        if rest.starts_with("!--") {
            scanner.at = scanner.find("-->").map_or(text.len(), |end| end + 3);
        } else if rest.starts_with(|c: char| c.is_ascii_alphabetic()) {
            scanner.tag();
        }
    }
    scanner.found
}

/// An attribute: its name, and its value where it stands in quotes.
type Attribute<'t> = (&'t str, Option<Range<usize>>);

struct Scanner<'t> {
    text: &'t str,
    at: usize,
    found: Vec<Segment>,
}

impl<'t> Scanner<'t> {
    fn rest(&self) -> &'t str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn find(&self, what: &str) -> Option<usize> {
        self.rest().find(what).map(|found| self.at + found)
    }

    /// Goes on while characters fit; what was passed.
    fn skip(&mut self, fits: impl Fn(char) -> bool) -> &'t str {
        let rest = self.rest();
        let end = rest.find(|c| !fits(c)).unwrap_or(rest.len());
        self.at += end;
        rest.get(..end).unwrap_or_default()
    }

    fn tag(&mut self) {
        let name = self.skip(|c| !c.is_whitespace() && !matches!(c, '/' | '>')).to_ascii_lowercase();
        let mut attributes: Vec<Attribute<'_>> = Vec::new();
        let is_closed = loop {
            let before = self.skip(|c| c.is_whitespace() || c == '/');
            match self.rest().chars().next() {
                None => break true,
                Some('>') => {
                    self.at += 1;
                    break before.ends_with('/');
                }
                Some('{') => self.braces(),
                Some(_) => {
                    let attribute = self.attribute();
                    attributes.push(attribute);
                }
            }
        };
        for (name, value) in &attributes {
            if let Some(value) = value {
                self.styles(name, value.clone());
            }
        }
        if !is_closed && RAW.contains(&name.as_str()) {
            self.raw(&name, &attributes);
        }
    }

    fn attribute(&mut self) -> Attribute<'t> {
        let start = self.at;
        let mut name = self.skip(|c| !c.is_whitespace() && !matches!(c, '=' | '/' | '>'));
        if name.is_empty() {
            // A sign that begins no name.
            self.at += self.rest().chars().next().map_or(0, char::len_utf8);
            name = self.text.get(start..self.at).unwrap_or_default();
        }
        let after = self.at;
        self.skip(char::is_whitespace);
        if !self.rest().starts_with('=') {
            self.at = after;
            return (name, None);
        }
        self.at += 1;
        self.skip(char::is_whitespace);
        match self.rest().chars().next() {
            Some(quote @ ('"' | '\'')) => {
                let start = self.at + 1;
                let end = self.text.get(start..).and_then(|rest| rest.find(quote)).map(|end| start + end);
                self.at = end.map_or(self.text.len(), |end| end + 1);
                (name, end.map(|end| start..end))
            }
            Some('{') => {
                self.braces();
                (name, None)
            }
            _ => {
                self.skip(|c| !c.is_whitespace() && c != '>');
                (name, None)
            }
        }
    }

    /// Passes over an expression in braces.
    fn braces(&mut self) {
        let (mut depth, mut quote) = (0_usize, None);
        for (at, c) in self.rest().char_indices() {
            match (c, quote) {
                (c, Some(open)) if c == open => quote = None,
                (_, Some(_)) => {}
                ('"' | '\'' | '`', None) => quote = Some(c),
                ('{', None) => depth += 1,
                ('}', None) => {
                    depth -= 1;
                    if depth == 0 {
                        self.at += at + 1;
                        return;
                    }
                }
                _ => {}
            }
        }
        self.at = self.text.len();
    }

    fn styles(&mut self, name: &str, value: Range<usize>) {
        let written = self.text.get(value.clone()).unwrap_or_default();
        // Entities and expressions: what stands there is not what it says.
        let is_plain = !written.contains(['&', '{', '<']);
        let name = name.to_ascii_lowercase();
        if name == "style" && is_plain {
            self.found.push(Segment::Declarations(value));
        } else if matches!(name.as_str(), ":style" | "v-bind:style") && !written.contains('&') {
            self.found.push(Segment::Object(value));
        } else if let Some(property) = name.strip_prefix("style:").filter(|_| is_plain) {
            let property = property.split('|').next().unwrap_or_default();
            self.found.push(Segment::Property(property.to_owned(), value));
        }
    }

    /// The content of an element that is no markup.
    fn raw(&mut self, name: &str, attributes: &[Attribute<'_>]) {
        let of = |wanted: &str| {
            let found = attributes.iter().find(|(name, _)| name.eq_ignore_ascii_case(wanted));
            found.and_then(|(_, value)| self.text.get(value.clone()?))
        };
        let lang = of("lang").map(str::to_ascii_lowercase);
        // Vue's template is markup, but for other languages.
        if name == "template" && lang.as_deref().is_none_or(|lang| lang == "html") {
            return;
        }
        let start = self.at;
        let bytes = self.text.as_bytes();
        let closes = |at: &usize| {
            let after = bytes.get(at + 2..at + 2 + name.len());
            after.is_some_and(|after| after.eq_ignore_ascii_case(name.as_bytes()))
        };
        let end =
            self.rest().match_indices("</").map(|(at, _)| start + at).find(closes).unwrap_or(self.text.len());
        self.at = end;
        if name != "style" {
            return;
        }
        let syntax = match lang.as_deref() {
            None | Some("css" | "postcss" | "pcss") => Syntax::Css,
            Some("scss") => Syntax::Scss,
            Some("less") => Syntax::Less,
            Some(_) => return,
        };
        self.found.push(Segment::Sheet(syntax, start..end));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<String> {
        let shown = |range: &Range<usize>| text[range.clone()].to_owned();
        segments(text)
            .iter()
            .map(|segment| match segment {
                Segment::Sheet(syntax, range) => format!("{syntax:?} {}", shown(range)),
                Segment::Declarations(range) => format!("= {}", shown(range)),
                Segment::Object(range) => format!("js {}", shown(range)),
                Segment::Property(name, range) => format!("{name} {}", shown(range)),
            })
            .collect()
    }

    #[test]
    fn styles_are_found_where_browsers_and_frameworks_have_them() {
        let text = "<!doctype html><style>a{}</style><p class=x style='color: red' data-style=\"no\">
            <STYLE lang=\"scss\" scoped>b{}</STYLE><div :style=\"{ color: 'red' }\" style:top.px=\"1\" style:left|important=\"2px\"/>
            <style lang=\"stylus\">c\n  d</style><a v-bind:style=\"x\">";
        assert_eq!(
            found(text),
            ["Css a{}", "= color: red", "Scss b{}", "js { color: 'red' }", "top.px 1", "left 2px", "js x"]
        );
    }

    #[test]
    fn what_only_looks_like_a_style_is_none() {
        for text in [
            "<!-- <p style=\"color: red\"> -->",
            "<script>const a = '<p style=\"color: red\">';</script>",
            "<textarea><p style=\"color: red\"></textarea>",
            "<p style=\"color: {color}\">",
            "<p style=\"font: &quot;x&quot;\">",
            "<p title=\"<p style='color: red'>\">",
            "<p class={a > '}' ? \"<p style='x'>\" : 1} {...rest}>",
            "a < b style=\"color: red\"",
            "<template lang=\"pug\">p(style=\"color: red\")</template>",
            "<p style=\"color: red",
            "<p =\"x\" =y>",
        ] {
            assert_eq!(found(text), [""; 0], "{text}");
        }
        assert_eq!(found("<template><p style=\"top: 0\"></template>"), ["= top: 0"]);
    }
}
