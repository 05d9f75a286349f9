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

/// Beginning of the names of variables that secrets of the default tenant may refer to. Everything else of the environment
/// is the server's own.
const VARIABLES: &str = "DORMOUSE_SECRET_";

/// Beginning of the names of variables that secrets of other tenants may refer to.
const TENANT_VARIABLES: &str = "DORMOUSE_TENANT_SECRET_";

/// The tenant that has the variables without a tenant in their names.
const DEFAULT_TENANT: &str = "default";

/// Keys in a file, which several servers over one folder share.
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

/// A file beside another one.
fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    name.into()
}

/// Keeps other processes from changing the keys until it is dropped.
fn lock(path: &Path) -> std::io::Result<File> {
    let lock = private()
        .create(true)
        .truncate(false)
        .write(true)
        .open(beside(path, ".lock"))?;
    lock.lock()?;
    Ok(lock)
}

/// Writes a file whole or not at all, durably.
fn replace(path: &Path, text: &str) -> std::io::Result<()> {
    let new = beside(path, ".new");
    // One that a crash left may have another owner or mode.
    match std::fs::remove_file(&new) {
        Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
        Ok(()) | Err(_) => {}
    }
    let mut file = private().create_new(true).write(true).open(&new)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()?;
    std::fs::rename(&new, path)?;
    // The name is durable once its folder is.
    #[cfg(unix)]
    if let Some(folder) = path.parent() {
        let folder = match folder.as_os_str().is_empty() {
            true => Path::new("."),
            false => folder,
        };
        File::open(folder)?.sync_all()?;
    }
    Ok(())
}

#[cfg(unix)]
fn is_private(path: &Path) -> std::io::Result<bool> {
    use std::os::unix::fs::PermissionsExt as _;
    let mode = std::fs::metadata(path)?.permissions().mode();
    Ok(mode.trailing_zeros() >= 6)
}

#[cfg(not(unix))]
fn is_private(_path: &Path) -> std::io::Result<bool> {
    Ok(true)
}

fn wrong(path: &Path, message: &str) -> Failure {
    let message = format!("{}: {message}", path.display());
    Failure::new(Exit::BadInput, "secretsKey", message)
}

/// The keys of a file. `None`: there is no file.
fn read(path: &Path) -> Result<Option<Keyring>, Failure> {
    let text = match std::fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(Failure::file(path, &error)),
    };
    if !is_private(path).map_err(|error| Failure::file(path, &error))? {
        let failure = wrong(path, "others can read the keys of secrets");
        return Err(failure.help(format!("chmod 600 {}", path.display())));
    }
    let ring = Keyring::parse(&text).ok_or_else(|| {
        wrong(
            path,
            "it has no keys: each line is a key of 32 bytes as Base64, and there are at most 8",
        )
    })?;
    Ok(Some(ring))
}

/// The keys of a file that is made now, unless another process has made it meanwhile.
fn make(path: &Path, random: [u64; 4]) -> Result<Keyring, Failure> {
    let unwritten = |error: std::io::Error| Failure::file(path, &error);
    let _lock = lock(path).map_err(unwritten)?;
    if let Some(ring) = read(path)? {
        return Ok(ring);
    }
    let ring = Keyring::new(key(random));
    replace(path, &ring.text()).map_err(unwritten)?;
    Ok(ring)
}

impl FileVault {
    /// Opens the file of keys; a new one has a random key. `None`: nothing can be sealed.
    pub(crate) fn open(path: Option<&Path>, random: [u64; 4]) -> Result<Self, Failure> {
        let Some(path) = path else {
            return Ok(Self { file: None });
        };
        let ring = match read(path)? {
            Some(ring) => ring,
            None => make(path, random)?,
        };
        Ok(Self {
            file: Some((path.to_owned(), RwLock::new(ring))),
        })
    }

    fn file(&self) -> Result<&(PathBuf, RwLock<Keyring>), PortError> {
        let file = self.file.as_ref();
        file.ok_or_else(|| "there is no file of keys".into())
    }

    /// The keys as this process knows them.
    fn ring(&self) -> Result<Keyring, PortError> {
        let (_, ring) = self.file()?;
        Ok(ring.read().unwrap_or_else(PoisonError::into_inner).clone())
    }

    /// The keys as they are in the file. A file that is gone is not made again: another key would take the place of one that
    /// values are sealed with.
    fn read_ring(path: &Path) -> Result<Keyring, PortError> {
        let ring = read(path).map_err(|failure| failure.message)?;
        ring.ok_or_else(|| format!("{} is gone", path.display()).into())
    }
}

fn key(random: [u64; 4]) -> [u8; 32] {
    let mut key = [0; 32];
    for (to, from) in key.chunks_exact_mut(8).zip(random) {
        to.copy_from_slice(&from.to_le_bytes());
    }
    key
}

/// A tenant as a part of the name of a variable. No two have the same part, and none contains `__`.
fn part_of_tenant(tenant: &str) -> String {
    let part = |byte: u8| match byte {
        b'a'..=b'z' | b'0'..=b'9' => char::from(byte.to_ascii_uppercase()).to_string(),
        _ => format!("_{byte:02X}"),
    };
    tenant.bytes().map(part).collect()
}

/// The variable of a reference: `Stripe:Key` is `DORMOUSE_SECRET_STRIPE_KEY`, and of the tenant `acme`
/// `DORMOUSE_TENANT_SECRET_ACME__STRIPE_KEY`.
fn variable(tenant: &str, reference: &str) -> String {
    let part = |c: char| match c.is_ascii_alphanumeric() {
        true => c.to_ascii_uppercase(),
        false => '_',
    };
    let name: String = reference.chars().map(part).collect();
    match tenant == DEFAULT_TENANT {
        true => format!("{VARIABLES}{name}"),
        false => format!("{TENANT_VARIABLES}{}__{name}", part_of_tenant(tenant)),
    }
}

#[async_trait]
impl Vault for FileVault {
    fn seals(&self) -> bool {
        self.file.is_some()
    }

    fn read_keys(&self) -> Result<(), PortError> {
        let (path, ring) = self.file()?;
        let mut ring = ring.write().unwrap_or_else(PoisonError::into_inner);
        *ring = Self::read_ring(path)?;
        Ok(())
    }

    fn seal(&self, purpose: &str, random: [u64; 2], value: &[u8]) -> Result<Vec<u8>, PortError> {
        let sealed = self.ring()?.seal(purpose, random, value);
        sealed.ok_or_else(|| "the value cannot be sealed".into())
    }

    fn open(&self, purpose: &str, sealed: &[u8]) -> Result<Option<Vec<u8>>, PortError> {
        if self.file.is_none() {
            return Ok(None);
        }
        let ring = self.ring()?;
        if ring.knows(sealed) {
            return Ok(ring.open(purpose, sealed));
        }
        self.read_keys()?;
        Ok(self.ring()?.open(purpose, sealed))
    }

    fn is_current(&self, sealed: &[u8]) -> bool {
        self.ring().is_ok_and(|ring| ring.is_current(sealed))
    }

    fn change_key(&self, random: [u64; 4]) -> Result<(), PortError> {
        let (path, ring) = self.file()?;
        let mut ring = ring.write().unwrap_or_else(PoisonError::into_inner);
        let _lock = lock(path)?;
        let changed = Self::read_ring(path)?.with(key(random));
        // In the file first: nothing is sealed with a key that a crash would lose.
        replace(path, &changed.text())?;
        *ring = changed;
        Ok(())
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
        assert!(third.is_current(&newer) && !third.is_current(&sealed));
        // The first process reads the key that another one put in use.
        assert!(!vault.is_current(&newer));
        assert_eq!(vault.open("p", &newer).unwrap().unwrap(), b"value");
        assert!(vault.is_current(&newer));
    }

    #[test]
    fn processes_that_make_or_change_keys_at_a_time_lose_none() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("secrets.key");
        let begin = std::sync::Barrier::new(4);
        let seal_and_change = |n: u64| {
            begin.wait();
            let vault = FileVault::open(Some(&path), [n; 4]).unwrap();
            let first = vault.seal("p", [n, 1], b"first").unwrap();
            vault.change_key([n + 10; 4]).unwrap();
            [first, vault.seal("p", [n, 2], b"second").unwrap()]
        };
        let sealed: Vec<Vec<u8>> = std::thread::scope(|scope| {
            let threads: Vec<_> = (1..=4)
                .map(|n| scope.spawn(move || seal_and_change(n)))
                .collect();
            let ended = threads.into_iter().map(|thread| thread.join().unwrap());
            ended.flatten().collect()
        });
        let vault = FileVault::open(Some(&path), [9; 4]).unwrap();
        for sealed in &sealed {
            assert!(vault.open("p", sealed).unwrap().is_some());
        }
        assert_eq!(sealed.len(), 8);
        assert_eq!(std::fs::read_to_string(&path).unwrap().lines().count(), 5);
    }

    #[test]
    fn a_file_that_goes_while_the_server_runs_is_not_made_again() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("secrets.key");
        let vault = FileVault::open(Some(&path), [1; 4]).unwrap();
        std::fs::remove_file(&path).unwrap();
        assert!(vault.read_keys().is_err());
        assert!(vault.change_key([2; 4]).is_err());
        assert!(!path.exists());
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
            "DORMOUSE_TENANT_SECRET_ACME__STRIPE_KEY"
        );
        let of_acme = variable("acme", "Key");
        for reference in ["acme::Key", "ACME__KEY", "../acme__Key"] {
            assert_ne!(variable("default", reference), of_acme);
        }
        let tenants = ["a", "A", "a-b", "a_b", "a__b", "a--b", "a_2db"];
        let names: std::collections::BTreeSet<String> = tenants
            .iter()
            .map(|tenant| variable(tenant, "b__k"))
            .collect();
        assert_eq!(names.len(), tenants.len(), "{names:?}");
        assert_ne!(variable("a", "b__k"), variable("a__b", "k"));
        assert_eq!(variable("default", "PATH"), "DORMOUSE_SECRET_PATH");
    }
}
