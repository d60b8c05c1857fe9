//! The rules: one file each, one list.

mod combine;
mod losses;
mod problems;
mod support;
mod variables;

mod base_forked;
mod blast_radius;
mod build_fails;
mod creation_rule_changed;
mod custom_resource_before_crd;
mod dependency_cycle;
mod depends_on_cycle;
mod depends_on_not_found;
mod depends_on_not_gated;
mod duplicate_key;
mod duplicate_object;
mod duplicate_service;
mod encrypted_metadata;
mod flux_object_in_kustomization_file;
mod health_checks_ignored;
mod helm_depends_on_not_found;
mod ignored_field;
mod immutable_selector_changed;
mod invalid_substitution;
mod invalid_variable_name;
mod invalid_yaml;
mod manifest_not_listed;
mod missing_decryption;
mod missing_depends_on;
mod moved_file_changed;
mod moved_object_changed;
mod namespace_missing;
mod namespace_not_found;
mod namespace_object_renamed;
mod not_a_manifest;
mod object_owned_twice;
mod overlapping_paths;
mod overlay_adds_resource;
mod overlay_patches_other;
mod parent_waits_for_child;
mod patch_matches_nothing;
mod patch_too_broad;
mod path_not_found;
mod plaintext_secret;
mod private_key_committed;
mod prune_on_empty;
mod prune_on_move;
mod prune_on_rename;
mod prune_on_unlist;
mod readiness_disabled;
mod recipients_differ;
mod redundant_depends_on;
mod resource_not_found;
mod sops_config_unknown_key;
mod source_not_found;
mod stale_mac;
mod stale_wave_table;
mod substituted_type;
mod substitution_in_script;
mod undefined_variable;
mod unencrypted_value;
mod unknown_app;
mod unknown_dependency;
mod unplaced_service;
mod unused_ignore;
mod unused_variable;
mod variable_not_in_base;
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
    &stale_wave_table::RULE,
    &missing_depends_on::RULE,
    &depends_on_not_found::RULE,
    &depends_on_cycle::RULE,
    &parent_waits_for_child::RULE,
    &depends_on_not_gated::RULE,
    &health_checks_ignored::RULE,
    &readiness_disabled::RULE,
    &redundant_depends_on::RULE,
    &helm_depends_on_not_found::RULE,
    &custom_resource_before_crd::RULE,
    &blast_radius::RULE,
    &missing_decryption::RULE,
    &plaintext_secret::RULE,
    &unencrypted_value::RULE,
    &recipients_differ::RULE,
    &creation_rule_changed::RULE,
    &stale_mac::RULE,
    &private_key_committed::RULE,
    &encrypted_metadata::RULE,
    &sops_config_unknown_key::RULE,
    &moved_file_changed::RULE,
    &namespace_object_renamed::RULE,
    &moved_object_changed::RULE,
    &prune_on_move::RULE,
    &prune_on_rename::RULE,
    &prune_on_unlist::RULE,
    &prune_on_empty::RULE,
    &immutable_selector_changed::RULE,
    &patch_matches_nothing::RULE,
    &undefined_variable::RULE,
    &substitution_in_script::RULE,
    &invalid_substitution::RULE,
    &invalid_variable_name::RULE,
    &substituted_type::RULE,
    &unused_variable::RULE,
    &variable_not_in_base::RULE,
    &patch_too_broad::RULE,
    &overlay_adds_resource::RULE,
    &overlay_patches_other::RULE,
    &base_forked::RULE,
    &invalid_yaml::RULE,
    &duplicate_key::RULE,
    &path_not_found::RULE,
    &source_not_found::RULE,
    &resource_not_found::RULE,
    &manifest_not_listed::RULE,
    &duplicate_object::RULE,
    &object_owned_twice::RULE,
    &overlapping_paths::RULE,
    &build_fails::RULE,
    &ignored_field::RULE,
    &not_a_manifest::RULE,
    &flux_object_in_kustomization_file::RULE,
    &namespace_not_found::RULE,
    &namespace_missing::RULE,
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
