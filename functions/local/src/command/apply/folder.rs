//! The definitions of a folder for an environment.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use dormouse_engine::definition::Definition;
use serde_json::{Value, json};

use super::SOURCE;
use crate::definition_file;
use crate::exit::Exit;
use crate::failure::Failure;

/// The name of a folder, wherever it is named from.
pub(super) fn name(folder: &Path) -> Result<String, Failure> {
    let whole = folder
        .canonicalize()
        .map_err(|e| Failure::file(folder, &e))?;
    let name = whole.file_name().unwrap_or_default();
    Ok(name.to_string_lossy().into_owned())
}

/// The definitions by id, marked with their source. Those of the environment replace others.
pub(super) fn definitions(
    folder: &Path,
    env: Option<&str>,
    source: &str,
) -> Result<BTreeMap<String, Definition>, Failure> {
    let mut found = BTreeMap::new();
    read(folder, source, &mut found)?;
    if let Some(env) = env {
        let is_name =
            !env.is_empty() && env.chars().all(|c| c.is_alphanumeric() || "-_".contains(c));
        let overlay = folder.join("env").join(env);
        if !is_name || !overlay.is_dir() {
            let message = format!("there is no folder {}", overlay.display());
            return Err(Failure::new(Exit::BadInput, "noEnvironment", message)
                .help("an environment is a folder of definitions within env/"));
        }
        let mut replaced = BTreeMap::new();
        read(&overlay, source, &mut replaced)?;
        found.append(&mut replaced);
    }
    Ok(found)
}

fn read(
    folder: &Path,
    source: &str,
    found: &mut BTreeMap<String, Definition>,
) -> Result<(), Failure> {
    if !folder.is_dir() {
        let message = format!("{} is not a folder", folder.display());
        return Err(Failure::new(Exit::BadInput, "file", message));
    }
    let mut files: BTreeMap<String, PathBuf> = BTreeMap::new();
    for file in definition_file::read_all(&[folder.to_owned()])? {
        let id = file.definition.definition_id.clone().unwrap_or_default();
        if let Some(other) = files.insert(id.clone(), file.path.clone()) {
            let message = format!(
                "{} and {} are both the definition `{id}`",
                other.display(),
                file.path.display()
            );
            return Err(Failure::new(Exit::BadInput, "twice", message));
        }
        found.insert(id, marked(file.definition, source)?);
    }
    Ok(())
}

fn marked(definition: Definition, source: &str) -> Result<Definition, Failure> {
    let mut raw = definition.raw().clone();
    let key = raw
        .keys()
        .find(|k| k.eq_ignore_ascii_case("customProperties"));
    let key = key.cloned().unwrap_or_else(|| "customProperties".into());
    let custom = raw.entry(key).or_insert(Value::Null);
    match custom.as_object_mut() {
        Some(custom) => {
            custom.insert(SOURCE.into(), source.into());
        }
        None => *custom = json!({ SOURCE: source }),
    }
    Definition::from_value(Value::Object(raw))
        .map_err(|e| Failure::new(Exit::BadInput, "notADefinition", e.to_string()))
}
