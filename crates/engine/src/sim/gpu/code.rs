//! Marking expressions as words of `shaders/shared/code.wgsl`.
//!
//! A step is one word: the operator in the lowest 8 bits, a counter above. The two words of a number follow its step.
//! Operators that the shader lacks are composed of other operators. For example, a conversion from degrees is a
//! product, and a minimum of several numbers consists of minima of two.

use crate::compile::{Code, Op};
use crate::net::expr::{BinaryOp, Function, UnaryOp};
use crate::sim::gpu::pair::pair;

const END: u32 = 0;
const NUMBER: u32 = 1;
const TOKENS: u32 = 2;
const NEGATE: u32 = 3;
const ABS: u32 = 4;
const NOT: u32 = 5;
const SQRT: u32 = 6;
const FLOOR: u32 = 7;
const CEIL: u32 = 8;
const RINT: u32 = 9;
const IF: u32 = 10;
/// The first operator with two operands; the others follow in the order of [`BinaryOp`].
const OR: u32 = 16;
const MULTIPLY: u32 = 26;
const ADD: u32 = 24;
const REMAINDER: u32 = 28;
const MIN: u32 = 29;
const MAX: u32 = 30;

/// Number of counters that a step can refer to.
const MOST_COUNTERS: u32 = 1 << 24;
/// Maximum stack depth on a device, where each invocation needs memory for the stack.
const MOST_DEPTH: u32 = 32;
/// Maximum number of steps of one expression.
const MOST_STEPS: u32 = 4096;
/// Loop iterations of a remainder.
const REMAINDER_LOOPS: u32 = 75;
/// Loop iterations of a square root.
const SQRT_LOOPS: u32 = 55;

/// A marking expression as the shaders read it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct DeviceCode {
    /// The steps and the end marker; they may be placed at any position.
    pub(crate) words: Vec<u32>,
    /// Maximum number of values on the stack; `CODE_STACK` must not be smaller.
    pub(crate) depth: u32,
    /// Upper bound of the loop iterations of one evaluation.
    pub(crate) loops: u32,
}

/// Reason why an expression stays on the CPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum NoDeviceCode {
    /// A function whose last bit depends on the CPU's library.
    #[error("a device does not compute `{}` to the same bits as the CPU", .0.name())]
    Function(Function),
    /// Too many operands wait for their operators.
    #[error(
        "the expression is nested too deeply for a GPU ({0} values at a time, at most {MOST_DEPTH}); split it, or use fewer arguments in min and max"
    )]
    TooDeep(u32),
    /// Too many steps.
    #[error("it has {0} steps; a device allows {MOST_STEPS}")]
    TooLong(u32),
    /// A counter whose number does not fit into a step.
    #[error("it reads more than {MOST_COUNTERS} counters")]
    TooManyCounters,
}

impl DeviceCode {
    /// Writes the words of `code`.
    ///
    /// # Errors
    ///
    /// All features that a device does not support, without duplicates.
    pub(crate) fn of(code: &Code) -> Result<Self, Vec<NoDeviceCode>> {
        let mut writer = Writer::default();
        for op in code.ops() {
            writer.step(op);
        }
        let Writer { mut words, steps, depth, loops, mut obstacles, .. } = writer;
        if depth > MOST_DEPTH {
            obstacles.push(NoDeviceCode::TooDeep(depth));
        }
        if steps > MOST_STEPS {
            obstacles.push(NoDeviceCode::TooLong(steps));
        }
        words.push(END);
        if obstacles.is_empty() { Ok(Self { words, depth, loops: steps + loops }) } else { Err(obstacles) }
    }
}

#[derive(Default)]
struct Writer {
    words: Vec<u32>,
    steps: u32,
    height: u32,
    depth: u32,
    /// Loop iterations within steps.
    loops: u32,
    obstacles: Vec<NoDeviceCode>,
}

impl Writer {
    fn step(&mut self, op: &Op) {
        match *op {
            Op::Number(value) => self.number(value),
            Op::Tokens(counter) if counter < MOST_COUNTERS => self.push(&[TOKENS | counter << 8]),
            Op::Tokens(_) => {
                self.refuse(NoDeviceCode::TooManyCounters);
                self.number(0.0);
            }
            Op::Unary(UnaryOp::Negate) => self.operator(NEGATE, 1),
            Op::Unary(UnaryOp::Not) => self.operator(NOT, 1),
            Op::Binary(op) => self.operator(binary(op), 2),
            Op::Call(function, arguments) => self.call(function, arguments),
        }
    }

    fn call(&mut self, function: Function, arguments: u32) {
        match function {
            Function::Abs => self.operator(ABS, 1),
            Function::Ceil => self.operator(CEIL, 1),
            Function::Floor => self.operator(FLOOR, 1),
            Function::If => self.operator(IF, 3),
            // the CPU starts from infinity, which remains only if all arguments are NaN
            Function::Max => self.fold(MAX, f64::NEG_INFINITY, arguments),
            Function::Min => self.fold(MIN, f64::INFINITY, arguments),
            Function::Rint => self.operator(RINT, 1),
            Function::Round => {
                self.number(0.5);
                self.operator(ADD, 2);
                self.operator(FLOOR, 1);
            }
            Function::Sqrt => self.operator(SQRT, 1),
            // the same products as in the standard library; a test compares them
            Function::ToDegrees => self.times(1_f64.to_degrees()),
            Function::ToRadians => self.times(1_f64.to_radians()),
            Function::Acos
            | Function::Asin
            | Function::Atan
            | Function::Atan2
            | Function::Cos
            | Function::Exp
            | Function::Log
            | Function::Pow
            | Function::Sin
            | Function::Tan => {
                self.refuse(NoDeviceCode::Function(function));
                self.height -= arguments - 1;
            }
        }
    }

    fn fold(&mut self, operator: u32, begin: f64, arguments: u32) {
        (1..arguments).for_each(|_| self.operator(operator, 2));
        self.number(begin);
        self.operator(operator, 2);
    }

    fn times(&mut self, factor: f64) {
        self.number(factor);
        self.operator(MULTIPLY, 2);
    }

    fn number(&mut self, value: f64) {
        let [low, high] = pair(value.to_bits());
        self.push(&[NUMBER, low, high]);
    }

    fn push(&mut self, words: &[u32]) {
        self.words.extend(words);
        self.steps += 1;
        self.height += 1;
        self.depth = self.depth.max(self.height);
    }

    fn operator(&mut self, operator: u32, operands: u32) {
        self.words.push(operator);
        self.steps += 1;
        self.height -= operands - 1;
        self.loops += match operator {
            REMAINDER => REMAINDER_LOOPS,
            SQRT => SQRT_LOOPS,
            _ => 0,
        };
    }

    fn refuse(&mut self, obstacle: NoDeviceCode) {
        if !self.obstacles.contains(&obstacle) {
            self.obstacles.push(obstacle);
        }
    }
}

fn binary(op: BinaryOp) -> u32 {
    OR + match op {
        BinaryOp::Or => 0,
        BinaryOp::And => 1,
        BinaryOp::Equal => 2,
        BinaryOp::NotEqual => 3,
        BinaryOp::Less => 4,
        BinaryOp::LessOrEqual => 5,
        BinaryOp::Greater => 6,
        BinaryOp::GreaterOrEqual => 7,
        BinaryOp::Add => 8,
        BinaryOp::Subtract => 9,
        BinaryOp::Multiply => 10,
        BinaryOp::Divide => 11,
        BinaryOp::Remainder => 12,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compile::lower;
    use crate::net::NetBuilder;

    fn code(text: &str) -> Code {
        let mut b = NetBuilder::new("");
        b.place("p", 0);
        let net = b.build().unwrap();
        lower(&net, &net.expression(text).unwrap())
    }

    #[test]
    fn device_code_has_the_expected_words_depth_and_loops() {
        let [low, high] = pair(0.5_f64.to_bits());
        let half = DeviceCode::of(&code("#(p) % 0.5")).unwrap();
        assert_eq!(half, DeviceCode { words: vec![TOKENS, NUMBER, low, high, REMAINDER, END], depth: 2, loops: 78 });
        let root = DeviceCode::of(&code("sqrt(-#(p))")).unwrap();
        assert_eq!(root, DeviceCode { words: vec![TOKENS, NEGATE, SQRT, END], depth: 1, loops: 58 });
        let chosen = DeviceCode::of(&code("if(#(p), min(#(p), #(p)), #(p))")).unwrap();
        assert_eq!((chosen.depth, chosen.loops), (3, 8));
    }

    #[test]
    fn every_obstacle_is_told() {
        let deep = format!("exp(#(p)) + pow(exp(#(p)), 2) + {}#(p){}", "1 + (#(p) * ".repeat(40), ")".repeat(40));
        let obstacles = DeviceCode::of(&code(&deep)).unwrap_err();
        assert_eq!(
            obstacles,
            [NoDeviceCode::Function(Function::Exp), NoDeviceCode::Function(Function::Pow), NoDeviceCode::TooDeep(42)]
        );
        assert_eq!(obstacles[1].to_string(), "a device does not compute `pow` to the same bits as the CPU");
        let long = vec!["#(p)"; 2100].join(" + ");
        let wide: Vec<String> = (0..33).map(|_| "#(p)".to_owned()).collect();
        assert_eq!(DeviceCode::of(&code(&long)), Err(vec![NoDeviceCode::TooLong(4199)]));
        let deep = DeviceCode::of(&code(&format!("max({})", wide.join(", "))));
        assert_eq!(deep, Err(vec![NoDeviceCode::TooDeep(33)]));
    }
}
