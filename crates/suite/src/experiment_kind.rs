//! What a suite must know of a kind of experiment. The kinds themselves stand further up: whoever
//! loads a suite brings their list.

use super::decode::{At, Diagnostics};
use super::suggest::suggest;
use super::types::{Place, Workload};
use super::values::Expression;
use gpubench_core::workload::{Kind, Size};
use gpubench_core::yaml::Node;
use schemars::{Schema, SchemaGenerator};
use std::any::Any;
use std::ops::Range;
use std::sync::Arc;

/// The checked options of an experiment: a type of its kind's own.
pub type Options = Arc<dyn Any + Send + Sync>;

/// A kind of experiment, as a suite sees it.
pub trait ExperimentKind: Sync {
    /// Its word under `measure:`.
    fn kind(&self) -> Kind;

    /// What it measures, in a sentence for the schema.
    fn about(&self) -> &'static str;

    /// What a workload must have.
    fn needs(&self) -> Needs;

    /// The ranking that a workload counts in where the suite does not say; `None`: what its work suggests.
    fn family(&self) -> Option<Family>;

    /// What it makes of the kinds of host memory that a workload lists.
    fn host_memory(&self) -> HostMemory;

    /// Its options, from what stands behind its word. `None`: there were mistakes, and they have
    /// been reported.
    fn options(&self, node: Option<&Node>, context: &mut OptionsContext) -> Option<Options>;

    /// The options' form, where it takes any.
    fn options_schema(&self, generator: &mut SchemaGenerator) -> Option<Schema>;

    /// The other workloads that `options` name.
    fn partners(&self, options: &Options) -> Vec<Partner>;

    /// What is wrong with `options` at one size, each with its place; `scope` holds the values of
    /// sizes and parameters there.
    fn wrong_at_size(
        &self,
        options: &Options,
        workload: &Workload,
        size: &Size,
        scope: &[(String, f64)],
    ) -> Vec<Wrong>;
}

pub use super::keywords::Family;

/// What a workload must have for an experiment.
#[derive(Clone, Copy, Debug)]
pub struct Needs {
    /// A kernel.
    pub kernel: bool,
    /// Buffers to transfer.
    pub buffers: bool,
    /// A parameter along which the problem is divided into chunks.
    pub divide: bool,
    /// A size that sets the number of groups.
    pub groups_by_size: bool,
    /// Several passes that make one result.
    pub passes: Passes,
}

impl Needs {
    /// A kernel of one pass.
    pub const KERNEL: Self = Self {
        kernel: true,
        buffers: false,
        divide: false,
        groups_by_size: false,
        passes: Passes::Unsupported,
    };
    /// Nothing: what is copied is the experiment's own.
    pub const NOTHING: Self = Self { kernel: false, ..Self::KERNEL };
    /// A kernel whose problem is divided into chunks, and buffers to transfer.
    pub const CHUNKS: Self = Self { buffers: true, divide: true, ..Self::KERNEL };
}

/// What an experiment makes of a workload of several passes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Passes {
    /// It measures one launch.
    Unsupported,
    /// It measures them all.
    Taken,
    /// It works between them.
    Needed,
}

/// What an experiment makes of the kinds of host memory that a workload lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HostMemory {
    /// Nothing.
    Unused,
    /// A case each; one case where none is listed.
    Listed,
    /// A case each; all of them where none is listed.
    All,
}

/// Another workload that an experiment runs.
#[derive(Clone, Debug)]
pub struct Partner {
    /// Its name.
    pub name: String,
    /// Where it is named.
    pub place: Place,
    /// Whether it must have the sizes of the workload that names it.
    pub same_sizes: bool,
    /// What it is for, in words that follow "has no kernel to".
    pub purpose: &'static str,
}

impl Partner {
    /// The workload of this name and place, of whatever sizes.
    pub fn new((name, place): &(String, Place), purpose: &'static str) -> Self {
        Self { name: name.clone(), place: place.clone(), same_sizes: false, purpose }
    }
}

/// Something wrong with an option at one size.
#[derive(Clone, Debug)]
pub struct Wrong {
    /// The option's name.
    pub what: &'static str,
    /// Where it stands.
    pub at: Range<usize>,
    /// Why.
    pub why: String,
}

/// What options are checked against.
pub struct OptionsContext<'a> {
    /// Where the experiment is asked for.
    pub at: Range<usize>,
    /// The workload's buffers.
    pub buffers: Vec<String>,
    /// Its sizes and parameters.
    pub names: Vec<String>,
    /// What is wrong with the file.
    pub diagnostics: &'a mut Diagnostics,
}

impl OptionsContext<'_> {
    /// Reports every name in an expression that is no size or parameter of the workload.
    pub fn check_names(&mut self, expression: &Expression, rule: &str) -> Option<()> {
        let names: Vec<&str> = self.names.iter().map(String::as_str).collect();
        self.diagnostics.check_names(expression, &names, rule)
    }

    /// Where a name stands, for messages once all files are read.
    pub fn named(&self, name: &At<String>) -> (String, Place) {
        (name.value.clone(), self.diagnostics.place(&name.at))
    }

    /// Reports a buffer that the workload has not.
    pub fn check_buffer(&mut self, name: &At<String>) -> Option<()> {
        let known = self.buffers.iter().map(String::as_str);
        if known.clone().any(|buffer| buffer == name.value) {
            return Some(());
        }
        let message = format!("there is no buffer `{}` here", name.value);
        let help = suggest(&name.value, known);
        self.diagnostics.reject(&name.at, message, help.as_deref())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{mistakes, no_mistakes};

    #[test]
    fn options_name_buffers_and_numbers_of_their_workload() {
        let text = "rows*m, out, b";
        let mut diagnostics = no_mistakes(text);
        let (buffers, names) = (vec!["out".to_owned()], vec!["rows".to_owned()]);
        let mut context =
            OptionsContext { at: 0..0, buffers, names, diagnostics: &mut diagnostics };
        let named = |name: &str, at: Range<usize>| At { value: name.to_owned(), at };
        assert_eq!(context.check_buffer(&named("out", 8..11)), Some(()));
        assert_eq!(context.check_buffer(&named("b", 13..14)), None);
        let (name, place) = context.named(&named("out", 8..11));
        assert_eq!((&name[..], place.offset, place.len), ("out", 8, 3));
        let partner = Partner::new(&(name, place), "run");
        assert_eq!(
            (&partner.name[..], partner.same_sizes, partner.purpose, partner.place.offset),
            ("out", false, "run", 8)
        );
        assert_eq!(
            mistakes(diagnostics),
            [("there is no buffer `b` here".to_owned(), "b".to_owned())]
        );
    }

    #[test]
    fn options_are_made_of_names_of_their_workload() {
        use crate::Decode;
        let names = |text: &str| {
            let mut diagnostics = no_mistakes(text);
            let expression =
                Expression::decode(&Node::parse("", text).unwrap(), &mut diagnostics).unwrap();
            let names = vec!["rows".to_owned()];
            let mut context =
                OptionsContext { at: 0..0, buffers: vec![], names, diagnostics: &mut diagnostics };
            (context.check_names(&expression, "the rule"), mistakes(diagnostics).len())
        };
        assert_eq!((names("2*rows"), names("2*out")), ((Some(()), 0), (None, 1)));
    }
}
