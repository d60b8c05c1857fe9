//! YAML as a tree in which every node knows where it is written.
//!
//! The same tree serves a file as read and an object as built: a node that an
//! overlay patched in keeps the place of the patch. Collections are shared, so
//! a copy costs nothing and a change copies only the path to it.

mod cause;
mod embedded;
pub mod edit;
mod emit;
mod go_yaml;
mod node;
mod offsets;
mod parse;
mod scalar;

pub use embedded::{parse_embedded, span_in_scalar};
pub use emit::{emit_documents, emit_node};
pub use node::{Entry, Mapping, Node, Value};
pub use parse::{Comment, Document, DuplicateKey, ParseError, YamlFile, parse};
pub use scalar::{Scalar, Style, Tag, Typed, plain_text_is_string, typed_core, typed_yaml_1_1};
