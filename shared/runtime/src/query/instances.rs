//! Reading instances.

use dormouse_engine::graph::ROOT;
use dormouse_engine::instance::SubStatus;
use dormouse_engine::journal::{self, Line};
use dormouse_store::Tenant;
use dormouse_store::instance::find::{Found, Order};
use dormouse_store::instance::head::InstanceHead;
use dormouse_store::instance::list::{InstanceFilter, InstancePage, Paging};
use serde_json::Value;

use super::ActivityExecution;
use crate::error::RuntimeError;
use crate::kernel::read::InstanceDetail;
use crate::query::Query;

/// Most lines of a journal that one request holds in memory: some 100 MB. An instance that ran for long may have millions.
pub const JOURNAL_LINES_MAX: usize = 50_000;

/// How many blocks of the journal are read at once.
const BLOCKS_A_PAGE: usize = 500;

/// Some lines of a journal.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Journal {
    /// The lines, in order.
    pub lines: Vec<Line>,
    /// How many lines the journal has in all.
    pub total: u64,
}

/// A variable of the workflow and its value.
#[derive(Debug, Clone, PartialEq)]
pub struct VariableValue {
    /// Its id.
    pub id: String,
    /// Its name.
    pub name: String,
    /// Its value.
    pub value: Value,
}

impl Query<'_> {
    /// A page of the instances that match. From an index that may lag behind by seconds.
    ///
    /// # Errors
    ///
    /// [`RuntimeError`]
    pub async fn instances(
        self,
        tenant: &Tenant,
        filter: &InstanceFilter,
        paging: &Paging,
    ) -> Result<InstancePage, RuntimeError> {
        Ok(self
            .store()
            .instances()
            .list(tenant, filter, paging)
            .await?)
    }

    /// A page of the instances that match by its number, and the number of all that match. From an index that may lag behind
    /// by seconds.
    ///
    /// # Errors
    ///
    /// [`RuntimeError`]
    pub async fn find_instances(
        self,
        tenant: &Tenant,
        filter: &InstanceFilter,
        order: Order,
        paging: &Paging,
    ) -> Result<Found, RuntimeError> {
        let filter = by_sub_status(filter);
        let instances = self.store().instances();
        Ok(instances.find(tenant, &filter, order, paging).await?)
    }

    /// Whether [`Self::find_instances`] has to look at every instance that may match, which can take seconds.
    #[must_use]
    pub fn looks_at_each(self, filter: &InstanceFilter, order: Order) -> bool {
        let instances = self.store().instances();
        !instances.is_listed(&by_sub_status(filter), order)
    }

    /// What lists show of an instance, as of its last commit. One read.
    ///
    /// # Errors
    ///
    /// [`RuntimeError`]
    pub async fn instance_head(
        self,
        tenant: &Tenant,
        instance_id: &str,
    ) -> Result<Option<InstanceHead>, RuntimeError> {
        Ok(self.store().instances().get(tenant, instance_id).await?)
    }

    /// An instance with its state.
    ///
    /// # Errors
    ///
    /// [`RuntimeError`]
    pub async fn instance(
        self,
        tenant: &Tenant,
        instance_id: &str,
    ) -> Result<Option<InstanceDetail>, RuntimeError> {
        self.kernel().read(tenant, instance_id).await
    }

    /// Lines of an instance's journal from a sequence number on. `None`: there is no such instance.
    ///
    /// # Errors
    ///
    /// [`RuntimeError`]
    pub async fn journal(
        self,
        tenant: &Tenant,
        instance_id: &str,
        from: u64,
        limit: usize,
    ) -> Result<Option<Journal>, RuntimeError> {
        let mut journal = Journal::default();
        let mut next = Some(0);
        while let Some(from_block) = next {
            let page = self
                .store()
                .instances()
                .journal(tenant, instance_id, from_block, BLOCKS_A_PAGE)
                .await?;
            let Some(page) = page else { return Ok(None) };
            for block in &page.lines {
                let lines =
                    journal::decode(&block.body).map_err(|source| RuntimeError::Instance {
                        instance_id: instance_id.to_owned(),
                        source,
                    })?;
                for line in lines {
                    journal.total = line.sequence + 1;
                    if line.sequence >= from && journal.lines.len() < limit {
                        journal.lines.push(line);
                    }
                }
            }
            next = page.next;
        }
        Ok(Some(journal))
    }

    /// The activity execution records of an instance, oldest first: those of its first [`JOURNAL_LINES_MAX`] lines. `None`:
    /// there is no such instance.
    ///
    /// # Errors
    ///
    /// [`RuntimeError`]
    pub async fn activity_executions(
        self,
        tenant: &Tenant,
        instance_id: &str,
    ) -> Result<Option<Vec<ActivityExecution>>, RuntimeError> {
        let Some(found) = self.instance(tenant, instance_id).await? else {
            return Ok(None);
        };
        let journal = self
            .journal(tenant, instance_id, 0, JOURNAL_LINES_MAX)
            .await?;
        let lines = journal.unwrap_or_default().lines;
        let mut executions = ActivityExecution::fold(instance_id, &lines);
        for execution in &mut executions {
            execution.add_literals(&found.graph);
            execution.add_outputs(&found.graph, &found.instance);
        }
        ActivityExecution::follow(&mut executions, &found.graph);
        Ok(Some(executions))
    }

    /// The workflow's variables and their values. `None`: there is no such instance.
    ///
    /// # Errors
    ///
    /// [`RuntimeError`]
    pub async fn variables(
        self,
        tenant: &Tenant,
        instance_id: &str,
    ) -> Result<Option<Vec<VariableValue>>, RuntimeError> {
        let Some(found) = self.instance(tenant, instance_id).await? else {
            return Ok(None);
        };
        let root = found.graph.node(ROOT);
        let value = |place: u32| found.instance.variable(place).cloned();
        let variables = (0..).zip(&root.variables);
        let variables = variables.map(|(place, variable)| VariableValue {
            id: variable.id.clone(),
            name: variable.name.clone(),
            value: value(place).unwrap_or_else(|| variable.default.clone()),
        });
        Ok(Some(variables.collect()))
    }
}

/// The filter with the sub-statuses of the statuses that it names: the lists are by sub-status.
fn by_sub_status(filter: &InstanceFilter) -> InstanceFilter {
    let mut filter = filter.clone();
    let is_named = |sub_status: &SubStatus| {
        let status = sub_status.status().as_str();
        filter.statuses.iter().any(|name| name == status)
            && (filter.sub_statuses.is_empty()
                || filter
                    .sub_statuses
                    .iter()
                    .any(|name| name == sub_status.as_str()))
    };
    let named: Vec<SubStatus> = SubStatus::ALL.into_iter().filter(is_named).collect();
    // A status that does not exist, or one that excludes the sub-statuses, matches nothing: the summaries say so.
    if !named.is_empty() {
        filter.statuses.clear();
        filter.sub_statuses = named.iter().map(|one| one.as_str().to_owned()).collect();
    }
    filter
}
