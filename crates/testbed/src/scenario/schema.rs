//! The JSON schema of scenario files, for editors.

use serde_json::{Map, Value as Json, json};

use super::Scenario;
use super::shape::{KeyShape, Shape, table_shape};

/// Returns the JSON schema of scenario files, in the draft that TOML editors read.
///
/// # Panics
///
/// Never: the schema is made of texts, numbers and lists.
#[must_use]
pub fn json_schema() -> String {
    let mut schema = object(&table_shape::<Scenario>());
    schema.insert("$schema".to_owned(), json!("http://json-schema.org/draft-07/schema#"));
    schema.insert("title".to_owned(), json!("Fencepost scenario"));
    let mut text = serde_json::to_string_pretty(&schema).expect("texts, numbers and lists");
    text.push('\n');
    text
}

fn object(shape: &Shape) -> Map<String, Json> {
    let json = match shape {
        Shape::Text { what, pattern: "" } => json!({ "type": "string", "description": what }),
        Shape::Text { what, pattern } => {
            json!({ "type": "string", "description": what, "pattern": pattern })
        }
        Shape::Words(words) => {
            let names: Vec<&str> = words.iter().map(|(name, _)| *name).collect();
            json!({ "type": "string", "enum": names })
        }
        Shape::Integer { min, max } => json!({ "type": "integer", "minimum": min, "maximum": max }),
        Shape::Fraction => json!({ "type": "number", "minimum": 0, "maximum": 1 }),
        Shape::Boolean => json!({ "type": "boolean" }),
        Shape::List(item, 0, usize::MAX) => json!({ "type": "array", "items": object(item) }),
        Shape::List(item, min, max) => {
            json!({ "type": "array", "items": object(item), "minItems": min, "maxItems": max })
        }
        Shape::Table(doc, keys) => {
            let required: Vec<&str> =
                keys.iter().filter(|key| key.is_required).map(|key| key.name).collect();
            let mut table = properties(keys);
            table.insert("description".to_owned(), json!(doc));
            if !required.is_empty() {
                table.insert("required".to_owned(), json!(required));
            }
            return table;
        }
        Shape::Tagged(keys) => {
            let mut table = properties(keys);
            table.insert("minProperties".to_owned(), json!(1));
            table.insert("maxProperties".to_owned(), json!(1));
            return table;
        }
        Shape::Either(shapes) => {
            json!({ "anyOf": shapes.iter().map(object).collect::<Vec<_>>() })
        }
    };
    json.as_object().cloned().expect("each arm makes an object")
}

fn properties(keys: &[KeyShape]) -> Map<String, Json> {
    let mut properties = Map::new();
    for key in keys {
        let mut property = object(&key.shape);
        property.insert("description".to_owned(), json!(description(key)));
        if let Some(default) = &key.default {
            property.insert("default".to_owned(), json!(default));
        }
        properties.insert(key.name.to_owned(), Json::Object(property));
    }
    let mut table = Map::new();
    table.insert("type".to_owned(), json!("object"));
    table.insert("properties".to_owned(), Json::Object(properties));
    table.insert("additionalProperties".to_owned(), json!(false));
    table
}

/// Says what a key means and, where its value is a word, what each word means.
fn description(key: &KeyShape) -> String {
    let mut text = key.doc.split_whitespace().collect::<Vec<_>>().join(" ");
    if let Shape::Words(words) = &key.shape {
        for (name, doc) in words.iter().filter(|(_, doc)| !doc.is_empty()) {
            text += &format!("\n- `{name}`: {doc}");
        }
    }
    text
}
