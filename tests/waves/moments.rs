//! The repository as it is meant to be, at its three moments, is clean.

use crate::support::{assert_finds, homelab};

#[test]
fn each_moment_is_clean_alone_and_against_itself() {
    for moment in ["flat", "prune-off", "waves"] {
        let tree = homelab(moment);
        assert_finds(&tree, None, &[]);
        assert_finds(&tree, Some(&tree), &[]);
    }
}

#[test]
fn turning_pruning_off_before_the_cutover_is_clean() {
    assert_finds(&homelab("prune-off"), Some(&homelab("flat")), &[]);
}

#[test]
fn the_cutover_itself_is_clean() {
    assert_finds(&homelab("waves"), Some(&homelab("prune-off")), &[]);
}
