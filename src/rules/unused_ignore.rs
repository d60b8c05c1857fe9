//! `unused-ignore`: an inline ignore that suppresses nothing, names no rule, or gives no reason.
//!
//! It can only be judged when all other rules have run, so the suppression itself
//! reports it; here it is described.

use super::{Group, Rule};
use crate::finding::Finding;
use crate::repo::Repo;

pub(super) static RULE: Rule = Rule {
    name: "unused-ignore",
    group: Group::Build,
    summary: "an inline ignore suppresses nothing, names no rule, or gives no reason",
    page: include_str!("../../rules/unused-ignore.md"),
    off_by_default: false,
    compares: false,
    check,
};

/// Nothing: see [`crate::suppress`], which comes after the rules.
fn check(_: &Repo) -> Vec<Finding> {
    Vec::new()
}
