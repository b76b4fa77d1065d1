//! How constants reach a kernel: `-D` options in OpenCL C, declarations behind the last line in WGSL.

use super::wgsl_text::{overrides, rebound, without_overrides};
use super::{Constant, Element, KernelSource, Language, Scalar};
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
    /// `Unsupported` when a constant is a type that the language lacks, or the kernel is SPIR-V.
    pub fn wgsl(&self) -> Result<String> {
        if self.settings.spirv {
            return Err(Error::Unsupported(
                "the kernel is in SPIR-V, which is not translated".to_owned(),
            ));
        }
        let constants = self.spelled_constants(Language::Wgsl)?;
        let names: Vec<_> = constants.iter().map(|(name, _)| name.as_str()).collect();
        let text = rebound(&self.text, &self.settings.bindings);
        let overridden = overrides(&text);
        let mut text = self.directives() + &without_overrides(&text, &names) + "\n";
        for (name, value) in &constants {
            let typed = overridden.iter().find(|o| o.name == *name).and_then(|o| o.r#type.as_ref());
            text += &match typed {
                _ if value.starts_with(|c: char| c.is_ascii_alphabetic()) => {
                    format!("alias {name}={value};")
                }
                Some(r#type) => format!("const {name}: {type}={};", untyped(value, r#type)),
                None => format!("const {name}={value};"),
            };
        }
        Ok(text)
    }

    /// What the constants' types need in front of the text in WGSL, in its first line.
    pub fn directives(&self) -> String {
        let any = |is: &dyn Fn(&Constant) -> bool| self.constants.iter().any(|(_, c)| is(c));
        let has = |scalar| {
            any(&|constant| match constant {
                Constant::Type(element) => element.scalar == scalar,
                Constant::Matrix(product) => product.of(scalar),
                _ => false,
            })
        };
        let matrices = any(&|constant| matches!(constant, Constant::Matrix(_)));
        let needed = [
            (has(Scalar::F16), "f16"),
            (has(Scalar::I16) || has(Scalar::U16), "wgpu_int16"),
            (matrices, "wgpu_cooperative_matrix"),
        ];
        let needed = needed.into_iter().filter(|(needed, _)| *needed);
        needed.map(|(_, extension)| format!("enable {extension}; ")).collect()
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
        let all = group.chain(self.constants.iter().flat_map(with_relatives));
        let spelled = all.map(|(name, value)| spell(name, &value, language));
        Ok(spelled.collect::<Result<Vec<_>>>()?.concat())
    }
}

/// A constant, and behind it, where it is a type, the number of its components, since a kernel that is
/// written for several vector widths counts in vectors and WGSL has no `sizeof`, and the types that it is
/// converted from and to: its component, and `u32` and `i32` as often as it has components.
fn with_relatives((name, value): &(String, Constant)) -> Vec<(String, Constant)> {
    let mut all = vec![(name.clone(), value.clone())];
    if let Constant::Type(r#type) = value {
        all.push((format!("{name}_WIDTH"), Constant::Int(i64::from(r#type.width))));
        for (relative, r#type) in [
            ("SCALAR", Element { width: 1, ..*r#type }),
            ("U32", Element { scalar: Scalar::U32, ..*r#type }),
            ("I32", Element { scalar: Scalar::I32, ..*r#type }),
        ] {
            all.push((format!("{name}_{relative}"), Constant::Type(r#type)));
        }
    }
    all
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

fn spell(name: String, value: &Constant, language: Language) -> Result<Vec<(String, String)>> {
    let spelled = match (value, language) {
        (Constant::Int(n), Language::Opencl) => n.to_string(),
        (Constant::Int(n), Language::Wgsl) if *n < 0 => format!("{n}i"),
        (Constant::Int(n), Language::Wgsl) => format!("{n}u"),
        (Constant::Float(x), _) => format!("{x:?}f"),
        (Constant::Matrix(product), _) => return product.spelled(&name, language),
        (Constant::Type(element), _) => element.spelled(language).ok_or_else(|| {
            let r#type = String::from(*element);
            Error::Unsupported(format!("{} has no type `{type}`", language.spelled()))
        })?,
    };
    Ok(vec![(name, spelled)])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(language: Language) -> KernelSource {
        KernelSource {
            group: [16, 4, 1],
            constants: vec![
                ("TILE".into(), Constant::Int(8)),
                ("ALPHA".into(), Constant::Float(0.5)),
                ("V".into(), Constant::Type(Element { scalar: Scalar::F32, width: 4 })),
            ],
            ..KernelSource::new(language, "f", "the text")
        }
    }

    #[test]
    fn a_compiler_gets_the_group_and_opencl_s_no_entry_point() {
        let kernel = |language, entry: &str, x| {
            let kernel = source(language);
            KernelSource { entry: entry.into(), group: [x, 1, 1], ..kernel }.compiled_hash()
        };
        for language in [Language::Opencl, Language::Wgsl] {
            assert_ne!(kernel(language, "a", 8), kernel(language, "a", 16));
            let is_same = kernel(language, "a", 8) == kernel(language, "b", 8);
            assert_eq!(is_same, language == Language::Opencl);
        }
    }

    #[test]
    fn opencl_gets_options() {
        assert_eq!(
            source(Language::Opencl).defines().unwrap(),
            "-D GROUP_X=16 -D GROUP_Y=4 -D GROUP_Z=1 -D TILE=8 -D ALPHA=0.5f -D V=float4 -D V_WIDTH=4 \
             -D V_SCALAR=float -D V_U32=uint4 -D V_I32=int4"
        );
    }

    #[test]
    fn wgsl_gets_declarations_behind_the_last_line() {
        assert_eq!(
            source(Language::Wgsl).wgsl().unwrap(),
            "the text\nconst GROUP_X=16u;const GROUP_Y=4u;const GROUP_Z=1u;const TILE=8u;const ALPHA=0.5f;alias V=vec4<f32>;const V_WIDTH=4u;\
             alias V_SCALAR=f32;alias V_U32=vec4<u32>;alias V_I32=vec4<i32>;"
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
        assert!(own.defines().unwrap().ends_with("-D V_I32=int4 -D T=float"));
    }

    #[test]
    fn a_type_that_wgsl_lacks_is_rejected() {
        let mut wide = source(Language::Wgsl);
        wide.constants =
            vec![("V".into(), Constant::Type(Element { scalar: Scalar::F32, width: 16 }))];
        assert!(matches!(wide.wgsl(), Err(Error::Unsupported(_))));
        wide.constants[0].1 = Constant::Type(Element { scalar: Scalar::I8, width: 1 });
        assert!(matches!(wide.wgsl(), Err(Error::Unsupported(why)) if why.contains("i8")));
        wide.constants[0].1 = Constant::Type(Element { scalar: Scalar::U16, width: 2 });
        let short = wide.wgsl().unwrap();
        assert!(short.starts_with("enable wgpu_int16; ") && short.contains("alias V=vec2<u16>;"));
        wide.constants[0].1 = Constant::Type(Element { scalar: Scalar::I64, width: 4 });
        assert!(wide.wgsl().unwrap().contains("alias V=vec4<i64>;"));
    }

    #[test]
    fn half_precision_is_enabled_in_the_first_line() {
        let mut half = source(Language::Wgsl);
        half.constants =
            vec![("T".into(), Constant::Type(Element { scalar: Scalar::F16, width: 2 }))];
        let text = half.wgsl().unwrap();
        assert!(text.starts_with("enable f16; the text\n"), "{text}");
        assert!(text.contains("alias T=vec2<f16>;const T_WIDTH=2u;alias T_SCALAR=f16;"), "{text}");
    }

    #[test]
    fn a_product_of_matrices_is_types_behind_the_text_and_enabled_before_it() {
        let mut own = source(Language::Wgsl);
        let product = "matrix_16x16x16_f16_f32".to_owned().try_into().unwrap();
        own.constants = vec![("M".into(), Constant::Matrix(product))];
        let text = own.wgsl().unwrap();
        assert!(
            text.starts_with("enable f16; enable wgpu_cooperative_matrix; the text\n"),
            "{text}"
        );
        assert!(text.contains("alias M_A=coop_mat16x16<f16,A>;"), "{text}");
        assert!(text.ends_with("alias M_FACTOR=f16;alias M_SUM=f32;const M_ROWS=16u;"), "{text}");
        own.language = Language::Opencl;
        assert!(matches!(own.defines(), Err(Error::Unsupported(why)) if why.contains("OpenCL C")));
    }

    #[test]
    fn whole_numbers_are_signed_or_not_and_truth_values_are_words() {
        let mut own = source(Language::Wgsl);
        own.text = "override ON: bool; override OFF: bool;".into();
        let numbers = [("ON", 1), ("OFF", 0), ("LESS", -3), ("NOTHING", 0)];
        own.constants = numbers.map(|(name, n)| (name.to_owned(), Constant::Int(n))).to_vec();
        let text = own.wgsl().unwrap();
        for part in ["ON: bool=true;", "OFF: bool=false;", "LESS=-3i;", "NOTHING=0u;"] {
            assert!(text.contains(&format!("const {part}")), "{part} in {text}");
        }
        assert_eq!(own.opencl(), own.text);
        own.settings.expanded =
            Some(crate::gpu::Expanded { text: "with headers".into(), headers: vec![] });
        assert_eq!(own.opencl(), "with headers");
    }
}
