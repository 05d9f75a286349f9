//! Runs tests again whenever their files change.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use dormouse_sandbox::TestFile;

use super::found;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::screen::Screen;

/// Time between two looks at the files.
const PACE: Duration = Duration::from_millis(300);

/// Size and time of change of each file.
type Stamps = BTreeMap<PathBuf, Option<(u64, SystemTime)>>;

/// Runs, and runs again after each change. Ends only with a failure to look at the files.
pub(super) fn watch(
    paths: &[PathBuf],
    screen: &Screen,
    run: impl Fn() -> Result<Exit, Failure>,
) -> Result<Exit, Failure> {
    let mut seen = None;
    loop {
        let now = stamps(paths)?;
        if seen.as_ref() != Some(&now) {
            if let Err(failure) = run() {
                failure.tell(screen.is_json());
            }
            screen.line(screen.dim("Waiting for changes; end with Ctrl-C"));
            seen = Some(now);
        }
        std::thread::sleep(PACE);
    }
}

fn stamps(paths: &[PathBuf]) -> Result<Stamps, Failure> {
    let mut stamps = Stamps::new();
    for file in found::test_files(paths)? {
        // A file that cannot be read now may be in the middle of a change.
        let text = std::fs::read_to_string(&file).unwrap_or_default();
        let folder = file.parent().unwrap_or(Path::new(""));
        if let Ok(test) = TestFile::parse(&text) {
            for located in std::iter::once(&test.workflow).chain(&test.with) {
                let definition = folder.join(&located.text);
                stamps.insert(definition.clone(), stamp(&definition));
            }
        }
        stamps.insert(file.clone(), stamp(&file));
    }
    Ok(stamps)
}

fn stamp(file: &Path) -> Option<(u64, SystemTime)> {
    let metadata = std::fs::metadata(file).ok()?;
    Some((metadata.len(), metadata.modified().ok()?))
}
