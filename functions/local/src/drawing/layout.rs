//! Places of boxes: the designer's where every box has one, else columns by distance from the start.

use std::collections::BTreeMap;

use super::Picture;

pub(super) const WIDTH: f64 = 180.0;
pub(super) const HEIGHT: f64 = 50.0;
const GAP_X: f64 = 80.0;
const GAP_Y: f64 = 30.0;
const MARGIN: f64 = 20.0;

/// The upper left corner of each box, and the size of the whole.
pub(super) fn layout(picture: &Picture) -> (Vec<(f64, f64)>, (f64, f64)) {
    let drawn: Option<Vec<(f64, f64)>> = picture.boxes.iter().map(|one| one.place).collect();
    let mut places = drawn.unwrap_or_else(|| columns(picture));
    let least = |of: fn(&(f64, f64)) -> f64| places.iter().map(of).fold(f64::INFINITY, f64::min);
    let (left, top) = (least(|p| p.0), least(|p| p.1));
    for place in &mut places {
        *place = (place.0 - left + MARGIN, place.1 - top + MARGIN);
    }
    let most = |of: fn(&(f64, f64)) -> f64| places.iter().map(of).fold(0.0, f64::max);
    let size = (
        most(|p| p.0) + WIDTH + MARGIN,
        most(|p| p.1) + HEIGHT + MARGIN,
    );
    (places, size)
}

/// Columns by the longest way from a box without arrows to it. Arrows that lead back count as none.
fn columns(picture: &Picture) -> Vec<(f64, f64)> {
    let count = picture.boxes.len();
    let mut columns = vec![0_usize; count];
    for _ in 0..count {
        let mut is_changed = false;
        for arrow in picture.arrows.iter().filter(|a| a.from < a.to) {
            let wanted = columns.get(arrow.from).map_or(0, |column| column + 1);
            if let Some(column) = columns.get_mut(arrow.to).filter(|c| **c < wanted) {
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
