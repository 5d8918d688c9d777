//! `tool schema`: prints the JSON Schema of a plan, a result or a line of events, or the names of all schemas.

use tailspn::report::{LINE_SCHEMAS, NamedSchema, PLAN_SCHEMAS, RESULT_SCHEMAS};

use crate::cli::args::SchemaArgs;
use crate::cli::exit::Exit;
use crate::cli::notes::Failure;
use crate::cli::output::Terminal;

/// Prints a schema, or the names.
pub(crate) fn run(args: &SchemaArgs, terminal: &Terminal) -> Result<Exit, Failure> {
    let mut schemas = PLAN_SCHEMAS.iter().chain(RESULT_SCHEMAS).chain(&LINE_SCHEMAS);
    let text = match schemas.find(|schema| Some(schema.name) == args.name.as_deref()) {
        Some(schema) => format!("{:#}\n", schema.schema()),
        None => {
            let [plans, results, lines] = [&PLAN_SCHEMAS, RESULT_SCHEMAS, &LINE_SCHEMAS].map(list);
            format!("Plans (TOML)\n{plans}\nResults (--json)\n{results}\nLines of events (--json)\n{lines}")
        }
    };
    terminal.data(&text)?;
    Ok(Exit::Success)
}

fn list(schemas: &[NamedSchema]) -> String {
    let line = |schema: &NamedSchema| format!("  {:<16} {}\n", schema.name, schema.about);
    schemas.iter().map(line).collect()
}
