//! Several files as one ZIP archive, uncompressed: the same files give the same bytes.

use std::collections::BTreeSet;

use super::file::File;

/// The date of every entry: 1980-01-01, the first there is in a ZIP archive.
const DATE: u16 = 0x21;

/// Bit 11: names are UTF-8.
const FLAGS: u16 = 1 << 11;

/// The files as an archive. `None`: more than the format can hold (4 GiB, 65,535 entries).
#[must_use]
pub fn archive(files: &[File]) -> Option<Vec<u8>> {
    let mut out = Vec::new();
    let mut directory = Vec::new();
    let mut taken = BTreeSet::new();
    for file in files {
        let name = free_name(&file.name, &mut taken);
        let place = u32::try_from(out.len()).ok()?;
        let common = entry(&name, &file.bytes)?;
        out.extend(b"PK\x03\x04");
        out.extend(20_u16.to_le_bytes());
        out.extend(&common);
        out.extend(0_u16.to_le_bytes());
        out.extend(name.as_bytes());
        out.extend(&file.bytes);
        directory.extend(b"PK\x01\x02");
        directory.extend(20_u16.to_le_bytes());
        directory.extend(20_u16.to_le_bytes());
        directory.extend(&common);
        // No extra field, no comment, first disk, no attributes.
        directory.extend([0_u8; 12]);
        directory.extend(place.to_le_bytes());
        directory.extend(name.as_bytes());
    }
    let count = u16::try_from(files.len()).ok()?;
    let place = u32::try_from(out.len()).ok()?;
    out.extend(&directory);
    out.extend(b"PK\x05\x06");
    out.extend([0_u8; 4]);
    out.extend(count.to_le_bytes());
    out.extend(count.to_le_bytes());
    out.extend(u32::try_from(directory.len()).ok()?.to_le_bytes());
    out.extend(place.to_le_bytes());
    out.extend(0_u16.to_le_bytes());
    Some(out)
}

/// What an entry's own head and its line in the directory have in common: flags to the length of the name.
fn entry(name: &str, bytes: &[u8]) -> Option<Vec<u8>> {
    let size = u32::try_from(bytes.len()).ok()?;
    let mut out = Vec::with_capacity(22);
    out.extend(FLAGS.to_le_bytes());
    // Stored, midnight.
    out.extend([0_u8; 4]);
    out.extend(DATE.to_le_bytes());
    out.extend(checksum(bytes).to_le_bytes());
    out.extend(size.to_le_bytes());
    out.extend(size.to_le_bytes());
    out.extend(u16::try_from(name.len()).ok()?.to_le_bytes());
    Some(out)
}

/// A name that no entry has yet, and that leads nowhere outside the folder it is unpacked in.
fn free_name(name: &str, taken: &mut BTreeSet<String>) -> String {
    let own = name.rsplit(['/', '\\']).next().unwrap_or_default();
    let own = if own.is_empty() || own == ".." {
        "file"
    } else {
        own
    };
    let (stem, ending) = match own.rfind('.') {
        Some(at) if at > 0 => own.split_at(at),
        Some(_) | None => (own, ""),
    };
    let mut free = own.to_owned();
    let mut number = 2;
    while !taken.insert(free.clone()) {
        free = format!("{stem} ({number}){ending}");
        number += 1;
    }
    free
}

/// CRC-32 as ZIP has it.
fn checksum(bytes: &[u8]) -> u32 {
    let crc = bytes.iter().fold(u32::MAX, |crc, byte| {
        (0..8).fold(crc ^ u32::from(*byte), |crc, _| {
            if crc & 1 == 1 {
                crc >> 1 ^ 0xedb8_8320
            } else {
                crc >> 1
            }
        })
    });
    !crc
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(name: &str, bytes: &[u8]) -> File {
        File {
            name: name.into(),
            bytes: bytes.to_vec(),
            ..File::default()
        }
    }

    #[test]
    fn the_checksum_is_the_usual_one() {
        assert_eq!(checksum(b"123456789"), 0xcbf4_3926);
        assert_eq!(checksum(b""), 0);
    }

    #[test]
    fn names_are_free_and_stay_in_the_folder() {
        let mut taken = BTreeSet::new();
        let names: Vec<_> = ["a.txt", "a.txt", "../../etc/passwd", "", "a.txt"]
            .iter()
            .map(|n| free_name(n, &mut taken))
            .collect();
        assert_eq!(names, ["a.txt", "a (2).txt", "passwd", "file", "a (3).txt"]);
    }

    #[test]
    fn the_archive_has_its_parts_where_it_says() {
        let archive = archive(&[file("a.txt", b"hello"), file("b.txt", b"")]).unwrap();
        assert!(archive.starts_with(b"PK\x03\x04"));
        let end = archive.len() - 22;
        assert_eq!(&archive[end..end + 4], b"PK\x05\x06");
        let number =
            |at: usize| u32::from_le_bytes(archive[at..at + 4].try_into().unwrap()) as usize;
        let (size, place) = (number(end + 12), number(end + 16));
        assert_eq!(place + size, end);
        assert_eq!(&archive[place..place + 4], b"PK\x01\x02");
        assert_eq!(&archive[30..35], b"a.txt");
        assert_eq!(&archive[35..40], b"hello");
    }
}
