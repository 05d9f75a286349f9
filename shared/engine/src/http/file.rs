//! A file as a value in a workflow: its names, its type, and its bytes as Base64.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use super::arrived::media_type;
use crate::definition::fields::Fields;

/// A file.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct File {
    /// The form field it came in; blank elsewhere.
    pub field: String,
    /// Its own name.
    pub name: String,
    /// What it is.
    pub content_type: String,
    /// Its bytes.
    pub bytes: Vec<u8>,
}

impl File {
    /// The file as a value: `{name, fileName, contentType, length, content}`, and all but its bytes again under the
    /// names that Elsa's files have in scripts.
    #[must_use]
    pub fn value(&self) -> Value {
        json!({
            "name": self.field,
            "fileName": self.name,
            "contentType": self.content_type,
            "length": self.bytes.len(),
            "content": STANDARD.encode(&self.bytes),
            "Name": self.field,
            "FileName": self.name,
            "Filename": self.name,
            "ContentType": self.content_type,
            "Length": self.bytes.len(),
            "ETag": null,
        })
    }

    /// Reads what [`Self::value`] made. `None`: the value is something else.
    #[must_use]
    pub fn read(value: &Value) -> Option<Self> {
        let fields = Fields::of(value);
        let content = fields.get("content")?.as_str()?;
        // Any object may have a content; a file has a name or a length beside it.
        let name = fields.text("fileName");
        if name.is_none() && fields.integer("length").is_none() {
            return None;
        }
        Some(Self {
            field: fields.text("name").unwrap_or_default(),
            name: name.unwrap_or_default(),
            content_type: fields.text("contentType").unwrap_or_default(),
            bytes: STANDARD.decode(content).ok()?,
        })
    }

    /// The name's ending with its dot, in lower case; blank if there is none.
    #[must_use]
    pub fn extension(&self) -> String {
        let place = self.name.rfind('.');
        place
            .and_then(|at| self.name.get(at..))
            .unwrap_or_default()
            .to_lowercase()
    }

    /// What it is, in lower case and without parameters.
    #[must_use]
    pub fn media_type(&self) -> String {
        media_type(&self.content_type)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_survives_being_a_value() {
        let file = File {
            field: "upload".into(),
            name: "Photo.JPG".into(),
            content_type: "image/jpeg".into(),
            bytes: vec![0xff, 0xd8, 0],
        };
        assert_eq!(File::read(&file.value()), Some(file.clone()));
        assert_eq!(file.extension(), ".jpg");
        assert_eq!(File::default().extension(), "");
        assert_eq!(File::read(&json!({ "content": "e30=" })), None);
    }
}
