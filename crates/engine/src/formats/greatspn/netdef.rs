//! Reads GreatSPN's older pair of files: words and numbers in a `.net`, functions of the marking in a `.def` in the
//! same folder.
//!
//! A `.net` starts with comments between bars, followed by the counts of its parts: marking parameters, places, rate
//! parameters, transitions, groups (priorities), colours and layers. Parts follow in this order, one to a line; after a
//! transition come its input, output and inhibitor arcs, each with its bends. A negative number stands for the
//! parameter of that position, and the rate -510 for a function in the `.def`. The unit of coordinates is a sixth of the
//! editor's unit.

use std::collections::HashMap;

use crate::formats::greatspn::assemble::assemble;
use crate::formats::greatspn::pnpro::{COLOURED, UNIT};
use crate::formats::greatspn::raw::{RawArc, RawConstant, RawMeasure, RawNet, RawPlace, RawTiming, RawTransition};
use crate::formats::pipe::Dialect;
use crate::formats::pipe::encoding::decode_noting;
use crate::formats::pipe::escape::writable;
use crate::formats::pipe::notes::Notes;
use crate::formats::pipe::options::ReadOptions;
use crate::formats::pipe::problem::{Fault, ReadError};
use crate::formats::pipe::read::ReadNet;
use crate::formats::pipe::xml::Text;
use crate::net::Point;

/// The rate value that marks a function in the `.def`.
pub(super) const FUNCTION: f64 = -510.0;
/// Marks a parameter without a value.
const NO_VALUE: &str = "-7134";
/// The kind of transitions with a general delay.
pub(super) const GENERAL: usize = 127;
/// Values from this number on mark a multiplicity that is a marking parameter.
pub(super) const PARAMETER_WEIGHT: i64 = 20_000;

/// Reads a net from the bytes of a `.net` file; the text of its `.def` is in the options.
///
/// # Errors
///
/// The first word that does not fit, or everything that is wrong with the parts, each with line and column.
pub fn read(bytes: &[u8], options: &ReadOptions) -> Result<ReadNet, ReadError> {
    let (text, _) = decode_noting(bytes, options.max_bytes)?;
    if let Some((at, odd)) = text.char_indices().find(|(_, c)| !writable(*c)) {
        let mut notes = Notes::new(&text);
        let found = format!("U+{:04X}", u32::from(odd));
        notes.fault(at..at + 1, Fault::Unexpected { expected: "text without control characters", found });
        return Err(notes.into_error());
    }
    let definitions = Definitions::of(options.definitions.as_deref());
    let mut reader = Reader { text: &text, at: 0, net: RawNet::default(), faults: Vec::new(), definitions };
    let read = reader.all();
    let mut notes = Notes::new(&text);
    for (span, fault) in reader.faults {
        notes.fault(span, fault);
    }
    if let Err(stop) = read {
        notes.fault(stop.0, stop.1);
        return Err(notes.into_error());
    }
    assemble(&reader.net, notes, options, Dialect::GreatSpnNet)
}

/// Content of a `.def` file.
#[derive(Debug, Default)]
struct Definitions {
    /// Functions of the marking, by the number of their transition.
    functions: HashMap<usize, String>,
    /// Measures as written in the file.
    results: Vec<String>,
}

impl Definitions {
    /// Parses the file: first functions, each after `|` and its number; then, after `|256`, results up to a line `%`.
    fn of(text: Option<&str>) -> Self {
        let mut found = Self::default();
        let mut lines = text.unwrap_or_default().lines().map(str::trim);
        let mut current = None;
        for line in lines.by_ref() {
            match line.strip_prefix('|') {
                Some("256") => break,
                Some(number) => current = number.trim().parse().ok(),
                None => {
                    if let Some(transition) = current {
                        let function: &mut String = found.functions.entry(transition).or_default();
                        function.push_str(line);
                        function.push(' ');
                    }
                }
            }
        }
        let results = lines.take_while(|line| !line.starts_with(['%', '|']));
        found.results = results.filter(|line| !line.is_empty()).map(str::to_owned).collect();
        found
    }
}

/// The fault that stops reading, and its bytes.
type Stop = (std::ops::Range<usize>, Fault);

struct Reader<'t> {
    text: &'t str,
    at: usize,
    net: RawNet<'t>,
    faults: Vec<Stop>,
    definitions: Definitions,
}

impl<'t> Reader<'t> {
    fn all(&mut self) -> Result<(), Stop> {
        self.comments()?;
        let mark = self.word("`f` before the numbers of parts")?;
        if mark.value != "f" {
            return Err(unexpected(&mark, "`f` before the numbers of parts"));
        }
        let mut counts = [0; 5];
        for count in &mut counts {
            *count = self.count("the number of marking parameters, places, rate parameters, transitions or groups")?;
        }
        self.rest_of_line();
        let [marking, places, rates, transitions, groups] = counts;
        let marking = self.many(marking, Self::parameter)?;
        for _ in 0..places {
            self.place(&marking)?;
        }
        let rates = self.many(rates, Self::parameter)?;
        let groups = self.many(groups, Self::group)?;
        for number in 1..=transitions {
            self.transition(number, &marking, &rates, &groups)?;
        }
        let results = std::mem::take(&mut self.definitions.results);
        let measure =
            |text: String| RawMeasure { language: "DEF".to_owned(), formula: Text { value: text.into(), span: 0..0 } };
        self.net.measures = results.into_iter().map(measure).collect();
        Ok(())
    }

    /// Skips the comment: the rest of the line, and all lines up to the next line that starts with a bar.
    fn comments(&mut self) -> Result<(), Stop> {
        self.rest_of_line();
        while self.at < self.text.len() {
            if self.rest_of_line().value.starts_with('|') {
                return Ok(());
            }
        }
        let text = Text { value: "".into(), span: self.text.len()..self.text.len() };
        Err(unexpected(&text, "a line `|` after the comments"))
    }

    fn many<T>(&mut self, count: usize, one: fn(&mut Self) -> Result<T, Stop>) -> Result<Vec<T>, Stop> {
        let mut all = Vec::new();
        for _ in 0..count {
            all.push(one(self)?);
        }
        Ok(all)
    }

    /// The next word, on this line or a later one.
    fn word(&mut self, expected: &'static str) -> Result<Text<'t>, Stop> {
        let rest = &self.text[self.at..];
        let start = self.at + (rest.len() - rest.trim_start().len());
        let rest = &self.text[start..];
        let length = rest.find(char::is_whitespace).unwrap_or(rest.len());
        self.at = start + length;
        let word = Text { value: rest[..length].into(), span: start..self.at };
        if word.value.is_empty() { Err(unexpected(&word, expected)) } else { Ok(word) }
    }

    /// The rest of the line, without blanks around it.
    fn rest_of_line(&mut self) -> Text<'t> {
        let rest = &self.text[self.at..];
        let line = rest.find('\n').unwrap_or(rest.len());
        let span = self.at..self.at + line;
        self.at = (span.end + 1).min(self.text.len());
        Text { value: rest[..line].into(), span }.trimmed()
    }

    fn number(&mut self, expected: &'static str) -> Result<(f64, Text<'t>), Stop> {
        let word = self.word(expected)?;
        match word.value.parse::<f64>() {
            Ok(value) if value.is_finite() => Ok((value, word)),
            _ => Err(unexpected(&word, expected)),
        }
    }

    fn whole(&mut self, expected: &'static str) -> Result<(i64, Text<'t>), Stop> {
        let word = self.word(expected)?;
        match word.value.parse() {
            Ok(value) => Ok((value, word)),
            Err(_) => Err(unexpected(&word, expected)),
        }
    }

    fn count(&mut self, expected: &'static str) -> Result<usize, Stop> {
        let (value, word) = self.whole(expected)?;
        usize::try_from(value).map_err(|_| unexpected(&word, expected))
    }

    fn point(&mut self) -> Result<Point, Stop> {
        let mut pixels = || Ok((self.number("a coordinate")?.0 * 6.0 * UNIT).clamp(-1e9, 1e9));
        Ok(Point { x: pixels()?, y: pixels()? })
    }

    /// The layers of a part, up to a 0.
    fn layers(&mut self) -> Result<(), Stop> {
        while self.count("a layer, or 0 after the last one")? != 0 {}
        Ok(())
    }

    /// A name, without the labels that GreatSPN uses to compose nets.
    fn name(&mut self, expected: &'static str) -> Result<Text<'t>, Stop> {
        let word = self.word(expected)?;
        let length = word.value.find('|').unwrap_or(word.value.len());
        let value = word.value[..length].to_owned();
        Ok(Text { value: value.into(), span: word.span.start..word.span.start + length })
    }

    /// A marking or rate parameter; returns its name.
    fn parameter(&mut self) -> Result<Text<'t>, Stop> {
        let name = self.name("the name of a parameter")?;
        let (_, value) = self.number("the value of a parameter")?;
        let position = Some(self.point()?);
        self.rest_of_line();
        let given = value.value.split('.').next() != Some(NO_VALUE);
        self.net.constants.push(RawConstant { name: name.clone(), value: given.then_some(value), position });
        Ok(name)
    }

    /// A group of immediate transitions; returns its priority.
    fn group(&mut self) -> Result<Text<'t>, Stop> {
        self.word("the name of a group")?;
        self.point()?;
        let (_, priority) = self.whole("the priority of a group")?;
        self.rest_of_line();
        Ok(priority)
    }

    /// The name of the parameter that a negative number refers to.
    fn parameter_of(number: i64, names: &[Text<'t>], at: &Text<'t>) -> Result<Text<'t>, Stop> {
        let index = number.checked_neg().and_then(|n| usize::try_from(n - 1).ok());
        let name = index.and_then(|index| names.get(index));
        let name = name.ok_or_else(|| unexpected(at, "a number, or the position of a parameter with a minus"))?;
        Ok(Text { value: name.value.clone(), span: at.span.clone() })
    }

    fn place(&mut self, parameters: &[Text<'t>]) -> Result<(), Stop> {
        let name = self.name("the name of a place")?;
        let (tokens, word) = self.whole("a number of tokens")?;
        let (position, tag) = (self.point()?, self.point()?);
        self.layers()?;
        let domain = self.rest_of_line();
        let colours = domain.value.split_whitespace().nth(2);
        if let Some(colours) = colours.filter(|colours| *colours != "N") {
            let what = format!("place `{}` has the colour domain `{colours}`", name.value);
            self.faults.push((domain.span, Fault::Formalism { what, formalism: COLOURED }));
            self.net.places.push(RawPlace { name, marking: None, position: None, label_offset: Point::default() });
            return Ok(());
        }
        let marking = if tokens < 0 { Self::parameter_of(tokens, parameters, &word)? } else { word };
        let label_offset = Point { x: tag.x - position.x, y: tag.y - position.y };
        self.net.places.push(RawPlace { name, marking: Some(marking), position: Some(position), label_offset });
        Ok(())
    }

    fn transition(
        &mut self,
        number: usize,
        marking: &[Text<'t>],
        rates: &[Text<'t>],
        groups: &[Text<'t>],
    ) -> Result<(), Stop> {
        let name = self.name("the name of a transition")?;
        let (rate, word) = self.number("a rate")?;
        let (servers, servers_word) = self.whole("a number of servers")?;
        let (kind, kind_word) = self.whole("the kind of a transition")?;
        let kind = usize::try_from(kind).map_err(|_| unexpected(&kind_word, "the kind of a transition"))?;
        let inputs = self.count("a number of input arcs")?;
        let orientation = self.whole("an orientation from 0 to 3")?.0;
        let (position, tag, _) = (self.point()?, self.point()?, self.point()?);
        self.layers()?;
        let guard = self.rest_of_line();
        if guard.value.split_whitespace().nth(2).is_some() {
            let what = format!("transition `{}` has a guard", name.value);
            self.faults.push((guard.span, Fault::Formalism { what, formalism: "guards" }));
        }
        let value = self.value(&name, number, rate, word, rates)?;
        let timing = if kind == GENERAL {
            RawTiming::General { density: value.map(as_density) }
        } else if kind == 0 {
            if servers < 0 {
                let what = format!("transition `{}` has a rate for each number of enablings", name.value);
                let formalism = "load-dependent transitions of GreatSPN";
                return Err((servers_word.span, Fault::Formalism { what, formalism }));
            }
            let servers = (servers > 0).then_some(servers_word);
            RawTiming::Exponential { rate: value, servers }
        } else {
            let priority = groups.get(kind - 1).cloned();
            let priority = priority.ok_or_else(|| unexpected(&kind_word, "0, 127 or the position of a group"))?;
            RawTiming::Immediate { weight: value, priority: Some(priority) }
        };
        let orientation = match orientation {
            0 => 90,
            2 => 135,
            3 => 45,
            _ => 0,
        };
        let label_offset = Point { x: tag.x - position.x, y: tag.y - position.y };
        let tail = name.clone();
        let tag = name.span.clone();
        self.net.transitions.push(RawTransition {
            name,
            tag,
            timing,
            position: Some(position),
            orientation,
            label_offset,
        });
        self.arcs(&tail, inputs, Direction::In, marking)?;
        let outputs = self.count("a number of output arcs")?;
        self.arcs(&tail, outputs, Direction::Out, marking)?;
        let inhibitors = self.count("a number of inhibitor arcs")?;
        self.arcs(&tail, inhibitors, Direction::Inhibits, marking)
    }

    /// The rate, weight or density of a transition.
    fn value(
        &mut self,
        name: &Text<'t>,
        number: usize,
        rate: f64,
        word: Text<'t>,
        rates: &[Text<'t>],
    ) -> Result<Option<Text<'t>>, Stop> {
        if rate >= 0.0 {
            return Ok(Some(word));
        }
        if rate.to_bits() == FUNCTION.to_bits() {
            let function = self.definitions.functions.get(&number);
            if function.is_none() {
                let what = format!("the rate of transition `{}`", name.value);
                let reason = format!(
                    "function {number} of the `.def` file is missing; the `.def` file must be in the folder of the `.net` file"
                );
                self.faults.push((word.span.clone(), Fault::Expression { what, reason }));
            }
            return Ok(function.map(|function| Text { value: function.clone().into(), span: word.span }));
        }
        #[expect(clippy::cast_possible_truncation, reason = "an invalid position is rejected")]
        let position = rate.clamp(-1e9, 0.0) as i64;
        Self::parameter_of(position, rates, &word).map(Some)
    }

    fn arcs(&mut self, transition: &Text<'t>, count: usize, way: Direction, marking: &[Text<'t>]) -> Result<(), Stop> {
        for _ in 0..count {
            self.arc(transition, way, marking)?;
        }
        Ok(())
    }

    fn arc(&mut self, transition: &Text<'t>, way: Direction, marking: &[Text<'t>]) -> Result<(), Stop> {
        let (weight, word) = self.whole("the weight of an arc")?;
        let (position, place_word) = self.whole("the position of a place")?;
        let bends = self.count("a number of bends")?;
        self.layers()?;
        let written = self.rest_of_line();
        let mut points = self.many(bends, Self::point)?;
        // the bends are listed from the transition on
        if way != Direction::Out {
            points.reverse();
        }
        let place = usize::try_from(position - 1).ok().and_then(|index| self.net.places.get(index));
        let place = place.ok_or_else(|| unexpected(&place_word, "the position of a place"))?;
        let place = Text { value: place.name.value.clone(), span: place_word.span };
        // a negative number means that the line is drawn broken
        let weight = weight.checked_abs().unwrap_or(i64::MAX);
        let formula = written.value.splitn(3, char::is_whitespace).nth(2).filter(|formula| !formula.trim().is_empty());
        let weight = if let Some(formula) = formula {
            Text { value: formula.to_owned().into(), span: written.span.clone() }
        } else if weight >= PARAMETER_WEIGHT {
            Self::parameter_of(PARAMETER_WEIGHT - 1 - weight, marking, &word)?
        } else {
            Text { value: weight.to_string().into(), span: word.span.clone() }
        };
        if weight.value.contains('<') {
            let what =
                format!("an arc of transition `{}` has the coloured multiplicity `{}`", transition.value, weight.value);
            self.faults.push((weight.span, Fault::Formalism { what, formalism: COLOURED }));
            return Ok(());
        }
        let transition = Text { value: transition.value.clone(), span: word.span.clone() };
        let (tail, head) = if way == Direction::Out { (transition, place) } else { (place, transition) };
        let (tag, inhibits) = (word.span, way == Direction::Inhibits);
        self.net.arcs.push(RawArc { tag, tail, head, inhibits, weight: Some(weight), bends: points });
        Ok(())
    }
}

/// Direction of an arc.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Direction {
    In,
    Out,
    Inhibits,
}

/// Writes a number or a parameter as a constant delay; a function already contains its density.
fn as_density(text: Text<'_>) -> Text<'_> {
    if text.value.contains('[') {
        return text;
    }
    Text { value: format!("I[{}]", text.value).into(), span: text.span }
}

fn unexpected(found: &Text<'_>, expected: &'static str) -> Stop {
    let found_text = if found.value.is_empty() { "the end of the file".to_owned() } else { found.value.to_string() };
    (found.span.clone(), Fault::Unexpected { expected, found: found_text })
}
