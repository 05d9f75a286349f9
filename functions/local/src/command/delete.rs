//! `dormouse delete` and `dormouse retract`

use clap::Args;
use serde_json::{Value, json};

use crate::client::{Client, segment};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::screen::Screen;

/// Instances to delete.
#[derive(Debug, Args)]
pub(crate) struct DeleteInstancesArgs {
    /// The instances' ids
    #[arg(required = true, value_name = "INSTANCE")]
    instances: Vec<String>,
}

/// A definition to delete.
#[derive(Debug, Args)]
pub(crate) struct DeleteDefinitionArgs {
    /// The definition's id
    definition: String,
    /// Delete only this version; its instances stay
    #[arg(long = "only-version", value_name = "NUMBER")]
    only_version: Option<u32>,
    /// Delete the definition although it has instances, and all of them with it
    #[arg(long, conflicts_with = "only_version")]
    with_instances: bool,
}

/// A definition to retract.
#[derive(Debug, Args)]
pub(crate) struct RetractArgs {
    /// The definition's id
    definition: String,
}

/// Deletes instances with their history.
pub(crate) async fn instances(
    args: &DeleteInstancesArgs,
    client: &Client,
    screen: &Screen,
) -> Result<Exit, Failure> {
    for id in &args.instances {
        let path = format!("/workflow-instances/{}", segment(id));
        client.delete(&path).await?;
        screen.line(format!("Deleted {}", screen.bold(id)));
    }
    screen.value(&json!({ "deleted": args.instances }));
    Ok(Exit::Ok)
}

/// Deletes a definition or one of its versions.
///
/// The server deletes the instances of a definition with it, so a definition with instances needs the option that says so.
pub(crate) async fn definition(
    args: &DeleteDefinitionArgs,
    client: &Client,
    screen: &Screen,
) -> Result<Exit, Failure> {
    let id = segment(&args.definition);
    let mut path = format!("/workflow-definitions/{id}");
    let mut what = args.definition.clone();
    if let Some(version) = args.only_version {
        path.push_str(&format!("/version/{version}"));
        what.push_str(&format!(" version {version}"));
    } else if !args.with_instances {
        // An unknown definition is told as such.
        client.get(&path).await?;
        let filter = json!({ "definitionId": args.definition, "pageSize": 1 });
        let found = client.post("/workflow-instances", &filter).await?;
        let count = found.get("totalCount").and_then(Value::as_u64);
        if let Some(count) = count.filter(|count| *count > 0) {
            let message = format!("{what} has {count} instances, which would be deleted with it");
            return Err(Failure::new(Exit::Conflict, "hasInstances", message).help(
                "delete them too with --with-instances, or only end new starts: dormouse retract",
            ));
        }
    }
    client.delete(&path).await?;
    screen.value(&json!({ "deleted": args.definition, "version": args.only_version }));
    screen.line(format!("Deleted {}", screen.bold(&what)));
    Ok(Exit::Ok)
}

/// Retracts a definition: it cannot be started any more, and its instances continue.
pub(crate) async fn retract(
    args: &RetractArgs,
    client: &Client,
    screen: &Screen,
) -> Result<Exit, Failure> {
    let path = format!(
        "/workflow-definitions/{}/retract",
        segment(&args.definition)
    );
    let answer = client.post(&path, &json!({})).await?;
    screen.value(&answer);
    screen.line(format!("Retracted {}", screen.bold(&args.definition)));
    Ok(Exit::Ok)
}
