//! Writes transitions: rates that PIPE can evaluate, and distributions, servers and memories that PIPE lacks.

use std::fmt::Write as _;

use crate::formats::pipe::escape::{attribute, content};
use crate::formats::pipe::instructions::law_pairs;
use crate::formats::pipe::loss::Loss;
use crate::formats::pipe::names::expression;
use crate::formats::pipe::write::{Target, Writer};
use crate::net::expr::{BinaryOp, Expr, Function, Leaf};
use crate::net::{Arc, ArcKind, Delay, Memory, ParameterId, PartRef, Point, Servers, Timing, Transition, TransitionId};

/// Stands for a blank that stays when other blanks are removed; no XML text can contain it.
const KEPT_BLANK: &str = "\u{1}";

/// Returns true if a delay is always 0, so that PIPE can have an immediate transition.
fn is_zero(delay: &Delay) -> bool {
    matches!(delay, Delay::General(law) if law.mean() <= 0.0)
}

impl Writer<'_> {
    pub(super) fn transition(&mut self, id: TransitionId) {
        let net = self.net;
        let transition = net.transition(id);
        let mut pairs = self.node_pairs(transition);
        let (rate, timed, priority) = match &transition.timing {
            Timing::Immediate { weight, priority } => {
                (self.rate_text(id, weight, weight, &mut pairs), false, *priority)
            }
            Timing::Timed { delay, servers, memory } => {
                let rate = self.timed_rate(id, delay, *servers, &mut pairs);
                self.memory(id, delay, *memory, &mut pairs);
                let priority = transition.unused_priority;
                let immediate = is_zero(delay);
                if priority == Some(1) || (immediate && priority.is_some()) {
                    pairs.push(("priority", priority.unwrap_or(1).to_string()));
                }
                (rate, !immediate, if immediate { 1 } else { priority.unwrap_or(1) })
            }
        };
        if i32::try_from(priority).is_err() {
            let message = format!("transition `{}` has priority {priority}, above PIPE's range", transition.id);
            self.warn(Loss::Range, PartRef::Transition(id), message);
        }
        let at = self.position(id);
        let offset = self.name_offset(transition.label(), transition.label_offset, &mut pairs);
        let _ = write!(
            self.xml,
            "<transition id=\"{}\"><graphics><position x=\"{:?}\" y=\"{:?}\"/></graphics><name><value>{}</value><graphics>\
             <offset x=\"{:?}\" y=\"{:?}\"/></graphics></name><orientation><value>{}</value></orientation><rate><value>{}\
             </value></rate><timed><value>{timed}</value></timed><infiniteServer><value>false</value></infiniteServer>\
             <priority><value>{priority}</value></priority>",
            attribute(&transition.id),
            at.x,
            at.y,
            content(transition.label()),
            offset.x,
            offset.y,
            transition.orientation,
            content(&rate),
        );
        self.rate_definition(transition);
        self.instruction(&pairs);
        self.xml.push_str("</transition>\n");
    }

    fn memory(&mut self, id: TransitionId, delay: &Delay, memory: Memory, pairs: &mut Vec<(&'static str, String)>) {
        if memory != Memory::Age {
            return;
        }
        pairs.push(("memory", "age".to_owned()));
        if !matches!(delay, Delay::Exponential { .. }) {
            let message =
                format!("transition `{}` has age memory, which PIPE does not support", self.net.transition(id).id);
            self.warn(Loss::Memory, PartRef::Transition(id), message);
        }
    }

    fn node_pairs(&self, transition: &Transition) -> Vec<(&'static str, String)> {
        let mut pairs = Vec::new();
        if transition.label().trim() != transition.label() {
            pairs.push(("name", transition.name.clone()));
        }
        if transition.position.is_none() {
            pairs.push(("position", "none".to_owned()));
        }
        pairs
    }

    /// Writes the name of the rate parameter if the rate consists only of a parameter.
    fn rate_definition(&mut self, transition: &Transition) {
        if let Some(parameter) = self.rate_parameter(transition) {
            let name = attribute(&self.net.parameters()[parameter.index()].name);
            let _ = write!(self.xml, "<toolspecific tool=\"PIPE\" version=\"2.5\" rateDefinition=\"{name}\"/>");
        }
    }

    /// The rate parameter that PIPE can use as the rate.
    fn rate_parameter(&self, transition: &Transition) -> Option<ParameterId> {
        let rate = match &transition.timing {
            Timing::Immediate { weight, .. } => weight,
            Timing::Timed { delay: Delay::Exponential { rate }, servers: Servers::Single, .. } => rate,
            Timing::Timed { .. } => return None,
        };
        match rate {
            Expr::Leaf(Leaf::Parameter(k)) => {
                Some(*k).filter(|k| self.net.parameters()[k.index()].value.as_number().is_some())
            }
            _ => None,
        }
    }

    fn timed_rate(
        &mut self,
        id: TransitionId,
        delay: &Delay,
        servers: Servers,
        pairs: &mut Vec<(&'static str, String)>,
    ) -> String {
        let base = match delay {
            Delay::Exponential { rate } => rate.clone(),
            Delay::General(law) => {
                pairs.extend(law_pairs(law));
                let mean = law.mean();
                let name = &self.net.transition(id).id;
                let message = if is_zero(delay) {
                    format!("transition `{name}` has a delay of 0 s; PIPE gets an immediate transition")
                } else {
                    format!("transition `{name}` gets an exponential delay of the same mean, {mean} s")
                };
                self.warn(Loss::Law, PartRef::Transition(id), message);
                Expr::Number(if mean > 0.0 { 1.0 / mean } else { 1.0 })
            }
        };
        match servers {
            Servers::Single => {}
            Servers::Infinite => pairs.push(("servers", "infinite".to_owned())),
            Servers::Limited(most) => pairs.push(("servers", most.to_string())),
        }
        if is_zero(delay) {
            return self.pipe_text(&base);
        }
        let shown = self.with_servers(id, &base, servers);
        if matches!(delay, Delay::General(_)) {
            return self.pipe_text(&shown);
        }
        self.rate_text(id, &base, &shown, pairs)
    }

    /// The rate multiplied by the number of busy servers, if PIPE can evaluate this product.
    fn with_servers(&mut self, id: TransitionId, base: &Expr, servers: Servers) -> Expr {
        if servers == Servers::Single || servers == Servers::Limited(1) {
            return base.clone();
        }
        let name = &self.net.transition(id).id;
        let terms = self.enabling_terms(id);
        let limit = match servers {
            Servers::Limited(most) => Some(Expr::Number(f64::from(most))),
            _ => None,
        };
        let (mut terms, bounds) = match terms {
            Some(terms) if !terms.is_empty() => (terms, true),
            _ => (Vec::new(), false),
        };
        terms.extend(limit);
        if !bounds || (terms.len() > 1 && self.options.target == Target::Pipe5) {
            let message = format!(
                "transition `{name}` has several servers; PIPE gets a single server, since the rate cannot state how many are busy"
            );
            self.warn(Loss::Servers, PartRef::Transition(id), message);
            return base.clone();
        }
        if terms.len() > 1 {
            let message = format!(
                "transition `{name}` has several servers; its rate is written with `min`, which PIPE 5 cannot evaluate"
            );
            self.warn(Loss::ServersPipe5, PartRef::Transition(id), message);
        }
        let degree = terms.into_iter().reduce(|a, b| Expr::Call(Function::Min, vec![a, b]));
        let degree = degree.expect("there is at least one term");
        Expr::Binary(BinaryOp::Multiply, Box::new(base.clone()), Box::new(degree))
    }

    /// Enabling degree allowed by each place, or `None` if no expression can state it.
    fn enabling_terms(&self, id: TransitionId) -> Option<Vec<Expr>> {
        let mut terms = Vec::new();
        let takes = |arc: &&Arc| matches!(arc.kind, ArcKind::Input | ArcKind::Test);
        let arcs: Vec<_> = self.arcs_of[id.index()].iter().map(|i| &self.net.arcs()[*i]).filter(takes).collect();
        for arc in &arcs {
            for weight in &arc.weights {
                let several = self.net.classes().len() > 1;
                let tokens = Expr::Leaf(Leaf::Tokens(arc.place, several.then_some(weight.class)));
                match &weight.weight {
                    Expr::Number(0.0) => {}
                    Expr::Number(1.0) => terms.push(tokens),
                    Expr::Number(_) => {
                        let share = Expr::Binary(BinaryOp::Divide, Box::new(tokens), Box::new(weight.weight.clone()));
                        terms.push(Expr::Call(Function::Floor, vec![share]));
                    }
                    _ => return None,
                }
            }
        }
        // parallel arcs from one place would need the sum of their weights
        let mut places: Vec<_> = arcs.iter().map(|a| a.place).collect();
        places.sort_unstable();
        places.windows(2).all(|pair| pair[0] != pair[1]).then_some(terms)
    }

    /// The rate or weight for PIPE. If it is not read back unchanged, the exact one goes into the instructions.
    fn rate_text(
        &mut self,
        id: TransitionId,
        exact: &Expr,
        shown: &Expr,
        pairs: &mut Vec<(&'static str, String)>,
    ) -> String {
        let text = self.pipe_text(shown);
        let read = expression(&text.replace('@', ","), &self.names);
        if read.is_err() {
            let name = &self.net.transition(id).id;
            let message = format!("the rate of transition `{name}` uses ids that PIPE cannot read in an expression");
            self.warn(Loss::Expression, PartRef::Transition(id), message);
        }
        let by_name = self.rate_parameter(self.net.transition(id)).is_some();
        if !by_name && read.ok().as_ref() != Some(exact) {
            pairs.push(self.exact_text("rate", "rate-by-position", exact));
        }
        text
    }

    /// An expression in PIPE's syntax: rate parameters replaced by their values, no blanks except within ids.
    pub(super) fn pipe_text(&self, expr: &Expr) -> String {
        if let Some(value) = expr.as_number() {
            return format!("{value:?}");
        }
        let id = |id: &str| id.replace(' ', KEPT_BLANK);
        let text = self.inlined(expr).text(&|leaf: &Leaf| match leaf {
            Leaf::Tokens(place, None) => format!("#({})", id(&self.net.place(*place).id)),
            Leaf::Tokens(place, Some(class)) => {
                let class = id(&self.net.classes()[class.index()].id);
                format!("#({},{KEPT_BLANK}{class})", id(&self.net.place(*place).id))
            }
            Leaf::Capacity(place) => format!("cap({})", id(&self.net.place(*place).id)),
            Leaf::Parameter(_) => unreachable!("parameters were replaced"),
        });
        // a minus before a negative number must not become `--`
        let text = text.replace("- -", &format!("-{KEPT_BLANK}-")).replace(' ', "").replace(KEPT_BLANK, " ");
        if self.options.target == Target::Pipe4 { text.replace(',', "@") } else { text }
    }

    /// The expression without rate parameters.
    fn inlined(&self, expr: &Expr) -> Expr {
        let inlined = expr.try_replace(&mut |leaf| {
            Ok::<_, std::convert::Infallible>(match leaf {
                Leaf::Parameter(k) => self.inlined(&self.net.parameters()[k.index()].value),
                other => Expr::Leaf(*other),
            })
        });
        match inlined {
            Ok(expr) => expr,
        }
    }

    /// Key and text from which exactly the same expression is read back. The text uses names if possible, otherwise positions.
    pub(super) fn exact_text(
        &self,
        named: &'static str,
        positional: &'static str,
        expr: &Expr,
    ) -> (&'static str, String) {
        let text = self.net.expression_text(expr);
        let plain = !text.contains('@') && expression(&text, &self.names).is_ok_and(|read| read == *expr);
        if plain { (named, text) } else { (positional, positional_text(expr)) }
    }

    fn position(&self, id: TransitionId) -> Point {
        self.layout().transition(id)
    }
}

/// The text of an expression with positions of parts instead of names.
pub(super) fn positional_text(expr: &Expr) -> String {
    expr.text(&|leaf: &Leaf| match leaf {
        Leaf::Tokens(place, None) => format!("#({place})"),
        Leaf::Tokens(place, Some(class)) => format!("#({place}, {class})"),
        Leaf::Capacity(place) => format!("cap({place})"),
        Leaf::Parameter(parameter) => parameter.to_string(),
    })
}
