//! Changed files as a diff that `git apply` takes.

use std::fmt::Write as _;

use similar::TextDiff;

use super::FileChange;

/// Unchanged lines shown around a change.
const CONTEXT: usize = 3;

/// All changes as one unified diff, with git's headers for files that move, come or go. What is no text
/// is only named.
pub fn unified(changes: &[FileChange]) -> String {
    let mut text = String::new();
    for change in changes {
        // A moved file is shown where it arrives.
        let moved_away = change.after.is_none()
            && changes
                .iter()
                .any(|other| other.origin.as_deref() == Some(&change.path));
        if !moved_away {
            one(change, changes, &mut text);
        }
    }
    text
}

fn one(change: &FileChange, all: &[FileChange], text: &mut String) {
    let path = &change.path;
    let origin = change.origin.as_deref().and_then(|origin| {
        let gone = all
            .iter()
            .find(|other| other.path == origin && other.after.is_none())?;
        Some((origin, gone.before.as_deref()?))
    });
    let (old_path, before) = match origin {
        Some((origin, bytes)) => (origin, Some(bytes)),
        None => (path.as_str(), change.before.as_deref()),
    };
    let after = change.after.as_deref();
    let _ = writeln!(
        text,
        "diff --git {} {}",
        name("a/", old_path),
        name("b/", path)
    );
    match (before, after) {
        (None, _) => text.push_str("new file mode 100644\n"),
        (_, None) => text.push_str("deleted file mode 100644\n"),
        _ => {}
    }
    if origin.is_some() {
        let _ = writeln!(
            text,
            "rename from {}\nrename to {}",
            name("", old_path),
            name("", path)
        );
    }
    if before == after {
        return;
    }
    let (Ok(old), Ok(new)) = (
        std::str::from_utf8(before.unwrap_or_default()),
        std::str::from_utf8(after.unwrap_or_default()),
    ) else {
        text.push_str("Binary files differ\n");
        return;
    };
    let side = |bytes: Option<&[u8]>, prefix, path| match bytes {
        Some(_) => name(prefix, path),
        None => "/dev/null".to_owned(),
    };
    let diff = TextDiff::from_lines(old, new);
    let _ = write!(
        text,
        "{}",
        diff.unified_diff()
            .context_radius(CONTEXT)
            .header(&side(before, "a/", old_path), &side(after, "b/", path))
    );
}

/// A path as git writes it: quoted where it has characters that would break the line or the quotes.
fn name(prefix: &str, path: &str) -> String {
    if !path
        .chars()
        .any(|c| c.is_control() || c == '"' || c == '\\')
    {
        return format!("{prefix}{path}");
    }
    let mut quoted = format!("\"{prefix}");
    for byte in path.bytes() {
        match byte {
            b'"' | b'\\' => {
                quoted.push('\\');
                quoted.push(char::from(byte));
            }
            0x20..=0x7e => quoted.push(char::from(byte)),
            _ => {
                let _ = write!(quoted, "\\{byte:03o}");
            }
        }
    }
    quoted.push('"');
    quoted
}

#[cfg(test)]
mod tests {
    use super::*;

    fn change(path: &str, before: Option<&str>, after: Option<&str>) -> FileChange {
        FileChange {
            path: path.to_owned(),
            before: before.map(|text| text.as_bytes().to_vec()),
            after: after.map(|text| text.as_bytes().to_vec()),
            origin: None,
        }
    }

    #[test]
    fn a_changed_line_is_shown_with_its_neighbours() {
        assert_eq!(
            unified(&[change(
                "a.yaml",
                Some("x: 1\ny: 2\r\n"),
                Some("x: 1\ny: 3\r\n")
            )]),
            "diff --git a/a.yaml b/a.yaml\n--- a/a.yaml\n+++ b/a.yaml\n\
             @@ -1,2 +1,2 @@\n x: 1\n-y: 2\r\n+y: 3\r\n"
        );
    }

    #[test]
    fn a_missing_last_line_feed_is_said() {
        assert!(
            unified(&[change("a", Some("x"), Some("y"))])
                .ends_with("-x\n\\ No newline at end of file\n+y\n\\ No newline at end of file\n")
        );
    }

    #[test]
    fn a_move_is_a_rename() {
        let mut arrived = change("b", None, Some("x\n"));
        arrived.origin = Some("a".to_owned());
        assert_eq!(
            unified(&[change("a", Some("x\n"), None), arrived]),
            "diff --git a/a b/b\nrename from a\nrename to b\n"
        );
    }

    #[test]
    fn odd_names_are_quoted() {
        assert_eq!(name("a/", "x\ny\"é"), "\"a/x\\012y\\\"\\303\\251\"");
        assert_eq!(name("a/", "é b"), "a/é b");
    }
}
