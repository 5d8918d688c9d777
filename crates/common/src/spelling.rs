//! The most similar known word.

use strsim::osa_distance;

/// Returns the known word most similar to `word`, if at most a third of the letters, or one letter, differ. Two adjacent letters that
/// are swapped count as one.
pub fn nearest<'k>(word: &str, known: &[&'k str]) -> Option<&'k str> {
    let distance = |other: &&str| osa_distance(word, other);
    let best = known.iter().min_by_key(|other| distance(other))?;
    let most = (word.chars().count().max(best.chars().count()) / 3).max(1);
    (distance(best) <= most).then_some(*best)
}

/// Returns the end of a message about an unknown word: ``; did you mean `...`?``, or nothing if no known word is similar.
pub fn did_you_mean(word: &str, known: &[&str]) -> String {
    nearest(word, known).map_or_else(String::new, |near| format!("; did you mean `{near}`?"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_with_few_wrong_letters_are_recognised() {
        let laws = ["exponential", "erlang", "pareto"];
        assert_eq!(nearest("expnential", &laws), Some("exponential"));
        assert_eq!(nearest("erlnag", &laws), Some("erlang"));
        assert_eq!(nearest("normal", &laws), None);
        assert_eq!(nearest("x", &[]), None);
        assert_eq!(nearest("drwan", &["mean", "drawn"]), Some("drawn"));
        assert_eq!(did_you_mean("parto", &laws), "; did you mean `pareto`?");
        assert_eq!(did_you_mean("normal", &laws), "");
    }
}
