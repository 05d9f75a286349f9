//! Pictures as SVG, without anything from elsewhere.

use std::fmt::Write;

use dormouse_drawing::{HEIGHT, Layout, Picture, WIDTH};

use crate::xml::escape;

const STYLE: &str = "\
text { font: 13px system-ui, sans-serif; fill: #1a202c }
.kind, .label { font-size: 11px; fill: #4a5568 }
.label { paint-order: stroke; stroke: #fff; stroke-width: 3px }
.box { fill: #f7fafc; stroke: #a0aec0; stroke-width: 1.5 }
.done { fill: #d8f3dc; stroke: #2d6a4f }
.running { fill: #fff3c4; stroke: #b7791f }
.failed { fill: #ffd6d6; stroke: #c53030 }
.cancelled { fill: #e9d8fd; stroke: #6b46c1 }
.arrow { fill: none; stroke: #718096; stroke-width: 1.5 }
.inner { stroke-dasharray: 4 3 }";

/// Characters of a name that fit into a box.
const NAME_MAX: usize = 24;

/// The picture as an SVG document.
pub(crate) fn svg(picture: &Picture) -> String {
    let Layout {
        places,
        size: (width, height),
    } = Layout::of(picture);
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width:.0}\" height=\"{height:.0}\" viewBox=\"0 0 {width:.0} {height:.0}\">\n\
         <style>\n{STYLE}\n</style>\n\
         <defs><marker id=\"end\" viewBox=\"0 0 8 8\" refX=\"8\" refY=\"4\" markerWidth=\"8\" markerHeight=\"8\" orient=\"auto\">\
         <path d=\"M0 0L8 4L0 8z\" fill=\"#718096\"/></marker></defs>\n"
    );
    for arrow in &picture.arrows {
        let (Some(from), Some(to)) = (places.get(arrow.from), places.get(arrow.to)) else {
            continue;
        };
        let (x1, y1) = (from.0 + WIDTH, from.1 + HEIGHT / 2.0);
        let (x2, y2) = (to.0, to.1 + HEIGHT / 2.0);
        let bend = ((x2 - x1).abs() / 2.0).max(30.0);
        let class = if arrow.is_inner {
            "arrow inner"
        } else {
            "arrow"
        };
        let _infallible = writeln!(
            out,
            "<path class=\"{class}\" d=\"M{x1:.0} {y1:.0}C{:.0} {y1:.0} {:.0} {y2:.0} {x2:.0} {y2:.0}\" marker-end=\"url(#end)\"/>",
            x1 + bend,
            x2 - bend
        );
        if !arrow.label.is_empty() {
            let (x, y) = (f64::midpoint(x1, x2), f64::midpoint(y1, y2) - 4.0);
            let label = escape(&arrow.label);
            let _infallible = writeln!(
                out,
                "<text class=\"label\" x=\"{x:.0}\" y=\"{y:.0}\" text-anchor=\"middle\">{label}</text>"
            );
        }
    }
    for (one, (x, y)) in picture.nodes.iter().zip(&places) {
        let state = one.state.name();
        let _infallible = writeln!(
            out,
            "<g><title>{}: {state}</title><rect class=\"box {state}\" x=\"{x:.0}\" y=\"{y:.0}\" width=\"{WIDTH}\" height=\"{HEIGHT}\" rx=\"6\"/>\
             <text x=\"{:.0}\" y=\"{:.0}\">{}</text><text class=\"kind\" x=\"{:.0}\" y=\"{:.0}\">{}</text></g>",
            escape(&one.id),
            x + 10.0,
            y + 21.0,
            escape(&cut(&one.name)),
            x + 10.0,
            y + 38.0,
            escape(&cut(&one.kind)),
        );
    }
    out.push_str("</svg>\n");
    out
}

fn cut(text: &str) -> String {
    match text.chars().count() {
        count if count > NAME_MAX => {
            let cut: String = text.chars().take(NAME_MAX - 1).collect();
            format!("{cut}…")
        }
        _ => text.to_owned(),
    }
}
