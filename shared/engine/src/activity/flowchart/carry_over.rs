//! What a flowchart remembers, for another version of it: activities and connections are found by their names.

use std::collections::{BTreeMap, BTreeSet};

use super::plan::Flowchart;
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
            let states = self.known_states(from, &places, memory);
            self.pass_new(&mut carried, &places, &states);
        }
        Some(carried)
    }

    /// What is remembered of each connection that the version before has too.
    fn known_states(
        &self,
        from: &Self,
        places: &[Option<usize>],
        memory: &FlowMemory,
    ) -> Vec<Option<(u32, bool)>> {
        let old = from.connections.iter().zip(&memory.connections);
        let old: BTreeMap<_, _> = old
            .filter_map(|(connection, state)| {
                let source = places.get(connection.source).copied().flatten()?;
                let target = places.get(connection.target).copied().flatten()?;
                Some(((source, target, connection.port.as_str()), *state))
            })
            .collect();
        let connections = self.connections.iter();
        connections
            .map(|c| old.get(&(c.source, c.target, c.port.as_str())).copied())
            .collect()
    }

    /// Counts what is new and lies before the place where the instance stands as passed. Else whatever it leads to
    /// would wait for it for ever.
    fn pass_new(
        &self,
        memory: &mut FlowMemory,
        places: &[Option<usize>],
        states: &[Option<(u32, bool)>],
    ) {
        let known: BTreeSet<usize> = places.iter().copied().flatten().collect();
        let FlowMemory {
            activities,
            connections,
            start,
            ..
        } = memory;
        *connections = states
            .iter()
            .zip(&self.connections)
            .map(|(state, connection)| {
                let visits = activities.get(connection.source).copied().unwrap_or(0);
                state.unwrap_or((visits, visits > 0))
            })
            .collect();
        let Some(plan) = self.plan(*start as usize) else {
            return;
        };
        let is_new = |place: &usize| !known.contains(place);
        let mut to_see: Vec<usize> = (0..self.activities.len()).filter(is_new).collect();
        while let Some(place) = to_see.pop() {
            let inbound = plan.inbound.get(place).map_or(&[][..], Vec::as_slice);
            let mut into = inbound.iter().map(|n| connections.get(*n));
            let is_passed = !inbound.is_empty()
                && into.all(|state| state.is_some_and(|(visits, _)| *visits > 0));
            let Some(visits @ 0) = activities.get_mut(place).filter(|_| is_passed) else {
                continue;
            };
            *visits = 1;
            for &number in self.outbound.get(place).into_iter().flatten() {
                if let Some(state) = connections.get_mut(number) {
                    *state = (1, true);
                }
                let target = self.connections.get(number).map(|c| c.target);
                to_see.extend(target.filter(is_new));
            }
        }
    }
}
