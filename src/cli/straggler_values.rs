//! Parses the values of `--stragglers` and `--speculation`: short forms of the sections of a plan, and Spark's
//! settings.

use tailspn::mapreduce::{CopySlots, Factors, Speculation, Stragglers};
use tailspn::plan::Copies;
use tailspn_common::spelling::did_you_mean;

use crate::cli::values::spark_speculation;

/// Parses `SHARE:FACTOR`, or `SHARE:FACTOR@P,FACTOR@P,...` with a probability for each factor.
pub(crate) fn stragglers(text: &str) -> Result<Stragglers, String> {
    let expected = || "expected SHARE:FACTOR, such as 0.1:3, or 0.1:2@0.7,5@0.3".to_owned();
    let number = |text: &str| text.trim().parse::<f64>().map_err(|_| expected());
    let (share, factors) = text.split_once(':').ok_or_else(expected)?;
    let several = |text: &str| {
        let (factor, probability) = text.split_once('@').ok_or_else(expected)?;
        Ok::<_, String>([number(probability)?, number(factor)?])
    };
    let factor = if factors.contains('@') {
        Factors::Several(factors.split(',').map(several).collect::<Result<_, _>>()?)
    } else {
        Factors::One(number(factors)?)
    };
    Ok(Stragglers { share: number(share)?, factor, ..Stragglers::default() })
}

/// Keys of a detector.
const DETECTOR: [&str; 8] = ["r", "p", "dl", "ut", "fake", "alarm", "slow", "slots"];

/// Parses Spark's settings, or the settings of a detector.
pub(crate) fn copies(text: &str) -> Result<Copies, String> {
    let key = text.split_once('=').map_or("", |(key, _)| key.trim());
    if DETECTOR.contains(&key) { speculation(text).map(Copies::Detector) } else { spark_speculation(text) }
}

/// Parses `KEY=VALUE,...` of a detector; missing keys keep their defaults.
pub(crate) fn speculation(text: &str) -> Result<Speculation, String> {
    let mut made = Speculation::default();
    for setting in text.split(',') {
        let (key, value) = setting.split_once('=').ok_or_else(|| format!("expected KEY=VALUE, not `{setting}`"))?;
        let (key, value) = (key.trim(), value.trim());
        if key == "slots" {
            made.slots = slots(value)?;
            continue;
        }
        let number = value.parse::<f64>().map_err(|_| format!("{key}: `{value}` is not a number"))?;
        match key {
            "r" => made.recall = number,
            "p" => made.precision = number,
            "dl" => made.latency = number,
            "ut" => made.undetected = Some(number),
            "fake" => made.fake = number,
            "alarm" => made.false_alarm_at = number,
            "slow" => made.slow_copies = Some(number),
            _ => {
                let near = did_you_mean(key, &DETECTOR);
                return Err(format!(
                    "unknown key `{key}`; the keys are r, p, dl, ut, fake, alarm, slow and slots{near}"
                ));
            }
        }
    }
    Ok(made)
}

/// Parses `idle`, `shared` or `reserved:N`.
pub(crate) fn slots(text: &str) -> Result<CopySlots, String> {
    let expected = || "slots: expected idle, shared or reserved:N".to_owned();
    let near = |word: &str| expected() + &did_you_mean(word, &["idle", "shared", "reserved"]);
    match text.split_once(':') {
        None if text == "idle" => Ok(CopySlots::Idle),
        None if text == "shared" => Ok(CopySlots::Shared),
        Some(("reserved", count)) => count.trim().parse().map(CopySlots::Reserved).map_err(|_| expected()),
        Some((word, _)) => Err(near(word)),
        None => Err(near(text)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stragglers_have_a_share_and_factors() {
        let made = stragglers("0.1:3").unwrap();
        assert_eq!((made.share, made.factor), (0.1, Factors::One(3.0)));
        let made = stragglers("0.2:2@0.7,5@0.3").unwrap();
        assert_eq!(made.factor, Factors::Several(vec![[0.7, 2.0], [0.3, 5.0]]));
        assert!(["", "0.1", "x:3", "0.1:2@", "0.1:2@0.5,3"].iter().all(|text| stragglers(text).is_err()));
    }

    #[test]
    fn the_first_key_says_whose_copies_are_meant() {
        let detector = Speculation { recall: 0.5, precision: 0.9, ..Speculation::default() };
        assert_eq!(copies("r=0.5,p=0.9"), Ok(Copies::Detector(detector)));
        assert_eq!(copies("none"), Ok(Copies::Off));
        assert!(matches!(copies("quantile=0.5"), Ok(Copies::Spark(_))));
        assert!(copies("x=1").is_err());
    }

    #[test]
    fn a_detector_is_keys_and_values() {
        let made = speculation("r=0.5,p=0.9,dl=0.2,slots=reserved:4").unwrap();
        assert_eq!((made.recall, made.precision, made.latency), (0.5, 0.9, 0.2));
        assert_eq!((made.slots, made.undetected), (CopySlots::Reserved(4), None));
        assert_eq!(speculation("slots=shared").unwrap().slots, CopySlots::Shared);
        for (text, part) in
            [("r", "KEY=VALUE"), ("q=1", "unknown key `q`"), ("r=x", "not a number"), ("slots=all", "idle, shared")]
        {
            assert!(speculation(text).unwrap_err().contains(part), "{text}");
        }
    }
}
