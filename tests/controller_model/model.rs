//! kustomize-controller as far as it matters for ownership, explored in every order.
//!
//! What is assumed, and where it is read from (fluxcd/kustomize-controller
//! `internal/controller/kustomization_controller.go`, fluxcd/pkg `ssa/`):
//!
//! - Before the change everything is reconciled: each Kustomization has its inventory, is ready
//!   and has applied the old revision (also one that is suspended, or in a cycle).
//! - A source gets the new revision at any moment; each source for itself.
//! - A Kustomization reconciles at any moment, again and again, with the spec that is in the
//!   cluster then (`Reconcile`). It does not while it is suspended, while a dependency does not
//!   count as ready, or once it is being deleted.
//! - A dependency counts as ready if it exists, has observed its generation, is ready, and, where
//!   both have one source, has last applied that source's current revision
//!   (`checkDependencies`). With a readyExpr it only has to exist: the expression may hold at any moment.
//! - A reconcile builds first; if that fails, it changes nothing but its own readiness.
//! - It applies all objects and takes them over by the owner labels, whoever had them
//!   (`ssa/manager_apply.go` forces). A child Kustomization gets the new spec; if that differs, a new generation.
//! - Then, at once and before health checks, it deletes what its inventory listed and it no longer
//!   applies, if `prune` is set, the live object still has its labels and no guard
//!   (`prune`, `ssa/manager_delete.go`).
//!   Between apply and prune nothing else happens: a child that was created a moment ago does not get that far.
//! - Health checks pass at last, except those on Kustomizations, which must be ready themselves.
//! - A deleted Kustomization waits for its finalizer, at any moment, without looking at
//!   dependencies (`finalize`): by `deletionPolicy` it deletes what it owns, unless suspended.
//! - An object counts as deleted from the moment of the delete call, even if another owner makes
//!   it again; what a namespace takes with it is not modelled.
//! - Every step that stays possible happens at last.

use std::collections::{BTreeMap, HashMap, VecDeque};

/// One revision of a repository: what lies at each path.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Revision {
    pub(crate) paths: BTreeMap<String, Directory>,
}

/// What the build of a path yields.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Directory {
    pub(crate) manifests: Vec<Manifest>,
    /// In the directory, but in no list.
    pub(crate) unlisted: Vec<Manifest>,
    /// The build fails.
    pub(crate) broken: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Manifest {
    pub(crate) name: String,
    /// `prune: disabled`.
    pub(crate) guarded: bool,
    pub(crate) kustomization: Option<Spec>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Spec {
    pub(crate) path: String,
    pub(crate) source: usize,
    pub(crate) prune: bool,
    pub(crate) suspend: bool,
    pub(crate) wait: bool,
    /// Name, and whether there is a readyExpr.
    pub(crate) depends_on: Vec<(String, bool)>,
    /// Kustomizations that `healthChecks` names.
    pub(crate) health_checks: Vec<String>,
    pub(crate) policy: Policy,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Policy {
    MirrorPrune,
    Delete,
    Orphan,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    Never,
    Sometimes,
    Always,
}

/// The root Kustomization: it applies its own definition, which never changes.
pub(crate) const ROOT: &str = "flux-system";

/// What becomes of each object of the old revision.
pub(crate) struct Outcome {
    pub(crate) verdicts: BTreeMap<String, Verdict>,
    owners: BTreeMap<String, Vec<String>>,
}

impl Outcome {
    /// The Kustomizations that own an object at the base.
    pub(crate) fn owners(&self, name: &str) -> &[String] {
        self.owners.get(name).map(Vec::as_slice).unwrap_or_default()
    }

    /// True if an owner of the object, at the base, may itself be deleted.
    pub(crate) fn owner_may_go(&self, name: &str) -> bool {
        self.owners(name).iter().any(|owner| {
            owner != name
                && (self.verdicts.get(owner).copied().unwrap_or(Verdict::Never) != Verdict::Never
                    || owner != ROOT && self.owner_may_go(owner))
        })
    }
}

const MOST: usize = 8;
const MOST_STATES: usize = 60_000;

#[derive(Clone, PartialEq, Eq, Hash)]
struct Cluster {
    sources: [u8; 2],
    objects: [Option<Object>; MOST],
    controllers: [Option<Controller>; MOST],
    /// A bit for each object that was deleted.
    deleted: u8,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Object {
    owner: u8,
    guarded: bool,
}

/// A Kustomization object that exists.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Controller {
    spec: u8,
    deleting: bool,
    generation_observed: bool,
    ready: bool,
    /// Applied and pruned; health checks still to pass.
    in_health_checks: bool,
    /// The revision of the last apply; counts as last applied once `ready`.
    applied: Option<u8>,
    inventory: u8,
}

/// Names and specs as numbers, and what each spec applies of each revision.
struct Model {
    names: Vec<String>,
    specs: Vec<Spec>,
    builds: Vec<[Option<Vec<Built>>; 2]>,
}

#[derive(Clone, Copy)]
struct Built {
    object: usize,
    guarded: bool,
    spec: Option<usize>,
}

impl Model {
    fn new(base: &Revision, head: &Revision) -> Self {
        let mut model = Self {
            names: Vec::new(),
            specs: Vec::new(),
            builds: Vec::new(),
        };
        for revision in [base, head] {
            for manifest in revision.paths.values().flat_map(|path| &path.manifests) {
                if !model.names.contains(&manifest.name) {
                    model.names.push(manifest.name.clone());
                }
                if let Some(spec) = &manifest.kustomization
                    && !model.specs.contains(spec)
                {
                    model.specs.push(spec.clone());
                }
            }
        }
        assert!(
            model.names.len() <= MOST,
            "the model is for small repositories"
        );
        model.builds = model
            .specs
            .iter()
            .map(|spec| [base, head].map(|revision| model.build(revision, &spec.path)))
            .collect();
        model
    }

    fn build(&self, revision: &Revision, path: &str) -> Option<Vec<Built>> {
        let directory = revision.paths.get(path).filter(|one| !one.broken)?;
        Some(
            directory
                .manifests
                .iter()
                .map(|manifest| Built {
                    object: self.number(&manifest.name).expect("it is named"),
                    guarded: manifest.guarded,
                    spec: manifest
                        .kustomization
                        .as_ref()
                        .and_then(|spec| self.specs.iter().position(|other| other == spec)),
                })
                .collect(),
        )
    }

    fn number(&self, name: &str) -> Option<usize> {
        self.names.iter().position(|other| other == name)
    }

    /// The clusters that the old revision may have led to: one for each way in which objects
    /// with several owners may be labelled.
    fn starts(&self) -> Vec<Cluster> {
        let root = self.number(ROOT).expect("there is a root");
        let mut start = Cluster {
            sources: [0; 2],
            objects: [None; MOST],
            controllers: [None; MOST],
            deleted: 0,
        };
        let mut owners: BTreeMap<usize, Vec<(usize, bool)>> = BTreeMap::new();
        let mut pending = vec![(root, self.root_spec())];
        while let Some((name, spec)) = pending.pop() {
            if start.controllers[name].is_some() {
                continue;
            }
            let built = self.builds[spec][0].as_deref().unwrap_or_default();
            start.controllers[name] = Some(Controller {
                spec: spec as u8,
                deleting: false,
                generation_observed: true,
                ready: true,
                in_health_checks: false,
                applied: Some(0),
                inventory: built.iter().fold(0, |all, one| all | 1 << one.object),
            });
            for one in built {
                owners
                    .entry(one.object)
                    .or_default()
                    .push((name, one.guarded));
                if let Some(spec) = one.spec {
                    pending.push((one.object, spec));
                }
            }
        }
        let mut starts = vec![start];
        for (object, owners) in owners {
            starts = starts
                .into_iter()
                .flat_map(|start| {
                    owners.iter().map(move |(owner, guarded)| {
                        let mut start = start.clone();
                        start.objects[object] = Some(Object {
                            owner: *owner as u8,
                            guarded: *guarded,
                        });
                        start
                    })
                })
                .collect();
        }
        starts
    }

    fn root_spec(&self) -> usize {
        self.specs
            .iter()
            .position(|spec| spec.path == "clusters/lab")
            .expect("there is a root")
    }

    fn steps(&self, cluster: &Cluster) -> Vec<Cluster> {
        let mut next = Vec::new();
        for source in 0..2 {
            if cluster.sources[source] == 0 {
                let mut cluster = cluster.clone();
                cluster.sources[source] = 1;
                next.push(cluster);
            }
        }
        for name in 0..self.names.len() {
            let Some(own) = cluster.controllers[name] else {
                continue;
            };
            if own.deleting {
                next.push(self.finalize(cluster, name, own));
            } else {
                next.extend(self.reconcile(cluster, name, own));
                next.extend(self.pass_health_checks(cluster, name, own));
            }
        }
        next
    }

    fn reconcile(&self, cluster: &Cluster, name: usize, own: Controller) -> Option<Cluster> {
        let spec = &self.specs[own.spec as usize];
        if spec.suspend || !self.dependencies_are_ready(cluster, spec) {
            return None;
        }
        let revision = cluster.sources[spec.source];
        let mut next = cluster.clone();
        let Some(built) = &self.builds[own.spec as usize][revision as usize] else {
            let failed = next.controllers[name].as_mut()?;
            failed.ready = false;
            failed.generation_observed = true;
            failed.in_health_checks = false;
            return Some(next);
        };
        for one in built {
            next.objects[one.object] = Some(Object {
                owner: name as u8,
                guarded: one.guarded,
            });
            let Some(spec) = one.spec else { continue };
            match &mut next.controllers[one.object] {
                Some(child) if child.spec != spec as u8 => {
                    child.spec = spec as u8;
                    child.generation_observed = false;
                }
                Some(_) => {}
                empty => {
                    *empty = Some(Controller {
                        spec: spec as u8,
                        deleting: false,
                        generation_observed: false,
                        ready: false,
                        in_health_checks: false,
                        applied: None,
                        inventory: 0,
                    });
                }
            }
        }
        let inventory = built.iter().fold(0, |all, one| all | 1 << one.object);
        if spec.prune {
            self.delete_owned(&mut next, name, own.inventory & !inventory);
        }
        let after = next.controllers[name].as_mut()?;
        after.inventory = inventory;
        after.in_health_checks = spec.wait || !spec.health_checks.is_empty();
        after.ready = !after.in_health_checks;
        // What a reconcile observes is the spec that it started with.
        after.generation_observed = after.spec == own.spec && !after.deleting;
        after.applied = Some(revision);
        Some(next)
    }

    fn pass_health_checks(
        &self,
        cluster: &Cluster,
        name: usize,
        own: Controller,
    ) -> Option<Cluster> {
        if !own.in_health_checks || !own.generation_observed {
            return None;
        }
        let spec = &self.specs[own.spec as usize];
        let is_current = |object: usize| {
            object == name
                || cluster.controllers[object]
                    .is_some_and(|other| other.ready && other.generation_observed)
        };
        let healthy = if spec.wait {
            // Which of the objects are Kustomizations, the build of the revision says.
            let is_kustomization = |object: usize| {
                self.builds
                    .iter()
                    .flatten()
                    .flatten()
                    .flatten()
                    .any(|one| one.object == object && one.spec.is_some())
            };
            (0..self.names.len())
                .filter(|object| own.inventory & 1 << object != 0 && is_kustomization(*object))
                .all(is_current)
        } else {
            spec.health_checks
                .iter()
                .all(|name| self.number(name).is_some_and(is_current))
        };
        if !healthy {
            return None;
        }
        let mut next = cluster.clone();
        let after = next.controllers[name].as_mut()?;
        after.in_health_checks = false;
        after.ready = true;
        Some(next)
    }

    fn dependencies_are_ready(&self, cluster: &Cluster, spec: &Spec) -> bool {
        spec.depends_on.iter().all(|(name, ready_expression)| {
            let dependency = self
                .number(name)
                .and_then(|number| cluster.controllers[number]);
            let Some(dependency) = dependency else {
                return false;
            };
            if *ready_expression {
                return true;
            }
            let other_source = self.specs[dependency.spec as usize].source != spec.source;
            dependency.generation_observed
                && dependency.ready
                && (other_source || dependency.applied == Some(cluster.sources[spec.source]))
        })
    }

    fn delete_owned(&self, cluster: &mut Cluster, owner: usize, objects: u8) {
        for object in 0..self.names.len() {
            let owned = objects & 1 << object != 0
                && cluster.objects[object]
                    .is_some_and(|live| live.owner == owner as u8 && !live.guarded);
            if !owned {
                continue;
            }
            match &mut cluster.controllers[object] {
                Some(child) if child.deleting => continue,
                Some(child) => {
                    child.deleting = true;
                    child.generation_observed = false;
                }
                None => cluster.objects[object] = None,
            }
            cluster.deleted |= 1 << object;
        }
    }

    fn finalize(&self, cluster: &Cluster, name: usize, own: Controller) -> Cluster {
        let mut next = cluster.clone();
        let spec = &self.specs[own.spec as usize];
        let deletes = match spec.policy {
            Policy::MirrorPrune => spec.prune,
            Policy::Delete => true,
            Policy::Orphan => false,
        };
        if deletes && !spec.suspend {
            self.delete_owned(&mut next, name, own.inventory);
        }
        next.controllers[name] = None;
        next.objects[name] = None;
        next
    }
}

/// Explores everything that can happen; `None` if that is too much.
pub(crate) fn explore(base: &Revision, head: &Revision) -> Option<Outcome> {
    let model = Model::new(base, head);
    let starts = model.starts();
    let first = starts[0].clone();
    let mut numbers: HashMap<Cluster, usize> = HashMap::new();
    let mut states: Vec<Cluster> = Vec::new();
    let mut before: Vec<Vec<usize>> = Vec::new();
    let mut pending = VecDeque::new();
    let mut found: Vec<(Cluster, Option<usize>)> =
        starts.into_iter().map(|start| (start, None)).collect();
    loop {
        for (state, from) in found.drain(..) {
            let next = states.len();
            let number = *numbers.entry(state.clone()).or_insert(next);
            if number == next {
                states.push(state);
                before.push(Vec::new());
                pending.push_back(number);
            }
            before[number].extend(from);
        }
        if states.len() > MOST_STATES {
            return None;
        }
        let Some(number) = pending.pop_front() else {
            break;
        };
        let state = states[number].clone();
        found.extend(
            model
                .steps(&state)
                .into_iter()
                .map(|next| (next, Some(number))),
        );
    }
    let mut verdicts = BTreeMap::new();
    let mut owners: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (object, name) in model.names.iter().enumerate() {
        if first.objects[object].is_none() || name == ROOT {
            continue;
        }
        for (owner, controller) in first.controllers.iter().enumerate() {
            if controller.is_some_and(|controller| controller.inventory & 1 << object != 0) {
                owners
                    .entry(name.clone())
                    .or_default()
                    .push(model.names[owner].clone());
            }
        }
        let mut ahead: Vec<bool> = states
            .iter()
            .map(|state| state.deleted & 1 << object != 0)
            .collect();
        let mut back: Vec<usize> = (0..states.len()).filter(|at| ahead[*at]).collect();
        let ever = !back.is_empty();
        while let Some(at) = back.pop() {
            for from in &before[at] {
                if !ahead[*from] {
                    ahead[*from] = true;
                    back.push(*from);
                }
            }
        }
        let verdict = match (ever, ahead.iter().all(|ahead| *ahead)) {
            (false, _) => Verdict::Never,
            (true, false) => Verdict::Sometimes,
            (true, true) => Verdict::Always,
        };
        verdicts.insert(name.clone(), verdict);
    }
    Some(Outcome { verdicts, owners })
}
