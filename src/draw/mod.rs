//! What each cluster reconciles, drawn: a tree for the terminal, Mermaid, Graphviz, an image.

mod dot;
mod map;
mod mermaid;
mod svg;
mod tree;

pub use dot::dot;
pub use map::{ClusterMap, Dependency, Item, Problem};
pub use mermaid::mermaid;
pub use svg::svg;
pub use tree::tree;
