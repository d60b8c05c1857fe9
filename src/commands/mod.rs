//! The commands: one file each.

pub mod completions;
pub mod explain;
pub mod init;
pub mod rules;
