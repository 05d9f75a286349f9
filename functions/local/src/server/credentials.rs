//! Access control and the first credentials: there are no default ones. The first start makes an administrator with
//! a password that is shown once, and a key for the command line beside the server, kept in the data folder.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};

use dormouse_runtime::identity::{Authentication, FirstUse, JwtSettings, OidcSettings};
use dormouse_runtime::{Runtime, Tenant};

use crate::exit::Exit;
use crate::failure::Failure;
use crate::key;

/// Default of `--authentication` on the loopback address.
const OWN: &str = "users,apiKeys";

/// Accepted credentials: options of the command line.
#[derive(Debug, clap::Args)]
pub(crate) struct AuthenticationArgs {
    /// Accepted credentials: `none` for no access control, or a comma-separated list of users, apiKeys, jwt and oidc. Required
    /// unless the server listens on the loopback address, where the default is `users,apiKeys`
    #[arg(long, value_name = "WAYS", env = "DORMOUSE_AUTHENTICATION")]
    authentication: Option<String>,
    /// For jwt: accepted issuer (`iss`)
    #[arg(long, value_name = "ISSUER", env = "DORMOUSE_JWT_ISSUER")]
    jwt_issuer: Option<String>,
    /// For jwt: accepted audience (`aud`)
    #[arg(long, value_name = "AUDIENCE", env = "DORMOUSE_JWT_AUDIENCE")]
    jwt_audience: Option<String>,
    /// For jwt: address of the issuer's JSON Web Key Set [default: as in its discovery document]
    #[arg(long, value_name = "URL", env = "DORMOUSE_JWT_JWKS_URL")]
    jwt_jwks_url: Option<String>,
    /// For jwt: source of the tenant
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

/// The OpenID provider at which users sign in.
#[derive(Debug, clap::Args)]
struct OidcArgs {
    /// Issuer at which users sign in, for oidc; register `<address>/sign-in/callback` there
    #[arg(long, value_name = "ISSUER", env = "DORMOUSE_OIDC_ISSUER")]
    oidc_issuer: Option<String>,
    /// Client id of this server at the issuer, for oidc
    #[arg(long, value_name = "ID", env = "DORMOUSE_OIDC_CLIENT_ID")]
    oidc_client_id: Option<String>,
    /// File with the client secret, for oidc; without it, the server is a public client
    #[arg(long, value_name = "FILE", env = "DORMOUSE_OIDC_CLIENT_SECRET_FILE")]
    oidc_client_secret_file: Option<PathBuf>,
    /// Scopes to request besides `openid`, for oidc
    #[arg(
        long,
        value_name = "SCOPES",
        env = "DORMOUSE_OIDC_SCOPES",
        default_value = "profile email"
    )]
    oidc_scopes: String,
    /// Claim of the identity token that lists the groups of the user, for oidc
    #[arg(
        long,
        value_name = "CLAIM",
        env = "DORMOUSE_OIDC_GROUPS_CLAIM",
        default_value = "groups"
    )]
    oidc_groups_claim: String,
    /// Role of a group, like `engineers=admin`, for oidc; repeat it, or separate pairs with commas. The group `*` contains
    /// every user of the issuer
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

/// Source of the tenant of a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum TenantMode {
    /// All callers share one tenant
    Single,
    /// The `tenant` claim of the token names it
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
                let message =
                    "other machines can reach this address, and no access control is configured";
                return Err(Failure::new(Exit::BadInput, "noAuthentication", message).help(
                    "set --authentication or DORMOUSE_AUTHENTICATION to users, apiKeys, jwt or oidc, or to none for no access control",
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
    if authentication.oidc.is_some() {
        let made = node.accounts().make_admin_role(&tenant).await;
        made.map_err(failed)?;
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
