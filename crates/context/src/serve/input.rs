//! What is asked, from path, query and body.

use serde_json::{Map, Value};
use url::form_urlencoded;

use super::strict;
use super::table::{Field, Route};
use crate::wire::SCHEMA_VERSION;
use crate::wire::error::{ApiError, ErrorCode};

/// The field of every body that says which version it follows.
const VERSION: &str = "schema_version";

/// What is asked: the path's fields, and those of the query or the body. Nothing may be said twice, and nothing that the endpoint
/// does not take.
pub(super) fn asked(route: &Route, path: &str, query: &str, body: &[u8]) -> Result<Value, ApiError> {
    let mut fields = Map::new();
    for (template, part) in route.path.split('/').zip(path.split('/')) {
        if let Some(name) = template.strip_prefix('{').and_then(|name| name.strip_suffix('}')) {
            let decoded = percent_encoding::percent_decode_str(part).decode_utf8();
            let text = decoded.map_err(|_| ApiError::invalid("the path is not UTF-8"))?;
            put(route, &mut fields, name, &text)?;
        }
    }
    let pairs = form_urlencoded::parse(query.as_bytes());
    if route.method.has_body() {
        if !query.is_empty() {
            return Err(ApiError::invalid("this takes no query: what is asked is the body"));
        }
        let said = strict::parse(body).map_err(|e| ApiError::invalid(format!("the body: {e}")))?;
        let Value::Object(said) = said else { return Err(ApiError::invalid("the body is no JSON object")) };
        taken(route, &mut fields, said)?;
    } else {
        if !body.is_empty() {
            return Err(ApiError::invalid("this takes no body: what is asked is the query"));
        }
        for (name, text) in pairs {
            put(route, &mut fields, &name, &text)?;
        }
    }
    Ok(Value::Object(fields))
}

fn taken(
    route: &Route,
    fields: &mut Map<String, Value>,
    mut said: Map<String, Value>,
) -> Result<(), ApiError> {
    match said.remove(VERSION) {
        Some(Value::String(version)) if version == SCHEMA_VERSION => {}
        other => {
            let found = other.map_or_else(|| "none".to_owned(), |found| found.to_string());
            let message = format!(
                "{VERSION}: {found}, and this server takes \"{SCHEMA_VERSION}\": update the older of the two"
            );
            return Err(ApiError::new(ErrorCode::SchemaVersionUnsupported, message));
        }
    }
    for (name, value) in said {
        known(route, &name)?;
        if fields.insert(name.clone(), value).is_some() {
            return Err(ApiError::invalid(format!("{name}: the path says it already")));
        }
    }
    Ok(())
}

fn known(route: &Route, name: &str) -> Result<Field, ApiError> {
    route.fields.get(name).copied().ok_or_else(|| {
        let names: Vec<&str> = route.fields.keys().map(String::as_str).collect();
        ApiError::invalid(format!("{name}: it is not known here; what is taken is {}", names.join(", ")))
    })
}

fn put(route: &Route, fields: &mut Map<String, Value>, name: &str, text: &str) -> Result<(), ApiError> {
    let value = match known(route, name)? {
        Field::Text => Value::from(text),
        Field::Number => {
            let number = text.parse::<u64>();
            Value::from(number.map_err(|_| ApiError::invalid(format!("{name}: it is no whole number")))?)
        }
        Field::Flag => match text {
            "true" => Value::from(true),
            "false" => Value::from(false),
            _ => return Err(ApiError::invalid(format!("{name}: it is neither true nor false"))),
        },
    };
    if fields.insert(name.to_owned(), value).is_some() {
        return Err(ApiError::invalid(format!("{name}: it is said twice")));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::table::routes;
    use super::*;

    fn route(path: &str, word: &str) -> Route {
        routes().into_iter().find(|route| route.path == path && route.method.word() == word).unwrap()
    }

    #[test]
    fn fields_come_from_path_query_and_body() {
        let notes = route("/notes", "GET");
        let got = asked(&notes, "/notes", "q=a%20b&limit=5&archived=true", b"").unwrap();
        assert_eq!(got, json!({ "q": "a b", "limit": 5, "archived": true }));
        let update = route("/notes/{id}/update", "POST");
        let body = br#"{"schema_version":"1.0","title":"t"}"#;
        let got = asked(&update, "/notes/note_%41/update", "", body).unwrap();
        assert_eq!(got, json!({ "id": "note_A", "title": "t" }));
    }

    #[test]
    fn what_is_said_twice_or_not_known_is_refused_in_words() {
        let notes = route("/notes", "GET");
        let update = route("/notes/{id}/update", "POST");
        let cases: [(&Route, &str, &[u8], &str); 10] = [
            (&notes, "q=a&q=b", b"", "said twice"),
            (&notes, "key=gwk_x", b"", "not known here"),
            (&notes, "limit=-1", b"", "no whole number"),
            (&notes, "archived=1", b"", "neither true nor false"),
            (&notes, "", b"{}", "takes no body"),
            (&update, "title=t", b"{}", "takes no query"),
            (&update, "", b"[]", "no JSON object"),
            (&update, "", br#"{"schema_version":"1.0","title":"a","title":"b"}"#, "body"),
            (&update, "", br#"{"schema_version":"1.0","id":"x"}"#, "path says it already"),
            (&update, "", br#"{"schema_version":"2.0"}"#, "this server takes"),
        ];
        for (route, query, body, why) in cases {
            let error = asked(route, "/notes/x/update", query, body).unwrap_err();
            assert!(error.message.contains(why), "{why}: {}", error.message);
        }
    }

    proptest::proptest! {
        #[test]
        fn whatever_is_sent_is_an_object_or_refused(path in "/.{0,20}", query in ".{0,60}", body in ".{0,80}") {
            for route in routes() {
                if let Ok(asked) = asked(&route, &path, &query, body.as_bytes()) {
                    proptest::prop_assert!(asked.is_object());
                }
            }
        }
    }
}
