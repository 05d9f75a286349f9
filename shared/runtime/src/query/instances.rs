//! Reading instances.

use std::sync::Arc;

use dormouse_engine::graph::Graph;
use dormouse_engine::instance::Instance;
use dormouse_engine::journal::Line;
use dormouse_store::Tenant;
use dormouse_store::instance::InstanceHead;
use dormouse_store::list::{InstanceCount, InstanceFilter, InstancePage, Paging};
use serde_json::Value;

use super::ActivityExecution;
use crate::error::RuntimeError;
use crate::runtime::Runtime;

/// An instance with all that is kept of it.
#[derive(Debug, Clone)]
pub struct InstanceDetail {
    /// Its head: summary, commit, lease.
    pub head: InstanceHead,
    /// Its state: bookmarks, variables, outputs, incidents.
    pub instance: Instance,
    /// What it runs.
    pub graph: Arc<Graph>,
}

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

impl Runtime {
    /// A page of the instances that match. From an index that may lag behind by seconds.
    ///
    /// # Errors
    ///
    /// [`RuntimeError`]
    pub async fn instances(
        &self,
        tenant: &Tenant,
        filter: &InstanceFilter,
        paging: &Paging,
    ) -> Result<InstancePage, RuntimeError> {
        Ok(self.store().list_instances(tenant, filter, paging).await?)
    }

    /// How many instances match, looking at no more than `bound` of them.
    ///
    /// # Errors
    ///
    /// [`RuntimeError`]
    pub async fn count_instances(
        &self,
        tenant: &Tenant,
        filter: &InstanceFilter,
        bound: usize,
    ) -> Result<InstanceCount, RuntimeError> {
        Ok(self.store().count_instances(tenant, filter, bound).await?)
    }

    /// What lists show of an instance, as of its last commit. One read.
    ///
    /// # Errors
    ///
    /// [`RuntimeError`]
    pub async fn instance_head(
        &self,
        tenant: &Tenant,
        instance_id: &str,
    ) -> Result<Option<InstanceHead>, RuntimeError> {
        Ok(self.store().instance(tenant, instance_id).await?)
    }

    /// An instance with its state.
    ///
    /// # Errors
    ///
    /// [`RuntimeError`]
    pub async fn instance(
        &self,
        tenant: &Tenant,
        instance_id: &str,
    ) -> Result<Option<InstanceDetail>, RuntimeError> {
        let _ = (tenant, instance_id);
        todo!()
    }

    /// Lines of an instance's journal from a sequence number on. `None`: there is no such instance.
    ///
    /// # Errors
    ///
    /// [`RuntimeError`]
    pub async fn journal(
        &self,
        tenant: &Tenant,
        instance_id: &str,
        from: u64,
        limit: usize,
    ) -> Result<Option<Journal>, RuntimeError> {
        let _ = (tenant, instance_id, from, limit);
        todo!()
    }

    /// The activity execution records of an instance, oldest first. `None`: there is no such instance.
    ///
    /// # Errors
    ///
    /// [`RuntimeError`]
    pub async fn activity_executions(
        &self,
        tenant: &Tenant,
        instance_id: &str,
    ) -> Result<Option<Vec<ActivityExecution>>, RuntimeError> {
        let _ = (tenant, instance_id);
        todo!()
    }

    /// The workflow's variables and their values. `None`: there is no such instance.
    ///
    /// # Errors
    ///
    /// [`RuntimeError`]
    pub async fn variables(
        &self,
        tenant: &Tenant,
        instance_id: &str,
    ) -> Result<Option<Vec<VariableValue>>, RuntimeError> {
        let _ = (tenant, instance_id);
        todo!()
    }
}
