//! System calls of each node as a picture. A red square means that the mean time is above the range of the control
//! runs, a blue square that it is below; the stronger the colour, the larger the factor.

use std::fmt::Write as _;

use crate::diagnose::syscalls::Answer;
use crate::formats::svg_parts::escaped;
use crate::report::syscalls::{SyscallRow, SyscallsReport, method_text};

/// Size of a square, room for names, space around \[px\].
const CELL: [f64; 2] = [92.0, 30.0];
const NAMES: f64 = 120.0;
const HEAD: f64 = 78.0;
const FOOT: f64 = 34.0;
/// Factor above the control runs at which a square is fully red.
const REDDEST: f64 = 1000.0;

/// Calls from left to right, nodes from top to bottom. Each square shows the mean time of a call, coloured by the factor between it and
/// the range of the control runs; white is inside the range. Nodes that a method names have a dot for each method.
pub fn syscalls_svg(report: &SyscallsReport) -> String {
    let mut calls: Vec<&str> = Vec::new();
    for row in &report.calls {
        if !calls.contains(&&*row.call) {
            calls.push(&row.call);
        }
    }
    let width = NAMES + CELL[0] * calls.len() as f64 + 20.0;
    let height = HEAD + CELL[1] * report.nodes.len() as f64 + FOOT;
    let mut text = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width:.0}\" height=\"{height:.0}\" \
         viewBox=\"0 0 {width:.0} {height:.0}\" font-family=\"sans-serif\" font-size=\"12\">\n\
         <rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n\
         <text x=\"12\" y=\"22\" font-size=\"15\">{}: mean time of a call [ms]</text>\n",
        escaped(&report.run)
    );
    let said: Vec<String> = report.answers.iter().map(said).collect();
    let _ = writeln!(text, "<text x=\"12\" y=\"42\" fill=\"#555\">{}</text>", escaped(&said.join("; ")));
    for (at, call) in calls.iter().enumerate() {
        let x = NAMES + CELL[0] * (at as f64 + 0.5);
        let _ = writeln!(
            text,
            "<text x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>",
            HEAD - 8.0,
            escaped(call)
        );
    }
    for (at, node) in report.nodes.iter().enumerate() {
        let y = HEAD + CELL[1] * at as f64;
        let named = report.answers.iter().filter(|answer| answer.nodes.contains(&node.node)).count();
        let name = escaped(&node.node);
        let weight = if named > 0 { " font-weight=\"bold\"" } else { "" };
        let _ = writeln!(text, "<text x=\"12\" y=\"{:.1}\"{weight}>{name}</text>", y + 0.65 * CELL[1]);
        for dot in 0..named {
            let x = NAMES - 14.0 - 12.0 * dot as f64;
            let _ = writeln!(text, "<circle cx=\"{x:.1}\" cy=\"{:.1}\" r=\"4\" fill=\"#c0392b\"/>", y + 0.5 * CELL[1]);
        }
        for row in report.calls.iter().filter(|row| row.node == node.node) {
            let column = calls.iter().position(|call| **call == *row.call).unwrap_or(0);
            text += &square(row, NAMES + CELL[0] * column as f64, y);
        }
    }
    let _ = writeln!(
        text,
        "<text x=\"12\" y=\"{:.1}\" fill=\"#555\">white: within the control runs; red: above, blue: below, full colour at a factor of \
         {REDDEST:.0}; a dot for each method that names the node</text>\n</svg>",
        height - 12.0
    );
    text
}

fn said(answer: &Answer) -> String {
    let name = method_text(answer.method);
    if answer.nodes.is_empty() { format!("{name}: unknown") } else { format!("{name}: {}", answer.nodes.join(", ")) }
}

fn square(row: &SyscallRow, x: f64, y: f64) -> String {
    let Some(mean) = row.mean_s else { return String::new() };
    let distance = row.usual_s.map_or(0.0, |usual| {
        if mean > usual.high { (mean / usual.high.max(1e-9)).ln() } else { -(usual.low / mean.max(1e-9)).max(1.0).ln() }
    });
    let depth = (distance.abs() / REDDEST.ln()).min(1.0);
    let faint = 255.0 - 175.0 * depth;
    let [red, blue] = if distance > 0.0 { [255.0 - 40.0 * depth, faint] } else { [faint, 255.0 - 40.0 * depth] };
    let usual = row.usual_s.map_or_else(String::new, |usual| {
        format!(", control runs {:.4} to {:.4} ms", usual.low * 1e3, usual.high * 1e3)
    });
    format!(
        "<g><title>{} {}: {:.4} ms{usual}</title>\
         <rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{:.1}\" height=\"{:.1}\" fill=\"rgb({red:.0},{faint:.0},{blue:.0})\" stroke=\"#ddd\"/>\
         <text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text></g>\n",
        escaped(&row.node),
        escaped(&row.call),
        mean * 1e3,
        CELL[0],
        CELL[1],
        x + 0.5 * CELL[0],
        y + 0.65 * CELL[1],
        shown(mean * 1e3)
    )
}

fn shown(milliseconds: f64) -> String {
    match milliseconds {
        v if v >= 100.0 => format!("{v:.0}"),
        v if v >= 1.0 => format!("{v:.1}"),
        v => format!("{v:.3}"),
    }
}
