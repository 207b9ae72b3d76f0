//! The timeline: a history laid out once, for every back end.
//!
//! Colour says who, form says what: a belief is dashed and tinted, the truth at a server is solid,
//! a process that does not run is hatched.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "each pass picks the events that it draws; all others are none of its business"
)]

mod axis;
mod bars;
mod captions;
mod frame;
mod heading;
mod labels;
mod legend;
mod messages;
mod points;
mod quorum;
mod scale;
mod select;

use fencepost_history::{History, Instant};

use crate::canvas::{Canvas, Px, Shape};
use crate::reading::Reading;
use crate::steps::{self, Step};
use crate::{Story, words};
use frame::Frame;
use labels::Labels;
use select::Selection;

/// How time runs in the drawing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Orientation {
    /// To the right; lanes are rows.
    Wide,
    /// Down; lanes are columns, for narrow screens.
    Tall,
}

/// What is drawn over what, from the bottom up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Layer {
    /// The time of a violation.
    Band,
    /// Lanes and the axis.
    Lane,
    /// What lasts.
    Bar,
    /// Arrows.
    Message,
    /// What happens at one instant.
    Point,
    /// Step numbers.
    Number,
    /// Words.
    Label,
}

/// One thing in the drawing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mark {
    /// Over what it is drawn.
    pub layer: Layer,
    /// What it is, in words; empty for what only decorates.
    pub title: String,
    /// When it happens or begins.
    pub from: Option<Instant>,
    /// When it ends.
    pub to: Option<Instant>,
    /// The number of its step.
    pub step: Option<usize>,
    /// Its shapes.
    pub shapes: Vec<Shape>,
}

/// A timeline that is laid out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Drawing {
    /// The whole width.
    pub width: Px,
    /// The height below the origin.
    pub height: Px,
    /// The height of a heading above the origin.
    pub heading: Px,
    /// The marks in the order of drawing.
    pub marks: Vec<Mark>,
}

impl Drawing {
    /// Draws everything.
    pub fn draw(&self, canvas: &mut dyn Canvas) {
        for mark in &self.marks {
            canvas.begin(mark);
            for shape in &mark.shapes {
                shape.draw(canvas);
            }
            canvas.end();
        }
    }
}

/// Lays a run out.
#[must_use]
pub fn layout(story: &Story, history: &History, orientation: Orientation) -> Drawing {
    let reading = Reading::new(history);
    let steps = steps::of_reading(story, &reading);
    let selection = Selection::new(story, &reading, &steps);
    let frame = Frame::new(story, &reading, &steps, &selection, orientation);
    let mut painter = Painter {
        story,
        reading: &reading,
        steps: &steps,
        selection: &selection,
        frame: &frame,
        labels: Labels::new(&frame),
        legend: legend::Used::default(),
        marks: Vec::new(),
    };
    painter.lanes();
    painter.axis();
    painter.numbers();
    painter.points();
    painter.bars();
    painter.quorums();
    painter.messages();
    let bottom = painter.bands();
    let height = painter.legend(bottom);
    let mut marks = painter.marks;
    marks.sort_by_key(|mark| mark.layer);
    Drawing { width: frame.width(), height, heading: 0, marks }
}

/// Collects the marks of one drawing.
struct Painter<'a> {
    story: &'a Story,
    reading: &'a Reading<'a>,
    steps: &'a [Step],
    selection: &'a Selection,
    frame: &'a Frame,
    labels: Labels,
    legend: legend::Used,
    marks: Vec<Mark>,
}

impl Painter<'_> {
    fn add(&mut self, layer: Layer, title: String, shapes: Vec<Shape>) -> &mut Mark {
        let mark = Mark { layer, title, from: None, to: None, step: None, shapes };
        self.marks.push(mark);
        self.marks.last_mut().expect("it was just put there")
    }

    /// Adds a mark that lasts from one instant to another.
    fn span(
        &mut self,
        layer: Layer,
        (from, to): (Instant, Instant),
        title: &str,
        shapes: Vec<Shape>,
    ) {
        let title = if from == to {
            format!("{title}, {}", words::clock(from))
        } else {
            format!("{title}, {} to {}", words::clock(from), words::clock(to))
        };
        let mark = self.add(layer, title, shapes);
        mark.from = Some(from);
        mark.to = Some(to);
    }

    /// Adds words, if they have found a place.
    fn label(&mut self, text: Option<Shape>) {
        if let Some(shape) = text {
            self.add(Layer::Label, String::new(), vec![shape]);
        }
    }
}
