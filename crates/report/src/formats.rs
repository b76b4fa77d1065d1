//! The formats of reports: one line each, and what a line says.

use crate::comparison::Compared;
use crate::{data, markdown, page, render, terminal};
use gpubench_analysis::ReportInput;
use gpubench_analysis::rank::Ranking;
use gpubench_core::text::harmless;
use gpubench_document::Section;

/// What is reported.
pub struct Report<'a> {
    /// The runs.
    pub input: &'a ReportInput<'a>,
    /// What it says, in order.
    pub sections: Vec<Section>,
    /// The ranking.
    pub ranking: &'a Ranking,
    /// The devices against a baseline.
    pub compared: &'a [Compared],
    /// Columns of the terminal, for the format that is for one.
    pub width: Option<usize>,
}

/// A format of reports.
#[derive(Debug)]
pub struct Format {
    /// Its name; behind `|` others that it goes by.
    pub name: &'static str,
    /// What it is for.
    pub about: &'static str,
    /// What names of such files end in, the usual first.
    pub endings: &'static [&'static str],
    /// Whether it shows the ranking.
    pub ranks: bool,
    /// The report in it.
    write: fn(&Report) -> String,
}

impl Format {
    /// The report in it: the one way out of every format, which nothing passes that commands whoever
    /// shows it.
    pub fn text(&self, report: &Report) -> String {
        harmless(&(self.write)(report)).into_owned()
    }
}

/// All of them.
pub static FORMATS: [Format; 6] = [
    Format {
        name: "text",
        about: "Tables for a terminal",
        endings: &["txt"],
        ranks: true,
        write: |r| terminal::text(&r.sections, r.width),
    },
    Format {
        name: "html",
        about: "One page with plots, for a browser or a printer",
        endings: &["html", "htm"],
        ranks: true,
        write: |r| page::page(r.input, &r.sections),
    },
    Format {
        name: "md|markdown",
        about: "Tables for a pull request",
        endings: &["md"],
        ranks: true,
        write: |r| markdown::markdown(r.input, &r.sections),
    },
    Format {
        name: "csv",
        about: "One line a case and device, for a spreadsheet",
        endings: &["csv"],
        ranks: false,
        write: |r| data::spreadsheet(r.input),
    },
    Format {
        name: "figures",
        about: "One line (of CSV) a figure of every section, for data frames",
        endings: &[],
        ranks: true,
        write: |r| render::csv::sections(&r.sections),
    },
    Format {
        name: "json",
        about: "Everything, for programs (`gpubench schema report` says its schema)",
        endings: &["json"],
        ranks: true,
        write: |r| render::json::json(&data::document(r.input, &r.sections, r.ranking, r.compared)),
    },
];
