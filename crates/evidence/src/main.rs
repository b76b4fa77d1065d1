//! The book of evidence: runs what each capability claims, and writes its pages. `./x evidence` starts it.

mod book;
mod changes;
mod job;
mod output;
mod page;
mod results;
mod run;
mod values;

use book::{Book, Capability};
use clap::Parser;
use gpubench_core::error::{Error, Result};
use page::Page;
use run::{Machine, io};
use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

/// Runs what each capability claims, and writes its pages
#[derive(Debug, Parser)]
struct Args {
    /// The binary that is shown
    #[arg(long, default_value = "target/release/gpubench")]
    gpubench: PathBuf,
    /// Claims, commands and figures
    #[arg(long, default_value = "docs/evidence.yaml")]
    book: PathBuf,
    /// Where results are kept, a folder a machine
    #[arg(long, default_value = "results/evidence")]
    results: PathBuf,
    /// Where pages are written
    #[arg(long, default_value = "docs/results/evidence")]
    pages: PathBuf,
    /// Only these capabilities
    capabilities: Vec<String>,
    /// Write no pages
    #[arg(long, conflicts_with = "pages_only")]
    no_pages: bool,
    /// Write the pages from the results there are, and run nothing
    #[arg(long)]
    pages_only: bool,
    /// On a machine that is visited: what it should answer at once, and nothing simulated
    #[arg(long)]
    carried: bool,
    /// What the machine is called (default: its host's name)
    #[arg(long)]
    machine: Option<String>,
    /// Begin nothing that is not expected to end within so many minutes
    #[arg(long)]
    minutes: Option<f64>,
    /// Factor of all time budgets
    #[arg(long, default_value_t = 1.0)]
    scale: f64,
    /// Write anew also pages with figures of machines whose results are not here: these are lost
    #[arg(long)]
    forget: bool,
    /// List the commands and stop
    #[arg(long)]
    list: bool,
}

fn main() -> ExitCode {
    match evidence(&Args::parse()) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("evidence: {error}");
            ExitCode::from(2)
        }
    }
}

/// Status of a call that has left something for the next one.
const LEFT: u8 = 10;

fn evidence(args: &Args) -> Result<ExitCode> {
    let book = Book::load(&args.book)?;
    let unknown = |name: &&String| !book.capabilities.iter().any(|one| one.name == **name);
    if let Some(name) = args.capabilities.iter().find(unknown) {
        return Err(Error::Usage(format!("{}: no capability {name}", args.book.display())));
    }
    let mut left = 0;
    if !args.pages_only {
        left = run_jobs(args, &book)?;
    }
    if !args.list && !args.no_pages {
        write_pages(args, &book)?;
    }
    if left > 0 {
        eprintln!("evidence: {left} commands are left: call it again");
        return Ok(ExitCode::from(LEFT));
    }
    Ok(ExitCode::SUCCESS)
}

/// Runs what is not done; how many commands are left.
fn run_jobs(args: &Args, book: &Book) -> Result<usize> {
    let machine = Machine::new(&args.gpubench, args.machine.as_deref())?;
    let devices = machine.devices()?;
    let folder = args.results.join(&machine.name);
    let plan =
        job::Plan { devices: &devices, scale: args.scale, folder: &folder, is_visit: args.carried };
    let is_wanted = |one: &Capability| match args.capabilities.is_empty() {
        true => args.carried || !one.carried,
        false => args.capabilities.contains(&one.name),
    };
    let jobs = plan.jobs(book, is_wanted);
    if args.list {
        for job in &jobs {
            let state = if job.is_done() { "done" } else { "open" };
            println!("{state}  {:>4} s  {}: {}", job.expected, job.capability, job.command());
        }
        return Ok(0);
    }
    let piece = args.minutes.map(|minutes| Duration::from_secs_f64(60.0 * minutes.max(0.0)));
    let progress = machine.run(&jobs, piece)?;
    eprintln!("evidence: ran {} commands", progress.ran);
    Ok(progress.left)
}

fn write_pages(args: &Args, book: &Book) -> Result<()> {
    let folder = &args.pages;
    std::fs::create_dir_all(folder).map_err(io(folder))?;
    let all = results::read(&args.results)?;
    let table = folder.join("figures.csv");
    let old = changes::read(&table)?;
    let mut new = vec![];
    let mut overview = String::new();
    for capability in &book.capabilities {
        let page = Page::new(capability, &all);
        let file = folder.join(format!("{}.md", capability.name));
        let before = changes::of(&capability.name, &old);
        // Pages of what was measured elsewhere stay as they are.
        let away = before.iter().map(|entry| &entry.key[3]).find(|of| !page.has_machine(of));
        let is_kept = !args.forget && file.exists() && (page.is_empty() || away.is_some());
        if page.is_empty() && capability.carried && !is_kept {
            continue;
        }
        if let Some(machine) = away.filter(|_| is_kept && !page.is_empty()) {
            let name = file.display();
            eprintln!(
                "evidence: {name} stays: it has figures of {machine}, whose results are not here (--forget loses them)"
            );
        }
        let entries = if is_kept { before } else { page.entries() };
        let changed = changes::changes(&capability.name, &old, &entries);
        let changed = changed.unwrap_or_else(|| last_changes(&file));
        if !is_kept {
            std::fs::write(&file, page.text(&changed)).map_err(io(&file))?;
        }
        let figures: BTreeSet<&str> = entries.iter().map(|entry| entry.key[1].as_str()).collect();
        let _ = writeln!(
            overview,
            "| [{}]({}.md) | {} | {} | {} |",
            capability.title,
            capability.name,
            capability.question,
            figures.len(),
            changed.first().map_or("", String::as_str)
        );
        new.extend(entries);
    }
    changes::write(&table, &new)?;
    let file = folder.join("README.md");
    std::fs::write(&file, format!("{OVERVIEW}{overview}")).map_err(io(&file))
}

/// What the page says of changes: where the results are the same, so is that.
fn last_changes(page: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(page).unwrap_or_default();
    let section = text.split("## Since the last time\n").nth(1).unwrap_or_default();
    let lines = section.split("\n## ").next().unwrap_or_default().lines();
    lines.filter(|line| !line.is_empty()).map(str::to_owned).collect()
}

const OVERVIEW: &str = "# The book of evidence

A page a capability: what is published, our command, what it gave on real drivers and on simulated devices, the
difference, and what is not known. `./x evidence` runs the commands on the devices there are and writes these pages;
nothing in a table is typed by hand. `docs/evidence.yaml` holds claims, commands and which figures of the output are shown.

- **Real drivers** are what is measured; a page names them, and says so where none is a GPU's. **Simulated** times are
  calculated from a description: agreement shows that gpubench finds what is in it, and nothing about hardware.
- **All tries** are shown (`#1`, `#2`), run at different times with different seeds. A cell of several values of the output has
  the median, the ends, and how many: `2.0 ms (1.5 ms to 4.0 ms; 5)`.
- **Claims** compare what is published with the smallest and the largest of our medians, over all rows and tries; how many
  stands in brackets. The difference is from the nearest ends; in points of per cent where both are shares. A published
  number is *measured* by its authors, or *calculated*, where agreement shows that our equations are typed right.
- **Since the last time** compares with `figures.csv`, which holds every figure of every try in full.
- A page of a paper is named where we know it; elsewhere its table, section or chapter.

| page | question | figures measured | since the last time |
|---|---|---|---|
";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::Finished;
    use crate::results::sample::finished;

    /// A capability with a figure, and one that is carried.
    fn two_capabilities() -> String {
        let book = serde_json::json!({ "version": 1, "capabilities": [
            { "name": "a", "title": "A", "question": "What?", "steps": [
                { "name": "run", "on": "each", "command": "run quick" }],
              "figures": [{ "id": "x", "what": "time", "from": ["run"], "section": "s", "table": "t",
                            "column": "c" }] },
            { "name": "carried", "title": "C", "question": "?", "carried": true, "steps": [] }
        ]});
        book.to_string()
    }

    /// Puts a finished job where pages are made of it.
    fn put(job: &Path, one: &Finished) {
        std::fs::create_dir_all(job).unwrap();
        std::fs::write(job.join("output"), &one.text).unwrap();
        std::fs::write(job.join("done.json"), serde_json::to_string(&one.done).unwrap()).unwrap();
    }

    #[test]
    fn pages_are_written_and_remember_what_changed() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        std::fs::write(path("book.yaml"), two_capabilities()).unwrap();
        let args = Args::parse_from([
            "evidence",
            "--pages-only",
            "--book",
            path("book.yaml").to_str().unwrap(),
            "--results",
            path("results").to_str().unwrap(),
            "--pages",
            path("pages").to_str().unwrap(),
        ]);
        let measured = |seconds| put(&path("results/vm/1"), &finished("opencl:0", 1, seconds));
        let page = || std::fs::read_to_string(path("pages/a.md")).unwrap();
        measured(0.004);
        evidence(&args).unwrap();
        assert!(page().contains("This is the first time."));
        assert!(!path("pages/carried.md").exists());
        measured(0.008);
        evidence(&args).unwrap();
        assert!(page().contains("8.00 ms, was 4.00 ms"), "{}", page());
        let again = page();
        evidence(&args).unwrap();
        assert_eq!(page(), again, "the same results");
        let overview = std::fs::read_to_string(path("pages/README.md")).unwrap();
        assert!(
            overview.contains("| [A](a.md) | What? | 1 | Last time: 2026-11-23 01:00."),
            "{overview}"
        );
        // In a fresh clone there are no results.
        let figures = || std::fs::read_to_string(path("pages/figures.csv")).unwrap();
        let old = figures();
        std::fs::remove_dir_all(path("results")).unwrap();
        evidence(&args).unwrap();
        assert_eq!((page(), figures()), (again, old), "what was measured elsewhere stays");
        assert_eq!(std::fs::read_to_string(path("pages/README.md")).unwrap(), overview);
        // Nor does what another machine measures replace it, unless told to.
        let mut elsewhere = finished("opencl:0", 1, 0.5);
        elsewhere.done.machine = "other".into();
        put(&path("results/other/1"), &elsewhere);
        evidence(&args).unwrap();
        assert!(page().contains("8.00 ms") && !page().contains("500 ms"), "{}", page());
        evidence(&Args { forget: true, ..args }).unwrap();
        assert!(page().contains("500 ms"), "{}", page());
    }
}
