//! The parts of a template.

use super::expression::{Expression, Pipeline};

/// A part of a template.
#[derive(Debug)]
pub(super) enum Node {
    Text(String),
    Output(Pipeline),
    Assign {
        name: String,
        value: Pipeline,
    },
    Capture {
        name: String,
        body: Vec<Node>,
    },
    /// Also `unless`, with its condition turned round.
    If {
        branches: Vec<(Expression, Vec<Node>)>,
        otherwise: Vec<Node>,
    },
    Case {
        subject: Expression,
        whens: Vec<(Vec<Expression>, Vec<Node>)>,
        otherwise: Vec<Node>,
    },
    For(Box<For>),
    /// Another template, which is missed when it is to be rendered.
    Missing {
        tag: String,
    },
    Break,
    Continue,
    Cycle {
        group: Option<Expression>,
        values: Vec<Expression>,
        key: String,
    },
    /// `increment` (by 1, shown before) and `decrement` (by -1, shown after).
    Count {
        name: String,
        by: i64,
    },
}

/// A loop.
#[derive(Debug)]
pub(super) struct For {
    pub(super) variable: String,
    pub(super) source: Expression,
    /// What `offset: continue` continues: the loop's own text.
    pub(super) key: String,
    pub(super) limit: Option<Expression>,
    pub(super) offset: Option<Offset>,
    pub(super) is_reversed: bool,
    pub(super) body: Vec<Node>,
    pub(super) otherwise: Vec<Node>,
}

/// Where a loop begins.
#[derive(Debug)]
pub(super) enum Offset {
    At(Expression),
    Continue,
}
