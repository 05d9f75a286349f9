//! What the claims of an identity token say of a person.

use dormouse_identity::user_name::shown;
use serde_json::{Map, Value};

/// The most groups of a person that are looked at.
const GROUPS_MAX: usize = 1_000;

/// What a person is called here: what people call them, and what never changes. No local user has a colon in their name.
pub(super) fn name(claims: &Map<String, Value>) -> Option<String> {
    let text = |name: &str| {
        let text = claims.get(name).and_then(Value::as_str);
        text.map(str::trim).filter(|text| !text.is_empty())
    };
    let subject = text("sub")?;
    let called = text("preferred_username")
        .or(text("email"))
        .or(text("name"));
    Some(match called {
        Some(called) if called != subject => format!("oidc:{} ({})", shown(called), shown(subject)),
        Some(_) | None => format!("oidc:{}", shown(subject)),
    })
}

/// Whether an identity token was made for another client, which passed it on: it names several audiences, and whom it was made
/// for is another one, or is not said ("OpenID Connect Core 1.0", 3.1.3.7, points 4 and 5).
pub(super) fn is_of_another_client(claims: &Map<String, Value>, client_id: &str) -> bool {
    let has_several = matches!(claims.get("aud"), Some(Value::Array(list)) if list.len() > 1);
    match claims.get("azp") {
        Some(party) => party.as_str() != Some(client_id),
        None => has_several,
    }
}

/// The groups that a claim names.
pub(super) fn groups<'a>(claims: &'a Map<String, Value>, path: &str) -> Vec<&'a str> {
    // A claim's name may have dots itself, as addresses do.
    let found = claims.get(path).or_else(|| {
        let mut steps = path.split('.');
        let first = claims.get(steps.next()?)?;
        steps.try_fold(first, |value, step| value.get(step))
    });
    match found {
        Some(Value::Array(list)) => list
            .iter()
            .filter_map(Value::as_str)
            .take(GROUPS_MAX)
            .collect(),
        Some(Value::String(one)) => vec![one],
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn map(value: Value) -> Map<String, Value> {
        serde_json::from_value(value).unwrap()
    }

    #[test]
    fn groups_are_found_wherever_an_issuer_puts_them() {
        for (claims, path) in [
            (json!({ "groups": ["a", 7, "b"] }), "groups"),
            (
                json!({ "realm_access": { "roles": ["a", "b"] } }),
                "realm_access.roles",
            ),
            (
                json!({ "https://x.example/roles": ["a", "b"] }),
                "https://x.example/roles",
            ),
        ] {
            assert_eq!(groups(&map(claims), path), ["a", "b"], "{path}");
        }
        assert_eq!(groups(&map(json!({ "groups": "a" })), "groups"), ["a"]);
        assert!(groups(&map(json!({})), "groups").is_empty());
    }

    #[test]
    fn a_token_is_for_the_client_that_it_was_made_for() {
        for (claims, expected) in [
            (json!({ "aud": "me" }), false),
            (json!({ "aud": ["me"] }), false),
            (json!({ "aud": "me", "azp": "me" }), false),
            (json!({ "aud": ["me", "other"], "azp": "me" }), false),
            (json!({ "aud": ["me", "other"] }), true),
            (json!({ "aud": ["me", "other"], "azp": "other" }), true),
            (json!({ "aud": "me", "azp": 7 }), true),
        ] {
            assert_eq!(
                is_of_another_client(&map(claims.clone()), "me"),
                expected,
                "{claims}"
            );
        }
    }

    #[test]
    fn nobody_from_outside_is_called_as_a_local_user_is() {
        let called = |claims| name(&map(claims));
        let named = called(json!({ "sub": "1", "preferred_username": "admin" }));
        assert_eq!(named.as_deref(), Some("oidc:admin (1)"));
        assert_eq!(
            called(json!({ "sub": "admin" })).as_deref(),
            Some("oidc:admin")
        );
        assert_eq!(called(json!({ "email": "a@b.example" })), None);
    }
}
