//! What a resume link asks: a choice among declared outcomes, and values for declared inputs. Nothing else is taken.

use dormouse_store::identity::link::{Link, LinkInput};
use serde::Deserialize;
use serde_json::{Map, Value, json};

/// The most outcomes.
const OUTCOMES_MAX: usize = 10;
/// The most inputs.
const INPUTS_MAX: usize = 20;
/// The longest name, label or title, in characters.
const NAME_CHARS_MAX: usize = 200;
/// The longest text, in characters, asked or answered.
const TEXT_CHARS_MAX: usize = 4_000;

/// What may be entered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum FieldKind {
    /// A line.
    #[default]
    Text,
    /// Several lines.
    LongText,
    /// A number.
    Number,
    /// Yes or no.
    Boolean,
}

impl FieldKind {
    const ALL: [(Self, &'static str); 4] = [
        (Self::Text, "text"),
        (Self::LongText, "longText"),
        (Self::Number, "number"),
        (Self::Boolean, "boolean"),
    ];

    /// The word that is stored.
    #[must_use]
    pub fn word(self) -> &'static str {
        let found = Self::ALL.iter().find(|(kind, _)| *kind == self);
        found.map_or("text", |(_, word)| word)
    }

    /// The kind of a stored word.
    #[must_use]
    pub fn of(word: &str) -> Self {
        let found = Self::ALL.iter().find(|(_, w)| *w == word);
        found.map_or(Self::Text, |(kind, _)| *kind)
    }
}

/// A value that a link asks for.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct LinkField {
    /// The name under which the workflow receives it.
    pub name: String,
    /// What people read. `None`: the name.
    pub label: Option<String>,
    /// What may be entered.
    #[serde(rename = "type")]
    pub kind: FieldKind,
    /// Whether it must be entered.
    pub is_required: bool,
}

/// What a link asks.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct LinkForm {
    /// What it is about.
    pub title: Option<String>,
    /// More about it.
    pub text: Option<String>,
    /// Among what to choose; none: there is only one way on.
    pub outcomes: Vec<String>,
    /// What to enter.
    pub inputs: Vec<LinkField>,
}

/// Why a link cannot be made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum BadLink {
    /// It would live too long, or not at all.
    #[error("`expiresInMs` must be between 1 and 31622400000, a year")]
    Life,
    /// It asks too much.
    #[error("a link has at most {OUTCOMES_MAX} outcomes and {INPUTS_MAX} inputs")]
    TooMany,
    /// A name is empty, too long, or there twice.
    #[error("outcomes and inputs need names of their own, 1 to {NAME_CHARS_MAX} characters long")]
    Names,
    /// A text is too long.
    #[error("a title has at most {NAME_CHARS_MAX} characters, a text {TEXT_CHARS_MAX}")]
    TooLong,
}

/// Why an answer is none.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadAnswer {
    /// One of the outcomes must be chosen.
    #[error("choose one of the answers that are offered")]
    Outcome,
    /// A value is missing.
    #[error("`{0}` is needed")]
    Missing(String),
    /// A value is not of its kind.
    #[error("`{0}` is not what is asked for")]
    Kind(String),
    /// A value was not asked for.
    #[error("`{0}` is not asked for")]
    Unknown(String),
}

fn is_long(text: Option<&String>, max: usize) -> bool {
    text.is_some_and(|text| text.chars().count() > max)
}

fn are_names(mut names: Vec<String>) -> bool {
    let fit = |n: &String| !n.trim().is_empty() && n.chars().count() <= NAME_CHARS_MAX;
    let count = names.len();
    let all_fit = names.iter().all(fit);
    names.sort();
    names.dedup();
    all_fit && names.len() == count
}

impl LinkForm {
    /// Whether it can be asked.
    pub(crate) fn check(&self) -> Result<(), BadLink> {
        if self.outcomes.len() > OUTCOMES_MAX || self.inputs.len() > INPUTS_MAX {
            return Err(BadLink::TooMany);
        }
        let inputs = self.inputs.iter().map(|f| f.name.clone()).collect();
        if !are_names(self.outcomes.clone()) || !are_names(inputs) {
            return Err(BadLink::Names);
        }
        let mut labels = self.inputs.iter().map(|f| f.label.as_ref());
        if is_long(self.title.as_ref(), NAME_CHARS_MAX)
            || is_long(self.text.as_ref(), TEXT_CHARS_MAX)
            || labels.any(|label| is_long(label, NAME_CHARS_MAX))
        {
            return Err(BadLink::TooLong);
        }
        Ok(())
    }

    /// The form that a link keeps.
    #[must_use]
    pub fn of(link: &Link) -> Self {
        let fields = link.inputs.iter().map(|input| LinkField {
            name: input.name.clone(),
            label: input.label.clone(),
            kind: FieldKind::of(&input.kind),
            is_required: input.is_required,
        });
        Self {
            title: link.title.clone(),
            text: link.text.clone(),
            outcomes: link.outcomes.clone(),
            inputs: fields.collect(),
        }
    }

    /// A link that keeps it.
    pub(crate) fn link(self, link: Link) -> Link {
        let inputs = self.inputs.into_iter().map(|field| LinkInput {
            name: field.name,
            label: field.label,
            kind: field.kind.word().to_owned(),
            is_required: field.is_required,
        });
        Link {
            title: self.title,
            text: self.text,
            outcomes: self.outcomes,
            inputs: inputs.collect(),
            ..link
        }
    }

    /// What the bookmark receives for an answer: each value by its name, `Outcome`, and all of it as the payload of
    /// an event and as the result of a task.
    pub(crate) fn read(
        &self,
        outcome: Option<&str>,
        values: &Map<String, Value>,
    ) -> Result<Map<String, Value>, BadAnswer> {
        let is_offered = match outcome {
            Some(outcome) => self.outcomes.iter().any(|o| o == outcome),
            None => self.outcomes.is_empty(),
        };
        if !is_offered {
            return Err(BadAnswer::Outcome);
        }
        let mut answer = Map::new();
        for field in &self.inputs {
            let value = values.get(&field.name).unwrap_or(&Value::Null);
            answer.insert(field.name.clone(), field.read(value)?);
        }
        if let Some(other) = values.keys().find(|name| !answer.contains_key(*name)) {
            return Err(BadAnswer::Unknown(other.clone()));
        }
        let mut input = answer.clone();
        answer.insert("outcome".into(), json!(outcome));
        input.insert("Outcome".into(), json!(outcome));
        for name in ["Payload", "Result"] {
            input.insert(name.into(), Value::Object(answer.clone()));
        }
        Ok(input)
    }
}

impl LinkField {
    /// The value that was entered; a form sends texts.
    fn read(&self, value: &Value) -> Result<Value, BadAnswer> {
        let wrong = || BadAnswer::Kind(self.name.clone());
        let missing = || BadAnswer::Missing(self.name.clone());
        let text = value.as_str().map(str::trim);
        if self.kind == FieldKind::Boolean {
            return match (value.as_bool(), text) {
                (Some(known), _) => Ok(known.into()),
                (None, Some("on" | "true")) => Ok(true.into()),
                // A box that is not ticked is not sent.
                (None, None | Some("" | "false")) if self.is_required => Err(missing()),
                (None, None | Some("" | "false")) => Ok(false.into()),
                (None, Some(_)) => Err(wrong()),
            };
        }
        if value.is_null() || text == Some("") {
            return match self.is_required {
                true => Err(missing()),
                false => Ok(Value::Null),
            };
        }
        match (self.kind, text) {
            (FieldKind::Number, None) if value.is_number() => Ok(value.clone()),
            (FieldKind::Number, Some(text)) => {
                let number = text.parse::<i64>().map(Value::from);
                let number = number.or_else(|_| text.parse::<f64>().map(Value::from));
                number.ok().filter(Value::is_number).ok_or_else(wrong)
            }
            (FieldKind::Text | FieldKind::LongText, Some(text))
                if text.chars().count() <= TEXT_CHARS_MAX =>
            {
                Ok(text.into())
            }
            (FieldKind::Number | FieldKind::Text | FieldKind::LongText, _)
            | (FieldKind::Boolean, _) => Err(wrong()),
        }
    }
}
