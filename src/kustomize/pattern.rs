//! Go's regular expressions, where they differ from Rust's.

use regex::Regex;

/// Compiles a regular expression as Go does (upstream: Go `regexp/syntax`): a brace that starts no
/// repetition stands for itself, as in `\${name}`.
///
/// # Errors
/// What Go would refuse too.
pub(super) fn compile(text: &str) -> Result<Regex, regex::Error> {
    Regex::new(&with_literal_braces(text))
}

fn with_literal_braces(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut escaped = false;
    let mut in_class = false;
    for (at, c) in text.char_indices() {
        if c == '{' && !escaped && !in_class && !starts_repetition(&text[at + 1..]) {
            // `\p{…}` and `\x{…}` keep their braces.
            let names_a_class = ["\\p", "\\P", "\\x"]
                .iter()
                .any(|escape| text[..at].ends_with(escape));
            if !names_a_class {
                out.push('\\');
            }
        }
        match c {
            '[' if !escaped => in_class = true,
            ']' if !escaped => in_class = false,
            _ => {}
        }
        escaped = c == '\\' && !escaped;
        out.push(c);
    }
    out
}

/// True if what follows a brace is `n}`, `n,}` or `n,m}`.
fn starts_repetition(rest: &str) -> bool {
    let Some((inside, _)) = rest.split_once('}') else {
        return false;
    };
    let (least, most) = inside.split_once(',').unwrap_or((inside, ""));
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    !least.is_empty() && digits(least) && digits(most)
}

#[cfg(test)]
mod tests {
    use super::compile;

    #[test]
    fn braces_that_repeat_nothing_stand_for_themselves() {
        let pattern = compile(r"^(?:\${cluster_name}-app)$").expect("Go accepts it");
        assert!(pattern.is_match("${cluster_name}-app"));
        let repeated = compile("^a{2,3}$").expect("it is a repetition");
        assert!(repeated.is_match("aa") && !repeated.is_match("a"));
        assert!(compile(r"\p{Greek}").expect("a class").is_match("α"));
        assert!(compile("a{").expect("a brace").is_match("a{"));
    }
}
