//! `wavelint completions SHELL`.

use std::io::{self, Write};

use clap_complete::Shell;

use crate::cli;

/// Writes a shell's completion script.
///
/// # Errors
/// When the writer refuses.
pub fn run(shell: Shell, writer: &mut impl Write) -> io::Result<()> {
    // The generator panics where the writer refuses, and so gets one that cannot.
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut cli::command(), "wavelint", &mut script);
    writer.write_all(&script)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_shell_gets_a_script_that_knows_the_commands_and_flags() {
        for shell in [
            Shell::Bash,
            Shell::Elvish,
            Shell::Fish,
            Shell::PowerShell,
            Shell::Zsh,
        ] {
            let mut script = Vec::new();
            run(shell, &mut script).unwrap();
            let script = String::from_utf8(script).unwrap();
            for word in ["waves", "explain", "no-base", "unsafe-fixes"] {
                assert!(script.contains(word), "{shell}: {word}");
            }
        }
    }
}
