//! How constants reach a kernel: `-D` options in OpenCL C, declarations behind the last line in WGSL.

use super::wgsl_text::{overrides, rebound, without_overrides};
use super::{Constant, KernelSource, Language};
use crate::error::{Error, Result};

impl KernelSource {
    /// Options for the OpenCL compiler: one `-D NAME=VALUE` a constant, and `NAME_WIDTH`, its
    /// number of components, beside a type.
    ///
    /// # Errors
    /// `Unsupported` when a constant is a type that the language lacks.
    pub fn defines(&self) -> Result<String> {
        let spelled = self.spelled_constants(Language::Opencl)?;
        let all = spelled.iter().chain(&self.settings.defines);
        let options: Vec<_> = all.map(|(name, value)| format!("-D {name}={value}")).collect();
        Ok(options.join(" "))
    }

    /// The text in OpenCL C with its headers.
    pub fn opencl(&self) -> &str {
        self.settings.expanded.as_ref().map_or(&self.text, |expanded| &expanded.text)
    }

    /// The WGSL text with its constants declared behind the last line, so that places in a
    /// compiler's log stay those of the file, and directives (`enable f16;`) stay in front.
    /// Declarations may stand in any order.
    ///
    /// # Errors
    /// `Unsupported` when a constant is a type that the language lacks.
    pub fn wgsl(&self) -> Result<String> {
        let constants = self.spelled_constants(Language::Wgsl)?;
        let names: Vec<_> = constants.iter().map(|(name, _)| name.as_str()).collect();
        let text = rebound(&self.text, &self.settings.bindings);
        let overridden = overrides(&text);
        let mut text = without_overrides(&text, &names) + "\n";
        for (name, value) in &constants {
            let is_type =
                self.constants.iter().any(|(n, c)| n == name && matches!(c, Constant::Type(_)));
            let typed = overridden.iter().find(|o| o.name == *name).and_then(|o| o.r#type.as_ref());
            text += &match typed {
                _ if is_type => format!("alias {name}={value};"),
                Some(r#type) => format!("const {name}: {type}={};", untyped(value, r#type)),
                None => format!("const {name}={value};"),
            };
        }
        Ok(text)
    }

    /// Names of values that the text in WGSL lets others set (`override`).
    pub fn overridable(&self) -> Vec<String> {
        match self.language {
            Language::Wgsl => overrides(&self.text).into_iter().map(|o| o.name).collect(),
            Language::Opencl => vec![],
        }
    }

    fn spelled_constants(&self, language: Language) -> Result<Vec<(String, String)>> {
        let group = ["GROUP_X", "GROUP_Y", "GROUP_Z"]
            .into_iter()
            .zip(self.group)
            .map(|(name, size)| (name.to_owned(), Constant::Int(i64::from(size))));
        group
            .chain(self.constants.iter().flat_map(with_width))
            .map(|(name, value)| Ok((name, spell(&value, language)?)))
            .collect()
    }
}

/// A constant, and the number of its components behind it where it is a type: a kernel that is
/// written for several vector widths counts in vectors, and WGSL has no `sizeof`.
fn with_width((name, value): &(String, Constant)) -> Vec<(String, Constant)> {
    let mut both = vec![(name.clone(), value.clone())];
    if let Constant::Type(element) = value {
        both.push((format!("{name}_WIDTH"), Constant::Int(i64::from(element.width))));
    }
    both
}

/// A number for a declaration that says its type.
fn untyped(value: &str, r#type: &str) -> String {
    let number = value.trim_end_matches(['u', 'i', 'f']);
    match (r#type, number) {
        ("bool", "0") => "false".into(),
        ("bool", _) => "true".into(),
        _ => number.to_owned(),
    }
}

fn spell(value: &Constant, language: Language) -> Result<String> {
    Ok(match (value, language) {
        (Constant::Int(n), Language::Opencl) => n.to_string(),
        (Constant::Int(n), Language::Wgsl) if *n < 0 => format!("{n}i"),
        (Constant::Int(n), Language::Wgsl) => format!("{n}u"),
        (Constant::Float(x), _) => format!("{x:?}f"),
        (Constant::Type(element), _) => element.spelled(language).ok_or_else(|| {
            Error::Unsupported(format!("WGSL has no type `{}`", String::from(*element)))
        })?,
    })
}

#[cfg(test)]
mod tests {
    use super::super::{Element, Origin, Scalar};
    use super::*;

    fn source(language: Language) -> KernelSource {
        KernelSource {
            language,
            text: "the text".into(),
            entry: "f".into(),
            origin: Origin::Shipped("f".into()),
            group: [16, 4, 1],
            constants: vec![
                ("TILE".into(), Constant::Int(8)),
                ("ALPHA".into(), Constant::Float(0.5)),
                ("V".into(), Constant::Type(Element { scalar: Scalar::F32, width: 4 })),
            ],
            bindings: vec![],
            params_bytes: 0,
            args: None,
            meaning: None,
            settings: Default::default(),
        }
    }

    #[test]
    fn opencl_gets_options() {
        assert_eq!(
            source(Language::Opencl).defines().unwrap(),
            "-D GROUP_X=16 -D GROUP_Y=4 -D GROUP_Z=1 -D TILE=8 -D ALPHA=0.5f -D V=float4 -D V_WIDTH=4"
        );
    }

    #[test]
    fn wgsl_gets_declarations_behind_the_last_line() {
        assert_eq!(
            source(Language::Wgsl).wgsl().unwrap(),
            "the text\nconst GROUP_X=16u;const GROUP_Y=4u;const GROUP_Z=1u;const TILE=8u;const ALPHA=0.5f;alias V=vec4<f32>;const V_WIDTH=4u;"
        );
    }

    #[test]
    fn overrides_take_constants_in_their_own_type() {
        let mut own = source(Language::Wgsl);
        own.text =
            "override TILE: i32;\noverride ALPHA: f32 = 2.0;\noverride REST: u32 = 3;".into();
        let text = own.wgsl().unwrap();
        for part in ["const TILE: i32=8;", "const ALPHA: f32=0.5;", "const    REST: u32 = 3;"] {
            assert!(text.contains(part), "{text}");
        }
        assert_eq!(own.overridable(), ["TILE", "ALPHA", "REST"]);
    }

    #[test]
    fn definitions_are_options_too() {
        let mut own = source(Language::Opencl);
        own.settings.defines = vec![("T".into(), "float".into())];
        assert!(own.defines().unwrap().ends_with("-D V_WIDTH=4 -D T=float"));
    }

    #[test]
    fn a_type_that_wgsl_lacks_is_rejected() {
        let mut wide = source(Language::Wgsl);
        wide.constants =
            vec![("V".into(), Constant::Type(Element { scalar: Scalar::F32, width: 16 }))];
        assert!(matches!(wide.wgsl(), Err(Error::Unsupported(_))));
    }
}
