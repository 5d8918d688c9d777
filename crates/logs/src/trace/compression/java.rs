//! The block framings of the Java libraries used by Spark: `LZ4BlockOutputStream` of lz4-java, the stream of snappy-java, and the chunks of
//! compress-lzf. The tools of the same names write different framings. The blocks themselves are decoded by crates, except for LZF, which is a page
//! of code.

use std::io::{self, Read};

use crate::trace::compression::damage::damaged;

/// Maximum size of a block; the libraries write 32 to 64 KiB by default, and 32 MiB at most.
const LARGEST_BLOCK: usize = 1 << 26;

/// Framing of blocks.
pub(super) trait Framing {
    /// Reads the next block into `block`; false at the end of the stream.
    fn next(&mut self, source: &mut dyn Read, block: &mut Vec<u8>) -> io::Result<bool>;
}

/// A decoder of a stream, block after block.
pub(super) struct JavaBlocks<R, F> {
    source: R,
    framing: F,
    block: Vec<u8>,
    at: usize,
}

impl<R: Read, F: Framing> JavaBlocks<R, F> {
    pub(super) fn new(source: R, framing: F) -> Self {
        Self { source, framing, block: Vec::new(), at: 0 }
    }
}

impl<R: Read, F: Framing> Read for JavaBlocks<R, F> {
    fn read(&mut self, target: &mut [u8]) -> io::Result<usize> {
        while self.at == self.block.len() {
            self.at = 0;
            self.block.clear();
            if !self.framing.next(&mut self.source, &mut self.block)? {
                return Ok(0);
            }
        }
        let n = target.len().min(self.block.len() - self.at);
        target[..n].copy_from_slice(&self.block[self.at..self.at + n]);
        self.at += n;
        Ok(n)
    }
}

/// Fills `buffer`; returns false if the stream ends before its first byte.
fn fill(source: &mut dyn Read, buffer: &mut [u8]) -> io::Result<bool> {
    let mut filled = 0;
    while filled < buffer.len() {
        match source.read(&mut buffer[filled..]) {
            Ok(0) if filled == 0 => return Ok(false),
            Ok(0) => return Err(damaged("the stream ends within a block")),
            Ok(n) => filled += n,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(true)
}

/// Returns the next `length` bytes.
fn bytes(source: &mut dyn Read, length: usize) -> io::Result<Vec<u8>> {
    if length > LARGEST_BLOCK {
        return Err(damaged(format!("a block of {length} bytes is too large")));
    }
    let mut bytes = vec![0; length];
    if length > 0 && !fill(source, &mut bytes)? {
        return Err(damaged("the stream ends within a block"));
    }
    Ok(bytes)
}

fn little(bytes: &[u8]) -> u32 {
    bytes.iter().rev().fold(0, |sum, &byte| sum << 8 | u32::from(byte))
}

fn big(bytes: &[u8]) -> u32 {
    bytes.iter().fold(0, |sum, &byte| sum << 8 | u32::from(byte))
}

/// A block is `LZ4Block`, a token (method in the high half), compressed size, size and checksum of the text,
/// little-endian. A block of size 0 ends a stream; another stream can follow.
pub(super) struct Lz4Block;

/// Seed of the checksum.
const LZ4_SEED: u32 = 0x9747_b28c;
/// Mask of the bits of the checksum that are used.
const LZ4_CHECKSUM: u32 = 0x0fff_ffff;

impl Framing for Lz4Block {
    fn next(&mut self, source: &mut dyn Read, block: &mut Vec<u8>) -> io::Result<bool> {
        loop {
            let mut header = [0; 21];
            if !fill(source, &mut header)? {
                return Ok(false);
            }
            if !header.starts_with(b"LZ4Block") {
                return Err(damaged("an lz4 block without a header"));
            }
            let size = |at: usize| usize::try_from(little(&header[at..at + 4])).unwrap_or(usize::MAX);
            let (packed, length, checksum) = (size(9), size(13), little(&header[17..]));
            if length == 0 {
                // the end of a stream
                continue;
            }
            let data = bytes(source, packed)?;
            match header[8] & 0xf0 {
                0x10 => *block = data,
                0x20 if length <= LARGEST_BLOCK => {
                    block.resize(length, 0);
                    let n = lz4_flex::block::decompress_into(&data, block).map_err(damaged)?;
                    block.truncate(n);
                }
                method => {
                    return Err(damaged(format!("an unsupported lz4 block (method {method:#x}, {length} bytes)")));
                }
            }
            let found = twox_hash::XxHash32::oneshot(LZ4_SEED, block) & LZ4_CHECKSUM;
            if block.len() != length || found != checksum {
                block.clear();
                return Err(damaged("the checksum of an lz4 block does not match"));
            }
            return Ok(true);
        }
    }
}

/// After a head of 16 bytes, blocks of raw snappy preceded by their compressed size, big-endian. The head may occur again.
#[derive(Default)]
pub(super) struct Snappy {
    decoder: snap::raw::Decoder,
}

/// Start of a head, read as the size of a block.
const SNAPPY_HEAD: u32 = 0x8253_4e41;

impl Framing for Snappy {
    fn next(&mut self, source: &mut dyn Read, block: &mut Vec<u8>) -> io::Result<bool> {
        let mut size = [0; 4];
        loop {
            if !fill(source, &mut size)? {
                return Ok(false);
            }
            if big(&size) != SNAPPY_HEAD {
                break;
            }
            bytes(source, 12)?;
        }
        let data = bytes(source, big(&size) as usize)?;
        let length = snap::raw::decompress_len(&data).map_err(damaged)?;
        if length > LARGEST_BLOCK {
            return Err(damaged(format!("a snappy block of {length} bytes is too large")));
        }
        block.resize(length, 0);
        let n = self.decoder.decompress(&data, block).map_err(damaged)?;
        block.truncate(n);
        Ok(true)
    }
}

/// A chunk is `ZV`, then 0 and a size for plain bytes, or 1 and two sizes (compressed, plain) for packed bytes, big-endian.
pub(super) struct Lzf;

impl Framing for Lzf {
    fn next(&mut self, source: &mut dyn Read, block: &mut Vec<u8>) -> io::Result<bool> {
        let mut header = [0; 5];
        if !fill(source, &mut header)? {
            return Ok(false);
        }
        let size = big(&header[3..]) as usize;
        match header {
            [b'Z', b'V', 0, ..] => *block = bytes(source, size)?,
            [b'Z', b'V', 1, ..] => {
                let length = big(&bytes(source, 2)?) as usize;
                let data = bytes(source, size)?;
                unpack_lzf(&data, block)
                    .filter(|()| block.len() == length)
                    .ok_or_else(|| damaged("a damaged lzf chunk"))?;
            }
            _ => return Err(damaged("an lzf chunk without a header")),
        }
        Ok(true)
    }
}

/// Decodes a packed LZF chunk into `text`. A control byte below 32 is followed by that many bytes plus one of plain
/// text. In any other control byte, the upper three bits are a length (if 7, another byte is added), and the lower
/// five bits and one more byte are the distance to copy from. None if the data are damaged.
fn unpack_lzf(data: &[u8], text: &mut Vec<u8>) -> Option<()> {
    let mut data = data.iter().copied();
    while let Some(control) = data.next() {
        let control = usize::from(control);
        if control < 32 {
            for _ in 0..=control {
                text.push(data.next()?);
            }
            continue;
        }
        let mut length = control >> 5;
        if length == 7 {
            length += usize::from(data.next()?);
        }
        let back = (control & 31) << 8 | usize::from(data.next()?);
        let start = text.len().checked_sub(back + 1)?;
        // one by one, because source and target may overlap
        for from in start..start + length + 2 {
            text.push(text[from]);
        }
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lzf_copies_overlapping_text() {
        let mut text = Vec::new();
        // "ab", then 5 bytes from one back: "bbbbb"; then 9 + 2 bytes from 6 back
        assert_eq!(unpack_lzf(&[1, b'a', b'b', 3 << 5, 0, 7 << 5, 2, 5], &mut text), Some(()));
        assert_eq!(text, format!("a{}", "b".repeat(17)).into_bytes());
        assert_eq!(unpack_lzf(&[1, b'a'], &mut Vec::new()), None);
        assert_eq!(unpack_lzf(&[3 << 5, 0], &mut Vec::new()), None);
    }

    #[test]
    fn a_block_with_a_wrong_checksum_is_refused() {
        let mut stream = b"LZ4Block\x10".to_vec();
        for number in [3_u32, 3, 1] {
            stream.extend(number.to_le_bytes());
        }
        stream.extend(b"abc");
        let error = JavaBlocks::new(stream.as_slice(), Lz4Block).read_to_end(&mut Vec::new()).unwrap_err();
        assert!(error.to_string().contains("checksum"), "{error}");
    }
}
