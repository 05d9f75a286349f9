//! The one route table.
