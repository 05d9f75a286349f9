//! Somebody who is known.

use dormouse_identity::Permissions;
use dormouse_store::Tenant;

/// What kind of credential somebody is known by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Nobody was asked for one.
    Unasked,
    /// Nobody: what needs no credential.
    Anonymous,
    /// A local user's token.
    User,
    /// An API key.
    Application,
    /// A token of an outside issuer.
    External,
}

impl Kind {
    /// As the audit log names it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Unasked => "unasked",
            Self::Anonymous => "anonymous",
            Self::User => "user",
            Self::Application => "application",
            Self::External => "external",
        }
    }
}

/// Somebody who is known, and what he may do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Principal {
    /// Whose data he works with.
    pub tenant: Tenant,
    /// What he is known by.
    pub kind: Kind,
    /// His name.
    pub name: String,
    /// What he may do.
    pub permissions: Permissions,
}

impl Principal {
    /// Whoever it is, where nobody is asked: he may do everything.
    #[must_use]
    pub fn unasked() -> Self {
        Self {
            tenant: Tenant::default(),
            kind: Kind::Unasked,
            name: "anybody".to_owned(),
            permissions: Permissions::everything(),
        }
    }

    /// Nobody in particular, who may do nothing that is asked about.
    #[must_use]
    pub fn anonymous() -> Self {
        Self {
            tenant: Tenant::default(),
            kind: Kind::Anonymous,
            name: "nobody".to_owned(),
            permissions: Permissions::default(),
        }
    }

    /// Whether he showed a credential, or nobody is asked for one.
    #[must_use]
    pub fn is_known(&self) -> bool {
        self.kind != Kind::Anonymous
    }
}
