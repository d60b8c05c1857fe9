//! What a terminal expects: colours, characters, width, closed pipes, exit codes, errors.

use std::io::{self, IsTerminal, Write};
use std::path::Path;
use std::process::ExitCode;

use crate::cli::TalkArgs;

/// Width taken where there is no terminal to ask, in columns.
const DEFAULT_WIDTH: usize = 100;

/// How text for people is to look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Style {
    /// True to write ANSI colours.
    pub colour: bool,
    /// True to draw with Unicode characters, false with ASCII.
    pub unicode: bool,
    /// Columns to fill.
    pub width: usize,
    /// True to leave out the summary.
    pub quiet: bool,
}

impl Style {
    /// ASCII, no colour: for files and pipes.
    pub const PLAIN: Self = Self {
        colour: false,
        unicode: false,
        width: DEFAULT_WIDTH,
        quiet: false,
    };

    /// What standard output can show. `--color always` colours a pipe too; `NO_COLOR`,
    /// `CLICOLOR` and `CLICOLOR_FORCE` decide where the choice is left to wavelint.
    pub fn detect(talk: TalkArgs) -> Self {
        use crate::cli::ColorChoice;
        let stdout = io::stdout();
        let colour = match talk.color {
            ColorChoice::Always => true,
            ColorChoice::Never => false,
            ColorChoice::Auto => {
                anstream::AutoStream::choice(&stdout) != anstream::ColorChoice::Never
            }
        };
        let width =
            terminal_size::terminal_size().map_or(DEFAULT_WIDTH, |(width, _)| usize::from(width.0));
        Self {
            colour,
            unicode: stdout.is_terminal() && locale_is_unicode(),
            width: width.clamp(40, 200),
            quiet: talk.quiet,
        }
    }

    /// The text in bold.
    pub fn bold(self, text: &str) -> String {
        self.paint("1", text)
    }

    /// The text dimmed.
    pub fn dim(self, text: &str) -> String {
        self.paint("2", text)
    }

    /// The text in cyan.
    pub fn cyan(self, text: &str) -> String {
        self.paint("36", text)
    }

    /// The text in the colour of errors.
    pub fn red(self, text: &str) -> String {
        self.paint("31", text)
    }

    /// The text in the colour of warnings.
    pub fn yellow(self, text: &str) -> String {
        self.paint("33", text)
    }

    /// The text in the colour of success.
    pub fn green(self, text: &str) -> String {
        self.paint("32", text)
    }

    fn paint(self, code: &str, text: &str) -> String {
        if self.colour {
            format!("\u{1b}[{code}m{text}\u{1b}[0m")
        } else {
            text.to_owned()
        }
    }
}

/// True if the locale's encoding is UTF-8, and the terminal is not the kernel's own, which has few characters.
fn locale_is_unicode() -> bool {
    if cfg!(windows) {
        return true;
    }
    if std::env::var_os("TERM").is_some_and(|term| term == "linux" || term == "dumb") {
        return false;
    }
    ["LC_ALL", "LC_CTYPE", "LANG"]
        .iter()
        .filter_map(|name| std::env::var(name).ok())
        .find(|value| !value.is_empty())
        .is_some_and(|value| {
            let value = value.to_lowercase();
            value.contains("utf-8") || value.contains("utf8")
        })
}

/// The text with every character shown that would otherwise steer the terminal, break the line
/// or reorder it: `\n`, `\t`, `\u{1b}`.
pub fn visible(text: &str) -> String {
    if !text.chars().any(steers) {
        return text.to_owned();
    }
    let mut shown = String::with_capacity(text.len() + 8);
    for character in text.chars() {
        if steers(character) {
            shown.extend(character.escape_default());
        } else {
            shown.push(character);
        }
    }
    shown
}

/// True for control characters, line and paragraph separators, and marks that reorder text.
pub fn steers(character: char) -> bool {
    character.is_control()
        || matches!(
            character,
            '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}'
        )
}

/// A writer whose reader may leave (`wavelint | head`): what comes after is dropped, without an error.
#[derive(Debug)]
pub struct UntilClosed<W> {
    inner: W,
    closed: bool,
}

impl<W: Write> UntilClosed<W> {
    /// Around a writer.
    pub fn new(inner: W) -> Self {
        Self {
            inner,
            closed: false,
        }
    }

    fn outcome<T>(&mut self, result: io::Result<T>, dropped: T) -> io::Result<T> {
        match result {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {
                self.closed = true;
                Ok(dropped)
            }
            result => result,
        }
    }
}

impl<W: Write> Write for UntilClosed<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.closed {
            return Ok(bytes.len());
        }
        let result = self.inner.write(bytes);
        self.outcome(result, bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        if self.closed {
            return Ok(());
        }
        let result = self.inner.flush();
        self.outcome(result, ())
    }
}

/// Bytes that are collected before they are written.
const BUFFER: usize = 1 << 16;

/// Standard output, which may be closed early; buffered. Must be flushed at the end, so that an error is seen.
#[derive(Debug)]
pub struct Output(io::BufWriter<UntilClosed<io::Stdout>>);

impl Output {
    /// Standard output; the only way to it.
    pub fn stdout() -> Self {
        let writer = UntilClosed::new(io::stdout());
        Self(io::BufWriter::with_capacity(BUFFER, writer))
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

/// Makes or replaces the file of `--output` or `--baseline`: it has all of the text or is as it was.
/// What is no regular file, a pipe say, is written to.
///
/// # Errors
/// A file that cannot be made, or a disk that is full.
pub fn write_file(path: &Path, bytes: &[u8]) -> io::Result<()> {
    // Behind a link, the file that it names is the one to replace.
    let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let before = match std::fs::symlink_metadata(&path) {
        Ok(found) if !found.is_file() => return std::fs::write(&path, bytes),
        Ok(found) if found.permissions().readonly() => {
            return Err(io::ErrorKind::PermissionDenied.into());
        }
        Ok(found) => Some(found.permissions()),
        Err(_) => None,
    };
    let directory = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    let mut builder = tempfile::Builder::new();
    builder.prefix(".wavelint-");
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    let mut file = builder.tempfile_in(directory)?;
    file.write_all(bytes)?;
    if let Some(permissions) = before {
        file.as_file().set_permissions(permissions)?;
    }
    file.as_file().sync_all()?;
    file.persist(&path).map_err(|error| error.error)?;
    Ok(())
}

/// How a run that could run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// Nothing to complain about: exit code 0.
    Clean,
    /// Findings at or above `--fail-on`, or a build that Flux refuses: exit code 1.
    Findings,
}

/// Turns the end of a run into its exit code; an error (exit code 2) is written to standard error.
pub fn finish(result: Result<Status, impl std::fmt::Display>) -> ExitCode {
    match result {
        Ok(Status::Clean) => ExitCode::SUCCESS,
        Ok(Status::Findings) => ExitCode::from(1),
        Err(error) => {
            complain("error", &error.to_string());
            ExitCode::from(2)
        }
    }
}

/// A remark for people, on standard error.
pub fn note(message: &str) {
    complain("note", message);
}

fn complain(kind: &str, message: &str) {
    let colour = if kind == "error" { "31" } else { "36" };
    let mut lines = message.lines().map(visible);
    let first = lines.next().unwrap_or_default();
    let mut text = format!("wavelint: \u{1b}[1;{colour}m{kind}\u{1b}[0m: {first}\n");
    for line in lines {
        text.push_str(&line);
        text.push('\n');
    }
    // Standard error may be closed; then there is nobody to tell.
    let _ = anstream::stderr().write_all(text.as_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Closed(usize);

    impl Write for Closed {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            if self.0 == 0 {
                return Err(io::ErrorKind::BrokenPipe.into());
            }
            self.0 -= 1;
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Err(io::ErrorKind::BrokenPipe.into())
        }
    }

    #[test]
    fn a_closed_pipe_is_no_error_and_is_not_written_to_again() {
        let mut writer = UntilClosed::new(Closed(1));
        for _ in 0..3 {
            writer.write_all(b"text").unwrap();
        }
        assert!(writer.closed);
        writer.flush().unwrap();
    }

    #[test]
    fn other_write_errors_are_errors() {
        struct Full;
        impl Write for Full {
            fn write(&mut self, _: &[u8]) -> io::Result<usize> {
                Err(io::ErrorKind::StorageFull.into())
            }
            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }
        assert!(UntilClosed::new(Full).write_all(b"text").is_err());
    }

    #[test]
    fn a_file_is_made_or_replaced_as_a_whole() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("report.json");
        for text in ["{}", "[]"] {
            write_file(&path, text.as_bytes()).unwrap();
            assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
        }
        assert!(write_file(&path.join("below-a-file"), b"x").is_err());
        assert!(write_file(directory.path(), b"x").is_err());
        assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 1);
    }

    #[cfg(unix)]
    #[test]
    fn a_replaced_file_keeps_its_mode_and_the_link_to_it() {
        use std::os::unix::fs::PermissionsExt as _;
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("report.json");
        let link = directory.path().join("link.json");
        write_file(&path, b"1").unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o640)).unwrap();
        std::os::unix::fs::symlink("report.json", &link).unwrap();
        write_file(&link, b"2").unwrap();
        assert!(link.is_symlink());
        assert_eq!(std::fs::read(&path).unwrap(), b"2");
        let mode = std::fs::metadata(&path).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o640);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_full_device_is_an_error() {
        assert!(write_file(Path::new("/dev/full"), b"x").is_err());
    }

    #[test]
    fn text_cannot_steer_the_terminal() {
        assert_eq!(visible("a\u{1b}[2Jb\nc\td"), "a\\u{1b}[2Jb\\nc\\td");
        assert_eq!(visible("x\u{202e}y"), "x\\u{202e}y");
        assert_eq!(visible("größe → 日本"), "größe → 日本");
    }

    #[test]
    fn plain_text_has_no_colour() {
        assert_eq!(Style::PLAIN.bold("x"), "x");
        let coloured = Style {
            colour: true,
            ..Style::PLAIN
        };
        assert_eq!(coloured.red("x"), "\u{1b}[31mx\u{1b}[0m");
    }
}
