//! Effects until they are delivered, and those that never will be.

pub mod dead_letter;
pub mod row;
