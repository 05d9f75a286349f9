//! Who may use which route, and which uses are recorded: one table of all routes, with Elsa's names of permissions. A
//! route that is not in it is refused wherever anybody is asked who he is, and fails a test.

mod designer;
mod outside;

use std::collections::BTreeMap;
use std::sync::LazyLock;

use axum::http::Method;

use crate::absent::MODULES;
use crate::router::API;

pub use designer::DESIGNER;
pub use outside::OUTSIDE;

/// Who may use a route.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Everybody. The route itself asks for what it needs: a password, a token.
    Anybody,
    /// Whoever is known.
    Known,
    /// Whoever has one of these permissions.
    Any(&'static [&'static str]),
}

/// A route.
#[derive(Debug, Clone, Copy)]
pub struct Rule {
    /// Its methods; `*` stands for all.
    pub methods: &'static [&'static str],
    /// Its path, with its parameters in braces: in [`RULES`] what follows the API's prefix, in [`OUTSIDE`] all of it.
    pub path: &'static str,
    /// Who may use it.
    pub access: Access,
    /// Under which name its use is recorded.
    pub audit: Option<&'static str>,
}

const fn rule(methods: &'static [&'static str], path: &'static str, access: Access) -> Rule {
    Rule {
        methods,
        path,
        access,
        audit: None,
    }
}

impl Rule {
    const fn audit(mut self, name: &'static str) -> Self {
        self.audit = Some(name);
        self
    }
}

use Access::{Any, Anybody, Known};

const GET: &[&str] = &["GET"];
const POST: &[&str] = &["POST"];
const DELETE: &[&str] = &["DELETE"];
const GET_POST: &[&str] = &["GET", "POST"];
const POST_PUT: &[&str] = &["POST", "PUT"];
const PUT: &[&str] = &["PUT"];

const READ_DEFINITIONS: Access = Any(&["read:workflow-definitions"]);
const WRITE_DEFINITIONS: Access = Any(&["write:workflow-definitions"]);
const PUBLISH: Access = Any(&["publish:workflow-definitions"]);
const RETRACT: Access = Any(&["retract:workflow-definitions"]);
const DELETE_DEFINITIONS: Access = Any(&["delete:workflow-definitions"]);
/// Starting instances.
pub(crate) const EXECUTE: &[&str] = &["exec:workflow-definitions"];
/// Publishing in the same request as saving.
pub(crate) const PUBLISH_TOO: &[&str] = &["publish:workflow-definitions"];
/// Listing instances.
pub(crate) const READ_INSTANCES: &[&str] = &["read:workflow-instances"];
/// Resuming by bookmark.
pub(crate) const RESUME: &[&str] = &["resume:workflow-instances"];
const WRITE_INSTANCES: Access = Any(&["write:workflow-instances"]);
const ALTER: Access = Any(&["run:alterations"]);
const LETTERS: &str = "/bookmark-queue/dead-letters";
const ALL: &[&str] = &["*"];

/// The routes of modules that are not here: who is known is told so.
static ABSENT: Rule = rule(ALL, "", Known);

/// The paths of those routes, whole.
pub fn absent() -> impl Iterator<Item = String> {
    MODULES.iter().flat_map(|(module, _)| {
        let below = format!("{API}{module}/{{*rest}}");
        [format!("{API}{module}"), below]
    })
}

/// All routes of the API.
pub const RULES: &[Rule] = &[
    rule(GET, "/package/version", Anybody),
    // Definitions.
    rule(GET, "/workflow-definitions", READ_DEFINITIONS),
    rule(POST, "/workflow-definitions", WRITE_DEFINITIONS).audit("save"),
    rule(GET, "/workflow-definitions/query/count", READ_DEFINITIONS),
    rule(GET, "/workflow-definitions/many-by-id", READ_DEFINITIONS),
    rule(POST, "/workflow-definitions/validate", READ_DEFINITIONS),
    rule(
        GET,
        "/workflow-definitions/validation/is-name-unique",
        READ_DEFINITIONS,
    ),
    rule(POST_PUT, "/workflow-definitions/import", WRITE_DEFINITIONS).audit("import"),
    rule(
        POST,
        "/workflow-definitions/import-files",
        WRITE_DEFINITIONS,
    )
    .audit("import"),
    rule(GET, "/workflow-definitions/by-id/{id}", READ_DEFINITIONS),
    rule(GET, "/workflow-definitions/graph/{id}", READ_DEFINITIONS),
    rule(
        GET,
        "/workflow-definitions/by-definition-id/{id}",
        READ_DEFINITIONS,
    ),
    rule(GET, "/workflow-definitions/{id}", READ_DEFINITIONS),
    rule(DELETE, "/workflow-definitions/{id}", DELETE_DEFINITIONS).audit("delete"),
    rule(GET, "/workflow-definitions/{id}/versions", READ_DEFINITIONS),
    rule(
        GET,
        "/workflow-definitions/{id}/consumers",
        READ_DEFINITIONS,
    ),
    rule(
        POST_PUT,
        "/workflow-definitions/{id}/import",
        WRITE_DEFINITIONS,
    )
    .audit("import"),
    rule(POST, "/workflow-definitions/{id}/publish", PUBLISH).audit("publish"),
    rule(POST, "/workflow-definitions/{id}/retract", RETRACT).audit("retract"),
    rule(POST, "/workflow-definitions/{id}/revert/{version}", PUBLISH).audit("revert"),
    rule(
        POST,
        "/workflow-definitions/{id}/update-references",
        PUBLISH,
    )
    .audit("publish"),
    rule(
        DELETE,
        "/workflow-definitions/{id}/version/{version}",
        DELETE_DEFINITIONS,
    )
    .audit("delete"),
    rule(
        DELETE,
        "/workflow-definition-versions/{id}",
        DELETE_DEFINITIONS,
    )
    .audit("delete"),
    rule(
        GET_POST,
        "/workflow-definitions/{id}/export",
        READ_DEFINITIONS,
    ),
    rule(GET_POST, "/workflow-definitions/{id}/execute", Any(EXECUTE)),
    rule(POST, "/workflow-definitions/{id}/dispatch", Any(EXECUTE)),
    rule(
        POST,
        "/actions/workflow-definitions/refresh",
        Any(&["actions:workflow-definitions:refresh"]),
    ),
    rule(
        POST,
        "/actions/workflow-definitions/reload",
        Any(&["actions:workflow-definitions:reload"]),
    ),
    rule(
        GET,
        "/resilience/strategies",
        Any(&["read:resilience", "read:resilience:strategies"]),
    ),
    rule(
        GET,
        "/resilience/retries/{id}",
        Any(&["read:resilience", "read:resilience:retries"]),
    ),
    // Activity types that are data.
    rule(GET, "/activity-types", Any(&["read:activity-types"])),
    rule(GET, "/activity-types/{type}", Any(&["read:activity-types"])),
    rule(
        PUT,
        "/activity-types/{type}",
        Any(&["publish:activity-types"]),
    )
    .audit("publish"),
    rule(
        DELETE,
        "/activity-types/{type}",
        Any(&["delete:activity-types"]),
    )
    .audit("delete"),
    // Instances.
    rule(GET, "/workflow-instances", Any(READ_INSTANCES)),
    rule(POST, "/workflow-instances", Any(READ_INSTANCES)),
    rule(POST, "/workflow-starts", Any(EXECUTE)),
    rule(GET, "/workflow-instances/{id}", Any(READ_INSTANCES)),
    rule(
        DELETE,
        "/workflow-instances/{id}",
        Any(&["delete:workflow-instances"]),
    )
    .audit("delete"),
    rule(
        GET,
        "/workflow-instances/{id}/execution-state",
        Any(READ_INSTANCES),
    ),
    rule(
        GET,
        "/workflow-instances/{id}/variables",
        Any(READ_INSTANCES),
    ),
    rule(POST, "/workflow-instances/{id}/variables", WRITE_INSTANCES).audit("alter"),
    rule(
        GET_POST,
        "/workflow-instances/{id}/journal",
        Any(READ_INSTANCES),
    ),
    rule(
        GET,
        "/workflow-instances/{id}/journal/{activity}",
        Any(READ_INSTANCES),
    ),
    rule(
        GET_POST,
        "/workflow-instances/{id}/export",
        Any(READ_INSTANCES),
    ),
    rule(
        POST,
        "/bulk-actions/export/workflow-instances",
        Any(READ_INSTANCES),
    ),
    rule(POST, "/workflow-instances/import", WRITE_INSTANCES).audit("import"),
    rule(
        POST,
        "/bulk-actions/import/workflow-instances",
        WRITE_INSTANCES,
    )
    .audit("import"),
    rule(POST, "/workflow-instances/{id}/resume", Any(RESUME)).audit("resume"),
    rule(
        POST,
        "/workflow-instances/{id}/bookmarks/{bookmark}/links",
        Any(&["create:resume-links"]),
    )
    .audit("link"),
    rule(
        POST,
        "/cancel/workflow-instances/{id}",
        Any(&["cancel:workflow-instances"]),
    )
    .audit("cancel"),
    rule(GET_POST, "/alterations/workflows/retry", ALTER).audit("alter"),
    rule(POST, "/alterations/run", ALTER).audit("alter"),
    rule(POST, "/alterations/dry-run", ALTER),
    rule(POST, "/alterations/submit", ALTER).audit("alter"),
    rule(GET, "/alterations/{id}", Any(&["read:alterations"])),
    rule(
        GET,
        "/activity-executions/list",
        Any(&["read:activity-execution"]),
    ),
    rule(
        GET,
        "/activity-executions/count",
        Any(&["read:activity-execution"]),
    ),
    rule(
        GET,
        "/activity-execution-summaries/list",
        Any(&["read:activity-execution"]),
    ),
    // Bookmarks, tasks, events. With a link's token nobody is asked; without one the handler asks.
    rule(GET_POST, "/bookmarks/resume", Anybody).audit("resume"),
    rule(GET, "/events/trigger", Anybody),
    rule(POST, "/tasks/{id}/complete", Any(&["tasks:complete"])).audit("resume"),
    rule(POST, "/tasks/{id}/fail", Any(&["tasks:complete"])).audit("resume"),
    rule(POST, "/tasks/{id}/heartbeat", Any(&["tasks:complete"])),
    rule(POST, "/tasks/poll", Any(&["tasks:poll"])),
    rule(GET, "/tasks", Any(READ_INSTANCES)),
    rule(GET, "/schedules", READ_DEFINITIONS),
    rule(GET, "/schedules/timers", Any(READ_INSTANCES)),
    rule(POST, "/schedules/skip", ALTER).audit("skip"),
    rule(POST, "/events/{name}/trigger", Any(&["trigger:event"])),
    rule(
        GET_POST,
        LETTERS,
        Any(&["read:bookmark-queue:dead-letters"]),
    ),
    rule(
        GET,
        "/bookmark-queue/dead-letters/{id}",
        Any(&["read:bookmark-queue:dead-letters"]),
    ),
    rule(
        DELETE,
        "/bookmark-queue/dead-letters/{id}",
        Any(&["delete:bookmark-queue:dead-letters"]),
    )
    .audit("delete"),
    rule(
        POST,
        "/bookmark-queue/dead-letters/{id}/replay",
        Any(&["replay:bookmark-queue:dead-letters"]),
    )
    .audit("replay"),
    // Who may do what.
    rule(POST, "/identity/login", Anybody).audit("login"),
    rule(POST, "/identity/refresh-token", Anybody),
    rule(POST, "/identity/logout", Anybody).audit("logout"),
    rule(GET, "/identity/me", Known),
    rule(GET, "/identity/ways", Anybody),
    rule(POST, "/identity/oidc/token", Anybody).audit("login"),
    rule(GET, "/identity/users", Any(&["read:user"])),
    rule(POST, "/identity/users", Any(&["create:user"])).audit("user"),
    rule(PUT, "/identity/users/{id}", Any(&["update:user"])).audit("user"),
    rule(DELETE, "/identity/users/{id}", Any(&["delete:user"])).audit("user"),
    rule(GET, "/identity/roles", Any(&["read:role"])),
    rule(POST, "/identity/roles", Any(&["create:role"])).audit("role"),
    rule(PUT, "/identity/roles/{id}", Any(&["update:role"])).audit("role"),
    rule(DELETE, "/identity/roles/{id}", Any(&["delete:role"])).audit("role"),
    rule(
        GET,
        "/identity/roles/{id}/deletion-impact",
        Any(&["read:role"]),
    ),
    rule(GET, "/identity/applications", Any(&["read:application"])),
    rule(POST, "/identity/applications", Any(&["create:application"])).audit("key"),
    rule(
        DELETE,
        "/identity/applications/{id}",
        Any(&["delete:application"]),
    )
    .audit("key"),
    rule(GET, "/webhooks", Any(&["read:webhooks"])),
    rule(POST, "/webhooks", Any(&["create:webhooks"])).audit("key"),
    rule(DELETE, "/webhooks/{id}", Any(&["delete:webhooks"])).audit("key"),
    rule(GET, "/audit", Any(&["read:audit"])),
];

/// The rules of a path, by method.
type Rules = BTreeMap<&'static str, &'static Rule>;

static BY_PATH: LazyLock<BTreeMap<String, Rules>> = LazyLock::new(|| {
    let of_api = RULES
        .iter()
        .chain(DESIGNER)
        .map(|rule| (format!("{API}{}", rule.path), rule));
    let absent = absent().map(|path| (path, &ABSENT));
    let beside = OUTSIDE.iter().map(|rule| (rule.path.to_owned(), rule));
    let mut by_path: BTreeMap<String, Rules> = BTreeMap::new();
    for (path, rule) in of_api.chain(absent).chain(beside) {
        let rules = by_path.entry(path).or_default();
        rules.extend(rule.methods.iter().map(|method| (*method, rule)));
    }
    by_path
});

/// What the table says of a request.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Ruled {
    /// This rule.
    By(&'static Rule),
    /// The path has rules, and none for this method.
    OtherMethods,
    /// Nothing.
    Not,
}

/// The rule of a route, by its whole path; HEAD is a GET.
pub(crate) fn rule_of(method: &Method, path: &str) -> Ruled {
    let method = match *method {
        Method::HEAD => "GET",
        _ => method.as_str(),
    };
    match BY_PATH.get(path) {
        Some(rules) => match rules.get(method).or_else(|| rules.get("*")) {
            Some(rule) => Ruled::By(rule),
            None => Ruled::OtherMethods,
        },
        None => Ruled::Not,
    }
}
