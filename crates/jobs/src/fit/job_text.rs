//! A fitted job plan as TOML text: the commented default plan with the fitted values and their sources.
//!
//! Defines no keys: they come from [`Plan::example_toml`], so a new key of a plan appears in the text automatically.

use crate::fit::test_job::{FittedJob, FittedValue};
use crate::mapreduce::Plan;

impl FittedJob {
    /// Returns the plan as text that [`Plan::from_toml`] can read, with the notes on top.
    ///
    /// # Errors
    ///
    /// If TOML cannot express a value; a sound plan has no such value.
    pub fn plan_text(&self) -> Result<String, toml::ser::Error> {
        if self.plan.phases.is_some() {
            return self.measured_text();
        }
        let own = toml::Value::try_from(&self.plan)?;
        let default = toml::Value::try_from(Plan::default())?;
        let mut text = format!("# {}: the plan of {}, fitted to its run of {:.3} s.\n", self.log, self.id, self.run_s);
        for note in &self.notes {
            text += &format!("# * {note}\n");
        }
        text += "#\n";
        let mut section = String::new();
        for line in Plan::example_toml().lines() {
            if line.starts_with('[') {
                section = line.split('#').next().unwrap_or("").trim().trim_matches(['[', ']']).to_owned();
            }
            text += &self.line(line, &section, &own, &default);
            text.push('\n');
        }
        if let Some(run) = &self.plan.run {
            text += &format!("\n[run]                         # how whole runs differ\n{}", toml::to_string(run)?);
        }
        for job in &self.plan.proof {
            text += &format!(
                "\n[[proof]]                     # a job that the plan has to reproduce\n{}",
                toml::to_string(job)?
            );
        }
        Ok(text)
    }

    /// Returns a plan with measured phases as text, with the sources of its values on top.
    fn measured_text(&self) -> Result<String, toml::ser::Error> {
        let mut text = format!("# The plan of {}, fitted to {}.\n", self.id, self.log);
        for note in &self.notes {
            text += &format!("# * {note}\n");
        }
        for value in &self.values {
            text += &format!("# {} = {}: {}\n", value.key, short(value.value), value.from);
        }
        Ok(format!("{text}\n{}", self.plan.to_toml()?))
    }

    /// Returns a line of the default plan with this plan's value.
    fn line(&self, line: &str, section: &str, own: &toml::Value, default: &toml::Value) -> String {
        // a key without a default is a comment of the example
        let stated = line.strip_prefix("# ").unwrap_or(line);
        let Some((key, rest)) = stated.split_once(" = ").filter(|(key, _)| !key.contains(['#', ' '])) else {
            return line.to_owned();
        };
        let path = format!("{section}.{key}");
        if stated != line && at(default, &path).is_some() {
            return line.to_owned();
        }
        let Some(value) = at(own, &path) else { return line.to_owned() };
        let meaning = rest.find("# ").map_or("", |from| rest[from + 2..].trim());
        let comment = match self.values.iter().find(|value| value.key == path) {
            Some(value) => said(meaning, value),
            None if path == "job.name" => String::new(),
            None if at(default, &path) != Some(value) => "see the notes above".to_owned(),
            None if SECTIONS.contains(&section) => {
                format!("{meaning}{}default", if meaning.is_empty() { "" } else { "; " })
            }
            None => meaning.to_owned(),
        };
        let start = format!("{key} = {value}");
        if comment.is_empty() { start } else { format!("{start:<38} # {comment}") }
    }
}

/// Sections whose values a log may determine.
const SECTIONS: [&str; 6] = ["job", "profile", "hadoop", "cluster", "cluster.node", "framework"];

/// Returns the comment of a fitted value: its meaning, interval and source.
fn said(meaning: &str, value: &FittedValue) -> String {
    let meaning = meaning.split([';', '[']).next().unwrap_or(meaning).trim();
    let interval = value.interval.map(|(low, high)| format!("{} to {}; ", short(low), short(high))).unwrap_or_default();
    let between = if meaning.is_empty() { "" } else { ": " };
    format!("{meaning}{between}{interval}{}", value.from)
}

/// Formats a number with four significant digits.
pub fn short(value: f64) -> String {
    if value == 0.0 || !value.is_finite() {
        return format!("{value}");
    }
    let digits = 3 - value.abs().log10().floor() as i32;
    format!("{value:.*}", usize::try_from(digits).unwrap_or(0).min(12))
}

/// Returns the value at a path; of a list of tables, in the first of them.
fn at<'v>(value: &'v toml::Value, path: &str) -> Option<&'v toml::Value> {
    path.split('.').try_fold(value, |value, key| {
        let value = value.get(key)?;
        let entry = value.as_array().and_then(|list| list.first()).filter(|entry| entry.is_table());
        Some(entry.unwrap_or(value))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mapreduce::PhaseLaw;

    fn job(plan: Plan, values: Vec<FittedValue>) -> FittedJob {
        let notes = vec!["a note".to_owned()];
        FittedJob { log: "l".into(), id: "job_1".into(), plan, values, notes, job_s: 12.5, run_s: 11.0, level: 0.95 }
    }

    #[test]
    fn the_text_reads_back_as_the_plan() {
        let mut plan = Plan::default();
        plan.job.name = "word \"count\" # 1".into();
        plan.job.input_mb = 1.0 / 3.0;
        plan.job.gpu_block_mb = 0.1;
        plan.job.split_mb = 0.1;
        plan.cluster.node[0].count = 7;
        plan.cluster.node[0].network_mb_per_s = 90.25;
        plan.model.distribution.map = Some(PhaseLaw::Lognormal { cv: 0.25 });
        plan.cluster.node[0].gpus = Some(0);
        plan.profile.measured = vec!["maps".into()];
        plan.model.slots = false;
        let value = FittedValue {
            key: "cluster.node.network_mb_per_s",
            value: 90.25,
            interval: Some((88.123_456, 92.0)),
            from: "bytes over time".into(),
        };
        let text = job(plan.clone(), vec![value]).plan_text().unwrap();
        assert_eq!(Plan::from_toml(&text).unwrap(), plan);
        let line = |key: &str| text.lines().find(|line| line.starts_with(key)).unwrap().to_owned();
        assert!(line("network_mb_per_s").ends_with("# 88.12 to 92.00; bytes over time"), "{}", line("network"));
        assert!(line("disk_read_mb_per_s").ends_with("# HR; default"));
        assert!(line("slots = false").contains("see the notes"));
        assert!(text.starts_with("# l: the plan of job_1, fitted to its run of 11.000 s.\n# * a note\n"));
    }

    #[test]
    fn numbers_are_short() {
        assert_eq!([0.0, 12_345.6, 1.234_56, 0.001_234_56].map(short), ["0", "12346", "1.235", "0.001235"]);
    }
}
