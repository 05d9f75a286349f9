//! Tasks that workers ask for: where to look, no more. Whether one is still to be done, and who has it, is a matter of
//! its instance; a row that leads nowhere is deleted by whoever finds it.

use crate::item::error::StoreError;
use crate::item::key_text::{last_part, part, partition, time};
use crate::item::tenant::Tenant;
use crate::store::handle::handle;
use crate::table::{Attributes, Condition, Item, Key, Query, Write};

handle!(
    /// Tasks that workers ask for.
    pub TaskRows,
    task_rows
);

/// A task that waits for a worker.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskRow {
    /// The queue.
    pub queue: String,
    /// The activity's type.
    pub activity_type: String,
    /// Since when it waits, in ms since 1970.
    pub since_ms: i64,
    /// Its id.
    pub task_id: String,
}

/// A page of tasks that wait.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskPage {
    /// In order of age.
    pub rows: Vec<TaskRow>,
    /// Where the next page begins. `None`: there is none.
    pub cursor: Option<String>,
}

fn place(tenant: &Tenant, queue: &str, activity_type: &str) -> Result<String, StoreError> {
    let queue = part("a queue's name", queue)?;
    let activity_type = part("an activity type", activity_type)?;
    Ok(partition(tenant, &format!("TASKS#{queue}#{activity_type}")))
}

impl TaskRow {
    fn key(&self, tenant: &Tenant) -> Result<Key, StoreError> {
        let id = part("a task's id", &self.task_id)?;
        Ok(Key::new(
            place(tenant, &self.queue, &self.activity_type)?,
            format!("{}#{id}", time(self.since_ms)),
        ))
    }
}

impl TaskRows<'_> {
    /// Says that a task waits; saying it twice is saying it once. One write.
    ///
    /// # Errors
    ///
    /// [`StoreError`]
    pub async fn put(self, tenant: &Tenant, row: &TaskRow) -> Result<(), StoreError> {
        let key = row.key(tenant)?;
        let attributes = Attributes::new();
        self.write_plain(&[Write::Put(Item { key, attributes }, Condition::Always)])
            .await
    }

    /// A page of the tasks of a queue and a type, those that wait longest first. One query.
    ///
    /// # Errors
    ///
    /// [`StoreError`]
    pub async fn waiting(
        self,
        tenant: &Tenant,
        (queue, activity_type): (&str, &str),
        limit: u32,
        cursor: Option<String>,
    ) -> Result<TaskPage, StoreError> {
        let query = Query {
            index: None,
            partition: place(tenant, queue, activity_type)?,
            from: String::new(),
            until: String::new(),
            descending: false,
            limit,
            cursor,
            leaves_out_damaged: true,
        };
        let page = self.table().query(&query).await?;
        let row = |item: Item| {
            let (since, _) = item.key.sort.split_once('#')?;
            Some(TaskRow {
                queue: queue.to_owned(),
                activity_type: activity_type.to_owned(),
                since_ms: since.parse().ok()?,
                task_id: last_part("task", &item.key.sort).ok()?,
            })
        };
        Ok(TaskPage {
            rows: page.items.into_iter().filter_map(row).collect(),
            cursor: page.cursor,
        })
    }

    /// The write that deletes the row of a task that waits no more; for
    /// [`crate::instance::commit::Commit::rows_closed`].
    ///
    /// # Errors
    ///
    /// [`StoreError::BadId`]
    pub fn closing(self, tenant: &Tenant, row: &TaskRow) -> Result<Write, StoreError> {
        Ok(Write::Delete(row.key(tenant)?, Condition::Always))
    }

    /// The task waits no more; saying it twice is saying it once. One write.
    ///
    /// # Errors
    ///
    /// [`StoreError`]
    pub async fn delete(self, tenant: &Tenant, row: &TaskRow) -> Result<(), StoreError> {
        self.write_plain(&[self.closing(tenant, row)?]).await
    }
}
