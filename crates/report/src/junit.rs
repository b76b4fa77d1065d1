//! A comparison as JUnit's XML, which continuous integration shows as tests: a suite a device, a test a
//! case. A failure is what the gate does not let through; a skipped test has no verdict or an unsure one.

use super::comparison::{Compared, Side, speed};
use super::gate::{exclusion, rule};
use super::labels::{case_name, device};
use gpubench_analysis::{Exclusion, Gate, Row, Skipped, Verdict};
use gpubench_core::text::printable;
use maud::{Markup, PreEscaped, html};

/// The whole file.
pub fn junit(all: &[Compared], gate: &Gate) -> String {
    let suites: Vec<Suite> = all.iter().map(|compared| Suite::of(compared, gate)).collect();
    let sum = |of: fn(&Suite) -> usize| suites.iter().map(of).sum::<usize>();
    let markup = html! {
        (PreEscaped("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"))
        testsuites name="gpubench" tests=(sum(|s| s.tests)) failures=(sum(|s| s.failures))
            skipped=(sum(|s| s.skipped)) {
            @for suite in &suites { "\n" (suite.markup) }
            "\n"
        }
        "\n"
    };
    markup.into_string()
}

/// A device's cases.
struct Suite {
    markup: Markup,
    tests: usize,
    failures: usize,
    skipped: usize,
}

enum Came {
    Failed,
    Skipped,
    Passed,
}

impl Suite {
    fn of(compared: &Compared, gate: &Gate) -> Self {
        let name = device(&compared.new.device).text_with(|name| text(name));
        let rows = &compared.comparison.rows;
        let cases = rows.iter().map(|row| case(&name, row, gate));
        let others = compared.comparison.skipped.iter().map(|one| other(&name, one, gate));
        let all: Vec<(Came, Markup)> = cases.chain(others).collect();
        let count = |wanted: fn(&Came) -> bool| all.iter().filter(|(came, _)| wanted(came)).count();
        let (failures, skipped) = (
            count(|came| matches!(came, Came::Failed)),
            count(|came| matches!(came, Came::Skipped)),
        );
        let Compared { old, new, .. } = compared;
        let markup = html! {
            testsuite name=(name) hostname=(text(&new.host.name)) timestamp=(text(&new.started))
                tests=(all.len()) failures=(failures) skipped=(skipped) {
                "\n  " properties {
                    @for (key, value) in properties(old, new) {
                        "\n    " property name=(key) value=(value) {}
                    }
                    @if let Some(speed) = speed(&compared.comparison) {
                        "\n    " property name="speed" value=(speed.text_with(Clone::clone)) {}
                    }
                }
                @for (_, case) in &all { "\n  " (case) }
                "\n"
            }
        };
        Self { markup, tests: all.len(), failures, skipped }
    }
}

fn properties(old: &Side, new: &Side) -> [(&'static str, String); 6] {
    [
        ("device", text(&new.device.name)),
        ("api", text(&new.device.api)),
        ("driver", text(&new.device.driver)),
        ("host", text(&new.host.class())),
        ("baseline driver", text(&old.device.driver)),
        ("baseline host", text(&old.host.class())),
    ]
}

fn case(suite: &str, row: &Row, gate: &Gate) -> (Came, Markup) {
    let why = rule(row);
    let unsure = matches!(row.verdict, Verdict::Unsure { .. });
    let (came, inside) = match row.verdict {
        Verdict::Slower if gate.is_too_slow(row) => {
            (Came::Failed, html! { failure type="slower" message=(why) {} })
        }
        _ if unsure && gate.unsure => {
            (Came::Failed, html! { failure type="unsure" message=(why) {} })
        }
        _ if unsure => (Came::Skipped, html! { skipped message=(format!("unsure: {why}")) {} }),
        _ => {
            let label = super::comparison::verdict_label(&row.verdict);
            (Came::Passed, html! { system-out { (label) ": " (why) } })
        }
    };
    let name = case_name(&row.key);
    let seconds = format!("{:.9}", row.new);
    let markup = html! { testcase classname=(suite) name=(name) time=(seconds) { (inside) } };
    (came, markup)
}

fn other(suite: &str, skipped: &Skipped, gate: &Gate) -> (Came, Markup) {
    let fails = match skipped.exclusion {
        Exclusion::Unverified => gate.unverified,
        Exclusion::Missing => gate.missing,
        Exclusion::New | Exclusion::Before => false,
    };
    let (kind, why) = (exclusion(skipped), text(&skipped.reason));
    let inside = match fails {
        true => html! { failure type=(kind) message=(why) {} },
        false => html! { skipped message=(format!("{kind}: {why}")) {} },
    };
    let came = if fails { Came::Failed } else { Came::Skipped };
    (came, html! { testcase classname=(suite) name=(case_name(&skipped.key)) { (inside) } })
}

fn text(name: &str) -> String {
    printable(name, 200)
}
