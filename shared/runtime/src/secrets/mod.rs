//! Secrets that workflows name: set, given another value, revoked, deleted. Nothing here tells a value.

mod change;
pub(crate) mod key;

use std::ops::Deref;

use dormouse_engine::definition::secret_name::secret_name;
use dormouse_engine::time::Timestamp;
use dormouse_store::Tenant;
use dormouse_store::identity::secret::{SecretPlace, StoredSecret};
use dormouse_store::item::versioned::Versioned;

use crate::error::RuntimeError;
use crate::identity::Accounts;

/// Secrets that workflows name.
#[derive(Clone, Copy)]
pub struct Secrets<'a>(Accounts<'a>);

impl<'a> Deref for Secrets<'a> {
    type Target = Accounts<'a>;

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl<'a> Accounts<'a> {
    /// Secrets that workflows name.
    #[must_use]
    pub fn secrets(self) -> Secrets<'a> {
        Secrets(self)
    }
}

/// The most secrets of a tenant.
pub const SECRETS_MAX: usize = 500;
/// The most bytes of a value.
pub const VALUE_BYTES_MAX: usize = 65_536;
/// The most bytes of all values of a tenant together.
pub const VALUES_BYTES_MAX: usize = 1 << 20;
/// The most bytes of a text about a secret, and of a reference.
pub(crate) const TEXT_BYTES_MAX: usize = 2_048;
/// The most tags of a secret.
pub(crate) const TAGS_MAX: usize = 20;

/// A value that is given to a secret.
#[derive(Clone)]
pub enum NewValue {
    /// The value itself, to be sealed.
    Text(String),
    /// Where it is kept.
    Reference(String),
}

/// What a secret is to be.
#[derive(Clone, Default)]
pub struct NewSecret {
    /// Its name; case does not count.
    pub name: String,
    /// The name that people read.
    pub display_name: Option<String>,
    /// What it is for.
    pub description: Option<String>,
    /// What it belongs to.
    pub scope: Option<String>,
    /// Words to find it by.
    pub tags: Vec<String>,
    /// When its value ends to count.
    pub expires_at: Option<Timestamp>,
}

/// What is told of a secret.
#[derive(Debug, Clone, PartialEq)]
pub struct SecretView {
    /// Its id.
    pub id: String,
    /// Its name.
    pub name: String,
    /// The name that people read.
    pub display_name: String,
    /// What it is for.
    pub description: Option<String>,
    /// What it belongs to.
    pub scope: Option<String>,
    /// Words to find it by.
    pub tags: Vec<String>,
    /// Whether it was revoked.
    pub is_revoked: bool,
    /// Whether its value is kept elsewhere.
    pub is_reference: bool,
    /// How often it was given a value.
    pub version: u32,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it was changed.
    pub updated_at: Option<Timestamp>,
    /// When its value ends to count.
    pub expires_at: Option<Timestamp>,
}

impl SecretView {
    fn of(secret: &StoredSecret) -> Self {
        Self {
            id: secret.id.clone(),
            name: secret.name.clone(),
            display_name: secret.display_name.clone(),
            description: secret.description.clone(),
            scope: secret.scope.clone(),
            tags: secret.tags.clone(),
            is_revoked: secret.is_revoked,
            is_reference: matches!(secret.place, SecretPlace::Reference(_)),
            version: secret.version,
            created_at: Timestamp(secret.created_ms),
            updated_at: secret.updated_ms.map(Timestamp),
            expires_at: secret.expires_ms.map(Timestamp),
        }
    }
}

/// What became of a change.
#[derive(Debug, Clone, PartialEq)]
pub enum SecretOutcome {
    /// It is this now.
    Done(Box<SecretView>),
    /// Nothing was changed, for this reason.
    Refused(SecretRefusal),
}

/// Why a secret was not changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SecretRefusal {
    /// The name can be none.
    BadName,
    /// A text, a tag or the value is empty or too long.
    BadText,
    /// There is one of that name.
    Exists,
    /// There is none of that name.
    NotFound,
    /// It was revoked.
    Revoked,
    /// There are too many, or their values are too large together.
    TooMany,
    /// This server has no key to seal values with.
    NotSealed,
    /// Others changed it again and again.
    Contended,
}

/// Whether the value of a secret can be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SecretTest {
    /// It can.
    Readable,
    /// It was revoked, has expired, is sealed with a key that is gone, or its reference leads nowhere.
    Unreadable,
    /// There is none of that name.
    NotFound,
}

impl Secrets<'_> {
    /// From now on steps name secrets. Reads the deployment's key, and makes it if there is none. Every node of a
    /// deployment is to call it, or none.
    ///
    /// # Errors
    ///
    /// [`RuntimeError`]
    pub async fn allow(self) -> Result<(), RuntimeError> {
        let made = self.new_secret().bytes().to_vec();
        let key = self.store().links().link_key(made.into()).await?;
        self.set_secret_key(key.to_vec().into());
        Ok(())
    }

    /// Whether there are secrets on this server at all.
    #[must_use]
    pub fn are_allowed(self) -> bool {
        self.secret_key().is_some() && self.ports().vault.is_some()
    }

    /// All secrets of a tenant by name.
    ///
    /// # Errors
    ///
    /// [`RuntimeError`]
    pub async fn list(self, tenant: &Tenant) -> Result<Vec<SecretView>, RuntimeError> {
        let all = self.store().identities().secrets().all(tenant).await?;
        Ok(all.iter().map(|s| SecretView::of(&s.value)).collect())
    }

    /// A secret.
    ///
    /// # Errors
    ///
    /// [`RuntimeError`]
    pub async fn get(
        self,
        tenant: &Tenant,
        name: &str,
    ) -> Result<Option<SecretView>, RuntimeError> {
        let found = self.stored(tenant, name).await?;
        Ok(found.map(|secret| SecretView::of(&secret.value)))
    }

    /// Whether the value of a secret can be read now.
    ///
    /// # Errors
    ///
    /// [`RuntimeError`]
    pub async fn test(self, tenant: &Tenant, name: &str) -> Result<SecretTest, RuntimeError> {
        let Some(secret) = self.stored(tenant, name).await? else {
            return Ok(SecretTest::NotFound);
        };
        Ok(match self.value_of(tenant, &secret.value).await? {
            Ok(_) => SecretTest::Readable,
            Err(_) => SecretTest::Unreadable,
        })
    }

    async fn stored(
        self,
        tenant: &Tenant,
        name: &str,
    ) -> Result<Option<Versioned<StoredSecret>>, RuntimeError> {
        match secret_name(name) {
            Some(name) => Ok(self
                .store()
                .identities()
                .secrets()
                .get(tenant, &name)
                .await?),
            None => Ok(None),
        }
    }
}
