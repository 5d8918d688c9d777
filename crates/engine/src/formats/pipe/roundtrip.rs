//! Tests that a written net is read back unchanged.

use proptest::prelude::*;
use proptest::sample::Index;

use crate::formats::pipe::corpus::{probes, shared_nets};
use crate::formats::pipe::{
    Loss, ReadOptions, Target, WriteOptions, plain_report, read, write, write_pnml, write_to, written_report,
};
use crate::net::expr::{BinaryOp, Expr, Function, Leaf, UnaryOp};
use crate::net::{
    Annotation, Arc, ArcKind, Branch, ClassId, ClassWeight, Delay, Law, Memory, Net, NetBuilder, Parameter,
    ParameterId, PathPoint, Place, PlaceId, Point, Servers, StateGroup, Timing, TokenClass, Transition, TransitionId,
};

/// The text as [`write_to`] writes it, and true if the net is plain.
fn streamed(net: &Net, options: &WriteOptions) -> (String, bool) {
    let (mut bytes, written) = (Vec::new(), write(net, options));
    let streamed = write_to(net, options, &mut bytes).unwrap();
    assert_eq!(streamed.warnings, written.warnings);
    if streamed.is_plain {
        assert_eq!(plain_report(net, &streamed), written_report(&written));
    }
    (String::from_utf8(bytes).unwrap(), streamed.is_plain)
}

fn assert_reads_back(net: &Net) -> Result<(), TestCaseError> {
    for target in [Target::Pipe4, Target::Pipe5] {
        let options = WriteOptions { target, ..WriteOptions::default() };
        let written = write(net, &options);
        prop_assert_eq!(&written.xml, &streamed(net, &options).0);
        let read = read(written.xml.as_bytes(), &ReadOptions::default());
        let read = read.map_err(|e| TestCaseError::fail(format!("{e}\n{}", written.xml)))?;
        prop_assert_eq!(&read.net, net, "\n{}", written.xml);
        prop_assert!(read.net.places().is_empty() || written.xml.is_ascii());
    }
    let pnml = write_pnml(net).xml;
    let again = read(pnml.as_bytes(), &ReadOptions::default());
    let again = again.map_err(|e| TestCaseError::fail(format!("{e}\n{pnml}")))?;
    prop_assert_eq!(&again.net, net, "\n{}", pnml);
    Ok(())
}

/// A ring whose text is written in several pieces. A part that needs an instruction makes the net not plain.
#[test]
fn the_report_of_a_plain_net_needs_no_second_reading() {
    let mut b = NetBuilder::new("a ring");
    let at = |i: usize| Some(Point { x: i as f64, y: 0.5 });
    for i in 0..400 {
        let p = b.place(format!("p{i}"), u32::from(i == 0));
        b.place_mut(p).position = at(i);
        let t = b.transition(format!("t{i}"), Timing::exponential(1.0));
        b.transition_mut(t).position = at(i);
        b.input(p, t, 1.0);
    }
    // transitions 0 and 1 change the marking in the same way, which PIPE 4.3 does not expect
    b.input(PlaceId::from_index(0), TransitionId::from_index(1), 1.0);
    b.input(PlaceId::from_index(1), TransitionId::from_index(0), 1.0);
    let net = b.clone().build().unwrap();
    let written = write(&net, &WriteOptions::default());
    assert!(written.xml.len() > 200_000 && !written_report(&written).is_empty());
    assert_eq!(streamed(&net, &WriteOptions::default()), (written.xml, true));
    b.place_mut(PlaceId::from_index(7)).position = None;
    assert!(!streamed(&b.clone().build().unwrap(), &WriteOptions::default()).1);
    b.place_mut(PlaceId::from_index(7)).position = at(7);
    b.test(PlaceId::from_index(3), TransitionId::from_index(9), 1.0);
    assert!(!streamed(&b.build().unwrap(), &WriteOptions::default()).1);
}

/// A PNML file as seen by tools that ignore tool-specific parts.
fn for_others(pnml: &str) -> String {
    let mut pieces = pnml.split("<toolspecific tool=\"tailspn\"");
    let mut text = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        text.push_str(piece.split_once("</toolspecific>").unwrap().1);
    }
    text
}

#[test]
fn written_pnml_is_a_place_transition_net_for_other_tools() {
    let xml = include_str!("everything.xml");
    let net = read(xml.as_bytes(), &ReadOptions::default()).unwrap().net;
    let written = write_pnml(&net);
    let read = read(for_others(&written.xml).as_bytes(), &ReadOptions::default()).unwrap();
    assert_eq!(read.dialect, crate::formats::pipe::Dialect::Pnml2009);
    let totals = |net: &Net| net.places().iter().map(Place::initial_total).collect::<Vec<_>>();
    assert_eq!(totals(&read.net), totals(&net));
    let plain = |net: &Net| {
        let plain = net.arcs().iter().filter(|arc| matches!(arc.kind, ArcKind::Input | ArcKind::Output));
        plain.map(|arc| (arc.kind, arc.place, arc.transition)).collect::<Vec<_>>()
    };
    assert_eq!(plain(&read.net), plain(&net));
    assert_eq!(read.net.arcs().len(), plain(&net).len());
    assert!(!written.warnings.is_empty());
    // all ids are names of XML, each used once
    let in_elements = for_others(&written.xml);
    let elements: Vec<&str> = in_elements.split(" id=\"").skip(1).filter_map(|rest| rest.split('"').next()).collect();
    let distinct: std::collections::HashSet<_> = elements.iter().collect();
    assert_eq!(distinct.len(), elements.len(), "{elements:?}");
    assert!(
        elements.iter().all(|id| id.chars().all(|c| c.is_ascii_alphanumeric() || "_-.".contains(c))),
        "{elements:?}"
    );
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => "[A-Za-z][A-Za-z0-9_]{0,6}",
        1 => "[ -~äé黑\u{1F600}]{1,8}",
        1 => "[ \t\r\nP0,;:()#@&<>'\"%-]{1,8}",
    ]
}

/// Distinct, non-empty ids.
fn ids(most: usize) -> impl Strategy<Value = Vec<String>> {
    prop::collection::vec(text(), 0..=most).prop_map(|texts| {
        let mut ids: Vec<String> = Vec::new();
        for (i, mut id) in texts.into_iter().enumerate() {
            if ids.contains(&id) {
                id = format!("{id}{i}");
            }
            if !ids.contains(&id) {
                ids.push(id);
            }
        }
        ids
    })
}

fn coordinate() -> impl Strategy<Value = f64> {
    prop_oneof![(0..2000_i32).prop_map(f64::from), -1e4..1e4_f64]
}

fn a_point() -> impl Strategy<Value = Point> {
    (coordinate(), coordinate()).prop_map(|(x, y)| Point { x, y })
}

/// The shape of an expression; the positions of its parts are chosen later.
#[derive(Clone, Debug)]
enum Shape {
    Number(f64),
    Leaf(u8, Index, Option<Index>),
    Unary(UnaryOp, Box<Shape>),
    Binary(BinaryOp, Box<Shape>, Box<Shape>),
    Call(Function, Vec<Shape>),
}

fn shape() -> impl Strategy<Value = Shape> {
    let number = prop_oneof![(0..9_i32).prop_map(f64::from), 0.001..1e6_f64].prop_map(Shape::Number);
    let leaf = (0..3_u8, any::<Index>(), any::<Option<Index>>()).prop_map(|(k, i, c)| Shape::Leaf(k, i, c));
    prop_oneof![number, leaf].prop_recursive(3, 12, 3, |inner| {
        let op = prop::sample::select(vec![BinaryOp::Add, BinaryOp::Subtract, BinaryOp::Multiply, BinaryOp::Less]);
        let pair = (op, inner.clone(), inner.clone());
        prop_oneof![
            inner.clone().prop_map(|a| Shape::Unary(UnaryOp::Not, Box::new(a))),
            pair.prop_map(|(op, a, b)| Shape::Binary(op, Box::new(a), Box::new(b))),
            prop::collection::vec(inner.clone(), 2..4).prop_map(|args| Shape::Call(Function::Max, args)),
            inner.prop_map(|a| Shape::Call(Function::Floor, vec![a])),
        ]
    })
}

/// Numbers of places, classes and parameters that an expression may use.
type Counts = [usize; 3];

fn expression(shape: &Shape, counts: Counts) -> Expr {
    let [places, classes, parameters] = counts;
    let sub = |s: &Shape| Box::new(expression(s, counts));
    match shape {
        Shape::Number(value) => Expr::Number(*value),
        Shape::Leaf(0, i, _) if parameters > 0 => {
            Expr::Leaf(Leaf::Parameter(ParameterId::from_index(i.index(parameters))))
        }
        Shape::Leaf(1, i, _) if places > 0 => Expr::Leaf(Leaf::Capacity(PlaceId::from_index(i.index(places)))),
        Shape::Leaf(_, i, class) if places > 0 => {
            let class = class.map(|c| ClassId::from_index(c.index(classes)));
            Expr::Leaf(Leaf::Tokens(PlaceId::from_index(i.index(places)), class))
        }
        Shape::Leaf(..) => Expr::Number(1.5),
        Shape::Unary(op, a) => Expr::Unary(*op, sub(a)),
        Shape::Binary(op, a, b) => Expr::Binary(*op, sub(a), sub(b)),
        Shape::Call(f, args) => Expr::Call(*f, args.iter().map(|a| expression(a, counts)).collect()),
    }
}

fn law() -> impl Strategy<Value = Law> {
    let positive = || 0.001..1e4_f64;
    prop_oneof![
        (0.0..9.0_f64).prop_map(|delay| Law::Deterministic { delay }),
        (0.0..9.0_f64, 9.0..99.0_f64).prop_map(|(low, high)| Law::Uniform { low, high }),
        (1..1000_u32, positive()).prop_map(|(stages, mean)| Law::Erlang { stages, mean }),
        (positive(), positive()).prop_map(|(mean, cv)| Law::LogNormal { mean, cv }),
        (positive(), positive()).prop_map(|(shape, scale)| Law::Weibull { shape, scale }),
        (0.04_f64..1e4, positive()).prop_map(|(shape, scale)| Law::Gamma { shape, scale }),
        (1.001..9.0_f64, positive()).prop_map(|(shape, scale)| Law::Pareto { shape, scale }),
        (0.0..1.0_f64, positive(), positive()).prop_map(|(probability, a, b)| Law::Hyperexponential {
            branches: vec![Branch { probability, mean: a }, Branch { probability: 1.0 - probability, mean: b }]
        }),
        prop::collection::vec(0.0..9.0_f64, 1..5).prop_map(|samples| Law::Empirical { samples }),
    ]
}

/// All properties of one transition except its id.
#[derive(Clone, Debug)]
struct Sketch {
    name: Option<String>,
    position: Option<Point>,
    offset: Point,
    orientation: i32,
    shape: Shape,
    law: Option<Law>,
    servers: Servers,
    memory: Memory,
    immediate: bool,
    priority: Option<u32>,
}

fn sketch() -> impl Strategy<Value = Sketch> {
    let servers = prop_oneof![Just(Servers::Single), Just(Servers::Infinite), (1..9_u32).prop_map(Servers::Limited)];
    let memory = prop_oneof![Just(Memory::Enabling), Just(Memory::Age)];
    let look = (prop::option::of(text()), prop::option::of(a_point()), a_point(), any::<i32>());
    let timing = (shape(), prop::option::of(law()), servers, memory, any::<bool>(), any::<Option<u32>>());
    (look, timing).prop_map(|((name, position, offset, orientation), timing)| {
        let (shape, law, servers, memory, immediate, priority) = timing;
        Sketch { name, position, offset, orientation, shape, law, servers, memory, immediate, priority }
    })
}

fn transition(id: &str, sketch: &Sketch, counts: Counts) -> Transition {
    let rate = expression(&sketch.shape, counts);
    let timing = if sketch.immediate {
        Timing::Immediate { weight: rate, priority: sketch.priority.unwrap_or(1) }
    } else {
        let delay = sketch.law.clone().map_or(Delay::Exponential { rate }, Delay::General);
        Timing::Timed { delay, servers: sketch.servers, memory: sketch.memory }
    };
    Transition {
        id: id.to_owned(),
        name: sketch.name.clone().unwrap_or_default(),
        timing,
        position: sketch.position,
        orientation: sketch.orientation,
        label_offset: sketch.offset,
        unused_priority: if sketch.immediate { None } else { sketch.priority },
    }
}

type PlaceSketch = (Option<String>, Vec<u32>, Option<u32>, Option<Point>, Point);

fn place_sketch() -> impl Strategy<Value = PlaceSketch> {
    let room = prop_oneof![3 => Just(None), 1 => (0..9_u32).prop_map(Some), 1 => Just(Some(u32::MAX))];
    let tokens = prop::collection::vec(prop_oneof![9 => 0..5_u32, 1 => any::<u32>()], 0..3);
    (prop::option::of(text()), tokens, room, prop::option::of(a_point()), a_point())
}

fn place(id: &str, sketch: &PlaceSketch, classes: usize) -> Place {
    let mut initial = sketch.1.clone();
    initial.truncate(classes);
    let total: u64 = initial.iter().map(|n| u64::from(*n)).sum();
    Place {
        id: id.to_owned(),
        name: sketch.0.clone().unwrap_or_default(),
        initial,
        capacity: sketch.2.filter(|c| u64::from(*c) >= total),
        position: sketch.3,
        label_offset: sketch.4,
    }
}

type ArcSketch = (String, u8, Index, Index, Vec<(Index, Shape)>, Vec<(Point, bool)>, bool);

fn arc_sketch() -> impl Strategy<Value = ArcSketch> {
    let weight = prop_oneof![3 => (0..4_i32).prop_map(|n| Shape::Number(f64::from(n))), 1 => shape()];
    let weights = prop::collection::vec((any::<Index>(), weight), 0..3);
    let path = prop::collection::vec((a_point(), any::<bool>()), 0..3);
    (text(), 0..4_u8, any::<Index>(), any::<Index>(), weights, path, any::<bool>())
}

fn arc(i: usize, sketch: &ArcSketch, counts: Counts, transitions: usize) -> Arc {
    let (id, kind, place, transition, weights, path, tagged) = sketch;
    let weight = |(class, shape): &(Index, Shape)| {
        let weight = expression(shape, counts);
        let bad = weight.as_number().is_some_and(|n| n.fract() != 0.0);
        ClassWeight {
            class: ClassId::from_index(class.index(counts[1])),
            weight: if bad { Expr::Number(1.0) } else { weight },
        }
    };
    Arc {
        id: format!("{id}{i}"),
        kind: [ArcKind::Input, ArcKind::Output, ArcKind::Inhibitor, ArcKind::Test][usize::from(*kind)],
        place: PlaceId::from_index(place.index(counts[0])),
        transition: TransitionId::from_index(transition.index(transitions)),
        weights: weights.iter().map(weight).collect(),
        path: path.iter().map(|(point, curved)| PathPoint { point: *point, curved: *curved }).collect(),
        tagged: *tagged,
    }
}

fn drawing() -> impl Strategy<Value = (Vec<Annotation>, Vec<StateGroup>)> {
    let annotation = (a_point(), a_point(), any::<bool>(), prop_oneof![text(), Just(String::new())]);
    let annotation = annotation.prop_map(|(position, size, border, text)| Annotation { position, size, border, text });
    let group = (text(), text(), prop::collection::vec(text(), 0..3));
    let group = group.prop_map(|(id, name, conditions)| StateGroup { id, name, conditions });
    (prop::collection::vec(annotation, 0..3), prop::collection::vec(group, 0..3))
}

fn a_net() -> impl Strategy<Value = Net> {
    let parts = (
        prop_oneof![Just(String::new()), text()],
        ids(3),
        prop::collection::vec((text(), shape(), prop::option::of(a_point())), 0..3),
        (ids(5), prop::collection::vec(place_sketch(), 5)),
        (ids(5), prop::collection::vec(sketch(), 5)),
        prop::collection::vec(arc_sketch(), 0..10),
        drawing(),
    );
    parts.prop_map(|(name, classes, parameters, (place_ids, places), (transition_ids, transitions), arcs, drawing)| {
        let mut b = NetBuilder::without_classes(name);
        let classes = if classes.is_empty() { vec!["Default".to_owned()] } else { classes };
        for (i, id) in classes.iter().enumerate() {
            b.add_class(TokenClass { id: id.clone(), enabled: i != 1, colour: [1, 2, 255] });
        }
        for (id, sketch) in place_ids.iter().zip(&places) {
            b.add_place(place(id, sketch, classes.len()));
        }
        for (i, (name, shape, position)) in parameters.iter().enumerate() {
            let value = expression(shape, [place_ids.len(), classes.len(), i]);
            b.add_parameter(Parameter { name: format!("{name}{i}"), value, position: *position });
        }
        let counts = [place_ids.len(), classes.len(), parameters.len()];
        for (id, sketch) in transition_ids.iter().zip(&transitions) {
            b.add_transition(transition(id, sketch, counts));
        }
        if !place_ids.is_empty() && !transition_ids.is_empty() {
            for (i, sketch) in arcs.iter().enumerate() {
                b.add_arc(arc(i, sketch, counts, transition_ids.len()));
            }
        }
        drawing.0.into_iter().for_each(|a| b.add_annotation(a));
        drawing.1.into_iter().for_each(|g| b.add_state_group(g));
        b.build().unwrap_or_else(|problems| panic!("{problems:?}"))
    })
}

proptest! {
    #[test]
    fn a_written_net_reads_back_as_the_same_net(net in a_net()) {
        assert_reads_back(&net)?;
    }
}

#[test]
fn every_probe_reads_back_as_the_same_net() {
    let Some(nets) = shared_nets() else { return };
    for (name, path) in probes(&nets) {
        if let Ok(first) = read(&std::fs::read(path).unwrap(), &ReadOptions::default())
            && let Err(e) = assert_reads_back(&first.net)
        {
            panic!("{name}: {e}");
        }
    }
}

#[test]
fn infinite_servers_become_a_rate_that_counts_tokens() {
    let mut b = NetBuilder::new("");
    let p = b.place("P", 4);
    let timing =
        |servers| Timing::Timed { delay: Delay::Exponential { rate: 2.5.into() }, servers, memory: Memory::Enabling };
    let one = b.transition("one", timing(Servers::Infinite));
    let pairs = b.transition("pairs", timing(Servers::Infinite));
    let three = b.transition("three", timing(Servers::Limited(3)));
    b.input(p, one, 1.0);
    b.input(p, pairs, 2.0);
    b.input(p, three, 1.0);
    let net = b.build().unwrap();
    let written = write(&net, &WriteOptions::default());
    for rate in ["2.5*#(P)", "2.5*floor(#(P)/2)", "2.5*min(#(P)@3)"] {
        assert!(written.xml.contains(&format!("<rate><value>{rate}</value>")), "{}", written.xml);
    }
    let losses: Vec<_> = written.warnings.iter().map(|w| w.loss).collect();
    assert_eq!(losses, [Loss::ServersPipe5]);
    let pipe5 = write(&net, &WriteOptions { target: Target::Pipe5, ..WriteOptions::default() });
    assert_eq!(pipe5.warnings[0].loss, Loss::Servers);
}

#[test]
fn a_delay_of_0_becomes_an_immediate_transition_and_reads_back() {
    let mut b = NetBuilder::new("");
    let p = b.place("P", 1);
    for (i, priority) in [None, Some(1), Some(7)].into_iter().enumerate() {
        let t = b.transition(format!("T{i}"), Timing::general(Law::Deterministic { delay: 0.0 }));
        b.transition_mut(t).unused_priority = priority;
        b.input(p, t, 1.0);
    }
    let net = b.build().unwrap();
    let written = write(&net, &WriteOptions::default());
    assert_eq!(written.xml.matches("<timed><value>false</value></timed>").count(), 3);
    assert_eq!(written.warnings.len(), 3);
    let message = &written.warnings[0].message;
    assert_eq!(message, "transition `T0` has a delay of 0 s; PIPE gets an immediate transition");
    assert_reads_back(&net).unwrap();
}

#[test]
fn rates_have_no_blanks_but_those_of_ids() {
    let mut b = NetBuilder::new("");
    let p = b.place("my P", 1);
    let tokens = || Box::new(Expr::Leaf(Leaf::Tokens(p, None)));
    let rate = Expr::Binary(BinaryOp::Subtract, tokens(), Box::new(Expr::Unary(UnaryOp::Negate, tokens())));
    let t = b.transition(
        "T",
        Timing::Timed { delay: Delay::Exponential { rate }, servers: Servers::Single, memory: Memory::Enabling },
    );
    b.input(p, t, 1.0);
    let net = b.build().unwrap();
    for target in [Target::Pipe4, Target::Pipe5] {
        let written = write(&net, &WriteOptions { target, ..WriteOptions::default() });
        assert!(written.xml.contains("<rate><value>#(my P)- -#(my P)</value>"), "{}", written.xml);
    }
}

#[test]
fn many_unexpected_elements_are_one_warning() {
    let mut b = NetBuilder::new("");
    let p = b.place("P", 1);
    for i in 0..11 {
        let t = b.transition(format!("T{i}"), Timing::exponential(1.0));
        b.input(p, t, 1.0);
        b.arc_mut(i).tagged = true;
    }
    let net = b.build().unwrap();
    let losses = |target| -> Vec<Loss> {
        write(&net, &WriteOptions { target, ..WriteOptions::default() }).warnings.iter().map(|w| w.loss).collect()
    };
    assert_eq!(losses(Target::Pipe4), [Loss::Unexpected]);
    assert_eq!(losses(Target::Pipe5), []);
}

#[test]
fn inhibitor_weights_become_a_complement_place() {
    let mut b = NetBuilder::new("");
    let p = b.place("P", 1);
    b.place_mut(p).capacity = Some(5);
    let fill = b.transition("fill", Timing::exponential(1.0));
    let drain = b.transition("drain", Timing::exponential(1.0));
    b.output(fill, p, 2.0);
    b.input(p, drain, 1.0);
    b.inhibitor(p, fill, 3.0);
    let net = b.build().unwrap();
    let written = write(&net, &WriteOptions::default());
    assert_eq!(written.warnings[0].loss, Loss::Complement);
    // 5 - 1 tokens in the complement; `fill` needs 5 - 3 + 1 = 3 of them, takes 3 and returns 1; `drain` adds 1
    for part in [
        "<place id=\"P_free\"",
        "<value>Default,4</value>",
        "source=\"P_free\" target=\"fill\"><inscription><value>Default,3</value>",
        "source=\"fill\" target=\"P_free\"><inscription><value>Default,1</value>",
        "source=\"drain\" target=\"P_free\"><inscription><value>Default,1</value>",
    ] {
        assert!(written.xml.contains(part), "{part}\n{}", written.xml);
    }
    assert!(!written.xml.contains("type value=\"inhibitor\""));
    assert_eq!(read(written.xml.as_bytes(), &ReadOptions::default()).unwrap().net, net);
}

#[test]
fn parallel_arcs_and_test_arcs_become_one_arc_each_way() {
    let mut b = NetBuilder::new("");
    let p = b.place("P", 9);
    let t = b.transition("T", Timing::exponential(1.0));
    b.input(p, t, 2.0);
    let second = b.input(p, t, 3.0);
    b.arc_mut(second).id = "second".into();
    b.test(p, t, 1.0);
    let net = b.build().unwrap();
    let written = write(&net, &WriteOptions::default());
    let seen_by_pipe: Vec<_> = written.xml.lines().filter(|l| l.starts_with("<arc ")).collect();
    assert_eq!(seen_by_pipe.len(), 2, "{}", written.xml);
    assert!(
        seen_by_pipe[0].contains("<value>Default,6</value>") && seen_by_pipe[1].contains("<value>Default,1</value>")
    );
    assert_eq!(read(written.xml.as_bytes(), &ReadOptions::default()).unwrap().net, net);
}

#[test]
fn erlang_delays_expand_into_stages_on_request() {
    let mut b = NetBuilder::new("");
    let (p, q) = (b.place("P", 1), b.place("Q", 0));
    let t = b.transition("T", Timing::general(Law::Erlang { stages: 3, mean: 1.5 }));
    b.input(p, t, 1.0);
    b.output(t, q, 1.0);
    let net = b.build().unwrap();
    let written = write(&net, &WriteOptions { expand_erlang: true, ..WriteOptions::default() });
    assert_eq!(written.warnings[0].loss, Loss::Chain);
    let back = read(written.xml.as_bytes(), &ReadOptions::default()).unwrap().net;
    assert_eq!((back.places().len(), back.transitions().len()), (4, 3));
    assert!(back.transitions().iter().all(|t| t.timing == Timing::exponential(2.0)));
    assert_eq!(back.arcs().iter().filter(|a| a.kind == ArcKind::Inhibitor).count(), 2);
    let last = back.arcs().iter().find(|a| a.kind == ArcKind::Output && a.place == q).unwrap();
    assert_eq!(back.transition(last.transition).id, "T_stage3");
}
