//! Bars in lanes as a picture: time to the right, nodes below each other, a lane for each slot of a node.
//! Colours are written in the form that the style sheet of pages maps, so that the picture adapts to dark mode.

use std::fmt::Write as _;

use crate::formats::svg_parts::escaped;
use crate::report::drawing::{can_be_axis, letters_in, text_width};

/// Font size \[px\].
const LETTERS: i32 = 12;
/// Space around everything \[px\].
const MARGIN: f64 = 16.0;
/// Space for the title, for a line of the legend, and for the axis \[px\].
const TITLE: f64 = 28.0;
const LEGEND: f64 = 20.0;
const AXIS: f64 = 40.0;
/// Maximum share of the width for names of nodes.
const NAMES: f64 = 0.3;
/// Range of the height of a lane \[px\], and the intended height of all lanes together.
const LANE: std::ops::RangeInclusive<f64> = 1.5..=16.0;
const LANES: f64 = 640.0;
/// Space between two nodes, at most, and between all nodes together \[px\].
const GAP: f64 = 5.0;
const GAPS: f64 = 200.0;
/// Maximum number of bars that are separate elements, with a text that browsers show under the pointer.
pub(super) const WITH_TEXT: usize = 3_000;

/// A kind of bars.
#[derive(Clone, Copy, Debug)]
pub(super) struct Kind {
    pub(super) colour: &'static str,
    /// From 0 to 1.
    pub(super) opacity: f64,
    pub(super) meaning: &'static str,
}

/// A bar in time.
#[derive(Clone, Debug)]
pub(super) struct Bar {
    /// Start and end \[s\].
    pub(super) span: [f64; 2],
    /// The node, by its position in the scene.
    pub(super) node: usize,
    /// The lane of the node.
    pub(super) lane: usize,
    /// The kind, by its position in the scene.
    pub(super) kind: usize,
    /// The text under the pointer.
    pub(super) text: Option<String>,
}

/// Contents of a picture.
#[derive(Debug)]
pub(super) struct Scene {
    /// Words at the left and the right of the line above the picture.
    pub(super) title: Option<[String; 2]>,
    /// The ends of the axis \[s\].
    pub(super) span: [f64; 2],
    /// Names and numbers of lanes of the nodes, from top to bottom.
    pub(super) nodes: Vec<(String, usize)>,
    pub(super) bars: Vec<Bar>,
    /// The kinds, in the order of drawing.
    pub(super) kinds: Vec<Kind>,
}

impl Scene {
    /// Returns true if there is anything to draw.
    pub(super) fn can_be_drawn(&self) -> bool {
        !self.bars.is_empty() && can_be_axis(self.span[0], self.span[1])
    }

    /// Draws an SVG document of this width \[px\].
    pub(super) fn svg(&self, width: f64) -> String {
        let picture = Picture::new(self, width);
        let mut svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{h:.0}\" viewBox=\"0 0 {width} {h:.0}\" \
             font-family=\"sans-serif\" font-size=\"{LETTERS}\">\n<rect width=\"100%\" height=\"100%\" fill=\"#FFFFFF\"/>\n",
            h = picture.height
        );
        picture.head(&mut svg);
        picture.names(&mut svg);
        picture.grid(&mut svg);
        if self.bars.iter().any(|bar| bar.text.is_some()) {
            picture.rectangles(&mut svg);
        } else {
            picture.paths(&mut svg);
        }
        svg += "</svg>\n";
        svg
    }
}

/// Positions in the picture.
struct Picture<'s> {
    scene: &'s Scene,
    width: f64,
    /// Room for the names of nodes \[px\], and the number of letters that fit.
    names: f64,
    letters: usize,
    lane: f64,
    /// Top of each node.
    tops: Vec<f64>,
    height: f64,
    /// The kinds in the legend (indices), with the positions of their entries.
    legend: Vec<(usize, [f64; 2])>,
}

impl<'s> Picture<'s> {
    fn new(scene: &'s Scene, width: f64) -> Self {
        let longest = scene.nodes.iter().map(|(name, _)| text_width(name, LETTERS)).max().unwrap_or(0);
        let names = f64::from(longest).min(NAMES * width).ceil();
        let total: usize = scene.nodes.iter().map(|(_, lanes)| lanes).sum();
        let lane = (LANES / total.max(1) as f64).clamp(*LANE.start(), *LANE.end());
        let gap = (GAPS / scene.nodes.len().max(1) as f64).min(GAP);
        let title = if scene.title.is_some() { TITLE } else { 0.0 };
        let legend = legend(scene, title, width);
        let mut y = legend.last().map_or(MARGIN + title, |(_, [_, y])| y + LEGEND + 4.0);
        let mut tops = Vec::with_capacity(scene.nodes.len());
        for (_, lanes) in &scene.nodes {
            tops.push(y);
            y += *lanes as f64 * lane + gap;
        }
        let letters = letters_in(names as i32, LETTERS);
        Self { scene, width, names: names + 8.0, letters, lane, tops, height: y + AXIS + MARGIN, legend }
    }

    fn left(&self) -> f64 {
        MARGIN + self.names
    }

    fn x(&self, seconds: f64) -> f64 {
        let [from, to] = self.scene.span;
        self.left() + (seconds - from) / (to - from) * (self.width - MARGIN - self.left())
    }

    fn head(&self, svg: &mut String) {
        if let Some([name, size]) = &self.scene.title {
            let y = MARGIN + 12.0;
            let _ = writeln!(
                svg,
                "<text x=\"{MARGIN}\" y=\"{y}\" font-size=\"15\" font-weight=\"bold\" fill=\"#000000\">{}</text>\
                 <text x=\"{}\" y=\"{y}\" text-anchor=\"end\" fill=\"#000000\">{}</text>",
                escaped(name),
                self.width - MARGIN,
                escaped(size)
            );
        }
        for &(kind, [x, y]) in &self.legend {
            let kind = &self.scene.kinds[kind];
            let _ = writeln!(
                svg,
                "<rect x=\"{x:.0}\" y=\"{y:.0}\" width=\"12\" height=\"12\" rx=\"2\" {}/>\
                 <text x=\"{:.0}\" y=\"{:.1}\" fill=\"#000000\">{}</text>",
                paint(kind),
                x + 18.0,
                y + 10.5,
                kind.meaning
            );
        }
    }

    /// Draws lines at round times, with labels.
    fn grid(&self, svg: &mut String) {
        let [from, to] = self.scene.span;
        let steps = if self.width < 600.0 { 5.0 } else { 10.0 };
        let step = round_step((to - from) / steps);
        let (top, bottom) = (self.tops.first().copied().unwrap_or(0.0), self.height - AXIS - MARGIN);
        let decimals = (-step.log10().floor()).clamp(0.0, 6.0) as usize;
        let first = (from / step).ceil();
        for i in 0..=2 * steps as u32 {
            let time = (first + f64::from(i)) * step;
            if time > to + 1e-9 * step {
                break;
            }
            let x = self.x(time);
            let _ = writeln!(
                svg,
                "<line x1=\"{x:.1}\" y1=\"{:.0}\" x2=\"{x:.1}\" y2=\"{:.1}\" stroke=\"#888A85\" stroke-opacity=\"0.3\"/>\
                 <text x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"middle\" fill=\"#000000\">{time:.decimals$}</text>",
                top - 4.0,
                bottom + 2.0,
                bottom + 16.0,
            );
        }
        let _ = writeln!(
            svg,
            "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\" fill=\"#000000\">time since the start of the log [s]</text>",
            self.width - MARGIN,
            bottom + 34.0
        );
    }

    fn names(&self, svg: &mut String) {
        // names that would overlap are left out
        let mut free_from = 0.0;
        for ((name, lanes), top) in self.scene.nodes.iter().zip(&self.tops) {
            let height = *lanes as f64 * self.lane;
            let _ = writeln!(
                svg,
                "<rect x=\"{:.1}\" y=\"{top:.1}\" width=\"{:.1}\" height=\"{height:.1}\" fill=\"#888A85\" fill-opacity=\"0.12\"/>",
                self.left(),
                self.width - MARGIN - self.left()
            );
            let y = top + height / 2.0 + 4.0;
            if y - 11.0 >= free_from {
                let _ = writeln!(
                    svg,
                    "<text x=\"{:.1}\" y=\"{y:.1}\" text-anchor=\"end\" fill=\"#000000\">{}</text>",
                    self.left() - 8.0,
                    escaped(&without_middle(name, self.letters))
                );
                free_from = y + 2.0;
            }
        }
    }

    /// Returns left, top, width and height of a bar.
    fn place(&self, bar: &Bar) -> (f64, f64, f64, f64) {
        let space = if self.lane >= 4.0 { 1.0 } else { 0.0 };
        let [left, right] = bar.span.map(|time| self.x(time));
        let width = (right - left - 0.5 * space).max(0.6);
        let top = self.tops.get(bar.node).copied().unwrap_or(0.0) + bar.lane as f64 * self.lane;
        (left, top, width, self.lane - space)
    }

    fn bars_of(&self, kind: usize) -> impl Iterator<Item = (&Bar, (f64, f64, f64, f64))> {
        self.scene.bars.iter().filter(move |bar| bar.kind == kind).map(move |bar| (bar, self.place(bar)))
    }

    fn rectangles(&self, svg: &mut String) {
        for (position, kind) in self.scene.kinds.iter().enumerate() {
            let _ = writeln!(svg, "<g {}>", paint(kind));
            for (bar, (x, y, width, height)) in self.bars_of(position) {
                let _ = writeln!(
                    svg,
                    "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{height:.1}\"><title>{}</title></rect>",
                    escaped(bar.text.as_deref().unwrap_or(""))
                );
            }
            *svg += "</g>\n";
        }
    }

    /// Draws all bars of a kind as one path, which is small and quick to draw.
    fn paths(&self, svg: &mut String) {
        for (position, kind) in self.scene.kinds.iter().enumerate() {
            let mut path = String::new();
            for (_, (x, y, width, height)) in self.bars_of(position) {
                let _ = write!(path, "M{x:.1} {y:.1}h{width:.1}v{height:.1}h-{width:.1}z");
            }
            if !path.is_empty() {
                let _ = writeln!(svg, "<path {} d=\"{path}\"/>", paint(kind));
            }
        }
    }
}

fn paint(kind: &Kind) -> String {
    format!("fill=\"{}\" fill-opacity=\"{}\"", kind.colour, kind.opacity)
}

/// Returns the kinds that have bars, each with the place of its entry in lines that fit the width.
fn legend(scene: &Scene, below: f64, width: f64) -> Vec<(usize, [f64; 2])> {
    let (mut x, mut y) = (MARGIN, MARGIN + below);
    let mut entries = Vec::new();
    for (position, kind) in scene.kinds.iter().enumerate() {
        if !scene.bars.iter().any(|bar| bar.kind == position) {
            continue;
        }
        let wide = 18.0 + f64::from(text_width(kind.meaning, LETTERS));
        if x > MARGIN && x + wide > width - MARGIN {
            (x, y) = (MARGIN, y + LEGEND);
        }
        entries.push((position, [x, y]));
        x += wide + 18.0;
    }
    entries
}

/// Returns 1, 2 or 5 times a power of ten, the smallest that is not below `step`.
fn round_step(step: f64) -> f64 {
    if !(step.is_finite() && step > 0.0) {
        return 1.0;
    }
    let power = 10_f64.powf(step.log10().floor());
    let found = [1.0, 2.0, 5.0].into_iter().find(|factor| factor * power >= step * (1.0 - 1e-9));
    found.unwrap_or(10.0) * power
}

/// Shortens a name to a number of letters by omitting the middle, because names of nodes differ at both ends.
fn without_middle(name: &str, letters: usize) -> String {
    let all: Vec<char> = name.chars().collect();
    if all.len() <= letters {
        return name.to_owned();
    }
    let kept = letters.saturating_sub(1);
    let (start, end) = (&all[..kept.div_ceil(2)], &all[all.len() - kept / 2..]);
    start.iter().chain(&['…']).chain(end).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scene(name: &str) -> Scene {
        let bar = |lane, kind| Bar { span: [1.0, 2.0], node: 0, lane, kind, text: None };
        let kind = |meaning| Kind { colour: "#3465A4", opacity: 1.0, meaning };
        Scene {
            title: None,
            span: [0.0, 10.0],
            nodes: vec![(name.to_owned(), 2)],
            bars: vec![bar(0, 0), bar(1, 2)],
            kinds: vec![kind("tasks"), kind("never seen"), kind("failed")],
        }
    }

    #[test]
    fn the_legend_lists_what_is_there_in_lines_that_fit() {
        let scene = scene("n");
        let svg = scene.svg(900.0);
        assert!(svg.contains(">tasks<") && svg.contains(">failed<") && !svg.contains("never seen"), "{svg}");
        assert_eq!(svg.matches("<path").count(), 2);
        let lines = |width| legend(&scene, 0.0, width).iter().map(|(_, [_, y])| *y).collect::<Vec<_>>();
        assert_eq!((lines(900.0), lines(120.0)), (vec![16.0, 16.0], vec![16.0, 36.0]));
    }

    #[test]
    fn names_have_as_many_letters_as_the_width_allows() {
        let name = "ip-10-0-0-12.eu-west-1.compute.internal";
        assert!(scene(name).svg(1200.0).contains(name));
        let svg = scene(name).svg(390.0);
        assert!(svg.contains(">ip-10-0-…nternal<"), "{svg}");
        assert_eq!(without_middle("<1234>", 5), "<1…4>");
    }

    #[test]
    fn timelines_with_extreme_times_are_drawn_or_refused() {
        let far = Scene { span: [9e14, 9e14 + 0.125], ..scene("n") };
        assert!(far.can_be_drawn() && far.svg(900.0).ends_with("</svg>\n"));
        assert!(
            ![[0.0, 0.0], [0.0, 1e300], [2.0, 1.0]].into_iter().any(|span| Scene { span, ..scene("n") }.can_be_drawn())
        );
    }

    #[test]
    fn steps_are_round() {
        assert_eq!([0.03, 1.0, 1.1, 4.0, 6.0, 70.0].map(round_step), [0.05, 1.0, 2.0, 5.0, 10.0, 100.0]);
        assert_eq!(round_step(0.0), 1.0);
    }
}
