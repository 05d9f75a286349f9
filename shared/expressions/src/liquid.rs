//! Liquid as Elsa's expressions use it: Fluid's language over the workflow's variables and inputs.
//!
//! An interpreter of our own: it reads values where they are, counts its work like JavaScript's, and a name
//! that is missing is nil and no error. A template that cannot be parsed renders the error's text.

mod chunk;
mod comparison;
mod diagnosis;
mod element;
mod expression;
mod filter;
mod global;
mod items;
mod node;
mod render;
mod template;
mod token;
mod value;
mod work;

pub(crate) use template::Template;
