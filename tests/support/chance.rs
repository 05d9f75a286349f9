//! Chance for tests that make trouble at moments nobody chose. Its seed is printed, though processes keep no time.

/// A source of random numbers.
pub struct Chance(u64);

impl Default for Chance {
    fn default() -> Self {
        Self::new()
    }
}

impl Chance {
    /// Another one each time; the seed is printed.
    #[must_use]
    pub fn new() -> Self {
        let since = std::time::UNIX_EPOCH
            .elapsed()
            .map_or(0, |since| since.subsec_nanos());
        let seed = u64::from(since) ^ (u64::from(std::process::id()) << 32);
        eprintln!("chance {seed:#x}");
        Self(seed)
    }

    /// A number below the bound.
    pub fn below(&mut self, bound: usize) -> usize {
        // SplitMix64.
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^= mixed >> 31;
        usize::try_from(mixed % bound.max(1) as u64).unwrap_or(0)
    }

    /// A number from the first to below the second.
    pub fn between(&mut self, from: u64, until: u64) -> u64 {
        let span = usize::try_from(until.saturating_sub(from)).unwrap_or(1);
        from + self.below(span) as u64
    }
}
