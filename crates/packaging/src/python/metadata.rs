//! Core metadata ([the specification](https://packaging.python.org/en/latest/specifications/core-metadata/)) and other files with the
//! fields of a mail's head: `METADATA`, `PKG-INFO`, `WHEEL`.

/// Most bytes that are read: 4 MiB.
const MAX_BYTES: usize = 4 << 20;

/// Versions of the format that are known.
pub const VERSIONS: [&str; 8] = ["1.0", "1.1", "1.2", "2.1", "2.2", "2.3", "2.4", "2.5"];

/// Fields in their order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Fields {
    fields: Vec<(String, String)>,
    /// What follows the fields.
    pub body: String,
}

impl Fields {
    /// Reads fields: `Name: value`, lines that begin with white space go on with the value before. `None` when it is no UTF-8,
    /// too long, or does not begin with fields.
    pub fn read(bytes: &[u8]) -> Option<Self> {
        if bytes.len() > MAX_BYTES {
            return None;
        }
        let text = std::str::from_utf8(bytes).ok()?;
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let mut found = Self::default();
        let mut rest = text;
        while !rest.is_empty() {
            let (line, after) = rest.split_once('\n').unwrap_or((rest, ""));
            let line = line.strip_suffix('\r').unwrap_or(line);
            if line.is_empty() {
                after.clone_into(&mut found.body);
                break;
            }
            if line.starts_with([' ', '\t']) {
                let (_, value) = found.fields.last_mut()?;
                value.push('\n');
                value.push_str(line.trim());
            } else {
                let (name, value) = line.split_once(':')?;
                let plain = |b: u8| b.is_ascii_graphic();
                if name.is_empty() || !name.bytes().all(plain) {
                    return None;
                }
                found.fields.push((name.to_owned(), value.trim().to_owned()));
            }
            rest = after;
        }
        Some(found)
    }

    /// A field's first value, however its name is written.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.fields.iter().find(|(n, _)| n.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
    }

    /// All values of a field.
    pub fn all<'f>(&'f self, name: &'f str) -> impl Iterator<Item = &'f str> {
        self.fields.iter().filter(move |(n, _)| n.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
    }

    /// A field that says something.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.get(name).map(str::trim).filter(|text| !text.is_empty() && *text != "UNKNOWN")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn fields_are_read_as_mail_has_them() {
        let fields = Fields::read(
            b"Name: a\r\nClassifier: X\nclassifier: Y\nLicense: MIT\n        more\n\nBody: no\n",
        )
        .unwrap();
        assert_eq!((fields.get("name"), fields.body.as_str()), (Some("a"), "Body: no\n"));
        assert_eq!(fields.all("Classifier").collect::<Vec<_>>(), ["X", "Y"]);
        assert_eq!(fields.get("License"), Some("MIT\nmore"));
        for bad in [&b" x: 1"[..], b"no field\n", b"\xff: 1", b": x"] {
            assert_eq!(Fields::read(bad), None);
        }
    }

    proptest! {
        #[test]
        fn nothing_panics(text in "(\\PC|\n|\r| |:){0,300}") {
            let _ = Fields::read(text.as_bytes());
        }
    }
}
