//! Examining what is stored, and mending it: what the store alone can tell, and what takes knowing states and
//! definitions: bursts that were cut off, timers that never come, large states that nobody names.

use std::collections::BTreeSet;

use dormouse_engine::graph::Recurrence;
use dormouse_store::instance::stamp::Stamp;
use dormouse_store::operation::examine::{Examination, Kind, Suspect, Unfound};
use dormouse_store::table::TableError;
use dormouse_store::table::blobs::ListBlobs;
use dormouse_store::table::scan::Scan;
use dormouse_store::{StoreError, Tenant};

use crate::definitions::publish::first_occurrences;
use crate::error::RuntimeError;
use crate::kernel::burst::found_by;
use crate::operations::Operations;
use crate::query::InstanceDetail;
use crate::work::resume::ResumeRequest;
use crate::work::target::is_cut_off;
use crate::work::timer::{Timer, Wakes};

/// A large state that is younger may belong to a commit that is under way, in ms.
const BLOB_MS: i64 = 3_600_000;

/// What to examine, besides the store.
#[derive(Clone, Copy)]
pub struct Examined<'a> {
    /// The store's own table.
    pub table: &'a dyn Scan,
    /// The store's own blobs.
    pub blobs: Option<&'a dyn ListBlobs>,
    /// Whether timers lie in the table. Elsewhere nobody can tell which are missing, so a repair sets those of all
    /// open bookmarks again: one that is there already changes nothing.
    pub has_timers: bool,
    /// Whether others may work on the table meanwhile. What was prepared within the last minute may be theirs.
    pub is_in_use: bool,
    /// Whether to mend what is wrong.
    pub repairs: bool,
}

/// Something that is wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// What kind of thing.
    pub kind: Kind,
    /// Whose it is.
    pub tenant: String,
    /// Which.
    pub about: String,
    /// Whether it was mended.
    pub is_repaired: bool,
}

/// What an examination found.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ExaminationReport {
    /// How many items there are.
    pub items: u64,
    /// How many instances.
    pub instances: u64,
    /// How many of them have not ended.
    pub running: u64,
    /// How many timers were set again that may have been there.
    pub timers_set: u64,
    /// What is wrong.
    pub found: Vec<Found>,
}

impl Operations<'_> {
    /// Looks at everything that is stored, and mends it if asked to. Beside the work that goes on.
    ///
    /// # Errors
    ///
    /// [`RuntimeError`] if the table cannot be read.
    pub async fn examine(self, examined: Examined<'_>) -> Result<ExaminationReport, RuntimeError> {
        let now = self.now().0;
        let examination = self
            .store()
            .operations()
            .examine(examined.table, now, examined.is_in_use)
            .await?;
        let mut report = ExaminationReport {
            items: examination.items,
            instances: examination.instances,
            running: examination.running,
            ..ExaminationReport::default()
        };
        for finding in &examination.findings {
            let is_repaired = examined.repairs
                && readable(self.store().operations().repair(finding, now).await)?.unwrap_or(false);
            report.found.push(Found {
                kind: finding.kind,
                tenant: finding.tenant.clone(),
                about: finding.about.clone(),
                is_repaired,
            });
        }
        for unfound in &examination.unfound {
            self.examine_unfound(unfound, examined, &mut report).await?;
        }
        self.examine_outbox(examined, &mut report).await?;
        for suspect in &examination.idle {
            self.examine_idle(suspect, examined, &mut report).await?;
        }
        for suspect in &examination.waiting {
            self.examine_waiting(suspect, examined, (&examination.timers, &mut report))
                .await?;
        }
        self.examine_triggers(&examination, examined, &mut report)
            .await?;
        self.examine_blobs(&examination.blobs, examined, &mut report)
            .await?;
        Ok(report)
    }

    /// A bookmark that no event finds gets its row again, from its instance's state.
    async fn examine_unfound(
        self,
        unfound: &Unfound,
        examined: Examined<'_>,
        report: &mut ExaminationReport,
    ) -> Result<(), RuntimeError> {
        let suspect = Suspect {
            tenant: unfound.tenant.clone(),
            instance_id: unfound.instance_id.clone(),
        };
        let Some(found) = self.suspect(&suspect, report).await? else {
            return Ok(());
        };
        let id = unfound.bookmark_id.as_str();
        let open = found
            .instance
            .bookmarks
            .iter()
            .find(|b| b.id.as_str() == id);
        let mut is_repaired = false;
        if let (true, Some(open)) = (examined.repairs, open)
            && let Some(found_by) = found_by(&found.instance, open)?
        {
            let operations = self.store().operations();
            let now = self.now().0;
            is_repaired = operations.put_missing_row(unfound, &found_by, now).await?;
        }
        let about = format!("{id} of {}", unfound.instance_id);
        report.add(
            Kind::BookmarkWithoutRow,
            &unfound.tenant,
            about,
            is_repaired,
        );
        Ok(())
    }

    /// Rows that lie too long in the outbox are delivered by a sweep, like younger ones.
    async fn examine_outbox(
        self,
        examined: Examined<'_>,
        report: &mut ExaminationReport,
    ) -> Result<(), RuntimeError> {
        let is_old = |found: &&mut Found| found.kind == Kind::OldOutbox;
        let mut old: Vec<_> = report.found.iter_mut().filter(is_old).collect();
        if old.is_empty() || !examined.repairs {
            return Ok(());
        }
        let swept = self.sweep().await?;
        let is_done = swept.left == 0;
        old.iter_mut().for_each(|found| found.is_repaired = is_done);
        Ok(())
    }

    /// The instance of a suspicion, or a finding if it cannot be read.
    async fn suspect(
        self,
        suspect: &Suspect,
        report: &mut ExaminationReport,
    ) -> Result<Option<InstanceDetail>, RuntimeError> {
        let Suspect {
            tenant,
            instance_id,
        } = suspect;
        match self.query().instance(tenant, instance_id).await {
            Ok(found) => Ok(found.filter(|found| !found.instance.is_ended())),
            Err(
                error @ (RuntimeError::Instance { .. }
                | RuntimeError::VersionMissing { .. }
                | RuntimeError::Store(
                    StoreError::Damaged { .. } | StoreError::Table(TableError::Unusable(..)),
                )),
            ) => {
                let about = format!("{instance_id}: {error}");
                report.add(Kind::Damaged, tenant, about, false);
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    async fn examine_idle(
        self,
        suspect: &Suspect,
        examined: Examined<'_>,
        report: &mut ExaminationReport,
    ) -> Result<(), RuntimeError> {
        let Some(found) = self.suspect(suspect, report).await? else {
            return Ok(());
        };
        let now = self.now().0;
        let is_leased = found.head.leased_until_ms.is_some_and(|until| until > now);
        if is_leased || !is_cut_off(&found.instance) {
            return Ok(());
        }
        let (tenant, id) = (&suspect.tenant, suspect.instance_id.as_str());
        let mut is_repaired = false;
        if examined.repairs {
            self.instances()
                .resume(tenant, ResumeRequest::instance(id))
                .await?;
            is_repaired = true;
        }
        report.add(Kind::Interrupted, tenant, id.to_owned(), is_repaired);
        Ok(())
    }

    async fn examine_waiting(
        self,
        suspect: &Suspect,
        examined: Examined<'_>,
        (timers, report): (&BTreeSet<(Tenant, String)>, &mut ExaminationReport),
    ) -> Result<(), RuntimeError> {
        if !examined.has_timers && !examined.repairs {
            return Ok(());
        }
        let Some(found) = self.suspect(suspect, report).await? else {
            return Ok(());
        };
        let (tenant, id) = (&suspect.tenant, &suspect.instance_id);
        for bookmark in &found.instance.bookmarks {
            let Some(due) = bookmark.due() else {
                continue;
            };
            let Some(open) = found.head.bookmarks.get(bookmark.id.as_str()) else {
                continue;
            };
            let timer = Timer {
                tenant: tenant.clone(),
                due,
                wakes: Wakes::Bookmark {
                    instance: found.instance.id.clone(),
                    bookmark: bookmark.id.clone(),
                    stamp: Some(Stamp {
                        commit: found.head.commit,
                        fence: found.head.fence,
                        attempt: open.attempt,
                        at_ms: self.now().0,
                    }),
                },
            };
            // One that could not fire yet lies at a later time, so its id tells, not its place.
            let place = (tenant.clone(), timer.id());
            let is_there = examined.has_timers
                && (timers.contains(&place)
                    || !self.still_waits(tenant, id, bookmark.id.as_str()).await?);
            if is_there {
                continue;
            }
            if examined.repairs {
                self.timers().set_again(&timer).await?;
            }
            if examined.has_timers {
                let about = format!("{} of {id}, due {due}", bookmark.id);
                report.add(Kind::TimerMissing, tenant, about, examined.repairs);
            } else {
                report.timers_set += 1;
            }
        }
        Ok(())
    }

    async fn still_waits(
        self,
        tenant: &Tenant,
        instance: &str,
        bookmark: &str,
    ) -> Result<bool, RuntimeError> {
        let head = self.query().instance_head(tenant, instance).await?;
        Ok(head.is_some_and(|head| head.bookmarks.contains_key(bookmark)))
    }

    /// A recurring trigger without a timer never fires again.
    async fn examine_triggers(
        self,
        examination: &Examination,
        examined: Examined<'_>,
        report: &mut ExaminationReport,
    ) -> Result<(), RuntimeError> {
        // Elsewhere a trigger that is set again might fire in two rhythms.
        if !examined.has_timers {
            return Ok(());
        }
        for (tenant, head) in &examination.published {
            let loaded = match self.graphs().load_published(tenant, head.clone()).await {
                Err(RuntimeError::Store(error)) => readable(Err(error))?,
                loaded => Some(loaded?),
            };
            let Some(loaded) = loaded.flatten() else {
                continue;
            };
            for occurrence in first_occurrences(&self, &loaded, self.now()) {
                let prefix = format!(
                    "{}/{}/{}/",
                    occurrence.definition_id, occurrence.activity_id, occurrence.generation
                );
                let is_its =
                    |(whose, id): &(Tenant, String)| whose == tenant && id.starts_with(&prefix);
                // What happens once may have happened long ago.
                let is_once = matches!(occurrence.recurrence, Recurrence::At { .. });
                if is_once || examination.timers.iter().any(is_its) {
                    continue;
                }
                let about = format!("{} of {}", occurrence.activity_id, occurrence.definition_id);
                if examined.repairs {
                    self.timers()
                        .set_occurrence_again(tenant, occurrence)
                        .await?;
                }
                report.add(Kind::TimerMissing, tenant, about, examined.repairs);
            }
        }
        Ok(())
    }

    async fn examine_blobs(
        self,
        named: &BTreeSet<String>,
        examined: Examined<'_>,
        report: &mut ExaminationReport,
    ) -> Result<(), RuntimeError> {
        let Some(blobs) = examined.blobs else {
            return Ok(());
        };
        // What cannot be read may name any of them.
        if report.found.iter().any(|found| found.kind == Kind::Damaged) {
            return Ok(());
        }
        let failed = |cause| RuntimeError::Store(StoreError::Blobs(cause));
        let owned: BTreeSet<String> = named.iter().map(|name| blobs.place(name)).collect();
        let old = self.now().0 - BLOB_MS;
        for blob in blobs.list().await.map_err(failed)? {
            if owned.contains(&blob.place) || blob.written_ms > old {
                continue;
            }
            if examined.repairs {
                blobs.delete_at(&blob.place).await.map_err(failed)?;
            }
            let tenant = Tenant::default();
            report.add(
                Kind::BlobWithoutOwner,
                &tenant,
                blob.place,
                examined.repairs,
            );
        }
        Ok(())
    }
}

/// The result, or `None` where an item that it takes is damaged: the scan has told of that, and the examination goes on.
fn readable<T>(result: Result<T, StoreError>) -> Result<Option<T>, StoreError> {
    match result {
        Err(StoreError::Damaged { .. } | StoreError::Table(TableError::Unusable(..))) => Ok(None),
        result => result.map(Some),
    }
}

impl ExaminationReport {
    fn add(&mut self, kind: Kind, tenant: &Tenant, about: String, is_repaired: bool) {
        self.found.push(Found {
            kind,
            tenant: tenant.to_string(),
            about,
            is_repaired,
        });
    }
}
