//! Large states as files of the data folder, one file each.

use std::fs::File;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

use async_trait::async_trait;
use bytes::Bytes;
use dormouse_store::blobs::Blobs;
use dormouse_store::error::Cause;
use sha2::{Digest, Sha256};

/// Blobs in a folder.
#[derive(Debug, Clone)]
pub struct FileBlobs {
    folder: PathBuf,
}

impl FileBlobs {
    /// Blobs in the folder `blobs` of a data folder. It is created with the first blob.
    #[must_use]
    pub fn new(data: &Path) -> Self {
        Self {
            folder: data.join("blobs"),
        }
    }

    /// The file of a name. Names come from ids that anybody may choose, so only their digest becomes a path.
    fn file(&self, name: &str) -> PathBuf {
        let digest = Sha256::digest(name.as_bytes());
        let hex: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
        let (shard, rest) = hex.split_at(2);
        self.folder.join(shard).join(rest)
    }
}

#[async_trait]
impl Blobs for FileBlobs {
    async fn put(&self, name: &str, value: Bytes) -> Result<(), Cause> {
        let file = self.file(name);
        Ok(tokio::task::spawn_blocking(move || write(&file, &value)).await??)
    }

    async fn get(&self, name: &str) -> Result<Option<Bytes>, Cause> {
        let file = self.file(name);
        match tokio::task::spawn_blocking(move || std::fs::read(file)).await? {
            Ok(bytes) => Ok(Some(bytes.into())),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    async fn delete(&self, name: &str) -> Result<(), Cause> {
        let file = self.file(name);
        match tokio::task::spawn_blocking(move || std::fs::remove_file(file)).await? {
            Err(error) if error.kind() != ErrorKind::NotFound => Err(error.into()),
            Ok(()) | Err(_) => Ok(()),
        }
    }
}

/// Writes a file that is whole or not there, and makes it and its name durable.
fn write(file: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let folder = file.parent().unwrap_or(file);
    std::fs::create_dir_all(folder)?;
    let part = file.with_extension("part");
    let mut out = File::create(&part)?;
    out.write_all(bytes)?;
    out.sync_all()?;
    std::fs::rename(&part, file)?;
    // Elsewhere folders cannot be opened, and names are durable with what they name.
    if cfg!(unix) {
        File::open(folder)?.sync_all()?;
        if let Some(above) = folder.parent() {
            File::open(above)?.sync_all()?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_blob_comes_back_until_it_is_deleted() {
        let folder = tempfile::tempdir().unwrap();
        let blobs = FileBlobs::new(folder.path());
        assert_eq!(blobs.get("a").await.unwrap(), None);
        blobs
            .put("../../a", Bytes::from_static(b"x"))
            .await
            .unwrap();
        assert_eq!(
            blobs.get("../../a").await.unwrap(),
            Some(Bytes::from_static(b"x"))
        );
        assert_eq!(blobs.get("a").await.unwrap(), None);
        blobs.delete("../../a").await.unwrap();
        blobs.delete("../../a").await.unwrap();
        assert_eq!(blobs.get("../../a").await.unwrap(), None);
    }
}
