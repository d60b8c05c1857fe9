//! `recipients-differ`: a file is encrypted for others than its creation rule says.

use super::support::encrypted::encrypted_files;
use super::support::list;
use super::{Group, Rule};
use crate::finding::{Finding, Severity};
use crate::repo::Repo;
use crate::sops::{Configs, CreationRule, Match, Metadata, Recipient};
use crate::source::{FileId, Place};

pub(super) static RULE: Rule = Rule {
    name: "recipients-differ",
    group: Group::Sops,
    summary: "an encrypted file has other recipients than its creation rule",
    page: include_str!("../../rules/recipients-differ.md"),
    off_by_default: false,
    compares: false,
    check,
};

fn check(repo: &Repo) -> Vec<Finding> {
    let configs = Configs::read(repo.files, &repo.head.tree);
    if configs.is_empty() {
        return Vec::new();
    }
    encrypted_files(repo)
        .into_iter()
        .filter_map(|(path, file, metadata)| {
            let mut rules = configs.matches(path);
            let Match::Rule(nearest) = rules.next()? else {
                return None;
            };
            let difference = Difference::between(&metadata, nearest);
            // SOPS may have been run where a configuration further up counts.
            let fits_another = rules.any(|other| match other {
                Match::Rule(other) => {
                    !other.recipients.is_empty() && Difference::between(&metadata, other).is_empty()
                }
                Match::None | Match::Unknown(_) => false,
            });
            (!nearest.recipients.is_empty() && !difference.is_empty() && !fits_another)
                .then(|| report(repo, path, file, &metadata, nearest, &difference))
        })
        .collect()
}

/// Who is missing in a file, and who should not be there.
#[derive(Default)]
pub(super) struct Difference<'a> {
    missing: Vec<&'a Recipient>,
    extra: Vec<&'a Recipient>,
}

impl<'a> Difference<'a> {
    /// Compares as sets; group by group, if both have the same number of groups.
    pub(super) fn between(metadata: &'a Metadata, rule: &'a CreationRule) -> Self {
        let grouped = rule.key_groups > 1 && rule.key_groups == metadata.key_groups;
        let same = |left: &Recipient, right: &Recipient| {
            left.same_key(right) && (!grouped || left.group == right.group)
        };
        let without = |these: &'a [Recipient], those: &[Recipient]| -> Vec<&'a Recipient> {
            these
                .iter()
                .filter(|this| !those.iter().any(|that| same(this, that)))
                .collect()
        };
        Self {
            missing: without(&rule.recipients, &metadata.recipients),
            extra: if rule.has_plugin_keys {
                Vec::new()
            } else {
                without(&metadata.recipients, &rule.recipients)
            },
        }
    }

    /// True if the file has whom the rule names.
    pub(super) fn is_empty(&self) -> bool {
        self.missing.is_empty() && self.extra.is_empty()
    }
}

fn report(
    repo: &Repo,
    path: &str,
    file: FileId,
    metadata: &Metadata,
    rule: &CreationRule,
    difference: &Difference,
) -> Finding {
    let names = |recipients: &[&Recipient]| {
        let names: Vec<String> = recipients.iter().map(|one| format!("`{one}`")).collect();
        list(&names)
    };
    let (severity, place, message) = match (&*difference.missing, &*difference.extra) {
        (missing, []) => (
            Severity::Error,
            missing_place(repo, file, metadata, missing),
            format!(
                "the file is not encrypted for {}, as its creation rule says: who has only that key cannot decrypt it",
                names(missing)
            ),
        ),
        ([], extra) => (
            Severity::Warning,
            extra.first().map_or(metadata.place, |one| one.place),
            format!(
                "the file is encrypted for {}, whom its creation rule does not name: who has that key can still read it",
                names(extra)
            ),
        ),
        (missing, extra) => (
            Severity::Error,
            missing_place(repo, file, metadata, missing),
            format!(
                "the file is encrypted for {} instead of {}, as its creation rule says",
                names(extra),
                names(missing)
            ),
        ),
    };
    let mut finding = Finding::new(RULE.name, severity, place, message).help(if difference
        .extra
        .is_empty()
    {
        format!("run `sops updatekeys {path}`")
    } else {
        format!("run `sops updatekeys {path}`; if a key has been withdrawn, change the values too, since the old file stays in git's history")
    });
    for one in &difference.missing {
        finding = finding.related(one.place, format!("the creation rule names `{one}`"));
    }
    for one in &difference.extra {
        if one.place != place {
            finding = finding.related(one.place, format!("`{one}` can decrypt the file"));
        }
    }
    if difference.missing.is_empty() {
        finding = finding.related(rule.place, "the creation rule");
    }
    finding
}

/// The list that lacks the recipient: that of its kind, else the whole block.
fn missing_place(repo: &Repo, file: FileId, metadata: &Metadata, missing: &[&Recipient]) -> Place {
    let of_kind = || {
        let kind = missing.first()?.kind;
        let documents = &repo.files.yaml(file).documents;
        let sops = documents.first()?.root.get("sops")?;
        Some(sops.entry(kind.metadata_key())?.key.place)
    };
    of_kind().unwrap_or(metadata.place)
}
