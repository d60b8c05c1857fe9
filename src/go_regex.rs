//! Regular expressions as Go reads them (RE2 syntax), which Flux, kustomize and SOPS match with.
//!
//! The two dialects are nearly one. What differs is rewritten: a `{` that begins no repetition
//! is a brace for Go; `\d`, `\s`, `\w` and `\b` are ASCII; `\Q…\E` quotes; inside a class `[`,
//! `&&`, `--` and `~~` stand for themselves.

use regex::Regex;

/// Compiles a Go regular expression.
///
/// # Errors
/// What is wrong with it, in a few words.
pub fn compile(pattern: &str) -> Result<Regex, String> {
    Regex::new(&translate(pattern)).map_err(|error| match error {
        regex::Error::Syntax(text) => text.lines().last().map_or_else(
            || "no regular expression".to_owned(),
            |line| line.trim().trim_start_matches("error: ").to_owned(),
        ),
        other => other.to_string(),
    })
}

/// Compiles a Go regular expression that must match the whole text: `^(?:…)$`.
///
/// # Errors
/// As [`compile`].
pub fn compile_anchored(pattern: &str) -> Result<Regex, String> {
    compile(&format!("^(?:{pattern})$"))
}

/// True if the text, as a regular expression, can match nothing but itself.
pub fn is_literal(text: &str) -> bool {
    !text.contains([
        '*', '+', '?', '(', ')', '[', ']', '{', '}', '|', '^', '$', '\\', '.',
    ])
}

/// The pattern in the words of the regex crate.
fn translate(pattern: &str) -> String {
    let chars: Vec<char> = pattern.chars().collect();
    let mut out = String::with_capacity(pattern.len() + 8);
    let mut at = 0;
    let mut in_class = false;
    while let Some(&c) = chars.get(at) {
        match c {
            '\\' => at += escape(&chars[at..], in_class, &mut out),
            // `[:alpha:]` is a class in a class for both; any other bracket is itself.
            '[' if in_class && chars.get(at + 1) == Some(&':') => {
                let end = chars[at..]
                    .iter()
                    .position(|c| *c == ']')
                    .unwrap_or_default();
                out.extend(&chars[at..=at + end]);
                at += end + 1;
            }
            '[' if in_class => {
                out.push_str("\\[");
                at += 1;
            }
            '[' => {
                in_class = true;
                out.push('[');
                at += 1;
                if chars.get(at) == Some(&'^') {
                    out.push('^');
                    at += 1;
                }
                // A bracket that comes first closes nothing.
                if chars.get(at) == Some(&']') {
                    out.push_str("\\]");
                    at += 1;
                }
            }
            ']' if in_class => {
                in_class = false;
                out.push(']');
                at += 1;
            }
            '&' | '-' | '~' if in_class && chars.get(at + 1) == Some(&c) => {
                out.push('\\');
                out.push(c);
                at += 1;
            }
            '{' if !in_class && !is_repetition(&chars[at..]) => {
                out.push_str("\\{");
                at += 1;
            }
            '{' if !in_class => {
                // A repetition is copied whole, so that a lone `}` is a brace.
                let end = chars[at..]
                    .iter()
                    .position(|c| *c == '}')
                    .unwrap_or_default();
                out.extend(&chars[at..=at + end]);
                at += end + 1;
            }
            '}' if !in_class => {
                out.push_str("\\}");
                at += 1;
            }
            _ => {
                out.push(c);
                at += 1;
            }
        }
    }
    out
}

/// True for `{3}`, `{3,}` and `{3,5}` at the start.
fn is_repetition(chars: &[char]) -> bool {
    let mut at = 1;
    let digits = |at: &mut usize| {
        let start = *at;
        while chars.get(*at).is_some_and(char::is_ascii_digit) {
            *at += 1;
        }
        *at > start
    };
    if !digits(&mut at) {
        return false;
    }
    if chars.get(at) == Some(&',') {
        at += 1;
        digits(&mut at);
    }
    chars.get(at) == Some(&'}')
}

/// Writes the escape at the start of `chars`, and gives its length.
fn escape(chars: &[char], in_class: bool, out: &mut String) -> usize {
    let class = |out: &mut String, inside: &str, negated: bool| match (in_class, negated) {
        (true, false) => out.push_str(inside),
        // A negated class inside a class is a class of its own.
        (true, true) => out.push_str(&format!("[^{inside}]")),
        (false, false) => out.push_str(&format!("[{inside}]")),
        (false, true) => out.push_str(&format!("[^{inside}]")),
    };
    match chars.get(1) {
        Some('d') => class(out, "0-9", false),
        Some('D') => class(out, "0-9", true),
        Some('s') => class(out, "\\t\\n\\x0C\\r ", false),
        Some('S') => class(out, "\\t\\n\\x0C\\r ", true),
        Some('w') => class(out, "0-9A-Za-z_", false),
        Some('W') => class(out, "0-9A-Za-z_", true),
        Some('b') if !in_class => out.push_str("(?-u:\\b)"),
        Some('B') if !in_class => out.push_str("(?-u:\\B)"),
        Some('Q') => {
            let rest: String = chars[2..].iter().collect();
            let (quoted, length) = match rest.find("\\E") {
                Some(end) => (&rest[..end], rest[..end].chars().count() + 4),
                None => (rest.as_str(), chars.len()),
            };
            out.push_str(&regex::escape(quoted));
            return length;
        }
        // `\x{…}` and `\p{…}` keep their braces.
        Some(c @ ('x' | 'p' | 'P')) => {
            out.push('\\');
            out.push(*c);
            let braces = chars.get(2) == Some(&'{');
            let end = chars.iter().position(|c| *c == '}').filter(|_| braces);
            if let Some(end) = end {
                out.extend(&chars[2..=end]);
                return end + 1;
            }
        }
        // Go lets any punctuation be escaped; the regex crate too, but for a few.
        Some(c) if c.is_ascii_punctuation() => out.push_str(&regex::escape(&c.to_string())),
        Some(c) => {
            out.push('\\');
            out.push(*c);
        }
        None => {
            out.push('\\');
            return 1;
        }
    }
    2
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_match_what_go_matches() {
        let cases: [(&str, &str, bool); 24] = [
            (r"\${cluster_name}-x", "${cluster_name}-x", true),
            ("a{2}", "aa", true),
            ("a{2,}", "aaa", true),
            ("a{x}", "a{x}", true),
            ("{a}", "{a}", true),
            (r"^\d+$", "٣", false),
            (r"^\w+$", "é", false),
            (r"^[\w.-]+$", "a.b-c", true),
            (r"^[^\d]$", "5", false),
            (r"[[:alpha:]]+$", "abc", true),
            ("^[]a]+$", "]a", true),
            ("^[[a]+$", "[a", true),
            ("^[a&&b]+$", "a&b", true),
            ("a[[]b", "a[b", true),
            ("[[:alpha:]x]$", "x", true),
            (r"\Qa.b\E+", "a.bb", true),
            (r"\Qa.b\E", "axb", false),
            (r"\.sops\.ya?ml$", "x.sops.yml", true),
            (r"(?i)secret", "A-SECRET", true),
            (r"^\p{Lu}$", "É", true),
            (r"\x{41}", "A", true),
            (r"^(data|stringData)$", "data", true),
            (r"a\-b", "a-b", true),
            (r"\_", "_", true),
        ];
        for (pattern, text, expected) in cases {
            let regex = compile(pattern).unwrap_or_else(|error| panic!("{pattern}: {error}"));
            assert_eq!(regex.is_match(text), expected, "{pattern} on {text}");
        }
        assert!(compile("a(").is_err());
        assert!(compile_anchored("a|b").unwrap().is_match("b"));
        assert!(!compile_anchored("a|b").unwrap().is_match("ab"));
    }

    proptest::proptest! {
        #[test]
        fn no_text_makes_the_translation_panic(pattern in ".{0,40}") {
            let _ = compile(&pattern);
        }
    }
}
