//! The properties of a model as questions about its net.

use serde_json::Value;

use crate::formats::jani::fail::{Parsed, fail, list, part, text};
use crate::formats::jani::scope::{Named, Scope, Site};
use crate::formats::jani::transitions::Impulse;
use crate::net::expr::Expr;
use crate::query::{Property, Query, Reward};

/// All properties, in the order of the file.
pub(super) fn properties<'j>(
    model: &'j Value,
    scope: &Scope<'j>,
    impulses: &[Impulse<'j>],
) -> Parsed<'j, Vec<Property>> {
    let asker = Asker { scope, impulses };
    let property = |value| {
        let query = part(value, "expression").and_then(|expression| asker.filtered(expression));
        Ok(Property { name: text(value, "name")?.to_owned(), query: query.map_err(|fail| fail.reason) })
    };
    list(model, "properties")?.iter().map(property).collect()
}

struct Asker<'m, 'j> {
    scope: &'m Scope<'j>,
    impulses: &'m [Impulse<'j>],
}

impl<'j> Asker<'_, 'j> {
    fn expression(&self, value: &'j Value) -> Parsed<'j, Expr> {
        self.scope.expression(value, Site::default())
    }

    /// Reads a filter, which requests a value in the initial state.
    fn filtered(&self, value: &'j Value) -> Parsed<'j, Query> {
        if text(value, "op")? != "filter" {
            return fail(value, "only values in the initial state (`filter`) are supported");
        }
        if !part(value, "states")?.get("op").is_some_and(|op| op == "initial") {
            return fail(value, "only the initial state is supported");
        }
        let fun = text(value, "fun")?;
        if !["values", "min", "max", "avg", "sum"].contains(&fun) {
            return fail(value, format!("the filter `{fun}` gives a truth value, not a number"));
        }
        let value = part(value, "values")?;
        match text(value, "op")? {
            "Pmin" | "Pmax" => self.probability(part(value, "exp")?),
            "Smin" | "Smax" => {
                Ok(Query::LongRun { reward: self.reward(value, part(value, "exp")?, &["time", "steps"])? })
            }
            "Emin" | "Emax" => self.expected(value),
            other => fail(value, format!("properties with `{other}` are not supported")),
        }
    }

    fn probability(&self, value: &'j Value) -> Parsed<'j, Query> {
        let (stay, goal) = match text(value, "op")? {
            "F" => (Expr::Number(1.0), self.expression(part(value, "exp")?)?),
            "U" => (self.expression(part(value, "left")?)?, self.expression(part(value, "right")?)?),
            "G" => return fail(value, "`G` is not supported; ask for the complement with `F`"),
            other => return fail(value, format!("properties with `{other}` are not supported")),
        };
        for key in ["step-bounds", "reward-bounds"] {
            if value.get(key).is_some() {
                return fail(value, format!("`{key}` is not supported"));
            }
        }
        let bound = |key: &str| {
            let bound = value.get("time-bounds").and_then(|bounds| bounds.get(key));
            bound.map(|bound| self.scope.constant(bound)).transpose()
        };
        let (from, to) = (bound("lower")?.unwrap_or(0.0), bound("upper")?.unwrap_or(f64::INFINITY));
        if !(0.0 <= from && from <= to) {
            return fail(
                value,
                format!(
                    "the time interval from {from} to {to} is invalid: its bounds must be at least 0 and ascending"
                ),
            );
        }
        Ok(Query::Until { stay, goal, from, to })
    }

    fn expected(&self, value: &'j Value) -> Parsed<'j, Query> {
        let exp = part(value, "exp")?;
        for key in ["step-instant", "reward-instants"] {
            if value.get(key).is_some() {
                return fail(value, format!("`{key}` is not supported"));
            }
        }
        let time = value.get("time-instant").map(|time| self.scope.constant(time)).transpose()?;
        let Some(accumulate) = value.get("accumulate") else {
            return match time {
                Some(time) => Ok(Query::At { value: self.expression(exp)?, time }),
                None => fail(value, "a reward property needs `time-instant` or `accumulate`"),
            };
        };
        let kinds: Vec<&str> = accumulate.as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        let reward = self.reward(value, exp, &kinds)?;
        match (value.get("reach"), time) {
            (Some(goal), None) => Ok(Query::GatheredUntil { reward, goal: self.expression(goal)? }),
            (None, Some(time)) => Ok(Query::Gathered { reward, time }),
            (Some(_), Some(_)) => fail(value, "a reward up to both a goal and a time is not supported"),
            (None, None) => fail(value, "a reward that accumulates forever is not supported"),
        }
    }

    /// A reward that is collected in states (`time`), at firings (`steps`), or both.
    fn reward(&self, value: &'j Value, exp: &'j Value, kinds: &[&str]) -> Parsed<'j, Reward> {
        if kinds.contains(&"exit") {
            return fail(value, "rewards on leaving a state are not supported");
        }
        let (time, steps) = (kinds.contains(&"time"), kinds.contains(&"steps"));
        let rate = if time { self.expression(exp)? } else { Expr::Number(0.0) };
        let transient = exp.as_str().filter(|name| matches!(self.scope.globals.get(name), Some(Named::Transient(_))));
        let impulses = match transient {
            Some(name) if steps => {
                let of = self.impulses.iter().filter(|impulse| impulse.variable == name);
                of.map(|impulse| (impulse.transition, impulse.value.clone())).collect()
            }
            None if steps && !time => {
                return fail(exp, "a reward that is collected at steps must be a transient variable");
            }
            _ => Vec::new(),
        };
        Ok(Reward { rate, impulses })
    }
}
