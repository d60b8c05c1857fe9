//! Steps, each one commit, that bring every service to its computed wave without Flux deleting anything.
//!
//! A plan is made by doing: from a tree that is taken as reconciled the next step is found, done in
//! memory, and the plan goes on from there. So a plan says nothing that it has not looked at, and
//! after a step is committed what remains is the plan of the new tree.

mod draft;
mod guard;
mod relocate;
mod wave;

use std::collections::BTreeMap;

use crate::change::{Change, Fate};
use crate::config::Config;
use crate::finding::Move;
use crate::picture::Picture;
use crate::tree::Files;

pub use draft::Draft;

/// More steps than any plan has.
const MAX_STEPS: usize = 64;

/// What a step does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StepKind {
    /// Keeps objects from being pruned.
    Guard,
    /// Makes a wave.
    Create,
    /// Moves services to their waves.
    Move,
    /// Takes the guards away.
    Release,
    /// Takes an empty wave away.
    Remove,
}

impl StepKind {
    /// The word for it in every output.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Guard => "guard",
            Self::Create => "create",
            Self::Move => "move",
            Self::Release => "release",
            Self::Remove => "remove",
        }
    }
}

/// One step: one commit, to be reconciled before the next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// What it does.
    pub kind: StepKind,
    /// In a few words.
    pub title: String,
    /// Why it is needed, and why now.
    pub why: String,
    /// Commands that show that Flux has reconciled it.
    pub verify: Vec<String>,
    /// The files that it writes: path and bytes; `None` for one that it removes. Moved files are not among them.
    pub writes: BTreeMap<String, Option<Vec<u8>>>,
    /// Files that it moves, byte for byte.
    pub moves: Vec<Move>,
}

/// A plan, and what it cannot do.
#[derive(Clone, Debug, Default)]
pub struct Plan {
    /// The steps, in order.
    pub steps: Vec<Step>,
    /// Why the plan stops before everything is in place; one reason each.
    pub obstacles: Vec<String>,
}

/// A tree, understood.
pub(crate) struct Moment {
    files: Files,
    picture: Picture,
}

/// Plans from a tree on.
pub fn plan(start: &Draft, config: &Config, remotes: &[String]) -> Plan {
    let mut plan = Plan::default();
    let mut draft = start.clone();
    while plan.steps.len() < MAX_STEPS {
        let moment = draft.understand(config, remotes);
        let context = Context {
            config,
            remotes,
            draft: &draft,
            moment: &moment,
        };
        match context.next() {
            Ok(Some(step)) => {
                let next = draft.after(&step);
                if next == draft {
                    return plan;
                }
                draft = next;
                plan.steps.push(step);
            }
            Ok(None) => return plan,
            Err(obstacles) => {
                plan.obstacles = obstacles;
                return plan;
            }
        }
    }
    plan
}

/// Where a step is looked for.
pub(crate) struct Context<'a> {
    config: &'a Config,
    remotes: &'a [String],
    draft: &'a Draft,
    moment: &'a Moment,
}

impl Context<'_> {
    /// The next step; `None` if everything is in place; or why there is none.
    fn next(&self) -> Result<Option<Step>, Vec<String>> {
        let misplaced = relocate::misplaced(self);
        if misplaced.is_empty() {
            return match guard::release(self)? {
                Some(step) => Ok(Some(step)),
                None => Ok(wave::remove(self)),
            };
        }
        if let Some(step) = wave::create(self, &misplaced)? {
            return Ok(Some(step));
        }
        let step = relocate::step(self, &misplaced)?;
        let lost = self.lost(&step);
        if lost.is_empty() {
            return Ok(Some(step));
        }
        guard::guard(self, &misplaced, &lost).map(Some)
    }

    /// What some order of reconciles would delete in a step: objects, by cluster and index at the base.
    fn lost(&self, step: &Step) -> Vec<(usize, (usize, usize))> {
        let mut files = Files::default();
        let head = self.draft.after(step);
        let after = files.add(head.snapshot(), crate::source::Revision::Head, None);
        let before = files.add(
            self.draft.snapshot(),
            crate::source::Revision::Base,
            Some(&after),
        );
        let after = Picture::new(&files, after, self.config, self.remotes, &[]);
        let before = Picture::new(&files, before, self.config, self.remotes, &[]);
        let change = Change::between(&files, self.config, &before, &after);
        change
            .clusters
            .iter()
            .flat_map(|cluster| {
                cluster
                    .departures
                    .iter()
                    .filter(|departure| departure.fate != Fate::Safe)
                    .map(|departure| (cluster.base, departure.before))
            })
            .collect()
    }
}
