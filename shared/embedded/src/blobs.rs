//! Large states as files of the data folder, one file each.

use std::fs::File;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use async_trait::async_trait;
use bytes::Bytes;
use dormouse_store::item::error::Cause;
use dormouse_store::table::blobs::{BlobPlace, Blobs, ListBlobs};
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
    ///
    /// What is archived is for people, so it lies under its own name where that is a plain one.
    fn file(&self, name: &str) -> PathBuf {
        if let Some(data) = self.folder.parent().filter(|_| is_readable(name)) {
            return data.join(name);
        }
        let digest = Sha256::digest(name.as_bytes());
        let hex: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
        let (shard, rest) = hex.split_at(2);
        self.folder.join(shard).join(rest)
    }
}

/// Whether a name below `archive/` can be a path as it is.
fn is_readable(name: &str) -> bool {
    let is_plain = |segment: &str| {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_.%".contains(c);
        (1..=200).contains(&segment.len())
            && !segment.starts_with('.')
            && segment.chars().all(is_plain)
    };
    name.starts_with("archive/") && name.split('/').all(is_plain)
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

#[async_trait]
impl ListBlobs for FileBlobs {
    fn place(&self, name: &str) -> String {
        let file = self.file(name);
        let below = file.strip_prefix(&self.folder).unwrap_or(&file);
        below.display().to_string()
    }

    async fn list(&self) -> Result<Vec<BlobPlace>, Cause> {
        let folder = self.folder.clone();
        Ok(tokio::task::spawn_blocking(move || files(&folder)).await??)
    }

    async fn delete_at(&self, place: &str) -> Result<(), Cause> {
        let file = self.folder.join(place);
        match tokio::task::spawn_blocking(move || std::fs::remove_file(file)).await? {
            Err(error) if error.kind() != ErrorKind::NotFound => Err(error.into()),
            Ok(()) | Err(_) => Ok(()),
        }
    }
}

/// The files two levels below the folder of blobs.
fn files(folder: &Path) -> std::io::Result<Vec<BlobPlace>> {
    let mut found = Vec::new();
    if !folder.is_dir() {
        return Ok(found);
    }
    for shard in std::fs::read_dir(folder)? {
        let shard = shard?;
        if !shard.file_type()?.is_dir() {
            continue;
        }
        for file in std::fs::read_dir(shard.path())? {
            let file = file?;
            let written = file.metadata()?.modified()?;
            let since = written.duration_since(UNIX_EPOCH).unwrap_or_default();
            let path = file.path();
            let below = path.strip_prefix(folder).unwrap_or(&path);
            found.push(BlobPlace {
                place: below.display().to_string(),
                written_ms: i64::try_from(since.as_millis()).unwrap_or(i64::MAX),
            });
        }
    }
    Ok(found)
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
        for name in ["archive/../../a", "archive/..", "archive/a b", "archive//a"] {
            assert!(!is_readable(name), "{name}");
        }
        let archived = "archive/default/2026-01-01/i%23.json";
        blobs.put(archived, Bytes::new()).await.unwrap();
        let listed = blobs.list().await.unwrap();
        let [listed] = listed.as_slice() else {
            panic!("the archive is not listed: {listed:?}")
        };
        assert_eq!(listed.place, blobs.place("../../a"));
        assert!(listed.written_ms > 1_767_225_600_000);
        blobs.delete_at(&listed.place).await.unwrap();
        assert!(blobs.list().await.unwrap().is_empty());
        assert!(folder.path().join(archived).is_file());
        blobs.delete("../../a").await.unwrap();
        blobs.delete("../../a").await.unwrap();
        assert_eq!(blobs.get("../../a").await.unwrap(), None);
    }
}
