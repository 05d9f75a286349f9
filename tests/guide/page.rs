//! Fenced blocks of a Markdown page, and the comparison of output with the output that a page shows.

/// One fenced block.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Block {
    /// Text after the opening fence, such as `sh` or `sh,no-run`.
    pub(crate) info: String,
    /// Content, without the fences.
    pub(crate) text: String,
    /// Line number of the opening fence, from 1.
    pub(crate) line: usize,
}

/// Fenced blocks of a page, in their order.
pub(crate) fn blocks(page: &str) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut open: Option<Block> = None;
    for (number, line) in (1..).zip(page.lines()) {
        match (line.strip_prefix("```"), open.take()) {
            (Some(_), Some(block)) => blocks.push(block),
            (Some(info), None) => {
                open = Some(Block {
                    info: info.to_owned(),
                    text: String::new(),
                    line: number,
                });
            }
            (None, Some(mut block)) => {
                block.text.push_str(line);
                block.text.push('\n');
                open = Some(block);
            }
            (None, None) => {}
        }
    }
    assert!(open.is_none(), "a block is not closed: {open:?}");
    blocks
}

/// Compares output with its description. `…` stands for any text of a line, and a line that consists of `…` for any number of
/// lines.
pub(crate) fn matches(output: &[&str], shown: &[&str]) -> bool {
    match (output, shown) {
        ([], []) => true,
        (_, ["…", rest @ ..]) => (0..=output.len()).any(|n| matches(&output[n..], rest)),
        ([line, more @ ..], [first, rest @ ..]) => line_matches(line, first) && matches(more, rest),
        ([], [_, ..]) | ([_, ..], []) => false,
    }
}

fn line_matches(line: &str, shown: &str) -> bool {
    match shown.split_once('…') {
        None => line.trim_end() == shown.trim_end(),
        Some((before, after)) => line.strip_prefix(before).is_some_and(|rest| {
            let ends = rest.char_indices().map(|(at, _)| at).chain([rest.len()]);
            ends.into_iter().any(|at| line_matches(&rest[at..], after))
        }),
    }
}

#[test]
fn blocks_have_their_info_and_their_line() {
    let found = blocks("a\n```sh\nls\n```\n\n```text\nx\ny\n```\n");
    let lines: Vec<_> = found.iter().map(|b| (&*b.info, b.line)).collect();
    assert_eq!(lines, [("sh", 2), ("text", 6)]);
    assert_eq!(found[1].text, "x\ny\n");
}

#[test]
fn output_matches_only_what_is_shown() {
    let output = ["Started 1f (hello version 1)", "Status: Finished", "end"];
    assert!(matches(&output, &["Started … (hello version 1)", "…"]));
    assert!(matches(&output, &["…", "end"]));
    assert!(!matches(&output, &["Started … (hello version 2)", "…"]));
    assert!(!matches(&output, &["…", "Status: Finished"]));
    assert!(!matches(&output, &["Started …"]));
}
