//! Alteration plans: changes of many instances, made one instance after the other, and what became of each.
//!
//! A plan's head says how far it is; each of its instances has a job beside it. Both go by time to live.

use bytes::Bytes;
use serde::{Deserialize, Serialize};

use crate::item::body;
use crate::item::error::StoreError;
use crate::item::key_text::{part, partition, plain};
use crate::item::tenant::Tenant;
use crate::item::versioned::Versioned;
use crate::operation::Operations;
use crate::table::{Condition, Item, Key, Query, Value, Write};

const PLAN: &str = "alteration plan";
const JOB: &str = "alteration job";

/// How long plans and jobs stay after their last change, in ms.
const KEPT_MS: i64 = 30 * 24 * 3_600_000;

/// How far a plan is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum PlanStatus {
    /// Nothing is done yet.
    #[default]
    #[serde(rename = "p")]
    Pending,
    /// Its instances are being listed.
    #[serde(rename = "g")]
    Generating,
    /// Its instances are being changed.
    #[serde(rename = "r")]
    Running,
    /// All of them are changed.
    #[serde(rename = "c")]
    Completed,
    /// All had their turn, and some could not be changed.
    #[serde(rename = "f")]
    Failed,
}

/// Changes of the instances that a filter takes.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct AlterationPlan {
    /// What is to be done to whom; the runtime's own format.
    #[serde(rename = "w")]
    pub what: Bytes,
    /// How far it is.
    #[serde(rename = "s")]
    pub status: PlanStatus,
    /// When it was submitted, in ms since 1970.
    #[serde(rename = "c")]
    pub created_ms: i64,
    /// When it began.
    #[serde(rename = "b", skip_serializing_if = "Option::is_none")]
    pub started_ms: Option<i64>,
    /// When it was over.
    #[serde(rename = "e", skip_serializing_if = "Option::is_none")]
    pub completed_ms: Option<i64>,
    /// Where it goes on: in the list of instances while it is generating, behind this instance's job while it is running.
    #[serde(rename = "n", skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
    /// How many jobs it has.
    #[serde(rename = "j")]
    pub jobs: u64,
    /// Whether this round has left jobs for another one.
    #[serde(rename = "l")]
    pub has_left: bool,
    /// Whether this round has done a job.
    #[serde(rename = "d")]
    pub has_done: bool,
    /// Whether some job has failed.
    #[serde(rename = "x")]
    pub has_failed: bool,
    /// Rounds in a row that have done none.
    #[serde(rename = "i")]
    pub idle_rounds: u32,
}

/// How far a job is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum JobStatus {
    /// It is to be done.
    #[default]
    #[serde(rename = "p")]
    Pending,
    /// The instance is changed.
    #[serde(rename = "c")]
    Completed,
    /// The instance cannot be changed.
    #[serde(rename = "f")]
    Failed,
}

/// The changes of one instance.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct AlterationJob {
    /// The instance.
    #[serde(skip)]
    pub instance_id: String,
    /// How far it is.
    #[serde(rename = "s")]
    pub status: JobStatus,
    /// When it was made, in ms since 1970.
    #[serde(rename = "c")]
    pub created_ms: i64,
    /// When it began.
    #[serde(rename = "b", skip_serializing_if = "Option::is_none")]
    pub started_ms: Option<i64>,
    /// When it was over.
    #[serde(rename = "e", skip_serializing_if = "Option::is_none")]
    pub completed_ms: Option<i64>,
    /// What became of it, in a sentence.
    #[serde(rename = "t", skip_serializing_if = "Option::is_none")]
    pub told: Option<String>,
}

fn place(tenant: &Tenant, plan_id: &str) -> Result<String, StoreError> {
    let id = part("an alteration plan's id", plan_id)?;
    Ok(partition(tenant, &format!("PLAN#{id}")))
}

fn head_key(tenant: &Tenant, plan_id: &str) -> Result<Key, StoreError> {
    Ok(Key::new(place(tenant, plan_id)?, "HEAD"))
}

fn job_sort(instance_id: &str) -> Result<String, StoreError> {
    Ok(format!("JOB#{}", part("an instance id", instance_id)?))
}

fn kept_until_s(now_ms: i64) -> i64 {
    now_ms.saturating_add(KEPT_MS) / 1_000
}

fn put_job(
    tenant: &Tenant,
    plan_id: &str,
    job: &AlterationJob,
    now_ms: i64,
) -> Result<Write, StoreError> {
    let mut attributes = body::attributes(JOB, job)?;
    attributes.insert("ttl".into(), Value::N(kept_until_s(now_ms)));
    let key = Key::new(place(tenant, plan_id)?, job_sort(&job.instance_id)?);
    Ok(Write::Put(Item { key, attributes }, Condition::Always))
}

fn job_from_item(item: &Item) -> Result<AlterationJob, StoreError> {
    let mut job: AlterationJob = body::of_item(JOB, item)?;
    let id = item.key.sort.strip_prefix("JOB#").and_then(plain);
    job.instance_id = id.ok_or(StoreError::damaged(JOB))?;
    Ok(job)
}

impl Operations<'_> {
    /// A plan. One read.
    ///
    /// # Errors
    ///
    /// [`StoreError`]
    pub async fn alteration_plan(
        self,
        tenant: &Tenant,
        plan_id: &str,
    ) -> Result<Option<Versioned<AlterationPlan>>, StoreError> {
        self.get_versioned(PLAN, &head_key(tenant, plan_id)?).await
    }

    /// Stores a plan as it is now, with jobs that are new: at most 99. False: somebody else has changed it since it was
    /// read, or it is there already if it is new; then nothing is stored. One atomic write.
    ///
    /// # Errors
    ///
    /// [`StoreError`]
    pub async fn put_alteration_plan(
        self,
        tenant: &Tenant,
        plan_id: &str,
        plan: &Versioned<AlterationPlan>,
        jobs: &[AlterationJob],
        now_ms: i64,
    ) -> Result<bool, StoreError> {
        let head = plan.put(PLAN, head_key(tenant, plan_id)?, Some(kept_until_s(now_ms)))?;
        let mut writes = vec![head];
        for job in jobs {
            writes.push(put_job(tenant, plan_id, job, now_ms)?);
        }
        self.write_if(&writes).await
    }

    /// Stores what became of a job. One write.
    ///
    /// # Errors
    ///
    /// [`StoreError`]
    pub async fn put_alteration_job(
        self,
        tenant: &Tenant,
        plan_id: &str,
        job: &AlterationJob,
        now_ms: i64,
    ) -> Result<(), StoreError> {
        let put = put_job(tenant, plan_id, job, now_ms)?;
        self.write_plain(&[put]).await
    }

    /// At most so many jobs of a plan behind the job of an instance, in the order of the instances' ids; none at the
    /// end. One query, or some more where they are large.
    ///
    /// # Errors
    ///
    /// [`StoreError`]
    pub async fn alteration_jobs(
        self,
        tenant: &Tenant,
        plan_id: &str,
        behind: Option<&str>,
        limit: usize,
    ) -> Result<Vec<AlterationJob>, StoreError> {
        let from = match behind {
            // The least text after it.
            Some(instance_id) => format!("{}\u{1}", job_sort(instance_id)?),
            None => "JOB#".to_owned(),
        };
        let mut query = Query {
            index: None,
            partition: place(tenant, plan_id)?,
            from,
            until: "JOB$".to_owned(),
            descending: false,
            limit: u32::try_from(limit).unwrap_or(1_000).clamp(1, 1_000),
            cursor: None,
            leaves_out_damaged: false,
        };
        let mut jobs = Vec::new();
        loop {
            let page = self.table().query(&query).await?;
            for item in &page.items {
                jobs.push(job_from_item(item)?);
            }
            query.cursor = page.cursor;
            if query.cursor.is_none() || jobs.len() >= limit {
                jobs.truncate(limit);
                return Ok(jobs);
            }
        }
    }
}
