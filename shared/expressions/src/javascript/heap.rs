//! The interpreter's heap. It looks at the clock where large blocks are taken.
//!
//! The interpreter asks only every ten thousand operations whether it may go on, and one operation on large values may take a
//! second: a product of big integers, a sum of long texts. Nearly all of them take a large block for what they give. So each large
//! block asks, too, and is not given once the script has to stop: the script fails, and what it does then is over soon.

use std::cell::Cell;
use std::rc::Rc;

use rquickjs::allocator::{Allocator, RustAllocator};

use super::current::Current;

/// Blocks that ask, from so many bytes on. To take one costs more than to look at the clock.
const LARGE_BYTES: usize = 4 << 10;

/// Whether large blocks ask. Off while code is compiled, which does not survive running out of memory.
#[derive(Debug, Clone, Default)]
pub(super) struct Alarm(Rc<Cell<bool>>);

impl Alarm {
    /// Lets large blocks ask while `run` runs, which compiles nothing.
    pub(super) fn during<R>(&self, run: impl FnOnce() -> R) -> R {
        self.0.set(true);
        let result = run();
        self.0.set(false);
        result
    }
}

/// The allocator of one interpreter.
pub(super) struct Heap {
    alarm: Alarm,
    current: Rc<Current>,
}

impl Heap {
    pub(super) fn new(alarm: Alarm, current: Rc<Current>) -> Self {
        Self { alarm, current }
    }

    fn gives(&self, bytes: usize) -> bool {
        bytes < LARGE_BYTES || !self.alarm.0.get() || self.current.budget.has_time()
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
