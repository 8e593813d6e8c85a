//! Resources, and the template of some.

use rmcp::model::{
    ErrorData, ReadResourceResponse, ReadResourceResult, Resource, ResourceContents, ResourceTemplate,
};
use serde_json::json;

use super::tools::PNG;

pub(super) fn list() -> Vec<Resource> {
    let resource = |uri: &str, name: &str, description: &str, kind: &str| {
        Resource::new(uri, name).with_description(description).with_mime_type(kind)
    };
    vec![
        resource("test://static-text", "static-text", "A text that does not change", "text/plain"),
        resource("test://static-binary", "static-binary", "An image that does not change", "image/png"),
        resource("test://watched-resource", "watched-resource", "A text to subscribe to", "text/plain"),
    ]
}

pub(super) fn templates() -> Vec<ResourceTemplate> {
    let template = ResourceTemplate::new("test://template/{id}/data", "template-data");
    vec![template.with_description("Data by id").with_mime_type("application/json")]
}

pub(super) fn read(uri: &str) -> Result<ReadResourceResponse, ErrorData> {
    let templated = uri.strip_prefix("test://template/").and_then(|rest| rest.strip_suffix("/data"));
    let contents = match (uri, templated) {
        ("test://static-text", _) => {
            ResourceContents::text("This is the content of the static text resource.", uri)
        }
        ("test://static-binary", _) => ResourceContents::blob(PNG, uri).with_mime_type("image/png"),
        ("test://watched-resource", _) => ResourceContents::text("Somebody watches this.", uri),
        (_, Some(id)) if !id.is_empty() && !id.contains('/') => {
            let data =
                json!({ "id": id, "templateTest": true, "data": format!("Data for ID: {id}") }).to_string();
            ResourceContents::text(data, uri).with_mime_type("application/json")
        }
        _ => {
            let message = format!("there is no resource {uri}");
            return Err(ErrorData::resource_not_found(message, Some(json!({ "uri": uri }))));
        }
    };
    Ok(ReadResourceResult::new(vec![contents]).into())
}
