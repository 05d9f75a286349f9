//! Which version a start runs, and its first burst: one write and one small read.

use dormouse_store::Tenant;
use futures_util::future::join;

use crate::error::RuntimeError;
use crate::kernel::Kernel;
use crate::kernel::create::{Beginning, First};
use crate::work::definition_handle::{DefinitionHandle, VersionOptions};
use crate::work::start::{Begun, StartOutcome, StartRequest};

impl Kernel<'_> {
    pub(crate) async fn begin(
        self,
        tenant: &Tenant,
        request: StartRequest,
        beginning: Beginning,
    ) -> Result<Begun, RuntimeError> {
        match self.locate(tenant, &request.definition).await? {
            Located::NotFound => Ok(Begun::Outcome(StartOutcome::NotFound)),
            Located::InForce(definition_id) => {
                self.begin_in_force(tenant, &definition_id, &request, &beginning)
                    .await
            }
            Located::Version(definition_id, version) => {
                self.begin_version(tenant, (&definition_id, version), &request, &beginning)
                    .await
            }
        }
    }

    /// Starts the published version.
    async fn begin_in_force(
        self,
        tenant: &Tenant,
        definition_id: &str,
        request: &StartRequest,
        beginning: &Beginning,
    ) -> Result<Begun, RuntimeError> {
        let known = self.cache().published(tenant, definition_id);
        let known = known.filter(|known| {
            known
                .incomplete_until
                .is_none_or(|until| self.now() < until)
        });
        let read = self
            .store()
            .definitions()
            .definition_head(tenant, definition_id);
        // The first step runs while the head is on its way. What it made is dropped if the head says otherwise.
        let first = async {
            match &known {
                Some(known) => {
                    let runnable = known.runnable.clone();
                    let first = First::step(&self, tenant, runnable, request, beginning);
                    Some(first.await)
                }
                None => None,
            }
        };
        let (head, first) = join(read, first).await;
        let Some(head) = head? else {
            self.cache().forget(tenant, definition_id);
            return Ok(Begun::Outcome(StartOutcome::NotFound));
        };
        if let Some(generation) = request.trigger_generation
            && (generation != head.generation || head.published.is_none())
        {
            return Ok(Begun::Outcome(StartOutcome::Stale));
        }
        let is_current = known.is_some_and(|known| {
            known.head.generation == head.generation && known.head.published == head.published
        });
        let first = match first {
            Some(first) if is_current => first?,
            _ => match self.graphs().load_published(tenant, head).await? {
                None => return Ok(Begun::Outcome(StartOutcome::NotFound)),
                Some(loaded) => {
                    let runnable = loaded.runnable.clone();
                    First::step(&self, tenant, runnable, request, beginning).await?
                }
            },
        };
        self.create(first).await
    }

    /// Starts a version by its number, published or not.
    async fn begin_version(
        self,
        tenant: &Tenant,
        (definition_id, version): (&str, u32),
        request: &StartRequest,
        beginning: &Beginning,
    ) -> Result<Begun, RuntimeError> {
        let found = self
            .graphs()
            .load_version(tenant, definition_id, version)
            .await?;
        let Some(runnable) = found else {
            return Ok(Begun::Outcome(StartOutcome::NotFound));
        };
        let first = First::step(&self, tenant, runnable, request, beginning);
        self.create(first.await?).await
    }

    /// Which version a handle means.
    pub(crate) async fn locate(
        self,
        tenant: &Tenant,
        handle: &DefinitionHandle,
    ) -> Result<Located, RuntimeError> {
        let (definition_id, wanted) = match handle {
            DefinitionHandle::Definition { id, version } => {
                if *version == VersionOptions::Published {
                    return Ok(Located::InForce(id.clone()));
                }
                (id.clone(), *version)
            }
            DefinitionHandle::Version { id } => {
                match self.store().definitions().find_version(tenant, id).await? {
                    Some((definition_id, n)) => (definition_id, VersionOptions::Number(n)),
                    None => return Ok(Located::NotFound),
                }
            }
        };
        let Some(head) = self
            .store()
            .definitions()
            .definition_head(tenant, &definition_id)
            .await?
        else {
            return Ok(Located::NotFound);
        };
        Ok(match wanted.pick(&head) {
            None => Located::NotFound,
            Some(n)
                if head
                    .published
                    .as_ref()
                    .is_some_and(|info| info.version == n) =>
            {
                Located::InForce(definition_id)
            }
            Some(n) => Located::Version(definition_id, n),
        })
    }
}

/// Where a start's definition is.
pub(crate) enum Located {
    /// The published version.
    InForce(String),
    /// Another one.
    Version(String, u32),
    NotFound,
}
