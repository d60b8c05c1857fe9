//! `wavelint rules`: all rules.

use std::io::{self, Write};

use serde::Serialize;

use crate::cli::RulesFormat;
use crate::rules::{Group, Rule};
use crate::terminal::Style;

#[derive(Serialize)]
struct Output<'a> {
    version: u32,
    rules: Vec<RuleOut<'a>>,
}

#[derive(Serialize)]
struct RuleOut<'a> {
    name: &'a str,
    group: &'static str,
    summary: &'a str,
    off_by_default: bool,
    compares_with_base: bool,
}

/// Writes the list, by group.
///
/// # Errors
/// When the writer refuses.
pub fn run(
    rules: &[&Rule],
    format: RulesFormat,
    style: Style,
    writer: &mut impl Write,
) -> io::Result<()> {
    let by_group = || {
        Group::ALL
            .into_iter()
            .map(|group| (group, rules.iter().filter(move |rule| rule.group == group)))
    };
    match format {
        RulesFormat::Json => {
            let output = Output {
                version: 1,
                rules: by_group()
                    .flat_map(|(_, rules)| rules)
                    .map(|rule| RuleOut {
                        name: rule.name,
                        group: rule.group.as_str(),
                        summary: rule.summary,
                        off_by_default: rule.off_by_default,
                        compares_with_base: rule.compares,
                    })
                    .collect(),
            };
            serde_json::to_writer_pretty(&mut *writer, &output)?;
            writeln!(writer)
        }
        RulesFormat::Table => {
            let width = rules.iter().map(|rule| rule.name.len()).max().unwrap_or(0);
            let mut first = true;
            for (group, rules) in by_group() {
                let rules: Vec<_> = rules.collect();
                if rules.is_empty() {
                    continue;
                }
                if !first {
                    writeln!(writer)?;
                }
                first = false;
                writeln!(writer, "{}", style.bold(group.as_str()))?;
                for rule in rules {
                    let name = style.cyan(&format!("{:width$}", rule.name));
                    let remark = if rule.off_by_default {
                        style.dim(" (off by default)")
                    } else {
                        String::new()
                    };
                    writeln!(writer, "  {name}  {}{remark}", rule.summary)?;
                }
            }
            Ok(())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn rule(name: &'static str, group: Group, off_by_default: bool) -> Rule {
        Rule {
            name,
            group,
            summary: "fires when",
            page: "",
            off_by_default,
            compares: false,
            check: |_| Vec::new(),
        }
    }

    static RULES: &[&Rule] = &[
        &rule("invalid-yaml", Group::Build, false),
        &rule("wrong-wave", Group::Waves, false),
        &rule("base-forked", Group::Overlays, true),
    ];

    fn list(format: RulesFormat) -> String {
        let mut text = Vec::new();
        run(RULES, format, Style::PLAIN, &mut text).unwrap();
        String::from_utf8(text).unwrap()
    }

    #[test]
    fn the_table_goes_by_group() {
        assert_eq!(
            list(RulesFormat::Table),
            "waves\n  wrong-wave    fires when\n\noverlays\n  base-forked   fires when (off by default)\n\nbuild\n  invalid-yaml  fires when\n"
        );
    }

    #[test]
    fn the_json_holds_the_same() {
        let value: serde_json::Value = serde_json::from_str(&list(RulesFormat::Json)).unwrap();
        assert_eq!(value["version"], 1);
        let names: Vec<_> = value["rules"]
            .as_array()
            .unwrap()
            .iter()
            .map(|rule| rule["name"].as_str().unwrap())
            .collect();
        assert_eq!(names, ["wrong-wave", "base-forked", "invalid-yaml"]);
        assert_eq!(value["rules"][1]["off_by_default"], true);
    }
}
