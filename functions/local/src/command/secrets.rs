//! `dormouse secrets`

use std::io::Read as _;

use clap::Args;
use serde_json::{Map, Value, json};

use super::{items, text};
use crate::client::{Client, segment};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::screen::Screen;
use crate::text_table::TextTable;

/// Longest value that is read from standard input, in bytes.
const VALUE_BYTES_MAX: u64 = 1 << 20;

/// Secrets of a page.
const PAGE: usize = 200;
/// Elsa's name of the store that seals values.
const ENCRYPTED: &str = "Encrypted";
/// Elsa's name of the store that reads values elsewhere.
const CONFIGURATION: &str = "Configuration";

/// Name of a secret.
#[derive(Debug, Args)]
pub(crate) struct NameArgs {
    /// Name of the secret
    #[arg(value_name = "NAME")]
    name: String,
}

/// Secret to set.
#[derive(Debug, Args)]
pub(crate) struct SetArgs {
    #[command(flatten)]
    of: NameArgs,
    /// Description of its use
    #[arg(long, value_name = "TEXT")]
    description: Option<String>,
    /// Read the value elsewhere: a key of the server's configuration. `Stripe:Key` is its variable DORMOUSE_SECRET_STRIPE_KEY
    #[arg(long, value_name = "KEY")]
    reference: Option<String>,
    /// End of the value's validity, such as 2027-01-31T00:00:00Z
    #[arg(long, value_name = "TIME")]
    expires_at: Option<String>,
}

fn path_of(name: &str) -> String {
    format!("/secrets/{}", segment(name))
}

/// Deletes a secret with its value.
pub(crate) async fn delete(
    args: &NameArgs,
    client: &Client,
    screen: &Screen,
) -> Result<Exit, Failure> {
    client.delete(&path_of(&args.name)).await?;
    screen.line(format!("Deleted {}", screen.bold(&args.name)));
    screen.value(&json!({ "deleted": args.name }));
    Ok(Exit::Ok)
}

/// Revokes a secret.
pub(crate) async fn revoke(
    args: &NameArgs,
    client: &Client,
    screen: &Screen,
) -> Result<Exit, Failure> {
    let path = format!("{}/revoke", path_of(&args.name));
    let answer = client.post(&path, &json!({})).await?;
    screen.line(format!("Revoked {}", screen.bold(&args.name)));
    screen.value(&answer);
    Ok(Exit::Ok)
}

/// Tests if the value of a secret can be read.
pub(crate) async fn test(
    args: &NameArgs,
    client: &Client,
    screen: &Screen,
) -> Result<Exit, Failure> {
    let path = format!("{}/test", path_of(&args.name));
    let answer = client.post(&path, &json!({})).await?;
    screen.value(&answer);
    if answer.get("succeeded").and_then(Value::as_bool) == Some(true) {
        screen.line("The value can be read.");
        return Ok(Exit::Ok);
    }
    screen.line(text(&answer, "error"));
    Ok(Exit::Failed)
}

/// Seals all values with another key.
pub(crate) async fn rotate_key(client: &Client, screen: &Screen) -> Result<Exit, Failure> {
    let answer = client.post("/secret-keys/rotate", &json!({})).await?;
    let count = answer.get("resealed").map(ToString::to_string);
    screen.line(format!(
        "Sealed {} values with a new key",
        count.unwrap_or_default()
    ));
    screen.value(&answer);
    Ok(Exit::Ok)
}

fn value() -> Result<String, Failure> {
    let mut text = String::new();
    let read = std::io::stdin()
        .lock()
        .take(VALUE_BYTES_MAX)
        .read_to_string(&mut text);
    read.map_err(Failure::system)?;
    // As `echo` writes it.
    let value = text.strip_suffix('\n').unwrap_or(&text);
    Ok(value.strip_suffix('\r').unwrap_or(value).to_owned())
}

/// The secret of a name. `None`: it was never set.
async fn known(name: &str, client: &Client) -> Result<Option<Value>, Failure> {
    match client.get(&path_of(name)).await {
        Ok(secret) => Ok(Some(secret)),
        Err(failure) if failure.code == "noSuchSecret" => Ok(None),
        Err(failure) => Err(failure),
    }
}

/// Sets a secret, or gives it another value.
pub(crate) async fn set(args: &SetArgs, client: &Client, screen: &Screen) -> Result<Exit, Failure> {
    let name = args.of.name.trim();
    let known = known(name, client).await?;
    let store = match args.reference {
        Some(_) => CONFIGURATION,
        None => ENCRYPTED,
    };
    let other = known.as_ref().map(|secret| text(secret, "storeName"));
    if let Some(other) = other.filter(|other| *other != store) {
        let message = format!("`{name}` has its value in the store {other}, not {store}");
        let failure = Failure::new(Exit::Conflict, "secretExists", message);
        return Err(failure.help(format!("dormouse secrets delete {name}")));
    }
    let mut body = Map::new();
    match &args.reference {
        Some(reference) => body.insert("configurationKey".into(), reference.as_str().into()),
        None => body.insert("value".into(), value()?.into()),
    };
    if let Some(at) = &args.expires_at {
        body.insert("expiresAt".into(), at.as_str().into());
    }
    let answer = match known {
        Some(secret) => {
            let path = format!("{}/rotate", path_of(name));
            let answer = client.post(&path, &Value::Object(body)).await?;
            match &args.description {
                Some(description) => {
                    let shown = text(&secret, "displayName");
                    let texts = json!({ "displayName": shown, "description": description });
                    client.post(&path_of(name), &texts).await?
                }
                None => answer,
            }
        }
        None => {
            body.insert("name".into(), name.into());
            body.insert("storeName".into(), store.into());
            if let Some(description) = &args.description {
                body.insert("description".into(), description.as_str().into());
            }
            client.post("/secrets", &Value::Object(body)).await?
        }
    };
    let version = answer.get("currentVersion").map(ToString::to_string);
    screen.line(format!(
        "Set {} version {}",
        screen.bold(text(&answer, "name")),
        version.unwrap_or_default()
    ));
    screen.value(&answer);
    Ok(Exit::Ok)
}

/// All secrets, a page at a time.
async fn all(client: &Client) -> Result<Vec<Value>, Failure> {
    let mut all = Vec::new();
    for page in 0.. {
        let answer = client
            .get(&format!("/secrets?page={page}&pageSize={PAGE}"))
            .await?;
        let found = items(&answer, "items");
        all.extend_from_slice(found);
        if found.len() < PAGE {
            break;
        }
    }
    Ok(all)
}

/// Lists secrets without their values.
pub(crate) async fn list(client: &Client, screen: &Screen) -> Result<Exit, Failure> {
    let all = all(client).await?;
    let mut table = TextTable::new(&["NAME", "STATUS", "VERSION", "STORE", "DESCRIPTION"]);
    for item in &all {
        let version = item
            .get("currentVersion")
            .filter(|version| version.is_u64());
        table.row([
            text(item, "name").to_owned(),
            text(item, "status").to_owned(),
            version.map(ToString::to_string).unwrap_or_default(),
            text(item, "storeName").to_owned(),
            text(item, "description").to_owned(),
        ]);
    }
    if all.is_empty() {
        screen.line("There are none. Set one: dormouse secrets set NAME < FILE");
    }
    screen.table(&table);
    screen.value(&json!({ "totalCount": all.len(), "items": all }));
    Ok(Exit::Ok)
}
