//! Composite formats: `"{0} of {1:N2}"`.

/// A part of a composite format.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Part<'a> {
    /// Text as it is.
    Text(&'a str),
    /// The argument of that index, its format and its width (negative: left-aligned).
    Item {
        index: usize,
        format: &'a str,
        width: i32,
    },
}

/// The parts of a composite format. Braces that mean nothing are text.
pub(crate) fn format_parts(format: &str) -> Vec<Part<'_>> {
    let mut parts = Vec::new();
    let mut rest = format;
    while let Some(at) = rest.find(['{', '}']) {
        let (before, from) = rest.split_at(at);
        parts.push(Part::Text(before));
        let (length, part) = if from.starts_with("{{") || from.starts_with("}}") {
            (2, Part::Text(from.get(..1).unwrap_or("")))
        } else if let Some((length, item)) = item(from) {
            (length, item)
        } else {
            (1, Part::Text(from.get(..1).unwrap_or("")))
        };
        parts.push(part);
        rest = from.get(length..).unwrap_or("");
    }
    parts.push(Part::Text(rest));
    parts.retain(|part| *part != Part::Text(""));
    parts
}

fn item(from: &str) -> Option<(usize, Part<'_>)> {
    let end = from.find('}')?;
    let inside = from.get(1..end)?;
    let (place, format) = inside.split_once(':').unwrap_or((inside, ""));
    let (index, width) = place.split_once(',').unwrap_or((place, "0"));
    let (index, width) = (index.trim().parse().ok()?, width.trim().parse().ok()?);
    Some((
        end + 1,
        Part::Item {
            index,
            format,
            width,
        },
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_and_doubled_braces_are_told_apart() {
        let parts = format_parts("{0} {{x}} {1,-5:N2}{y}");
        let expected = [
            Part::Item {
                index: 0,
                format: "",
                width: 0,
            },
            Part::Text(" "),
            Part::Text("{"),
            Part::Text("x"),
            Part::Text("}"),
            Part::Text(" "),
            Part::Item {
                index: 1,
                format: "N2",
                width: -5,
            },
            Part::Text("{"),
            Part::Text("y"),
            Part::Text("}"),
        ];
        assert_eq!(parts, expected);
    }
}
