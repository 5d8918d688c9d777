//! `schema`: prints the JSON Schema of a plan, or the names of all schemas.

use tailspn::report::{NamedSchema, PLAN_SCHEMAS};

use crate::cli::args::SchemaArgs;
use crate::cli::exit::Exit;
use crate::cli::notes::Failure;
use crate::cli::output::Terminal;

/// Prints a schema, or the names.
pub(crate) fn run(args: &SchemaArgs, terminal: &Terminal) -> Result<Exit, Failure> {
    let text = match args.name.as_ref().and_then(|name| PLAN_SCHEMAS.iter().find(|schema| schema.name == name)) {
        Some(schema) => format!("{:#}\n", schema.schema()),
        None => list(&PLAN_SCHEMAS),
    };
    terminal.data(&text)?;
    Ok(Exit::Success)
}

fn list(schemas: &[NamedSchema]) -> String {
    let line = |schema: &NamedSchema| format!("{:<15} {}\n", schema.name, schema.about);
    schemas.iter().map(line).collect()
}
