//! The pure step function: definition, instance, stimulus and time in; new state and effects out.
