//! Instances as files: all that an instance is, to be kept elsewhere, and the way back.
//!
//! What comes back is the state as it was exported, under its id, at the same version of its definition. What was on
//! its way then is not in it: requests to workers, events it sent, children it was about to start. Its children are
//! instances of their own.

use bytes::Bytes;
use dormouse_engine::definition::Definition;
use dormouse_engine::graph::Graph;
use dormouse_engine::instance::Instance;
use dormouse_engine::journal;
use dormouse_store::Tenant;
use dormouse_store::instance::commit::Committed;
use dormouse_store::instance::create::NewInstance;
use dormouse_store::instance::head::{InstanceHead, Summary};
use dormouse_store::instance::predecessor::{Predecessor, Vacancy};

use crate::error::RuntimeError;
use crate::graph::cache::Runnable;
use crate::graph::pin::Pin;
use crate::instances::Instances;
use crate::instances::bring_back::back;
use crate::json_digest::json_digest;
use crate::kernel::burst::{Burst, Cause};
use crate::kernel::create::claim;
use crate::work::message::Task;
use crate::work::target::is_cut_off;

/// How many blocks of the journal are read at once.
const BLOCKS_A_PAGE: usize = 500;

/// The latest time that an imported instance may name, in ms since 1970: the year 2286, as far as keys have digits.
const LATEST_MS: i64 = 9_999_999_999_999;

/// An instance, whole.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct InstanceFile {
    /// Its id.
    pub instance_id: String,
    /// The definition.
    pub definition_id: String,
    /// The version's number.
    pub definition_version: u32,
    /// The digest of the version's root activity: a version of the same number may be another one elsewhere.
    pub definition_digest: String,
    /// The number of its last commit.
    pub commit: u64,
    /// What it is pinned to beside its version; the runtime's own format.
    pub pinned: Bytes,
    /// Its state; the engine's own format.
    pub state: Bytes,
    /// Its journal; the engine's own format.
    pub journal: Vec<Bytes>,
}

/// What became of an export.
#[derive(Debug)]
pub enum Exported {
    /// It is this.
    File(Box<InstanceFile>),
    /// It is larger than was wanted.
    TooLarge,
    /// There is no such instance.
    NotFound,
}

/// What became of an import.
#[derive(Debug)]
pub enum ImportOutcome {
    /// It is there, and goes on when what it waits for comes.
    Imported(Box<InstanceHead>),
    /// There is an instance with the id, and it stays as it is.
    Exists,
    /// One with the id is being created or deleted. Try again in a moment.
    Busy,
    /// The activation strategy of its definition refuses: another instance runs.
    NotAllowed {
        /// The one that runs.
        holder: String,
    },
    /// A version that it needs is not there.
    VersionMissing {
        /// The definition.
        definition_id: String,
        /// The version.
        version: u32,
    },
    /// The version of its number is another one here.
    VersionDiffers,
    /// It is not what an export wrote.
    Unreadable {
        /// Which part.
        part: &'static str,
        /// What is wrong with it.
        reason: String,
    },
}

impl Instances<'_> {
    /// An instance as it was after its last commit, if it is of no more than so many bytes.
    ///
    /// # Errors
    ///
    /// [`RuntimeError`]
    pub async fn export(
        self,
        tenant: &Tenant,
        instance_id: &str,
        bytes_max: usize,
    ) -> Result<Exported, RuntimeError> {
        let store = self.store();
        let Some((head, state)) = store
            .instances()
            .instance_with_state(tenant, instance_id)
            .await?
        else {
            return Ok(Exported::NotFound);
        };
        let (id, version) = (&head.summary.definition_id, head.summary.definition_version);
        let definition = self.graphs().needed_definition(tenant, id, version).await?;
        let mut bytes = state.len();
        let mut blocks = Vec::new();
        let mut next = Some(0);
        while let Some(from) = next {
            if bytes > bytes_max {
                return Ok(Exported::TooLarge);
            }
            let page = store
                .instances()
                .journal(tenant, instance_id, from, BLOCKS_A_PAGE)
                .await?;
            let Some(page) = page else {
                return Ok(Exported::NotFound);
            };
            bytes += page
                .lines
                .iter()
                .map(|block| block.body.len())
                .sum::<usize>();
            blocks.extend(page.lines.into_iter().map(|block| block.body));
            next = page.next;
        }
        Ok(Exported::File(Box::new(InstanceFile {
            instance_id: instance_id.to_owned(),
            definition_id: id.clone(),
            definition_version: version,
            definition_digest: digest(&definition),
            commit: head.commit,
            pinned: head.pinned,
            state,
            journal: blocks,
        })))
    }

    /// What stands against an import; nothing is changed. `None`: nothing does now.
    ///
    /// # Errors
    ///
    /// [`RuntimeError`]
    pub async fn check_import(
        self,
        tenant: &Tenant,
        file: &InstanceFile,
    ) -> Result<Option<ImportOutcome>, RuntimeError> {
        Ok(self.arrival(tenant, file).await?.err())
    }

    /// Brings an instance back under its id, in one commit: its state, its journal, where it waits, its timers. One that
    /// was cut off in a burst goes on.
    ///
    /// # Errors
    ///
    /// [`RuntimeError`]. The same call again tells [`ImportOutcome::Exists`] if it happened.
    pub async fn import(
        self,
        tenant: &Tenant,
        file: &InstanceFile,
    ) -> Result<ImportOutcome, RuntimeError> {
        let Arrival {
            instance,
            runnable,
            predecessor,
            pin,
        } = match self.arrival(tenant, file).await? {
            Ok(arrival) => arrival,
            Err(outcome) => return Ok(outcome),
        };
        let claims: Vec<_> = match instance.is_ended() {
            true => Vec::new(),
            false => claim(&runnable, instance.correlation_id.as_deref())
                .into_iter()
                .collect(),
        };
        let owner = self.owner();
        let new = NewInstance {
            instance_id: &file.instance_id,
            owner: &owner,
            claims: &claims,
            predecessor,
        };
        let mut burst = Burst::new(&self, tenant, runnable, false, 0);
        burst.loaded = Some(Box::new(self.store().instances().blank(tenant, &new)?));
        let transition = back(instance);
        let mut composed = burst.compose(&transition, &Cause::default())?;
        let goes_on = is_cut_off(&transition.instance).then(|| {
            let task = Task::Continue {
                instance: transition.instance.id.clone(),
                activities: 0,
                made_way: true,
            };
            self.message(tenant, format!("import/{}", file.instance_id), task)
        });
        composed.bring_back(goes_on)?;
        composed.commit.pinned = Some(pin.encode()?);
        composed.commit.journal.clone_from(&file.journal);
        let (committed, composed) = burst.write(composed).await?;
        Ok(match committed {
            Committed::Done(keys) => {
                let head = Box::new(burst.loaded()?.head().clone());
                burst.after_commit(&transition, composed, keys).await;
                let (_, later) = Box::pin(burst.run_on(transition)).await?;
                for work in later {
                    work.await;
                }
                ImportOutcome::Imported(head)
            }
            Committed::NotUnique { holder, .. } => ImportOutcome::NotAllowed { holder },
            Committed::Fenced(_) | Committed::Deleted | Committed::Lost(None) => {
                ImportOutcome::Busy
            }
            Committed::Lost(Some(_)) | Committed::StimulusTaken => ImportOutcome::Exists,
        })
    }

    /// Reads a file and looks whether it fits in here.
    async fn arrival(
        self,
        tenant: &Tenant,
        file: &InstanceFile,
    ) -> Result<Result<Arrival, ImportOutcome>, RuntimeError> {
        let pin = match Pin::decode(&file.pinned) {
            Ok(pin) => Pin {
                // The trigger that would start another one at its end is not the file's business.
                buffers: None,
                ..pin
            },
            Err(error) => return Ok(Err(unreadable("Pinned", error.to_string()))),
        };
        let summary = Summary {
            definition_id: file.definition_id.clone(),
            definition_version: file.definition_version,
            ..Summary::default()
        };
        let loaded = self
            .graphs()
            .runnable_of(tenant, &summary, pin.bindings.clone());
        let runnable = match loaded.await {
            Ok(runnable) => runnable,
            Err(RuntimeError::VersionMissing {
                definition_id,
                version,
            }) => {
                return Ok(Err(ImportOutcome::VersionMissing {
                    definition_id,
                    version,
                }));
            }
            Err(error) => return Err(error),
        };
        if digest(&runnable.definition) != file.definition_digest {
            return Ok(Err(ImportOutcome::VersionDiffers));
        }
        let instance = match file.read(&runnable.graph) {
            Ok(instance) => instance,
            Err(outcome) => return Ok(Err(outcome)),
        };
        let predecessor = match self
            .store()
            .commits()
            .vacancy(tenant, &file.instance_id)
            .await?
        {
            Vacancy::Free(predecessor) => Predecessor {
                commit: predecessor.commit.max(file.commit),
                ..predecessor
            },
            Vacancy::Taken => return Ok(Err(ImportOutcome::Exists)),
            Vacancy::Busy => return Ok(Err(ImportOutcome::Busy)),
        };
        Ok(Ok(Arrival {
            instance,
            runnable,
            predecessor,
            pin,
        }))
    }
}

/// An instance that may come back.
struct Arrival {
    instance: Instance,
    runnable: Runnable,
    predecessor: Predecessor,
    pin: Pin,
}

impl InstanceFile {
    /// Its state, if all of it is of one piece.
    fn read(&self, graph: &Graph) -> Result<Instance, ImportOutcome> {
        let decoded = Instance::decode(&self.state, graph);
        let mut instance = decoded.map_err(|error| unreadable("State", error.to_string()))?;
        let is_of_file = instance.id.as_str() == self.instance_id
            && instance.definition_id == self.definition_id
            && instance.version == self.definition_version;
        if !is_of_file {
            let told = format!(
                "it is of `{}`, not of the instance that it is with",
                instance.id
            );
            return Err(unreadable("State", told));
        }
        let times = [
            Some(instance.created_at),
            Some(instance.updated_at),
            instance.finished_at,
        ];
        if times
            .iter()
            .flatten()
            .any(|at| !(0..=LATEST_MS).contains(&at.0))
        {
            return Err(unreadable(
                "State",
                "it names a time that cannot be".to_owned(),
            ));
        }
        let mut next = 0;
        for block in &self.journal {
            let lines = journal::decode(block);
            for line in lines.map_err(|error| unreadable("Journal", error.to_string()))? {
                if line.sequence != next {
                    let told = format!("line {next} is missing");
                    return Err(unreadable("Journal", told));
                }
                next += 1;
            }
        }
        if next != instance.sequence {
            let told = format!("it has {next} lines of {}", instance.sequence);
            return Err(unreadable("Journal", told));
        }
        // The same version has another id of its own elsewhere.
        instance.version_id.clone_from(&graph.version_id);
        Ok(instance)
    }
}

fn unreadable(part: &'static str, reason: String) -> ImportOutcome {
    ImportOutcome::Unreadable { part, reason }
}

fn digest(definition: &Definition) -> String {
    json_digest(definition.root())
}
