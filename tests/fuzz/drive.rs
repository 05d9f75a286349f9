//! Feeds a target with inputs for a while: none may make it panic, hang, or take memory without bound.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use super::mutant::Chance;

/// How long one input may take on a machine that has much else to do.
const INPUT_S: u64 = 120;

/// How much more memory than before the process may ever have needed for one input.
const INPUT_MIB: u64 = 512;

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

/// The kept inputs of a target: what was found once, and where to begin.
pub(crate) fn kept(target: &str) -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("fuzz/corpus")
        .join(target);
    let mut paths: Vec<_> = std::fs::read_dir(&folder)
        .unwrap_or_else(|e| panic!("{}: {e}", folder.display()))
        .map(|entry| entry.unwrap().path())
        .collect();
    paths.sort();
    paths
        .iter()
        .map(|path| std::fs::read(path).unwrap())
        .collect()
}

/// Runs a target with the first inputs as they are, and then with what `next` makes, until the time is over:
/// `DORMOUSE_FUZZ_SECONDS`, else three seconds. A run begins with a seed of its own, or with `DORMOUSE_FUZZ_SEED`.
pub(crate) fn drive<I>(
    name: &str,
    first: Vec<I>,
    mut next: impl FnMut(&mut Chance) -> I,
    show: impl Fn(&I) -> String,
    mut target: impl FnMut(&I),
) {
    let seconds = number("DORMOUSE_FUZZ_SECONDS").unwrap_or(3);
    let seed = number("DORMOUSE_FUZZ_SEED").unwrap_or_else(|| {
        let now = std::time::UNIX_EPOCH.elapsed().unwrap();
        u64::try_from(now.as_nanos() & u128::from(u64::MAX)).unwrap()
    });
    println!("{name}: DORMOUSE_FUZZ_SEED={seed}");
    let mut chance = Chance(seed);
    let watch = Watch::begin(name);
    let begin = Instant::now();
    let mut count = 0;
    let mut waiting = first.into_iter();
    loop {
        let input = match waiting.next() {
            Some(input) => input,
            None if begin.elapsed() >= Duration::from_secs(seconds) => break,
            None => next(&mut chance),
        };
        watch.input(show(&input));
        let before = peak_mib();
        let went = catch_unwind(AssertUnwindSafe(|| target(&input)));
        assert!(went.is_ok(), "{name} panicked at {}", show(&input));
        let grown = peak_mib().saturating_sub(before);
        assert!(
            grown <= INPUT_MIB,
            "{name} took {grown} MiB for {}",
            show(&input)
        );
        count += 1;
    }
    println!(
        "{name}: {count} inputs, the process needed {} MiB at most",
        peak_mib()
    );
}

/// The most memory that the process has had, in MiB; 0 where the system does not say.
fn peak_mib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kib = line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
    kib.unwrap_or(0) / 1_024
}

type Under = Arc<Mutex<Option<(Instant, String)>>>;

/// Ends the process if an input takes for ever, and says which one.
struct Watch(Under);

impl Watch {
    fn begin(name: &str) -> Self {
        let under = Under::default();
        let (weak, name) = (Arc::downgrade(&under), name.to_owned());
        std::thread::spawn(move || {
            while let Some(under) = weak.upgrade() {
                if let Some((since, input)) = &*under.lock().unwrap()
                    && since.elapsed() > Duration::from_secs(INPUT_S)
                {
                    eprintln!("{name} hangs at {input}");
                    std::process::exit(101);
                }
                drop(under);
                std::thread::sleep(Duration::from_millis(500));
            }
        });
        Self(under)
    }

    fn input(&self, input: String) {
        *self.0.lock().unwrap() = Some((Instant::now(), input));
    }
}

/// Bytes for people.
pub(crate) fn shown(bytes: &[u8]) -> String {
    bytes.escape_ascii().to_string()
}
