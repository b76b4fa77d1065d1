//! The time of day, as files hold it.

use gpubench_core::error::{Error, Result};
use jiff::Timestamp;
use std::time::SystemTime;

/// The time of day.
///
/// # Errors
/// `Usage` where this machine's clock says what cannot be written: a year beyond 9999.
pub fn now() -> Result<String> {
    timestamp(SystemTime::now())
}

fn timestamp(time: SystemTime) -> Result<String> {
    let time = Timestamp::try_from(time);
    time.map(|time| time.to_string())
        .map_err(|error| Error::Usage(format!("this machine's clock is wrong: {error}")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::{Duration, UNIX_EPOCH};

    #[test]
    fn a_clock_beyond_all_years_is_reported() {
        assert_eq!(timestamp(UNIX_EPOCH).unwrap(), "1970-01-01T00:00:00Z");
        let late = UNIX_EPOCH + Duration::from_secs(253_402_300_799);
        let error = timestamp(late).unwrap_err().to_string();
        assert!(error.contains("clock is wrong"), "{error}");
    }
}
