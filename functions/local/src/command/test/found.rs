//! Finds test files.

use std::path::{Path, PathBuf};

use crate::exit::Exit;
use crate::failure::Failure;

/// Deepest folder that is searched.
const DEPTH_MAX: u32 = 20;

/// The files themselves, and all test files in folders, in the order of their paths.
pub(super) fn test_files(paths: &[PathBuf]) -> Result<Vec<PathBuf>, Failure> {
    let mut found = Vec::new();
    for path in paths {
        if !path.is_dir() {
            found.push(path.clone());
            continue;
        }
        let before = found.len();
        search(path, DEPTH_MAX, &mut found)?;
        if found.len() == before {
            let message = format!("{}: there is no *.test.yaml in this folder", path.display());
            return Err(Failure::new(Exit::BadInput, "file", message));
        }
    }
    Ok(found)
}

fn search(folder: &Path, depth: u32, found: &mut Vec<PathBuf>) -> Result<(), Failure> {
    let entries = std::fs::read_dir(folder).map_err(|e| Failure::file(folder, &e))?;
    let mut paths: Vec<PathBuf> = entries.filter_map(|e| Some(e.ok()?.path())).collect();
    paths.sort();
    for path in paths {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let is_skipped = name.starts_with('.') || name == "node_modules";
        if path.is_dir() && !path.is_symlink() && !is_skipped && depth > 0 {
            search(&path, depth - 1, found)?;
        } else if name.ends_with(".test.yaml") || name.ends_with(".test.yml") {
            found.push(path.clone());
        }
    }
    Ok(())
}
