//! The lines of one commit as they lie in the journal: a chunk. Chunks follow each other, each with its length
//! before it, so that one more can be added without reading the others.

use bytes::{BufMut, Bytes, BytesMut};
use serde::{Deserialize, Serialize};

use crate::item::body;
use crate::item::error::StoreError;

/// The lines that one commit added. There is one for each commit, even without lines: it also tells whose it was.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Chunk {
    #[serde(rename = "c")]
    pub(crate) commit: u64,
    /// The attempt that made the commit.
    #[serde(rename = "a")]
    pub(crate) attempt: u64,
    #[serde(rename = "t")]
    pub(crate) at_ms: i64,
    /// The number of the first line.
    #[serde(rename = "n")]
    pub(crate) first: u64,
    #[serde(rename = "l", skip_serializing_if = "Vec::is_empty")]
    pub(crate) lines: Vec<Bytes>,
    /// How many lines it has, where they lie in items of the attempt's own because they are large.
    #[serde(rename = "b", skip_serializing_if = "is_none")]
    pub(crate) beside: u64,
}

fn is_none(count: &u64) -> bool {
    *count == 0
}

impl Chunk {
    /// The number after the last line's.
    pub(crate) fn end(&self) -> u64 {
        self.first + self.lines.len() as u64 + self.beside
    }

    /// The same commit without its lines, which lie beside.
    pub(crate) fn stub(&self) -> Self {
        Self {
            lines: Vec::new(),
            beside: self.lines.len() as u64,
            ..self.clone()
        }
    }

    /// About how many bytes its lines are.
    pub(crate) fn bytes(&self) -> usize {
        self.lines.iter().map(|line| line.len() + 5).sum()
    }

    /// The same lines as one or more chunks of at most about `bytes_max` bytes each.
    pub(crate) fn pieces(self, bytes_max: usize) -> Vec<Self> {
        let Self {
            commit,
            attempt,
            at_ms,
            first,
            lines,
            beside: _,
        } = self;
        let empty = |first| Self {
            commit,
            attempt,
            at_ms,
            first,
            lines: Vec::new(),
            beside: 0,
        };
        let mut pieces = Vec::new();
        let mut piece = empty(first);
        let mut size = 0;
        for line in lines {
            if size + line.len() > bytes_max && !piece.lines.is_empty() {
                let next = empty(piece.end());
                pieces.push(std::mem::replace(&mut piece, next));
                size = 0;
            }
            size += line.len() + 5;
            piece.lines.push(line);
        }
        pieces.push(piece);
        pieces
    }

    /// The chunk with its length before it.
    pub(crate) fn frame(&self) -> Result<Bytes, StoreError> {
        let body = body::encode("journal", self)?;
        let mut out = BytesMut::with_capacity(body.len() + 4);
        out.put_u32(u32::try_from(body.len()).unwrap_or(u32::MAX));
        out.put_slice(&body);
        Ok(out.freeze())
    }
}

/// The chunks that follow each other in `frames`.
pub(crate) fn read(frames: &Bytes) -> Result<Vec<Chunk>, StoreError> {
    let mut chunks = Vec::new();
    let mut rest = frames.as_ref();
    while !rest.is_empty() {
        let damaged = || StoreError::damaged("journal");
        let (len, after) = rest.split_at_checked(4).ok_or_else(damaged)?;
        let len = len
            .iter()
            .fold(0_usize, |n, byte| n << 8 | usize::from(*byte));
        let (body, after) = after.split_at_checked(len).ok_or_else(damaged)?;
        chunks.push(body::decode("journal", body)?);
        rest = after;
    }
    Ok(chunks)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_follow_each_other_and_a_torn_one_is_damage() {
        let lines = vec![Bytes::from_static(b"a"), Bytes::new()];
        let one = Chunk {
            commit: 1,
            attempt: 1,
            at_ms: 5,
            first: 0,
            lines,
            beside: 0,
        };
        let two = Chunk {
            commit: 2,
            attempt: 3,
            at_ms: 6,
            first: 2,
            lines: Vec::new(),
            beside: 3,
        };
        let frames: Bytes = [one.frame().unwrap(), two.frame().unwrap()].concat().into();
        assert_eq!((one.end(), two.end()), (2, 5));
        let stub = one.stub();
        assert_eq!((stub.lines.len(), stub.beside, stub.end()), (0, 2, 2));
        let pieces = Chunk {
            lines: vec![Bytes::from_static(b"0123456789"); 5],
            ..one.clone()
        }
        .pieces(30);
        assert_eq!(
            pieces
                .iter()
                .map(|p| (p.first, p.lines.len()))
                .collect::<Vec<_>>(),
            [(0, 2), (2, 2), (4, 1)]
        );
        let empty = Chunk {
            beside: 0,
            ..two.clone()
        };
        assert_eq!(
            empty.clone().pieces(30).as_slice(),
            std::slice::from_ref(&empty)
        );
        assert_eq!(read(&frames).unwrap(), [one, two]);
        assert!(read(&frames.slice(..frames.len() - 1)).is_err());
        assert!(read(&Bytes::new()).unwrap().is_empty());
    }
}
