//! Elsa Studio's files: the npm package, wherever it was put. Nothing of it is part of this program.

use std::path::{Path, PathBuf};

use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};

use crate::content_type;

/// The package.
pub const PACKAGE: &str = "@elsa-workflows/elsa-studio-wasm";

/// What npm needs to install exactly this version: names of files, and their text.
pub const MANIFEST: [(&str, &str); 2] = [
    ("package.json", include_str!("../studio/package.json")),
    (
        "package-lock.json",
        include_str!("../studio/package-lock.json"),
    ),
];

/// What of the package is served. Its own sample page is not.
const SERVED: [&str; 4] = [
    "/_framework/",
    "/_content/",
    "/Elsa.Studio.Host.CustomElements.styles.css",
    "/appsettings.json",
];

/// An installed package.
#[derive(Debug, Clone)]
pub struct Studio {
    folder: PathBuf,
    version: String,
}

impl Studio {
    /// The package in a folder: the package itself, or a folder that npm has installed it in. `None`: it is not there.
    #[must_use]
    pub fn find(folder: &Path) -> Option<Self> {
        let installed = folder.join("node_modules").join(PACKAGE);
        [folder.to_owned(), installed]
            .into_iter()
            .find_map(Self::read)
    }

    fn read(folder: PathBuf) -> Option<Self> {
        let text = std::fs::read(folder.join("package.json")).ok()?;
        let about: serde_json::Value = serde_json::from_slice(&text).ok()?;
        let is_it = about.get("name").is_some_and(|name| name == PACKAGE);
        let version = about.get("version")?.as_str()?.to_owned();
        is_it.then_some(Self { folder, version })
    }

    /// Its version.
    #[must_use]
    pub fn version(&self) -> &str {
        &self.version
    }

    /// The file at a path, compressed where the reader takes that and the package has it so.
    pub(crate) async fn file(&self, path: &str, headers: &HeaderMap) -> Option<Response> {
        if !SERVED.iter().any(|served| path.starts_with(served)) || !is_plain(path) {
            return None;
        }
        let whole = self.folder.join(path.trim_start_matches('/'));
        let takes_brotli = headers
            .get(header::ACCEPT_ENCODING)
            .and_then(|kinds| kinds.to_str().ok())
            .is_some_and(|kinds| kinds.split(',').any(|kind| kind.trim().starts_with("br")));
        // Files with a part of their name made from their content never change.
        let lasts = path.starts_with("/_framework/") && is_fingerprinted(path);
        let tag = format!("\"{}\"", self.version);
        if headers
            .get(header::IF_NONE_MATCH)
            .is_some_and(|t| *t == tag)
        {
            return Some(StatusCode::NOT_MODIFIED.into_response());
        }
        let read = move || {
            let mut small = whole.clone().into_os_string();
            small.push(".br");
            let small = takes_brotli.then(|| std::fs::read(small).ok()).flatten();
            match small {
                Some(body) => Some((body, true)),
                None => std::fs::read(whole).ok().map(|body| (body, false)),
            }
        };
        let (body, is_brotli) = tokio::task::spawn_blocking(read).await.ok()??;
        let mut response = ([(header::CONTENT_TYPE, content_type::of(path))], body).into_response();
        let to = response.headers_mut();
        if is_brotli {
            to.insert(header::CONTENT_ENCODING, HeaderValue::from_static("br"));
        }
        to.insert(header::VARY, HeaderValue::from_static("accept-encoding"));
        let nosniff = HeaderValue::from_static("nosniff");
        to.insert(header::X_CONTENT_TYPE_OPTIONS, nosniff);
        let cache = if lasts {
            "public, max-age=31536000, immutable"
        } else {
            "no-cache"
        };
        to.insert(header::CACHE_CONTROL, HeaderValue::from_static(cache));
        if let Ok(tag) = HeaderValue::from_str(&tag) {
            to.insert(header::ETAG, tag);
        }
        Some(response)
    }
}

/// Whether a path has nothing in it that could lead out of its folder. The package's names need no more than this.
fn is_plain(path: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "._-+@".contains(c);
    path.split('/')
        .skip(1)
        .all(|step| !step.is_empty() && !step.starts_with('.') && step.chars().all(is_plain))
}

/// Whether a file's name has a part made from its content: `Elsa.Studio.Core.zkd0ilf0ad.wasm`.
fn is_fingerprinted(path: &str) -> bool {
    let mut parts = path.rsplit('.').skip(1);
    parts.next().is_some_and(|part| {
        let is_mark = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
        part.len() == 10 && part.chars().all(is_mark)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_cannot_leave_its_folder() {
        assert!(is_plain("/_content/Radzen.Blazor/css/material-base.css"));
        for bad in [
            "/_content/../../secret",
            "/_content/..%2f",
            "/_content//x",
            "/_content/.env",
            "/_content/a\\b",
        ] {
            assert!(!is_plain(bad), "{bad}");
        }
    }

    #[test]
    fn only_names_made_from_content_last() {
        assert!(is_fingerprinted(
            "/_framework/Elsa.Studio.Core.zkd0ilf0ad.wasm"
        ));
        assert!(!is_fingerprinted("/_framework/blazor.webassembly.js"));
        assert!(!is_fingerprinted("/_framework/dotnet.js"));
    }
}
