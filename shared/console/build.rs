//! Renders the guide (`shared/guide`) to HTML, so that the console can serve it.
//!
//! Links to other pages become addresses below `/guide/`. Links out of the guide lead to files of the repository, which the console does not
//! have; only their text remains.

use std::collections::BTreeMap;
use std::error::Error;
use std::fmt::Write as _;
use std::path::{Component, Path, PathBuf};
use std::{env, fs};

use pulldown_cmark::{CowStr, Event, HeadingLevel, Options, Parser, Tag, TagEnd, html};

/// Text around the content of a page.
const TEMPLATE: &str = r##"<!DOCTYPE html>
<html lang="en">
<head>
  <meta charset="utf-8">
  <meta name="viewport" content="width=device-width, initial-scale=1">
  <meta name="color-scheme" content="light dark">
  <title>@TITLE@ · Dormouse</title>
  <link rel="icon" href="/console/icon.svg" type="image/svg+xml">
  <link rel="stylesheet" href="/console/bar.css">
  <link rel="stylesheet" href="/console/style.css">
  <link rel="stylesheet" href="/console/guide.css">
</head>
<body>
  <a class="skip" href="#main">Skip to content</a>
  <header id="bar"><a class="name" href="/"><img src="/console/icon.svg" alt="">Dormouse</a></header>
  <div class="guide">
    <nav aria-label="Guide">@BOOK@</nav>
    <main id="main" tabindex="-1">@CONTENT@</main>
  </div>
</body>
</html>
"##;

fn main() -> Result<(), Box<dyn Error>> {
    let root = PathBuf::from(env::var("CARGO_MANIFEST_DIR")?).join("../guide/src");
    println!("cargo::rerun-if-changed={}", root.display());
    let mut pages = BTreeMap::new();
    read(&root, Path::new(""), &mut pages)?;
    let summary = pages.remove(Path::new("SUMMARY.md"));
    let summary = summary.ok_or("the guide has no SUMMARY.md")?;
    let book = render(&summary, Path::new("SUMMARY.md"), &pages).content;
    let mut list = String::from("&[\n");
    for (path, text) in &pages {
        let rendered = render(text, path, &pages);
        let page = TEMPLATE
            .replace("@TITLE@", &escaped(&rendered.title))
            .replace("@BOOK@", &book)
            .replace("@CONTENT@", &rendered.content);
        writeln!(list, "    ({:?}, {page:?}),", address(path))?;
    }
    list.push_str("]\n");
    fs::write(Path::new(&env::var("OUT_DIR")?).join("guide.rs"), list)?;
    Ok(())
}

/// Reads the pages below a folder by their paths.
fn read(
    root: &Path,
    below: &Path,
    pages: &mut BTreeMap<PathBuf, String>,
) -> Result<(), Box<dyn Error>> {
    for entry in fs::read_dir(root.join(below))? {
        let path = below.join(entry?.file_name());
        let full = root.join(&path);
        if full.is_dir() {
            println!("cargo::rerun-if-changed={}", full.display());
            read(root, &path, pages)?;
        } else if path.extension().is_some_and(|e| e == "md") {
            println!("cargo::rerun-if-changed={}", full.display());
            pages.insert(path, fs::read_to_string(&full)?);
        }
    }
    Ok(())
}

/// Address of a page: `/guide` for the index.
fn address(path: &Path) -> String {
    let name = path.with_extension("");
    let name = name.to_string_lossy().replace('\\', "/");
    match name.as_str() {
        "index" => "/guide".to_owned(),
        name => format!("/guide/{name}"),
    }
}

/// A page as HTML.
struct Rendered {
    title: String,
    content: String,
}

fn render(text: &str, path: &Path, pages: &BTreeMap<PathBuf, String>) -> Rendered {
    let parser = Parser::new_ext(text, Options::ENABLE_TABLES);
    let mut events: Vec<Event<'_>> = parser.collect();
    let is_book = path == Path::new("SUMMARY.md");
    let mut title = String::new();
    let mut is_dead = false;
    for at in 0..events.len() {
        let name = heading(events.get(at + 1..).unwrap_or_default());
        let Some(event) = events.get_mut(at) else {
            continue;
        };
        if let Event::Start(Tag::Heading { level, id, .. }) = event {
            if *level == HeadingLevel::H1 {
                title.clone_from(&name);
            }
            // The book stands on every page, beside headings of the same names.
            *id = (!is_book).then(|| CowStr::from(anchor(&name)));
        } else if let Event::Start(Tag::Link { dest_url, .. }) = event {
            if let Some(url) = target(dest_url, path, pages) {
                *dest_url = url.into();
            } else {
                is_dead = true;
                *event = Event::Text("".into());
            }
        } else if is_dead && matches!(event, Event::End(TagEnd::Link)) {
            is_dead = false;
            *event = Event::Text("".into());
        }
    }
    let mut content = String::new();
    html::push_html(&mut content, events.into_iter());
    let content = content
        .replace("<table>", "<div class=\"scroll\"><table>")
        .replace("</table>", "</table></div>");
    Rendered { title, content }
}

/// Text of the heading that the events begin with.
fn heading(events: &[Event<'_>]) -> String {
    let inside = events
        .iter()
        .take_while(|event| !matches!(event, Event::End(TagEnd::Heading(_))));
    let mut name = String::new();
    for event in inside {
        if let Event::Text(text) | Event::Code(text) = event {
            name.push_str(text);
        }
    }
    name
}

/// Anchor of a heading, as GitHub and mdBook make it.
fn anchor(heading: &str) -> String {
    let letters = heading.to_lowercase();
    let kept = letters
        .chars()
        .filter(|c| c.is_alphanumeric() || matches!(c, '-' | '_' | ' '));
    kept.map(|c| if c == ' ' { '-' } else { c }).collect()
}

/// Address of a link. `None`: a file that the console does not have.
fn target(url: &str, from: &Path, pages: &BTreeMap<PathBuf, String>) -> Option<String> {
    if url.contains("://") || url.starts_with('#') {
        return Some(url.to_owned());
    }
    let (name, fragment) = url.split_once('#').unwrap_or((url, ""));
    let mut path = from.parent().unwrap_or(Path::new("")).to_owned();
    for part in Path::new(name).components() {
        match part {
            Component::ParentDir => {
                if !path.pop() {
                    return None;
                }
            }
            Component::Normal(part) => path.push(part),
            Component::CurDir | Component::RootDir | Component::Prefix(_) => {}
        }
    }
    pages.contains_key(&path).then(|| {
        let hash = if fragment.is_empty() { "" } else { "#" };
        format!("{}{hash}{fragment}", address(&path))
    })
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;")
}
