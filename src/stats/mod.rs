//! Statistics of timing samples, tested with invented numbers. `docs/METHODOLOGY.md` states each rule.
