//! The interpreter's heap. It looks at the clock where large blocks are taken.
//!
//! The interpreter asks only every ten thousand operations whether it may go on, and one operation on large values may take a
//! second: a product of big integers, a sum of long texts. Nearly all of them take a large block for what they give. So each large
//! block asks, too, and is not given once the script has to stop: the script fails, and what it does then is over soon.
//!
//! The compiler does not survive running out of memory. While it may be at work, blocks are given all the same.

use std::cell::Cell;
use std::rc::Rc;
use std::time::Duration;

use rquickjs::allocator::{Allocator, RustAllocator};

use super::current::Current;
use crate::processor::processor_time;

/// Blocks that ask, from so many bytes on. To take one costs more than to look at the clock.
const LARGE_BYTES: usize = 4 << 10;

/// Processor time in which a text of so many bytes is compiled for certain: the compiler's time grows with the square of the length
/// at most, and the longest text is 64 KiB.
fn compiling_time(length: usize) -> Duration {
    let part = length as f64 / f64::from(64 << 10);
    Duration::from_secs(1) + Duration::from_secs(10).mul_f64((part * part).min(10.0))
}

/// Whether large blocks ask.
#[derive(Debug, Clone, Copy, Default)]
enum State {
    #[default]
    Never,
    Always,
    /// From this processor time of the thread on: before, code may be compiled.
    From(Duration),
}

/// What large blocks ask.
#[derive(Debug, Default)]
pub(super) struct Alarm(Cell<State>);

impl Alarm {
    /// Lets large blocks ask while `run` runs. `compiles`: it compiles a text of so many bytes first.
    pub(super) fn during<R>(&self, compiles: Option<usize>, run: impl FnOnce() -> R) -> R {
        self.0.set(match compiles {
            Some(length) => State::From(processor_time() + compiling_time(length)),
            None => State::Always,
        });
        let result = run();
        self.0.set(State::Never);
        result
    }

    /// A text of so many bytes is compiled now.
    pub(super) fn compile(&self, length: usize) {
        match self.0.get() {
            State::Never => {}
            State::Always | State::From(_) => {
                let until = processor_time() + compiling_time(length);
                self.0.set(State::From(until));
            }
        }
    }

    fn is_on(&self) -> bool {
        match self.0.get() {
            State::Never => false,
            State::Always => true,
            State::From(time) => processor_time() >= time,
        }
    }
}

/// The allocator of one interpreter.
pub(super) struct Heap(Rc<Current>);

impl Heap {
    pub(super) fn new(current: Rc<Current>) -> Self {
        Self(current)
    }

    fn gives(&self, bytes: usize) -> bool {
        bytes < LARGE_BYTES
            || matches!(self.0.alarm.0.get(), State::Never)
            || self.0.budget.has_time()
            || !self.0.alarm.is_on()
    }
}

#[expect(
    unsafe_code,
    reason = "the trait is unsafe; what it promises is kept by the allocator that does the work"
)]
// SAFETY: every block comes from `RustAllocator` and goes back to it, or is none.
unsafe impl Allocator for Heap {
    fn alloc(&mut self, size: usize) -> *mut u8 {
        match self.gives(size) {
            true => RustAllocator.alloc(size),
            false => std::ptr::null_mut(),
        }
    }

    fn calloc(&mut self, count: usize, size: usize) -> *mut u8 {
        match self.gives(count.saturating_mul(size)) {
            true => RustAllocator.calloc(count, size),
            false => std::ptr::null_mut(),
        }
    }

    unsafe fn dealloc(&mut self, ptr: *mut u8) {
        // SAFETY: the caller's promise is that of the same function.
        unsafe { RustAllocator.dealloc(ptr) }
    }

    unsafe fn realloc(&mut self, ptr: *mut u8, new_size: usize) -> *mut u8 {
        match self.gives(new_size) {
            // SAFETY: the caller's promise is that of the same function.
            true => unsafe { RustAllocator.realloc(ptr, new_size) },
            // As when there is no memory: the block stays as it is.
            false => std::ptr::null_mut(),
        }
    }

    unsafe fn usable_size(ptr: *mut u8) -> usize {
        // SAFETY: the caller's promise is that of the same function.
        unsafe { RustAllocator::usable_size(ptr) }
    }
}
