//! Typed answers to `clGet…Info` queries; `None` where the driver does not answer.

use opencl3::device::Device;
use opencl3::platform::Platform;

/// Queries to one device.
#[derive(Clone, Copy)]
pub(super) struct Query(pub Device);

impl Query {
    pub(super) fn bytes(self, what: u32) -> Option<Vec<u8>> {
        self.0.get_data(what).ok().filter(|bytes| !bytes.is_empty())
    }

    pub(super) fn text(self, what: u32) -> Option<String> {
        self.bytes(what).map(|bytes| text(&bytes)).filter(|text| !text.is_empty())
    }

    pub(super) fn number(self, what: u32) -> Option<u64> {
        number(&self.bytes(what)?)
    }

    pub(super) fn number32(self, what: u32) -> Option<u32> {
        self.number(what).map(saturating)
    }

    /// Several `size_t`.
    pub(super) fn sizes(self, what: u32) -> Option<Vec<u64>> {
        self.bytes(what)?.chunks(size_of::<usize>()).map(number).collect()
    }

    /// Several `cl_uint`.
    pub(super) fn numbers32(self, what: u32) -> Option<Vec<u32>> {
        self.bytes(what)?.chunks(4).map(|bytes| number(bytes).map(saturating)).collect()
    }

    pub(super) fn yes(self, what: u32) -> bool {
        self.number(what).is_some_and(|n| n != 0)
    }
}

/// A platform's answer to a query for text.
pub(super) fn platform_text(platform: Platform, what: u32) -> Option<String> {
    platform.get_data(what).ok().map(|bytes| text(&bytes)).filter(|t| !t.is_empty())
}

/// An integer of four or eight bytes in the host's order.
pub(super) fn number(bytes: &[u8]) -> Option<u64> {
    if let Ok(bytes) = bytes.try_into() {
        return Some(u64::from_ne_bytes(bytes));
    }
    bytes.try_into().ok().map(|bytes| u64::from(u32::from_ne_bytes(bytes)))
}

/// A C string, without the blanks and control characters that some drivers put into names.
pub(super) fn text(bytes: &[u8]) -> String {
    let bytes = bytes.split(|&b| b == 0).next().unwrap_or_default();
    let text = String::from_utf8_lossy(bytes);
    text.split(|c: char| c.is_control() || c == ' ')
        .filter(|word| !word.is_empty())
        .collect::<Vec<_>>()
        .join(" ")
}

pub(super) fn saturating(n: u64) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_cleaned() {
        assert_eq!(text(b"  Radeon\x1b[31m  RX 580 \0junk"), "Radeon [31m RX 580");
        assert_eq!(text(b"\0"), "");
    }

    #[test]
    fn numbers_have_either_width() {
        assert_eq!(number(&7_u32.to_ne_bytes()), Some(7));
        assert_eq!(number(&(1_u64 << 40).to_ne_bytes()), Some(1 << 40));
        assert_eq!(number(&[1, 2]), None);
    }
}
