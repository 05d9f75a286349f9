//! `Elsa.Sequence`: one activity after the other.

use super::{Activity, BuiltIn, Descriptor};
use crate::graph::NodeIndex;
use crate::step::{Cx, Ended, Fault, Then};

#[derive(Debug)]
struct Sequence {
    activities: Vec<NodeIndex>,
}

pub(crate) fn built_in() -> BuiltIn {
    BuiltIn {
        descriptor: Descriptor::new(
            "Elsa.Sequence",
            "Workflows",
            "Runs activities one after the other.",
        )
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

    fn is_container(&self) -> bool {
        true
    }
}
