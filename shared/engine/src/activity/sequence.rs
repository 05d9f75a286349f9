//! `Elsa.Sequence`: one activity after the other.

use std::any::Any;

use super::{Activity, BuiltIn, Descriptor, Versions};
use crate::graph::NodeIndex;
use crate::instance::Memory;
use crate::step::{Cx, Ended, Fault, Then};

#[derive(Debug)]
struct Sequence {
    activities: Vec<NodeIndex>,
}

pub(crate) fn built_in() -> BuiltIn {
    BuiltIn {
        descriptor: Descriptor::new("Elsa.Sequence", "Workflows", "Runs activities in order.")
            .container(),
        build: |builder, fields| {
            Box::new(Sequence {
                activities: builder.children(fields, "activities"),
            })
        },
    }
}

impl Sequence {
    /// Runs the activity at the remembered place.
    fn go_on(&self, cx: &mut Cx<'_, '_>) -> Then {
        let place = cx.count();
        match usize::try_from(place)
            .ok()
            .and_then(|p| self.activities.get(p))
        {
            Some(next) => {
                cx.set_count(place + 1);
                cx.schedule(*next);
                Then::Wait
            }
            None => Then::DONE,
        }
    }
}

impl Activity for Sequence {
    fn execute(&self, cx: &mut Cx<'_, '_>) -> Result<Then, Fault> {
        Ok(self.go_on(cx))
    }

    fn child_ended(&self, cx: &mut Cx<'_, '_>, child: &Ended) -> Result<Then, Fault> {
        if cx.is_broken() || cx.graph().node(child.node).activity.is_terminal() {
            return Ok(Then::DONE);
        }
        Ok(self.go_on(cx))
    }

    /// One at a time: it goes on behind this one.
    fn run_child(&self, cx: &mut Cx<'_, '_>, child: NodeIndex) -> bool {
        let place = self.activities.iter().position(|a| *a == child);
        let Some(next) = place.and_then(|p| i64::try_from(p + 1).ok()) else {
            return false;
        };
        if cx.children_open() > 0 {
            return false;
        }
        cx.set_count(next);
        cx.schedule(child);
        true
    }

    fn carry_over(
        &self,
        from: &dyn Activity,
        memory: Memory,
        versions: Versions<'_>,
    ) -> Option<Memory> {
        let from = (from as &dyn Any).downcast_ref::<Self>()?;
        let Memory::Count(next @ 1..) = memory else {
            return Some(memory);
        };
        let last = from.activities.get(usize::try_from(next - 1).ok()?)?;
        let last = versions.find(*last).ok()?;
        let place = self.activities.iter().position(|a| *a == last)?;
        Some(Memory::Count(i64::try_from(place + 1).ok()?))
    }

    fn is_container(&self) -> bool {
        true
    }
}
