//! The rules: one file each, one list.

mod combine;
mod losses;
mod problems;
mod support;

mod build_fails;
mod dependency_cycle;
mod depends_on_cycle;
mod depends_on_not_found;
mod duplicate_key;
mod duplicate_service;
mod immutable_selector_changed;
mod invalid_yaml;
mod manifest_not_listed;
mod missing_decryption;
mod missing_depends_on;
mod moved_file_changed;
mod moved_object_changed;
mod patch_matches_nothing;
mod path_not_found;
mod plaintext_secret;
mod prune_on_empty;
mod prune_on_move;
mod prune_on_rename;
mod prune_on_unlist;
mod resource_not_found;
mod unknown_app;
mod unknown_dependency;
mod unplaced_service;
mod unused_ignore;
mod wave_settings_differ;
mod wave_without_kustomization;
mod wrong_wave;

use crate::finding::Finding;
use crate::repo::Repo;

/// A group of rules; a group's name can stand wherever a rule's name can.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Group {
    /// Declared against placed.
    Waves,
    /// Placed against reconciled.
    Order,
    /// Encrypted, and decryptable.
    Sops,
    /// Changed since the base revision.
    Moves,
    /// What overlays do to their bases.
    Overlays,
    /// Flux's substitution.
    Variables,
    /// What makes a build fail, or build the wrong thing.
    Build,
}

impl Group {
    /// All groups, in the order of the documentation.
    pub const ALL: [Self; 7] = [
        Self::Waves,
        Self::Order,
        Self::Sops,
        Self::Moves,
        Self::Overlays,
        Self::Variables,
        Self::Build,
    ];

    /// The name in configuration and output.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Waves => "waves",
            Self::Order => "order",
            Self::Sops => "sops",
            Self::Moves => "moves",
            Self::Overlays => "overlays",
            Self::Variables => "variables",
            Self::Build => "build",
        }
    }
}

/// A rule: what it is called, what it says, how it looks.
pub struct Rule {
    /// Its name, in kebab case.
    pub name: &'static str,
    /// Its group.
    pub group: Group,
    /// One line: when it fires.
    pub summary: &'static str,
    /// The page `rules/NAME.md`.
    pub page: &'static str,
    /// True if it runs only when selected or configured.
    pub off_by_default: bool,
    /// True if it compares with the base revision, and so cannot run without one.
    pub compares: bool,
    /// Finds.
    pub check: fn(&Repo) -> Vec<Finding>,
}

/// All rules, by group, then in the order of the documentation.
pub static RULES: &[&Rule] = &[
    &wrong_wave::RULE,
    &dependency_cycle::RULE,
    &unknown_dependency::RULE,
    &duplicate_service::RULE,
    &unplaced_service::RULE,
    &unknown_app::RULE,
    &wave_without_kustomization::RULE,
    &wave_settings_differ::RULE,
    &missing_depends_on::RULE,
    &depends_on_not_found::RULE,
    &depends_on_cycle::RULE,
    &missing_decryption::RULE,
    &plaintext_secret::RULE,
    &moved_file_changed::RULE,
    &moved_object_changed::RULE,
    &prune_on_move::RULE,
    &prune_on_rename::RULE,
    &prune_on_unlist::RULE,
    &prune_on_empty::RULE,
    &immutable_selector_changed::RULE,
    &patch_matches_nothing::RULE,
    &invalid_yaml::RULE,
    &duplicate_key::RULE,
    &path_not_found::RULE,
    &resource_not_found::RULE,
    &manifest_not_listed::RULE,
    &build_fails::RULE,
    &unused_ignore::RULE,
];

/// The rule of that name.
pub fn find(name: &str) -> Option<&'static Rule> {
    RULES.iter().copied().find(|rule| rule.name == name)
}

/// Runs the wanted rules: what each finds, one finding a fault, in the order of path, offset, rule.
///
/// All rules run whose findings may stand in for another's, so a selection never shows a symptom twice.
pub fn run(repo: &Repo, wanted: &(dyn Fn(&Rule) -> bool + Sync)) -> Vec<Finding> {
    use rayon::prelude::*;
    let found: Vec<Finding> = RULES
        .par_iter()
        .filter(|rule| wanted(rule))
        .filter(|rule| !rule.compares || repo.base.is_some())
        .flat_map_iter(|rule| (rule.check)(repo))
        .collect();
    combine::combine(repo, found)
}
