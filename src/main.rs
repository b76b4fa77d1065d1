//! The `gpubench` binary: everything is in the library, so that it can be tested and documented.

fn main() -> std::process::ExitCode {
    gpubench::cmd::main()
}
