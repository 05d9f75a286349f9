//! Places of boxes: the designer's where the outermost container has them, else columns by distance from the start.
//!
//! An activity inside another one has no place on the designer's canvas, which shows one container at a time. What is
//! inside a box is drawn below the canvas, under that box.

use std::collections::BTreeMap;
use std::ops::Range;

use crate::Picture;

/// Width of a box.
pub const WIDTH: f64 = 180.0;
/// Height of a box.
pub const HEIGHT: f64 = 50.0;
const GAP_X: f64 = 80.0;
const GAP_Y: f64 = 30.0;
const MARGIN: f64 = 20.0;

/// Where a picture's boxes are drawn.
#[derive(Debug, Clone)]
pub struct Layout {
    /// The upper left corner of each box, in the order of the nodes.
    pub places: Vec<(f64, f64)>,
    /// Width and height of the whole.
    pub size: (f64, f64),
}

impl Layout {
    /// The layout of a picture.
    #[must_use]
    pub fn of(picture: &Picture) -> Self {
        let mut places =
            designed(picture).unwrap_or_else(|| columns(picture, 0..picture.nodes.len()));
        let least =
            |of: fn(&(f64, f64)) -> f64| places.iter().map(of).fold(f64::INFINITY, f64::min);
        let (left, top) = (least(|p| p.0), least(|p| p.1));
        for place in &mut places {
            *place = (place.0 - left + MARGIN, place.1 - top + MARGIN);
        }
        let most = |of: fn(&(f64, f64)) -> f64| places.iter().map(of).fold(0.0, f64::max);
        let size = (
            most(|p| p.0) + WIDTH + MARGIN,
            most(|p| p.1) + HEIGHT + MARGIN,
        );
        Self { places, size }
    }
}

/// The designer's places. `None`: an activity of the outermost container has none.
fn designed(picture: &Picture) -> Option<Vec<(f64, f64)>> {
    let outermost = picture.nodes.iter().map(|node| node.depth).min()?;
    // Nodes are in depth-first order: what is inside a box follows it.
    let nodes = picture.nodes.iter().enumerate();
    let tops = nodes.filter(|(_, node)| node.depth == outermost);
    let tops: Option<Vec<(usize, (f64, f64))>> = tops
        .map(|(index, node)| Some((index, node.place?)))
        .collect();
    let tops = tops?;
    let lowest = tops
        .iter()
        .map(|(_, place)| place.1)
        .fold(f64::NEG_INFINITY, f64::max);
    let mut next = lowest + HEIGHT + 2.0 * GAP_Y;
    let mut places = Vec::with_capacity(picture.nodes.len());
    let ends = tops.iter().skip(1).map(|(index, _)| *index);
    for ((index, place), end) in tops.iter().zip(ends.chain([picture.nodes.len()])) {
        places.push(*place);
        let inside = columns(picture, index + 1..end);
        let height = inside
            .iter()
            .map(|p| p.1 + HEIGHT + 2.0 * GAP_Y)
            .fold(0.0, f64::max);
        places.extend(inside.iter().map(|p| (place.0 + p.0, next + p.1)));
        next += height;
    }
    Some(places)
}

/// Columns by the longest way from a box without arrows to it. Arrows that lead back count as none.
fn columns(picture: &Picture, range: Range<usize>) -> Vec<(f64, f64)> {
    let inside = |arrow: &&crate::Arrow| range.contains(&arrow.from) && range.contains(&arrow.to);
    let arrows: Vec<_> = picture
        .arrows
        .iter()
        .filter(inside)
        .filter(|a| a.from < a.to)
        .collect();
    let mut columns = vec![0_usize; range.len()];
    for _ in 0..range.len() {
        let mut is_changed = false;
        for arrow in &arrows {
            let wanted = columns
                .get(arrow.from - range.start)
                .map_or(0, |column| column + 1);
            if let Some(column) = columns
                .get_mut(arrow.to - range.start)
                .filter(|c| **c < wanted)
            {
                *column = wanted;
                is_changed = true;
            }
        }
        if !is_changed {
            break;
        }
    }
    let mut rows: BTreeMap<usize, u32> = BTreeMap::new();
    let place = |column: usize| {
        let row = rows.entry(column).or_default();
        let y = f64::from(*row) * (HEIGHT + GAP_Y);
        *row += 1;
        let column = u32::try_from(column).unwrap_or(u32::MAX);
        (f64::from(column) * (WIDTH + GAP_X), y)
    };
    columns.into_iter().map(place).collect()
}
