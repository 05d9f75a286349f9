//! Routes: path templates with parameters that HTTP workflows answer. Exact paths need none: their hash finds them.
//!
//! A route says only that a template is worth a look-up; what answers is found under the stimulus hash. So a row
//! that is left over does no harm.

use crate::item::error::StoreError;
use crate::item::key_text::{part, partition, plain};
use crate::item::tenant::Tenant;
use crate::table::{Attributes, Item, Key, Value};

/// A path template and a method.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Route {
    /// The template, like `orders/{id}`.
    pub template: String,
    /// The method, lower case.
    pub method: String,
}

/// The partition of a tenant's routes.
pub(crate) fn routes_partition(tenant: &Tenant) -> String {
    partition(tenant, "ROUTES")
}

/// The key of a definition's route, or of one that bookmarks made while running (`None`), which stays.
pub(crate) fn key(
    tenant: &Tenant,
    route: &Route,
    definition: Option<&str>,
) -> Result<Key, StoreError> {
    let template = part("a route template", &route.template)?;
    let method = part("a route method", &route.method)?;
    let owner = match definition {
        Some(definition) => format!("D#{}", part("a definition id", definition)?),
        None => "B".to_owned(),
    };
    Ok(Key::new(
        routes_partition(tenant),
        format!("{template}#{method}#{owner}"),
    ))
}

/// A route says all with its key.
pub(crate) fn attributes() -> Attributes {
    Attributes::from([("f".to_owned(), Value::N(1))])
}

pub(crate) fn from_item(item: &Item) -> Result<Route, StoreError> {
    let mut parts = item.key.sort.split('#').map(plain);
    let mut text = || parts.next().flatten().ok_or(StoreError::damaged("route"));
    Ok(Route {
        template: text()?,
        method: text()?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_route_comes_back_whoever_owns_it() {
        let route = Route {
            template: "orders/{id}/#x".into(),
            method: "get".into(),
        };
        for owner in [Some("d#1"), None] {
            let key = key(&Tenant::default(), &route, owner).unwrap();
            assert_eq!(
                from_item(&Item {
                    key,
                    attributes: Attributes::new()
                })
                .unwrap(),
                route
            );
        }
        let sort = key(&Tenant::default(), &route, Some("d")).unwrap().sort;
        assert_eq!(sort, "orders/{id}/%23x#get#D#d");
    }
}
