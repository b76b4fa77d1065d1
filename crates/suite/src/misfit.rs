//! How a kernel's text can fail to fit the workload that names it.

use std::ops::Range;

/// A misfit, with what it is about.
#[derive(Clone, Debug, PartialEq)]
pub struct Misfit {
    pub about: About,
    pub message: String,
    pub help: Option<String>,
}

/// Where a misfit is shown.
#[derive(Clone, Debug, PartialEq)]
pub enum About {
    /// A byte range of the kernel's text.
    Text(Range<usize>),
    /// The kernel's file in the suite.
    File,
    /// The entry point's name in the suite.
    Entry,
    /// The work-group's size in the suite.
    Group,
    /// A buffer, by its position.
    Buffer(usize),
    /// The list of buffers.
    Buffers,
    /// An argument of `args`, by its position.
    Argument(usize),
    /// A constant, by its name.
    Constant(String),
    /// The parameters.
    Params,
}

impl Misfit {
    pub fn new(about: About, message: impl Into<String>, help: Option<String>) -> Self {
        Self { about, message: message.into(), help }
    }

    /// The same in a text without so many bytes in front.
    pub fn moved_back(mut self, bytes: usize) -> Self {
        if let About::Text(range) = &mut self.about {
            *range = range.start.saturating_sub(bytes)..range.end.saturating_sub(bytes);
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_misfit_moves_back_with_its_text_and_not_beyond_its_beginning() {
        let moved = |about, bytes| Misfit::new(about, "wrong", None).moved_back(bytes).about;
        assert_eq!(moved(About::Text(5..9), 3), About::Text(2..6));
        assert_eq!(moved(About::Text(5..9), 7), About::Text(0..2));
        assert_eq!(moved(About::Buffer(5), 3), About::Buffer(5));
    }
}
