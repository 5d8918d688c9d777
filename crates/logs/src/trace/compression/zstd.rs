//! Zstandard, with two features needed for event logs: several consecutive frames, and partial output of a frame that has no end because the job
//! still runs or was killed. Source: \[RFC8878\].

use std::io::{self, BufRead, Read};

use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};

use crate::trace::compression::damage::damaged;

/// A last block without content, and room for a checksum: it makes the decoder release the data it retains for references.
const LAST_BLOCK: [u8; 7] = [1, 0, 0, 0, 0, 0, 0];

/// Decodes all frames of a stream.
pub(super) struct ZstdFrames<R> {
    source: R,
    decoder: FrameDecoder,
    /// True if a frame is being decoded.
    inside: bool,
    /// Error to return after all decoded data.
    failed: Option<io::Error>,
    ended: bool,
}

impl<R: BufRead> ZstdFrames<R> {
    pub(super) fn new(source: R) -> Self {
        Self { source, decoder: FrameDecoder::new(), inside: false, failed: None, ended: false }
    }

    /// Starts the next frame; returns false at the end of the stream.
    fn begin(&mut self) -> io::Result<bool> {
        loop {
            if self.source.fill_buf()?.is_empty() {
                return Ok(false);
            }
            match self.decoder.init(&mut self.source) {
                Ok(()) => return Ok(true),
                Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame { length, .. })) => {
                    io::copy(&mut self.source.by_ref().take(length.into()), &mut io::sink())?;
                }
                Err(error) => return Err(damaged(error)),
            }
        }
    }

    /// Ends a frame whose remaining data are missing or damaged, so that the decoded part can be read.
    fn cut(&mut self, error: io::Error) {
        self.failed = Some(error);
        self.ended = true;
        // it cannot fail: an empty raw block needs no earlier data
        let _ = self.decoder.decode_blocks(LAST_BLOCK.as_slice(), BlockDecodingStrategy::All);
    }

    fn is_checked(&self) -> bool {
        match (self.decoder.get_checksum_from_data(), self.decoder.get_calculated_checksum()) {
            (Some(stated), Some(found)) => stated == found,
            _ => true,
        }
    }
}

impl<R: BufRead> Read for ZstdFrames<R> {
    fn read(&mut self, target: &mut [u8]) -> io::Result<usize> {
        loop {
            if self.inside {
                if !target.is_empty() && self.decoder.can_collect() > 0 {
                    return self.decoder.read(target);
                }
                if !self.ended && !self.decoder.is_finished() {
                    let block = self.decoder.decode_blocks(&mut self.source, BlockDecodingStrategy::UptoBlocks(1));
                    if let Err(error) = block {
                        self.cut(damaged(error));
                    }
                    continue;
                }
                self.inside = false;
                if !self.ended && !self.is_checked() {
                    self.ended = true;
                    return Err(damaged("the checksum of a zstd frame does not match"));
                }
            }
            if let Some(error) = self.failed.take() {
                return Err(error);
            }
            if self.ended || target.is_empty() {
                return Ok(0);
            }
            self.inside = self.begin()?;
            self.ended = !self.inside;
        }
    }
}
