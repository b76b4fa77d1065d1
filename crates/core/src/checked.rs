//! Values of files that serde reads, each held to a rule of its own.

/// What was read, where it is right: the end of a `deserialize_with`.
///
/// # Errors
/// `why` it is not.
pub fn checked<T: Copy, E: serde::de::Error>(
    value: T,
    is_right: impl Fn(T) -> bool,
    why: impl Fn(T) -> String,
) -> Result<T, E> {
    if is_right(value) { Ok(value) } else { Err(E::custom(why(value))) }
}
