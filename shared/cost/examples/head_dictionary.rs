//! Writes the dictionary that heads of instances are compressed with, from the heads of the workflows in files:
//!
//! ```sh
//! cargo run -p dormouse-cost --example head_dictionary -- FILE... > shared/store/src/item/head.dictionary
//! ```
//!
//! Heads that were compressed with other bytes cannot be read any more, so a new dictionary is a new format.
#![allow(clippy::print_stdout, reason = "its output is the dictionary")]

use std::error::Error;
use std::io::Write;
use std::sync::Arc;

use dormouse_cost::{Account, Answers, Start, run};
use dormouse_engine::definition::Definition;
use dormouse_runtime::{DefinitionHandle, StartRequest};
use dormouse_store::MemoryTable;
use dormouse_store::item::packed;
use dormouse_store::table::Value;

/// The most bytes of a dictionary: each function copies it once, and zstd hashes all of it for each process.
const BYTES_MAX: usize = 12 * 1_024;

/// The most bytes of one head that are taken.
const HEAD_BYTES_MAX: usize = 2_400;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut heads = Vec::new();
    for file in std::env::args().skip(1) {
        let text = std::fs::read_to_string(&file)?;
        let definition = Definition::from_value(serde_json::from_str(&text)?)?;
        heads.extend(Box::pin(heads_of(definition)).await?);
    }
    // What is near the end of a dictionary is the cheapest to refer to.
    let mut bytes: Vec<u8> = heads.concat();
    let surplus = bytes.len().saturating_sub(BYTES_MAX);
    bytes.drain(..surplus);
    std::io::stdout().write_all(&bytes)?;
    Ok(())
}

/// The heads of a workflow that waits for the first time and of one that has ended.
async fn heads_of(definition: Definition) -> Result<Vec<Vec<u8>>, Box<dyn Error>> {
    let table = Arc::new(MemoryTable::new());
    let account = Account::over(Arc::clone(&table) as _, Arc::clone(&table) as _);
    let (runtime, tenant) = (account.runtime(), account.tenant());
    let id = definition.definition_id.clone();
    let id = id.ok_or("a definition needs a `definitionId`")?;
    runtime.definitions().save(tenant, definition).await?;
    runtime.definitions().publish(tenant, &id).await?;
    let request = StartRequest::new(DefinitionHandle::published(id));
    let started = runtime.instances().start(tenant, request.clone());
    Box::pin(account.api(started)).await?;
    account.settle().await?;
    let mut heads = heads_in(&table)?;
    let start = Start::Request(Box::new(request));
    Box::pin(run(&account, start, &Answers::new())).await?;
    for head in heads_in(&table)? {
        if !heads.contains(&head) {
            heads.push(head);
        }
    }
    heads.retain(|head| head.len() <= HEAD_BYTES_MAX);
    Ok(heads)
}

/// The bodies of the heads in a table.
fn heads_in(table: &MemoryTable) -> Result<Vec<Vec<u8>>, Box<dyn Error>> {
    let items = table.items().into_iter();
    let heads = items.filter(|item| item.key.sort == "HEAD" && item.key.partition.contains("/WF#"));
    let mut bodies = Vec::new();
    for head in heads {
        if let Some(Value::B(packed)) = head.attributes.get("bo") {
            bodies.push(packed::unpack("head", packed, 1 << 20)?.to_vec());
        }
    }
    Ok(bodies)
}
