//! What the rules see: the picture at head, the picture at base if there is one, and what changed.

/// Everything a rule may ask.
pub struct Repo {}
