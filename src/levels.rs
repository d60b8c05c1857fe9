//! Which rule runs, where, and with which severity: defaults, configuration, command line.
//!
//! From weak to strong: the rule's own default; `rules:` of a group; `rules:` of the rule;
//! `per-path:` entries in their order, in each a group before a rule; `--select` and
//! `--ignore`, which only choose. `--select` with a rule's name also switches on a rule that
//! is off by default or by `rules:`; with a group's name it takes the group as configured.

use std::collections::{BTreeMap, BTreeSet};

use crate::config::{Config, ConfigError, Level, Patterns, RuleLevel};
use crate::finding::{Finding, Severity};
use crate::near;
use crate::rules::{Group, Rule};

/// What the command line says about rules: names of rules or groups.
#[derive(Clone, Debug, Default)]
pub struct Selection {
    /// `--select`; empty for all.
    pub select: Vec<String>,
    /// `--ignore`.
    pub ignore: Vec<String>,
}

/// The level of every rule at every path.
#[derive(Debug, Default)]
pub struct Levels {
    everywhere: BTreeMap<&'static str, Level>,
    somewhere: Vec<(Patterns, BTreeMap<&'static str, Level>)>,
    left_out: BTreeSet<&'static str>,
}

/// Resolves the names in the configuration and on the command line.
///
/// # Errors
/// The first name that is neither a rule's nor a group's, with its place and a near name.
pub fn resolve(
    config: &Config,
    selection: &Selection,
    rules: &[&'static Rule],
) -> Result<Levels, ConfigError> {
    let mut everywhere: BTreeMap<&'static str, Level> = rules
        .iter()
        .map(|rule| {
            (
                rule.name,
                if rule.off_by_default {
                    Level::Off
                } else {
                    Level::On
                },
            )
        })
        .collect();
    let configured = named_levels(config, &config.rules, rules)?;
    for (name, level) in configured {
        set(&mut everywhere, name, level);
    }
    let somewhere = config
        .per_path
        .iter()
        .map(|entry| {
            Ok((
                entry.paths.clone(),
                named_levels(config, &entry.rules, rules)?,
            ))
        })
        .collect::<Result<_, ConfigError>>()?;

    let mut left_out = BTreeSet::new();
    if !selection.select.is_empty() {
        left_out.extend(rules.iter().map(|rule| rule.name));
        for name in &selection.select {
            for rule in named(name, rules).ok_or_else(|| unknown(name, "--select", rules))? {
                left_out.remove(rule);
                if rule == name && everywhere.get(rule) == Some(&Level::Off) {
                    everywhere.insert(rule, Level::On);
                }
            }
        }
    }
    for name in &selection.ignore {
        left_out.extend(named(name, rules).ok_or_else(|| unknown(name, "--ignore", rules))?);
    }
    Ok(Levels {
        everywhere,
        somewhere,
        left_out,
    })
}

/// `on` does not take away a severity that was set before.
fn set(levels: &mut BTreeMap<&'static str, Level>, name: &'static str, level: Level) {
    let before = levels.get(name).copied();
    let keeps = level == Level::On && matches!(before, Some(Level::Severity(_)));
    if !keeps {
        levels.insert(name, level);
    }
}

/// Levels by rule: groups first, so that a rule's own name wins whatever the order.
fn named_levels(
    config: &Config,
    written: &[RuleLevel],
    rules: &[&'static Rule],
) -> Result<BTreeMap<&'static str, Level>, ConfigError> {
    let mut levels = BTreeMap::new();
    let is_rule = |entry: &&RuleLevel| rules.iter().any(|rule| rule.name == entry.name);
    let groups = written.iter().filter(|entry| !is_rule(entry));
    for entry in groups.chain(written.iter().filter(is_rule)) {
        let names = named(&entry.name, rules).ok_or_else(|| ConfigError {
            path: config.path.clone(),
            at: Some(entry.at),
            message: unknown_message(&entry.name, rules),
        })?;
        for name in names {
            levels.insert(name, entry.level);
        }
    }
    Ok(levels)
}

/// The rules that a rule's or group's name stands for; `None` if it is neither.
pub fn named(name: &str, rules: &[&'static Rule]) -> Option<Vec<&'static str>> {
    if let Some(rule) = rules.iter().find(|rule| rule.name == name) {
        return Some(vec![rule.name]);
    }
    let group = Group::ALL
        .into_iter()
        .find(|group| group.as_str() == name)?;
    Some(
        rules
            .iter()
            .filter(|rule| rule.group == group)
            .map(|rule| rule.name)
            .collect(),
    )
}

/// What to say about a name that is neither a rule's nor a group's.
pub fn unknown_message(name: &str, rules: &[&'static Rule]) -> String {
    let candidates = rules
        .iter()
        .map(|rule| rule.name)
        .chain(Group::ALL.map(Group::as_str));
    format!(
        "`{name}` is neither a rule nor a group{}",
        near::suggestion(name, candidates)
    )
}

fn unknown(name: &str, flag: &str, rules: &[&'static Rule]) -> ConfigError {
    ConfigError {
        path: None,
        at: None,
        message: format!("{flag}: {}", unknown_message(name, rules)),
    }
}

impl Levels {
    /// The severity of a rule's finding at a path, where the rule itself says `default`;
    /// `None` if the rule is off there.
    pub fn severity(&self, rule: &str, path: &str, default: Severity) -> Option<Severity> {
        if self.left_out.contains(rule) {
            return None;
        }
        let mut level = self.everywhere.get(rule).copied().unwrap_or(Level::On);
        for (paths, levels) in &self.somewhere {
            match levels.get(rule) {
                Some(Level::On) if matches!(level, Level::Severity(_)) => {}
                Some(here) if paths.matches(path) => level = *here,
                _ => {}
            }
        }
        match level {
            Level::Off => None,
            Level::On => Some(default),
            Level::Severity(severity) => Some(severity),
        }
    }

    /// True if `--select` or `--ignore` leaves the rule out of this run.
    pub fn leaves_out(&self, rule: &str) -> bool {
        self.left_out.contains(rule)
    }

    /// True if the rule can yield a finding anywhere, so that it must run.
    pub fn runs(&self, rule: &str) -> bool {
        if self.left_out.contains(rule) {
            return false;
        }
        let on = |level: &Level| *level != Level::Off;
        self.everywhere.get(rule).is_none_or(on)
            || self
                .somewhere
                .iter()
                .any(|(_, levels)| levels.get(rule).is_some_and(on))
    }

    /// The finding with its severity as configured; `None` if its rule is off at its path.
    pub fn apply(&self, mut finding: Finding, path: &str) -> Option<Finding> {
        finding.severity = self.severity(finding.rule, path, finding.severity)?;
        Some(finding)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    static WRONG_WAVE: Rule = rule("wrong-wave", Group::Waves, false);
    static UNKNOWN_APP: Rule = rule("unknown-app", Group::Waves, false);
    static REDUNDANT: Rule = rule("redundant-depends-on", Group::Order, true);
    static RULES: &[&Rule] = &[&WRONG_WAVE, &UNKNOWN_APP, &REDUNDANT];

    const fn rule(name: &'static str, group: Group, off_by_default: bool) -> Rule {
        Rule {
            name,
            group,
            summary: "",
            page: "",
            off_by_default,
            compares: false,
            check: |_| Vec::new(),
        }
    }

    fn levels(config: &str, select: &[&str], ignore: &[&str]) -> Result<Levels, ConfigError> {
        let owned = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        let selection = Selection {
            select: owned(select),
            ignore: owned(ignore),
        };
        resolve(&Config::parse(config, "c.yaml").unwrap(), &selection, RULES)
    }

    fn severities(levels: &Levels, path: &str) -> [Option<Severity>; 3] {
        [&WRONG_WAVE, &UNKNOWN_APP, &REDUNDANT]
            .map(|rule| levels.severity(rule.name, path, Warning))
    }

    use Severity::{Error, Info, Warning};

    #[test]
    fn defaults_hold_where_nothing_is_said() {
        let levels = levels("", &[], &[]).unwrap();
        assert_eq!(
            severities(&levels, "a"),
            [Some(Warning), Some(Warning), None]
        );
        assert!(levels.runs("wrong-wave") && !levels.runs("redundant-depends-on"));
    }

    #[test]
    fn a_rule_wins_over_its_group_whatever_the_order() {
        for text in [
            "rules: {wrong-wave: error, waves: info}",
            "rules: {waves: info, wrong-wave: error}",
        ] {
            let levels = levels(text, &[], &[]).unwrap();
            assert_eq!(severities(&levels, "a"), [Some(Error), Some(Info), None]);
        }
    }

    #[test]
    fn paths_win_over_the_whole_and_later_entries_over_earlier() {
        let text = "rules: {waves: off}\nper-path:\n- {paths: [x], rules: {waves: error}}\n- {paths: [x/y], rules: {wrong-wave: off, redundant-depends-on: on}}\n";
        let levels = levels(text, &[], &[]).unwrap();
        assert_eq!(severities(&levels, "a"), [None, None, None]);
        assert_eq!(severities(&levels, "x/z"), [Some(Error), Some(Error), None]);
        assert_eq!(
            severities(&levels, "x/y/z"),
            [None, Some(Error), Some(Warning)]
        );
        assert!(levels.runs("wrong-wave") && levels.runs("redundant-depends-on"));
    }

    #[test]
    fn on_keeps_a_severity_set_before() {
        let text = "rules: {wrong-wave: error}\nper-path: [{paths: [x], rules: {waves: on}}]\n";
        let levels = levels(text, &[], &[]).unwrap();
        assert_eq!(
            severities(&levels, "x/z"),
            [Some(Error), Some(Warning), None]
        );
    }

    #[test]
    fn select_chooses_and_switches_on_by_name_only() {
        let config = "rules: {unknown-app: off}";
        let chosen = |select: &[&str]| severities(&levels(config, select, &[]).unwrap(), "a");
        assert_eq!(
            chosen(&["redundant-depends-on"]),
            [None, None, Some(Warning)]
        );
        assert_eq!(chosen(&["order"]), [None, None, None]);
        assert_eq!(chosen(&["waves"]), [Some(Warning), None, None]);
        assert_eq!(
            chosen(&["waves", "unknown-app"]),
            [Some(Warning), Some(Warning), None]
        );
    }

    #[test]
    fn ignore_wins_over_everything() {
        let config = "per-path: [{paths: ['**'], rules: {wrong-wave: error}}]";
        let levels = levels(config, &["waves"], &["wrong-wave"]).unwrap();
        assert_eq!(severities(&levels, "a"), [None, Some(Warning), None]);
        assert!(!levels.runs("wrong-wave"));
    }

    #[test]
    fn unknown_names_are_refused_with_a_near_name() {
        let message = |config: &str, select: &[&str], ignore: &[&str]| {
            levels(config, select, ignore).unwrap_err().to_string()
        };
        assert_eq!(
            message("rules: {wrong-wav: off}", &[], &[]),
            "c.yaml:1:9: `wrong-wav` is neither a rule nor a group, did you mean `wrong-wave`?"
        );
        assert_eq!(
            message("per-path: [{paths: [a], rules: {wave: off}}]", &[], &[]),
            "c.yaml:1:33: `wave` is neither a rule nor a group, did you mean `waves`?"
        );
        assert_eq!(
            message("", &["unknown-ap"], &[]),
            "--select: `unknown-ap` is neither a rule nor a group, did you mean `unknown-app`?"
        );
        assert_eq!(
            message("", &[], &["zzz"]),
            "--ignore: `zzz` is neither a rule nor a group"
        );
    }
}
