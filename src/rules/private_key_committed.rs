//! `private-key-committed`: a private key in clear.

use rayon::prelude::*;

use super::support::encrypted::is_large_or_binary;
use super::{Group, Rule};
use crate::finding::{Finding, Severity};
use crate::private_key::{self, PrivateKey};
use crate::repo::Repo;
use crate::source::{FileId, Place};

pub(super) static RULE: Rule = Rule {
    name: "private-key-committed",
    group: Group::Sops,
    summary: "an age, OpenPGP, SSH or TLS private key is committed in clear",
    page: include_str!("../../rules/private-key-committed.md"),
    off_by_default: false,
    compares: false,
    check,
};

/// Larger files hold data, not keys.
const MAX_BYTES: usize = 1024 * 1024;

fn check(repo: &Repo) -> Vec<Finding> {
    let candidates: Vec<(&str, FileId)> = repo
        .head
        .tree
        .files()
        .filter(|(path, _)| !is_large_or_binary(path) && !repo.config.exclude.matches(path))
        .collect();
    candidates
        .into_par_iter()
        .flat_map_iter(|(path, file)| {
            let keys = repo.files.peek(file, |bytes| {
                let is_text = bytes.len() <= MAX_BYTES && !bytes.contains(&0);
                if is_text {
                    private_key::find(bytes)
                } else {
                    Vec::new()
                }
            });
            // Places are in text; bytes that are none have no lines.
            let is_text = keys.is_empty() || repo.files.content(file).text().is_some();
            keys.into_iter()
                .filter(move |_| is_text)
                .map(move |key| report(path, file, &key))
        })
        .collect()
}

fn report(path: &str, file: FileId, key: &PrivateKey) -> Finding {
    let (help, how) = if key.kind == "age secret key" {
        (
            "replace the key: make a new one with `age-keygen`, run `sops updatekeys` and `sops rotate` on every file encrypted for it, and change the values: whoever has the repository can read all of them",
            "",
        )
    } else {
        (
            "replace the key wherever it is used, and keep the new one encrypted or outside the repository: this one stays in git's history",
            if key.encoded { ", in base64," } else { "" },
        )
    };
    Finding::new(
        RULE.name,
        Severity::Error,
        Place {
            file,
            span: key.span,
        },
        format!("`{path}` holds a private key in clear{how} ({})", key.kind),
    )
    .help(help)
}
