//! What kustomize-controller can do between two revisions, as a machine that is explored.
//!
//! A [`World`] is one cluster that was reconciled at the base when the head was pushed. Any
//! Kustomization may reconcile at any moment that its suspension, its dependencies and its
//! source allow; nothing else is ordered. One reconcile applies, takes over ownership, and
//! prunes at once; health checks come after it. [`World::fate`] asks for one object whether
//! some, all or no order of these steps deletes it.
//!
//! The search is small: only Kustomizations that can matter for the object take part, and a
//! step that changes nothing but the readiness of its own Kustomization, for the better, is
//! taken at once, since waiting with it could only keep others from moving.

use std::cell::Cell;
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::Arc;

use super::guards::Marks;

/// More states than any move of a real repository has; beyond, the answer is the careful one.
const MAX_STATES: usize = 40_000;

/// So many records of Kustomizations are copied in one search at most; beyond, the same.
const MAX_WORK: usize = 4_000_000;

/// A cluster between two revisions. Objects, Kustomizations and sources are numbers.
#[derive(Clone, Debug, Default)]
pub struct World {
    /// The Kustomizations of both revisions.
    pub actors: Vec<Actor>,
    /// For each source, true if the commit changes what it holds.
    pub sources: Vec<bool>,
}

/// A Kustomization.
#[derive(Clone, Debug)]
pub struct Actor {
    /// Itself as an object.
    pub object: usize,
    /// How it stands at the base; `None` if it is not there yet.
    pub base: Option<Standing>,
    /// Its specs: those that a cluster may hold at some moment; at the base the first.
    pub specs: Vec<Spec>,
    /// The spec that something outside the cluster's Kustomizations may give it at any moment.
    pub updated_from_outside: Option<usize>,
}

/// How an actor, as an object, stands at the base.
#[derive(Clone, Copy, Debug, Default)]
pub struct Standing {
    /// The actor whose labels it has.
    pub owner: Option<usize>,
    /// What its metadata says.
    pub marks: Marks,
}

/// The fields of a Kustomization that decide what it does.
#[derive(Clone, Debug)]
pub struct Spec {
    /// Its source.
    pub source: usize,
    /// `suspend`.
    pub suspended: bool,
    /// `prune`.
    pub prunes: bool,
    /// True if its finalizer deletes what it owns.
    pub deletes: bool,
    /// `dependsOn`.
    pub depends_on: Vec<Dependency>,
    /// `wait`.
    pub waits: bool,
    /// The Kustomizations that `healthChecks` name; `None` for one that is nowhere.
    pub health_checks: Vec<Option<usize>>,
    /// What it makes of the base and of the head.
    pub builds: [Outcome; 2],
}

/// One entry of `dependsOn`.
#[derive(Clone, Copy, Debug)]
pub struct Dependency {
    /// What it names; `None` if that is nowhere.
    pub actor: Option<usize>,
    /// `readyExpr` stands in for the built-in check: it may hold at any moment.
    pub any_moment: bool,
}

/// What a Kustomization makes of a revision.
#[derive(Clone, Debug, Default)]
pub enum Outcome {
    /// It refuses, and so applies and prunes nothing.
    #[default]
    Fails,
    /// It applies these.
    Applies(Arc<Applied>),
}

/// What one reconcile applies.
#[derive(Clone, Debug, Default)]
pub struct Applied {
    /// All objects, with what their metadata says.
    pub objects: BTreeMap<usize, Marks>,
    /// Those that are Kustomizations: actor and the number of the spec that it gets.
    pub children: Vec<(usize, usize)>,
}

/// Whether an object survives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// No order deletes it.
    Safe,
    /// Some orders do.
    Race,
    /// Every order does.
    Lost,
}

impl Applied {
    fn spec_of(&self, actor: usize) -> Option<usize> {
        self.children
            .iter()
            .find(|(child, _)| *child == actor)
            .map(|(_, spec)| *spec)
    }
}

impl Outcome {
    fn applied(&self) -> Option<&Applied> {
        match self {
            Self::Fails => None,
            Self::Applies(applied) => Some(applied),
        }
    }
}

impl World {
    /// Whether an object survives the change. `owners` are those that apply it at the base:
    /// its labels are those of any of them.
    pub fn fate(&self, object: usize, owners: &[usize]) -> Fate {
        let search = Search::new(self, object);
        let mut starts: Vec<State> = owners
            .iter()
            .map(|owner| search.start(Some(*owner)))
            .collect();
        if search.as_actor.is_some() || starts.is_empty() {
            starts = vec![search.start(None)];
        }
        search.explore(starts)
    }
}

/// The search for one object: the actors that matter, renumbered.
struct Search<'a> {
    world: &'a World,
    object: usize,
    /// The object as an actor, if it is a Kustomization.
    as_actor: Option<usize>,
    /// The actors that take part, ascending.
    cast: Vec<usize>,
    /// For each actor its position in the cast.
    role: Vec<Option<usize>>,
    /// The records copied so far.
    work: Cell<usize>,
}

/// The cluster at one moment.
#[derive(Clone, PartialEq, Eq, Hash)]
struct State {
    /// For each source, true once it holds the head.
    advanced: Vec<bool>,
    actors: Vec<ActorState>,
    /// The object, where it is no Kustomization and is there.
    object: Option<Live>,
    /// True once the object was deleted.
    lost: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Live {
    owner: Option<usize>,
    marks: Marks,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct ActorState {
    /// Itself as an object; `None` if it is not there.
    live: Option<Live>,
    /// Deleted, and its finalizer has not run yet.
    ending: bool,
    spec: usize,
    /// The spec and revision of the last apply: what its inventory lists.
    inventory: Option<(usize, usize)>,
    ready: bool,
    /// Applied and pruned; its health checks run.
    checking: bool,
    /// The last applied revision.
    applied: Option<usize>,
}

const ABSENT: ActorState = ActorState {
    live: None,
    ending: false,
    spec: 0,
    inventory: None,
    ready: false,
    checking: false,
    applied: None,
};

impl<'a> Search<'a> {
    fn new(world: &'a World, object: usize) -> Self {
        let as_actor = world.actors.iter().position(|actor| actor.object == object);
        let applies = |actor: &Actor, object: usize| {
            outcomes(actor).any(|applied| applied.objects.contains_key(&object))
        };
        // An actor is in the cast, or also a gate: somebody waits until it is ready.
        let mut cast: BTreeMap<usize, bool> = BTreeMap::new();
        let mut pending: Vec<(usize, bool)> =
            as_actor.into_iter().map(|actor| (actor, false)).collect();
        pending.extend(
            (0..world.actors.len())
                .filter(|at| applies(&world.actors[*at], object))
                .map(|at| (at, false)),
        );
        while let Some((at, gate)) = pending.pop() {
            let known = cast.get(&at).copied();
            if known.is_some_and(|known| known || !gate) {
                continue;
            }
            cast.insert(at, gate);
            let actor = &world.actors[at];
            for other in 0..world.actors.len() {
                if applies(&world.actors[other], actor.object) {
                    pending.push((other, false));
                }
            }
            for spec in &actor.specs {
                let dependencies = spec.depends_on.iter().filter_map(|entry| entry.actor);
                pending.extend(dependencies.map(|actor| (actor, true)));
                if gate {
                    let named = spec.health_checks.iter().flatten();
                    pending.extend(named.map(|actor| (*actor, true)));
                }
                if gate && spec.waits {
                    let applied = spec.builds.iter().filter_map(Outcome::applied);
                    let children = applied.flat_map(|applied| &applied.children);
                    pending.extend(children.map(|(child, _)| (*child, true)));
                }
            }
        }
        let cast: Vec<usize> = cast.into_keys().collect();
        let mut role = vec![None; world.actors.len()];
        for (position, actor) in cast.iter().enumerate() {
            role[*actor] = Some(position);
        }
        Self {
            world,
            object,
            as_actor: as_actor.and_then(|actor| role[actor]),
            cast,
            role,
            work: Cell::new(0),
        }
    }

    fn is_exhausted(&self) -> bool {
        self.work.get() > MAX_WORK
    }

    fn actor(&self, at: usize) -> &Actor {
        &self.world.actors[self.cast[at]]
    }

    /// All in the cluster as at the base, and ready; a single source already holds the head.
    fn start(&self, owner: Option<usize>) -> State {
        let moving = self.world.sources.iter().filter(|moves| **moves).count();
        let actors = (0..self.cast.len())
            .map(|at| {
                let actor = self.actor(at);
                let Some(standing) = actor.base else {
                    return ABSENT;
                };
                ActorState {
                    live: Some(Live {
                        owner: standing.owner.and_then(|owner| self.role[owner]),
                        marks: standing.marks,
                    }),
                    inventory: Some((0, 0)),
                    ready: true,
                    applied: Some(0),
                    ..ABSENT
                }
            })
            .collect();
        let object = owner.filter(|_| self.as_actor.is_none()).map(|owner| Live {
            owner: self.role[owner],
            marks: self.world.actors[owner].specs[0].builds[0]
                .applied()
                .and_then(|applied| applied.objects.get(&self.object))
                .copied()
                .unwrap_or_default(),
        });
        State {
            advanced: self
                .world
                .sources
                .iter()
                .map(|moves| *moves && moving == 1)
                .collect(),
            actors,
            object,
            lost: false,
        }
    }

    fn explore(&self, starts: Vec<State>) -> Fate {
        let mut numbers: HashMap<State, usize> = HashMap::new();
        let mut states: Vec<State> = Vec::new();
        let mut before: Vec<Vec<usize>> = Vec::new();
        let mut pending = VecDeque::new();
        let mut number = |state: State,
                          from: Option<usize>,
                          pending: &mut VecDeque<usize>,
                          states: &mut Vec<State>,
                          before: &mut Vec<Vec<usize>>| {
            let next = states.len();
            let at = *numbers.entry(state.clone()).or_insert(next);
            if at == next {
                states.push(state);
                before.push(Vec::new());
                pending.push_back(at);
            }
            before[at].extend(from);
        };
        for mut state in starts {
            self.settle(&mut state);
            number(state, None, &mut pending, &mut states, &mut before);
        }
        while let Some(at) = pending.pop_front() {
            if states[at].lost {
                continue;
            }
            if states.len() > MAX_STATES || self.is_exhausted() {
                return Fate::Race;
            }
            let state = states[at].clone();
            for mut next in self.steps(&state) {
                self.settle(&mut next);
                number(next, Some(at), &mut pending, &mut states, &mut before);
            }
        }
        if self.is_exhausted() {
            return Fate::Race;
        }
        // Every order that lets each possible step happen at last ends where no deletion is
        // ahead any more; so all orders delete if a deletion is ahead of every state.
        let mut ahead = vec![false; states.len()];
        let mut back: Vec<usize> = (0..states.len()).filter(|at| states[*at].lost).collect();
        for at in &back {
            ahead[*at] = true;
        }
        if back.is_empty() {
            return Fate::Safe;
        }
        while let Some(at) = back.pop() {
            for from in &before[at] {
                if !ahead[*from] {
                    ahead[*from] = true;
                    back.push(*from);
                }
            }
        }
        if ahead.iter().all(|ahead| *ahead) {
            Fate::Lost
        } else {
            Fate::Race
        }
    }

    /// All states that one step leads to.
    fn steps(&self, state: &State) -> Vec<State> {
        let mut next = Vec::new();
        for (source, moves) in self.world.sources.iter().enumerate() {
            if *moves && !state.advanced[source] {
                let mut state = state.clone();
                state.advanced[source] = true;
                next.push(state);
            }
        }
        for at in 0..self.cast.len() {
            next.extend(self.reconcile(state, at));
            next.extend(self.finalize(state, at));
            next.extend(self.update_from_outside(state, at));
        }
        next.retain(|next| next != state);
        next
    }

    /// Takes the steps that can only help others, until there is none.
    fn settle(&self, state: &mut State) {
        loop {
            let mut changed = self.pass_health_checks(state);
            for at in 0..self.cast.len() {
                if self.is_exhausted() {
                    return;
                }
                for next in [self.reconcile(state, at), self.finalize(state, at)] {
                    let Some(mut next) = next else { continue };
                    self.pass_health_checks(&mut next);
                    if next != *state && self.is_quiet(state, &next, at) {
                        *state = next;
                        changed = true;
                    }
                }
            }
            if !changed || self.is_exhausted() {
                return;
            }
        }
    }

    /// True if a step of one actor changed nothing but its own record, did not make it unready,
    /// and did not let go of anything that still carries its labels.
    fn is_quiet(&self, before: &State, after: &State, at: usize) -> bool {
        let (old, new) = (&before.actors[at], &after.actors[at]);
        let others_alike = before
            .actors
            .iter()
            .zip(&after.actors)
            .enumerate()
            .all(|(other, (old, new))| other == at || old == new);
        others_alike
            && (!old.ready || new.ready)
            && (old.ending || old.spec == new.spec && old.live == new.live)
            && before.object == after.object
            && before.lost == after.lost
            && !self.lets_go(before, after, at)
    }

    /// True if something with an actor's labels left its inventory and is still there.
    fn lets_go(&self, before: &State, after: &State, at: usize) -> bool {
        let leaves = |object: &usize| {
            let lists = |state| {
                self.inventory(state, at)
                    .is_some_and(|applied| applied.objects.contains_key(object))
            };
            lists(before) && !lists(after)
        };
        let is_own = |live: Option<Live>| live.is_some_and(|live| live.owner == Some(at));
        is_own(after.object) && leaves(&self.object)
            || (0..self.cast.len())
                .any(|role| is_own(after.actors[role].live) && leaves(&self.actor(role).object))
    }

    /// Health checks of all that wait for Kustomizations; true if one passed.
    fn pass_health_checks(&self, state: &mut State) -> bool {
        let mut any = false;
        loop {
            let passed = (0..self.cast.len()).find(|at| self.is_healthy(state, *at));
            let Some(at) = passed else { return any };
            state.actors[at].checking = false;
            state.actors[at].ready = true;
            any = true;
        }
    }

    fn is_healthy(&self, state: &State, at: usize) -> bool {
        let own = &state.actors[at];
        if !own.checking || own.ending || own.live.is_none() {
            return false;
        }
        let Some((spec_number, revision)) = own.inventory else {
            return false;
        };
        let spec = &self.actor(at).specs[spec_number];
        let is_ready = |actor: usize| match self.role[actor] {
            Some(role) => role == at || state.actors[role].ready,
            None => true,
        };
        if spec.waits {
            let children = spec.builds[revision].applied();
            children
                .into_iter()
                .flat_map(|applied| &applied.children)
                .all(|(child, _)| is_ready(*child))
        } else {
            spec.health_checks
                .iter()
                .all(|actor| actor.is_some_and(is_ready))
        }
    }

    /// The state after an actor's reconcile; `None` if it cannot run now.
    fn reconcile(&self, state: &State, at: usize) -> Option<State> {
        let own = &state.actors[at];
        own.live.filter(|_| !own.ending)?;
        let spec = &self.actor(at).specs[own.spec];
        if spec.suspended
            || !spec
                .depends_on
                .iter()
                .all(|entry| self.is_met(state, spec.source, entry))
        {
            return None;
        }
        let revision = usize::from(state.advanced[spec.source]);
        self.work.set(self.work.get() + self.cast.len());
        let mut next = state.clone();
        let Some(applied) = spec.builds[revision].applied() else {
            next.actors[at].ready = false;
            next.actors[at].checking = false;
            return Some(next);
        };
        self.apply(&mut next, at, applied);
        if spec.prunes {
            let stale: Vec<usize> = self
                .inventory(state, at)
                .into_iter()
                .flat_map(|old| old.objects.keys())
                .filter(|object| !applied.objects.contains_key(*object))
                .copied()
                .collect();
            self.delete(&mut next, at, &stale);
        }
        let after = &mut next.actors[at];
        after.inventory = Some((own.spec, revision));
        after.applied = Some(revision);
        let current = after.spec == own.spec && !after.ending;
        after.ready = false;
        after.checking = current;
        self.pass_health_checks(&mut next);
        Some(next)
    }

    /// What the inventory of an actor lists.
    fn inventory(&self, state: &State, at: usize) -> Option<&Applied> {
        let (spec, revision) = state.actors[at].inventory?;
        self.actor(at).specs[spec].builds[revision].applied()
    }

    /// True if a dependency counts as ready for a Kustomization of a source.
    fn is_met(&self, state: &State, source: usize, entry: &Dependency) -> bool {
        let Some(role) = entry.actor.and_then(|actor| self.role[actor]) else {
            return false;
        };
        let dependency = &state.actors[role];
        if dependency.live.is_none() {
            return false;
        }
        if entry.any_moment {
            return true;
        }
        let same_source = self.actor(role).specs[dependency.spec].source == source;
        let revision = usize::from(state.advanced[source]);
        dependency.ready && (!same_source || dependency.applied == Some(revision))
    }

    /// Applies objects: those of the cast, and the one in question.
    fn apply(&self, state: &mut State, at: usize, applied: &Applied) {
        for role in 0..self.cast.len() {
            let actor = self.actor(role);
            let Some(marks) = applied.objects.get(&actor.object) else {
                continue;
            };
            let spec = applied.spec_of(self.cast[role]).unwrap_or_default();
            let child = &mut state.actors[role];
            if !may_apply(*marks, child.live.map(|live| live.marks)) {
                continue;
            }
            if child.live.is_none() {
                *child = ActorState { spec, ..ABSENT };
            } else if child.spec != spec {
                child.spec = spec;
                child.ready = false;
                child.checking = false;
            }
            child.live = Some(Live {
                owner: Some(at),
                marks: *marks,
            });
        }
        if self.as_actor.is_none()
            && let Some(marks) = applied.objects.get(&self.object)
            && may_apply(*marks, state.object.map(|live| live.marks))
        {
            state.object = Some(Live {
                owner: Some(at),
                marks: *marks,
            });
        }
    }

    /// Deletes those of the objects that still carry an actor's labels and are not guarded.
    fn delete(&self, state: &mut State, at: usize, objects: &[usize]) {
        let deletes = |live: Option<Live>| {
            live.is_some_and(|live| live.owner == Some(at) && !live.marks.kept)
        };
        for role in 0..self.cast.len() {
            let child = &mut state.actors[role];
            if objects.contains(&self.actor(role).object) && deletes(child.live) && !child.ending {
                child.ending = true;
                child.ready = false;
                child.checking = false;
                state.lost |= self.as_actor == Some(role);
            }
        }
        if self.as_actor.is_none() && objects.contains(&self.object) && deletes(state.object) {
            state.object = None;
            state.lost = true;
        }
    }

    /// The finalizer of a deleted Kustomization.
    fn finalize(&self, state: &State, at: usize) -> Option<State> {
        let own = &state.actors[at];
        own.live.filter(|_| own.ending)?;
        let mut next = state.clone();
        let spec = &self.actor(at).specs[own.spec];
        if spec.deletes && !spec.suspended {
            let listed: Vec<usize> = self
                .inventory(state, at)
                .into_iter()
                .flat_map(|applied| applied.objects.keys().copied())
                .collect();
            self.delete(&mut next, at, &listed);
        }
        next.actors[at] = ABSENT;
        Some(next)
    }

    fn update_from_outside(&self, state: &State, at: usize) -> Option<State> {
        let spec = self.actor(at).updated_from_outside?;
        let own = &state.actors[at];
        own.live.filter(|_| !own.ending && own.spec != spec)?;
        let mut next = state.clone();
        let own = &mut next.actors[at];
        own.spec = spec;
        own.ready = false;
        own.checking = false;
        Some(next)
    }
}

fn may_apply(wanted: Marks, live: Option<Marks>) -> bool {
    !wanted.untouched && live.is_none_or(|live| !live.untouched && !wanted.only_created)
}

fn outcomes(actor: &Actor) -> impl Iterator<Item = &Applied> {
    actor
        .specs
        .iter()
        .flat_map(|spec| spec.builds.iter().filter_map(Outcome::applied))
}
