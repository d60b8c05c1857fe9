//! `creation-rule-changed`: an encrypted file moved to where another creation rule counts.

use super::recipients_differ::Difference;
use super::support::encrypted::revisions_of_encrypted_files;
use super::{Group, Rule};
use crate::finding::{Finding, Severity};
use crate::repo::Repo;
use crate::sops::{Configs, CreationRule, Match, Metadata};
use crate::source::Place;

pub(super) static RULE: Rule = Rule {
    name: "creation-rule-changed",
    group: Group::Sops,
    summary: "an encrypted file moved, and another creation rule, or none, is for it now",
    page: include_str!("../../rules/creation-rule-changed.md"),
    off_by_default: false,
    compares: true,
    check,
};

fn check(repo: &Repo) -> Vec<Finding> {
    let Some(base) = &repo.base else {
        return Vec::new();
    };
    let before = Configs::read(repo.files, &base.picture.tree);
    let after = Configs::read(repo.files, &repo.head.tree);
    revisions_of_encrypted_files(repo)
        .into_iter()
        .filter(|pair| pair.from != pair.path)
        .filter_map(|pair| {
            let Some(Match::Rule(old)) = before.nearest(pair.from) else {
                return None;
            };
            let finding = match after.nearest(pair.path) {
                Some(Match::Unknown(_)) => return None,
                Some(Match::Rule(new)) => {
                    if same(old, new) || fits(&pair.head_metadata, new) {
                        return None;
                    }
                    Finding::new(
                        RULE.name,
                        Severity::Warning,
                        Place::file_start(pair.head),
                        format!(
                            "moved from {}, the file falls under another creation rule, which differs in {}",
                            pair.from,
                            differences(old, new)
                        ),
                    )
                    .help(format!(
                        "run `sops updatekeys {}` where the recipients differ, encrypt anew where the selection differs, or let the rule match both places",
                        pair.path
                    ))
                    .related(new.place, "the rule that counts now")
                }
                Some(Match::None) | None => Finding::new(
                    RULE.name,
                    Severity::Warning,
                    Place::file_start(pair.head),
                    format!(
                        "moved from {}, the file falls under no creation rule any more: `sops updatekeys` and a fresh `sops encrypt` will fail",
                        pair.from
                    ),
                )
                .help("let the `path_regex` of its creation rule match the new place too"),
            };
            Some(finding.related(
                old.path_regex.as_ref().map_or(old.place, |regex| regex.place),
                "the rule that counted before",
            ))
        })
        .collect()
}

/// True if both rules ask for the same.
fn same(old: &CreationRule, new: &CreationRule) -> bool {
    same_recipients(old, new)
        && old.selector.same_as(&new.selector)
        && old.mac_only_encrypted == new.mac_only_encrypted
}

fn same_recipients(old: &CreationRule, new: &CreationRule) -> bool {
    let within = |these: &CreationRule, those: &CreationRule| {
        these.recipients.iter().all(|this| {
            those
                .recipients
                .iter()
                .any(|that| this.same_key(that) && this.group == that.group)
        })
    };
    within(old, new)
        && within(new, old)
        && old.key_groups == new.key_groups
        && old.has_plugin_keys == new.has_plugin_keys
}

/// True if the file is as its new rule wants it: it has been taken care of.
fn fits(metadata: &Metadata, rule: &CreationRule) -> bool {
    !rule.recipients.is_empty()
        && Difference::between(metadata, rule).is_empty()
        && metadata.selector.same_as(&rule.selector)
}

fn differences(old: &CreationRule, new: &CreationRule) -> String {
    let mut differences = Vec::new();
    if !same_recipients(old, new) {
        differences.push("its recipients");
    }
    if !old.selector.same_as(&new.selector) {
        differences.push("what it encrypts");
    }
    if old.mac_only_encrypted != new.mac_only_encrypted {
        differences.push("`mac_only_encrypted`");
    }
    super::support::list(&differences)
}
