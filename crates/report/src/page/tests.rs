use super::*;
use crate::render;
use crate::testing::{Sample, hostile};

fn of(sample: &Sample) -> String {
    let sections = vec![render::sample::section(), render::sample::hostile()];
    let input = sample.input();
    page(&input, &crate::sections(&input, sections, &sample.ranking(), &sample.compared()))
}

/// Elements that have no end tag.
const VOID: [&str; 4] = ["meta", "br", "wbr", "link"];

/// The tags of a page in order, each as `name` or `/name`; fails where one is not closed.
fn tags(page: &str) -> Vec<String> {
    let mut open: Vec<String> = vec![];
    let mut found = vec![];
    let mut rest = page.strip_prefix("<!DOCTYPE html>").expect("a document type");
    while let Some(at) = rest.find('<') {
        rest = &rest[at + 1..];
        let end = tag_end(rest);
        let tag = &rest[..end];
        rest = &rest[end + 1..];
        let name = tag.split([' ', '\n']).next().unwrap_or_default().to_owned();
        if let Some(closed) = name.strip_prefix('/') {
            assert_eq!(open.pop().as_deref(), Some(closed), "before {:.80}", rest);
        } else if !VOID.contains(&name.as_str()) {
            open.push(name.clone());
        }
        if name == "style" {
            rest = &rest[rest.find("</style").expect("its end")..];
        }
        found.push(name);
    }
    assert!(open.is_empty(), "{open:?} are not closed");
    found
}

/// Where a tag ends: `>` within an attribute's quotes does not count.
fn tag_end(text: &str) -> usize {
    let mut quoted = false;
    text.find(|c| {
        quoted ^= c == '"';
        c == '>' && !quoted
    })
    .expect("an end")
}

#[test]
fn the_page_is_well_formed_and_loads_nothing() {
    let page = of(&Sample::new());
    let tags = tags(&page);
    for bad in ["script", "img", "iframe", "object", "link", "form"] {
        assert!(!tags.iter().any(|tag| tag == bad), "<{bad}");
    }
    for bad in ["http:", "https:", "javascript:", "url(", "@import", " style=", " onload="] {
        assert!(!page.contains(bad), "{bad}");
    }
    assert!(page.contains("default-src 'none'; style-src 'sha256-"));
}

#[test]
fn headings_are_in_order_and_plots_have_names() {
    let page = of(&Sample::new());
    let tags = tags(&page);
    let levels = tags.iter().filter_map(|tag| tag.strip_prefix('h')?.parse::<u32>().ok());
    let mut last = 0;
    for level in levels {
        assert!(level <= last + 1, "h{level} behind h{last}");
        last = level;
    }
    let count = |text: &str| page.matches(text).count();
    assert!(count("role=\"img\"") > 8);
    assert_eq!(count("<figure>"), count("role=\"img\""));
    assert_eq!(count("<desc>"), count("role=\"img\""));
    assert_eq!(count("<table"), count("<caption>"));
    assert!(!page.contains("NaN") || page.contains("found NaN"));
    assert!(!page.contains("inf "));
}

#[test]
fn every_section_is_there() {
    let page = of(&Sample::new());
    for id in [
        "devices",
        "ranking",
        "results",
        "rooflines",
        "workloads",
        "overlap",
        "flags",
        "environment",
    ] {
        assert!(page.contains(&format!("<h2 id=\"{id}\">")), "{id}");
        assert!(page.contains(&format!("href=\"#{id}\"")), "{id}");
    }
}

#[test]
fn a_page_of_fixed_records() {
    let page = of(&Sample::new());
    let (head, body) = page.split_once("<style>").expect("a style");
    let body = body.split_once("</style>").expect("its end").1;
    // One element a line, so that a difference can be read; the style has its own file.
    let head = head.replace(&policy(), "POLICY").replace(env!("CARGO_PKG_VERSION"), "VERSION");
    let body = body.replace(env!("CARGO_PKG_VERSION"), "VERSION").replace("><", ">\n<");
    insta::assert_snapshot!(format!("{head}\n{body}"));
}

#[test]
fn hostile_names_stay_text() {
    let page = of(&Sample::named(&hostile()));
    tags(&page);
    assert!(page.contains("&lt;/script&gt;&lt;img src=x"));
    assert!(!page.contains("<img") && !page.contains("</script"));
    assert!(!page.contains(['\u{1b}', '\u{202e}', '\u{7}']));
    assert!(page.len() < 1 << 20, "{} bytes", page.len());
}

#[test]
fn an_empty_run_is_a_page_too() {
    let header = gpubench_core::record::sample::header(vec![]);
    let source = gpubench_analysis::Source {
        name: "empty.jsonl".into(),
        header: &header,
        records: &[],
        footer: None,
        warnings: vec![],
    };
    let matrix = gpubench_analysis::result_matrix([(&header, &[][..])]);
    let ranking = gpubench_analysis::rank::rank(&matrix, &Default::default()).unwrap();
    let input = ReportInput::new(vec![source]);
    let page = page(&input, &crate::sections(&input, vec![], &ranking, &[]));
    tags(&page);
    assert!(page.contains("cut short"));
}

#[test]
fn a_ranking_is_a_page_of_its_own() {
    let page = of_section("gpubench ranking", &crate::ranking::section(&Sample::new().ranking()));
    let tags = tags(&page);
    assert!(
        page.contains("<h2 id=\"ranking\">Ranking</h2><p>Invented GPU · 1.0 · opencl is fastest")
    );
    assert!(page.contains("class=\"matrix\"") && !tags.iter().any(|tag| tag == "nav"));
}

#[test]
fn narrow_pages_keep_the_first_column_and_whole_figures() {
    assert!(STYLE.contains("tbody th,thead tr:last-child>th:first-child{position:sticky;left:0"));
    let page = of(&Sample::new());
    let cells = page.split("<td class=\"n").skip(1);
    let cells = cells.filter_map(|cell| cell.split_once('>')?.1.split_once("</td>"));
    let broken: Vec<&str> = cells
        .map(|(cell, _)| cell)
        .filter(|cell| cell.starts_with(|c: char| c.is_ascii_digit()) && cell.contains(' '))
        .collect();
    assert!(broken.is_empty(), "{broken:?}");
    assert!(page.contains(">2.50\u{a0}ms</td>"));
}

#[test]
fn a_workload_says_why_a_device_skipped_it() {
    let page = of(&Sample::named("odd"));
    let workloads = page.split("<h2 id=\"workloads\">").nth(1).unwrap();
    let workloads = workloads.split("<h2").next().unwrap();
    assert!(workloads.contains("unsupported: odd"), "{workloads}");
}
