//! The README says what is so: its console blocks are run, its tables name every rule, flag and command.
//!
//! `UPDATE_README=1 cargo test --test program readme` writes what has changed.

use std::path::{Path, PathBuf};

use wavelint::rules::{Group, RULES};

use crate::repository::{Repository, without_times};

fn path() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md")
}

fn readme() -> String {
    std::fs::read_to_string(path()).expect("README.md")
}

/// Compares a text with what it should be, or writes it.
#[track_caller]
fn is_or_becomes(old: &str, new: &str) {
    if std::env::var_os("UPDATE_README").is_some() {
        std::fs::write(path(), new).expect("README.md");
        return;
    }
    let (old, new) = (without_times(old), without_times(new));
    let differs = old.lines().zip(new.lines()).find(|(old, new)| old != new);
    if let Some((old, new)) = differs {
        panic!("README.md says\n{old}\nwhere it should be\n{new}\nrun with UPDATE_README=1");
    }
    assert_eq!(old.lines().count(), new.lines().count(), "README.md");
}

/// What the README shows is what the program prints: in the demonstration's repository, changed and not committed.
#[test]
fn every_console_block_is_true_and_every_rule_is_listed() {
    let repository = Repository::of("demo/before");
    repository.copy("demo/after");
    let old = readme();
    let mut new = String::new();
    let mut lines = old.lines();
    let mut blocks = 0;
    while let Some(line) = lines.next() {
        new.push_str(line);
        new.push('\n');
        if line == "<!-- rules -->" {
            for _ in lines.by_ref().take_while(|line| *line != "<!-- /rules -->") {}
            new.push_str(&rules());
            new.push_str("<!-- /rules -->\n");
        }
        if line != "```console" {
            continue;
        }
        for line in lines.by_ref().take_while(|line| *line != "```") {
            if let Some(command) = line.strip_prefix("$ wavelint ") {
                let arguments: Vec<&str> = command.split(' ').collect();
                let ran = repository.run(&arguments);
                assert_eq!(ran.stderr, "", "{command}");
                new.push_str(&format!("{line}\n{}", ran.stdout));
                blocks += 1;
            }
        }
        new.push_str("```\n");
    }
    assert!(blocks > 0);
    is_or_becomes(&old, &new);
}

/// The rules by group, each with a link to its page.
fn rules() -> String {
    let mut text = String::new();
    for group in Group::ALL {
        let rules: Vec<_> = RULES.iter().filter(|rule| rule.group == group).collect();
        if rules.is_empty() {
            continue;
        }
        text.push_str(&format!("\n| {} | |\n|---|---|\n", group.as_str()));
        for rule in rules {
            let off = if rule.off_by_default {
                " (off by default)"
            } else {
                ""
            };
            text.push_str(&format!(
                "| [`{0}`](rules/{0}.md) | {1}{off} |\n",
                rule.name,
                rule.summary.replace('|', "\\|")
            ));
        }
    }
    text.push('\n');
    text
}

#[test]
fn every_flag_of_check_and_every_command_is_named() {
    let text = readme();
    let command = wavelint::cli::command();
    for subcommand in command.get_subcommands() {
        let name = subcommand.get_name();
        let named = [format!("`wavelint {name}"), format!("`wavelint [{name}]")];
        assert!(named.iter().any(|named| text.contains(named)), "{name}");
    }
    let check = command.find_subcommand("check").expect("check");
    for flag in check
        .get_arguments()
        .filter_map(|argument| argument.get_long())
    {
        assert!(text.contains(&format!("`--{flag}")), "--{flag}");
    }
}

#[test]
fn the_configuration_shown_is_valid() {
    let text = readme();
    let shown = text
        .split("```yaml\n")
        .filter_map(|block| block.split("```").next())
        .find(|block| block.starts_with("flux-version:"))
        .expect("an example");
    wavelint::config::Config::parse(shown, ".wavelint.yaml").expect("it is valid");
}

#[test]
fn links_lead_somewhere() {
    let text = readme();
    for link in text
        .split("](")
        .skip(1)
        .filter_map(|rest| rest.split(')').next())
    {
        let is_file = Path::new(env!("CARGO_MANIFEST_DIR")).join(link).exists();
        assert!(link.starts_with("https://") || is_file, "{link}");
    }
}
