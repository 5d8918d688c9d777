//! Tests of reading GreatSPN's files: a project with all features, small projects for single features, and third-party projects.

use crate::formats::greatspn::{read_net, read_project};
use crate::formats::pipe::{Fault, Oddity, ReadOptions};
use crate::formats::{Format, read_bytes};
use crate::net::{ArcKind, Delay, Law, Net, Servers, Timing};

pub(super) const SAMPLE: &str = include_str!("everything.pnpro");

/// Options with values of constants.
pub(super) fn with(values: &[(&str, f64)]) -> ReadOptions {
    let constants = values.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect();
    ReadOptions { constants, ..ReadOptions::default() }
}

/// The timing of each transition as text.
fn timings(net: &Net) -> Vec<String> {
    let timing = |timing: &Timing| match timing {
        Timing::Immediate { weight, priority } => format!("immediate {} {priority}", net.expression_text(weight)),
        Timing::Timed { delay: Delay::Exponential { rate }, servers, .. } => {
            format!("{} {servers:?}", net.expression_text(rate))
        }
        Timing::Timed { delay: Delay::General(law), .. } => format!("{law:?}"),
    };
    net.transitions().iter().map(|t| format!("{}: {}", t.id, timing(&t.timing))).collect()
}

/// Arcs in words.
fn arcs(net: &Net) -> Vec<String> {
    let arc = |arc: &crate::net::Arc| {
        let (place, transition) = (&net.place(arc.place).id, &net.transition(arc.transition).id);
        let sign = match arc.kind {
            ArcKind::Input => "->",
            ArcKind::Output => "<-",
            ArcKind::Inhibitor => "-o",
            ArcKind::Test => "--",
        };
        format!("{place} {sign} {transition} {}", net.expression_text(&arc.weights[0].weight))
    };
    net.arcs().iter().map(arc).collect()
}

#[test]
fn everything_in_a_project_is_read() {
    assert_eq!(Format::sniff(SAMPLE.as_bytes()), Some(Format::GreatSpn));
    let read = read_bytes(SAMPLE.as_bytes(), &ReadOptions::default()).unwrap();
    let net = &read.net;
    assert_eq!((net.name(), read.dialect.to_string().as_str()), ("Server", "GreatSPN project"));
    let tokens: Vec<_> = net.places().iter().map(|p| (p.id.as_str(), p.initial[0])).collect();
    // the last binding of the template is in its own element and takes precedence over the binding of the measures
    assert_eq!(tokens, [("idle", 3), ("waiting", 2), ("broken", 0)]);
    assert_eq!(
        timings(net),
        [
            "arrive: 2 * lambda Infinite",
            "serve: mu Single",
            "fail: if(#(waiting) > 2, 0.5, min(#(idle), 2) * fault) Single",
            "drop: immediate 0.25 2",
            "keep: immediate #(waiting) 2",
            "repair: Deterministic { delay: 2.0 }",
            "tea: Uniform { low: 1.5, high: 2.5 }",
            "walk: Erlang { stages: 2, mean: 0.6666666666666666 }",
        ]
    );
    // `c` and `N` shape the net and are numbers
    let parameters: Vec<_> =
        net.parameters().iter().map(|p| format!("{} = {}", p.name, net.expression_text(&p.value))).collect();
    assert_eq!(parameters, ["lambda = 0.1", "mu = 3 * lambda", "fault = 0.01"]);
    assert_eq!(
        arcs(net)[..5],
        ["idle -> arrive 1", "waiting <- arrive 1", "waiting -> serve 2", "idle <- serve 2", "broken -o serve 1"]
    );
    assert_eq!(arcs(net)[9], "waiting -> drop 4");
    assert_eq!(arcs(net)[12], "waiting <- keep #(waiting)");
    assert_eq!((net.arcs()[2].path.len(), net.transitions()[0].orientation), (4, 90));
    assert_eq!((net.annotations()[0].text.as_str(), net.annotations()[0].border), ("A & B", true));
    let told: Vec<_> = read.warnings.iter().map(|w| (w.oddity, w.message.as_str())).collect();
    let measures = "a net cannot store measures; `tailspn net simulate --steady` computes `P{#broken > 0}`: --reward 'P1=#(broken) > 0', \
                    `X{serve}`: --throughput; skipped measures: `AG(#idle > 0)`";
    assert!(told.contains(&(Oddity::Measures, measures)), "{told:?}");
}

#[test]
fn given_constants_set_markings_weights_rates_and_servers() {
    let read = read_project(SAMPLE.as_bytes(), &with(&[("N", 5.0), ("c", 3.0), ("mu", 9.0)])).unwrap();
    assert_eq!(read.net.places()[0].initial, [6]);
    assert_eq!(arcs(&read.net)[1], "waiting <- arrive 3");
    assert_eq!(read.taken, ["mu", "c", "N"]);
    assert_eq!(timings(&read.net)[1], "serve: mu Limited(3)");
    assert_eq!(read.net.parameters()[1].value.as_number(), Some(9.0));
    let refused = read_project(SAMPLE.as_bytes(), &with(&[("N", 0.5)])).unwrap_err().to_string();
    assert!(
        refused.contains("line 5, column 55: the marking of place `idle`: `N + 1 = 1.5` is not a whole number"),
        "{refused}"
    );
}

/// A project with one net of these nodes and edges, from line 2 on.
fn project(nodes: &str, edges: &str) -> String {
    format!(
        "<project name='p' version='121'><gspn name='n'><nodes>\n{nodes}\n</nodes><edges>\n{edges}\n</edges></gspn></project>"
    )
}

const P: &str = "<place name='p' marking='1' x='1' y='1'/>";
const T: &str = "<transition name='t' type='EXP' x='1' y='1'/>";

#[test]
fn defaults_are_those_of_the_editor() {
    let nodes = format!("{P}{T}<transition name='i' type='IMM'/>");
    let net =
        read_project(project(&nodes, "<arc tail='p' head='t'/>").as_bytes(), &ReadOptions::default()).unwrap().net;
    assert_eq!(timings(&net), ["t: 1 Infinite", "i: immediate 1 1"]);
    assert_eq!(arcs(&net), ["p -> t 1"]);
}

#[test]
fn a_rate_that_counts_tokens_is_that_of_all_servers() {
    let nodes = format!("{P}<transition name='t' type='EXP' delay='2 * #p'/>");
    let read = read_project(project(&nodes, "").as_bytes(), &ReadOptions::default()).unwrap();
    assert_eq!(timings(&read.net), ["t: 2 * #(p) Single"]);
    assert_eq!(read.warnings[0].oddity, Oddity::MarkingRate);
}

#[test]
fn unsupported_elements_are_refused_with_name_and_line() {
    let arc = |attributes: &str| project(&format!("{P}{T}"), &format!("<arc {attributes}/>"));
    let node = |element: &str| project(element, "");
    let cases = [
        (
            node("<place name='p' domain='C'/>"),
            "has the colour domain `C`; tailspn does not read coloured nets of GreatSPN",
        ),
        (node("<place name='p' type='CONTINUOUS'/>"), "has the type `CONTINUOUS`; tailspn does not read fluid nets"),
        (node("<transition name='t' type='CONT'/>"), "fluid nets"),
        (node("<transition name='t'/>"), "has no type"),
        (node("<transition name='t' type='EXP' guard='x == y'/>"), "has the guard `x == y`"),
        (node("<transition name='t' type='GEN' delay='Pareto[0.01,2]'/>"), "has the delay `Pareto[0.01,2]`"),
        (node("<transition name='t' type='GEN' delay='FN: f(x)'/>"), "has the delay `FN: f(x)`"),
        (node("<transition name='t' type='EXP' delay='a * 2'/>"), "there is no rate parameter `a`"),
        (node("<transition name='t' type='EXP' delay='FromList[\"a\", 1]'/>"), "has no meaning here"),
        (node("<transition name='t' type='EXP' nservers='1.5'/>"), "`1.5` is not a whole number"),
        (node("<transition name='t' type='EXP' nservers='0'/>"), "has 0 servers"),
        (node("<transition name='t' type='IMM' priority='-1'/>"), "is not a whole number"),
        (node("<place name='p' marking='#q'/>"), "it counts tokens"),
        (node("<place name='p' marking='99999999999'/>"), "is not a whole number from 0 to 4294967295"),
        (node("<place name='p'/><transition name='p' type='EXP'/>"), "`p` is defined twice"),
        (
            node(
                "<place name='p'/><constant name='a' consttype='REAL' value='1'/><constant name='a' consttype='REAL' value='2'/>",
            ),
            "constant `a` is defined twice",
        ),
        (
            node(
                "<place name='p'/><constant name='a' consttype='REAL' value='b'/><constant name='b' consttype='REAL' value='a'/>",
            ),
            "it depends on itself or on a name without a value",
        ),
        (node("<place name='p'/><template name='a' type='REAL'/>"), "`a` has no value in the file"),
        (node("<place name='p'/><template name='a' type='ACTION'/>"), "has the type `ACTION`"),
        (node("<place x='1'/>"), "a place has no id"),
    ];
    for (text, part) in cases {
        let error =
            read_project(text.as_bytes(), &ReadOptions::default()).map(|read| read.net).unwrap_err().to_string();
        assert!(error.contains(part) && error.starts_with("line 2, "), "{error}, not {part}");
    }
    let edges = [
        ("tail='p' head='q'", "head `q` of arc `p to q` is neither a place"),
        ("tail='p' head='p'", "joins two places"),
        ("tail='t' head='p' kind='INHIBITOR'", "must start at a place"),
        ("tail='p' head='t' kind='RESET'", "has the kind `RESET`"),
        ("tail='p' head='t' mult='&lt;x&gt;'", "has the coloured multiplicity `<x>`"),
        ("tail='p' head='t' mult='1.5'", "it must be a whole number"),
        ("head='t'", "tail `` of arc `t`"),
    ];
    for (attributes, part) in edges {
        let error = read_project(arc(attributes).as_bytes(), &ReadOptions::default()).map(|read| read.net).unwrap_err();
        let error = error.to_string();
        assert!(error.contains(part) && error.starts_with("line 4, "), "{error}, not {part}");
    }
}

#[test]
fn one_of_several_nets_is_chosen_by_name() {
    let net = |name: &str| format!("<gspn name='{name}'><nodes><place name='{name}'/></nodes><edges/></gspn>\n");
    let text = format!("<project name='p' version='121'>\n{}<algebra name='C'/>{}</project>", net("a"), net("b"));
    let options = |name: &str| ReadOptions { net: Some(name.to_owned()), ..ReadOptions::default() };
    let read = read_project(text.as_bytes(), &options("b")).unwrap();
    assert_eq!(read.net.places()[0].id, "b");
    assert!(read.warnings[0].message.contains("page `C` (`<algebra>`)"));
    let fault = |options: &ReadOptions| read_project(text.as_bytes(), options).unwrap_err().problems.remove(0);
    let several = fault(&ReadOptions::default());
    assert_eq!(several.fault, Fault::SeveralNets { names: "`a`, `b`".to_owned() });
    assert_eq!(several.spot.line, 3);
    assert_eq!(fault(&options("c")).fault, Fault::UnknownNet { name: "c".to_owned(), names: "`a`, `b`".to_owned() });
}

/// A pair of a `.net` and a `.def`: a queue with a repair, a priority, parameters and a function of the marking.
pub(super) const NET: &str = "|0|
a comment
|
f 2 3 2 4 1 0 0
N 3 1.0 1.0 0
k 2 1.0 1.2 0
P1|tag   -1 1.700000 1.050000 1.900000 1.016667 0
P2   0 1.616667 3.933333 1.816667 3.900000 0
P3   4 1.616667 5.933333 1.816667 5.900000 1 2 0
lambda 0.500000 1.0 2.0 0
mu 2.000000 1.0 2.5 0
G1 0.000000 0.000000 3
T1  -1.000000e+00   0   0   1 0 1.666667 2.316667 0.433333 2.350000 1.833333 2.400000 0
   1   1   0 0
   1
   20001   2   1 0
2.5 3.0
   1
   1   3   0 0
T2  -5.100000e+02   1   0   1 1 1.683333 6.900000 1.133333 6.833333 1.850000 6.983333 0
  -2   2   0 0
   1
   1   1   0 0
   0
T3  1.500000   1   1   1 3 1.683333 6.900000 1.133333 6.833333 1.850000 6.983333 0
   5   2   0 0
   0
   0
T4  -2   0 127   1 2 1.683333 6.900000 1.133333 6.833333 1.850000 6.983333 0
   1   3   0 0
   0
   0
";
pub(super) const DEF: &str =
    "|2\nwhen [#P2 > 2 and #P1 = 1] : 2 * mu;\never : mu;\n|256\nbusy 1.0 2.0 : P{#P2 > 0};\n%\n|\n";

#[test]
fn a_net_file_and_its_definitions_are_read() {
    let options = ReadOptions { definitions: Some(DEF.to_owned()), ..with(&[("N", 4.0)]) };
    let read = read_bytes(NET.as_bytes(), &options).unwrap();
    let net = &read.net;
    assert_eq!(read.dialect.to_string(), "GreatSPN .net");
    assert_eq!(net.places().iter().map(|p| p.initial[0]).collect::<Vec<_>>(), [4, 0, 4]);
    assert_eq!(net.places()[0].id, "P1");
    assert_eq!(
        timings(net),
        [
            "T1: lambda Infinite",
            "T2: if(#(P2) > 2 && #(P1) == 1, 2 * 2, 2) Single",
            "T3: immediate 1.5 3",
            "T4: Deterministic { delay: 2.0 }",
        ]
    );
    assert_eq!(
        arcs(net),
        ["P1 -> T1 1", "P2 <- T1 2", "P3 -o T1 1", "P2 -> T2 2", "P1 <- T2 1", "P2 -> T3 5", "P3 -> T4 1"]
    );
    assert_eq!(net.arcs()[1].path.len(), 3);
    // `mu` is a delay and `k` a weight, which shape the net, so they are numbers everywhere
    assert_eq!(net.parameters().iter().map(|p| p.name.as_str()).collect::<Vec<_>>(), ["lambda"]);
    assert!(read.warnings[0].message.contains("busy 1.0 2.0 : P{#P2 > 0};"));
    let error = read_net(NET.as_bytes(), &ReadOptions::default()).unwrap_err().to_string();
    assert!(
        error.contains("line 20, column 5: the rate of transition `T2`: function 2 of the `.def` file is missing"),
        "{error}"
    );
}

#[test]
fn malformed_net_files_are_refused_with_line_and_column() {
    let cases = [
        ("N 3 1.0", "N -7134 1.0", "line 5, column 1: `N` has no value in the file"),
        (
            "P1|tag   -1",
            "P1|tag   -3",
            "line 7, column 10: expected a number, or the position of a parameter with a minus, not `-3`",
        ),
        ("T3  1.500000   1   1 ", "T3  1.500000   1   2 ", "expected 0, 127 or the position of a group, not `2`"),
        ("   5   2   0 0", "   5   4   0 0", "line 26, column 8: expected the position of a place, not `4`"),
        ("T2  -5.100000e+02   1", "T2  -5.100000e+02   -2", "load-dependent transitions"),
        ("f 2 3", "g 2 3", "line 4, column 1: expected `f` before the numbers of parts, not `g`"),
        (
            "5.900000 1 2 0",
            "5.900000 0 1.8 5.0 alma,lala",
            "line 9, column 46: place `P3` has the colour domain `alma,lala`",
        ),
        ("6.983333 0\n   5", "6.983333 0 1.8 2.2 [x = y]\n   5", "transition `T3` has a guard"),
    ];
    let options = ReadOptions { definitions: Some(DEF.to_owned()), ..ReadOptions::default() };
    for (from, to, part) in cases {
        assert_eq!(NET.matches(from).count(), 1, "{from}");
        let error = read_net(NET.replace(from, to).as_bytes(), &options).unwrap_err().to_string();
        assert!(error.contains(part), "{error}, not {part}");
    }
}

/// A folder of the shared data; none if it is absent, which is an error if `TAILSPN_REQUIRE_SHARED` is set.
fn shared(file: &str) -> Option<Vec<u8>> {
    let beside = || std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared");
    let shared = std::env::var_os("TAILSPN_SHARED").map_or_else(beside, std::path::PathBuf::from);
    let found = std::fs::read(shared.join("data").join(file));
    assert!(found.is_ok() || std::env::var_os("TAILSPN_REQUIRE_SHARED").is_none(), "{file} is missing");
    if found.is_err() {
        println!("skipped: no ../shared");
    }
    found.ok()
}

#[test]
fn projects_of_others_are_read_and_written_back() {
    type Expected<'a> = (&'a str, &'a [(&'a str, f64)], (usize, usize, usize));
    let files: [Expected<'_>; 7] = [
        ("nets-other/storm/gspn_simple.pnpro", &[], (2, 2, 4)),
        ("nets-other/storm/philosophers_4.pnpro", &[], (16, 12, 40)),
        ("qcomp/ctmc/philosophers/philosophers.4.PNPRO", &[], (16, 12, 40)),
        ("qcomp/ctmc/philosophers/philosophers.12.PNPRO", &[], (48, 36, 120)),
        ("qcomp/ctmc/philosophers/philosophers.20.PNPRO", &[], (80, 60, 200)),
        ("qcomp/ma/readers-writers/readers-writers.pnpro", &[("K", 5.0)], (13, 13, 35)),
        ("qcomp/ma/flexible-manufacturing/flexible-manufacturing.PNPRO", &[], (22, 18, 52)),
    ];
    for (file, values, expected) in files {
        let Some(bytes) = shared(file) else { return };
        let net = read_bytes(&bytes, &with(values)).unwrap_or_else(|error| panic!("{file}: {error}")).net;
        assert_eq!((net.places().len(), net.transitions().len(), net.arcs().len()), expected, "{file}");
        let written = crate::formats::greatspn::write(&net).unwrap();
        assert!(written.warnings.is_empty(), "{file}: {:?}", written.warnings);
        let again = read_project(written.xml.as_bytes(), &ReadOptions::default()).unwrap();
        assert_eq!(again.net, net, "{file}");
        assert!(again.warnings.is_empty(), "{file}: {:?}", again.warnings);
    }
    let Some(bytes) = shared("qcomp/ma/readers-writers/readers-writers.pnpro") else { return };
    let error = read_bytes(&bytes, &ReadOptions::default()).unwrap_err().to_string();
    assert_eq!(error, "line 6, column 52: `K` has no value in the file; set it (option `constants`)");
}

#[test]
fn general_delays_are_read_exactly() {
    let nodes = "<transition name='t' type='GEN' delay='Erlang[0.5 + 1.5, 4]'/>";
    let net = read_project(project(nodes, "").as_bytes(), &ReadOptions::default()).unwrap().net;
    let Timing::Timed { delay: Delay::General(law), servers, .. } = &net.transitions()[0].timing else { panic!() };
    assert_eq!((law, servers), (&Law::Erlang { stages: 4, mean: 2.0 }, &Servers::Single));
}
