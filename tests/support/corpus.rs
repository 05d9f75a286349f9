//! The real Elsa definitions in `../shared`, where they are.

use std::path::{Path, PathBuf};

/// One file.
#[derive(Debug, Clone)]
pub struct CorpusFile {
    /// The file's name.
    pub name: String,
    /// Its bytes.
    pub bytes: Vec<u8>,
}

/// The shared folder: `$DORMOUSE_SHARED`, else `../shared` beside the repository. `None`, and a loud message: it is
/// not there.
#[must_use]
pub fn shared() -> Option<PathBuf> {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared");
    let path = std::env::var_os("DORMOUSE_SHARED").map_or(beside, PathBuf::from);
    if path.join("elsa-workflows").is_dir() {
        return Some(path);
    }
    eprintln!(
        "SKIPPED: the Elsa corpus is not at {}; set DORMOUSE_SHARED to the folder that has `elsa-workflows`",
        path.display()
    );
    None
}

/// A document of the shared folder. `None`: not there.
#[must_use]
pub fn document(path: &str) -> Option<String> {
    std::fs::read_to_string(shared()?.join(path)).ok()
}

/// All files, by name.
#[must_use]
pub fn files() -> Option<Vec<CorpusFile>> {
    let folder = std::fs::read_dir(shared()?.join("elsa-workflows")).expect("a folder");
    let mut files: Vec<CorpusFile> = folder
        .map(|entry| entry.expect("a file").path())
        .filter(|path| path.extension().is_some_and(|e| e == "json"))
        .map(|path| CorpusFile {
            name: path
                .file_name()
                .expect("a name")
                .to_string_lossy()
                .into_owned(),
            bytes: std::fs::read(&path).expect("a readable file"),
        })
        .collect();
    files.sort_by(|a, b| a.name.cmp(&b.name));
    Some(files)
}

/// The one file whose name ends so. `None`: there is no corpus.
#[must_use]
pub fn file(ending: &str) -> Option<Vec<u8>> {
    let mut found = files()?.into_iter().filter(|f| f.name.ends_with(ending));
    let first = found
        .next()
        .unwrap_or_else(|| panic!("no corpus file ends with {ending}"));
    assert!(
        found.next().is_none(),
        "more than one corpus file ends with {ending}"
    );
    Some(first.bytes)
}
