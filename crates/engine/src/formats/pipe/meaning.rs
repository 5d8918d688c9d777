//! Tests of the meaning of the parts of a file.

use crate::formats::pipe::{Dialect, Oddity, ReadError, ReadNet, ReadOptions, Reading, read};
use crate::net::{Arc, ArcKind, Delay, Law, Net, Servers, Timing};

fn options(change: impl FnOnce(&mut ReadOptions)) -> ReadOptions {
    let mut options = ReadOptions::default();
    change(&mut options);
    options
}

fn read_body(body: &str, options: &ReadOptions) -> Result<ReadNet, ReadError> {
    read(format!("<pnml>\n<net id='Net-One' type='P/T net'>\n{body}\n</net>\n</pnml>").as_bytes(), options)
}

fn loaded(body: &str) -> ReadNet {
    read_body(body, &ReadOptions::default()).unwrap_or_else(|error| panic!("{error}"))
}

fn oddities(read: &ReadNet) -> Vec<Oddity> {
    read.warnings.iter().map(|w| w.oddity).collect()
}

fn rate(net: &Net, index: usize) -> String {
    match &net.transitions()[index].timing {
        Timing::Immediate { weight, .. } => net.expression_text(weight),
        Timing::Timed { delay: Delay::Exponential { rate }, .. } => net.expression_text(rate),
        Timing::Timed { delay: Delay::General(law), .. } => format!("{law:?}"),
    }
}

fn weights(net: &Net, arc: &Arc) -> Vec<String> {
    let text = |w: &crate::net::ClassWeight| {
        format!("{} {}", net.classes()[w.class.index()].id, net.expression_text(&w.weight))
    };
    arc.weights.iter().map(text).collect()
}

const P_AND_T: &str = "<place id='P0'/><transition id='T0'><rate><value>1</value></rate></transition>";

#[test]
fn rates_may_use_ids_names_and_parameters() {
    let read = loaded(
        "<place id='P0'><name><value>Buf fer</value></name></place>
         <definition id='k' name='lam' expression='2.5'/><definition name='mu' expression='lam*#(P0)'/>
         <transition id='a'><rate><value>2.0*#(Buf fer)</value></rate><timed><value>true</value></timed></transition>
         <transition id='b'><rate><value>max(1@#(P0))</value></rate><timed><value>true</value></timed></transition>
         <transition id='c'><rate><value>9</value></rate><timed><value>true</value></timed>
           <toolspecific tool='PIPE' version='2.5' rateDefinition='k'/></transition>
         <transition id='d'><rate><value>#(BUFFER)-cap(P0)</value></rate><timed><value>true</value></timed></transition>",
    );
    let rates: Vec<_> = (0..4).map(|i| rate(&read.net, i)).collect();
    assert_eq!(rates, ["2 * #(P0)", "max(1, #(P0))", "lam", "#(P0) - cap(P0)"]);
    assert_eq!(read.net.expression_text(&read.net.parameters()[1].value), "lam * #(P0)");
    assert_eq!(oddities(&read), [Oddity::LetterCase]);
}

#[test]
fn arc_weights_count_their_own_class() {
    let coloured = "<token id='Default' enabled='true'/><token id='Red' enabled='true'/>";
    let arc = "<arc id='a' source='P0' target='T0'><inscription><value>Default,#(P0),Red,#(P0@Default)</value>
               </inscription></arc>";
    let read = loaded(&format!("{coloured}{P_AND_T}{arc}"));
    let net = &read.net;
    assert_eq!(weights(net, &net.arcs()[0]), ["Default #(P0, Default)", "Red #(P0, Default)"]);
    let plain = loaded(&format!("{P_AND_T}{}", arc.replace(",Red,#(P0@Default)", "")));
    assert_eq!(weights(&plain.net, &plain.net.arcs()[0]), ["Default #(P0)"]);
}

#[test]
fn inhibitor_arcs_keep_their_weight_and_need_one() {
    let arc = |kind: &str, weight: &str| {
        format!(
            "<arc id='{kind}{weight}' source='P0' target='T0'><inscription><value>{weight}</value></inscription>
             <type value='{kind}'/></arc>"
        )
    };
    let arcs = [arc("inhibitor", "2"), arc("inhibition", "3"), arc("inhibitor", ""), arc("inhibitor", "0")].concat();
    let read = loaded(&format!("{P_AND_T}{arcs}"));
    let net = &read.net;
    assert!(net.arcs().iter().all(|a| a.kind == ArcKind::Inhibitor));
    let all: Vec<_> = net.arcs().iter().map(|a| weights(net, a).concat()).collect();
    assert_eq!(all, ["Default 2", "Default 3", "Default 1", "Default 1"]);
    assert_eq!(oddities(&read), [Oddity::InhibitorZero]);
    assert_eq!(read.dialect, Dialect::Storm);
    // a class of weight 0 does not inhibit
    let coloured = "<token id='Default'/><token id='Red'/>";
    let read = loaded(&format!("{coloured}{P_AND_T}{}", arc("inhibitor", "Default,1,Red,0")));
    assert_eq!(weights(&read.net, &read.net.arcs()[0]), ["Default 1"]);
}

#[test]
fn weight_0_and_parallel_arcs_are_kept() {
    let arc = |id: &str, weight: &str| {
        format!("<arc id='{id}' source='P0' target='T0'><inscription><value>{weight}</value></inscription></arc>")
    };
    let read = loaded(&format!("{P_AND_T}{}{}", arc("a", "0"), arc("b", "2")));
    let all: Vec<_> = read.net.arcs().iter().map(|a| weights(&read.net, a).concat()).collect();
    assert_eq!(all, ["Default 0", "Default 2"]);
    assert!(read.warnings.is_empty());
}

#[test]
fn infinite_servers_belong_to_timed_transitions() {
    let timed = |timed: &str| {
        format!(
            "<transition id='{timed}'><rate><value>2</value></rate><timed><value>{timed}</value></timed>
             <infiniteServer><value>true</value></infiniteServer><priority><value>12.3</value></priority></transition>"
        )
    };
    let read = loaded(&format!("{}{}", timed("true"), timed("false")));
    let timings: Vec<_> = read.net.transitions().iter().map(|t| &t.timing).collect();
    assert!(matches!(timings[0], Timing::Timed { servers: Servers::Infinite, .. }));
    assert_eq!(*timings[1], Timing::immediate(2.0, 12));
    assert_eq!(oddities(&read), [Oddity::TimedPriority, Oddity::ImmediateServers, Oddity::DecimalInteger]);
}

#[test]
fn missing_priorities_are_read_as_asked() {
    let body = "<transition id='a'><rate><value>1</value></rate><priority><value>4</value></priority></transition>
                <transition id='b'><rate><value>1</value></rate></transition>";
    let priority = |reading| {
        let read = read_body(body, &options(|o| o.missing_priority = reading)).unwrap();
        assert_eq!((read.warnings[0].oddity, read.warnings[0].spot.line), (Oddity::MissingPriority, 4));
        match read.net.transitions()[1].timing {
            Timing::Immediate { priority, .. } => priority,
            Timing::Timed { .. } => panic!("it is immediate"),
        }
    };
    assert_eq!([Reading::Sensible, Reading::Pipe43, Reading::Pipe5].map(priority), [1, 1, 0]);
}

#[test]
fn missing_weights_are_read_as_asked() {
    let body = format!("{P_AND_T}<arc id='in' source='P0' target='T0'/><arc id='out' source='T0' target='P0'/>");
    let arcs = |reading| {
        let net = read_body(&body, &options(|o| o.missing_inscription = reading)).unwrap().net;
        net.arcs().iter().map(|a| (a.kind, weights(&net, a).concat())).collect::<Vec<_>>()
    };
    let one = || "Default 1".to_owned();
    assert_eq!(arcs(Reading::Sensible), [(ArcKind::Input, one()), (ArcKind::Output, one())]);
    assert_eq!(arcs(Reading::Pipe43), [(ArcKind::Input, String::new()), (ArcKind::Output, String::new())]);
    assert_eq!(arcs(Reading::Pipe5), [(ArcKind::Test, one()), (ArcKind::Output, String::new())]);
}

#[test]
fn odd_truth_values_are_read_as_asked() {
    let immediate = |text: &str, reading| {
        let body = format!(
            "<transition id='a'><rate><value>1</value></rate><timed><value>{text}</value></timed></transition>"
        );
        let read = read_body(&body, &options(|o| o.odd_boolean = reading)).ok()?;
        Some(read.net.transitions()[0].is_immediate())
    };
    let all = |text| [Reading::Sensible, Reading::Pipe43, Reading::Pipe5].map(|reading| immediate(text, reading));
    assert_eq!(all("1"), [Some(false), Some(false), Some(false)]);
    assert_eq!(all("0"), [Some(true), Some(false), Some(true)]);
    assert_eq!(all("TRUE"), [Some(false), Some(false), Some(true)]);
    assert_eq!(all("maybe"), [None, Some(true), Some(true)]);
}

#[test]
fn letter_case_of_ids_is_read_as_asked() {
    let body = format!(
        "{P_AND_T}<place id='p0'/><arc id='a' source='P0' target='t0'><inscription><value>1</value></inscription></arc>"
    );
    let place = |reading| Some(read_body(&body, &options(|o| o.id_case = reading)).ok()?.net.arcs()[0].place.index());
    assert_eq!([Reading::Sensible, Reading::Pipe43, Reading::Pipe5].map(place), [Some(0), Some(1), None]);
}

#[test]
fn undeclared_classes_plain_numbers_and_nets_are_read_as_asked() {
    let body =
        "<token id='Red'/><token id='Default'/><place id='p'><initialMarking><value>3</value></initialMarking></place>
                <place id='q'><initialMarking><value>Blue,1</value></initialMarking></place></net><net><place id='r'/>";
    let sensible = loaded(body);
    assert_eq!(sensible.net.places()[0].initial, [0, 3, 0]);
    assert_eq!(sensible.net.places()[1].initial, [0, 0, 1]);
    assert_eq!(oddities(&sensible), [Oddity::PlainNumber, Oddity::UndeclaredClass, Oddity::SeveralNets]);
    let as_43 = read_body(body, &ReadOptions::as_pipe43()).unwrap_err();
    assert_eq!(as_43.to_string(), "line 4, column 54: the marking of place `q`: token class `Blue` is not declared");
    let both = options(|o| (o.plain_number, o.several_nets) = (Reading::Pipe43, Reading::Pipe43));
    let net = read_body(body, &both).unwrap().net;
    assert_eq!((net.places()[0].initial.as_slice(), net.places().len()), (&[3, 0, 0][..], 3));
}

#[test]
fn pages_and_references_of_pnml_become_one_net() {
    let xml = "<?xml version='1.0'?>
<pnml xmlns='http://www.pnml.org/version-2009/grammar/pnml'>
<net id='n' type='http://www.pnml.org/version-2009/grammar/ptnet'><name><text>two pages</text></name>
<page id='one'><place id='p'><name><text>start</text></name><initialMarking><text> 2 </text></initialMarking></place>
  <transition id='t'/><arc id='a' source='p' target='t'/>
  <page id='inner'><referencePlace id='rp' ref='rq'/><referenceTransition id='rt' ref='t'/>
    <arc id='b' source='rt' target='rp'><inscription><text>3</text></inscription></arc></page></page>
<page id='two'><place id='q'/><referencePlace id='rq' ref='q'/></page>
</net></pnml>";
    let two_pages = read(xml.as_bytes(), &ReadOptions::default()).unwrap();
    let net = &two_pages.net;
    assert_eq!((two_pages.dialect, net.name(), net.places()[0].label()), (Dialect::Pnml2009, "two pages", "start"));
    assert_eq!(net.places()[0].initial, [2]);
    assert_eq!(net.arcs()[1].place, net.find_place("q").unwrap());
    assert_eq!(weights(net, &net.arcs()[1]), ["Default 3"]);
    assert_eq!(net.transitions()[0].timing, Timing::exponential(1.0));
    assert_eq!(oddities(&two_pages), [Oddity::Untimed]);
    let broken = xml.replace("ref='q'", "ref='rp'");
    let error = read(broken.as_bytes(), &ReadOptions::default()).unwrap_err();
    assert!(error.to_string().contains("reference `rp` refers to `rq`, which is not a place"), "{error}");
}

#[test]
fn fixed_delays_of_amap_are_kept() {
    let read = loaded(
        "<transition id='t'><timed><value>false</value></timed><deterministic><value>true</value></deterministic>
         <delay><value>10.0</value></delay></transition>",
    );
    assert_eq!(read.net.transitions()[0].timing, Timing::general(Law::Deterministic { delay: 10.0 }));
    assert_eq!(oddities(&read), [Oddity::FixedDelay]);
}

#[test]
fn negative_constants_are_refused_and_negative_expressions_kept() {
    let timed = |rate: &str| {
        let body = format!(
            "<place id='P1'/><transition id='t'><rate><value>{rate}</value></rate><timed><value>true</value></timed>
             </transition>"
        );
        read_body(&body, &ReadOptions::default())
    };
    assert_eq!(rate(&timed("#(P1)-5").unwrap().net, 0), "#(P1) - 5");
    assert_eq!(rate(&timed("0.0").unwrap().net, 0), "0");
    let error = timed("-1").unwrap_err().to_string();
    assert!(error.contains("the rate of transition `t` is -1; it must be finite and not negative"), "{error}");
    assert!(timed("inf").unwrap_err().to_string().contains("there is no rate parameter `inf`"));
}

#[test]
fn instructions_that_cannot_be_followed_are_refused() {
    let with = |instruction: &str| {
        let body = format!(
            "<transition id='t'><rate><value>1</value></rate><timed><value>true</value></timed><?tailspn {instruction}?>
             </transition>"
        );
        read_body(&body, &ReadOptions::default()).map_err(|e| e.to_string())
    };
    assert!(with("law='erlang' stages='0' mean='1'").unwrap_err().contains("0 Erlang stages"));
    assert!(with("law='erlang' stages='2'").unwrap_err().contains("`mean` is missing"));
    assert!(with("law='cauchy'").unwrap_err().contains("unknown distribution"));
    for text in ["servers='0'", "servers='1.5'", "servers='many'"] {
        assert!(with(text).unwrap_err().contains("neither `infinite` nor a whole number"), "{text}");
    }
    assert!(with("law='erlang' stages='2.7' mean='1'").unwrap_err().contains("not a whole number"));
    assert!(with("memory='Age'").unwrap_err().contains("neither `enabling` nor `age`"));
    assert!(with("position='1'").unwrap_err().contains("not two numbers"));
    assert!(with("rate='2 * '").unwrap_err().contains("expected a number"));
}
