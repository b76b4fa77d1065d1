//! The JSON schema of a suite (draft-07), with which editors complete and check.

use super::args::Spec as Argument;
use super::condition::Condition;
use super::decode::Entries;
use super::experiment_kind::ExperimentKind;
use super::file::File;
use super::keywords::{Other, PlainSplit};
use super::search::SearchGroups;
use super::subgroup::Subgroup;
use super::tolerances::ProfileTolerances;
use super::values::{
    ByteSize, Constant, Definition, Experiments, Expression, Fallback, FallbackSpec, Groups, Param,
    RowsSpec, Sizes, Splitting,
};
use super::verify::Verification;
use schemars::generate::SchemaSettings;
use schemars::transform::RecursiveTransform;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::Value;
use std::borrow::Cow;

/// The schema of a suite's file, whose experiments and references are these.
pub fn schema(kinds: &[&'static dyn ExperimentKind], references: &[&str]) -> Schema {
    let settings = SchemaSettings::draft07().with_transform(RecursiveTransform(without_null));
    let mut generator = settings.into_generator();
    let experiments = experiments(kinds, &mut generator);
    let mut schema = generator.into_root_schema_for::<File>();
    schema.insert("title".to_owned(), "gpubench suite".into());
    if let Some(Value::Object(definitions)) = schema.get_mut("definitions") {
        definitions.insert("Experiments".to_owned(), experiments.to_value());
        let reference = definitions
            .get_mut("Verification")
            .and_then(|schema| schema.pointer_mut("/anyOf/1/properties/reference"));
        if let Some(Value::Object(reference)) = reference {
            reference.insert("enum".to_owned(), references.into());
        }
    }
    schema
}

/// The words of experiments, and the options of those that take any.
fn experiments(kinds: &[&'static dyn ExperimentKind], generator: &mut SchemaGenerator) -> Schema {
    let word = |kind: &&'static dyn ExperimentKind| json_schema!({ "const": kind.kind().name(), "description": kind.about() });
    let words: Vec<Schema> = kinds.iter().map(word).collect();
    let mut options = serde_json::Map::new();
    for kind in kinds {
        let schema = kind.options_schema(generator).unwrap_or_else(
            || json_schema!({ "type": ["object", "null"], "additionalProperties": false }),
        );
        options.insert(kind.kind().name().to_owned(), schema.to_value());
    }
    let with_options = json_schema!({
        "type": "object", "properties": options, "additionalProperties": false,
    });
    json_schema!({
        "description": "Experiments, each with its options where it has any.",
        "anyOf": [
            { "type": "array", "items": { "anyOf": [{ "anyOf": words }, with_options] } },
            with_options,
        ],
    })
}

/// An optional key may be missing, but not empty.
fn without_null(schema: &mut Schema) {
    if let Some(Value::Array(types)) = schema.get_mut("type") {
        types.retain(|name| name != "null");
        if let [single] = types.as_slice() {
            let single = single.clone();
            schema.insert("type".to_owned(), single);
        }
    }
    if let Some(Value::Array(choices)) = schema.get_mut("anyOf") {
        choices.retain(|choice| choice.get("type").is_none_or(|name| name != "null"));
        if let [_] = choices.as_slice()
            && let Some(single) = schema.remove("anyOf")
        {
            schema.insert("allOf".to_owned(), single);
        }
    }
}

/// Describes values that may be written in more than one way.
macro_rules! describe {
    ($($type:ident($generator:ident): $schema:expr;)*) => { $(
        impl JsonSchema for $type {
            fn schema_name() -> Cow<'static, str> {
                stringify!($type).into()
            }

            fn json_schema($generator: &mut SchemaGenerator) -> Schema {
                $schema
            }
        }
    )* };
}

describe! {
    Experiments(_generator): json_schema!({ "type": ["array", "object"] });
    Expression(_generator): json_schema!({
        "description": "A number, or arithmetic over names: + - * / % ^, parentheses, min, max, \
                        ceil_div, floor, ceil, log2, sqrt.",
        "type": ["number", "string"],
    });
    Constant(_generator): json_schema!({
        "description": "A number of 32 bits, a type, or a product of matrices.",
        "anyOf": [
            { "type": "number" },
            { "type": "string", "pattern": "^(f16|bf16|f32|f64|[iu](8|16|32|64))(x2|x4|x8|x16)?$" },
            { "type": "string", "pattern": "^matrix_[0-9]+x[0-9]+x[0-9]+(_(f16|bf16|f32|f64|[iu](8|16|32|64))){2}$" },
        ],
    });
    Subgroup(_generator): json_schema!({
        "description": "A number of work-items, or the name of a constant.",
        "type": ["integer", "string"],
    });
    Definition(_generator): json_schema!({
        "description": "A text without blanks, quotes and backslashes, or a whole number.",
        "type": ["string", "integer"],
    });
    Argument(generator): {
        let value = generator.subschema_for::<Expression>();
        let numbers = json_schema!({
            "anyOf": [value, { "type": "array", "items": value, "minItems": 2, "maxItems": 16 }],
        });
        json_schema!({
            "description": "A buffer's name, `params` for the parameter block, or a map with a type: \
                            `{ i32: n }`, `{ f32x2: [0.5, 1] }`, `{ local: 1024 }` for bytes of local memory.",
            "anyOf": [
                { "type": "string" },
                {
                    "type": "object",
                    "properties": { "local": value },
                    "patternProperties": {
                        "^([iu](8|16|32|64)|f16|f32|f64)(x2|x3|x4|x8|x16)?$": numbers,
                    },
                    "additionalProperties": false,
                    "minProperties": 1,
                    "maxProperties": 1,
                },
            ],
        })
    };
    ByteSize(_generator): json_schema!({
        "description": "A number of bytes such as `4096` or `64 MiB`.",
        "anyOf": [
            { "type": "integer", "minimum": 0 },
            { "type": "string", "pattern": "^[0-9]+ *(B|KiB|MiB|GiB|kB|MB|GB)?$" },
        ],
    });
    Groups(_generator): json_schema!({
        "description": "Work-items along one to three dimensions, or a list of such groups.",
        "anyOf": [group(), { "type": "array", "items": group(), "minItems": 1 }],
    });
    SearchGroups(_generator): {
        let sizes = json_schema!({ "type": "array", "items": { "type": "integer", "minimum": 1 }, "minItems": 1 });
        json_schema!({
            "description": "A list of work-groups, or lists of sizes by axis, whose product is tried.",
            "anyOf": [
                group(),
                { "type": "array", "items": group(), "minItems": 1 },
                {
                    "type": "object",
                    "properties": { "x": sizes, "y": sizes, "z": sizes },
                    "additionalProperties": false,
                },
            ],
        })
    };
    Condition(_generator): json_schema!({
        "description": "Two expressions with <=, >=, ==, !=, < or > between: `GROUP_X*GROUP_Y <= 256`.",
        "type": "string",
    });
    Fallback(generator): {
        let with_constants = generator.subschema_for::<FallbackSpec>();
        json_schema!({
            "description": "A work-group, or a map of one and of the constants that go with it.",
            "anyOf": [group(), with_constants],
        })
    };
    Sizes(generator): json_schema!({
        "description": "Lists of values by name, or a list of maps with one value a name.",
        "anyOf": [
            generator.subschema_for::<Entries<Vec<Expression>>>(),
            generator.subschema_for::<Vec<Entries<Expression>>>(),
        ],
    });
    Param(generator): {
        let value = generator.subschema_for::<Expression>();
        json_schema!({
            "description": "An expression over the sizes, or a map with its type: `{ f32: 0.5 }`.",
            "anyOf": [
                value,
                {
                    "type": "object",
                    "properties": { "f32": value, "u32": value, "i32": value },
                    "additionalProperties": false,
                    "minProperties": 1,
                    "maxProperties": 1,
                },
            ],
        })
    };
    Verification(generator): json_schema!({
        "description": "How the result is checked.",
        "anyOf": [
            { "const": "none", "description": "Not at all: it is shown, but never ranked." },
            {
                "type": "object",
                "properties": {
                    "reference": { "type": "string", "description": "A reference of gpubench, by name." },
                    "file": {
                        "description": "An array as NumPy saves it (`c.npy`), or by buffer one for \
                                        each that is written: `{ c: c.npy }`; any other file holds the \
                                        bytes of every written buffer, one after the other. Relative to \
                                        this one.",
                        "type": ["string", "object"],
                        "additionalProperties": { "type": "string" },
                    },
                    "command": {
                        "description": "A command, word by word, that writes what is expected. Behind \
                                        its words it is given two folders: one with `NAME.npy` of every \
                                        buffer that is filled and `numbers.json`, one for `NAME.npy` of \
                                        every buffer that is written. Needs trust.",
                        "type": "array",
                        "items": { "type": "string" },
                        "minItems": 1,
                    },
                    "seconds": {
                        "description": "After how many seconds the command is ended; 60 by default.",
                        "type": "number", "exclusiveMinimum": 0, "maximum": 100,
                    },
                    "against": generator.subschema_for::<Other>(),
                    "relative": tolerance("Difference of floats relative to the expected value; by default 1e-5 of `f32`, 1e-13 of `f64`, 0.02 of `f16`, 0.15 of `bf16`. Integers must be equal."),
                    "absolute": tolerance("Absolute difference of floats; by default 1e-6 of `f32`, 1e-14 of `f64`, 0.002 of `f16`, 0.015 of `bf16`. Integers must be equal."),
                    "profiles": generator.subschema_for::<ProfileTolerances>(),
                },
                "additionalProperties": false,
            },
        ],
    });
    Splitting(generator): json_schema!({
        "description": "What a chunk of a divided problem sees of a buffer.",
        "anyOf": [generator.subschema_for::<PlainSplit>(), generator.subschema_for::<RowsSpec>()],
    });
}

fn group() -> Schema {
    json_schema!({
        "type": "array",
        "items": { "type": "integer", "minimum": 1 },
        "minItems": 1,
        "maxItems": 3,
    })
}

fn tolerance(about: &str) -> Schema {
    json_schema!({ "type": "number", "minimum": 0, "description": about })
}

#[cfg(test)]
mod tests {
    use super::schema;
    use crate::testing::KINDS;
    use serde_json::{Value, json};

    fn whole() -> Value {
        schema(&KINDS, &["copy", "sum"]).to_value()
    }

    #[test]
    fn the_schema_lists_references_and_kinds() {
        let schema = whole();
        assert_eq!(schema["title"], "gpubench suite");
        let at = |path: &str| schema.pointer(&format!("/definitions{path}")).cloned().unwrap();
        assert_eq!(at("/Verification/anyOf/1/properties/reference/enum"), json!(["copy", "sum"]));
        let words = at("/Experiments/anyOf/0/items/anyOf/0/anyOf");
        let names: Vec<_> =
            words.as_array().unwrap().iter().map(|word| word["const"].as_str().unwrap()).collect();
        assert_eq!(names, ["kernel", "copies", "every_copy", "chunks", "groups", "between"]);
        assert_eq!(words[0]["description"], "Nothing.");
        let options = at("/Experiments/anyOf/1/properties");
        assert_eq!(options.as_object().unwrap().len(), names.len());
        assert_eq!(
            options["kernel"],
            json!({ "type": ["object", "null"], "additionalProperties": false })
        );
    }

    /// A key may be missing, but nothing may stand behind it.
    #[test]
    fn an_optional_key_is_not_empty() {
        let schema = whole();
        let file = &schema["properties"];
        assert_eq!(file["name"]["type"], "string");
        assert_eq!(file["include"]["type"], "array");
        assert_eq!(file["budget"]["allOf"], json!([{ "$ref": "#/definitions/Budget" }]));
        assert_eq!(file["budget"].get("anyOf"), None);
        assert_eq!(schema["definitions"]["Workload"]["properties"]["grid"]["type"], "array");
        assert_eq!(
            schema["definitions"]["Workload"]["properties"]["kernel"]["allOf"][0]["$ref"],
            "#/definitions/Kernel"
        );
    }

    #[test]
    fn limits_stand_in_the_schema() {
        let schema = whole();
        let at = |path: &str| schema.pointer(&format!("/definitions{path}")).cloned().unwrap();
        let group = at("/Groups/anyOf/0");
        assert_eq!(
            group,
            json!({ "type": "array", "items": { "type": "integer", "minimum": 1 }, "minItems": 1, "maxItems": 3 })
        );
        assert_eq!((at("/Groups/anyOf/1/items"), at("/Fallback/anyOf/0")), (group.clone(), group));
        let relative = at("/Verification/anyOf/1/properties/relative");
        assert_eq!((&relative["type"], &relative["minimum"]), (&json!("number"), &json!(0)));
        assert!(relative["description"].as_str().unwrap().contains("1e-5"));
        assert_eq!(at("/Expression/type"), json!(["number", "string"]));
        assert_eq!(at("/Param/anyOf/1/maxProperties"), json!(1));
        assert_eq!(at("/ByteSize/anyOf/0/minimum"), json!(0));
    }
}
