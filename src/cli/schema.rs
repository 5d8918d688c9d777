//! `schema`: prints the JSON Schema of a plan or a result, or the names of all schemas.

use tailspn::report::{NamedSchema, PLAN_SCHEMAS, RESULT_SCHEMAS};

use crate::cli::args::SchemaArgs;
use crate::cli::exit::Exit;
use crate::cli::notes::Failure;
use crate::cli::output::Terminal;

/// Prints a schema, or the names.
pub(crate) fn run(args: &SchemaArgs, terminal: &Terminal) -> Result<Exit, Failure> {
    let mut schemas = PLAN_SCHEMAS.iter().chain(RESULT_SCHEMAS);
    let text = match schemas.find(|schema| Some(schema.name) == args.name.as_deref()) {
        Some(schema) => format!("{:#}\n", schema.schema()),
        None => format!("Plans (TOML)\n{}\nResults (--json)\n{}", list(&PLAN_SCHEMAS), list(RESULT_SCHEMAS)),
    };
    terminal.data(&text)?;
    Ok(Exit::Success)
}

fn list(schemas: &[NamedSchema]) -> String {
    let line = |schema: &NamedSchema| format!("  {:<16} {}\n", schema.name, schema.about);
    schemas.iter().map(line).collect()
}
