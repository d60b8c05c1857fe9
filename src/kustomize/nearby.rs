//! Names near a misspelt one.

/// The nearest of the candidates, if one is near enough to be meant: at most a third of it differs.
pub(super) fn nearest<'c>(
    written: &str,
    candidates: impl IntoIterator<Item = &'c str>,
) -> Option<&'c str> {
    let limit = (written.chars().count() / 3).clamp(1, 3);
    candidates
        .into_iter()
        .filter(|candidate| candidate.len().abs_diff(written.len()) <= limit * 4)
        .map(|candidate| (distance(written, candidate, limit), candidate))
        .filter(|(distance, _)| *distance <= limit)
        .min()
        .map(|(_, candidate)| candidate)
}

/// How many characters must be put in, left out, changed or swapped with their neighbour;
/// letters in another case count as nothing. Anything above `limit` may be given as `limit + 1`.
fn distance(left: &str, right: &str, limit: usize) -> usize {
    let left: Vec<char> = left.to_lowercase().chars().collect();
    let right: Vec<char> = right.to_lowercase().chars().collect();
    if left.len().abs_diff(right.len()) > limit {
        return limit + 1;
    }
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=right.len()).collect();
    for (i, l) in left.iter().enumerate() {
        let mut row = vec![i + 1];
        for (j, r) in right.iter().enumerate() {
            let mut cost = (last[j] + usize::from(l != r))
                .min(last[j + 1] + 1)
                .min(row[j] + 1);
            if i > 0 && j > 0 && *l == right[j - 1] && left[i - 1] == *r {
                cost = cost.min(before[j - 1] + 1);
            }
            row.push(cost);
        }
        before = std::mem::replace(&mut last, row);
    }
    last[right.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_name_is_found_and_a_far_one_is_not() {
        let names = ["resources", "replicas", "patches"];
        assert_eq!(nearest("resource", names), Some("resources"));
        assert_eq!(nearest("pacthes", names), Some("patches"));
        assert_eq!(nearest("Patches", names), Some("patches"));
        assert_eq!(nearest("images", names), None);
    }
}
