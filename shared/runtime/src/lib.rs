//! The use cases: publish, start, resume, fire_timer, sweep and their ports.
