//! An expression of sizes: parsed, and evaluated where it parses.
#![no_main]

mod limits;

use gpubench::suite::Expr;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| limits::within(|| {
    let scope = [("n".to_owned(), 1000.0), ("m".to_owned(), 3.0)];
    match Expr::parse(text) {
        Ok(expression) => {
            let _ = (expression.eval(&scope), expression.count(&scope));
            assert!(expression.names().all(|(name, range)| &text[range] == name));
        }
        Err((range, _)) => assert!(text.get(range).is_some()),
    }
}));
