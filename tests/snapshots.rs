//! Snapshots of real repositories, checked against what git itself says.

#[path = "snapshots/base.rs"]
mod base;
#[path = "snapshots/blob_ids.rs"]
mod blob_ids;
#[path = "snapshots/index.rs"]
mod index;
#[path = "snapshots/layouts.rs"]
mod layouts;
#[path = "snapshots/support.rs"]
mod support;
#[path = "snapshots/work_tree.rs"]
mod work_tree;
