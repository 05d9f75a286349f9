//! How far one evaluation may go.

/// How far one evaluation may go.
#[derive(Debug, Clone)]
pub struct Limits {
    /// Work, counted by the interpreter in its own steps of about ten thousand operations: the same on every
    /// machine. The default is 20 million turns and calls.
    pub steps_max: u64,
    /// Heap of the interpreter, bytes. Three quarters of it are certain; the rest may hold what was compiled,
    /// and garbage of the scripts before.
    pub memory_bytes_max: usize,
    /// Stack of the interpreter, bytes. The calling thread must have that much left, and 64 KB more.
    pub stack_bytes_max: usize,
    /// Size of everything that leaves the script (result, variables, outcomes) as JSON, bytes.
    pub output_bytes_max: usize,
    /// Nesting of a value that enters or leaves the script. Deeper JSON could be written but not read back.
    pub depth_max: usize,
    /// Size of a script's text, bytes. Compiling takes up to 512 times as much memory, beside the heap.
    pub script_bytes_max: usize,
    /// Size of a template's text, bytes.
    pub template_bytes_max: usize,
    /// A last resort in processor time, milliseconds; only reached where the counted work is slow. It is looked at
    /// once in a step, and a single operation on the largest value the heap can hold is never cut short.
    pub time_ms_max: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            steps_max: 2_000,
            memory_bytes_max: 32 << 20,
            stack_bytes_max: 512 << 10,
            output_bytes_max: 4 << 20,
            depth_max: 100,
            script_bytes_max: 64 << 10,
            template_bytes_max: 512 << 10,
            time_ms_max: 5_000,
        }
    }
}
