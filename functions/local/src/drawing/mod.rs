//! Formats of pictures: SVG and Mermaid.

mod mermaid;
mod svg;

pub(crate) use mermaid::mermaid;
pub(crate) use svg::svg;

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use dormouse_drawing::{Picture, State};
    use serde_json::json;

    use super::*;

    fn picture() -> Picture {
        let root = json!({ "type": "Elsa.Flowchart", "id": "flow", "activities": [
            { "type": "Elsa.WriteLine", "id": "a", "name": "Ask \"x\" <now>" },
            { "type": "Elsa.FlowDecision", "id": "b", "metadata": { "designer": { "position": { "x": 10, "y": -5.5 } } } },
            { "type": "Elsa.ForEach", "id": "c", "body": { "type": "Elsa.Sequence", "id": "s", "activities": [
                { "type": "Elsa.WriteLine", "id": "d" }, { "type": "Elsa.WriteLine", "id": "e" } ] } },
        ], "connections": [
            { "source": { "activity": "a", "port": "Done" }, "target": { "activity": "b" } },
            { "source": { "activity": "b", "port": "True" }, "target": { "activity": "c" } },
            { "source": { "activity": "b", "port": "False" }, "target": { "activity": "a" } },
            { "source": { "activity": "b" }, "target": { "activity": "missing" } },
        ] });
        let states = [("a", State::Done), ("b", State::Failed)];
        let states = states.map(|(id, state)| (id.to_owned(), state));
        Picture::of(&root, &BTreeMap::from(states))
    }

    #[test]
    fn mermaid_has_every_activity_connection_and_state() {
        let text = mermaid(&picture());
        for line in [
            "flowchart LR",
            "  n0[\"Ask #quot;x#quot; #lt;now#gt;\"]:::done",
            "  n1[\"b\"]:::failed",
            "  n0 --> n1",
            "  n1 -->|\"True\"| n2",
            "  n2 -.->|\"body\"| n3",
            "  n3 -.-> n4",
            "  n4 --> n5",
        ] {
            assert!(text.lines().any(|l| l == line), "no `{line}` in\n{text}");
        }
        assert!(!text.contains("missing"));
    }

    #[test]
    fn an_svg_has_every_activity_and_escapes_names() {
        let text = svg(&picture());
        assert!(
            text.starts_with("<svg ") && text.ends_with("</svg>\n"),
            "{text}"
        );
        assert!(text.contains("Ask &quot;x&quot; &lt;now&gt;"), "{text}");
        assert_eq!(text.matches("<rect class=\"box").count(), 6, "{text}");
        assert_eq!(text.matches("<path class=\"arrow").count(), 6, "{text}");
        assert_eq!(text.matches("box done").count(), 1, "{text}");
    }
}
