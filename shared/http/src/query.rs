//! The query string as Elsa reads it: names in any case, lists as repeated names, with or without `[]`.

use axum::extract::FromRequestParts;
use axum::http::request::Parts;

use crate::refusal::Refusal;

/// The parameters of a request, in order, names in lower case.
#[derive(Debug, Clone, Default)]
pub(crate) struct Query(Vec<(String, String)>);

impl Query {
    /// Reads a query string. What is badly encoded is taken as it is written.
    pub(crate) fn parse(text: &str) -> Self {
        let pairs = text.split('&').filter(|pair| !pair.is_empty());
        Self(
            pairs
                .map(|pair| {
                    let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
                    let name = decode(name).to_lowercase();
                    (name.trim_end_matches("[]").to_owned(), decode(value))
                })
                .collect(),
        )
    }

    /// The parameter, if it is there and not empty. `name` in lower case.
    pub(crate) fn text(&self, name: &str) -> Option<&str> {
        let found = self.0.iter().find(|(n, v)| n == name && !v.is_empty());
        found.map(|(_, value)| value.as_str())
    }

    /// All values of the parameter.
    pub(crate) fn all(&self, name: &str) -> Vec<String> {
        let found = self.0.iter().filter(|(n, v)| n == name && !v.is_empty());
        found.map(|(_, value)| value.clone()).collect()
    }

    /// The parameter as whatever can be read from text.
    pub(crate) fn read<T: std::str::FromStr>(
        &self,
        name: &'static str,
    ) -> Result<Option<T>, Refusal> {
        let Some(text) = self.text(name) else {
            return Ok(None);
        };
        text.to_lowercase()
            .parse()
            .map(Some)
            .map_err(|_| Refusal::BadParameter {
                name,
                value: text.to_owned(),
                kind: match std::any::type_name::<T>() {
                    "bool" => "Boolean",
                    _ => "Int32",
                },
            })
    }
}

impl<S: Sync> FromRequestParts<S> for Query {
    type Rejection = std::convert::Infallible;

    async fn from_request_parts(parts: &mut Parts, _state: &S) -> Result<Self, Self::Rejection> {
        Ok(Self::parse(parts.uri.query().unwrap_or_default()))
    }
}

/// Decodes `%41` and, as in forms, `+`.
pub(crate) fn decode(text: &str) -> String {
    percent(&text.replace('+', " "))
}

/// Decodes `%41` only, as in paths.
pub(crate) fn percent(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, tail)) = rest.split_first() {
        let hex = tail
            .get(..2)
            .filter(|_| *first == b'%')
            .and_then(|hex| std::str::from_utf8(hex).ok())
            .and_then(|hex| u8::from_str_radix(hex, 16).ok());
        bytes.push(hex.unwrap_or(*first));
        rest = if hex.is_some() {
            tail.get(2..).unwrap_or_default()
        } else {
            tail
        };
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_in_any_case_and_lists_in_both_spellings() {
        let query = Query::parse("Ids=a&ids[]=b%20c&Page=2&SearchTerm=&x+y=%zz");
        assert_eq!(query.all("ids"), ["a", "b c"]);
        assert_eq!(query.read::<usize>("page").unwrap(), Some(2));
        assert_eq!(query.text("searchterm"), None);
        assert_eq!(query.text("x y"), Some("%zz"));
        assert!(Query::parse("page=-1").read::<usize>("page").is_err());
    }

    #[test]
    fn a_plus_is_a_space_in_forms_only() {
        assert_eq!(decode("a+b%2Bc"), "a b+c");
        assert_eq!(percent("a+b%2Bc%F0%9F"), "a+b+c\u{fffd}");
    }
}
