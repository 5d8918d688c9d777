//! Pictures of nets as a reader meets them: the measures are taken from the SVG text alone, with letters as wide as those of
//! the font that PNGs are drawn in. No arc crosses a node that is not its own, and hardly any text is covered.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};
use tailspn::formats::pipe::ReadOptions;
use tailspn::formats::svg::{svg, svg_at};
use tailspn::formats::{Positions, arranged, read_file};
use tailspn::net::{Net, NetBuilder, Point, Timing};

use crate::random_net::any_net;
use crate::shared::shared;

/// Widths of the letters from the blank on in DejaVu Sans, in thousandths of the font's size.
const WIDTHS: [u16; 95] = [
    318, 401, 460, 838, 636, 950, 780, 275, 390, 390, 500, 838, 318, 361, 318, 337, 636, 636, 636, 636, 636, 636, 636,
    636, 636, 636, 337, 337, 838, 838, 838, 531, 1000, 684, 686, 698, 770, 632, 575, 775, 752, 295, 295, 656, 557, 863,
    748, 787, 603, 787, 695, 635, 611, 732, 684, 989, 685, 611, 685, 390, 337, 390, 838, 500, 500, 613, 635, 550, 635,
    615, 352, 635, 634, 278, 278, 579, 278, 974, 634, 612, 635, 635, 411, 521, 392, 634, 592, 818, 592, 592, 525, 636,
    337, 636, 838,
];
/// The depth in pixels to which an arc may cut into a node: lines are 1.6 wide.
const CUT: f64 = 2.0;
/// Share of the smaller box that two boxes may have in common.
const COMMON: f64 = 0.1;

#[derive(Clone, Copy, Debug)]
struct Rect {
    low: Point,
    high: Point,
}

impl Rect {
    fn around(x: f64, y: f64, half_width: f64, half_height: f64) -> Self {
        let low = Point { x: x - half_width, y: y - half_height };
        Self { low, high: Point { x: x + half_width, y: y + half_height } }
    }

    fn area(&self) -> f64 {
        (self.high.x - self.low.x) * (self.high.y - self.low.y)
    }

    fn common(&self, other: &Self) -> f64 {
        let x = self.high.x.min(other.high.x) - self.low.x.max(other.low.x);
        let y = self.high.y.min(other.high.y) - self.low.y.max(other.low.y);
        x.max(0.0) * y.max(0.0)
    }
}

/// A circle, or a bar that is turned.
#[derive(Clone, Copy, Debug)]
struct Node {
    centre: Point,
    half: [f64; 2],
    /// Angle of the shape; none for a circle.
    degrees: Option<f64>,
}

impl Node {
    fn depth(&self, p: Point) -> f64 {
        let (dx, dy) = (p.x - self.centre.x, p.y - self.centre.y);
        let Some(degrees) = self.degrees else { return self.half[0] - dx.hypot(dy) };
        let (sin, cos) = degrees.to_radians().sin_cos();
        (self.half[0] - (dx * cos + dy * sin).abs()).min(self.half[1] - (dy * cos - dx * sin).abs())
    }

    fn rect(&self) -> Rect {
        let (sin, cos) = self.degrees.unwrap_or(0.0).to_radians().sin_cos();
        let [a, b] = self.half;
        let (x, y) = (a * cos.abs() + b * sin.abs(), a * sin.abs() + b * cos.abs());
        Rect::around(self.centre.x, self.centre.y, x, y)
    }
}

/// The parts of an SVG document.
#[derive(Debug, Default)]
struct Picture {
    /// By their names in paths: `p0`, `t0`.
    nodes: BTreeMap<String, Node>,
    arcs: Vec<(String, String, Vec<Point>)>,
    texts: Vec<(String, Rect)>,
    least_font: f64,
    size: [f64; 2],
    view: [f64; 2],
}

fn attribute(tag: &BytesStart<'_>, name: &str) -> String {
    let found = tag.attributes().map(Result::unwrap).find(|a| a.key.as_ref() == name);
    found.map_or_else(String::new, |a| a.value.into_owned())
}

fn number(tag: &BytesStart<'_>, name: &str) -> f64 {
    attribute(tag, name).parse().unwrap()
}

/// Numbers between other characters.
fn numbers(text: &str) -> Vec<f64> {
    let pieces = text.split(|c: char| !c.is_ascii_digit() && c != '.' && c != '-');
    pieces.filter(|piece| !piece.is_empty()).map(|piece| piece.parse().unwrap()).collect()
}

/// Font sizes by class, as the style sheet gives them: the size of all texts, and that of small ones.
fn font_sizes(svg: &str) -> [f64; 2] {
    let size = |before: &str| numbers(svg.split_once(before).unwrap().1.split_once("px").unwrap().0)[0];
    [size("text { font: "), size(".rate, .weight { font-size: ")]
}

fn picture(svg: &str) -> Picture {
    let [large, small] = font_sizes(svg);
    let mut found = Picture { least_font: large.min(small), ..Picture::default() };
    let mut text: Option<(f64, Point, String)> = None;
    let mut reader = Reader::from_str(svg);
    let mut counts = [0, 0];
    loop {
        let event = reader.read_event().unwrap();
        let tag = match &event {
            Event::Eof => return found,
            Event::Start(tag) | Event::Empty(tag) => tag,
            Event::Text(words) => {
                if let Some((_, _, text)) = &mut text {
                    text.push_str(&words.xml10_content());
                }
                continue;
            }
            Event::GeneralRef(_) => {
                // a character such as `<`
                if let Some((_, _, text)) = &mut text {
                    text.push('<');
                }
                continue;
            }
            Event::End(_) => {
                if let Some((size, at, words)) = text.take() {
                    let rect = text_rect(&words, size, at);
                    found.texts.push((words, rect));
                }
                continue;
            }
            _ => continue,
        };
        let class = attribute(tag, "class");
        match (tag.name().as_ref(), class.as_str()) {
            ("svg", _) => {
                found.size = [number(tag, "width"), number(tag, "height")];
                found.view = numbers(&attribute(tag, "viewBox"))[2..].try_into().unwrap();
            }
            ("circle", "place") => {
                let r = number(tag, "r");
                let centre = Point { x: number(tag, "cx"), y: number(tag, "cy") };
                found.nodes.insert(format!("p{}", counts[0]), Node { centre, half: [r, r], degrees: None });
                counts[0] += 1;
            }
            ("rect", "timed" | "immediate") => {
                let half = ["width", "height"].map(|side| 0.5 * number(tag, side));
                let turned = numbers(&attribute(tag, "transform"));
                let centre = Point { x: turned[1], y: turned[2] };
                found.nodes.insert(format!("t{}", counts[1]), Node { centre, half, degrees: Some(turned[0]) });
                counts[1] += 1;
            }
            ("path", "arc" | "arc test") => {
                let ends = ["data-from", "data-to"].map(|end| attribute(tag, end));
                let [from, to] = ends;
                found.arcs.push((from, to, points(&attribute(tag, "d"))));
            }
            ("text", "name" | "rate" | "weight") => {
                assert_eq!(attribute(tag, "text-anchor"), "middle");
                let at = Point { x: number(tag, "x"), y: number(tag, "y") };
                text = Some((if class == "name" { large } else { small }, at, String::new()));
            }
            _ => {}
        }
    }
}

fn text_rect(words: &str, size: f64, at: Point) -> Rect {
    let width = |c: char| WIDTHS.get((c as usize).wrapping_sub(32)).copied().unwrap_or(838);
    let half = 0.5 * size * words.chars().map(|c| f64::from(width(c)) / 1000.0).sum::<f64>();
    Rect { low: Point { x: at.x - half, y: at.y - 0.76 * size }, high: Point { x: at.x + half, y: at.y + 0.24 * size } }
}

/// Points of a path at most two pixels apart.
fn points(d: &str) -> Vec<Point> {
    let mut points: Vec<Point> = Vec::new();
    for piece in d.split_inclusive(['M', 'L', 'C']).collect::<Vec<_>>().windows(2) {
        let v = numbers(piece[1]);
        let ends: Vec<Point> = v.chunks(2).map(|pair| Point { x: pair[0], y: pair[1] }).collect();
        let Some(&a) = points.last() else {
            points.push(ends[0]);
            continue;
        };
        let (b, c, e) = match ends[..] {
            [e] => (a, e, e),
            [b, c, e] => (b, c, e),
            _ => panic!("{d}"),
        };
        let length: f64 = [(a, b), (b, c), (c, e)].iter().map(|(p, q)| (p.x - q.x).hypot(p.y - q.y)).sum();
        let steps = length.ceil().max(1.0);
        for k in 1..=steps as u32 {
            let t = f64::from(k) / steps;
            let s = 1.0 - t;
            let at = |a: f64, b: f64, c: f64, e: f64| match ends.len() {
                1 => a + (e - a) * t,
                _ => s * s * s * a + 3.0 * s * s * t * b + 3.0 * s * t * t * c + t * t * t * e,
            };
            points.push(Point { x: at(a.x, b.x, c.x, e.x), y: at(a.y, b.y, c.y, e.y) });
        }
    }
    points
}

/// The faults of a picture, and the number of its parts.
#[derive(Debug, Default)]
struct Measures {
    arcs: usize,
    texts: usize,
    /// Arcs and nodes that are not theirs.
    crossing: Vec<String>,
    /// Pairs of nodes that lie on one another.
    nodes_on_nodes: Vec<String>,
    /// Texts that lie on another, or on a node.
    covered: Vec<String>,
}

/// Numbers of boxes by the squares of 100 pixels that they lie in.
fn squares<'r>(rects: impl Iterator<Item = &'r Rect>) -> BTreeMap<(i64, i64), Vec<usize>> {
    let mut squares: BTreeMap<_, Vec<usize>> = BTreeMap::new();
    for (i, rect) in rects.enumerate() {
        squares_of(rect).into_iter().for_each(|square| squares.entry(square).or_default().push(i));
    }
    squares
}

fn squares_of(rect: &Rect) -> Vec<(i64, i64)> {
    let [left, top, right, bottom] =
        [rect.low.x, rect.low.y, rect.high.x, rect.high.y].map(|v| (v / 100.0).floor() as i64);
    (left..=right).flat_map(|x| (top..=bottom).map(move |y| (x, y))).collect()
}

fn measure(svg: &str) -> Measures {
    let picture = picture(svg);
    let names: Vec<&String> = picture.nodes.keys().collect();
    let nodes: Vec<Node> = picture.nodes.values().copied().collect();
    let rects: Vec<Rect> = nodes.iter().map(Node::rect).collect();
    let node_squares = squares(rects.iter());
    let near = |rect: &Rect, squares: &BTreeMap<_, Vec<usize>>| {
        let mut near: Vec<usize> = squares_of(rect).iter().filter_map(|s| squares.get(s)).flatten().copied().collect();
        near.sort_unstable();
        near.dedup();
        near
    };
    let mut found = Measures { arcs: picture.arcs.len(), texts: picture.texts.len(), ..Measures::default() };
    for (from, to, way) in &picture.arcs {
        let touches = |end: &String, p: &Point| picture.nodes[end].depth(*p) > -9.5;
        assert!(
            touches(from, &way[0]) && touches(to, way.last().unwrap()),
            "{from} to {to} does not begin or end there"
        );
        let mut cut: Vec<usize> = Vec::new();
        for p in way {
            let foreign = near(&Rect::around(p.x, p.y, 0.0, 0.0), &node_squares).into_iter();
            cut.extend(foreign.filter(|&i| names[i] != from && names[i] != to && nodes[i].depth(*p) > CUT));
        }
        cut.dedup();
        found.crossing.extend(cut.iter().map(|&i| format!("{from} to {to} through {}", names[i])));
    }
    for (i, rect) in rects.iter().enumerate() {
        let on = near(rect, &node_squares).into_iter().filter(|&j| j < i && rect.common(&rects[j]) > 2.0);
        found.nodes_on_nodes.extend(on.map(|j| format!("{} on {}", names[i], names[j])));
    }
    let text_squares = squares(picture.texts.iter().map(|(_, rect)| rect));
    for (i, (words, rect)) in picture.texts.iter().enumerate() {
        let over = |other: &Rect, whole: f64| rect.common(other) > COMMON * whole;
        let texts = near(rect, &text_squares).into_iter().filter(|&j| j != i).map(|j| &picture.texts[j].1);
        let mut texts = texts.filter(|other| over(other, rect.area().min(other.area())));
        let mut under = near(rect, &node_squares).into_iter().filter(|&j| over(&rects[j], rect.area()));
        if texts.next().is_some() || under.next().is_some() {
            found.covered.push(words.clone());
        }
    }
    // pixels are pixels, and letters large enough to read
    assert!(picture.least_font >= 11.0);
    (0..2).for_each(|side| assert!((picture.size[side] - picture.view[side]).abs() <= 0.5));
    found
}

fn nets_below(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            nets_below(&path, found);
        } else if path.extension().is_some_and(|ending| ending == "xml") {
            found.push(path);
        }
    }
    found.sort();
}

/// All nets of a folder that can be read.
fn nets(folder: &Path) -> Vec<(PathBuf, Net)> {
    let mut paths = Vec::new();
    nets_below(folder, &mut paths);
    let read = |path: PathBuf| read_file(&path, &ReadOptions::default()).ok().map(|read| (path, read.net));
    paths.into_iter().filter_map(read).collect()
}

/// Checks pictures of many nets: no arc crosses a node, no node lies on another, and of all texts, at most this share is covered.
fn assert_readable<'n>(pictures: impl Iterator<Item = (String, String)> + 'n, share: f64) -> Measures {
    let mut all = Measures::default();
    for (name, svg) in pictures {
        let found = measure(&svg);
        assert!(found.crossing.is_empty() && found.nodes_on_nodes.is_empty(), "{name}: {found:?}");
        (all.arcs, all.texts) = (all.arcs + found.arcs, all.texts + found.texts);
        all.covered.extend(found.covered.iter().map(|text| format!("{name}: {text}")));
    }
    assert!(
        all.covered.len() as f64 <= share * all.texts as f64,
        "{} of {}: {:?}",
        all.covered.len(),
        all.texts,
        all.covered
    );
    println!("{} arcs, {} texts, covered: {:?}", all.arcs, all.texts, all.covered);
    all
}

#[test]
fn our_models_are_readable() {
    let nets = nets(&Path::new(env!("CARGO_MANIFEST_DIR")).join("models"));
    assert!(nets.len() > 10);
    let drawn = nets.iter().map(|(path, net)| (path.display().to_string(), svg(net)));
    assert_readable(drawn, 0.0);
}

#[test]
fn all_collected_nets_are_readable() {
    let Some(folder) = shared("data/pipe-nets") else { return };
    let nets = nets(&folder);
    assert!(nets.len() > 200);
    let name = |path: &PathBuf| path.file_name().unwrap().to_string_lossy().into_owned();
    let found = assert_readable(nets.iter().map(|(path, net)| (name(path), svg(net))), COVERED);
    assert!(found.arcs > 2000 && found.texts > 2000, "{found:?}");
    let layered = |net: &Net| svg_at(net, Positions::Layered).0;
    assert_readable(nets.iter().map(|(path, net)| (name(path), layered(net))), COVERED);
}

/// Most texts of all nets that may be covered.
const COVERED: f64 = 0.005;

#[test]
fn arranged_nets_are_drawn_where_they_were_put() {
    for (path, net) in nets(&Path::new(env!("CARGO_MANIFEST_DIR")).join("models")) {
        let (picture, why) = svg_at(&arranged(&net), Positions::Auto);
        assert_eq!(why, None, "{}", path.display());
        let found = measure(&picture);
        assert!(found.crossing.is_empty() && found.nodes_on_nodes.is_empty(), "{}: {found:?}", path.display());
    }
}

#[test]
fn bad_positions_are_set_aside_and_kept_on_request() {
    let mut b = NetBuilder::new("");
    let places = ["P0", "P1", "P2"].map(|id| b.place(id, 1));
    let t = b.transition("T", Timing::exponential(1.0));
    b.input(places[0], t, 1.0);
    b.output(t, places[2], 1.0);
    // P1 lies on the way from T to P2, which goes through it or around it
    for (place, x) in places.into_iter().zip([0.0, 200.0, 300.0]) {
        b.place_mut(place).position = Some(Point { x, y: 50.0 });
    }
    b.transition_mut(t).position = Some(Point { x: 100.0, y: 50.0 });
    let (around, why) = svg_at(&b.build().unwrap(), Positions::Auto);
    assert_eq!((why, measure(&around).crossing), (None, Vec::new()));
    assert!(around.contains("cx=\"315.0\""));
    let mut b = NetBuilder::new("");
    let places = ["P0", "P1"].map(|id| b.place(id, 1));
    for place in places {
        b.place_mut(place).position = Some(Point { x: 7.0, y: 7.0 });
    }
    let net = b.build().unwrap();
    let (apart, why) = svg_at(&net, Positions::Auto);
    assert_eq!(why.unwrap().nodes, 2);
    assert!(measure(&apart).nodes_on_nodes.is_empty());
    let (kept, why) = svg_at(&net, Positions::File);
    assert_eq!((why, measure(&kept).nodes_on_nodes.len()), (None, 1));
}

#[test]
fn a_large_net_is_drawn_alike_each_time() {
    // forty queues of forty steps that begin and end together: 3,242 nodes
    let mut b = NetBuilder::new("");
    let (start, end) = (b.place("start", 1), b.place("end", 0));
    let (fork, join) =
        (b.transition("fork", Timing::immediate(1.0, 1)), b.transition("join", Timing::immediate(1.0, 1)));
    b.input(start, fork, 1.0);
    b.output(join, end, 1.0);
    for i in 0..40 {
        let mut before = fork;
        for j in 0..40 {
            let place = b.place(format!("queue_{i}_{j}"), 0);
            b.output(before, place, 1.0);
            before = b.transition(format!("step_{i}_{j}"), Timing::exponential(1.0));
            b.input(place, before, 1.0);
        }
        let place = b.place(format!("done_{i}"), 0);
        b.output(before, place, 1.0);
        b.input(place, join, 1.0);
    }
    let net = b.build().unwrap();
    let picture = svg(&net);
    assert_eq!(picture, svg(&net));
    assert_readable([("large".to_owned(), picture)].into_iter(), 0.0);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, rng_seed: RngSeed::Fixed(0x91c7_0001), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_nets_are_readable(net in any_net()) {
        let net = net.build(1.0, "");
        let found = measure(&svg(&net));
        prop_assert!(found.crossing.is_empty() && found.nodes_on_nodes.is_empty(), "{found:?}");
        // long weights of several arcs between the same two nodes are the hardest
        prop_assert!(found.covered.len() as f64 <= 2.0 + 0.25 * found.texts as f64, "{found:?}");
    }
}
