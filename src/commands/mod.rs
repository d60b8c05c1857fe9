//! The commands: one file each.

pub mod idle_config;
pub mod open;
pub mod verbose;

pub mod build;
pub mod check;
pub mod completions;
pub mod demo;
pub mod explain;
pub mod graph;
pub mod init;
pub mod plan;
pub mod rules;
pub mod waves;
