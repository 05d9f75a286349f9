//! `dormouse backup` and `dormouse restore`: a data folder copied as it was at one moment.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use clap::Args;
use dormouse_embedded::{EmbeddedTable, FileBlobs, Snapshot};
use dormouse_store::operation::contents::Contents;
use dormouse_store::table::blobs::ListBlobs as _;
use serde_json::json;

use crate::exit::Exit;
use crate::failure::Failure;
use crate::key::DATA;
use crate::screen::Screen;
use crate::server::table_failed;

/// Rounds before it is given up that keys or large states change in the moment of the snapshot.
const ROUNDS_MAX: u32 = 5;

/// End of the name of a copy until it is whole: a name that no user gives a folder.
const PART: &str = ".dormouse-part";

/// Data folder to copy. A server may be running over it.
#[derive(Debug, Args)]
pub(crate) struct BackupArgs {
    /// Folder to write. It must be new or empty
    #[arg(value_name = "FOLDER")]
    to: PathBuf,
    /// Data folder
    #[arg(long, value_name = "DIR", env = "DORMOUSE_DATA", default_value = DATA)]
    data: PathBuf,
}

/// Backup to restore.
#[derive(Debug, Args)]
pub(crate) struct RestoreArgs {
    /// Folder that `dormouse backup` wrote
    #[arg(value_name = "FOLDER")]
    from: PathBuf,
    /// Data folder to write. It must be new or empty
    #[arg(long, value_name = "DIR", env = "DORMOUSE_DATA", default_value = DATA)]
    data: PathBuf,
}

/// Copies a data folder, also one in use.
pub(crate) async fn backup(args: &BackupArgs, screen: &Screen) -> Result<Exit, Failure> {
    let copied = copy(&args.data, &args.to).await?;
    copied.tell(screen, "Backed up", &args.to);
    screen.line(format!(
        "The copy holds signing keys and secrets. To use it: dormouse restore {} --data DIR",
        args.to.display()
    ));
    Ok(Exit::Ok)
}

/// Makes a data folder of a backup. The backup stays as it is.
pub(crate) async fn restore(args: &RestoreArgs, screen: &Screen) -> Result<Exit, Failure> {
    let copied = copy(&args.from, &args.data).await?;
    copied.tell(screen, "Restored", &args.data);
    let data = args.data.display();
    screen.line(format!(
        "Examine it with `dormouse doctor --data {data}`, then start: dormouse serve --data {data}"
    ));
    Ok(Exit::Ok)
}

/// Numbers of a copy.
struct Copied {
    items: u64,
    states: usize,
    bytes: u64,
}

impl Copied {
    fn tell(&self, screen: &Screen, what: &str, to: &Path) {
        screen.value(&json!({
            "folder": to.display().to_string(),
            "items": self.items,
            "largeStates": self.states,
            "bytes": self.bytes,
        }));
        screen.line(format!(
            "{what} {} items and {} large states ({} KiB) to {}",
            self.items,
            self.states,
            self.bytes.div_ceil(1024),
            to.display()
        ));
    }
}

/// Copies a data folder beside its place, and moves it there when it is whole and durable.
async fn copy(from: &Path, to: &Path) -> Result<Copied, Failure> {
    if !from.join("dormouse.sqlite").is_file() {
        let message = format!("there is no table of Dormouse in {}", from.display());
        return Err(Failure::new(Exit::BadInput, "noFolder", message)
            .help("name the data folder with --data DIR or DORMOUSE_DATA"));
    }
    let part = make_part(from, to)?;
    let copied = copy_into(from, &part).await;
    let copied = copied.and_then(|copied| {
        let failed = |e: io::Error| Failure::file(to, &e);
        sync_names(&part).map_err(failed)?;
        // An empty folder may stand there.
        let _not_there = fs::remove_dir(to);
        fs::rename(&part, to).map_err(failed)?;
        sync_names(above(to)).map_err(failed)?;
        Ok(copied)
    });
    if copied.is_err() {
        let _there_is_nothing_to_add = fs::remove_dir_all(&part);
    }
    copied
}

/// Makes the folder in which the copy grows: beside its place, so that a part is never taken for the whole.
fn make_part(from: &Path, to: &Path) -> Result<PathBuf, Failure> {
    let failed = |e: io::Error| Failure::file(to, &e);
    let wrong = |message: String| Failure::new(Exit::BadInput, "notEmpty", message);
    if let Ok(mut there) = fs::read_dir(to)
        && there.next().is_some()
    {
        let message = format!("{} is not empty", to.display());
        return Err(wrong(message).help("choose a new folder, or move that one away"));
    }
    let Some(name) = to.file_name() else {
        return Err(wrong(format!("{} is no name of a folder", to.display())));
    };
    // What is there already of the way to the new folder.
    let near = to.ancestors().skip(1).find(|above| above.is_dir());
    let near = near.unwrap_or(Path::new("."));
    let (inner, outer) = (
        near.canonicalize().map_err(failed)?,
        from.canonicalize().map_err(failed)?,
    );
    if inner.starts_with(&outer) {
        let message = format!("{} lies in the folder that is copied", to.display());
        return Err(wrong(message).help("choose a folder outside of it"));
    }
    fs::create_dir_all(above(to)).map_err(failed)?;
    let mut part_name = name.to_owned();
    part_name.push(PART);
    let part = to.with_file_name(part_name);
    if part.exists() {
        // Of a copy that was cut off.
        fs::remove_dir_all(&part).map_err(failed)?;
    }
    make_private(&part).map_err(failed)?;
    Ok(part)
}

async fn copy_into(from: &Path, to: &Path) -> Result<Copied, Failure> {
    let failed = |e: io::Error| Failure::file(from, &e);
    let blobs = FileBlobs::new(to);
    // Most of what lies beside the table, so that little is left to copy in the moment of the snapshot.
    copy_below(from, to, false).map_err(failed)?;
    for _ in 0..ROUNDS_MAX {
        let keys = copy_below(from, to, true).map_err(failed)?;
        let snapshot = Snapshot::begin(from).map_err(|e| table_failed(&e))?;
        // A state goes when a later commit has made another one.
        let same_keys = copy_below(from, to, true).map_err(failed)? == keys;
        if !same_keys {
            continue;
        }
        let _not_there = fs::remove_file(to.join("dormouse.sqlite"));
        snapshot.copy_to(to).map_err(|e| table_failed(&e))?;
        drop(snapshot);
        let contents = contents(to).await?;
        let named = contents.states.iter().map(|name| blobs.place(name));
        let named: BTreeSet<String> = named.collect();
        let lying = blobs
            .list()
            .await
            .map_err(|e| Failure::new(Exit::Storage, "folderUnusable", e.to_string()))?;
        let mut missing = named.clone();
        for blob in lying {
            if !missing.remove(&blob.place) {
                let file = to.join("blobs").join(&blob.place);
                fs::remove_file(&file).map_err(failed)?;
            }
        }
        if missing.is_empty() {
            return Ok(Copied {
                items: contents.items,
                states: named.len(),
                bytes: size(to).map_err(failed)?,
            });
        }
    }
    let message =
        "keys or large states changed in the moment of each snapshot, or large states are missing";
    Err(Failure::new(Exit::Conflict, "changing", message)
        .help("try again in a moment; if it stays so, `dormouse doctor` tells what is missing"))
}

/// Reads all of the copy, which also tells that it can be read.
async fn contents(folder: &Path) -> Result<Contents, Failure> {
    let table = EmbeddedTable::open(folder).map_err(|e| table_failed(&e))?;
    let contents = Contents::of(&table).await;
    drop(table);
    let contents =
        contents.map_err(|e| Failure::new(Exit::Storage, "folderUnusable", e.to_string()))?;
    let failed = |e: io::Error| Failure::file(folder, &e);
    fs::remove_file(folder.join("lock")).map_err(failed)?;
    Snapshot::leave_one_file(folder).map_err(|e| table_failed(&e))?;
    Ok(contents)
}

/// True for what a table makes anew, and for files that are about to get their names.
fn is_passing(name: &OsStr) -> bool {
    let name = name.to_string_lossy();
    name.starts_with("dormouse.sqlite")
        || name == "lock"
        || name.ends_with(".lock")
        || name.ends_with(".part")
}

/// Copies what lies beside the table: what the copy does not have yet, since nothing below is ever changed, and the files of the folder
/// itself, which are answered. `anew`: those are copied again.
fn copy_below(from: &Path, to: &Path, anew: bool) -> io::Result<Vec<(PathBuf, Vec<u8>)>> {
    let mut own = Vec::new();
    let mut folders = vec![PathBuf::new()];
    while let Some(folder) = folders.pop() {
        let entries = match fs::read_dir(from.join(&folder)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            entries => entries?,
        };
        for entry in entries {
            let entry = entry?;
            let (path, kind) = (folder.join(entry.file_name()), entry.file_type()?);
            if is_passing(&entry.file_name()) {
                continue;
            }
            if kind.is_dir() {
                fs::create_dir_all(to.join(&path))?;
                folders.push(path);
                continue;
            }
            let is_own = folder.as_os_str().is_empty();
            if to.join(&path).exists() && !(is_own && anew) {
                continue;
            }
            match copy_file(&from.join(&path), &to.join(&path)) {
                // A state that is not needed any more.
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                done => done?,
            }
            if is_own {
                own.push((path.clone(), fs::read(to.join(&path))?));
            }
        }
        sync_names(&to.join(&folder))?;
    }
    own.sort();
    Ok(own)
}

fn copy_file(from: &Path, to: &Path) -> io::Result<()> {
    fs::copy(from, to)?;
    fs::File::open(to)?.sync_all()
}

/// The bytes of all files of a folder.
fn size(folder: &Path) -> io::Result<u64> {
    let mut bytes = 0;
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let data = entry.metadata()?;
        bytes += match data.is_dir() {
            true => size(&entry.path())?,
            false => data.len(),
        };
    }
    Ok(bytes)
}

fn above(folder: &Path) -> &Path {
    let above = folder.parent().filter(|a| !a.as_os_str().is_empty());
    above.unwrap_or(Path::new("."))
}

/// Makes the names in a folder durable.
fn sync_names(folder: &Path) -> io::Result<()> {
    // Elsewhere folders cannot be opened, and names are durable with what they name.
    if cfg!(unix) {
        fs::File::open(folder)?.sync_all()?;
    }
    Ok(())
}

/// Creates a folder that its user alone may enter.
fn make_private(folder: &Path) -> io::Result<()> {
    let mut new = fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut new, 0o700);
    new.create(folder)
}
