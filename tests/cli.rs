//! The command line by transcript: `tests/cli/*.trycmd`, each in the folder of its name. Nothing
//! here needs a driver: what runs, runs on the simulated device.
//!
//! `TRYCMD=overwrite cargo test --test cli` writes down what the commands print now.

#[test]
fn transcripts() {
    trycmd::TestCases::new().env("NO_COLOR", "1").case("tests/cli/*.trycmd");
}
