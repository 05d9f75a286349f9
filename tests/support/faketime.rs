//! Wrong clocks for processes: libfaketime (Debian: `faketime`), which `.ci/test` installs where it may.
//!
//! Where it is missing the tests say so and pass.

use std::path::{Path, PathBuf};

/// The library.
pub struct Faketime(PathBuf);

/// The clock of a process: what a file says is added to the real one.
pub struct FakeClock {
    library: String,
    file: PathBuf,
}

impl Faketime {
    /// The library where Debian puts it. `None`, after a loud word, where it is not installed.
    #[must_use]
    pub fn find() -> Option<Self> {
        let folders = std::fs::read_dir("/usr/lib").ok()?.flatten();
        let names = folders.map(|folder| folder.path().join("faketime/libfaketime.so.1"));
        let found = names.into_iter().find(|name| name.exists()).map(Self);
        if found.is_none() {
            eprintln!("SKIPPED: libfaketime is not installed (Debian: apt-get install faketime)");
        }
        found
    }

    /// A clock that is wrong by so many seconds, like `+120`; it can be set while its process runs.
    #[must_use]
    pub fn clock(&self, folder: &Path, shift: &str) -> FakeClock {
        let clock = FakeClock {
            library: self.0.display().to_string(),
            file: folder.join(format!("clock{shift}")),
        };
        clock.set(shift);
        clock
    }
}

impl FakeClock {
    /// Makes it wrong by so many seconds.
    pub fn set(&self, shift: &str) {
        // Whole or not at all: a process may be reading it.
        let new = self.file.with_extension("new");
        std::fs::write(&new, shift).expect("the folder can be written to");
        std::fs::rename(&new, &self.file).expect("the folder can be written to");
    }

    /// What a process needs for it.
    #[must_use]
    pub fn variables(&self) -> Vec<(&str, &str)> {
        vec![
            ("LD_PRELOAD", self.library.as_str()),
            (
                "FAKETIME_TIMESTAMP_FILE",
                self.file.to_str().expect("a path in UTF-8"),
            ),
            ("FAKETIME_CACHE_DURATION", "1"),
            // Waiting goes on as it did: only the time of day is wrong.
            ("FAKETIME_DONT_FAKE_MONOTONIC", "1"),
            ("NO_FAKE_STAT", "1"),
        ]
    }
}
