//! Numbers on the command line: what each option accepts, and what it says otherwise.

/// A finite number that is not negative.
pub fn at_least_zero(text: &str) -> Result<f64, String> {
    number(text, |x| x >= 0.0, "a number of at least 0 is expected")
}

/// A finite number above zero.
pub fn above_zero(text: &str) -> Result<f64, String> {
    number(text, |x| x > 0.0, "a number above 0 is expected")
}

/// A share: above 0 and at most 1.
pub fn share(text: &str) -> Result<f64, String> {
    number(text, |x| x > 0.0 && x <= 1.0, "a share above 0 and of at most 1 is expected")
}

fn number(text: &str, accepts: impl Fn(f64) -> bool, why: &str) -> Result<f64, String> {
    match text.trim().parse::<f64>() {
        Ok(value) if value.is_finite() && accepts(value) => Ok(value),
        _ => Err(why.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_accepts_its_range_and_no_other() {
        for wrong in ["0", "5", "1e300", "nan", ""] {
            assert!(share(wrong).is_err(), "{wrong}");
        }
        assert_eq!(share("1"), Ok(1.0));
        assert!(at_least_zero("-1").is_err() && at_least_zero("nan").is_err());
        assert_eq!((at_least_zero("0"), at_least_zero(" 2e3")), (Ok(0.0), Ok(2e3)));
        assert!(above_zero("0").is_err() && above_zero("inf").is_err());
        assert_eq!(above_zero("0.5"), Ok(0.5));
    }
}
