//! `gpubench references`: list the references that verify results, and what each wants.

use super::show::{print, wrapped};
use gpubench_core::error::{Error, Result};
use gpubench_core::gpu::{Access, Element, Scalar};
use gpubench_core::workload::Verify;
use gpubench_report::render::json::json;
use gpubench_suite::{Suite, Workload, suggest};
use serde::Serialize;

/// Arguments of `gpubench references`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Only these references (default: all)
    #[arg(value_name = "NAME")]
    names: Vec<String>,
    /// Print JSON: an array of references
    #[arg(long)]
    json: bool,
}

/// A reference, with the workload that shows how to use it.
#[derive(Serialize)]
struct Entry {
    name: &'static str,
    /// What it computes.
    about: &'static str,
    /// `None` where no embedded suite uses it.
    #[serde(flatten)]
    example: Option<Example>,
}

/// What a workload of an embedded suite has for its reference.
#[derive(Serialize)]
struct Example {
    suite: &'static str,
    workload: String,
    /// In binding order.
    buffers: Vec<BufferShape>,
    parameters: Vec<Parameter>,
    /// Names of the constants that the kernel is compiled with.
    constants: Vec<String>,
}

/// A buffer that the reference may read, or computes.
#[derive(Serialize)]
struct BufferShape {
    name: String,
    r#type: Element,
    /// Number of elements, over sizes and parameters.
    count: String,
    access: Access,
}

/// A parameter that the reference may use.
#[derive(Serialize)]
struct Parameter {
    name: String,
    r#type: Scalar,
}

/// Runs the command.
///
/// # Errors
/// `Usage` where there is no such reference.
pub fn run(args: Args) -> Result<()> {
    let known: Vec<_> = gpubench_reference::names().collect();
    for name in &args.names {
        if !known.contains(&name.as_str()) {
            let near = suggest(name, known.iter().copied());
            let near = near.map_or_else(String::new, |near| format!("; {near}"));
            return Err(Error::Usage(format!("there is no reference `{name}`{near}")));
        }
    }
    let suites: Vec<(&str, Suite)> = gpubench_suite::suites()
        .into_iter()
        .map(|name| Ok((name, gpubench_experiments::load(name)?)))
        .collect::<Result<_>>()?;
    let is_asked = |name: &str| args.names.is_empty() || args.names.iter().any(|one| one == name);
    let entries: Vec<Entry> = gpubench_reference::abouts()
        .filter(|(name, _)| is_asked(name))
        .map(|(name, about)| Entry { name, about, example: example(name, &suites) })
        .collect();
    let texts = || entries.iter().map(text).collect::<Vec<_>>().join("\n");
    print(&if args.json { json(&entries) } else { texts() })
}

/// The first workload that is verified with `reference`, in the suite in whose file it stands.
fn example(reference: &str, suites: &[(&'static str, Suite)]) -> Option<Example> {
    let is_it = |workload: &&Workload| matches!(&workload.verify, Verify::Reference(name, _) if name == reference);
    let (suite, workload) = suites.iter().find_map(|(suite, all)| {
        let mut own = all.workloads.iter().filter(|workload| is_own(suite, workload));
        Some((*suite, own.find(is_it)?))
    })?;
    let buffers = workload.buffers.iter().map(|buffer| BufferShape {
        name: buffer.name.clone(),
        r#type: buffer.element,
        count: buffer.count.to_string(),
        access: buffer.access,
    });
    let parameters = workload
        .params
        .iter()
        .map(|(name, _, scalar)| Parameter { name: name.clone(), r#type: *scalar });
    let constants = workload.kernel.iter().flat_map(|kernel| &kernel.constants);
    Some(Example {
        suite,
        workload: workload.name.clone(),
        buffers: buffers.collect(),
        parameters: parameters.collect(),
        constants: constants.map(|(name, _)| name.clone()).collect(),
    })
}

/// Whether the workload stands in the file of this suite, not in one that it includes.
fn is_own(suite: &str, workload: &Workload) -> bool {
    workload.place.file.starts_with(&format!("suites/{suite}.yaml"))
}

fn text(entry: &Entry) -> String {
    let mut text = format!("{}\n", entry.name);
    let mut line = |first: &str, about: &str| {
        text += &wrapped(about, [&format!("  {first}"), "    "], false);
    };
    line("", entry.about);
    let Some(example) = &entry.example else { return text };
    let shape = |buffer: &BufferShape| {
        let access = match buffer.access {
            Access::Read => "",
            Access::Write => " (written)",
            Access::ReadWrite => " (read and written)",
        };
        format!("{} {}[{}]{access}", buffer.name, String::from(buffer.r#type), buffer.count)
    };
    let buffers: Vec<_> = example.buffers.iter().map(shape).collect();
    line("buffers: ", &buffers.join(", "));
    let parameter =
        |one: &Parameter| format!("{} {}", one.name, String::from(Element::scalar(one.r#type)));
    let parameters: Vec<_> = example.parameters.iter().map(parameter).collect();
    if !parameters.is_empty() {
        line("parameters: ", &parameters.join(", "));
    }
    if !example.constants.is_empty() {
        line("constants: ", &example.constants.join(", "));
    }
    line("example: ", &format!("{} of the suite {}", example.workload, example.suite));
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_reference_has_an_example_that_names_its_buffers() {
        let suites: Vec<_> = gpubench_suite::suites()
            .into_iter()
            .map(|name| (name, gpubench_experiments::load(name).unwrap()))
            .collect();
        for (name, about) in gpubench_reference::abouts() {
            let example = example(name, &suites).unwrap_or_else(|| panic!("{name}: no example"));
            assert!(example.buffers.iter().any(|buffer| buffer.access != Access::Read), "{name}");
            assert!(!about.is_empty() && !about.ends_with('.'), "{name}: {about}");
        }
    }
}
