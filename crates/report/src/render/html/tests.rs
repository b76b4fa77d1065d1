//! A section of one of everything, and hostile names.

use super::*;
use crate::render::sample;

fn whole(section: &Section) -> String {
    body(section, 3, &mut Ids::default()).into_string()
}

#[test]
fn a_section_reads_well() {
    insta::assert_snapshot!(whole(&sample::section()).replace(
        "><", ">
<"
    ));
}

#[test]
fn hostile_names_stay_text() {
    let page = whole(&sample::hostile());
    assert!(!page.contains("<img") && page.matches("<script").count() == 0, "{page}");
    assert!(!page.contains(sample::speaks));
    assert!(!page.contains("inf") && !page.contains("NaN"));
    for drawing in page.split("<svg").skip(1) {
        let drawing = drawing.split("</svg>").next().unwrap_or("");
        assert!(!drawing.contains("<wbr"), "{drawing}");
    }
    assert!(page.len() < 100_000, "{} bytes", page.len());
}

#[test]
fn anchors_are_distinct_and_links_lead_to_them() {
    let page = whole(&sample::hostile());
    let mut ids: Vec<&str> =
        page.split(" id=\"").skip(1).filter_map(|rest| rest.split('"').next()).collect();
    let all = ids.len();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), all);
    for link in page.split("href=\"#").skip(1).filter_map(|rest| rest.split('"').next()) {
        assert!(ids.contains(&link), "{link}");
    }
}
