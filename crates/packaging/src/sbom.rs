//! What a package brings with it, as a [CycloneDX 1.6](https://cyclonedx.org/docs/1.6/json/) document. The same package always gives
//! the same document: it has no time, and its serial number is made from what it says.

use serde::Serialize;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

/// A package, or something that it needs.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Component {
    /// The package URL ([purl](https://github.com/package-url/purl-spec)): also what others refer to it by.
    pub purl: String,
    /// Its name.
    pub name: String,
    /// Its version; `None` where only a range is known.
    pub version: Option<String>,
    /// Its licence, as it says: an SPDX expression, or other words.
    pub license: Option<String>,
    /// Its archive's digest: `CycloneDX`'s name of the algorithm, and hexadecimal.
    pub hash: Option<(&'static str, String)>,
    /// Whether it is needed only sometimes.
    pub optional: bool,
    /// What it needs itself, as package URLs.
    pub needs: Vec<String>,
}

/// What a package brings along, and what could not be found out.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Bill {
    /// The package itself.
    pub package: Component,
    /// What it needs, and what that needs.
    pub components: Vec<Component>,
    /// What could not be found out, in sentences.
    pub gaps: Vec<String>,
}

/// The document: `package` and everything that it needs. `tool` is this program's version.
pub fn document(package: &Component, components: &[Component], tool: &str) -> Value {
    let mut sorted: Vec<&Component> = components.iter().collect();
    sorted.sort();
    sorted.dedup_by(|a, b| a.purl == b.purl);
    let mut document = json!({
        "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {
            "tools": { "components": [{ "type": "application", "name": "gatewright", "version": tool }] },
            "component": described(package),
        },
        "components": sorted.iter().map(|c| described(c)).collect::<Vec<_>>(),
        "dependencies": std::iter::once(package)
            .chain(sorted.iter().copied())
            .map(|c| {
                let mut on = c.needs.clone();
                on.sort();
                on.dedup();
                json!({ "ref": c.purl, "dependsOn": on })
            })
            .collect::<Vec<_>>(),
    });
    let serial = serial(&document.to_string());
    if let Some(top) = document.as_object_mut() {
        top.insert("serialNumber".to_owned(), Value::String(serial));
    }
    document
}

fn described(component: &Component) -> Value {
    let mut value = json!({ "type": "library", "bom-ref": component.purl, "name": component.name, "purl": component.purl });
    let Some(map) = value.as_object_mut() else { return value };
    if let Some(version) = &component.version {
        map.insert("version".into(), json!(version));
    }
    if let Some(license) = &component.license {
        let said = if is_expression(license) {
            json!([{ "expression": license }])
        } else {
            json!([{ "license": { "name": license } }])
        };
        map.insert("licenses".into(), said);
    }
    if let Some((algorithm, hex)) = &component.hash {
        map.insert("hashes".into(), json!([{ "alg": algorithm, "content": hex }]));
    }
    if component.optional {
        map.insert("scope".into(), json!("optional"));
    }
    value
}

/// Whether a licence reads as an SPDX expression (annex D of the specification): identifiers joined by AND, OR and WITH.
pub fn is_expression(text: &str) -> bool {
    let spaced = text.replace('(', " ( ").replace(')', " ) ");
    let (mut depth, mut wants_name) = (0_i32, true);
    for word in spaced.split_whitespace() {
        match word {
            "(" if wants_name => depth += 1,
            ")" if !wants_name && depth > 0 => depth -= 1,
            "AND" | "OR" | "WITH" if !wants_name => wants_name = true,
            name if wants_name && is_identifier(name) => wants_name = false,
            _ => return false,
        }
    }
    depth == 0 && !wants_name
}

fn is_identifier(word: &str) -> bool {
    !matches!(word, "AND" | "OR" | "WITH" | "UNLICENSED" | "UNKNOWN" | "SEE")
        && word.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'-' | b'+' | b':'))
}

/// A UUID made of what it stands for ([RFC 9562](https://www.rfc-editor.org/rfc/rfc9562#name-uuid-version-8), version 8).
fn serial(text: &str) -> String {
    let digest = Sha256::digest(text.as_bytes());
    let mut bytes = [0_u8; 16];
    for (to, from) in bytes.iter_mut().zip(digest.iter()) {
        *to = *from;
    }
    bytes[6] = (bytes[6] & 0x0f) | 0x80;
    bytes[8] = (bytes[8] & 0x3f) | 0x80;
    let hex = crate::hex(&bytes);
    let part = |range: std::ops::Range<usize>| hex.get(range).unwrap_or_default().to_owned();
    format!("urn:uuid:{}-{}-{}-{}-{}", part(0..8), part(8..12), part(12..16), part(16..20), part(20..32))
}

/// A package URL: `pkg:npm/%40acme/ui@1.2.3`.
pub fn purl(kind: &str, name: &str, version: Option<&str>) -> String {
    let name: Vec<String> = name.split('/').map(encoded).collect();
    let version = version.map(|v| format!("@{}", encoded(v))).unwrap_or_default();
    format!("pkg:{kind}/{}{version}", name.join("/"))
}

/// Percent-encoded as package URLs want it: all but unreserved characters.
pub(crate) fn encoded(text: &str) -> String {
    let mut out = String::new();
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'_' | b'~') {
            out.push(char::from(byte));
        } else {
            out.push_str(&format!("%{byte:02X}"));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn component(name: &str, needs: &[&str]) -> Component {
        Component {
            purl: purl("npm", name, Some("1.0.0")),
            name: name.to_owned(),
            version: Some("1.0.0".to_owned()),
            needs: needs.iter().map(|n| purl("npm", n, Some("1.0.0"))).collect(),
            ..Component::default()
        }
    }

    #[test]
    fn package_urls_are_spelled_as_specified() {
        assert_eq!(purl("npm", "@acme/ui", Some("1.2.3+b")), "pkg:npm/%40acme/ui@1.2.3%2Bb");
        assert_eq!(purl("cargo", "serde", None), "pkg:cargo/serde");
    }

    #[test]
    fn the_order_of_what_is_needed_changes_nothing() {
        let (a, b) = (component("a", &["b"]), component("b", &[]));
        let top = component("top", &["b", "a"]);
        let one = document(&top, &[a.clone(), b.clone()], "1");
        assert_eq!(one, document(&top, &[b.clone(), a.clone(), b.clone()], "1"));
        assert_ne!(one["serialNumber"], document(&top, &[a], "1")["serialNumber"]);
        assert_eq!(one["dependencies"][0]["dependsOn"][0], "pkg:npm/a@1.0.0");
        let serial = one["serialNumber"].as_str().unwrap();
        assert!(serial.len() == 45 && serial.get(23..24) == Some("8"), "{serial}");
    }

    #[test]
    fn licences_that_are_no_expressions_are_names() {
        for good in
            ["MIT", "(MIT OR Apache-2.0)", "GPL-2.0-only WITH Classpath-exception-2.0", "LicenseRef-x"]
        {
            assert!(is_expression(good), "{good}");
        }
        for bad in
            ["", "SEE LICENSE IN x.txt", "UNLICENSED", "MIT OR", "(MIT", "MIT)", "my own", "MIT/Apache-2.0"]
        {
            assert!(!is_expression(bad), "{bad}");
        }
    }
}
