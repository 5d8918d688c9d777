//! Writes nets in the language of PRISM, as CTMCs.

use crate::formats::commands::{Commands, ExportError, Variable, is_truth};
use crate::net::Net;
use crate::net::expr::{BinaryOp, Expr, Function, Leaf, UnaryOp};

/// The format in messages.
const FORMAT: &str = "PRISM";

/// The net as a CTMC of the PRISM language: one module, a variable for each place, a command for each transition.
/// `most` has known upper bounds of places, in addition to the capacities of places.
///
/// # Errors
///
/// Everything that a CTMC of PRISM cannot express: immediate transitions, delays that are not exponential,
/// several token classes, places without bounds, and some functions.
pub fn prism(net: &Net, most: &[Option<u64>]) -> Result<String, Vec<ExportError>> {
    let form = Commands::of(net, most, FORMAT)?;
    let mut problems: Vec<ExportError> = form
        .commands
        .iter()
        .filter(|command| command.priority.is_some())
        .map(|command| ExportError::Immediate { transition: command.transition.id.clone() })
        .collect();
    let mut text = String::from("ctmc\n\nmodule net\n");
    for Variable { name, most, initial } in &form.variables {
        text.push_str(&format!("    {name} : [0..{most}] init {initial};\n"));
    }
    let printer = Printer { variables: &form.variables };
    for command in &form.commands {
        let what = || format!("transition `{}`", command.transition.id);
        let mut print = |expr: &Expr, truth: bool| {
            printer.text(expr, truth).unwrap_or_else(|function| {
                problems.push(ExportError::Function { what: what(), function: function.name(), format: FORMAT });
                String::new()
            })
        };
        let guard: Vec<String> = command.guard.iter().map(|condition| print(condition, true)).collect();
        let guard = if guard.is_empty() { "true".to_owned() } else { guard.join(" & ") };
        let rate = print(&command.rate, false);
        let updates: Vec<String> = command
            .updates
            .iter()
            .map(|(place, tokens)| format!("({}'={})", form.variables[place.index()].name, print(tokens, false)))
            .collect();
        let updates = if updates.is_empty() { "true".to_owned() } else { updates.join(" & ") };
        text.push_str(&format!("    [{}] {guard} -> {rate} : {updates};\n", command.name));
    }
    text.push_str("endmodule\n");
    if problems.is_empty() { Ok(text) } else { Err(problems) }
}

struct Printer<'v> {
    variables: &'v [Variable],
}

impl Printer<'_> {
    /// The text of an expression as a truth value or as a number; functions that PRISM lacks are errors.
    fn text(&self, expr: &Expr, truth: bool) -> Result<String, Function> {
        let is_truth = is_truth(expr);
        let text = match expr {
            Expr::Number(value) if truth => return Ok(if *value == 0.0 { "false" } else { "true" }.to_owned()),
            Expr::Number(value) if *value < 0.0 => format!("({value})"),
            Expr::Number(value) => format!("{value}"),
            Expr::Leaf(Leaf::Tokens(place, _)) => self.variables[place.index()].name.clone(),
            Expr::Leaf(_) => "0".to_owned(),
            // without outer brackets: PRISM's `!` is weaker than comparisons, which have brackets, and stronger than
            // `&`, `|` and `?`
            Expr::Unary(UnaryOp::Not, a) => format!("!({})", self.text(a, true)?),
            Expr::Unary(UnaryOp::Negate, a) => format!("(-{})", self.text(a, false)?),
            Expr::Binary(BinaryOp::Remainder, a, b) => {
                format!("mod({}, {})", self.text(a, false)?, self.text(b, false)?)
            }
            Expr::Binary(op, a, b) => {
                let inner = matches!(op, BinaryOp::And | BinaryOp::Or);
                format!("({} {} {})", self.text(a, inner)?, symbol(*op), self.text(b, inner)?)
            }
            Expr::Call(function, args) => self.call(*function, args)?,
        };
        Ok(match (truth, is_truth) {
            (true, false) => format!("({text} != 0)"),
            (false, true) => format!("({text} ? 1 : 0)"),
            _ => text,
        })
    }

    fn call(&self, function: Function, args: &[Expr]) -> Result<String, Function> {
        let texts = args.iter().map(|arg| self.text(arg, false)).collect::<Result<Vec<_>, _>>()?;
        let first = &texts[0];
        Ok(match function {
            Function::If => format!("({} ? {} : {})", self.text(&args[0], true)?, texts[1], texts[2]),
            Function::Min | Function::Max | Function::Pow | Function::Floor | Function::Ceil => {
                format!("{}({})", function.name(), texts.join(", "))
            }
            Function::Abs => format!("max({first}, -{first})"),
            Function::Round => format!("floor({first} + 0.5)"),
            Function::Sqrt => format!("pow({first}, 0.5)"),
            Function::Exp => format!("pow({}, {first})", std::f64::consts::E),
            Function::Log => format!("log({first}, {})", std::f64::consts::E),
            other => return Err(other),
        })
    }
}

fn symbol(op: BinaryOp) -> &'static str {
    match op {
        BinaryOp::Or => "|",
        BinaryOp::And => "&",
        BinaryOp::Equal => "=",
        other => other.symbol(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::net::NetBuilder;

    /// In PRISM, `!` is weaker than comparisons and stronger than `&`, and does not apply to numbers.
    #[test]
    fn negations_have_their_operand_in_brackets() {
        let mut b = NetBuilder::new("");
        b.place("p", 1);
        b.place("q", 1);
        let net = b.build().unwrap();
        let variables = ["p", "q"].map(|name| Variable { name: name.to_owned(), most: 3, initial: 1 });
        let text =
            |text: &str, truth| Printer { variables: &variables }.text(&net.expression(text).unwrap(), truth).unwrap();
        assert_eq!(text("!#(p) > 1 && !(#(p) = 2 || #(q) < 1)", true), "(!((p > 1)) & !(((p = 2) | (q < 1))))");
        assert_eq!(text("1 + (!#(p))", false), "(1 + (!((p != 0)) ? 1 : 0))");
        assert_eq!(text("if(!#(p) = 1, 2, 3)", false), "(!((p = 1)) ? 2 : 3)");
    }
}
