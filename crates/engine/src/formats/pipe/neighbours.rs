//! Tests of files written by other tools. Each file is read with the meaning of its tool, or it is refused and the
//! error names the formalism.

use crate::formats::pipe::corpus::shared;
use crate::formats::pipe::{
    Dialect, Fault, Oddity, ReadError, ReadNet, ReadOptions, Reading, Target, WriteOptions, read, write, written_report,
};
use crate::net::{ArcKind, Delay, Law, Net, Timing};

fn read_text(text: &str) -> Result<ReadNet, ReadError> {
    read(text.as_bytes(), &ReadOptions::default())
}

fn tapn(parts: &str) -> String {
    format!("<pnml xmlns=\"http://www.informatik.hu-berlin.de/top/pnml/ptNetb\">\n{parts}\n</pnml>")
}

fn ids(net: &Net) -> (Vec<String>, Vec<String>) {
    let places = net.places().iter().map(|p| format!("{}={:?}", p.id, p.initial)).collect();
    (places, net.transitions().iter().map(|t| t.id.clone()).collect())
}

/// The arcs as `source kind target weight`.
fn arcs(net: &Net) -> Vec<String> {
    let arcs = net.arcs().iter().map(|arc| {
        let (place, transition) = (&net.place(arc.place).id, &net.transition(arc.transition).id);
        let weight = net.expression_text(&arc.weights[0].weight);
        match arc.kind {
            ArcKind::Output => format!("{transition} -> {place} {weight}"),
            kind => format!("{place} {kind:?} {transition} {weight}"),
        }
    });
    arcs.collect()
}

#[test]
fn components_of_tapaal_share_places_and_transitions_by_name() {
    let place = |id: &str, tokens: u32| {
        format!(
            "<place id=\"{id}\" name=\"{id}\" initialMarking=\"{tokens}\" invariant=\"&lt; inf\" positionX=\"3\" positionY=\"4\"/>"
        )
    };
    let transition = |id: &str| {
        format!(
            "<transition angle=\"90\" id=\"{id}\" name=\"{id}\" player=\"0\" positionX=\"1\" positionY=\"2\" urgent=\"false\"/>"
        )
    };
    let arc = |source: &str, target: &str, kind: &str, ages: &str, weight: &str| {
        format!(
            "<arc id=\"{source} {target}\" inscription=\"{ages}\" source=\"{source}\" target=\"{target}\" type=\"{kind}\" weight=\"{weight}\"/>"
        )
    };
    let text = tapn(&[
        "<shared-place initialMarking=\"2\" invariant=\"&lt; inf\" name=\"bus\"/><shared-transition name=\"meet\" urgent=\"false\"/>",
        "<constant name=\"K\" value=\"3\"/><net active=\"true\" id=\"a\" type=\"P/T net\">",
        &place("bus", 2), &place("p", 1), &transition("meet"),
        &arc("bus", "meet", "timed", "[0,inf)", "K"), &arc("p", "meet", "tapnInhibitor", "[0,inf)", "2"),
        "</net><net active=\"true\" id=\"b\" type=\"P/T net\">",
        &place("p", 0), &place("bus", 2), &transition("meet"), &transition("t"),
        &arc("meet", "p", "normal", "1", "1"), &arc("p", "t", "timed", "[0,inf)", "1"),
        "</net><net active=\"false\" id=\"c\" type=\"P/T net\">", &place("unused", 1),
        "</net><feature isGame=\"false\" isTimed=\"false\" isColored=\"false\"/>",
    ].concat());
    let read = read_text(&text).unwrap();
    assert_eq!(read.dialect, Dialect::Tapaal);
    let (places, transitions) = ids(&read.net);
    assert_eq!(places, ["bus=[2]", "a.p=[1]", "b.p=[0]"]);
    assert_eq!(transitions, ["meet", "b.t"]);
    assert_eq!(arcs(&read.net), ["bus Input meet 3", "a.p Inhibitor meet 2", "meet -> b.p 1", "b.p Input b.t 1"]);
    let odd: Vec<_> = read.warnings.iter().map(|warning| warning.oddity).collect();
    assert_eq!(odd, [Oddity::Untimed, Oddity::SeveralNets]);
    assert_eq!(read.net.places()[1].position.map(|p| (p.x, p.y)), Some((3.0, 4.0)));
    assert_eq!(read.net.transitions()[0].timing, Timing::exponential(1.0));
}

#[test]
fn other_formalisms_are_refused_by_name_with_their_line() {
    let net = |body: &str| {
        format!("<pnml>\n<net id=\"n\" type=\"http://www.pnml.org/version-2009/grammar/ptnet\">\n{body}</net></pnml>")
    };
    let arc = |attributes: &str| {
        tapn(&format!("<net id=\"n\">\n<arc id=\"a\" source=\"p\" target=\"t\" {attributes}/></net>"))
    };
    let cases = [
        (arc("inscription=\"[2,4]\" type=\"timed\""), "has the age interval `[2,4]`"),
        (arc("inscription=\"[0,inf)\" type=\"transport\""), "is a transport arc"),
        (arc("inscription=\"(0,inf)\" type=\"tapnInhibitor\""), "has the age interval `(0,inf)`"),
        (
            tapn("<net id=\"n\">\n<place id=\"p\" initialMarking=\"1\" invariant=\"&lt;= 4\"/></net>"),
            "age invariant `<= 4`",
        ),
        (tapn("<net id=\"n\">\n<transition id=\"t\" angle=\"0\" urgent=\"true\"/></net>"), "transition `t` is urgent"),
        (tapn("<net id=\"n\">\n<transition id=\"t\" angle=\"0\" player=\"1\"/></net>"), "belongs to player 1"),
        (
            tapn("<net id=\"n\">\n<transition id=\"t\" angle=\"0\" distribution=\"uniform\"/></net>"),
            "delay distribution",
        ),
        (tapn("<net id=\"n\"/>\n<feature isGame=\"true\"/>"), "the net is a game"),
        (
            net(
                "<transition id=\"t\"><delay><interval closure=\"closed\"><cn>4</cn><cn>9</cn></interval></delay></transition>",
            ),
            "time interval from 4 to 9",
        ),
        (net("<transition id=\"t\" guard=\"x &gt; 1\"/>"), "transition `t` has a guard"),
        (net("<place id=\"p\"><hlinitialMarking/></place>"), "place `p` has a coloured value"),
        (
            net(
                "<place id=\"p\"><initialMarking><multiset><item><value><object type=\"int\">1</object></value><multiplicity>1</multiplicity></item></multiset></initialMarking></place>",
            ),
            "place `p` has a coloured value",
        ),
        (
            net("<arc id=\"a\" source=\"p\" target=\"t\"><inscription><variable>x</variable></inscription></arc>"),
            "arc `a` has a coloured value",
        ),
        (
            net(
                "<place id=\"p\"/><transition id=\"t\"/><arc id=\"a\" source=\"p\" target=\"t\"><arctype><text>reset</text></arctype></arc>",
            ),
            "arc `a` has the type `reset`",
        ),
        (
            net(
                "<transition id=\"t\"><toolspecific tool=\"StochasticPetriNet\"><property key=\"distributionType\">NORMAL</property><property key=\"distributionParameters\">5;1</property></toolspecific></transition>",
            ),
            "has the distribution `NORMAL` with parameters `5;1`",
        ),
    ];
    for (text, part) in cases {
        let error = read_text(&text).unwrap_err();
        let formalism = |problem: &&crate::formats::pipe::ReadProblem| matches!(problem.fault, Fault::Formalism { .. });
        let problem = error.problems.iter().find(formalism).unwrap_or_else(|| panic!("{error} instead of {part}"));
        assert!(problem.fault.to_string().contains(part), "{}: {part}", problem.fault);
        assert_eq!(problem.spot.line, 3, "{}", problem.fault);
    }
    let symmetric = "<pnml><net id=\"n\" type=\"http://www.pnml.org/version-2009/grammar/symmetricnet\"/></pnml>";
    assert!(matches!(read_text(symmetric).unwrap_err().problems[0].fault, Fault::NetType { .. }));
}

#[test]
fn stochastic_parts_of_pm4py_become_delays() {
    let stochastic = |id: &str, kind: &str, parameters: &str, weight: &str| {
        format!(
            "<transition id=\"{id}\"><toolspecific tool=\"StochasticPetriNet\" version=\"0.2\">
             <property key=\"distributionType\">{kind}</property>
             <property key=\"distributionParameters\">{parameters}</property>
             <property key=\"priority\">2</property><property key=\"invisible\">true</property>
             <property key=\"weight\">{weight}</property></toolspecific></transition>"
        )
    };
    let text = format!(
        "<pnml><net id=\"net1\" type=\"http://www.pnml.org/version-2009/grammar/pnmlcoremodel\"><page id=\"n0\">
         <place id=\"source\"><initialMarking><text>1</text></initialMarking></place><place id=\"sink\"/>
         {}{}{}{}{}<arc id=\"a\" source=\"source\" target=\"i\"/></page>
         <finalmarkings><marking><place idref=\"sink\"><text>1</text></place></marking></finalmarkings></net></pnml>",
        stochastic("i", "IMMEDIATE", "0.0", "0.25"),
        stochastic("e", "EXPONENTIAL", "0.5", "1.0"),
        stochastic("u", "UNIFORM", "3.0;7.0", "0.5"),
        stochastic("l", "LOGNORMAL", "0.5;0;4", "1"),
        stochastic("g", "GAMMA", "3.0;0;2.0", "1"),
    );
    let read = read_text(&text).unwrap();
    let timing = |i: usize| read.net.transitions()[i].timing.clone();
    let law = |i: usize| match timing(i) {
        Timing::Timed { delay: Delay::General(law), .. } => law,
        other => panic!("{other:?}"),
    };
    assert_eq!(read.dialect, Dialect::Pm4py);
    assert_eq!(timing(0), Timing::immediate(0.25, 2));
    assert_eq!(timing(1), Timing::exponential(0.5));
    assert_eq!(law(2), Law::Uniform { low: 3.0, high: 10.0 });
    // mean and coefficient of variation of a lognormal with sigma 0.5 and median 4
    let Law::LogNormal { mean, cv } = law(3) else { panic!("{:?}", law(3)) };
    assert!((mean - 4.532_594).abs() < 1e-6 && (cv - 0.532_940).abs() < 1e-6, "{mean} {cv}");
    assert_eq!(law(4), Law::Erlang { stages: 3, mean: 6.0 });
    assert_eq!(read.net.state_groups()[0].conditions, ["#(source) = 0", "#(sink) = 1"]);
    assert_eq!(read.warnings.iter().map(|w| w.oddity).collect::<Vec<_>>(), [Oddity::Preselection]);
    assert_eq!(arcs(&read.net), ["source Input i 1"]);
}

#[test]
fn pnml_without_a_namespace_follows_its_parts() {
    let snakes = "<pnml><net id=\"n\"><place id=\"p\"><initialMarking><multiset><item><value><token/></value>
        <multiplicity>3</multiplicity></item></multiset></initialMarking></place><place id=\"q\"><initialMarking><text>0</text>
        </initialMarking></place><transition id=\"t\"/><arc id=\"a\" source=\"p\" target=\"t\"><inscription><text>2</text>
        </inscription></arc><arc id=\"b\" source=\"q\" target=\"t\"><arctype><text>inhibitor</text></arctype></arc></net></pnml>";
    let read = read_text(snakes).unwrap();
    assert_eq!((read.dialect, ids(&read.net).0), (Dialect::Pnml, vec!["p=[3]".to_owned(), "q=[0]".to_owned()]));
    assert_eq!(read.net.transitions()[0].timing, Timing::exponential(1.0));
    assert_eq!(arcs(&read.net), ["p Input t 2", "q Inhibitor t 1"]);
    let woped = "<pnml><net id=\"noID\" type=\"http://www.informatik.hu-berlin.de/top/pntd/ptNetb\"><transition id=\"t\">
        <toolspecific tool=\"WoPeD\" version=\"1.0\"><time>5</time><timeUnit>1</timeUnit></toolspecific></transition></net></pnml>";
    let read = read_text(woped).unwrap();
    let odd: Vec<_> = read.warnings.iter().map(|warning| warning.oddity).collect();
    assert_eq!((read.dialect, odd), (Dialect::Woped, vec![Oddity::Untimed, Oddity::Workflow]));
    let storm = "<pnml><net id=\"s\"><place id=\"p\"><initialMarking><value>Default,1</value></initialMarking><capacity>
        <value>Default,4</value></capacity></place><transition id=\"t\"><rate><value>2</value></rate><timed><value>true</value>
        </timed></transition></net></pnml>";
    let read = read_text(storm).unwrap();
    assert_eq!((read.dialect, read.net.places()[0].capacity), (Dialect::Storm, Some(4)));
    // a PIPE file without times keeps PIPE's conventions
    let pipe =
        "<pnml><net id=\"n\" type=\"P/T net\"><place id=\"p\"><initialMarking><value>1</value></initialMarking></place>
        <transition id=\"t\"/></net></pnml>";
    assert!(matches!(read_text(pipe).unwrap().net.transitions()[0].timing, Timing::Immediate { .. }));
}

/// Files of other tools, each with its numbers of places and transitions, or with a part of the refusal.
#[test]
fn samples_of_other_tools_are_read_or_refused() {
    let Some(folder) = shared("nets-other") else { return };
    type Expected<'a> = (&'a str, Result<(usize, usize), &'a str>);
    let expected: [Expected<'_>; 29] = [
        ("mcc/Angiogenesis-PT-01.pnml", Ok((39, 64))),
        ("mcc/Kanban-PT-02000.pnml", Ok((16, 16))),
        ("mcc/Peterson-COL-2.pnml", Err("symmetricnet")),
        ("mcc/Token-ring.pnml", Ok((18, 15))),
        ("mcc/samplePTnet.pnml", Ok((1, 1))),
        ("mcc/sampleSNPrio.pnml", Err("symmetricnet")),
        ("pm4py/a12.pnml", Ok((14, 14))),
        ("pm4py/data_petri_net.pnml", Err("guard")),
        ("pm4py/ex1.pnml", Ok((8, 5))),
        ("pm4py/running-example.pnml", Ok((9, 10))),
        ("pm4py/stochastic_running_example.pnml", Ok((8, 14))),
        ("smpt/kw2.pnml", Ok((4, 4))),
        ("snakes/simple-pt.pnml", Ok((2, 2))),
        ("storm/gspn_simple.pnml", Ok((4, 5))),
        ("tapaal/ERK.tapn", Ok((11, 11))),
        ("tapaal/alternating-bit-protocol-transport.tapn", Err("transport arc")),
        ("tapaal/fischer-protocol.tapn", Err("age interval")),
        ("tapaal/game-harddisk.tapn", Err("games")),
        ("tapaal/intro-example.tapn", Err("transport arc")),
        ("tapaal/producer-consumer.tapn", Err("age invariant")),
        ("tapaal/stochastic-consumer-producer.tapn", Err("stochastic timed-arc")),
        ("tapaal/untimedGame.tapn", Err("games")),
        ("tapaal/workflow-simple.tapn", Err("age interval")),
        ("woped/WoPeD-FileInterface@src@main@java@org@woped@file@samples@Ballgame.pnml", Ok((2, 3))),
        ("woped/WoPeD-FileInterface@src@main@java@org@woped@file@samples@CapacityPlanning.pnml", Ok((11, 11))),
        ("woped/WoPeD-FileInterface@src@main@java@org@woped@file@samples@Example.pnml", Ok((8, 7))),
        ("woped/WoPeD-FileInterface@src@main@java@org@woped@file@samples@Insurance.pnml", Ok((8, 8))),
        ("woped/WoPeD-FileInterface@src@main@java@org@woped@file@samples@LoanApplication.pnml", Ok((16, 15))),
        ("woped/WoPeD-FileInterface@src@main@java@org@woped@file@samples@Mailbox.pnml", Ok((5, 4))),
    ];
    for (file, expected) in expected {
        let bytes = std::fs::read(folder.join(file)).unwrap();
        let options = ReadOptions::default();
        match (read(&bytes, &options), expected) {
            (Ok(read), Ok(counts)) => {
                assert_eq!((read.net.places().len(), read.net.transitions().len()), counts, "{file}");
            }
            (Err(error), Err(word)) => assert!(error.to_string().contains(word), "{file}: {error}"),
            (Ok(_), Err(word)) => panic!("{file} is read, although it has {word}"),
            (Err(error), Ok(_)) => panic!("{file}: {error}"),
        }
    }
}

/// The shared file `name` from the folder of inputs that exposed faults.
fn regression(name: &str) -> Option<Vec<u8>> {
    shared("regressions").map(|folder| std::fs::read(folder.join(name)).unwrap())
}

#[test]
fn an_edited_export_is_noticed_and_either_value_can_be_read() {
    let Some(bytes) = regression("hand-edited-export.xml") else { return };
    let ours = read(&bytes, &ReadOptions::default()).unwrap();
    let odd: Vec<_> = ours.warnings.iter().map(|w| (w.oddity, w.spot.line, w.others)).collect();
    assert_eq!(odd, [(Oddity::Contradiction, 9, 0)]);
    let as_pipe = read(&bytes, &ReadOptions { instructions: Reading::Pipe43, ..ReadOptions::default() }).unwrap();
    assert_eq!(as_pipe.net.transitions()[1].timing, Timing::exponential(9.0));
    // an unedited export has no such warning, for either target
    for target in [Target::Pipe4, Target::Pipe5] {
        let xml = write(&ours.net, &WriteOptions { target, ..WriteOptions::default() }).xml;
        let again = read_text(&xml).unwrap();
        assert_eq!((again.warnings, again.net), (Vec::new(), ours.net.clone()));
    }
}

#[test]
fn a_transition_that_is_refused_is_one_error() {
    let xml = "<pnml><net><place id='P0'/><transition id='T0'><timed><value>true</value></timed><rate><value>2*</value></rate></transition>
               <arc id='a' source='P0' target='T0'><inscription><value>1</value></inscription></arc>
               <arc id='b' source='P0' target='T1'><inscription><value>1</value></inscription></arc></net></pnml>";
    let problems = read_text(xml).unwrap_err().problems;
    let lines: Vec<_> = problems.iter().map(|problem| problem.spot.line).collect();
    assert_eq!(lines, [1, 3], "{problems:?}");
}

#[test]
fn unknown_keys_of_instructions_are_noticed() {
    let net = |transition: &str, net: &str| {
        let xml = format!(
            "<pnml><net>{net}<transition id='T0'><timed><value>true</value></timed><rate><value>1</value></rate>{transition}</transition></net></pnml>"
        );
        read_text(&xml).unwrap().warnings.iter().map(|w| (w.oddity, w.message.clone())).collect::<Vec<_>>()
    };
    let odd =
        |key: &str| (Oddity::UnknownKey, format!("`{key}` in a `<?tailspn ...?>` instruction has no meaning; ignored"));
    assert_eq!(net("<?tailspn severs='2'?>", ""), [odd("severs")]);
    assert_eq!(net("", "<?tailspn net-title='a'?>"), [odd("net-title")]);
    assert_eq!(net("<?tailspn servers='2'?>", "<?tailspn group='g' name='n' condition-0='T0 > 1'?>"), []);
}

#[test]
fn an_export_is_checked_as_pipe_loads_it() {
    let Some(bytes) = regression("coloured-inhibitor.xml") else { return };
    let messages = |net: &Net| {
        let findings = written_report(&write(net, &WriteOptions::default())).into_iter();
        findings.map(|finding| format!("{}: {}", finding.version, finding.message)).collect::<Vec<_>>().join("; ")
    };
    let coloured = messages(&read(&bytes, &ReadOptions::default()).unwrap().net);
    assert!(
        coloured.contains("PIPE 5: inhibitor arc `P0 inh T0`") && coloured.contains("`T0` is never enabled"),
        "{coloured}"
    );
    let rate = |rate: &str| {
        format!("<pnml><net><place id='P0'/><transition id='T0'><rate><value>{rate}</value></rate><timed><value>true</value></timed>
                 </transition><arc id='a' source='P0' target='T0'><inscription><value>1</value></inscription></arc></net></pnml>")
    };
    let maxima = messages(&read_text(&rate("max(2@#(P0))")).unwrap().net);
    assert!(maxima.contains("PIPE 5") && maxima.contains("`max`"), "{maxima}");
    assert_eq!(messages(&read_text(&rate("2*#(P0)")).unwrap().net), "");
    // several servers are written as a rate, with a warning of the writer
    let Some(bytes) = regression("hand-edited-export.xml") else { return };
    assert_eq!(messages(&read(&bytes, &ReadOptions::default()).unwrap().net), "");
}
