//! Keys of secrets in memory.

use std::sync::Mutex;

use async_trait::async_trait;
use dormouse_identity::sealed::Keyring;
use dormouse_runtime::port::{PortError, Vault};

/// Keys in memory.
pub(crate) struct TestVault(Mutex<Keyring>);

impl TestVault {
    pub(crate) fn new() -> Self {
        Self(Mutex::new(Keyring::new([7; 32])))
    }
}

#[async_trait]
impl Vault for TestVault {
    fn seals(&self) -> bool {
        true
    }

    fn read_keys(&self) -> Result<(), PortError> {
        Ok(())
    }

    fn is_current(&self, sealed: &[u8]) -> bool {
        self.0.lock().unwrap().is_current(sealed)
    }

    fn seal(&self, purpose: &str, random: [u64; 2], value: &[u8]) -> Result<Vec<u8>, PortError> {
        Ok(self.0.lock().unwrap().seal(purpose, random, value).unwrap())
    }

    fn open(&self, purpose: &str, sealed: &[u8]) -> Result<Option<Vec<u8>>, PortError> {
        Ok(self.0.lock().unwrap().open(purpose, sealed))
    }

    fn change_key(&self, random: [u64; 4]) -> Result<(), PortError> {
        let mut ring = self.0.lock().unwrap();
        let bytes: Vec<u8> = random.iter().flat_map(|n| n.to_le_bytes()).collect();
        *ring = ring.with(bytes.try_into().unwrap());
        Ok(())
    }

    async fn referenced(&self, tenant: &str, reference: &str) -> Result<Option<String>, PortError> {
        Ok((reference == "Known").then(|| format!("value-of-{tenant}")))
    }
}
