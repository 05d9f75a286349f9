//! Whether the table's file still lies where it was opened. SQLite goes on writing to a file that was moved or
//! removed, and the next start does not find what it wrote.

use std::fs::Metadata;
use std::io;
use std::path::Path;
use std::time::{Duration, Instant};

/// The file is looked at before a commit at most once in this time.
const LOOK: Duration = Duration::from_secs(1);

/// A file as it was when it was opened, and when it was last seen there.
#[derive(Debug)]
pub(super) struct Place {
    id: Option<(u64, u64)>,
    seen: Instant,
}

impl Place {
    /// Of the file that has just been opened.
    pub(super) fn of(file: &Path) -> Self {
        Self {
            id: file.metadata().ok().and_then(|data| id(&data)),
            seen: Instant::now(),
        }
    }

    /// True if the path names nothing or another file now. It looks again only after a second.
    ///
    /// The path is looked up and never opened: closing a handle of the file would release SQLite's locks on it.
    pub(super) fn is_left(&mut self, file: &Path) -> bool {
        if self.seen.elapsed() < LOOK {
            return false;
        }
        self.seen = Instant::now();
        self.is_left_now(file)
    }

    fn is_left_now(&self, file: &Path) -> bool {
        match file.metadata() {
            Ok(data) => self.id.is_some() && id(&data) != self.id,
            // Other errors do not tell that it is gone.
            Err(error) => matches!(
                error.kind(),
                io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
            ),
        }
    }
}

/// Device and inode.
#[cfg(unix)]
#[allow(clippy::unnecessary_wraps, reason = "elsewhere there is none")]
fn id(data: &Metadata) -> Option<(u64, u64)> {
    use std::os::unix::fs::MetadataExt as _;
    Some((data.dev(), data.ino()))
}

#[cfg(not(unix))]
fn id(_data: &Metadata) -> Option<(u64, u64)> {
    None
}

#[cfg(test)]
mod tests {
    use dormouse_store::table::{Attributes, Condition, Item, Key, Table as _, TableError, Write};

    use super::*;
    use crate::EmbeddedTable;

    #[test]
    fn a_file_is_left_when_it_is_moved_removed_or_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let (file, other) = (folder.path().join("a"), folder.path().join("b"));
        std::fs::write(&file, "x").unwrap();
        let place = Place::of(&file);
        std::fs::write(&file, "longer").unwrap();
        assert!(!place.is_left_now(&file));
        std::fs::rename(&file, &other).unwrap();
        assert!(place.is_left_now(&file));
        assert_eq!(place.is_left_now(&file.join("within")), cfg!(unix));
        std::fs::write(&file, "another").unwrap();
        assert_eq!(place.is_left_now(&file), cfg!(unix));
        std::fs::rename(&other, &file).unwrap();
        assert!(!place.is_left_now(&file));
    }

    #[cfg(unix)]
    #[tokio::test]
    async fn a_table_whose_folder_was_moved_takes_and_tells_nothing_more() {
        let folder = tempfile::tempdir().unwrap();
        let data = folder.path().join("data");
        let table = EmbeddedTable::open(&data).unwrap();
        let put = |sort: &str| {
            let (key, attributes) = (Key::new("p", sort), Attributes::new());
            [Write::Put(Item { key, attributes }, Condition::Always)]
        };
        table.write(&put("before")).await.unwrap();
        std::fs::rename(&data, folder.path().join("moved")).unwrap();
        let until = Instant::now() + Duration::from_secs(20);
        let refused = loop {
            match table.write(&put("after")).await {
                Ok(_) => assert!(Instant::now() < until, "it goes on writing"),
                Err(error) => break error,
            }
        };
        let TableError::Unusable(sentence, _) = refused else {
            panic!("{refused}")
        };
        assert!(sentence.contains("was moved"), "{sentence}");
        table.get(&Key::new("p", "before")).await.unwrap_err();
        table.write(&put("later")).await.unwrap_err();
    }
}
