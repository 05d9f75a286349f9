//! Our own pages' files, built into the program.

use crate::content_type;

/// The page around Studio's views.
pub(crate) const STUDIO: &[u8] = include_bytes!("../page/studio.html");

macro_rules! files {
    ($($path:literal),* $(,)?) => {
        &[$(($path, include_bytes!(concat!("../page", $path)).as_slice())),*]
    };
}

const FILES: &[(&str, &[u8])] = files!(
    "/index.html",
    "/studio.html",
    "/console/access.js",
    "/console/answers.js",
    "/console/app.js",
    "/console/bar.css",
    "/console/bulk.js",
    "/console/causes.js",
    "/console/children.js",
    "/console/cluster.js",
    "/console/data.js",
    "/console/dead_letters.js",
    "/console/definitions.js",
    "/console/dialog.js",
    "/console/diff.js",
    "/console/dom.js",
    "/console/form.js",
    "/console/graph.js",
    "/console/guide.css",
    "/console/icon.svg",
    "/console/inbox.js",
    "/console/incidents.js",
    "/console/instance.js",
    "/console/instances.js",
    "/console/journal.js",
    "/console/overview.js",
    "/console/reach.js",
    "/console/runs.js",
    "/console/schedules.js",
    "/console/session.js",
    "/console/shell.js",
    "/console/start.js",
    "/console/studio.js",
    "/console/style.css",
    "/console/timeline.js",
    "/console/workflow.js",
);

/// The file at a path, and what it is.
pub(crate) fn file(path: &str) -> Option<(&'static [u8], &'static str)> {
    let path = if path == "/" { "/index.html" } else { path };
    let found = FILES.iter().find(|(name, _)| *name == path);
    found.map(|(name, body)| (*body, content_type::of(name)))
}

/// Whether a path is one that Studio's views use: lists, a definition's editor, an instance's viewer.
pub(crate) fn is_studios(path: &str) -> bool {
    let steps: Vec<&str> = path.split('/').skip(1).collect();
    matches!(
        steps.as_slice(),
        ["workflows", "definitions" | "instances"]
            | ["workflows", "definitions", _, "edit"]
            | ["workflows", "instances", _, "view"]
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_of_the_page_is_built_in() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/page");
        let mut there = Vec::new();
        for below in ["", "/console"] {
            for entry in std::fs::read_dir(format!("{folder}{below}")).unwrap() {
                let entry = entry.unwrap();
                if entry.file_type().unwrap().is_file() {
                    there.push(format!("{below}/{}", entry.file_name().to_str().unwrap()));
                }
            }
        }
        there.sort();
        let mut built_in: Vec<_> = FILES.iter().map(|(name, _)| (*name).to_owned()).collect();
        built_in.sort();
        assert_eq!(built_in, there);
    }

    #[test]
    fn no_page_names_another_origin() {
        for (name, body) in FILES {
            let text = String::from_utf8_lossy(body);
            let is_namespace = |part: &str| part.starts_with("www.w3.org/2000/svg");
            let foreign = text.split("://").skip(1).find(|part| !is_namespace(part));
            assert_eq!(foreign, None, "{name}");
        }
    }

    #[test]
    fn studios_addresses_are_known() {
        for own in [
            "/workflows/definitions",
            "/workflows/definitions/a%20b/edit",
            "/workflows/instances",
            "/workflows/instances/i-1/view",
        ] {
            assert!(is_studios(own), "{own}");
        }
        for other in [
            "/workflows",
            "/workflows/orders",
            "/workflows/definitions/a",
            "/",
        ] {
            assert!(!is_studios(other), "{other}");
        }
    }
}
