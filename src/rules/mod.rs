//! The rules: one file each, one list.

use crate::finding::Finding;
use crate::repo::Repo;

/// A group of rules; a group's name can stand wherever a rule's name can.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Group {
    /// Declared against placed.
    Waves,
    /// Placed against reconciled.
    Order,
    /// Encrypted, and decryptable.
    Sops,
    /// Changed since the base revision.
    Moves,
    /// What overlays do to their bases.
    Overlays,
    /// Flux's substitution.
    Variables,
    /// What makes a build fail, or build the wrong thing.
    Build,
}

impl Group {
    /// All groups, in the order of the documentation.
    pub const ALL: [Self; 7] = [
        Self::Waves,
        Self::Order,
        Self::Sops,
        Self::Moves,
        Self::Overlays,
        Self::Variables,
        Self::Build,
    ];

    /// The name in configuration and output.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Waves => "waves",
            Self::Order => "order",
            Self::Sops => "sops",
            Self::Moves => "moves",
            Self::Overlays => "overlays",
            Self::Variables => "variables",
            Self::Build => "build",
        }
    }
}

/// A rule: what it is called, what it says, how it looks.
pub struct Rule {
    /// Its name, in kebab case.
    pub name: &'static str,
    /// Its group.
    pub group: Group,
    /// One line: when it fires.
    pub summary: &'static str,
    /// The page `rules/NAME.md`.
    pub page: &'static str,
    /// True if it runs only when selected or configured.
    pub off_by_default: bool,
    /// True if it compares with the base revision, and so cannot run without one.
    pub compares: bool,
    /// Finds.
    pub check: fn(&Repo) -> Vec<Finding>,
}

/// All rules, by group, then in the order of the documentation.
pub static RULES: &[&Rule] = &[];

/// The rule of that name.
pub fn find(name: &str) -> Option<&'static Rule> {
    RULES.iter().copied().find(|rule| rule.name == name)
}
