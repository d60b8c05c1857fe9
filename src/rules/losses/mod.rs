//! What the prune rules share: which departures lose something, what goes with it, and why.

mod reason;
mod stateful;

use crate::change::{ClusterChange, Departure, Fate};
use crate::finding::{Certainty, Severity};
use crate::flux::{Cluster, Kustomization};
use crate::kustomize::Object;
use crate::repo::Repo;
use crate::source::{FileId, Place};

/// A cluster in both revisions, and what leaves its owners there.
pub(super) struct Comparison<'a> {
    pub(super) repo: &'a Repo<'a>,
    pub(super) before: &'a Cluster,
    pub(super) after: &'a Cluster,
    change: &'a ClusterChange,
}

/// Which rule speaks of a departure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Case {
    /// From one Kustomization (by its index at the base) to another (at the head).
    Moved { from: usize, to: usize },
    /// Its owner (by its index at the base) is gone, and another has the object.
    OwnerGone { owner: usize },
    /// Nothing applies it any more.
    Dropped,
}

/// A departure that some order of reconciles turns into a deletion.
#[derive(Clone, Copy)]
pub(super) struct Loss<'a> {
    pub(super) departure: &'a Departure,
    pub(super) case: Case,
    pub(super) owner: &'a Kustomization,
    pub(super) object: &'a Object,
}

/// All clusters that are compared.
pub(super) fn comparisons<'a>(repo: &'a Repo<'a>) -> Vec<Comparison<'a>> {
    let Some(base) = &repo.base else {
        return Vec::new();
    };
    base.change
        .clusters
        .iter()
        .map(|change| Comparison {
            repo,
            before: &base.picture.flux.clusters[change.base],
            after: &repo.head.flux.clusters[change.head],
            change,
        })
        .collect()
}

impl<'a> Comparison<'a> {
    /// What may be deleted, in the order of the objects' keys.
    pub(super) fn losses(&self) -> Vec<Loss<'a>> {
        self.change
            .departures
            .iter()
            .filter(|departure| departure.fate != Fate::Safe)
            .filter_map(|departure| {
                let (owner, object) = departure.object_before(self.before)?;
                Some(Loss {
                    departure,
                    case: self.case(departure),
                    owner,
                    object,
                })
            })
            .collect()
    }

    fn case(&self, departure: &Departure) -> Case {
        let is_gone = |index: usize| self.after.find(&self.name_before(index).name).is_none();
        let Some(to) = departure.to.first().copied() else {
            return Case::Dropped;
        };
        if let Some(owner) = departure.from.iter().copied().find(|from| is_gone(*from)) {
            return Case::OwnerGone { owner };
        }
        let stays = |from: usize| {
            let name = &self.name_before(from).name;
            departure
                .to
                .iter()
                .any(|to| self.after.kustomizations[*to].name == *name)
        };
        let from = departure
            .from
            .iter()
            .copied()
            .find(|from| !stays(*from))
            .unwrap_or(departure.from[0]);
        Case::Moved { from, to }
    }

    fn name_before(&self, index: usize) -> &'a Kustomization {
        &self.before.kustomizations[index]
    }

    /// The text of a file's documents at the head that an object comes from; else at the base.
    pub(super) fn file_after(&self, departure: &Departure) -> Option<FileId> {
        let (_, object) = departure.object_after(self.after)?;
        Some(object.origin.file)
    }

    /// Where an object is named: at the head, else at the base.
    pub(super) fn place(&self, loss: &Loss<'_>) -> Place {
        loss.departure
            .object_after(self.after)
            .map_or(loss.object.name_place(), |(_, object)| object.name_place())
    }
}

impl Loss<'_> {
    /// True if the object holds what cannot be made again.
    pub(super) fn is_stateful(&self) -> bool {
        stateful::is_stateful(self.owner, self.object)
    }

    /// `Kind namespace/name`.
    pub(super) fn name(&self) -> String {
        self.departure.key.id.to_string()
    }
}

/// How bad the loss of some objects is: an error if one of them is stateful, else as the rule says.
pub(super) fn severity(losses: &[Loss<'_>], otherwise: Severity) -> Severity {
    if losses.iter().all(|loss| loss.departure.doubtful) {
        Severity::Info
    } else if losses.iter().any(Loss::is_stateful) {
        Severity::Error
    } else {
        otherwise
    }
}

/// Certain if every order deletes all of them.
pub(super) fn certainty(losses: &[Loss<'_>]) -> Certainty {
    if losses
        .iter()
        .all(|loss| loss.departure.fate == Fate::Lost && !loss.departure.doubtful)
    {
        Certainty::Certain
    } else {
        Certainty::Race
    }
}

/// Those to speak of first: stateful before others, containers before what is in them.
pub(super) fn by_weight<'a>(mut losses: Vec<Loss<'a>>) -> Vec<Loss<'a>> {
    losses.sort_by_key(|loss| {
        (
            stateful::weight(loss.owner, loss.object),
            loss.departure.key.clone(),
        )
    });
    losses
}

/// The first few names, and how many more there are.
pub(super) fn names(losses: &[Loss<'_>], most: usize) -> String {
    let mut words: Vec<String> = losses.iter().take(most).map(Loss::name).collect();
    if losses.len() > most {
        words.push(format!("{} more", losses.len() - most));
    }
    super::support::list(&words)
}

/// Where a Kustomization says that it prunes.
pub(super) fn prune_place(kustomization: &Kustomization) -> Place {
    kustomization
        .node
        .at(&["spec", "prune"])
        .map_or(kustomization.spec.key_place, |prune| prune.place)
}
