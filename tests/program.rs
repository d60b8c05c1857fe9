//! The program as users run it: the real binary in real git repositories made by the real git.
#![allow(clippy::print_stdout)]

#[path = "program/arguments.rs"]
mod arguments;
#[path = "program/drifts.rs"]
mod drifts;
#[path = "program/fixes.rs"]
mod fixes;
#[path = "program/hostile.rs"]
mod hostile;
#[path = "program/output.rs"]
mod output;
#[path = "program/plan.rs"]
mod plan;
#[path = "program/readme.rs"]
mod readme;
#[path = "program/repository.rs"]
mod repository;
