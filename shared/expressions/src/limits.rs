//! How far one evaluation may go.

/// How far one evaluation may go.
#[derive(Debug, Clone)]
pub struct Limits {
    /// Work, counted by the interpreter in its own steps of about ten thousand operations: the same on every machine.
    pub steps_max: u64,
    /// Heap of the interpreter, bytes.
    pub memory_bytes_max: usize,
    /// Stack of the interpreter, bytes.
    pub stack_bytes_max: usize,
    /// Size of the result as JSON, bytes.
    pub output_bytes_max: usize,
    /// A last resort in real time, milliseconds; only reached where the counted work is slow.
    pub time_ms_max: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            steps_max: 100_000,
            memory_bytes_max: 64 << 20,
            stack_bytes_max: 512 << 10,
            output_bytes_max: 4 << 20,
            time_ms_max: 30_000,
        }
    }
}
