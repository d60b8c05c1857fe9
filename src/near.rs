//! The name that was probably meant: Damerau-Levenshtein distance, limited. Numbers are no slips:
//! `wave-3` is not a misspelt `wave-0`, but its sibling.

/// Longer names than this are never compared: nobody mistypes them, and the cost is quadratic.
const MAX_CHARACTERS: usize = 100;

/// The candidate nearest to `name`, if one is near enough to be a slip of the keyboard: at most
/// one edit for each three characters, case not counted. Of equally near ones the first. Never one
/// that is numbered otherwise: other digits and the same rest, or other digits in both.
pub fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    nearest_within(usize::MAX, name, candidates)
}

/// As [`nearest`], with no more than `most` edits: where a name that is only alike may well be another's.
pub fn nearest_within<'a>(
    most: usize,
    name: &str,
    candidates: impl IntoIterator<Item = &'a str>,
) -> Option<&'a str> {
    let name = characters(name)?;
    let mut best: Option<(usize, &str)> = None;
    for candidate in candidates {
        let Some(other) = characters(candidate) else {
            continue;
        };
        let limit = (name.len().max(other.len()) / 3).max(1).min(most);
        if name.len().abs_diff(other.len()) > limit {
            continue;
        }
        if numbered_otherwise(&name, &other) {
            continue;
        }
        let distance = distance(&name, &other);
        if distance <= limit && best.is_none_or(|(least, _)| distance < least) {
            best = Some((distance, candidate));
        }
    }
    best.map(|(_, candidate)| candidate)
}

/// The text behind a message: `, did you mean …?` with the nearest candidate, or nothing.
pub fn suggestion<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> String {
    nearest(name, candidates)
        .map(|candidate| format!(", did you mean `{candidate}`?"))
        .unwrap_or_default()
}

fn characters(name: &str) -> Option<Vec<char>> {
    let characters: Vec<char> = name
        .chars()
        .take(MAX_CHARACTERS + 1)
        .flat_map(char::to_lowercase)
        .collect();
    (!characters.is_empty() && characters.len() <= MAX_CHARACTERS).then_some(characters)
}

/// True if the digits of two names differ, and the rest is the same or both have digits.
fn numbered_otherwise(left: &[char], right: &[char]) -> bool {
    let of = |name: &[char], digits: bool| -> Vec<char> {
        name.iter()
            .copied()
            .filter(|character| character.is_numeric() == digits)
            .collect()
    };
    let (left_digits, right_digits) = (of(left, true), of(right, true));
    left_digits != right_digits
        && (of(left, false) == of(right, false)
            || !left_digits.is_empty() && !right_digits.is_empty())
}

/// Edits (insert, delete, replace, swap two neighbours) that turn one into the other.
fn distance(left: &[char], right: &[char]) -> usize {
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=right.len()).collect();
    for (row, l) in left.iter().enumerate() {
        let mut current = Vec::with_capacity(right.len() + 1);
        current.push(row + 1);
        for (column, r) in right.iter().enumerate() {
            let replaced = last[column] + usize::from(l != r);
            let mut least = replaced.min(last[column + 1] + 1).min(current[column] + 1);
            if row > 0 && column > 0 && *l == right[column - 1] && left[row - 1] == *r {
                least = least.min(before[column - 1] + 1);
            }
            current.push(least);
        }
        before = std::mem::replace(&mut last, current);
    }
    last[right.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_is_found_and_a_different_word_is_not() {
        let rules = ["wrong-wave", "unknown-app", "missing-depends-on"];
        assert_eq!(nearest("wrong-wvae", rules), Some("wrong-wave"));
        assert_eq!(nearest("Wrong-Wave", rules), Some("wrong-wave"));
        assert_eq!(
            nearest("mising-depend-on", rules),
            Some("missing-depends-on")
        );
        assert_eq!(nearest("blast-radius", rules), None);
        assert_eq!(nearest("", rules), None);
        assert_eq!(nearest("ab", ["xy", "ba"]), Some("ba"));
        assert_eq!(nearest(&"a".repeat(1_000_000), ["a"]), None);
    }

    #[test]
    fn the_nearest_wins_and_of_equals_the_first() {
        assert_eq!(nearest("waves", ["wave", "waves"]), Some("waves"));
        assert_eq!(nearest("sonar", ["sonarr", "sonars"]), Some("sonarr"));
    }

    #[test]
    fn a_name_with_another_number_is_a_sibling_and_no_slip() {
        let waves = ["apps-wave-0", "apps-wave-1", "apps-wave-12"];
        assert_eq!(nearest("apps-wave-3", waves), None);
        assert_eq!(nearest("apps-wave-", waves), None);
        assert_eq!(nearest("app-wave-2", waves), None);
        assert_eq!(nearest("app-wave-1", waves), Some("apps-wave-1"));
        assert_eq!(nearest("apps-wave1", waves), Some("apps-wave-1"));
        assert_eq!(nearest("Apps-Wave-0", waves), Some("apps-wave-0"));
        assert_eq!(nearest("web", ["web2"]), None);
        assert_eq!(
            nearest("apps-wave-3", ["apps-wave-three"]),
            Some("apps-wave-three")
        );
    }

    #[test]
    fn the_edits_can_be_limited() {
        let names = ["cluster-secrets"];
        assert_eq!(nearest("cluster-settings", names), Some("cluster-secrets"));
        assert_eq!(nearest_within(2, "cluster-settings", names), None);
        assert_eq!(
            nearest_within(2, "cluster-secret", names),
            Some("cluster-secrets")
        );
    }

    #[test]
    fn the_names_of_fields_are_found() {
        let names = ["resources", "replicas", "patches"];
        assert_eq!(nearest("resource", names), Some("resources"));
        assert_eq!(nearest("pacthes", names), Some("patches"));
        assert_eq!(nearest("Patches", names), Some("patches"));
        assert_eq!(nearest("images", names), None);
    }

    #[test]
    fn a_swap_of_neighbours_is_one_edit() {
        let characters = |text: &str| text.chars().collect::<Vec<_>>();
        assert_eq!(distance(&characters("ab"), &characters("ba")), 1);
        assert_eq!(distance(&characters("abc"), &characters("")), 3);
        assert_eq!(distance(&characters("kitten"), &characters("sitting")), 3);
    }
}
