//! `dormouse key`

use clap::Args;
use dormouse_embedded::TokioBackground;
use dormouse_runtime::Tenant;
use dormouse_runtime::identity::{
    ApplicationMade, Authentication, Identity, NewApplication, Principal,
};
use dormouse_telemetry::{LogFormat, begin_log};
use serde_json::json;
use tokio::runtime::Handle;
use tracing::level_filters::LevelFilter;

use super::doctor::quiet_runtime;
use super::place::PlaceArgs;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::screen::Screen;
use crate::server::open_store;

/// The key to make.
#[derive(Debug, Args)]
pub(crate) struct KeyArgs {
    /// Name of the key in lists
    #[arg(default_value = "command line")]
    name: String,
    #[command(flatten)]
    place: PlaceArgs,
    /// Permission of the key, such as read:workflow-instances. Repeatable [default: all permissions]
    #[arg(long = "permission", value_name = "PERMISSION")]
    permissions: Vec<String>,
    /// Tenant of the key [default: the default tenant]
    #[arg(long, value_name = "TENANT")]
    tenant: Option<String>,
}

/// Makes an API key and tells it once. Who may write to the table may do so; no server is asked.
pub(crate) async fn key(args: &KeyArgs, screen: &Screen) -> Result<Exit, Failure> {
    begin_log(LevelFilter::ERROR, LogFormat::Text);
    let store = open_store(&args.place.place()?).await?;
    let runtime = quiet_runtime(store, &TokioBackground::new(Handle::current()));
    let failed = |e| Failure::runtime(&e);
    let tenant = match &args.tenant {
        Some(tenant) => Tenant::new(tenant)
            .map_err(|e| Failure::new(Exit::BadInput, "badTenant", e.to_string()))?,
        None => Tenant::default(),
    };
    let key = if args.permissions.is_empty() {
        runtime.accounts().make_admin_key(&tenant, &args.name).await
    } else {
        let identity = Identity::new(runtime, Authentication::none());
        let by = Principal {
            tenant,
            ..Principal::unasked()
        };
        let new = NewApplication {
            name: args.name.clone(),
            permissions: args.permissions.clone(),
            ..NewApplication::default()
        };
        match identity.make_application(&by, new).await.map_err(failed)? {
            ApplicationMade::Made(_, key) => Ok(key),
            ApplicationMade::NoSuchRole | ApplicationMade::NotYours => {
                let message = "the key could not be made";
                return Err(Failure::new(Exit::Failed, "notMade", message));
            }
        }
    };
    let key = key.map_err(failed)?.text();
    screen.value(&json!({ "apiKey": key }));
    screen.line(key);
    Ok(Exit::Ok)
}
