//! What the bodies, queries and answers of the routes look like, as far as it is the same each time: names and kinds,
//! with `!` behind the name of what must be there.

mod schema;

pub(super) use schema::{fields, find, object, of_kind};

/// Bodies of requests, by path below the API's prefix.
pub(super) const BODIES: &[(&str, &str)] = &[
    (
        "/activity-executions/report",
        "workflowInstanceId!:string activityNodeIds!:strings",
    ),
    (
        "/activity-types/{type}",
        "category:string displayName:string description:string inputs:objects outputs:objects outcomes:strings handler!:object timeoutMs:count heartbeatMs:count retry:object",
    ),
    ("/admin/workflow-runtime/pause", "reason:string"),
    ("/secrets", "name!:string value:string storeName:string"),
    (
        "/alterations/dry-run",
        "emptyFilterSelectsAll:flag workflowInstanceIds:strings definitionIds:strings statuses:strings subStatuses:strings searchTerm:string hasIncidents:flag searchAttributes:object",
    ),
    (
        "/alterations/run",
        "alterations!:objects workflowInstanceIds!:strings",
    ),
    (
        "/alterations/submit",
        "id:string alterations!:objects filter:object",
    ),
    (
        "/alterations/workflows/retry",
        "workflowInstanceIds!:strings activityIds:strings",
    ),
    (
        "/bookmarks/resume",
        "workflowInstanceId!:string bookmarkId!:string input:object",
    ),
    (
        "/bulk-actions/cancel/workflow-instances",
        "ids:strings definitionId:string",
    ),
    (
        "/bulk-actions/delete/workflow-definitions/by-definition-id",
        "definitionIds!:strings",
    ),
    (
        "/bulk-actions/delete/workflow-definitions/by-id",
        "ids!:strings",
    ),
    ("/bulk-actions/delete/workflow-instances", "ids!:strings"),
    ("/bulk-actions/export/workflow-definitions", "ids!:strings"),
    (
        "/bulk-actions/export/workflow-instances",
        "ids!:strings includeBookmarks:flag includeActivityExecutionLog:flag includeWorkflowExecutionLog:flag",
    ),
    (
        "/bulk-actions/publish/workflow-definitions/by-definition-ids",
        "definitionIds!:strings",
    ),
    (
        "/bulk-actions/retract/workflow-definitions/by-definition-ids",
        "definitionIds!:strings",
    ),
    (
        "/events/{name}/trigger",
        "workflowInstanceId:string correlationId:string input:any",
    ),
    ("/identity/applications", "name!:string permissions:strings"),
    ("/identity/login", "username!:string password!:string"),
    (
        "/identity/roles",
        "id!:string name:string permissions!:strings",
    ),
    (
        "/identity/users",
        "name!:string password:string roles:strings",
    ),
    (
        "/schedules/skip",
        "definitionId!:string activityId!:string occurrence!:string",
    ),
    (
        "/tasks/poll",
        "queue!:string types!:strings max:few waitMs:few workerId!:string",
    ),
    (
        "/tasks/{id}/complete",
        "result:any outputs:object outcome:string",
    ),
    ("/tasks/{id}/fail", "error!:object"),
    ("/tasks/{id}/heartbeat", "details:any"),
    (
        "/tests/activities",
        "workflowDefinitionHandle!:object activityHandle!:object",
    ),
    ("/workflow-definitions", "model!:definition publish:flag"),
    (
        "/workflow-definitions/import",
        "definitionId:string name:string root!:object",
    ),
    (
        "/workflow-definitions/validate",
        "definitionId:string name:string root!:object",
    ),
    (
        "/workflow-definitions/{id}/import",
        "name:string root!:object",
    ),
    (
        "/workflow-definitions/{id}/dispatch",
        "instanceId:string correlationId:string triggerActivityId:string input:object",
    ),
    (
        "/workflow-definitions/{id}/bulk-dispatch",
        "count!:few correlationId:string input:object",
    ),
    (
        "/workflow-definitions/{id}/execute",
        "correlationId:string name:string triggerActivityId:string input:object",
    ),
    (
        "/workflow-instances",
        "definitionId:string status:string subStatus:string searchTerm:string page:few pageSize:few",
    ),
    (
        "/workflow-starts",
        "definitionId!:string id:string correlationId:string name:string triggerActivityId:string input:object",
    ),
    (
        "/workflow-instances/{id}/export",
        "includeBookmarks:flag includeActivityExecutionLog:flag includeWorkflowExecutionLog:flag",
    ),
    (
        "/workflow-instances/{id}/journal",
        "skip:few take:few filter:object",
    ),
    (
        "/workflow-instances/{id}/resume",
        "bookmarkId:string input:object",
    ),
    ("/workflow-instances/{id}/variables", "variables!:objects"),
];

/// Queries of GETs.
pub(super) const QUERIES: &[(&str, &str)] = &[
    (
        "/activity-execution-summaries/list",
        "workflowInstanceId!:string activityNodeId:string completed:flag",
    ),
    ("/activity-executions/by-id", "id!:string"),
    (
        "/activity-executions/count",
        "workflowInstanceId!:string activityNodeId:string completed:flag",
    ),
    (
        "/activity-executions/list",
        "workflowInstanceId!:string activityNodeId:string completed:flag",
    ),
    ("/activity-executions/{id}/call-stack", "skip:few take:few"),
    ("/audit", "pageSize:few cursor:string"),
    ("/bookmark-queue/dead-letters", "pageSize:few cursor:string"),
    ("/schedules", "pageSize:few cursor:string"),
    ("/schedules/timers", "pageSize:few cursor:string"),
    (
        "/tasks",
        "task:string definitionId:string correlationId:string searchTerm:string searchAttribute:string pageSize:few cursor:string",
    ),
    (
        "/workflow-definitions",
        "versionOptions:string searchTerm:string page:few pageSize:few orderBy:string orderDirection:string isSystem:flag",
    ),
    ("/workflow-definitions/many-by-id", "ids:strings"),
    (
        "/workflow-definitions/subgraph/segments/{id}",
        "childNodeId!:string",
    ),
    ("/workflow-definitions/subgraph/{id}", "parentNodeId:string"),
    (
        "/workflow-definitions/validation/is-name-unique",
        "name!:string definitionId:string",
    ),
    ("/workflow-definitions/{id}", "versionOptions:string"),
    (
        "/workflow-definitions/{id}/execute",
        "correlationId:string versionOptions:string input:string",
    ),
    (
        "/workflow-definitions/{id}/export",
        "versionOptions:string includeConsumingWorkflows:flag",
    ),
    (
        "/workflow-instances",
        "definitionId:string status:string searchTerm:string page:few pageSize:few hasIncidents:flag searchAttribute:string",
    ),
    (
        "/workflow-instances/{id}/journal",
        "skip:few take:few page:few pageSize:few",
    ),
];

const ITEMS: &str = "items!:objects count!:count";

/// Answers that are done with JSON of one shape, by method and path.
pub(super) const ANSWERS: &[(&str, &str)] = &[
    ("GET /activity-execution-summaries/list", ITEMS),
    ("GET /activity-executions/count", "count!:count"),
    ("GET /activity-types", ITEMS),
    (
        "GET /activity-types/{type}",
        "type!:string version!:count handler!:object",
    ),
    (
        "PUT /activity-types/{type}",
        "type!:string version!:count handler!:object",
    ),
    ("GET /schedules", "items!:objects"),
    ("GET /schedules/timers", "items!:objects areListed!:flag"),
    ("POST /schedules/skip", "skipped!:string"),
    ("GET /tasks", "items!:objects"),
    ("POST /tasks/poll", "tasks!:objects"),
    ("GET /activity-executions/list", ITEMS),
    (
        "GET /activity-executions/{id}/call-stack",
        "activityExecutionId!:string items!:objects totalCount!:count",
    ),
    ("POST /activity-executions/report", "stats!:objects"),
    (
        "GET /admin/workflow-runtime/status",
        "state!:object sources!:objects",
    ),
    (
        "POST /bulk-actions/import/workflow-instances",
        "imported!:count workflowInstanceIds!:strings",
    ),
    (
        "POST /workflow-instances/import",
        "imported!:count workflowInstanceIds!:strings",
    ),
    (
        "POST /admin/workflow-runtime/pause",
        "state!:object sources!:objects",
    ),
    (
        "POST /admin/workflow-runtime/resume",
        "state!:object sources!:objects",
    ),
    (
        "POST /alterations/dry-run",
        "workflowInstanceIds!:strings hasMore!:flag",
    ),
    ("POST /alterations/run", "results!:objects"),
    ("POST /alterations/submit", "planId!:string"),
    ("GET /alterations/{id}", "plan!:object jobs!:objects"),
    ("POST /alterations/workflows/retry", "results!:objects"),
    (
        "GET /bookmark-queue/dead-letters",
        "items!:objects totalCount!:count",
    ),
    (
        "POST /bulk-actions/cancel/workflow-instances",
        "cancelled!:count",
    ),
    (
        "POST /bulk-actions/delete/workflow-definitions/by-definition-id",
        "deleted!:count",
    ),
    (
        "POST /bulk-actions/delete/workflow-definitions/by-id",
        "deleted!:count",
    ),
    (
        "POST /bulk-actions/delete/workflow-instances",
        "deleted!:count",
    ),
    (
        "POST /bulk-actions/publish/workflow-definitions/by-definition-ids",
        "published!:strings alreadyPublished!:strings notFound!:strings skipped!:strings updatedConsumers!:strings failed!:strings warnings!:object",
    ),
    (
        "POST /bulk-actions/retract/workflow-definitions/by-definition-ids",
        "retracted!:strings alreadyRetracted!:strings skipped!:strings notPublished!:strings notFound!:strings",
    ),
    ("GET /descriptors/activities", ITEMS),
    ("GET /descriptors/expression-descriptors", ITEMS),
    ("GET /descriptors/storage-drivers", ITEMS),
    ("GET /descriptors/variables", ITEMS),
    ("GET /features/installed", ITEMS),
    (
        "GET /identity/me",
        "name!:string tenantId!:string permissions!:strings",
    ),
    ("GET /identity/ways", "users!:flag oidc!:any"),
    ("POST /identity/login", "isAuthenticated!:flag"),
    (
        "POST /identity/oidc/token",
        "isAuthenticated!:flag accessToken!:string refreshToken!:string",
    ),
    ("GET /package/version", "packageVersion!:string"),
    (
        "POST /tests/activities",
        "activityState!:any outputs!:any payload!:object exception!:any status!:string",
    ),
    (
        "GET /workflow-definitions",
        "items!:objects totalCount!:count links!:objects",
    ),
    (
        "POST /workflow-definitions",
        "workflowDefinition!:object alreadyPublished!:flag consumingWorkflowCount!:count validationErrors!:objects",
    ),
    (
        "GET /workflow-definitions/graph/{id}",
        "nodes!:objects arrows!:objects nodeWidth!:any nodeHeight!:any width!:any height!:any",
    ),
    ("GET /workflow-definitions/many-by-id", ITEMS),
    ("GET /workflow-definitions/query/count", "count!:count"),
    (
        "GET /workflow-definitions/validation/is-name-unique",
        "isUnique!:flag",
    ),
    (
        "GET /workflow-definitions/{id}",
        "id!:string definitionId!:string version!:count isLatest!:flag isPublished!:flag root!:object links!:objects",
    ),
    (
        "GET /workflow-definitions/{id}/consumers",
        "consumingWorkflowDefinitionIds!:strings",
    ),
    (
        "POST /workflow-definitions/{id}/dispatch",
        "workflowInstanceId!:string",
    ),
    (
        "POST /workflow-definitions/{id}/bulk-dispatch",
        "workflowInstanceIds!:strings",
    ),
    (
        "GET /workflow-instances",
        "items!:objects totalCount!:count",
    ),
    (
        "GET /workflow-instances/{id}",
        "id!:string definitionId!:string status!:string subStatus!:string workflowState!:object",
    ),
    (
        "GET /workflow-instances/{id}/execution-state",
        "status!:string subStatus!:string updatedAt!:string",
    ),
    (
        "GET /workflow-instances/{id}/journal",
        "items!:objects totalCount!:count",
    ),
    (
        "POST /workflow-instances/{id}/journal",
        "items!:objects totalCount!:count",
    ),
    ("GET /workflow-instances/{id}/variables", ITEMS),
    ("POST /workflow-instances/{id}/variables", ITEMS),
];

#[cfg(test)]
mod tests;
