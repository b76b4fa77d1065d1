//! What a compiler is told of a kernel besides its text, its group and its constants.

use serde::{Deserialize, Serialize};

/// Settings of one kernel; most have none.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Settings {
    /// Options of the OpenCL compiler, each of them among [`OPTIONS`].
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub options: Vec<String>,
    /// Names and replacements that the OpenCL compiler knows besides constants.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub defines: Vec<(String, String)>,
    /// The text with headers in place of the lines that include them, where there are any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expanded: Option<Expanded>,
    /// `@group` and `@binding` of each argument in WGSL; empty: group 0, and its position.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub bindings: Vec<[u32; 2]>,
    /// Whether the text is SPIR-V, in hexadecimal, that the driver takes as it is.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub spirv: bool,
    /// The library that has the kernel, in place of a text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub library: Option<Library>,
    /// Registers of a work-item, as the suite declares them: they decide how many groups a unit holds, not what is
    /// built.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub registers: Option<u32>,
    /// Work-items that its subgroups must have; without it, as many as the driver likes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub subgroup: Option<u32>,
    /// Where the suite names each argument, as `FILE:LINE:COLUMN`; empty where it does not.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub places: Vec<String>,
}

/// A library of kernels, loaded where a suite asks for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Library {
    /// CLBlast, the tuned BLAS for OpenCL.
    Clblast,
}

impl Library {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Clblast => "CLBlast",
        }
    }

    /// The routines that gpubench calls, by the entries of kernels.
    pub fn routines(self) -> &'static [&'static str] {
        match self {
            Self::Clblast => &["gemm"],
        }
    }
}

/// A kernel's text in OpenCL C with its headers; `#line` says where each line stands.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Expanded {
    /// The text.
    pub text: String,
    /// The headers' names, as a compiler's log has them.
    pub headers: Vec<String>,
}

/// The options that a suite may set, and what they change.
pub const OPTIONS: [(&str, &str); 14] = [
    ("-cl-std=CL1.2", "OpenCL C 1.2, the default"),
    ("-cl-std=CL2.0", "OpenCL C 2.0"),
    ("-cl-std=CL3.0", "OpenCL C 3.0"),
    ("-cl-fast-relaxed-math", "whatever the next two allow, and faster functions"),
    ("-cl-finite-math-only", "no infinities and no NaN"),
    ("-cl-unsafe-math-optimizations", "results may differ from IEEE 754's"),
    ("-cl-mad-enable", "a product and a sum in one step; always on"),
    ("-cl-no-signed-zeros", "the sign of zeros does not count; always on"),
    ("-cl-denorms-are-zero", "denormal numbers are zeros; always on"),
    ("-cl-fp32-correctly-rounded-divide-sqrt", "exact quotients and roots"),
    ("-cl-single-precision-constant", "constants without `f` are `float`"),
    ("-cl-strict-aliasing", "pointers of different types point to different memory"),
    ("-cl-opt-disable", "no optimisation"),
    ("-w", "no warnings"),
];

impl Settings {
    /// Whether there are none.
    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }

    /// What of them changes the kernel: not where things stand in the suite, nor by which path it was named.
    pub fn identity(&self) -> Option<Vec<u8>> {
        let expanded = self.expanded.as_ref().map(|expanded| expanded.without_places());
        let own = Self { places: vec![], registers: None, expanded, ..self.clone() };
        (!own.is_default()).then(|| serde_json::to_vec(&own).unwrap_or_default())
    }

    /// Where argument `i` is bound in WGSL.
    pub fn binding(&self, i: usize) -> [u32; 2] {
        self.bindings.get(i).copied().unwrap_or([0, i as u32])
    }
}

impl Expanded {
    /// The text without the lines that only say where the next one stands.
    fn without_places(&self) -> Self {
        let lines = self.text.split_inclusive('\n').filter(|line| !line.starts_with("#line "));
        Self { text: lines.collect(), headers: vec![] }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_suite_under_another_path_has_the_same_kernels() {
        let named = |path: &str, header: &str| Settings {
            expanded: Some(Expanded {
                text: format!(
                    "#line 1 \"{path}/a.h\"\n{header}\n#line 3 \"{path}/k.cl\"\nint b;\n"
                ),
                headers: vec![format!("{path}/a.h")],
            }),
            ..Settings::default()
        };
        assert_eq!(named("x", "int a;").identity(), named("./y/x", "int a;").identity());
        assert_ne!(named("x", "int a;").identity(), named("x", "int c;").identity());
    }

    #[test]
    fn places_are_no_part_of_a_kernels_identity() {
        let placed = Settings { places: vec!["my.yaml:3:4".into()], ..Settings::default() };
        assert_eq!(placed.identity(), None);
        assert!(!placed.is_default());
        let bound = Settings { bindings: vec![[1, 2]], ..Settings::default() };
        assert!(bound.identity().is_some());
        assert_eq!((bound.binding(0), bound.binding(1)), ([1, 2], [0, 1]));
    }
}
