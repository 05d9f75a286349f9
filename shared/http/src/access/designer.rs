//! The rules of what designers and their lists ask for: descriptors, reports, many things at once, secrets.

use super::Access::{Any, Anybody};
use super::{
    DELETE, DELETE_DEFINITIONS, EXECUTE, GET, GET_POST, POST, PUBLISH, READ_DEFINITIONS, RETRACT,
    Rule, rule,
};

const DESCRIPTORS: super::Access = Any(&["read:activity-descriptors"]);
const EXECUTIONS: super::Access = Any(&["read:activity-execution"]);
const CANCEL: super::Access = Any(&["cancel:workflow-instances"]);
const DELETE_INSTANCES: super::Access = Any(&["delete:workflow-instances"]);

const READ_SECRETS: super::Access = Any(&["read:secrets"]);
const WRITE_SECRETS: super::Access = Any(&["write:secrets"]);

/// Routes of the API for designers, as in [`super::RULES`].
pub const DESIGNER: &[Rule] = &[
    rule(GET, "/openapi.json", Anybody),
    rule(GET, "/descriptors/activities", DESCRIPTORS),
    rule(GET, "/descriptors/activities/{type}", DESCRIPTORS),
    rule(
        POST,
        "/descriptors/activities/{type}/options/{property}",
        Any(&["read:activity-descriptors-options"]),
    ),
    rule(
        GET,
        "/descriptors/variables",
        Any(&["read:variable-descriptors"]),
    ),
    rule(
        GET,
        "/descriptors/storage-drivers",
        Any(&["read:storage-drivers"]),
    ),
    rule(
        GET,
        "/descriptors/expression-descriptors",
        Any(&["read:expression-descriptors"]),
    ),
    rule(
        GET,
        "/descriptors/workflow-activation-strategies",
        Any(&["read:workflow-activation-strategies"]),
    ),
    rule(
        GET,
        "/descriptors/incident-strategies",
        Any(&["read:incident-strategies"]),
    ),
    rule(
        GET,
        "/descriptors/log-persistence-strategies",
        Any(&["read:log-persistence-strategies"]),
    ),
    rule(
        GET,
        "/descriptors/commit-strategies/workflows",
        Any(&["read:commit-strategies"]),
    ),
    rule(
        GET,
        "/descriptors/commit-strategies/activities",
        Any(&["read:commit-strategies"]),
    ),
    rule(
        GET,
        "/descriptors/output-converters",
        Any(&["read:output-converters"]),
    ),
    rule(
        GET,
        "/features/installed",
        Any(&["read:installed-features"]),
    ),
    rule(
        GET,
        "/features/installed/{name}",
        Any(&["read:installed-features"]),
    ),
    rule(
        POST,
        "/scripting/javascript/type-definitions/{id}",
        Any(&["read:javascript-type-definitions"]),
    ),
    rule(GET, "/workflow-definitions/subgraph/{id}", READ_DEFINITIONS),
    rule(
        GET,
        "/workflow-definitions/subgraph/segments/{id}",
        READ_DEFINITIONS,
    ),
    rule(POST, "/tests/activities", Any(&["exec:tests"])),
    rule(
        GET,
        "/admin/workflow-runtime/status",
        Any(&["read:workflow-runtime", "ManageWorkflowRuntime"]),
    ),
    rule(
        POST,
        "/admin/workflow-runtime/pause",
        Any(&["ManageWorkflowRuntime"]),
    )
    .audit("pause"),
    rule(
        POST,
        "/admin/workflow-runtime/resume",
        Any(&["ManageWorkflowRuntime"]),
    )
    .audit("unpause"),
    rule(POST, "/activity-executions/report", EXECUTIONS),
    rule(GET, "/activity-executions/by-id", EXECUTIONS),
    rule(GET, "/activity-executions/{id}", EXECUTIONS),
    rule(GET, "/activity-executions/{id}/call-stack", EXECUTIONS),
    rule(
        POST,
        "/workflow-definitions/{id}/bulk-dispatch",
        Any(EXECUTE),
    ),
    rule(
        POST,
        "/bulk-actions/delete/workflow-definitions/by-definition-id",
        DELETE_DEFINITIONS,
    )
    .audit("delete"),
    rule(
        POST,
        "/bulk-actions/delete/workflow-definitions/by-id",
        DELETE_DEFINITIONS,
    )
    .audit("delete"),
    rule(
        POST,
        "/bulk-actions/publish/workflow-definitions/by-definition-ids",
        PUBLISH,
    )
    .audit("publish"),
    rule(
        POST,
        "/bulk-actions/retract/workflow-definitions/by-definition-ids",
        RETRACT,
    )
    .audit("retract"),
    rule(
        GET_POST,
        "/bulk-actions/export/workflow-definitions",
        READ_DEFINITIONS,
    ),
    rule(POST, "/bulk-actions/cancel/workflow-instances", CANCEL).audit("cancel"),
    rule(POST, "/bulk-actions/cancel/workflow-instances/", CANCEL).audit("cancel"),
    rule(
        POST,
        "/bulk-actions/delete/workflow-instances",
        DELETE_INSTANCES,
    )
    .audit("delete"),
    rule(
        POST,
        "/bulk-actions/delete/workflow-instances/by-id",
        DELETE_INSTANCES,
    )
    .audit("delete"),
    // Secrets.
    rule(GET, "/secrets", READ_SECRETS),
    rule(POST, "/secrets", WRITE_SECRETS).audit("secret"),
    rule(GET, "/secrets/descriptors", READ_SECRETS),
    rule(POST, "/secrets/picker", READ_SECRETS),
    rule(GET, "/secrets/{name}", READ_SECRETS),
    rule(POST, "/secrets/{name}", WRITE_SECRETS).audit("secret"),
    rule(DELETE, "/secrets/{name}", Any(&["delete:secrets"])).audit("secret"),
    rule(POST, "/secrets/{name}/revoke", WRITE_SECRETS).audit("secret"),
    rule(POST, "/secrets/{name}/rotate", WRITE_SECRETS).audit("secret"),
    rule(POST, "/secrets/{name}/test", Any(&["test:secrets"])),
    rule(POST, "/secret-keys/rotate", Any(&["rotate:secret-keys"])).audit("secret"),
];
