//! The API key that the command line shows: one that is given, else the one of the server on this machine.

use std::path::{Path, PathBuf};

/// The data folder of a server that was not told another.
pub(crate) const DATA: &str = "dormouse-data";

/// The file of a data folder that has the command line's key.
pub(crate) fn path(data: &Path) -> PathBuf {
    data.join("cli-key")
}

/// The key for a server. The one in the data folder is shown to this machine only.
pub(crate) fn find(given: Option<&str>, url: &str) -> Option<String> {
    if let Some(given) = given {
        return Some(given.trim().to_owned());
    }
    let host = url.split_once("://").map_or(url, |(_, rest)| rest);
    let is_own = ["127.0.0.1", "localhost", "[::1]"].iter().any(|own| {
        let rest = host.strip_prefix(own);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with([':', '/']))
    });
    let data = std::env::var_os("DORMOUSE_DATA").unwrap_or_else(|| DATA.into());
    let text = is_own.then(|| std::fs::read_to_string(path(Path::new(&data))).ok())??;
    Some(text.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_given_key_goes_anywhere_and_no_other_leaves_this_machine() {
        let foreign = "https://127.0.0.1.evil.example";
        assert_eq!(find(Some("k\n"), foreign).as_deref(), Some("k"));
        assert_eq!(find(None, foreign), None);
        assert_eq!(find(None, "https://evil.example"), None);
    }
}
