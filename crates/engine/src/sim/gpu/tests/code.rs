//! Compares marking expressions on a device and on the CPU.

use crate::compile::{Code, lower};
use crate::net::expr::{BinaryOp, Function, Leaf, UnaryOp};
use crate::net::{Expr, Net, NetBuilder, PlaceId};
use crate::sim::gpu::code::DeviceCode;
use crate::sim::gpu::double::double;
use crate::sim::gpu::execute::Dispatch;
use crate::sim::gpu::pair::value;
use crate::sim::gpu::tests::{Words, devices};
use crate::sim::gpu::{Gpu, shader};

const PLACES: usize = 4;
const EXPRESSIONS: usize = 3_000;
const MARKINGS: usize = 12;

const BINARY: [BinaryOp; 13] = [
    BinaryOp::Or,
    BinaryOp::And,
    BinaryOp::Equal,
    BinaryOp::NotEqual,
    BinaryOp::Less,
    BinaryOp::LessOrEqual,
    BinaryOp::Greater,
    BinaryOp::GreaterOrEqual,
    BinaryOp::Add,
    BinaryOp::Subtract,
    BinaryOp::Multiply,
    BinaryOp::Divide,
    BinaryOp::Remainder,
];
const EXACT: [Function; 11] = [
    Function::Abs,
    Function::Ceil,
    Function::Floor,
    Function::If,
    Function::Max,
    Function::Min,
    Function::Rint,
    Function::Round,
    Function::Sqrt,
    Function::ToDegrees,
    Function::ToRadians,
];

fn net() -> (Net, [PlaceId; PLACES]) {
    let mut b = NetBuilder::new("");
    let places = std::array::from_fn(|i| b.place(format!("p{i}"), 0));
    (b.build().unwrap(), places)
}

/// An expression of at most `depth` levels; counters are as likely as numbers.
fn expression(places: &[PlaceId], words: &mut Words, depth: u32) -> Expr {
    let boxed = |words: &mut Words| Box::new(expression(places, words, depth - 1));
    match if depth == 0 { 0 } else { words.below(8) } {
        0 | 1 if words.below(3) > 0 => {
            Expr::Leaf(Leaf::Tokens(places[words.below(places.len() as u64) as usize], None))
        }
        0 | 1 => Expr::Number(match words.below(6) {
            0 => words.below(5) as f64,
            1 => words.below(9) as f64 * 0.5 - 2.0,
            2 => f64::from_bits(words.next()),
            3 => -0.0,
            _ => words.below(1000) as f64 / 7.0,
        }),
        2 => Expr::Unary(if words.below(2) == 0 { UnaryOp::Negate } else { UnaryOp::Not }, boxed(words)),
        3..6 => Expr::Binary(BINARY[words.below(BINARY.len() as u64) as usize], boxed(words), boxed(words)),
        _ => {
            let function = EXACT[words.below(EXACT.len() as u64) as usize];
            let (least, most) = function.arity();
            let arguments = least as u64 + words.below(most.min(4) as u64 - least as u64 + 1);
            Expr::Call(function, (0..arguments).map(|_| *boxed(words)).collect())
        }
    }
}

/// The values of all codes in all markings, on a device, code by code.
fn on_device(gpu: &Gpu, codes: &[Code], markings: &[[u32; PLACES]]) -> Vec<u64> {
    let (mut words, mut begins, mut depth) = (Vec::new(), Vec::new(), 0);
    for code in codes {
        let device = DeviceCode::of(code).unwrap();
        begins.extend((0..markings.len()).map(|i| [words.len() as u32, (i * PLACES) as u32]));
        words.extend(device.words);
        depth = depth.max(device.depth);
    }
    let kernel = gpu.kernel("code", &shader::code_test(gpu.int64, depth)).unwrap();
    let results = gpu.storage(8 * begins.len() as u64).unwrap();
    let [words, markings] = [&words, &markings.concat()].map(|data| gpu.storage_with(data).unwrap());
    let workgroups = (begins.len() as u32).div_ceil(crate::sim::gpu::layout::WORKGROUP);
    let count = begins.len();
    let begins = gpu.storage_with(&begins).unwrap();
    let buffers = [(0, &words), (1, &markings), (2, &results), (3, &begins)];
    gpu.run(&[], &[Dispatch { kernel: &kernel, buffers: &buffers, workgroups }]).unwrap();
    gpu.read(&results, count).unwrap().into_iter().map(value).collect()
}

fn markings(words: &mut Words) -> Vec<[u32; PLACES]> {
    let mut markings = vec![[0; PLACES], [1; PLACES], [u32::MAX; PLACES], [0, 1, 2, 3]];
    markings.resize_with(MARKINGS, || std::array::from_fn(|_| (words.bits(32)) as u32));
    markings
}

fn compare(net: &Net, expressions: &[Expr], markings: &[[u32; PLACES]]) {
    let codes: Vec<_> = expressions.iter().map(|expression| lower(net, expression)).collect();
    for gpu in devices() {
        let got = on_device(&gpu, &codes, markings);
        for (i, (code, got)) in codes.iter().zip(got.chunks_exact(markings.len())).enumerate() {
            for (marking, &got) in markings.iter().zip(got) {
                let (wanted, got) = (code.eval(marking), f64::from_bits(got));
                let text = || expressions[i].text(&|leaf| format!("{leaf:?}"));
                assert_eq!(double(wanted), double(got), "{} in {marking:?}: {wanted}, {got}", text());
            }
        }
    }
}

/// This test was seen to fail with the branches of an `if` exchanged, and with the operands of an operator exchanged.
#[test]
fn random_expressions_have_the_value_of_the_cpu() {
    let (net, places) = net();
    let mut words = Words(6);
    let expressions: Vec<_> = (0..EXPRESSIONS).map(|i| expression(&places, &mut words, 1 + i as u32 % 5)).collect();
    compare(&net, &expressions, &markings(&mut words));
}

/// Every operator and function on counters and numbers, so that none is left to chance.
///
/// This test was seen to fail with a floor for every rounding, with `<` for `<=`, and with the right side of `&&` not
/// evaluated.
#[test]
fn every_operator_and_function_has_the_value_of_the_cpu() {
    let (net, places) = net();
    let tokens = |i: usize| Expr::Leaf(Leaf::Tokens(places[i], None));
    let divide = |a, b| Expr::Binary(BinaryOp::Divide, Box::new(a), Box::new(b));
    // fractions of both signs, halves, zeros of both signs, infinite, and 0/0
    let difference = Expr::Binary(BinaryOp::Subtract, Box::new(tokens(0)), Box::new(tokens(1)));
    let operands = [
        tokens(0),
        tokens(1),
        difference.clone(),
        divide(tokens(2), tokens(3)),
        divide(difference.clone(), Expr::Number(2.0)),
        Expr::Unary(UnaryOp::Negate, Box::new(difference)),
        divide(tokens(0), tokens(0)),
    ];
    let mut expressions = Vec::new();
    for a in &operands {
        for op in [UnaryOp::Negate, UnaryOp::Not] {
            expressions.push(Expr::Unary(op, Box::new(a.clone())));
        }
        for b in &operands {
            expressions.extend(BINARY.map(|op| Expr::Binary(op, Box::new(a.clone()), Box::new(b.clone()))));
            for function in EXACT {
                let count = function.arity().0;
                let arguments = [a, b, &tokens(2)].map(Clone::clone)[..count].to_vec();
                expressions.push(Expr::Call(function, arguments));
            }
        }
    }
    compare(&net, &expressions, &markings(&mut Words(7)));
}
