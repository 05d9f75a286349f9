//! The binary `dormouse`.
fn main() {}
