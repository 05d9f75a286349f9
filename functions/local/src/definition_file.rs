//! Definitions in files.

use std::path::{Path, PathBuf};

use dormouse_engine::definition::Definition;

use crate::exit::Exit;
use crate::failure::Failure;

/// A definition and the file it comes from.
#[derive(Debug)]
pub(crate) struct DefinitionFile {
    pub(crate) path: PathBuf,
    pub(crate) definition: Definition,
}

impl DefinitionFile {
    /// The name that a file is shown under.
    pub(crate) fn shown(&self) -> String {
        self.path.display().to_string()
    }

    fn read(path: &Path) -> Result<Self, Failure> {
        let bytes = std::fs::read(path).map_err(|e| Failure::file(path, &e))?;
        let mut definition = Definition::from_json(&bytes).map_err(|e| {
            let message = format!("{}: {e}", path.display());
            Failure::new(Exit::BadInput, "notADefinition", message)
        })?;
        if definition
            .definition_id
            .as_deref()
            .is_none_or(str::is_empty)
        {
            // A file without an id is known by its name, so that publishing it again is a new version of it.
            let name = path
                .file_stem()
                .unwrap_or_default()
                .to_string_lossy()
                .into_owned();
            let mut raw = definition.raw().clone();
            raw.retain(|key, _| !key.eq_ignore_ascii_case("definitionId"));
            raw.insert("definitionId".into(), name.into());
            if let Ok(named) = Definition::from_value(raw.into()) {
                definition = named;
            }
        }
        Ok(Self {
            path: path.to_owned(),
            definition,
        })
    }
}

/// Reads files, and all `.json` files of folders. Every file that cannot be read is told at once.
pub(crate) fn read_all(paths: &[PathBuf]) -> Result<Vec<DefinitionFile>, Failure> {
    let mut files = Vec::new();
    for path in paths {
        if path.is_dir() {
            files.extend(in_folder(path)?);
        } else {
            files.push(path.clone());
        }
    }
    let mut read = Vec::new();
    let mut failures = Vec::new();
    for path in files {
        match DefinitionFile::read(&path) {
            Ok(file) => read.push(file),
            Err(failure) => failures.push(failure),
        }
    }
    match failures.len() {
        0 => Ok(read),
        1 => Err(failures.remove(0)),
        count => {
            let lines: Vec<String> = failures.into_iter().map(|f| f.message).collect();
            let message = format!("{count} files cannot be used\n  {}", lines.join("\n  "));
            Err(Failure::new(Exit::BadInput, "notADefinition", message))
        }
    }
}

fn in_folder(folder: &Path) -> Result<Vec<PathBuf>, Failure> {
    let entries = std::fs::read_dir(folder).map_err(|e| Failure::file(folder, &e))?;
    let mut files: Vec<PathBuf> = entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| {
            path.extension()
                .is_some_and(|e| e.eq_ignore_ascii_case("json"))
        })
        .collect();
    if files.is_empty() {
        let message = format!(
            "{}: there is no .json file in this folder",
            folder.display()
        );
        return Err(Failure::new(Exit::BadInput, "file", message));
    }
    files.sort();
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_without_an_id_is_known_by_its_name() {
        let folder = std::env::temp_dir().join(format!("dormouse-files-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(
            folder.join("b.json"),
            r#"{"root": {"type": "Elsa.Sequence"}}"#,
        )
        .unwrap();
        std::fs::write(
            folder.join("a.json"),
            r#"{"definitionId": "x", "root": {}}"#,
        )
        .unwrap();
        let read = read_all(std::slice::from_ref(&folder)).unwrap();
        let ids: Vec<_> = read
            .iter()
            .map(|f| f.definition.definition_id.clone().unwrap())
            .collect();
        assert_eq!(ids, ["x", "b"]);

        std::fs::write(folder.join("c.json"), "{").unwrap();
        let failure = read_all(&[folder.clone(), folder.join("none.json")]).unwrap_err();
        assert!(
            failure.message.starts_with("2 files cannot be used"),
            "{}",
            failure.message
        );
        std::fs::remove_dir_all(folder).unwrap();
    }
}
