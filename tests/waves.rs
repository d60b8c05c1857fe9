//! Waves, whole: the repository of testdata/homelab, every drift in every form it takes, other
//! layouts, and the mends.

mod harness;

#[path = "waves/drifts.rs"]
mod drifts;
#[path = "waves/layouts.rs"]
mod layouts;
#[path = "waves/mends.rs"]
mod mends;
#[path = "waves/moments.rs"]
mod moments;
#[path = "waves/overview.rs"]
mod overview;
#[path = "waves/support.rs"]
mod support;
#[path = "waves/tables.rs"]
mod tables;
