//! What an HTTP endpoint listens for, read from its trigger or bookmark.

use dormouse_store::definition::route::Route;
use serde_json::Value;

/// The stimulus name of HTTP endpoints.
pub(crate) const HTTP_ENDPOINT: &str = "Elsa.HttpEndpoint";

/// Path and method of an HTTP endpoint's payload, lower case.
pub(crate) fn path_and_method(name: &str, payload: &Value) -> Option<(String, String)> {
    if name != HTTP_ENDPOINT {
        return None;
    }
    let text = |wanted: &str| {
        let object = payload.as_object()?;
        let (_, value) = object
            .iter()
            .find(|(key, _)| key.eq_ignore_ascii_case(wanted))?;
        value.as_str().map(str::to_ascii_lowercase)
    };
    Some((text("path")?, text("method")?))
}

/// The route of an HTTP endpoint whose path has parameters. Exact paths need none: their hash finds them.
pub(crate) fn http_route(name: &str, payload: &Value) -> Option<Route> {
    let (template, method) = path_and_method(name, payload)?;
    template.contains('{').then_some(Route { template, method })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_paths_with_parameters_are_routes() {
        let route = http_route(
            HTTP_ENDPOINT,
            &json!({ "Path": "/a/{Id}", "Method": "GET" }),
        );
        assert_eq!(
            route,
            Some(Route {
                template: "/a/{id}".into(),
                method: "get".into()
            })
        );
        assert_eq!(
            http_route(HTTP_ENDPOINT, &json!({ "Path": "/a", "Method": "get" })),
            None
        );
        assert_eq!(
            http_route("Elsa.Event", &json!({ "Path": "/{a}", "Method": "get" })),
            None
        );
    }
}
