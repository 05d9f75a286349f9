//! Who is let in, and the first credentials: there are no default ones. The first start makes an administrator with
//! a password that is shown once, and a key for the command line beside the server, kept in the data folder.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};

use dormouse_runtime::identity::{Authentication, FirstUse, JwtSettings, OidcSettings};
use dormouse_runtime::{Runtime, Tenant};

use crate::exit::Exit;
use crate::failure::Failure;
use crate::key;

/// Who is let in at this machine's own address, where nothing else is said.
const OWN: &str = "users,apiKeys";

/// Who is let in, as the command line says it.
#[derive(Debug, clap::Args)]
pub(crate) struct AuthenticationArgs {
    /// Who is let in: `none` for everybody who reaches it, or a list of users, apiKeys, jwt and oidc. At this machine's own
    /// address it is `users,apiKeys` unless it is said; elsewhere it must be said
    #[arg(long, value_name = "WAYS", env = "DORMOUSE_AUTHENTICATION")]
    authentication: Option<String>,
    /// For jwt: the issuer of tokens
    #[arg(long, value_name = "ISSUER", env = "DORMOUSE_JWT_ISSUER")]
    jwt_issuer: Option<String>,
    /// For jwt: what tokens for this server say in `aud`
    #[arg(long, value_name = "AUDIENCE", env = "DORMOUSE_JWT_AUDIENCE")]
    jwt_audience: Option<String>,
    /// For jwt: where the issuer's keys are; without it, where its discovery document says
    #[arg(long, value_name = "URL", env = "DORMOUSE_JWT_JWKS_URL")]
    jwt_jwks_url: Option<String>,
    /// For jwt: whether tokens name their tenant in `tenant`
    #[arg(
        long,
        value_enum,
        value_name = "MODE",
        env = "DORMOUSE_TENANT_MODE",
        default_value_t = TenantMode::Single
    )]
    tenant_mode: TenantMode,
    #[command(flatten)]
    oidc: OidcArgs,
}

/// Where people sign in instead of here.
#[derive(Debug, clap::Args)]
struct OidcArgs {
    /// For oidc: the issuer where people sign in; they come back to /sign-in/callback
    #[arg(long, value_name = "ISSUER", env = "DORMOUSE_OIDC_ISSUER")]
    oidc_issuer: Option<String>,
    /// For oidc: the client id of this server at the issuer
    #[arg(long, value_name = "ID", env = "DORMOUSE_OIDC_CLIENT_ID")]
    oidc_client_id: Option<String>,
    /// For oidc: a file with the client secret; without one the server is a public client
    #[arg(long, value_name = "FILE", env = "DORMOUSE_OIDC_CLIENT_SECRET_FILE")]
    oidc_client_secret_file: Option<PathBuf>,
    /// For oidc: scopes to ask for beside `openid`
    #[arg(
        long,
        value_name = "SCOPES",
        env = "DORMOUSE_OIDC_SCOPES",
        default_value = "profile email"
    )]
    oidc_scopes: String,
    /// For oidc: the claim of the identity token that names the groups of a person
    #[arg(
        long,
        value_name = "CLAIM",
        env = "DORMOUSE_OIDC_GROUPS_CLAIM",
        default_value = "groups"
    )]
    oidc_groups_claim: String,
    /// For oidc: the role that a group has here, like `engineers=admin`; repeat it or separate with commas. The group `*` is
    /// everybody who signs in
    #[arg(
        long = "oidc-role",
        value_name = "GROUP=ROLE",
        env = "DORMOUSE_OIDC_ROLES",
        value_delimiter = ',',
        value_parser = group_and_role
    )]
    oidc_roles: Vec<(String, String)>,
}

fn group_and_role(text: &str) -> Result<(String, String), String> {
    let parts = text.split_once('=').map(|(g, r)| (g.trim(), r.trim()));
    match parts.filter(|(group, role)| !group.is_empty() && !role.is_empty()) {
        Some((group, role)) => Ok((group.to_owned(), role.to_owned())),
        None => Err("write GROUP=ROLE, like engineers=admin".to_owned()),
    }
}

impl OidcArgs {
    fn read(&self) -> Result<Option<OidcSettings>, Failure> {
        let text = |text: &Option<String>| text.clone().filter(|text| !text.is_empty());
        let (Some(issuer), Some(client_id)) = (text(&self.oidc_issuer), text(&self.oidc_client_id))
        else {
            return Ok(None);
        };
        let client_secret = match &self.oidc_client_secret_file {
            None => None,
            Some(file) => {
                let text = std::fs::read_to_string(file).map_err(|e| Failure::file(file, &e))?;
                Some(text.trim().to_owned()).filter(|secret| !secret.is_empty())
            }
        };
        let mut roles = BTreeMap::<String, Vec<String>>::new();
        for (group, role) in &self.oidc_roles {
            roles.entry(group.clone()).or_default().push(role.clone());
        }
        Ok(Some(OidcSettings {
            issuer,
            client_id,
            client_secret,
            scopes: self.oidc_scopes.clone(),
            groups_claim: self.oidc_groups_claim.clone(),
            roles,
        }))
    }
}

/// Whose workflows a token of the issuer is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum TenantMode {
    /// Everybody works on the same.
    Single,
    /// The token says it.
    Multi,
}

impl AuthenticationArgs {
    /// The setting, if it is clear enough for such an address.
    pub(crate) fn read(&self, is_local: bool) -> Result<Authentication, Failure> {
        // A variable that is set to nothing is not set.
        let text = |text: &Option<String>| text.clone().filter(|text| !text.is_empty());
        let jwt = match (text(&self.jwt_issuer), text(&self.jwt_audience)) {
            (Some(issuer), Some(audience)) => Some(JwtSettings {
                issuer,
                audience,
                jwks_url: text(&self.jwt_jwks_url),
            }),
            (None, _) | (_, None) => None,
        };
        let setting = match (&self.authentication, is_local) {
            (Some(setting), _) => setting,
            (None, true) => OWN,
            (None, false) => {
                let message = "others reach this address, and nobody has said who is let in";
                return Err(Failure::new(Exit::BadInput, "noAuthentication", message).help(
                    "say it with --authentication or DORMOUSE_AUTHENTICATION: users, apiKeys, jwt or oidc; none lets everybody in",
                ));
            }
        };
        let oidc = self.oidc.read()?;
        let authentication = Authentication::read_all(setting, jwt, oidc)
            .map_err(|e| Failure::new(Exit::BadInput, "badAuthentication", e.to_string()))?;
        Ok(authentication.with_tenants(self.tenant_mode == TenantMode::Multi))
    }
}

/// Makes what is missing: the first user, and the command line's key in the data folder.
pub(crate) async fn prepare(
    node: &Runtime,
    authentication: &Authentication,
    data: &Path,
) -> Result<Option<FirstUse>, Failure> {
    let tenant = Tenant::default();
    let failed = |e| Failure::runtime(&e);
    if authentication.api_keys {
        let path = key::path(data);
        let kept = std::fs::read_to_string(&path).unwrap_or_default();
        if !node
            .accounts()
            .is_api_key(kept.trim())
            .await
            .map_err(failed)?
        {
            let made = node
                .accounts()
                .make_admin_key(&tenant, "command line")
                .await;
            write(&path, &made.map_err(failed)?.text())?;
        }
    }
    match authentication.users {
        true => node
            .accounts()
            .make_first_user(&tenant)
            .await
            .map_err(failed),
        false => Ok(None),
    }
}

/// Writes a file that only this user may read, whole or not at all.
fn write(path: &Path, text: &str) -> Result<(), Failure> {
    let failed = |e: std::io::Error| Failure::file(path, &e);
    let folder = path.parent().unwrap_or(Path::new("."));
    std::fs::create_dir_all(folder).map_err(failed)?;
    let mut file = tempfile::NamedTempFile::new_in(folder).map_err(failed)?;
    file.write_all(text.as_bytes()).map_err(failed)?;
    file.as_file().sync_all().map_err(failed)?;
    file.persist(path).map_err(|e| failed(e.error))?;
    Ok(())
}
