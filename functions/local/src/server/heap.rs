//! Memory that is given back to the operating system after a peak.
//!
//! glibc keeps what was freed: in one arena for each thread, and after one large block in blocks of any size. So bounds on what
//! requests take would not bound what the process holds. [`bound`] bounds the arenas and keeps large blocks apart; [`trim`] gives
//! free pages back when the process has grown. Other allocators do that by themselves; there both do nothing.

use super::signal::Stop;

/// Blocks from this size on are mapped by themselves, and unmapped when they are freed, in bytes. glibc's own value; setting it
/// keeps glibc from raising it.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const MAPPED_BYTES: i32 = 128 << 10;

/// Bounds what the allocator keeps. To be called before there are threads.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
pub(crate) fn bound() {
    let processors = std::thread::available_parallelism().map_or(2, usize::from);
    let arenas = i32::try_from(processors.clamp(2, 8)).unwrap_or(2);
    for (name, value) in [
        (libc::M_ARENA_MAX, arenas),
        (libc::M_MMAP_THRESHOLD, MAPPED_BYTES),
        (libc::M_TRIM_THRESHOLD, MAPPED_BYTES),
    ] {
        #[expect(unsafe_code, reason = "glibc has no safe interface for this")]
        // SAFETY: sets a number of the allocator; no memory is passed, and no other thread has begun.
        let _kept_as_it_was = unsafe { libc::mallopt(name, value) };
    }
}

/// Gives free pages back whenever the process has grown and is not growing any more. Returns when it is to stop.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
pub(crate) async fn trim(mut stop: Stop) {
    /// Pause between two looks.
    const LOOK: std::time::Duration = std::time::Duration::from_secs(1);
    /// Growth since the last trim that is worth another one, in bytes.
    const GROWN: u64 = 12 << 20;

    let (mut trimmed, mut before) = (resident_bytes(), 0);
    loop {
        tokio::select! {
            _sender_gone = stop.wait_for(|stop| *stop) => return,
            () = tokio::time::sleep(LOOK) => {}
        }
        let now = resident_bytes();
        if now <= before && now > trimmed + GROWN {
            // It locks each arena for a moment; those who serve should not wait for all of them.
            let _done = tokio::task::spawn_blocking(give_back).await;
            trimmed = resident_bytes();
        }
        trimmed = trimmed.min(now);
        before = now;
    }
}

#[cfg(all(target_os = "linux", target_env = "gnu"))]
fn give_back() {
    #[expect(unsafe_code, reason = "glibc has no safe interface for this")]
    // SAFETY: touches free memory only, and locks what it works on.
    let _whether_any = unsafe { libc::malloc_trim(0) };
}

/// Resident memory of this process, in bytes; 0 where the system does not tell.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
fn resident_bytes() -> u64 {
    let pages = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let resident = pages.split_whitespace().nth(1);
    let pages = resident.and_then(|pages| pages.parse::<u64>().ok());
    pages.unwrap_or_default() * rustix::param::page_size() as u64
}

#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
pub(crate) fn bound() {}

#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
pub(crate) async fn trim(_stop: Stop) {}
