//! Pictures as Mermaid text, which many tools for documents render.

use std::fmt::Write;

use dormouse_drawing::{Picture, State};

/// The picture as a Mermaid flowchart.
pub(crate) fn mermaid(picture: &Picture) -> String {
    let mut out = String::from("flowchart LR\n");
    for (index, one) in picture.nodes.iter().enumerate() {
        let class = match one.state == State::Idle {
            true => String::new(),
            false => format!(":::{}", one.state.name()),
        };
        let _infallible = writeln!(out, "  n{index}[\"{}\"]{class}", escape(&one.name));
    }
    for arrow in &picture.arrows {
        let line = if arrow.is_inner { "-.->" } else { "-->" };
        let label = match arrow.label.as_str() {
            "" => String::new(),
            label => format!("|\"{}\"|", escape(label)),
        };
        let _infallible = writeln!(out, "  n{} {line}{label} n{}", arrow.from, arrow.to);
    }
    for (state, style) in [
        (State::Done, "fill:#d8f3dc,stroke:#2d6a4f,color:#081c15"),
        (State::Running, "fill:#fff3c4,stroke:#b7791f,color:#3d2c00"),
        (State::Failed, "fill:#ffd6d6,stroke:#c53030,color:#3b0000"),
        (
            State::Cancelled,
            "fill:#e9d8fd,stroke:#6b46c1,color:#22005c",
        ),
    ] {
        let _infallible = writeln!(out, "  classDef {} {style}", state.name());
    }
    out
}

/// Text within quotes; Mermaid has entities for what would end it.
fn escape(text: &str) -> String {
    text.chars()
        .map(|c| match c {
            '"' => "#quot;".to_owned(),
            '<' => "#lt;".to_owned(),
            '>' => "#gt;".to_owned(),
            '#' => "#35;".to_owned(),
            c if c.is_control() => " ".to_owned(),
            c => c.to_string(),
        })
        .collect()
}
