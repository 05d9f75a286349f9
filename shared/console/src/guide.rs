//! Pages of the guide. `build.rs` renders them from `shared/guide`.

/// Addresses and pages.
const PAGES: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/guide.rs"));

/// Page at an address: `/guide` is the first one.
pub(crate) fn page(path: &str) -> Option<&'static [u8]> {
    let path = path.strip_suffix('/').unwrap_or(path);
    let found = PAGES.iter().find(|(address, _)| *address == path);
    found.map(|(_, page)| page.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(path: &str) -> &'static str {
        std::str::from_utf8(page(path).unwrap()).unwrap()
    }

    #[test]
    fn every_link_of_a_page_leads_to_a_page_and_a_heading() {
        assert!(PAGES.len() > 20, "{} pages", PAGES.len());
        let mut count = 0;
        for (address, page) in PAGES {
            for link in page.split("href=\"").skip(1) {
                let (link, _) = link.split_once('"').unwrap();
                let (to, fragment) = link.split_once('#').unwrap_or((link, ""));
                if !to.starts_with("/guide") && !to.is_empty() {
                    continue;
                }
                let target = match to {
                    "" => page,
                    to => text(to),
                };
                let id = format!("id=\"{fragment}\"");
                assert!(
                    fragment.is_empty() || target.contains(&id),
                    "{address}: {link}"
                );
                count += 1;
            }
        }
        assert!(count > 500, "{count} links");
    }

    #[test]
    fn a_page_has_its_title_its_tables_and_the_book() {
        let page = text("/guide/how-to/deploy");
        assert!(page.contains("<title>Deploy · Dormouse</title>"));
        assert!(page.contains("<h2 id=\"containers\">Containers</h2>"));
        assert!(page.contains("<div class=\"scroll\"><table>"));
        assert!(page.contains("href=\"/guide/tutorials/order\""));
        assert!(!page.contains("href=\"../"), "a link out of the guide");
    }

    #[test]
    fn no_page_loads_or_runs_anything_of_another_origin() {
        for (address, page) in PAGES {
            for part in ["<script", "<iframe", "<img src=\"http", " style="] {
                assert!(!page.contains(part), "{address}: {part}");
            }
        }
    }

    #[test]
    fn other_addresses_are_no_pages() {
        assert!(page("/guide/").is_some());
        for other in ["/guide/nothing", "/guides", "/guide/../index.html"] {
            assert!(page(other).is_none(), "{other}");
        }
    }
}
