//! A text of a SOPS file's metadata, with its place.

use smol_str::SmolStr;

use crate::source::Place;

/// A text and where it is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Text {
    /// The text.
    pub text: SmolStr,
    /// Where it is written.
    pub place: Place,
}
