//! SQL queries and their stages: the description of each query, and the operators of its plan that ran in each stage.
//!
//! A query's plan names accumulators for the metrics of each operator, and a finished stage lists the accumulators that its tasks updated.
//! Adaptive queries replace their plan while they run, so operators are assigned when the query ends, from the last
//! plan that contains them.

use std::collections::HashMap;

use serde::Deserialize;

use crate::trace::builder::Builder;
use crate::trace::ids::StageId;
use crate::trace::loose::{Number, Text, or_default};

/// Maximum length of a stored description, in characters.
const DESCRIPTION: usize = 300;
/// Maximum number of operators that are kept of a stage.
const OPERATORS: usize = 12;

/// The start of a query, or a new plan of a query.
#[derive(Deserialize)]
pub(super) struct PlanEvent<'a> {
    #[serde(rename = "executionId", default)]
    id: Number,
    #[serde(borrow, default)]
    description: Text<'a>,
    #[serde(rename = "sparkPlanInfo", borrow, default, deserialize_with = "or_default")]
    plan: Option<PlanNode<'a>>,
}

/// The same event without its plan, for plans nested too deeply to be read; also the end of a query.
#[derive(Deserialize)]
pub(super) struct QueryEvent<'a> {
    #[serde(rename = "executionId", default)]
    id: Number,
    #[serde(borrow, default)]
    description: Text<'a>,
}

impl<'a> From<QueryEvent<'a>> for PlanEvent<'a> {
    fn from(event: QueryEvent<'a>) -> Self {
        Self { id: event.id, description: event.description, plan: None }
    }
}

/// An operator of a plan with its inputs.
#[derive(Deserialize)]
struct PlanNode<'a> {
    #[serde(rename = "nodeName", borrow, default)]
    name: Text<'a>,
    #[serde(borrow, default, deserialize_with = "or_default")]
    children: Vec<PlanNode<'a>>,
    #[serde(borrow, default, deserialize_with = "or_default")]
    metrics: Vec<PlanMetric<'a>>,
    #[serde(borrow, default, deserialize_with = "or_default")]
    metadata: Metadata<'a>,
}

#[derive(Deserialize)]
struct PlanMetric<'a> {
    #[serde(borrow, default)]
    name: Text<'a>,
    #[serde(rename = "accumulatorId", default)]
    id: Number,
}

#[derive(Default, Deserialize)]
struct Metadata<'a> {
    #[serde(rename = "Location", borrow, default)]
    location: Text<'a>,
}

/// An accumulator of a finished stage.
#[derive(Deserialize)]
pub(super) struct Accumulable {
    #[serde(rename = "ID", default)]
    pub(super) id: Number,
}

/// The queries that run.
#[derive(Debug, Default)]
pub(super) struct Queries {
    running: HashMap<u64, Query>,
    /// The query of each stage that a job announced, by the stage's number.
    of_stage: HashMap<u32, u64>,
    /// The description of the job that announced a stage, by the stage's number.
    described: HashMap<u32, String>,
}

#[derive(Debug, Default)]
struct Query {
    description: String,
    /// The operator that each accumulator counts for: its position in data order, and its name.
    operators: HashMap<i64, (usize, String)>,
    /// Stages that were submitted, with the accumulators that their tasks updated.
    stages: Vec<(StageId, Vec<i64>)>,
}

impl Queries {
    /// Records the start of a query, or a new plan of a running query.
    pub(super) fn plan(&mut self, event: &PlanEvent<'_>) {
        let Some(id) = event.id.value().and_then(|id| u64::try_from(id).ok()) else { return };
        let query = self.running.entry(id).or_default();
        if query.description.is_empty() {
            query.description = short(event.description.as_str());
        }
        if let Some(plan) = &event.plan {
            let mut place = 0;
            walk(plan, &mut place, &mut query.operators);
        }
    }

    /// Records the stages of a job, its description, and the query that it is part of.
    pub(super) fn start_job(&mut self, stages: &[u32], description: &str, query: Number) {
        let query = query.value().and_then(|id| u64::try_from(id).ok());
        // the run id differs from run to run
        let description = short(description.split_once(" (runId ").map_or(description, |(text, _)| text));
        for &stage in stages {
            if let Some(query) = query {
                self.of_stage.insert(stage, query);
            }
            if !description.is_empty() {
                self.described.insert(stage, description.clone());
            }
        }
    }

    /// Records a finished attempt of a stage with the accumulators that it updated.
    pub(super) fn complete_stage(
        &mut self,
        id: StageId,
        number: u32,
        accumulables: &[Accumulable],
        builder: &mut Builder,
    ) {
        let description = self.described.get(&number);
        let stage = builder.stage_mut(id);
        if let Some(description) = description.filter(|text| **text != stage.name) {
            stage.description = Some(description.clone());
        }
        let Some(query) = self.of_stage.get(&number) else { return };
        stage.sql_execution = Some(*query);
        let ids = accumulables.iter().filter_map(|one| one.id.value()).collect();
        self.running.entry(*query).or_default().stages.push((id, ids));
    }

    /// Ends a query: its stages get its description and their operators.
    pub(super) fn end(&mut self, event: &QueryEvent<'_>, builder: &mut Builder) {
        let id = event.id.value().and_then(|id| u64::try_from(id).ok());
        if let Some(query) = id.and_then(|id| self.running.remove(&id)) {
            query.tell(builder);
        }
    }

    /// Ends all queries, at the end of an application.
    pub(super) fn end_all(&mut self, builder: &mut Builder) {
        std::mem::take(self).running.into_values().for_each(|query| query.tell(builder));
    }
}

impl Query {
    fn tell(self, builder: &mut Builder) {
        for (id, accumulators) in self.stages {
            let mut own: Vec<&(usize, String)> = accumulators.iter().filter_map(|id| self.operators.get(id)).collect();
            own.sort();
            let mut names: Vec<String> = own.into_iter().map(|(_, name)| name.clone()).collect();
            names.dedup();
            names.truncate(OPERATORS);
            let stage = builder.stage_mut(id);
            stage.operators = names;
            if stage.description.is_none() && !self.description.is_empty() && self.description != stage.name {
                stage.description = Some(self.description.clone());
            }
        }
    }
}

/// Numbers the operators of a plan in the order of the data: inputs before the operator that reads them.
fn walk(node: &PlanNode<'_>, place: &mut usize, operators: &mut HashMap<i64, (usize, String)>) {
    node.children.iter().for_each(|child| walk(child, place, operators));
    *place += 1;
    let Some(name) = operator(node) else { return };
    for metric in node.metrics.iter().filter(|metric| counts_here(&name, metric.name.as_str())) {
        if let Some(id) = metric.id.value() {
            operators.insert(id, (*place, name.clone()));
        }
    }
}

/// Returns the name of an operator; none for an operator that does no work itself. A scan of files without a
/// table has the name of its folder.
fn operator(node: &PlanNode<'_>) -> Option<String> {
    const LEFT_OUT: [&str; 10] = [
        "WholeStageCodegen",
        "InputAdapter",
        "ColumnarToRow",
        "RowToColumnar",
        "AdaptiveSparkPlan",
        "AQEShuffleRead",
        "CustomShuffleReader",
        "Project",
        "Filter",
        "Execute ",
    ];
    let name = node.name.as_str().trim();
    if name.is_empty() || LEFT_OUT.iter().any(|start| name.strip_prefix("Gpu").unwrap_or(name).starts_with(start)) {
        return None;
    }
    let file = node.metadata.location.as_str().trim_end_matches([']', '/', '.', ' ']).rsplit(['/', '[']).next();
    let is_bare = name.contains("Scan") && name.split_whitespace().count() == 2;
    match file.filter(|file| is_bare && !file.is_empty()) {
        Some(file) => Some(short(&format!("{name} {file}"))),
        None => Some(short(name)),
    }
}

/// Returns true if the stage that runs an operator counts this metric of the operator. Only the reading of a shuffle is
/// counted elsewhere, by the next stage.
fn counts_here(operator: &str, metric: &str) -> bool {
    !operator.contains("Exchange") || metric.contains("written") || metric.contains("data size")
}

/// Returns the first characters of a text, with single spaces in place of all white space.
fn short(text: &str) -> String {
    let mut short = String::new();
    for word in text.split_whitespace() {
        if !short.is_empty() {
            short.push(' ');
        }
        short.push_str(word);
        if short.len() > DESCRIPTION {
            return short.chars().take(DESCRIPTION - 1).chain(['…']).collect();
        }
    }
    short
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operators_are_in_the_order_of_the_data() {
        let text = r#"{"executionId":3,"description":"q 1","sparkPlanInfo":{"nodeName":"HashAggregate","metrics":[{"name":"rows","accumulatorId":1}],
            "children":[{"nodeName":"Exchange","metrics":[{"name":"fetch wait time","accumulatorId":2},{"name":"shuffle bytes written","accumulatorId":3}],
            "children":[{"nodeName":"WholeStageCodegen (1)","metrics":[{"name":"duration","accumulatorId":4}],
            "children":[{"nodeName":"Scan parquet ","metadata":{"Location":"InMemoryFileIndex(1 paths)[hdfs://n:8020/data/sales]"},
            "metrics":[{"name":"number of files read","accumulatorId":5}]}]}]}]}}"#;
        let mut queries = Queries::default();
        queries.plan(&serde_json::from_str(text).unwrap());
        let query = &queries.running[&3];
        let name = |id: i64| query.operators.get(&id).map(|(_, name)| name.as_str());
        assert_eq!(
            [5, 4, 3, 2, 1].map(name),
            [Some("Scan parquet sales"), None, Some("Exchange"), None, Some("HashAggregate")]
        );
        let place = |id: i64| query.operators[&id].0;
        assert!(place(5) < place(3) && place(3) < place(1));
        assert_eq!(query.description, "q 1");
    }

    #[test]
    fn long_texts_are_cut() {
        assert_eq!(short(" select\n  1 "), "select 1");
        let long = short(&"é".repeat(1000));
        assert_eq!((long.chars().count(), long.ends_with('…')), (DESCRIPTION, true));
    }
}
