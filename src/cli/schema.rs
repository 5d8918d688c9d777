//! `schema`: prints the JSON Schema of a plan or a result, or the names of all schemas.

use tailspn::report::{NamedSchema, PLAN_SCHEMAS};

use crate::cli::args::SchemaArgs;
use crate::cli::exit::Exit;
use crate::cli::notes::Failure;
use crate::cli::output::Terminal;

/// Prints a schema, or the names.
pub(crate) fn run(args: &SchemaArgs, terminal: &Terminal) -> Result<Exit, Failure> {
    let text = match args.name.as_ref().and_then(|name| all().find(|schema| schema.name == name)) {
        Some(schema) => format!("{:#}\n", schema.schema()),
        None => format!("Plans (TOML):\n{}", list(&PLAN_SCHEMAS)),
    };
    terminal.data(&text)?;
    Ok(Exit::Success)
}

/// Returns the names of all schemas.
pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    all().map(|schema| schema.name)
}

fn all() -> impl Iterator<Item = &'static NamedSchema> {
    PLAN_SCHEMAS.iter()
}

fn list(schemas: &[NamedSchema]) -> String {
    let line = |schema: &NamedSchema| format!("  {:<16}{}\n", schema.name, schema.about);
    schemas.iter().map(line).collect()
}
