//! A checked script and the language it is written in.

use std::sync::Arc;

use crate::javascript::Plan;
use crate::liquid::Template;

/// The languages that run here.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Language {
    /// JavaScript as Elsa's expressions use it.
    JavaScript,
    /// Liquid as Elsa's expressions use it.
    Liquid,
    /// A safe subset of C#.
    CSharp,
}

/// A checked script, ready to run on any thread. Cheap to clone (an `Arc` inside).
#[derive(Debug, Clone)]
pub struct Script {
    /// What it is written in.
    pub language: Language,
    /// The text.
    pub source: Arc<str>,
    pub(crate) program: Arc<Program>,
}

/// What a script was compiled to.
#[derive(Debug)]
pub(crate) enum Program {
    JavaScript(Plan),
    Liquid(Template),
    CSharp(crate::csharp::Program),
}
