//! Permissions of the data folder. It contains signing keys and all data of workflows, so only the user of the server may read it.

use std::path::Path;

use crate::exit::Exit;
use crate::failure::Failure;

/// Makes a data folder and everything in it readable to the user of the server alone, before it is opened.
///
/// The permissions of a folder that earlier builds left open are repaired. One that is not a data folder yet and has other files in it is not
/// touched. `is_shared`: others are meant to read it.
#[cfg(unix)]
pub(super) fn secure(folder: &Path, is_shared: bool) -> Result<(), Failure> {
    use std::os::unix::fs::PermissionsExt;

    if is_shared || !folder.exists() {
        return Ok(());
    }
    let failed = |e: std::io::Error| Failure::file(folder, &e);
    let mode = folder.metadata().map_err(failed)?.permissions().mode();
    let is_open = mode & 0o077 != 0;
    let is_ours = folder.join("dormouse.sqlite").exists()
        || std::fs::read_dir(folder).map_err(failed)?.next().is_none();
    if is_open && !is_ours {
        return Err(open(
            folder,
            "others may read it, and it has other files in it",
        ));
    }
    if is_open {
        let closed = std::fs::set_permissions(folder, PermissionsExt::from_mode(0o700));
        closed.map_err(|_| {
            open(
                folder,
                "others may read it, and this user cannot change that",
            )
        })?;
        tracing::warn!(folder = %folder.display(), "the data folder was open to other users; now it is closed to them");
    }
    close_files(folder).map_err(failed)
}

#[cfg(not(unix))]
pub(super) fn secure(_folder: &Path, _is_shared: bool) -> Result<(), Failure> {
    Ok(())
}

/// Closes what lies in the folder itself; what is in folders below cannot be reached but through it.
#[cfg(unix)]
fn close_files(folder: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::PermissionsExt;

    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        let data = entry.metadata()?;
        let mode = data.permissions().mode();
        if data.is_file() && mode & 0o077 != 0 {
            std::fs::set_permissions(entry.path(), PermissionsExt::from_mode(mode & 0o700))?;
        }
    }
    Ok(())
}

#[cfg(unix)]
fn open(folder: &Path, why: &str) -> Failure {
    let message = format!("the data folder {} is not private: {why}", folder.display());
    Failure::new(Exit::Storage, "folderOpen", message).help(
        "it holds signing keys: take the rights of others away with `chmod 700`, choose another folder with --data, or say --shared-data if they may read it",
    )
}
