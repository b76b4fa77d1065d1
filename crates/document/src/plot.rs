//! Plots: series of points in a frame of two axes.

use super::slug::slug;
use super::style::Style;
use super::{Figure, Quantity, Sentence, Unit, number_text};
use schemars::JsonSchema;
use serde::Serialize;

/// How an axis maps quantities. Linear axes reach to zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Scale {
    /// Evenly.
    Linear,
    /// By logarithm, with ticks at powers of two.
    Log2,
    /// By logarithm, with ticks at powers of ten.
    Log10,
}

/// An axis.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Axis {
    /// What it shows.
    pub label: Sentence,
    /// The unit of its quantities.
    pub unit: Unit,
    /// How it maps them.
    pub scale: Scale,
    /// Names that values along the axis are positions of, from 0.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    categories: Vec<String>,
    /// Values that have a place on it whatever is drawn: plots that share them can be compared.
    #[serde(skip)]
    shared: Vec<f64>,
}

impl Axis {
    /// An axis of quantities.
    pub fn new(label: impl Into<Sentence>, unit: Unit, scale: Scale) -> Self {
        Self { label: label.into(), unit, scale, categories: vec![], shared: vec![] }
    }

    /// The same with a place for each of `values`, whatever is drawn: plots with the same ones have the same
    /// axis.
    pub fn shared(self, values: impl IntoIterator<Item = f64>) -> Self {
        Self { shared: values.into_iter().collect(), ..self }
    }

    /// Values that have a place on it whatever is drawn.
    pub fn places(&self) -> &[f64] {
        &self.shared
    }

    /// A horizontal axis of names; a point's x is a name's position, from 0. Such a plot is drawn
    /// with one line a name.
    pub fn categories(label: impl Into<Sentence>, names: impl IntoIterator<Item = String>) -> Self {
        Self {
            categories: names.into_iter().collect(),
            ..Self::new(label, Unit::None, Scale::Linear)
        }
    }

    /// The names along the axis; none along one of quantities.
    pub fn names(&self) -> &[String] {
        &self.categories
    }

    /// What a tick says. Ticks are the only numbers that a format shows without their being in the
    /// document: they rule the paper and report nothing.
    pub fn tick(&self, value: f64) -> String {
        number_text::tick(value, self.unit)
    }
}

/// A point: both numbers are finite.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Point {
    /// Where it stands horizontally.
    x: f64,
    /// Where it stands vertically.
    y: Quantity,
}

impl Point {
    /// Where it stands horizontally.
    pub fn x(self) -> f64 {
        self.x
    }

    /// Where it stands vertically, with its interval.
    pub fn y(self) -> Quantity {
        self.y
    }
}

/// Points that belong together.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Series {
    /// What the legend calls it.
    pub name: Sentence,
    /// How it is drawn.
    pub style: Style,
    /// The number of its colour and mark, where it shares them with another series.
    #[serde(skip)]
    pub colour: Option<usize>,
    /// The number of its dashes: 0 is a whole line.
    #[serde(skip)]
    pub dash: usize,
    /// Its points.
    points: Vec<Point>,
    /// What is written along the line from each point to the next, from the first on.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    along: Vec<Sentence>,
}

impl Series {
    /// Without points.
    pub fn new(name: impl Into<Sentence>, style: Style) -> Self {
        Self { name: name.into(), style, colour: None, dash: 0, points: vec![], along: vec![] }
    }

    /// Colour and dashes, so that series can be alike in one of two respects.
    pub fn look(self, colour: usize, dash: usize) -> Self {
        Self { colour: Some(colour), dash, ..self }
    }

    /// With labels along the line from each point to the next, from the first on.
    pub fn along(self, labels: impl IntoIterator<Item = Sentence>) -> Self {
        Self { along: labels.into_iter().collect(), ..self }
    }

    /// What is written along its line.
    pub fn labels(&self) -> &[Sentence] {
        &self.along
    }

    /// Adds points; those that are not finite are left out.
    pub fn points(self, points: impl IntoIterator<Item = (f64, f64)>) -> Self {
        self.quantities(points.into_iter().map(|(x, y)| (x, Quantity::new(y))))
    }

    /// Adds points with their intervals; those that are missing or not finite are left out.
    pub fn quantities<Y: Into<Option<Quantity>>>(
        mut self,
        points: impl IntoIterator<Item = (f64, Y)>,
    ) -> Self {
        let points = points.into_iter().filter(|(x, _)| x.is_finite());
        self.points.extend(points.filter_map(|(x, y)| Some(Point { x: x + 0.0, y: y.into()? })));
        self
    }

    /// Its points, as they were added.
    pub fn all(&self) -> &[Point] {
        &self.points
    }
}

/// Which way a limit runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Direction {
    /// At a value of the vertical axis.
    Horizontal,
    /// At a value of the horizontal axis.
    Vertical,
}

/// A line across the frame: a bound, a ceiling.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Limit {
    /// What it means.
    pub label: Sentence,
    /// Which way it runs.
    pub direction: Direction,
    /// Where.
    pub at: Quantity,
}

/// A plot.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Plot {
    /// Its name for programs.
    pub(super) key: String,
    /// What is seen.
    pub title: Sentence,
    /// What it tells, for those who do not see it.
    pub description: Sentence,
    /// The horizontal axis.
    pub x: Axis,
    /// The vertical axis.
    pub y: Axis,
    /// What is drawn.
    series: Vec<Series>,
    /// Lines across the frame, in the unit of their axis.
    limits: Vec<Limit>,
    /// The section's table that holds its figures or sums them up.
    #[serde(skip_serializing_if = "Option::is_none")]
    table: Option<String>,
}

impl Plot {
    /// Without series; programs read it under `key`.
    pub fn new(key: &str, title: impl Into<Sentence>, x: Axis, y: Axis) -> Self {
        let description = y.label.clone().text(" against ").then(x.label.clone());
        Self {
            key: slug(key),
            title: title.into(),
            description,
            x,
            y,
            series: vec![],
            limits: vec![],
            table: None,
        }
    }

    /// With better words than what stands against what, for those who do not see it.
    pub fn describe(self, description: impl Into<Sentence>) -> Self {
        Self { description: description.into(), ..self }
    }

    /// Adds a series, unless it is empty.
    pub fn series(mut self, series: Series) -> Self {
        if !series.points.is_empty() {
            self.series.push(series);
        }
        self
    }

    /// Adds a line across the frame, unless `at` is not finite.
    pub fn limit(mut self, direction: Direction, at: f64, label: impl Into<Sentence>) -> Self {
        if let Some(at) = Quantity::new(at) {
            self.limits.push(Limit { label: label.into(), direction, at });
        }
        self
    }

    /// Its figures stand in the section's table `key`, or are summed up there: formats without
    /// drawings point to that instead of listing the points.
    pub fn tabled_in(self, key: &str) -> Self {
        Self { table: Some(slug(key)), ..self }
    }

    /// The name that programs read.
    pub fn key(&self) -> &str {
        &self.key
    }

    /// Its series, none of them empty.
    pub fn all(&self) -> &[Series] {
        &self.series
    }

    /// Lines across the frame.
    pub fn limits(&self) -> &[Limit] {
        &self.limits
    }

    /// Where a limit stands, in the unit of its axis.
    pub fn figure(&self, limit: &Limit) -> Figure {
        let unit = match limit.direction {
            Direction::Horizontal => self.y.unit,
            Direction::Vertical => self.x.unit,
        };
        Figure { quantity: limit.at, unit }
    }

    /// The key of the table that holds its figures.
    pub fn table(&self) -> Option<&str> {
        self.table.as_deref()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_finite_points_enter() {
        let axis = || Axis::new("n", Unit::Count, Scale::Linear);
        let series = Series::new("a", Style::Line);
        let series = series.points([(1.0, f64::NAN), (f64::INFINITY, 1.0), (1.0, 2.0)]);
        assert_eq!(series.all().len(), 1);
        let plot = Plot::new("p", "p", axis(), axis())
            .series(series)
            .series(Series::new("empty", Style::Bars))
            .limit(Direction::Vertical, f64::NAN, "nowhere")
            .limit(Direction::Horizontal, 1.0, "somewhere");
        assert_eq!((plot.all().len(), plot.limits().len()), (1, 1));
    }
}
