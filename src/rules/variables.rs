//! What the rules about variables share: scripts, and where references stand.

use smol_str::SmolStr;

use crate::substitute;
use crate::yaml::Node;

/// Endings of keys whose values are files of other languages.
const SCRIPT_ENDINGS: [&str; 16] = [
    ".sh", ".bash", ".zsh", ".py", ".rb", ".pl", ".js", ".ts", ".lua", ".conf", ".cfg", ".ini",
    ".json", ".toml", ".tmpl", ".env",
];

/// True if a scalar is a script or a file of another language, in which `${…}` most likely means that
/// language's own variables: by its key, by a shebang, or because it gives one of them a value itself.
pub(super) fn is_script(path: &[SmolStr], scalar: &Node) -> bool {
    let text = scalar.as_str().unwrap_or_default();
    let by_key = path.iter().rev().take(1).any(|key| {
        SCRIPT_ENDINGS
            .iter()
            .any(|ending| key.ends_with(ending) && key.len() > ending.len())
    });
    by_key && text.contains('\n') || has_shebang(text) || assigns_any(text)
}

fn assigns_any(text: &str) -> bool {
    text.contains('\n')
        && substitute::references(text)
            .unwrap_or_default()
            .iter()
            .any(|reference| assigns(text, &reference.name))
}

fn has_shebang(text: &str) -> bool {
    text.trim_start().starts_with("#!")
}

/// True if a text gives a variable its value: `NAME=`, `for NAME in`, `read NAME`.
pub(super) fn assigns(text: &str, name: &str) -> bool {
    text.match_indices(name).any(|(at, _)| {
        let (before, after) = (&text[..at], &text[at + name.len()..]);
        let starts_word = before
            .chars()
            .next_back()
            .is_none_or(|c| !c.is_alphanumeric() && !matches!(c, '_' | '{' | '$'));
        let last_word = || before.split_whitespace().next_back().unwrap_or_default();
        let ends_word = after
            .chars()
            .next()
            .is_none_or(|c| !c.is_alphanumeric() && c != '_');
        starts_word
            && ends_word
            && (after.starts_with('=') && !after.starts_with("==")
                || after.trim_start().starts_with("in ") && last_word() == "for"
                || last_word() == "read" && before.ends_with(char::is_whitespace))
    })
}

/// True if a reference stands behind a `#` that starts a comment in a text of several lines.
pub(super) fn is_in_comment(text: &str, at: usize) -> bool {
    let (Some(before), true) = (text.get(..at), text.contains('\n')) else {
        return false;
    };
    let line = before.rsplit('\n').next().unwrap_or_default();
    line.trim_start().starts_with('#')
}

#[cfg(test)]
mod tests {
    use super::{assigns, is_in_comment};

    #[test]
    fn a_comment_is_a_line_of_several_that_starts_with_a_hash() {
        let text = "a: 1\n  # b: ${B}\nc: ${C}\n";
        assert!(is_in_comment(text, text.find("${B}").expect("it is there")));
        assert!(!is_in_comment(
            text,
            text.find("${C}").expect("it is there")
        ));
        assert!(!is_in_comment("# ${B}", 2));
    }

    #[test]
    fn a_shell_gives_a_variable_its_value_in_three_ways() {
        assert!(assigns("set -eu\nSRC=/in\n", "SRC"));
        assert!(assigns("for f in *; do", "f"));
        assert!(assigns("while read line; do", "line"));
        assert!(!assigns("echo ${SRC}", "SRC"));
        assert!(!assigns("if [ $SRC == a ]", "SRC"));
        assert!(!assigns("MY_SRC=1", "SRC"));
    }
}
