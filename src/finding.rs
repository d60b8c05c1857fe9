//! What a rule says: a finding, with its places, its help and its fix.

use crate::source::Place;

/// How bad a finding is. Ordered: `Info < Warning < Error`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// Worth knowing.
    Info,
    /// Probably not meant.
    Warning,
    /// Flux will do wrong, or nothing.
    Error,
}

impl Severity {
    /// The word for it in every output.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Info => "info",
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }
}

/// For the prune rules: how sure a deletion is over all orders in which the controller may work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Certainty {
    /// Every order deletes.
    Certain,
    /// Some do.
    Race,
}

impl Certainty {
    /// The word for it in every output.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Certain => "certain",
            Self::Race => "race",
        }
    }
}

/// One disagreement, at its place.
#[derive(Clone, Debug)]
pub struct Finding {
    /// The rule's name.
    pub rule: &'static str,
    /// How bad it is.
    pub severity: Severity,
    /// What is and what should be; lower case, no full stop.
    pub message: String,
    /// What to do, with the exact text to write.
    pub help: Option<String>,
    /// The clusters in which it holds, by path; empty where it does not depend on a cluster.
    pub clusters: Vec<String>,
    /// For the prune rules.
    pub certainty: Option<Certainty>,
    /// Where it is.
    pub place: Place,
    /// What proves it.
    pub related: Vec<Related>,
    /// The change that mends it.
    pub fix: Option<Fix>,
}

/// A further place, and what it has to do with the finding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Related {
    /// What is there.
    pub message: String,
    /// Where.
    pub place: Place,
}

/// A change to files that mends a finding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fix {
    /// True if it cannot change what Flux does beyond mending the finding.
    pub safe: bool,
    /// What it does, in a few words.
    pub title: String,
    /// Changes of text.
    pub edits: Vec<Edit>,
    /// Files to move, byte for byte.
    pub moves: Vec<Move>,
}

/// Bytes of one file to be replaced.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edit {
    /// The bytes to replace; empty to insert.
    pub place: Place,
    /// What to write there.
    pub text: String,
}

/// A file to be moved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Move {
    /// Its path now.
    pub from: String,
    /// Its path then.
    pub to: String,
}

impl Finding {
    /// A finding with nothing but the necessary.
    pub fn new(
        rule: &'static str,
        severity: Severity,
        place: Place,
        message: impl Into<String>,
    ) -> Self {
        Self {
            rule,
            severity,
            message: message.into(),
            help: None,
            clusters: Vec::new(),
            certainty: None,
            place,
            related: Vec::new(),
            fix: None,
        }
    }

    /// With what to do.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// With a further place.
    #[must_use]
    pub fn related(mut self, place: Place, message: impl Into<String>) -> Self {
        self.related.push(Related {
            message: message.into(),
            place,
        });
        self
    }

    /// Holding in a cluster.
    #[must_use]
    pub fn cluster(mut self, cluster: impl Into<String>) -> Self {
        self.clusters.push(cluster.into());
        self
    }

    /// With a change that mends it.
    #[must_use]
    pub fn fix(mut self, fix: Fix) -> Self {
        self.fix = Some(fix);
        self
    }
}
