//! What is said where naga's readers of SPIR-V and GLSL panic, as they do on some wrong modules. The program ends
//! where anything panics, so that all there is to do is to say first whose mistake it is.

use gpubench_core::error::Located;
use std::cell::RefCell;

thread_local! {
    static MISTAKE: RefCell<Option<Located>> = const { RefCell::new(None) };
}

/// What `read` returns; while it reads, a panic of this thread is `mistake`, unless it is another already, which knows
/// more.
pub(super) fn reading<T>(mistake: Located, read: impl FnOnce() -> T) -> T {
    let before = MISTAKE.take();
    MISTAKE.set(Some(before.clone().unwrap_or(mistake)));
    let result = read();
    MISTAKE.set(before);
    result
}

/// `work` for another thread, where a panic is the mistake that it would be here.
pub(super) fn carried<T>(work: impl FnOnce() -> T) -> impl FnOnce() -> T {
    let mistake = MISTAKE.with_borrow(Clone::clone);
    move || {
        MISTAKE.set(mistake);
        work()
    }
}

/// The user's mistake that a panic of this thread stands for, if it does for one.
pub fn mistake_of_panic() -> Option<Located> {
    MISTAKE.take()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mistake(message: &str) -> Located {
        Located::at("f", "", 0..0, message, None)
    }

    fn known() -> Option<String> {
        let known = mistake_of_panic();
        MISTAKE.set(known.clone());
        known.map(|known| known.message)
    }

    #[test]
    fn a_panic_is_the_mistake_of_the_outermost_reader() {
        assert_eq!(known(), None);
        let seen = reading(mistake("outer"), || {
            let inner = reading(mistake("inner"), known);
            let other = std::thread::scope(|scope| scope.spawn(carried(known)).join().unwrap());
            (known(), inner, other)
        });
        let outer = Some("outer".to_owned());
        assert_eq!(seen, (outer.clone(), outer.clone(), outer));
        assert_eq!(known(), None);
    }

    #[test]
    fn a_mistake_is_taken_once() {
        reading(mistake("one"), || {
            assert_eq!(mistake_of_panic().map(|one| one.message), Some("one".to_owned()));
            assert_eq!(mistake_of_panic(), None);
        });
    }
}
