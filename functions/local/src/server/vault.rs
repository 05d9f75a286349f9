//! Values of secrets on this machine: sealed with keys of a file that only its user reads, or variables of the
//! environment.

use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::{PoisonError, RwLock};

use async_trait::async_trait;
use dormouse_identity::sealed::Keyring;
use dormouse_runtime::port::{PortError, Vault};

use crate::exit::Exit;
use crate::failure::Failure;

/// Beginning of the names of variables that secrets may refer to. Everything else of the environment is the server's own.
const VARIABLES: &str = "DORMOUSE_SECRET_";

/// The name of the tenant that has the variables without a tenant in their names.
const DEFAULT_TENANT: &str = "default";

/// Keys in a file.
#[derive(Debug)]
pub(crate) struct FileVault {
    file: Option<(PathBuf, RwLock<Keyring>)>,
}

fn private() -> OpenOptions {
    let mut options = File::options();
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

/// Writes a file whole or not at all, durably.
fn replace(path: &Path, text: &str) -> std::io::Result<()> {
    let beside = path.with_extension("new");
    let mut file = private()
        .create(true)
        .truncate(true)
        .write(true)
        .open(&beside)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()?;
    std::fs::rename(&beside, path)?;
    // The name is durable once its folder is.
    if let Some(folder) = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty())
    {
        #[cfg(unix)]
        File::open(folder)?.sync_all()?;
    }
    Ok(())
}

#[cfg(unix)]
fn is_private(path: &Path) -> std::io::Result<bool> {
    use std::os::unix::fs::PermissionsExt as _;
    Ok(std::fs::metadata(path)?
        .permissions()
        .mode()
        .trailing_zeros()
        >= 6)
}

#[cfg(not(unix))]
fn is_private(_path: &Path) -> std::io::Result<bool> {
    Ok(true)
}

impl FileVault {
    /// Opens the file of keys; a new one has a random key. `None`: nothing can be sealed.
    pub(crate) fn open(path: Option<&Path>, random: [u64; 4]) -> Result<Self, Failure> {
        let Some(path) = path else {
            return Ok(Self { file: None });
        };
        let wrong = |message: String| {
            let message = format!("{}: {message}", path.display());
            Failure::new(Exit::BadInput, "secretsKey", message)
        };
        let ring = match std::fs::read_to_string(path) {
            Ok(text) => {
                let is_private = is_private(path).map_err(|e| Failure::file(path, &e))?;
                if !is_private {
                    let message = "others can read the keys of secrets";
                    return Err(wrong(message.into()).help(format!("chmod 600 {}", path.display())));
                }
                Keyring::parse(&text).ok_or_else(|| {
                    wrong("it has no keys: each line is a key of 32 bytes as Base64".into())
                })?
            }
            Err(error) if error.kind() == ErrorKind::NotFound => {
                let ring = Keyring::new(key(random));
                replace(path, &ring.text()).map_err(|error| Failure::file(path, &error))?;
                ring
            }
            Err(error) => return Err(Failure::file(path, &error)),
        };
        Ok(Self {
            file: Some((path.to_owned(), RwLock::new(ring))),
        })
    }

    fn ring(&self) -> Result<Keyring, PortError> {
        let (_, ring) = self.file.as_ref().ok_or("there is no file of keys")?;
        Ok(ring.read().unwrap_or_else(PoisonError::into_inner).clone())
    }

    fn change(&self, change: impl FnOnce(&Keyring) -> Keyring) -> Result<(), PortError> {
        let (path, ring) = self.file.as_ref().ok_or("there is no file of keys")?;
        let mut ring = ring.write().unwrap_or_else(PoisonError::into_inner);
        let changed = change(&ring);
        // In the file first: nothing is sealed with a key that a crash would lose.
        replace(path, &changed.text())?;
        *ring = changed;
        Ok(())
    }
}

fn key(random: [u64; 4]) -> [u8; 32] {
    let mut key = [0; 32];
    for (to, from) in key.chunks_exact_mut(8).zip(random) {
        to.copy_from_slice(&from.to_le_bytes());
    }
    key
}

/// The variable of a reference: `Stripe:Key` is `DORMOUSE_SECRET_STRIPE_KEY`, and of the tenant `acme`
/// `DORMOUSE_SECRET_ACME__STRIPE_KEY`.
fn variable(tenant: &str, reference: &str) -> String {
    let plain = |text: &str| -> String {
        let upper = |c: char| match c.is_ascii_alphanumeric() {
            true => c.to_ascii_uppercase(),
            false => '_',
        };
        text.chars().map(upper).collect()
    };
    match tenant == DEFAULT_TENANT {
        true => format!("{VARIABLES}{}", plain(reference)),
        false => format!("{VARIABLES}{}__{}", plain(tenant), plain(reference)),
    }
}

#[async_trait]
impl Vault for FileVault {
    fn seals(&self) -> bool {
        self.file.is_some()
    }

    fn seal(&self, purpose: &str, random: [u64; 2], value: &[u8]) -> Result<Vec<u8>, PortError> {
        let sealed = self.ring()?.seal(purpose, random, value);
        sealed.ok_or_else(|| "the value cannot be sealed".into())
    }

    fn open(&self, purpose: &str, sealed: &[u8]) -> Result<Option<Vec<u8>>, PortError> {
        match &self.file {
            Some(_) => Ok(self.ring()?.open(purpose, sealed)),
            None => Ok(None),
        }
    }

    fn change_key(&self, random: [u64; 4]) -> Result<(), PortError> {
        self.change(|ring| ring.with(key(random)))
    }

    async fn referenced(&self, tenant: &str, reference: &str) -> Result<Option<String>, PortError> {
        Ok(std::env::var(variable(tenant, reference)).ok())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_outlive_the_process_and_a_change_of_them() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("secrets.key");
        let vault = FileVault::open(Some(&path), [1, 2, 3, 4]).unwrap();
        let sealed = vault.seal("p", [1, 1], b"value").unwrap();
        // Another process, whose random numbers count for nothing.
        let again = FileVault::open(Some(&path), [9; 4]).unwrap();
        assert_eq!(again.open("p", &sealed).unwrap().unwrap(), b"value");
        again.change_key([5; 4]).unwrap();
        let third = FileVault::open(Some(&path), [9; 4]).unwrap();
        assert_eq!(third.open("p", &sealed).unwrap().unwrap(), b"value");
        let newer = third.seal("p", [1, 2], b"value").unwrap();
        assert_eq!(vault.open("p", &newer).unwrap(), None, "under the new key");
    }

    #[cfg(unix)]
    #[test]
    fn a_file_that_others_read_is_rejected() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("secrets.key");
        drop(FileVault::open(Some(&path), [1; 4]).unwrap());
        let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode();
        assert_eq!(mode(&path) & 0o777, 0o600);
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o640)).unwrap();
        assert!(FileVault::open(Some(&path), [1; 4]).is_err());
        std::fs::write(&path, "no key\n").unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
        assert!(FileVault::open(Some(&path), [1; 4]).is_err());
    }

    #[test]
    fn a_reference_reaches_no_variable_of_the_server_or_of_another_tenant() {
        assert_eq!(
            variable("default", "Stripe:Key"),
            "DORMOUSE_SECRET_STRIPE_KEY"
        );
        assert_eq!(
            variable("acme", "Stripe:Key"),
            "DORMOUSE_SECRET_ACME__STRIPE_KEY"
        );
        assert_eq!(variable("default", "PATH"), "DORMOUSE_SECRET_PATH");
    }
}
