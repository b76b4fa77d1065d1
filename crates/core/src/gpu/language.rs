//! Languages that kernels are written in.

use serde::{Deserialize, Serialize};

/// The language a device's API takes kernels in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Language {
    /// OpenCL C 1.2 or later (`.cl`).
    Opencl,
    /// The WebGPU shading language (`.wgsl`).
    #[default]
    Wgsl,
}

impl Language {
    /// As its authors write it.
    pub fn spelled(self) -> &'static str {
        match self {
            Self::Opencl => "OpenCL C",
            Self::Wgsl => "WGSL",
        }
    }
}
