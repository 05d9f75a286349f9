//! The JSON files of a ZIP archive, stored or deflated, within a limit of bytes.
//!
//! Read by the directory at its end, as every tool does. Encrypted archives and those of more than 4 GiB are not read.

use miniz_oxide::inflate::decompress_to_vec_with_limit;

/// The most files of an archive that are looked at.
const FILES_MAX: usize = 10_000;

/// How many times its packed size a file may unpack to, beside what every file may.
const RATIO_MAX: usize = 200;
const UNPACKED_FREE: usize = 64 << 10;

/// The bytes of the files whose names end in `.json`. `None`: it is no archive that can be read, or it unpacks to more
/// than `bytes_max`.
pub(crate) fn json_files(archive: &[u8], bytes_max: usize) -> Option<Vec<Vec<u8>>> {
    // The end of the directory is 22 bytes and a comment of up to 64 KiB.
    let tail = archive.len().saturating_sub(22 + 0xffff);
    let last = archive.get(tail..)?;
    let end = tail
        + last
            .windows(4)
            .rposition(|window| window == b"PK\x05\x06")?;
    let count = short(archive, end + 10).filter(|count| *count <= FILES_MAX)?;
    let mut at = long(archive, end + 16)?;
    let mut found = Vec::new();
    let (mut left, mut packed_left) = (bytes_max, archive.len());
    for _ in 0..count {
        let entry = archive.get(at..)?;
        if !entry.starts_with(b"PK\x01\x02") {
            return None;
        }
        let name_length = short(entry, 28)?;
        let name = entry.get(46..46 + name_length)?;
        if name.to_ascii_lowercase().ends_with(b".json") {
            // Files that lie over each other would be unpacked again and again.
            packed_left = packed_left.checked_sub(long(entry, 20)?)?;
            let bytes = unpacked(archive, entry, left)?;
            left = left.checked_sub(bytes.len())?;
            found.push(bytes);
        }
        at += 46 + name_length + short(entry, 30)? + short(entry, 32)?;
    }
    Some(found)
}

/// The bytes of one file, given its entry in the directory.
fn unpacked(archive: &[u8], entry: &[u8], bytes_max: usize) -> Option<Vec<u8>> {
    let is_encrypted = short(entry, 8)? & 1 == 1;
    let (method, packed) = (short(entry, 10)?, long(entry, 20)?);
    let head = long(entry, 42)?;
    let begin = head + 30 + short(archive, head + 26)? + short(archive, head + 28)?;
    let bytes = archive.get(begin..begin.checked_add(packed)?)?;
    match method {
        _ if is_encrypted => None,
        0 => (bytes.len() <= bytes_max).then(|| bytes.to_vec()),
        8 => {
            let likely_max = packed
                .saturating_mul(RATIO_MAX)
                .saturating_add(UNPACKED_FREE);
            decompress_to_vec_with_limit(bytes, bytes_max.min(likely_max)).ok()
        }
        _ => None,
    }
}

fn short(bytes: &[u8], at: usize) -> Option<usize> {
    let two = bytes.get(at..at.checked_add(2)?)?;
    Some(usize::from(u16::from_le_bytes(two.try_into().ok()?)))
}

fn long(bytes: &[u8], at: usize) -> Option<usize> {
    let four = bytes.get(at..at.checked_add(4)?)?;
    usize::try_from(u32::from_le_bytes(four.try_into().ok()?)).ok()
}

#[cfg(test)]
mod tests {
    use dormouse_engine::http::{File, archive};

    use super::*;

    fn file(name: &str, bytes: &[u8]) -> File {
        File {
            name: name.into(),
            bytes: bytes.to_vec(),
            ..File::default()
        }
    }

    /// An archive of one deflated file.
    fn deflated(name: &str, bytes: &[u8]) -> Vec<u8> {
        let packed = miniz_oxide::deflate::compress_to_vec(bytes, 6);
        let mut zip = archive(&[file(name, &packed)]).unwrap();
        let directory = zip.windows(4).position(|w| w == b"PK\x01\x02").unwrap();
        zip[8] = 8;
        zip[directory + 10] = 8;
        zip
    }

    #[test]
    fn files_are_found_stored_and_deflated() {
        let zip = archive(&[
            file("a.json", b"{}"),
            file("b.txt", b"x"),
            file("C.JSON", b"[]"),
        ]);
        let found = json_files(&zip.unwrap(), 100).unwrap();
        assert_eq!(found, [b"{}".to_vec(), b"[]".to_vec()]);
        let text = b"a".repeat(5_000);
        assert_eq!(
            json_files(&deflated("a.json", &text), 5_000).unwrap(),
            [text]
        );
    }

    #[test]
    fn an_archive_that_unpacks_to_more_than_the_limit_is_refused() {
        let zip = deflated("a.json", &vec![0; 1 << 20]);
        assert!(zip.len() < 5_000);
        assert_eq!(json_files(&zip, (1 << 20) - 1), None);
        let stored = archive(&[file("a.json", b"1234"), file("b.json", b"5678")]).unwrap();
        assert_eq!(json_files(&stored, 7), None);
    }

    #[test]
    fn what_unpacks_to_improbably_much_is_refused_however_much_is_allowed() {
        let zip = deflated("a.json", &vec![b' '; 8 << 20]);
        assert!(zip.len() < 20_000);
        assert_eq!(json_files(&zip, usize::MAX), None);
    }

    #[test]
    fn files_that_lie_over_each_other_are_refused() {
        let text = b"[0,1,2,3,4,5,6,7,8,9]".repeat(50);
        let zip = archive(&[file("a.json", &text)]).unwrap();
        let begin = zip.windows(4).position(|w| w == b"PK\x01\x02").unwrap();
        let end = zip.windows(4).rposition(|w| w == b"PK\x05\x06").unwrap();
        let mut bomb = zip[..end].to_vec();
        bomb.extend_from_slice(&zip[begin..end]);
        bomb.extend_from_slice(&zip[end..]);
        let at = bomb.len() - (zip.len() - end);
        for place in [8, 10] {
            bomb[at + place] = 2;
        }
        assert_eq!(json_files(&bomb, usize::MAX), None);
        assert!(json_files(&zip, usize::MAX).is_some());
    }

    #[test]
    fn no_cut_and_no_changed_byte_is_a_panic() {
        let zip = deflated("a.json", b"{\"a\":1}");
        for length in 0..zip.len() {
            json_files(&zip[..length], 1_000);
            for value in [0, 0x7f, 0xff] {
                let mut changed = zip.clone();
                changed[length] = value;
                json_files(&changed, 1_000);
            }
        }
    }
}
