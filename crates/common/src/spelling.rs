//! The most similar known word.

/// Returns the known word most similar to `word`, if at most a third of the letters, or one letter, differ.
pub fn nearest<'k>(word: &str, known: &[&'k str]) -> Option<&'k str> {
    let distance = |other: &&str| steps_between(word, other);
    let best = known.iter().min_by_key(|other| distance(other))?;
    let most = (word.chars().count().max(best.chars().count()) / 3).max(1);
    (distance(best) <= most).then_some(*best)
}

/// Returns the end of a message about an unknown word: ``; did you mean `...`?``, or nothing if no known word is similar.
pub fn did_you_mean(word: &str, known: &[&str]) -> String {
    nearest(word, known).map_or_else(String::new, |near| format!("; did you mean `{near}`?"))
}

/// Number of steps from one word to the other; a step adds, removes or changes a letter, or swaps two adjacent letters.
fn steps_between(a: &str, b: &str) -> usize {
    let [a, b] = [a, b].map(|word| word.chars().collect::<Vec<char>>());
    let mut before: Vec<usize> = Vec::new();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, from) in a.iter().enumerate() {
        let mut next = vec![i + 1];
        for (j, to) in b.iter().enumerate() {
            let change = row[j] + usize::from(from != to);
            let mut steps = change.min(row[j + 1] + 1).min(next[j] + 1);
            if i > 0 && j > 0 && *from == b[j - 1] && a[i - 1] == *to {
                steps = steps.min(before[j - 1] + 1);
            }
            next.push(steps);
        }
        before = std::mem::replace(&mut row, next);
    }
    row[b.len()]
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
        let steps = [("", ""), ("", "ab"), ("ab", "ba"), ("abc", "ca"), ("kitten", "sitting")];
        assert_eq!(steps.map(|(a, b)| steps_between(a, b)), [0, 2, 1, 3, 3]);
        assert_eq!(did_you_mean("parto", &laws), "; did you mean `pareto`?");
        assert_eq!(did_you_mean("normal", &laws), "");
    }
}
