//! The table port, the item layout, commits, leases, the outbox and queries.
//!
//! One file per item kind with its key, its body and the tests of both; one handle of [`Store`] per group of operations.
//! The store knows where things lie and who may write them. What a state, an effect or a payload means is the
//! engine's and the runtime's business: here they are bytes.
//!
//! # Modules, from the bottom up
//!
//! [`table`] (the port, its limits, memory, meter, faults), [`item`] (keys, bodies, stamps), `store` ([`Store`], and shared writes),
//! [`definition`], [`stimulus`], [`outbox`], [`instance`] (heads, commits, leases), [`identity`], [`operation`].
//!
//! # Items
//!
//! Partitions begin with the tenant: `acme/WF#…`. Items of the engine itself name the tenant inside and begin with `~`, which no tenant can
//! be called. `#` within an id is escaped.
//!
//! | Item | Partition | Sort | File |
//! |---|---|---|---|
//! | definition head, owned rows, version | `DEF#id` | `HEAD`, `ROWS`, `V#n` | `definition/head.rs`; changed by `definition/publish.rs` |
//! | who uses a definition | `DEF#id` | `USES#definition` | `definition/head.rs` |
//! | version by its id, definition by its activity type | `VID#id`, `TYPE#name` | `HEAD`, `D#definition` | `definition/head.rs` |
//! | trigger | `STIM#hash` | `T#definition#activity#generation` | `definition/trigger.rs` |
//! | bookmark | `STIM#hash` | `B#correlation#instance#bookmark#attempt` | `stimulus/bookmark.rs` |
//! | queued stimulus | `QUEUE#hash` | `correlation#instance#time#id` | `stimulus/queued_stimulus.rs` |
//! | how a stimulus stands: its recipients, that it is queued, or that it was taken | `TAKEN#id` | hash | `stimulus/recipients.rs`, `stimulus/queued_stimulus.rs` |
//! | chain of a recurring trigger | `~/CHAIN#shard` | `tenant#definition#activity` | `stimulus/chain.rs` |
//! | route | `ROUTES` | `template#method#owner` | `definition/route.rs` |
//! | instance head | `WF#instance` | `HEAD` | `instance/head.rs` |
//! | large state, moved journal, lines of a large commit, seen events | `WF#instance` | `STATE#commit#attempt`, `J#line#commit`, `L#commit#attempt#n`, `SEEN#event` | `instance/state.rs`, `instance/journal.rs`, `instance/seen.rs` |
//! | search attribute | `WF#instance` | `A#name` | `instance/attribute.rs` |
//! | when an ended instance goes | `WF#instance` | `UNTIL` | `instance/expiry.rs` |
//! | claim | `UNIQ#definition#correlation` | `HEAD` | `instance/uniqueness.rs` |
//! | answer under an Idempotency-Key | `IDEM#key` | `HEAD` | `instance/idempotency.rs` |
//! | dead letter | `DEAD` | `id` | `outbox/dead_letter.rs` |
//! | session | `~/SESSION#id` | `HEAD` | `identity/session.rs` |
//! | user, role | `IDENTITY` | `USER#name`, `ROLE#id` | `identity/user.rs`, `identity/role.rs` |
//! | application, as listed; by its key | `IDENTITY`; `~/KEY#id` | `APP#id`; `HEAD` | `identity/application.rs` |
//! | resume link | `~/LINK#digest` | `HEAD` | `identity/link.rs` |
//! | webhook, as listed; by its id | `IDENTITY`; `~/HOOK#id` | `HOOK#id`; `HEAD` | `identity/webhook.rs` |
//! | secret | `~/SECRETS` | `tenant#name` | `identity/secret.rs` |
//! | signing key of access tokens; of event links | `~/SIGN` | `K#time-chance`; `LINKS` | `identity/signing_key.rs` |
//! | activity type that is data, as listed; its versions | `TYPES`; `OWN#name` | `T#name`; `V#n` | `definition/activity_type.rs` |
//! | task that waits for a worker | `TASKS#queue#type` | `time#task` | `stimulus/task.rs` |
//! | alteration plan, its jobs | `PLAN#id` | `HEAD`, `JOB#instance` | `operation/alteration_plan.rs` |
//! | audit record | `AUDIT#month` | `time-chance` | `operation/audit.rs` |
//! | outbox row | `~/OUTBOX#shard` | `time#tenant#source#commit#attempt#part` | `outbox/row.rs` |
//! | timer, where the table has them | `~/TIMER#shard` | `due#tenant#id` | `stimulus/timer.rs` |
//! | pause | `~/PAUSE` | `HEAD` | `operation/pause.rs` |
//!
//! Index 1 lists definitions, and instances by definition, with their summary; a list of all instances merges the definitions. Index 2 lists
//! queued stimuli, and ended instances by expiry. Index 3 lists instances by correlation id and by the values of search attributes. A lease
//! changes no attribute of an index.
//!
//! # Invariants
//!
//! - A trigger counts only if it carries the generation of its definition's head. A publish of more rows than one atomic write takes is
//!   therefore in force at once or not at all.
//! - A journal item is named by the number after its last line, so any line is one query away.
//! - A version that was published or used is never changed and never deleted, only hidden.
//! - Time to live only cleans up. No rule depends on it.
//! - An ended instance whose retention period is at least that of a tombstone (30 days), that is not archived and has nothing beside its head,
//!   is removed by time to live alone. The commit that ends it sets one more attribute, and neither that nor the removal costs a write. Any other
//!   ended instance gets a row in that commit, two write units and one of the index, by which the sweep finds it. The sweep leaves a
//!   tombstone, because a start that is delivered again must not take effect.
//! - An imported instance continues after its predecessor, if there was one here (`instance/predecessor.rs`). Its first commit and its first
//!   fence are greater than any that the tombstone remembers, so no holder, timer or message of the predecessor is valid for it. It is imported
//!   when the tombstone has been removed, at the version that it ran, and under the activation strategy of its definition. What was in flight
//!   when it was exported is not in the file: children, task requests, and the events that it has seen.
//! - The item that describes the delivery of an event also says that the event is queued, in the write that queues it. Of two concurrent
//!   deliveries of one event (one found no bookmark, one found the bookmark opened since), the first write decides, and the other follows it.
//! - Only `dormouse doctor` reads a whole table (`table/scan.rs`). A finding of the scan is read once more before it is reported, and each
//!   repair is conditional on what was read.

pub mod definition;
pub mod identity;
pub mod instance;
pub mod item;
pub mod operation;
pub mod outbox;
pub mod stimulus;
mod store;
pub mod table;

pub use item::error::StoreError;
pub use item::tenant::Tenant;
pub use store::Store;
pub use table::cursor::Cursor;
pub use table::faults::FaultyTable;
pub use table::memory::MemoryTable;
pub use table::meter::{MeteredTable, Usage};
pub use table::outcome::{Decision, Outcome};
