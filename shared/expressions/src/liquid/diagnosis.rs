//! What Fluid says of a template that cannot be parsed: its sentence, the place, and the line.

use super::expression::Reader;

/// The text that stands for the template. `fallback` is what our own parser says, where Fluid's sentence is not known.
pub(super) fn text(source: &str, fallback: &str, line: Option<u32>) -> String {
    let found = first_problem(source);
    let (message, at, shows_source) = found.unwrap_or_else(|| {
        let line = usize::try_from(line.unwrap_or(1)).unwrap_or(1);
        let at = source
            .split_inclusive('\n')
            .take(line - 1)
            .map(str::len)
            .sum();
        (fallback.to_owned(), at, true)
    });
    let before = source.get(..at).unwrap_or(source);
    let row = before.matches('\n').count() + 1;
    let begin = before.rfind('\n').map_or(0, |newline| newline + 1);
    let column = before.get(begin..).unwrap_or_default().chars().count() + 1;
    if !shows_source {
        return format!("\n{message} at ({row}:{column})\n");
    }
    let shown = source
        .get(begin..)
        .unwrap_or_default()
        .lines()
        .next()
        .unwrap_or_default();
    format!("\n{message} at ({row}:{column})\nSource:\n{shown}\n")
}

/// A sentence, the byte it is about, and whether the line is shown.
type Problem = (String, usize, bool);

const TAGS: [&str; 24] = [
    "assign",
    "capture",
    "case",
    "comment",
    "cycle",
    "decrement",
    "echo",
    "else",
    "elsif",
    "when",
    "if",
    "include",
    "increment",
    "for",
    "liquid",
    "raw",
    "render",
    "unless",
    "break",
    "continue",
    "endif",
    "endfor",
    "endcase",
    "endcapture",
];

fn first_problem(source: &str) -> Option<Problem> {
    let mut at = 0;
    let mut open: Vec<&str> = Vec::new();
    while let Some(found) = source.get(at..)?.find(['{']) {
        at += found;
        let rest = source.get(at..)?;
        let is_output = rest.starts_with("{{");
        if !is_output && !rest.starts_with("{%") {
            at += 1;
            continue;
        }
        let closing = if is_output { "}}" } else { "%}" };
        let inside = rest.get(2..)?;
        let end = inside.find(closing).unwrap_or(inside.len());
        let begin = at + 2;
        let text = inside.get(..end)?;
        let problem = if is_output {
            output(text, begin, closing)
        } else {
            tag(text, begin, &mut open)
        };
        if problem.is_some() {
            return problem;
        }
        at = begin + end + 2;
        if text.trim().trim_matches('-').trim() == "raw" {
            let Some(close) = source.get(at..).and_then(|rest| rest.find("endraw")) else {
                let place = begin + text.trim_end().len();
                return Some(("Not end tag found for {% raw %}".into(), place, true));
            };
            at += close;
        }
    }
    None
}

fn output(text: &str, begin: usize, closing: &str) -> Option<Problem> {
    let begin = begin + usize::from(text.starts_with('-'));
    let text = text.trim_matches('-');
    if parses(text) {
        return None;
    }
    // The longest beginning that is a value with filters.
    let ends = text.char_indices().map(|(at, _)| at).rev();
    let longest = ends.filter(|at| is_boundary(text, *at)).find(|at| {
        let prefix = text.get(..*at).unwrap_or_default();
        !prefix.trim().is_empty() && parses(prefix)
    });
    let Some(longest) = longest else {
        return Some(("A value was expected".into(), begin, true));
    };
    let prefix = text.get(..longest)?.trim_end();
    let rest = text.get(prefix.len()..)?;
    if let Some(filter) = rest.trim_start().strip_prefix('|')
        && !filter.trim_start().starts_with(|c: char| c.is_alphabetic())
    {
        let place = begin + text.len() - filter.len();
        return Some((
            "An identifier was expected after the '|' sign".into(),
            place,
            true,
        ));
    }
    let message = format!("End of tag '{closing}' was expected");
    Some((message, begin + prefix.len(), true))
}

fn parses(text: &str) -> bool {
    Reader::new(text, 1).is_ok_and(|mut reader| reader.pipeline().is_ok())
}

/// Whether a word does not go on at a place.
fn is_boundary(text: &str, at: usize) -> bool {
    let (before, after) = text.split_at_checked(at).unwrap_or((text, ""));
    let is_word = |c: char| c.is_alphanumeric() || c == '_' || c == '.';
    !(before.ends_with(is_word) && after.starts_with(is_word))
}

fn tag<'a>(text: &'a str, begin: usize, open: &mut Vec<&'a str>) -> Option<Problem> {
    let trimmed = text.trim_matches('-').trim();
    if trimmed.is_empty() {
        return Some(("An identifier was expected after '{%'".into(), begin, true));
    }
    let length = trimmed.find(|c: char| !c.is_alphanumeric() && c != '_');
    let (name, rest) = trimmed.split_at(length.unwrap_or(trimmed.len()));
    let after_name = begin + text.find(name)? + name.len();
    if let Some(opened) = name.strip_prefix("end") {
        return match open.pop() {
            Some(last) if last == opened => None,
            _ => Some((format!("Unknown tag '{name}'"), after_name, false)),
        };
    }
    if !TAGS.contains(&name) && !name.is_empty() && !name.starts_with('#') {
        return Some((format!("Unknown tag '{name}'"), after_name, false));
    }
    if matches!(name, "if" | "for" | "case" | "unless" | "capture") {
        open.push(name);
    }
    let rest = rest.trim();
    let invalid = || Some((format!("Invalid '{name}' tag"), after_name, true));
    match name {
        "if" | "unless" | "elsif" | "case" if rest.is_empty() || rest.starts_with("not ") => {
            invalid()
        }
        "if" | "unless" | "elsif" if rest.starts_with('(') && !rest.contains("..") => {
            let close = text.find(')')? + 1;
            let message = "Parentheses are not allowed in order to group expressions. To enable the feature use the \
                 'AllowParentheses' option.";
            Some((message.into(), begin + close, true))
        }
        "for" => {
            let (_, source) = rest.split_once(" in").unwrap_or((rest, ""));
            if source.trim().is_empty() {
                invalid()
            } else {
                None
            }
        }
        "assign" => {
            let word = rest.find(|c: char| !c.is_alphanumeric() && c != '_' && c != '-');
            let word = rest.get(..word.unwrap_or(rest.len())).unwrap_or_default();
            if word.is_empty() {
                let message = "An identifier was expected after the 'assign' tag";
                return Some((message.into(), after_name, true));
            }
            let after = rest.get(word.len()..).unwrap_or_default();
            if after.trim_start().starts_with('=') {
                return None;
            }
            let place = begin + text.find(rest)? + word.len();
            let message = "'=' was expected after the identifier of 'assign'";
            Some((message.into(), place, true))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use crate::liquid::Template;
    use crate::liquid::node::Node;

    #[test]
    fn a_broken_template_says_what_fluid_says() {
        let cases = [
            ("{{ ", "A value was expected at (1:3)"),
            ("{{ x && y }}", "End of tag '}}' was expected at (1:5)"),
            (
                "{{ \"x\" | date: }}",
                "End of tag '}}' was expected at (1:14)",
            ),
            (
                "{{ x | }}",
                "An identifier was expected after the '|' sign at (1:7)",
            ),
            ("{% if %}x{% endif %}", "Invalid 'if' tag at (1:6)"),
            ("{% for x in %}{% endfor %}", "Invalid 'for' tag at (1:7)"),
            (
                "{% assign %}",
                "An identifier was expected after the 'assign' tag at (1:10)",
            ),
        ];
        for (source, message) in cases {
            let template = Template::new(source).unwrap();
            let expected = format!("\n{message}\nSource:\n{source}\n");
            assert!(
                matches!(&template.nodes[..], [Node::Text(text)] if *text == expected),
                "{source}: {:?}",
                template.nodes
            );
        }
    }
}
