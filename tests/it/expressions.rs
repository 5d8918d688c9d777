//! The page of the expression language: every example has its value, and every function and operator is on the page.

use std::fs;

use tailspn::net::NetBuilder;
use tailspn::net::expr::{Function, NamedLeaf, parse};

/// Rows of the tables: the cells between the bars, of rows with four cells.
fn rows(page: &str) -> Vec<[String; 4]> {
    let cells = |line: &str| {
        let cells = line.trim_matches('|').replace("\\|", "\u{1}");
        let cells: Vec<String> = cells.split('|').map(|cell| cell.trim().replace('\u{1}', "|")).collect();
        cells.try_into().ok()
    };
    let lines = page.lines().filter(|line| line.starts_with("| `"));
    lines.filter_map(cells).collect()
}

#[test]
fn every_example_of_the_page_has_its_value() {
    let page = fs::read_to_string("docs/expressions.md").unwrap();
    let rows = rows(&page);
    assert_eq!(rows.len(), 18 + Function::ALL.len() + 1);
    for [_, _, example, value] in &rows {
        let text = example.trim_matches('`');
        let found = parse(text).unwrap().eval(&|leaf| match leaf {
            NamedLeaf::Tokens(..) => 3.0,
            NamedLeaf::Capacity(_) => 5.0,
            NamedLeaf::Parameter(name) => panic!("{name:?}"),
        });
        let value: f64 = value.parse().unwrap();
        assert!((found - value).abs() < 1e-12, "{text}: {found}, not {value}");
    }
}

#[test]
fn every_function_is_on_the_page() {
    let page = fs::read_to_string("docs/expressions.md").unwrap();
    let rows = rows(&page);
    for function in Function::ALL {
        let call = format!("`{}(", function.name());
        let row = rows.iter().find(|[name, ..]| name.starts_with(&call));
        let [_, _, example, _] = row.unwrap_or_else(|| panic!("{} is missing", function.name()));
        let names = [function.name(), if function == Function::Log { "ln" } else { function.name() }];
        assert!(names.iter().any(|name| example.contains(&format!("{name}("))), "{example}");
    }
    // the message about an unknown function lists the same names
    let error = parse("nothing(1)").unwrap_err().to_string();
    for [name, ..] in rows.iter().filter(|[name, ..]| name.contains('(')) {
        let name = name.trim_matches('`').split('(').next().unwrap();
        assert!(error.contains(name), "{name}: {error}");
    }
}

#[test]
fn a_net_reads_the_spellings_of_other_tools() {
    let mut b = NetBuilder::new("");
    b.place("p1", 3);
    let net = b.build().unwrap();
    let same = |text: &str, other: &str| {
        assert_eq!(net.expression(text).unwrap(), net.expression(other).unwrap(), "{text}");
    };
    same("#p1 ^ 2", "pow(#(p1), 2)");
    same("ln(#p1) | #p1 & 1", "log(#(p1)) || #(p1) && 1");
    same("mod(#p1, 2)", "#(p1) % 2");
    same("!#p1 > 1", "!(#(p1) > 1)");
    same("#p1 mod 2 = 1 and not #p1 > 2 or false", "#(p1) % 2 == 1 && !(#(p1) > 2) || 0");
    same("not (#p1 > 1)", "!(#(p1) > 1)");
    same("#p1 > 1 => #p1 > 2 => true", "!(#(p1) > 1) || (!(#(p1) > 2) || 1)");
    same("#p1 > 2 ? 1 : #p1 > 1 ? 2 : 3", "if(#(p1) > 2, 1, if(#(p1) > 1, 2, 3))");
    // names that begin like a word
    let names = parse("android + ore + model + nothing + trueness").unwrap();
    let mut found = 0;
    names.for_each_leaf(&mut |leaf| found += usize::from(matches!(leaf, NamedLeaf::Parameter(_))));
    assert_eq!(found, 5);
    assert!(parse(&"1 ? 1 : ".repeat(10_000)).is_err());
}
