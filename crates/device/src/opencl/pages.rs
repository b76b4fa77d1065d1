//! Host memory in whole pages.

use bytemuck::{Pod, Zeroable};
use gpubench_core::error::{Error, Result};
use gpubench_core::units::Bytes;

/// A page of ordinary memory: transfers begin on a page's edge, as the drivers like it.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C, align(4096))]
pub(super) struct Page([u8; 4096]);

/// Pages for so many bytes, all zero.
///
/// # Errors
/// `OutOfMemory`.
pub(super) fn zeroed_pages(bytes: Bytes) -> Result<Vec<Page>> {
    let count = bytes.as_usize().div_ceil(size_of::<Page>());
    let mut pages = Vec::new();
    pages
        .try_reserve_exact(count)
        .map_err(|e| Error::OutOfMemory(format!("{bytes} of host memory: {e}")))?;
    pages.resize(count, Page::zeroed());
    Ok(pages)
}
