//! `check --against`: what is different in another net.

use std::path::Path;

use serde::Serialize;
use tailspn::net::{Net, differences};
use tailspn::report::{Align, Table, counted};

use crate::cli::args::NetArgs;
use crate::cli::load::read_net;
use crate::cli::notes::Failure;

/// One difference.
#[derive(Debug, Serialize)]
pub(super) struct DifferenceRow {
    part: &'static str,
    name: String,
    what: &'static str,
    here: Option<String>,
    there: Option<String>,
}

/// What is different in the net of another file, which is read in the same way.
pub(super) fn against(net: &Net, args: &NetArgs, other: &Path) -> Result<Vec<DifferenceRow>, Failure> {
    let args = NetArgs { net: other.to_owned(), read_as: args.read_as.clone(), param: Vec::new() };
    let other = read_net(&args)?.net;
    let rows = differences(net, &other).into_iter().map(|found| DifferenceRow {
        part: found.part.word(),
        name: found.name,
        what: found.what,
        here: found.first,
        there: found.second,
    });
    Ok(rows.collect())
}

/// The differences as a table, or that there are none.
pub(super) fn against_text(rows: &[DifferenceRow], net: &Net, other: &Path) -> String {
    if rows.is_empty() {
        let parts = net.places().len() + net.transitions().len() + net.arcs().len();
        return format!("differences from `{}`: none in {}\n", other.display(), counted(parts as u64, "part"));
    }
    let names = ["part", "name", "", "here", "there"];
    let mut table = Table::new(names.map(|name| (name, Align::Left)));
    for row in rows {
        let [here, there] = [&row.here, &row.there].map(|value| value.as_deref().unwrap_or("missing"));
        // a part that is there says no more than that
        let what = if row.what == "there" { "" } else { row.what };
        table.push([row.part, &row.name, what, here, there]);
    }
    format!("differences from `{}`:\n{}", other.display(), table.text())
}
