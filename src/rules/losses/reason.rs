//! Why a move deletes: which Kustomization reconciles first, and which guards come too late.

use super::{Comparison, Loss};
use crate::change::Fate;
use crate::change::guards;
use crate::flux::{Cluster, Kustomization};
use crate::source::Place;

impl Comparison<'_> {
    /// Why an object that goes from one Kustomization to another is deleted on the way.
    pub(in crate::rules) fn reason(&self, loss: &Loss<'_>, from: usize, to: usize) -> String {
        let old = &self.before.kustomizations[from];
        let new = &self.after.kustomizations[to];
        let (a, b) = (&old.name, &new.name);
        let old_after = self.after.find(a);
        let new_before = self.before.find(b);
        if a == b && old.node.same_content(&new.node) {
            return "another Kustomization may apply it for a while, with a spec that this commit changes, and prune it after that".to_owned();
        }
        if a == b {
            return format!(
                "`{a}` itself changes in this commit, and if it reconciles the new revision with its old spec first, it prunes what that spec no longer builds"
            );
        }
        if loss.departure.fate == Fate::Lost {
            if let Some(path) = old_after.and_then(|old| path(self.after, to, old)) {
                return format!(
                    "`{b}` waits for `{a}` ({path}), so `{a}` reconciles first and prunes it before `{b}` applies it"
                );
            }
            if old_after.is_some_and(|old| is_above(self.after, old, to)) {
                return format!(
                    "`{a}` makes `{b}` and prunes in the same reconcile, before `{b}` can apply it"
                );
            }
            if new.fails() {
                return format!("`{a}` prunes it, and `{b}` does not build");
            }
            if new.spec.suspend.is_yes() {
                return format!("`{a}` prunes it, and `{b}` is suspended");
            }
            return format!("`{a}` prunes it before `{b}` can apply it");
        }
        if new.fails() {
            return format!("`{a}` may prune it at any moment, and `{b}` does not build");
        }
        let ordered_after = old_after.is_some_and(|old| waits(self.after, old, to));
        let ordered_before = new_before.is_some_and(|new| waits(self.before, from, new));
        match (ordered_before, ordered_after) {
            (false, true) => format!(
                "`{a}` waits for `{b}` only from this commit on, so it may still start with its old spec and prune first"
            ),
            (true, false) => format!(
                "`{a}` no longer waits for `{b}` from this commit on, so it may prune first"
            ),
            (true, true) => format!(
                "the way from `{a}` to `{b}` in dependsOn does not hold back this revision (another source, a readyExpr, or a spec that changes too), so `{a}` may prune first"
            ),
            (false, false) => format!(
                "nothing makes `{a}` wait for `{b}`: if `{a}` reconciles first, it prunes what `{b}` has not taken over yet"
            ),
        }
    }

    /// A guard that comes in the same commit, and so too late; its place and what to say.
    pub(in crate::rules) fn late_guard(&self, loss: &Loss<'_>) -> Option<(Place, String)> {
        if let Some((owner, object)) = loss.departure.object_after(self.after)
            && let Some(guard) = guards::guard(&object.node, &owner.node)
            && guards::guard(&loss.object.node, &loss.owner.node).is_none()
        {
            return Some((
                guard.place,
                format!(
                    "`{}` comes in the same commit, which is too late: Flux looks at the live object",
                    guard.written
                ),
            ));
        }
        let after = &self.after.kustomizations[self.after.find(&loss.owner.name)?];
        let was = guarded_by_spec(loss.owner);
        let (field, place) = guarded_by_spec(after)?;
        was.is_none().then(|| {
            (
                place,
                format!(
                    "`{field}` of `{}` comes in the same commit, which is too late: it may reconcile with its old spec first",
                    after.name
                ),
            )
        })
    }
}

/// The field of a spec that keeps a Kustomization from pruning.
fn guarded_by_spec(kustomization: &Kustomization) -> Option<(&'static str, Place)> {
    let at = |field: &str| {
        kustomization
            .node
            .at(&["spec", field])
            .map_or(kustomization.spec.key_place, |node| node.place)
    };
    if kustomization.spec.suspend.is_yes() {
        Some(("suspend: true", at("suspend")))
    } else if kustomization.spec.prune.is_no() {
        Some(("prune: false", at("prune")))
    } else {
        None
    }
}

fn waits(cluster: &Cluster, from: usize, to: usize) -> bool {
    cluster
        .graph()
        .shortest_path(from, to)
        .is_some_and(|path| !path.is_empty())
}

/// `b → m → a`, if there is a way in dependsOn.
fn path(cluster: &Cluster, from: usize, to: usize) -> Option<String> {
    let graph = cluster.graph();
    let edges = graph
        .shortest_path(from, to)
        .filter(|path| !path.is_empty())?;
    let mut names = vec![cluster.kustomizations[from].name.name.to_string()];
    for edge in edges {
        let to = graph.edges()[edge].to;
        names.push(cluster.kustomizations[to].name.name.to_string());
    }
    Some(names.join(" → "))
}

/// True if one Kustomization makes another, or what makes it.
fn is_above(cluster: &Cluster, above: usize, below: usize) -> bool {
    let mut parent = cluster.kustomizations[below].parent;
    while let Some(at) = parent {
        if at == above {
            return true;
        }
        parent = cluster.kustomizations[at].parent;
    }
    false
}
