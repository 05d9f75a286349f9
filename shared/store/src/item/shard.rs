//! Which of several partitions something belongs to. The numbers are stored, so the function is stable for ever.

/// The shard of `text`, below `shards` (1 to 99).
pub(crate) fn of(text: &str, shards: u16) -> u16 {
    // FNV-1a, 64 bits.
    let hash = text.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3)
    });
    // The low bits of FNV are its weakest; fold the high ones in.
    u16::try_from((hash ^ (hash >> 32)) % u64::from(shards.max(1))).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shards_stay_where_they_were_and_fill_evenly() {
        assert_eq!(of("instance-1", 16), 5);
        let mut counts = [0_u32; 16];
        for n in 0..16_000 {
            counts[usize::from(of(&format!("instance-{n}"), 16))] += 1;
        }
        assert!(
            counts.iter().all(|n| (700..1_300).contains(n)),
            "{counts:?}"
        );
    }
}
