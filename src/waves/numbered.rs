//! Numbered directories: `wave-0`, `tier-0-foundation`, `10-core`.

/// A directory name that holds a number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Numbered<'a> {
    /// What stands before the number, separator included: `wave-`; empty for `10-core`.
    pub stem: &'a str,
    /// The number.
    pub number: u64,
    /// What stands behind it: `-foundation`; often empty.
    pub rest: &'a str,
}

/// Words that say of numbered siblings that they are waves.
const WAVE_WORDS: [&str; 5] = ["wave", "tier", "layer", "stage", "phase"];

impl<'a> Numbered<'a> {
    /// Splits a name at its first number; `None` if it has none, or if the number is part of a word (`k8s`).
    pub fn parse(name: &'a str) -> Option<Self> {
        let start = name.find(|c: char| c.is_ascii_digit())?;
        let length = name[start..]
            .find(|c: char| !c.is_ascii_digit())
            .unwrap_or(name.len() - start);
        let (stem, rest) = (&name[..start], &name[start + length..]);
        if !rest.is_empty() && !rest.starts_with(['-', '_', '.']) {
            return None;
        }
        Some(Self {
            stem,
            number: name[start..start + length].parse().ok()?,
            rest,
        })
    }

    /// True if the stem itself says that these are waves.
    pub fn says_wave(&self) -> bool {
        let word = self.stem.trim_end_matches(['-', '_', '.']);
        let word = word.rsplit(['-', '_', '.']).next().unwrap_or_default();
        says_wave(word)
    }
}

/// True for `wave` and its synonyms, in any case and number.
pub fn says_wave(word: &str) -> bool {
    let word = word.to_ascii_lowercase();
    WAVE_WORDS
        .iter()
        .any(|known| word == *known || word.strip_suffix('s') == Some(known))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_split_at_their_first_number() {
        let cases = [
            ("wave-0", Some(("wave-", 0, ""))),
            ("tier-0-foundation", Some(("tier-", 0, "-foundation"))),
            ("10-core", Some(("", 10, "-core"))),
            ("layer1", Some(("layer", 1, ""))),
            ("k8s", None),
            ("apps", None),
            ("99999999999999999999999", None),
        ];
        for (name, expected) in cases {
            let found = Numbered::parse(name).map(|n| (n.stem, n.number, n.rest));
            assert_eq!(found, expected, "{name}");
        }
        assert!(Numbered::parse("app-tier-1").unwrap().says_wave());
        assert!(!Numbered::parse("minecraft-1").unwrap().says_wave());
    }
}
