//! Parsers of argument values: counts, durations, shares, names with expressions. Each error states the expected
//! form.

use std::num::NonZeroUsize;
use std::time::Duration;

use tailspn::cluster::{SlotShare, Sweep};
use tailspn::formats::pipe::{ReadOptions, Reading};
use tailspn::plan::{Copies, PlanOption};
use tailspn::share::Shard;
use tailspn::stages::SpeculativeCopies;
use tailspn_common::spelling::did_you_mean;

/// Parses a whole number: digits, optionally separated by `_`, or a number with an exponent, such as `1e6`. A comma separates values
/// of lists, so it never groups digits.
pub(crate) fn count(text: &str) -> Result<u64, String> {
    if text.contains(',') {
        return Err("expected one whole number; digits may be grouped by `_`, as in 10_000".to_owned());
    }
    let digits = text.replace('_', "");
    if let Ok(number) = digits.parse() {
        return Ok(number);
    }
    let number: f64 = digits.parse().map_err(|_| "expected a whole number, such as 10000 or 1e6".to_owned())?;
    if number >= 0.0 && number.fract() == 0.0 && number <= MOST_COUNT {
        Ok(number as u64)
    } else {
        Err("expected a whole number from 0 to 2^53".to_owned())
    }
}

/// Largest count that is accepted with an exponent; all smaller integers are exact as floats.
const MOST_COUNT: f64 = 9_007_199_254_740_992.0;

/// Parses a [`count`] of at least 1.
pub(crate) fn positive_count(text: &str) -> Result<u64, String> {
    count(text).and_then(|number| if number > 0 { Ok(number) } else { Err("must be at least 1".to_owned()) })
}

/// Parses a duration in seconds: numbers with `ms`, `s`, `m`, `h` or `d`, such as `1h30m`; a number alone is in seconds. `None` for other text.
fn duration(text: &str) -> Option<f64> {
    let letter = |c: char| c.is_ascii_alphabetic();
    let (mut rest, mut total, mut is_first) = (text.trim(), 0.0, true);
    loop {
        // a part ends where letters end: 1h30m, 14 min 4 s
        let end =
            rest.find(letter).map_or(rest.len(), |at| at + rest[at..].find(|c| !letter(c)).unwrap_or(rest.len() - at));
        let (part, after) = rest.split_at(end);
        let digits = part.trim_end_matches(letter);
        let factor = match &part[digits.len()..] {
            "ms" => 1e-3,
            // only a number alone has no unit
            "" if !is_first => return None,
            "" | "s" => 1.0,
            "m" | "min" => 60.0,
            "h" => 3600.0,
            "d" => 86_400.0,
            _ => return None,
        };
        let seconds = digits.trim().parse::<f64>().ok()? * factor;
        let after = after.trim();
        // only a number alone may be negative
        if seconds < 0.0 && !(is_first && after.is_empty()) {
            return None;
        }
        total += seconds;
        if after.is_empty() {
            return Some(total);
        }
        (rest, is_first) = (after, false);
    }
}

/// Refuses a time without a unit.
fn needs_unit(text: &str) -> Result<(), String> {
    match text.trim().parse::<f64>() {
        Ok(number) if number > 0.0 => Err(format!("a time needs a unit, such as {number}s or {number}m")),
        _ => Ok(()),
    }
}

/// Parses a wall time: a duration above 0.
pub(crate) fn wall_time(text: &str) -> Result<Duration, String> {
    needs_unit(text)?;
    let wall = duration(text).and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    let expected = || "expected a duration, such as 500ms, 30s, 5m or 1h".to_owned();
    wall.filter(|wall| !wall.is_zero()).ok_or_else(expected)
}

/// Parses a deadline: a duration above 0, in seconds.
pub(crate) fn deadline(text: &str) -> Result<f64, String> {
    needs_unit(text)?;
    let positive = duration(text).filter(|seconds| seconds.is_finite() && *seconds > 0.0);
    positive.ok_or_else(|| "expected a time above 0, such as 85s or 5m".to_owned())
}

/// A deadline of a job.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Deadline {
    /// Time from the start of the job \[s\].
    After(f64),
    /// Time of a day in UTC \[s\].
    At(f64),
}

impl Deadline {
    /// Returns the deadline as an option of a plan.
    pub(crate) fn option(self) -> PlanOption {
        match self {
            Self::After(seconds) => PlanOption::Deadline(seconds),
            Self::At(seconds) => PlanOption::DeadlineAt(seconds),
        }
    }

    /// Returns the deadline from the start of a job that started `start_s` seconds after 1970.
    pub(crate) fn after(self, start_s: f64) -> f64 {
        const DAY: f64 = 86_400.0;
        match self {
            Self::After(seconds) => seconds,
            Self::At(seconds) => (seconds - start_s).rem_euclid(DAY),
        }
    }
}

/// Parses a deadline: a duration, or a time of a day in UTC such as `06:00` or `06:00:30`.
pub(crate) fn deadline_or_clock(text: &str) -> Result<Deadline, String> {
    if !text.contains(':') {
        return deadline(text).map(Deadline::After);
    }
    let expected = || "expected a time of the day in UTC, such as 06:00 or 18:30:15".to_owned();
    let two_digits = |part: &str| part.parse::<u32>().ok().filter(|_| part.len() == 2).ok_or_else(expected);
    let parts = text.trim().split(':').map(two_digits).collect::<Result<Vec<_>, _>>()?;
    match parts[..] {
        [hour, minute] if hour < 24 && minute < 60 => Ok(Deadline::At(f64::from(3600 * hour + 60 * minute))),
        [hour, minute, second] if hour < 24 && minute < 60 && second < 60 => {
            Ok(Deadline::At(f64::from(3600 * hour + 60 * minute + second)))
        }
        _ => Err(expected()),
    }
}

/// Parses settings of Spark's speculation; missing settings have the defaults of Spark 4.
pub(crate) fn spark_speculation(text: &str) -> Result<Copies, String> {
    match text {
        "none" => return Ok(Copies::Off),
        "spark4" => return Ok(Copies::Spark(SpeculativeCopies::default())),
        "spark3" => return Ok(Copies::Spark(SpeculativeCopies::BEFORE_SPARK_4)),
        _ => {}
    }
    let (mut multiplier, mut quantile) = (None, None);
    for setting in text.split(',') {
        let expected = || "expected none, spark3, spark4, or settings such as multiplier=1.5,quantile=0.75".to_owned();
        let near = |word: &str| did_you_mean(word, &["none", "spark3", "spark4", "multiplier", "quantile"]);
        let (key, value) = setting.split_once('=').ok_or_else(|| expected() + &near(setting.trim()))?;
        let number = value.trim().parse::<f64>().map_err(|_| expected())?;
        match key.trim() {
            "multiplier" if number > 0.0 && number.is_finite() => multiplier = Some(number),
            "multiplier" => return Err("the multiplier must be above 0".to_owned()),
            "quantile" if (0.0..=1.0).contains(&number) => quantile = Some(number),
            "quantile" => return Err("the quantile must be between 0 and 1".to_owned()),
            key => return Err(expected() + &near(key)),
        }
    }
    Ok(Copies::Spark(SpeculativeCopies::of(multiplier, quantile)))
}

/// Parses a [`wall_time`], or 0.
pub(crate) fn wall_time_or_none(text: &str) -> Result<Duration, String> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    if digits.trim().parse() == Ok(0.0) { Ok(Duration::ZERO) } else { wall_time(text) }
}

/// Parses an excess over a typical value, as a share above 0 and at most 100, or in percent: `0.5` or `50%`.
pub(crate) fn excess(text: &str) -> Result<f64, String> {
    let expected = || "expected a share above 0, such as 50% or 0.5".to_owned();
    let (number, factor) = text.strip_suffix('%').map_or((text, 1.0), |number| (number, 0.01));
    let share = number.trim().parse::<f64>().map_err(|_| expected())? * factor;
    if share > 0.0 && share <= 100.0 { Ok(share) } else { Err(expected()) }
}

/// Parses a number of bytes; `K`, `M`, `G` and `T` are powers of 1024.
pub(crate) fn bytes(text: &str) -> Result<u64, String> {
    let expected = || "expected a number of bytes, such as 500M or 8G".to_owned();
    let plain = text.trim_end_matches(['B', 'b', 'i']);
    let digits = plain.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let power = match plain[digits.len()..].to_ascii_uppercase().as_str() {
        "" => 0,
        "K" => 1,
        "M" => 2,
        "G" => 3,
        "T" => 4,
        _ => return Err(expected()),
    };
    let number = digits.trim().parse::<f64>().map_err(|_| expected())?;
    let bytes = number * 1024_f64.powi(power);
    if (1.0..MOST_COUNT).contains(&bytes) { Ok(bytes as u64) } else { Err(expected()) }
}

/// Parses a share above 0 and below 1, or in percent: `0.005` or `0.5%`.
pub(crate) fn share(text: &str) -> Result<f64, String> {
    let expected = || "expected a share between 0 and 1, such as 0.5% or 0.005".to_owned();
    let (number, factor) = text.strip_suffix('%').map_or((text, 1.0), |number| (number, 0.01));
    let number = number.trim();
    let share = number.parse::<f64>().map_err(|_| expected())? * factor;
    match share {
        _ if share > 0.0 && share < 1.0 => Ok(share),
        _ if share > 1.0 && share < 100.0 && !text.ends_with('%') => {
            Err(format!("{}; did you mean {number}%?", expected()))
        }
        _ => Err(expected()),
    }
}

/// Parses `NAME=SHARE`, or `SHARE` for the mean time.
pub(crate) fn relative(text: &str) -> Result<(String, f64), String> {
    let (name, value) = text.rsplit_once('=').unwrap_or(("time", text));
    Ok((name.trim().to_owned(), share(value)?))
}

/// Parses `NAME=WIDTH`.
pub(crate) fn absolute(text: &str) -> Result<(String, f64), String> {
    let (name, value) = text.rsplit_once('=').ok_or("expected NAME=WIDTH, such as time=0.5 or queue=0.01")?;
    let width = value.trim().parse::<f64>().ok().filter(|width| *width > 0.0 && width.is_finite());
    Ok((name.trim().to_owned(), width.ok_or("the half width must be a number above 0")?))
}

/// Parses a number of threads.
pub(crate) fn threads(text: &str) -> Result<NonZeroUsize, String> {
    let expected = || "expected a whole number of at least 1; without the option, all cores are used".to_owned();
    text.trim().parse().map_err(|_| expected())
}

/// Parses a finite number above 0.
pub(crate) fn positive(text: &str) -> Result<f64, String> {
    match text.trim().parse::<f64>() {
        Ok(number) if number.is_finite() && number > 0.0 => Ok(number),
        _ => Err("expected a number above 0".to_owned()),
    }
}

/// Parses a model time in seconds, finite and not negative, optionally with the unit `s`.
pub(crate) fn seconds(text: &str) -> Result<f64, String> {
    let number = text.strip_suffix('s').unwrap_or(text).trim();
    match number.parse::<f64>() {
        Ok(seconds) if seconds.is_finite() && seconds >= 0.0 => Ok(seconds),
        _ => Err("expected a number of seconds, at least 0".to_owned()),
    }
}

/// Times between which a goal counts: `T2`, `T1..T2` or `T1..`.
pub(crate) fn time_span(text: &str) -> Result<[f64; 2], String> {
    let (from, to) = text.split_once("..").unwrap_or(("0", text));
    let to = if to.trim().is_empty() { f64::INFINITY } else { seconds(to.trim())? };
    let from = seconds(from.trim())?;
    if from > to {
        return Err("the first time is after the second time".to_owned());
    }
    Ok([from, to])
}

/// Parses `NAME=VALUE`.
pub(crate) fn assignment(text: &str) -> Result<(String, f64), String> {
    let expected = || "expected NAME=NUMBER".to_owned();
    let (name, value) = text.split_once('=').ok_or_else(expected)?;
    let value = value.trim().parse::<f64>().map_err(|_| expected())?;
    Ok((name.trim().to_owned(), value))
}

/// Parses `NAME=TEXT`.
pub(crate) fn named(text: &str) -> Result<(String, String), String> {
    let (name, rest) = text.split_once('=').ok_or("expected NAME=...")?;
    if name.trim().is_empty() || rest.trim().is_empty() {
        return Err("neither the name nor the text after `=` may be empty".to_owned());
    }
    Ok((name.trim().to_owned(), rest.trim().to_owned()))
}

/// Parses `TIME:EXPRESSION`.
pub(crate) fn timed(text: &str) -> Result<(f64, String), String> {
    let (time, expression) = text.split_once(':').ok_or("expected TIME:EXPRESSION")?;
    Ok((seconds(time)?, expression.trim().to_owned()))
}

/// Accesses the setting for one question on which PIPE versions disagree.
pub(crate) type ReadQuestion = fn(&mut ReadOptions) -> &mut Reading;

/// All questions on which PIPE versions disagree.
const READ_QUESTIONS: [(&str, ReadQuestion); 9] = [
    ("missing_priority", |options| &mut options.missing_priority),
    ("missing_inscription", |options| &mut options.missing_inscription),
    ("odd_boolean", |options| &mut options.odd_boolean),
    ("id_case", |options| &mut options.id_case),
    ("undeclared_class", |options| &mut options.undeclared_class),
    ("plain_number", |options| &mut options.plain_number),
    ("several_nets", |options| &mut options.several_nets),
    ("output_inhibitor", |options| &mut options.output_inhibitor),
    ("instructions", |options| &mut options.instructions),
];

/// Parses `READER` or `NAME=READER`.
pub(crate) fn read_as(text: &str) -> Result<ReadAs, String> {
    let (name, reader) = text.split_once('=').map_or((None, text), |(name, reader)| (Some(name.trim()), reader));
    let reading = match reader.trim() {
        "sensible" => Reading::Sensible,
        "pipe4" => Reading::Pipe43,
        "pipe5" => Reading::Pipe5,
        word => {
            let near = did_you_mean(word, &["sensible", "pipe4", "pipe5"]);
            return Err(format!("unknown reader `{word}`; use `sensible`, `pipe4` or `pipe5`{near}"));
        }
    };
    let known = |name: &str| READ_QUESTIONS.iter().find(|(own, _)| *own == name).map(|(_, question)| *question);
    let question = match name {
        None => None,
        Some(name) => Some(known(name).ok_or_else(|| {
            let names = READ_QUESTIONS.map(|(name, _)| name);
            format!("unknown question `{name}`; the questions are {}{}", names.join(", "), did_you_mean(name, &names))
        })?),
    };
    Ok(ReadAs { question, reading })
}

/// Parses `AXIS=V1,V2,...` of a sweep.
pub(crate) fn axis(text: &str) -> Result<SweepAxis, String> {
    let expected = || "expected lag=, reservation= or threshold= with values separated by commas".to_owned();
    let (name, list) = text.split_once('=').ok_or_else(expected)?;
    let number = |value: &str| value.trim().parse::<f64>().map_err(|_| expected());
    match name.trim() {
        "lag" => list.split(',').map(seconds).collect::<Result<_, _>>().map(SweepAxis::Lag),
        "reservation" => list.split(',').map(slot_share).collect::<Result<_, _>>().map(SweepAxis::Reservation),
        "threshold" => list.split(',').map(number).collect::<Result<_, _>>().map(SweepAxis::Threshold),
        name => Err(expected() + &did_you_mean(name, &["lag", "reservation", "threshold"])),
    }
}

fn slot_share(text: &str) -> Result<SlotShare, String> {
    if text.trim() == "shared" {
        return Ok(SlotShare::Shared);
    }
    let share = text.trim().parse::<f64>().ok().filter(|share| (0.0..=1.0).contains(share));
    share.map(SlotShare::Tasks).ok_or_else(|| "expected a share of slots for tasks, 0 to 1, or `shared`".to_owned())
}

/// Parses nine phase means in seconds.
pub(crate) fn nine_means(text: &str) -> Result<[f64; 9], String> {
    let numbers: Result<Vec<f64>, String> = text.split(',').map(seconds).collect();
    let numbers = numbers?;
    let got = numbers.len();
    numbers.try_into().map_err(|_| format!("expected the means of nine phases, not {got}"))
}

/// Returns true if `name` matches `pattern`, in which `*` matches any text and `?` any character.
pub(crate) fn fits(pattern: &str, name: &str) -> bool {
    let (pattern, name): (Vec<char>, Vec<char>) = (pattern.chars().collect(), name.chars().collect());
    // position of the last star, and the end of its match
    let (mut p, mut n, mut star) = (0, 0, None);
    while n < name.len() {
        match pattern.get(p) {
            Some('*') => {
                star = Some((p, n));
                p += 1;
            }
            Some(&c) if c == '?' || c == name[n] => {
                p += 1;
                n += 1;
            }
            _ => match star {
                Some((at, until)) => {
                    star = Some((at, until + 1));
                    p = at + 1;
                    n = until + 1;
                }
                None => return false,
            },
        }
    }
    pattern[p..].iter().all(|&c| c == '*')
}

/// A value of `--read-as`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ReadAs {
    /// The only question that this choice applies to; `None` for all.
    pub(crate) question: Option<ReadQuestion>,
    pub(crate) reading: Reading,
}

/// One axis of a sweep.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum SweepAxis {
    /// Lags in seconds.
    Lag(Vec<f64>),
    /// Shares of slots for tasks.
    Reservation(Vec<SlotShare>),
    /// Values of each detector's threshold.
    Threshold(Vec<f64>),
}

impl SweepAxis {
    /// Returns the values of all axes.
    pub(crate) fn all(axes: &[Self]) -> Sweep {
        let mut sweep = Sweep::default();
        for axis in axes {
            match axis {
                Self::Lag(lags) => sweep.lags_s.extend(lags),
                Self::Reservation(slots) => sweep.slots.extend(slots),
                Self::Threshold(thresholds) => sweep.thresholds.extend(thresholds),
            }
        }
        sweep
    }
}

/// Parses a shard, such as `2/8`.
pub(crate) fn shard(text: &str) -> Result<Shard, String> {
    let expected = || "expected a shard and the number of shards, such as 2/8".to_owned();
    let (index, of) = text.split_once('/').ok_or_else(expected)?;
    let [index, of] = [index, of].map(str::parse::<u64>);
    match (index, of) {
        (Ok(index), Ok(of)) if (1..=of).contains(&index) => Ok(Shard { index, of }),
        _ => Err(expected()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_may_be_written_for_people() {
        assert_eq!(count("10_000"), Ok(10_000));
        assert_eq!(count("1e6"), Ok(1_000_000));
        assert_eq!(count("18446744073709551615"), Ok(u64::MAX));
        assert!(count("1.5").is_err() && count("-1").is_err() && count("many").is_err());
        assert!(positive_count("0").is_err());
        // one number, not 816
        assert!(count("8,16").unwrap_err().contains("10_000"));
    }

    #[test]
    fn durations_have_units() {
        assert_eq!(wall_time("500ms"), Ok(Duration::from_millis(500)));
        assert_eq!(wall_time("5m"), Ok(Duration::from_secs(300)));
        assert_eq!(wall_time("1.5").unwrap_err(), "a time needs a unit, such as 1.5s or 1.5m");
        assert!(wall_time("0s").is_err() && wall_time("-1s").is_err() && wall_time("5 days").is_err());
        assert!(wall_time("1e300h").is_err());
        assert_eq!(deadline("1h30m"), Ok(5400.0));
        // as many parts as the system lets a word have
        assert_eq!(deadline(&"1s".repeat(60_000)), Ok(60_000.0));
        assert!(deadline("1h30").is_err() && deadline("1h-5m").is_err() && deadline("-1h5m").is_err());
        assert_eq!(deadline("14 min 4 s"), Ok(844.0));
        assert_eq!(deadline("1d"), Ok(86_400.0));
        assert!(["1h-30m", "1h30", "h", "1h x", "5 10s"].iter().all(|text| deadline(text).is_err()));
    }

    #[test]
    fn a_deadline_may_be_a_time_of_the_day() {
        assert_eq!(deadline_or_clock("90m"), Ok(Deadline::After(5400.0)));
        assert_eq!(deadline_or_clock("06:00"), Ok(Deadline::At(21_600.0)));
        assert_eq!(deadline_or_clock("23:59:59"), Ok(Deadline::At(86_399.0)));
        let wrong = ["24:00", "6:00", "06:60", "06:00:60", "06:", ":", "-1:00", "06:00:00:00", "ab:cd"];
        assert!(wrong.iter().all(|text| deadline_or_clock(text).is_err()));
        // 2026-11-22 05:48:34 UTC: 06:00 is 686 s later, 05:00 is on the next day
        let start_s = 1_795_326_514.0;
        let all = [Deadline::At(21_600.0), Deadline::At(18_000.0), Deadline::After(7.0)];
        let after = all.map(|deadline| deadline.after(start_s).to_string());
        assert_eq!(after, ["686", "83486", "7"]);
    }

    #[test]
    fn bytes_have_units() {
        assert_eq!((bytes("8G"), bytes("1.5k"), bytes("10MiB")), (Ok(8 << 30), Ok(1536), Ok(10 << 20)));
        assert!(bytes("0").is_err() && bytes("-1G").is_err() && bytes("8X").is_err() && bytes("").is_err());
    }

    #[test]
    fn shares_may_be_percent() {
        assert_eq!(share("0.5%"), Ok(0.005));
        assert_eq!(share("0.95"), Ok(0.95));
        assert!(share("0").is_err() && share("100%").is_err() && share("NaN").is_err());
    }

    #[test]
    fn axes_of_a_sweep_are_parsed_with_their_values() {
        assert_eq!(axis("lag=20,60s"), Ok(SweepAxis::Lag(vec![20.0, 60.0])));
        let shares = vec![SlotShare::Tasks(0.9), SlotShare::Shared];
        assert_eq!(axis("reservation=0.9,shared"), Ok(SweepAxis::Reservation(shares)));
        assert_eq!(axis("threshold=0.1"), Ok(SweepAxis::Threshold(vec![0.1])));
        assert!(
            axis("lag").is_err() && axis("lag=").is_err() && axis("reservation=2").is_err() && axis("x=1").is_err()
        );
    }

    #[test]
    fn patterns_fit_names() {
        assert!(fits("map*", "map12") && fits("*", "") && fits("m?p", "map") && fits("a*b*c", "aXbYbZc"));
        assert!(!fits("map", "map1") && !fits("m?p", "mp") && !fits("a*b", "abc"));
    }
    #[test]
    fn misspelt_words_get_the_word_that_was_meant() {
        assert!(read_as("sensble").unwrap_err().ends_with("; did you mean `sensible`?"));
        assert!(read_as("id_cse=pipe4").unwrap_err().ends_with("; did you mean `id_case`?"));
        assert!(axis("reservaton=shared").unwrap_err().ends_with("; did you mean `reservation`?"));
        assert!(spark_speculation("spark2").unwrap_err().contains("; did you mean `spark"));
        assert!(spark_speculation("quantle=0.5").unwrap_err().ends_with("; did you mean `quantile`?"));
    }
}
