//! Open tasks of all instances, a page at a time, to the last one.

use dormouse_engine::activity::run_task::parse_task_id;
use dormouse_engine::instance::{Bookmark, SubStatus};
use dormouse_engine::time::Timestamp;
use dormouse_store::Tenant;
use dormouse_store::instance::head::Summary;
use dormouse_store::instance::list::{InstanceFilter, Paging};
use futures_util::future::try_join_all;
use serde_json::Value;

use crate::error::RuntimeError;
use crate::tasks::Tasks;

/// How many instances are read at once, and how many for one page.
const AT_ONCE: usize = 50;
const INSTANCES_MAX: usize = 1_000;

/// The type of an activity whose type is data.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OwnType {
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: Option<u64>,
}

/// A task that is open.
#[derive(Debug, Clone, PartialEq)]
pub struct OpenTask {
    /// Its id, under which it is completed.
    pub task_id: String,
    /// Its name: that of `RunTask`, or the activity type.
    pub name: String,
    /// The activity type, where it is data.
    pub of_type: Option<OwnType>,
    /// The queue from which workers take it, if there is one.
    pub queue: Option<String>,
    /// The activity.
    pub activity_id: String,
    /// The activity's name.
    pub activity_name: Option<String>,
    /// Since when it is open.
    pub since: Timestamp,
    /// The instance.
    pub instance_id: String,
    /// What lists show of the instance.
    pub summary: Summary,
}

/// One page of open tasks.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct OpenTaskPage {
    /// The tasks, those of the oldest instances first.
    pub tasks: Vec<OpenTask>,
    /// Where the next page begins; `None` at the end. A page may be short, even empty, and still have a next one.
    pub cursor: Option<String>,
}

impl Tasks<'_> {
    /// Open tasks of a name, or of all names, of the instances that match: those of whole instances, until there are `limit`.
    /// It reads at most [`INSTANCES_MAX`] suspended instances for a page.
    ///
    /// # Errors
    ///
    /// [`RuntimeError`]
    pub async fn open(
        self,
        tenant: &Tenant,
        (name, filter): (Option<&str>, InstanceFilter),
        cursor: Option<String>,
        limit: usize,
    ) -> Result<OpenTaskPage, RuntimeError> {
        let filter = InstanceFilter {
            sub_statuses: vec![SubStatus::Suspended.as_str().to_owned()],
            ..filter
        };
        let mut page = OpenTaskPage {
            cursor,
            ..OpenTaskPage::default()
        };
        let mut read = 0;
        while read < INSTANCES_MAX {
            let paging = Paging {
                ascending: true,
                skip: 0,
                limit: AT_ONCE,
                cursor: page.cursor.take(),
            };
            let instances = self.store().instances();
            let listed = instances.list(tenant, &filter, &paging).await?;
            read += AT_ONCE;
            let of_each = listed.instances.iter();
            let of_each = of_each.map(|one| self.of_instance(tenant, &one.instance_id));
            let mut found = try_join_all(of_each)
                .await?
                .into_iter()
                .zip(&listed.instances);
            for (tasks, of) in &mut found {
                let wanted = tasks.into_iter();
                page.tasks
                    .extend(wanted.filter(|task| name.is_none_or(|name| name == task.name)));
                if page.tasks.len() >= limit {
                    page.cursor = Some(of.cursor(true)?);
                    break;
                }
            }
            if found.next().is_some() {
                return Ok(page);
            }
            page.cursor = listed.cursor;
            if page.cursor.is_none() || page.tasks.len() >= limit {
                break;
            }
        }
        Ok(page)
    }

    /// The open tasks of an instance.
    async fn of_instance(
        self,
        tenant: &Tenant,
        instance_id: &str,
    ) -> Result<Vec<OpenTask>, RuntimeError> {
        let Some(found) = self.kernel().read(tenant, instance_id).await? else {
            return Ok(Vec::new());
        };
        let (graph, instance) = (&found.graph, &found.instance);
        let open = instance.bookmarks.iter();
        let tasks = open.filter_map(|bookmark| {
            let (name, of_type) = named(bookmark)?;
            let task_id = bookmark.payload.get("TaskId")?.as_str()?.to_owned();
            parse_task_id(&task_id)?;
            let context = instance.contexts.get(&bookmark.context)?;
            let node = graph.node(context.node);
            let queue = bookmark.payload.get("Queue").and_then(Value::as_str);
            Some(OpenTask {
                task_id,
                name,
                of_type,
                queue: queue.map(str::to_owned),
                activity_id: node.id.clone(),
                activity_name: node.name.clone(),
                since: bookmark.created_at,
                instance_id: instance_id.to_owned(),
                summary: found.head.summary.clone(),
            })
        });
        Ok(tasks.collect())
    }
}

/// The name of the task that a bookmark waits for, and its type where that is data. `None`: it waits for something else.
fn named(bookmark: &Bookmark) -> Option<(String, Option<OwnType>)> {
    let text = |name: &str| bookmark.payload.get(name).and_then(Value::as_str);
    if bookmark.name == "Elsa.RunTask" {
        return Some((text("TaskName")?.to_owned(), None));
    }
    let name = text("Type").filter(|_| text("For") == Some("task"))?;
    let of_type = OwnType {
        name: name.to_owned(),
        version: bookmark.payload.get("Version").and_then(Value::as_u64),
    };
    Some((name.to_owned(), Some(of_type)))
}
