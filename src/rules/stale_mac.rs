//! `stale-mac`: an encrypted file was edited without SOPS.

use std::collections::BTreeMap;

use super::support::encrypted::revisions_of_encrypted_files;
use super::{Group, Rule};
use crate::finding::{Finding, Severity};
use crate::repo::Repo;
use crate::sops::{self, Leaf, LeafState, Metadata};
use crate::source::{FileId, Place};

pub(super) static RULE: Rule = Rule {
    name: "stale-mac",
    group: Group::Sops,
    summary: "values of an encrypted file changed and its MAC did not",
    page: include_str!("../../rules/stale-mac.md"),
    off_by_default: false,
    compares: true,
    check,
};

fn check(repo: &Repo) -> Vec<Finding> {
    revisions_of_encrypted_files(repo)
        .into_iter()
        .filter_map(|pair| {
            let (before, after) = (&pair.base_metadata, &pair.head_metadata);
            if before.mac.text != after.mac.text {
                return None;
            }
            let changed = first_change(repo, (pair.base, before), (pair.head, after));
            let (place, what) = changed.or_else(|| changed_time(before, after))?;
            Some(
                Finding::new(
                    RULE.name,
                    Severity::Warning,
                    place,
                    format!("{what} since the base, and `mac` did not: SOPS refuses the file"),
                )
                .help(format!(
                    "take the file of the base and make the change with `sops edit {}`; Flux itself does not check the MAC",
                    pair.path
                ))
                .related(after.mac.place, "the MAC of the base"),
            )
        })
        .collect()
}

/// `lastmodified` is part of what authenticates the MAC.
fn changed_time(before: &Metadata, after: &Metadata) -> Option<(Place, String)> {
    let (before, after) = (
        before.last_modified.as_ref()?,
        after.last_modified.as_ref()?,
    );
    (before.text != after.text).then(|| (after.place, "`lastmodified` changed".to_owned()))
}

/// The first value that was not there before, else what tells that one is gone. What was
/// added in clear although it is to be encrypted is another rule's.
fn first_change(
    repo: &Repo,
    before: (FileId, &Metadata),
    after: (FileId, &Metadata),
) -> Option<(Place, String)> {
    let leaves = |(file, metadata): (FileId, &Metadata)| -> Vec<Leaf> {
        sops::leaves_of_file(repo.files, file, metadata)
            .into_iter()
            .filter(|leaf| leaf.state != LeafState::Empty)
            .filter(|leaf| !metadata.mac_only_encrypted || leaf.state == LeafState::Encrypted)
            .collect()
    };
    let old = leaves(before);
    let mut left: BTreeMap<String, usize> = BTreeMap::new();
    for leaf in &old {
        *left.entry(signature(leaf)).or_default() += 1;
    }
    let mut first = None;
    let mut left_to_another_rule = false;
    for leaf in leaves(after) {
        match left.get_mut(&signature(&leaf)) {
            Some(count) if *count > 0 => *count -= 1,
            _ if leaf.should_be_encrypted() => left_to_another_rule = true,
            _ => {
                first.get_or_insert_with(|| (leaf.place, format!("`{}` changed", path(&leaf))));
            }
        }
    }
    first.or_else(|| {
        let gone = old
            .iter()
            .find(|leaf| left.get(&signature(leaf)).is_some_and(|count| *count > 0))?;
        (!left_to_another_rule)
            .then(|| (after.1.mac.place, format!("`{}` was removed", path(gone))))
    })
}

/// What of a value counts: an encrypted one is bound to its keys, a clear one is not.
fn signature(leaf: &Leaf) -> String {
    match leaf.state {
        LeafState::Encrypted => format!("{}\0{}", leaf.path.join("\0"), leaf.text),
        _ => leaf.text.to_string(),
    }
}

fn path(leaf: &Leaf) -> String {
    leaf.path.join(".")
}
