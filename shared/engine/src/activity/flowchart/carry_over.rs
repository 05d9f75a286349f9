//! What a flowchart remembers, for another version of it: activities and connections are found by their names.

use super::plan::{Connection, Flowchart};
use super::{FlowMemory, Token};
use crate::activity::Versions;

impl Flowchart {
    pub(super) fn carry_flow(
        &self,
        from: &Self,
        memory: &FlowMemory,
        versions: Versions<'_>,
    ) -> Option<FlowMemory> {
        let place_of = |node| self.place_of(versions.find(node).ok()?);
        let places: Vec<Option<usize>> = from.activities.iter().copied().map(place_of).collect();
        let moved = |place: u32| places.get(place as usize).copied().flatten();
        let start = moved(memory.start).or(self.default_start)?;
        let mut carried = FlowMemory {
            start: u32::try_from(start).ok()?,
            has_tokens: memory.has_tokens,
            tokens: memory
                .tokens
                .iter()
                .filter_map(|token| {
                    Some(Token {
                        from: u32::try_from(moved(token.from)?).ok()?,
                        to: u32::try_from(moved(token.to)?).ok()?,
                        ..token.clone()
                    })
                })
                .collect(),
            ..FlowMemory::default()
        };
        if !memory.has_tokens {
            carried.activities = vec![0; self.activities.len()];
            for (place, visits) in places.iter().zip(&memory.activities) {
                if let Some(here) = place.and_then(|p| carried.activities.get_mut(p)) {
                    *here = *visits;
                }
            }
            let known = |connection: &Connection| {
                let is_it = |old: &Connection| {
                    places.get(old.source) == Some(&Some(connection.source))
                        && places.get(old.target) == Some(&Some(connection.target))
                        && old.port == connection.port
                };
                let number = from.connections.iter().position(is_it)?;
                memory.connections.get(number).copied()
            };
            let states: Vec<_> = self.connections.iter().map(known).collect();
            let is_new = |place| !places.contains(&Some(place));
            self.pass_new(&mut carried, &states, is_new);
        }
        Some(carried)
    }

    /// Counts what is new and lies before the place where the instance stands as passed. Else whatever it leads to
    /// would wait for it for ever.
    fn pass_new(
        &self,
        memory: &mut FlowMemory,
        states: &[Option<(u32, bool)>],
        is_new: impl Fn(usize) -> bool,
    ) {
        let visits = |memory: &FlowMemory, place: usize| memory.activities.get(place).copied();
        loop {
            memory.connections = states
                .iter()
                .zip(&self.connections)
                .map(|(known, connection)| {
                    let source = visits(memory, connection.source).unwrap_or(0);
                    known.unwrap_or((source, source > 0))
                })
                .collect();
            let Some(plan) = self.plan(memory.start as usize) else {
                return;
            };
            let is_passed = |place: &usize| {
                let inbound = plan.inbound.get(*place).map_or(&[][..], Vec::as_slice);
                let mut states = inbound.iter().map(|n| memory.connections.get(*n));
                is_new(*place)
                    && visits(memory, *place) == Some(0)
                    && !inbound.is_empty()
                    && states.all(|state| state.is_some_and(|(visits, _)| *visits > 0))
            };
            let passed: Vec<usize> = (0..self.activities.len()).filter(is_passed).collect();
            if passed.is_empty() {
                return;
            }
            for place in passed {
                if let Some(visits) = memory.activities.get_mut(place) {
                    *visits = 1;
                }
            }
        }
    }
}
