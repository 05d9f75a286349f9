//! YAML with the line of every value.

use saphyr::{LoadableYamlNode, MarkedYaml, Scalar, YamlData};
use serde_json::{Map, Value};

/// Largest test file in bytes.
const BYTES_MAX: usize = 1 << 20;

/// A test file that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct FileError {
    /// Line, from 1.
    pub line: usize,
    /// The problem and its remedy.
    pub message: String,
}

impl FileError {
    pub(crate) fn new(line: usize, message: impl Into<String>) -> Self {
        let message = message.into();
        Self { line, message }
    }
}

/// A value of a YAML document.
#[derive(Debug, Clone)]
pub struct Document {
    /// Its line, from 1.
    pub line: usize,
    kind: Kind,
}

#[derive(Debug, Clone)]
enum Kind {
    Scalar(Value),
    List(Vec<Document>),
    Map(Vec<Entry>),
}

/// An entry of a mapping.
#[derive(Debug, Clone)]
pub(crate) struct Entry {
    pub(crate) line: usize,
    pub(crate) name: String,
    pub(crate) value: Document,
}

impl Document {
    /// Reads a file with one document.
    ///
    /// # Errors
    ///
    /// Text that is not YAML, or too long.
    pub fn parse(text: &str) -> Result<Self, FileError> {
        if text.len() > BYTES_MAX {
            let message = format!("a test file may have {BYTES_MAX} bytes");
            return Err(FileError::new(1, message));
        }
        let documents = MarkedYaml::load_from_str(text)
            .map_err(|error| FileError::new(error.marker().line(), error.info()))?;
        let mut documents = documents.iter();
        let first = documents.next();
        let first = first.ok_or_else(|| FileError::new(1, "the file is empty"))?;
        if let Some(second) = documents.next() {
            let line = second.span.start.line();
            return Err(FileError::new(line, "a test file has one document"));
        }
        Self::of(first)
    }

    fn of(node: &MarkedYaml<'_>) -> Result<Self, FileError> {
        let line = node.span.start.line();
        let kind = match &node.data {
            YamlData::Value(scalar) => Kind::Scalar(scalar_value(scalar)),
            YamlData::Sequence(items) => {
                Kind::List(items.iter().map(Self::of).collect::<Result<_, _>>()?)
            }
            YamlData::Mapping(entries) => {
                let entries = entries.iter().map(|(name, value)| {
                    Ok(Entry {
                        line: name.span.start.line(),
                        name: key(name)?,
                        value: Self::of(value)?,
                    })
                });
                Kind::Map(entries.collect::<Result<_, FileError>>()?)
            }
            YamlData::Tagged(..)
            | YamlData::Representation(..)
            | YamlData::Alias(_)
            | YamlData::BadValue => {
                return Err(FileError::new(line, "tags have no meaning here"));
            }
        };
        Ok(Self { line, kind })
    }

    /// The value as JSON.
    #[must_use]
    pub fn json(&self) -> Value {
        match &self.kind {
            Kind::Scalar(value) => value.clone(),
            Kind::List(items) => items.iter().map(Self::json).collect(),
            Kind::Map(entries) => {
                let entries = entries.iter().map(|e| (e.name.clone(), e.value.json()));
                Value::Object(entries.collect::<Map<_, _>>())
            }
        }
    }

    /// The entries of a mapping.
    pub(crate) fn entries(&self, what: &str) -> Result<&[Entry], FileError> {
        match &self.kind {
            Kind::Map(entries) => Ok(entries),
            Kind::Scalar(_) | Kind::List(_) => Err(self.wrong(what, "a mapping")),
        }
    }

    /// The items of a list.
    pub(crate) fn items(&self, what: &str) -> Result<&[Document], FileError> {
        match &self.kind {
            Kind::List(items) => Ok(items),
            Kind::Scalar(_) | Kind::Map(_) => Err(self.wrong(what, "a list")),
        }
    }

    /// Whether it is a list.
    pub(crate) fn is_list(&self) -> bool {
        matches!(self.kind, Kind::List(_))
    }

    /// A text. Numbers and truth values are taken as they are written.
    pub(crate) fn text(&self, what: &str) -> Result<String, FileError> {
        match &self.kind {
            Kind::Scalar(Value::String(text)) => Ok(text.clone()),
            Kind::Scalar(value @ (Value::Number(_) | Value::Bool(_))) => Ok(value.to_string()),
            Kind::Scalar(_) | Kind::List(_) | Kind::Map(_) => Err(self.wrong(what, "a text")),
        }
    }

    /// A list of texts; one text is a list of one.
    pub(crate) fn texts(&self, what: &str) -> Result<Vec<String>, FileError> {
        if !self.is_list() {
            return Ok(vec![self.text(what)?]);
        }
        self.items(what)?.iter().map(|i| i.text(what)).collect()
    }

    /// A whole number that is not negative.
    pub(crate) fn count(&self, what: &str) -> Result<u64, FileError> {
        match &self.kind {
            Kind::Scalar(value) => value.as_u64(),
            Kind::List(_) | Kind::Map(_) => None,
        }
        .ok_or_else(|| self.wrong(what, "a whole number"))
    }

    /// A truth value.
    pub(crate) fn flag(&self, what: &str) -> Result<bool, FileError> {
        match &self.kind {
            Kind::Scalar(Value::Bool(flag)) => Ok(*flag),
            Kind::Scalar(_) | Kind::List(_) | Kind::Map(_) => {
                Err(self.wrong(what, "true or false"))
            }
        }
    }

    /// A mapping as a JSON object.
    pub(crate) fn object(&self, what: &str) -> Result<Map<String, Value>, FileError> {
        let entries = self.entries(what)?.iter();
        Ok(entries.map(|e| (e.name.clone(), e.value.json())).collect())
    }

    fn wrong(&self, what: &str, wanted: &str) -> FileError {
        FileError::new(self.line, format!("`{what}` takes {wanted}"))
    }
}

fn key(node: &MarkedYaml<'_>) -> Result<String, FileError> {
    match &node.data {
        YamlData::Value(Scalar::String(text)) => Ok(text.to_string()),
        YamlData::Value(scalar) => Ok(scalar_value(scalar).to_string()),
        YamlData::Representation(..)
        | YamlData::Sequence(_)
        | YamlData::Mapping(_)
        | YamlData::Tagged(..)
        | YamlData::Alias(_)
        | YamlData::BadValue => Err(FileError::new(node.span.start.line(), "a name is a text")),
    }
}

fn scalar_value(scalar: &Scalar<'_>) -> Value {
    match scalar {
        Scalar::Null => Value::Null,
        Scalar::Boolean(flag) => (*flag).into(),
        Scalar::Integer(number) => (*number).into(),
        Scalar::FloatingPoint(number) => number.into_inner().into(),
        Scalar::String(text) => text.as_ref().into(),
    }
}
