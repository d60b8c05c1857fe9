//! wavelint: the linter that tells a Flux CD repository, before the commit, what Flux would do wrong after it.
//!
//! The data flows in one line, and each module knows only those before it:
//! arguments → snapshot → sources → YAML → kustomize → Flux → waves → rules → report.
#![forbid(unsafe_code)]

// In the order of the line: a module may use those above it, never one below (tests/architecture.rs).
pub mod cli;
pub mod near;
pub mod go_regex;
pub mod graph;
pub mod terminal;
pub mod git;
pub mod snapshot;
pub mod source;
pub mod yaml;
pub mod finding;
pub mod config;
pub mod tree;
pub mod private_key;
pub mod sops;
pub mod kustomize;
pub mod substitute;
pub mod flux;
pub mod waves;
pub mod picture;
pub mod change;
pub mod repo;
pub mod rules;
pub mod levels;
pub mod fingerprint;
pub mod suppress;
pub mod plan;
pub mod fix;
pub mod draw;
pub mod report;
pub mod lint;
pub mod commands;
