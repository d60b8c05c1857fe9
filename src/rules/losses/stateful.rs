//! Which objects hold what cannot be made again, and what goes with them.

use super::{Comparison, Loss};
use crate::flux::{InventoryId, Kustomization, is_flux_kustomization, name_of};
use crate::kustomize::Object;

/// True for storage, for what contains other objects, and for what Flux itself acts upon.
pub(super) fn is_stateful(owner: &Kustomization, object: &Object) -> bool {
    weight(owner, object) < LIGHT
}

const LIGHT: u8 = 10;

/// The order in which objects are spoken of: the heaviest loss first.
pub(super) fn weight(owner: &Kustomization, object: &Object) -> u8 {
    let id = object.id();
    match (id.group.as_str(), id.kind.as_str()) {
        ("", "Namespace") => 0,
        ("", "PersistentVolumeClaim") => 1,
        ("", "PersistentVolume") => 2,
        ("apps", "StatefulSet") => 3,
        ("apiextensions.k8s.io", "CustomResourceDefinition") => 4,
        ("helm.toolkit.fluxcd.io", "HelmRelease") => 5,
        ("kustomize.toolkit.fluxcd.io", "Kustomization") => 6,
        (group, _)
            if group.ends_with(".toolkit.fluxcd.io") || group == "fluxcd.controlplane.io" =>
        {
            7
        }
        ("", "Secret") if !is_encrypted(owner, object) => 8,
        _ => LIGHT,
    }
}

/// True if the tree holds the Secret's content encrypted, so that it comes back as it was.
fn is_encrypted(owner: &Kustomization, object: &Object) -> bool {
    object.node.at(&["sops", "mac"]).is_some()
        || object.generated && !owner.build.encrypted_inputs.is_empty()
}

impl Comparison<'_> {
    /// What is deleted together with an object; `None` if it is only that object.
    pub(in crate::rules) fn goes_with(&self, loss: &Loss<'_>) -> Option<String> {
        let id = loss.object.id();
        match (id.group.as_str(), id.kind.as_str()) {
            ("", "Namespace") => {
                let inside = self.in_namespace(&id.name);
                Some(match inside {
                    0 => "everything in it".to_owned(),
                    1 => "everything in it, 1 object of this repository among it".to_owned(),
                    _ => format!("everything in it, {inside} objects of this repository among it"),
                })
            }
            ("", "PersistentVolumeClaim") => Some("its volume".to_owned()),
            ("apps", "StatefulSet") => Some("its pods".to_owned()),
            ("apiextensions.k8s.io", "CustomResourceDefinition") => {
                Some("every custom resource of its kind".to_owned())
            }
            ("helm.toolkit.fluxcd.io", "HelmRelease") => {
                Some("its release, which helm-controller uninstalls".to_owned())
            }
            _ if is_flux_kustomization(&loss.object.node) => {
                let index = self.before.find(&name_of(&loss.object.node))?;
                let owned = &self.before.kustomizations[index];
                let spec = &owned.spec;
                let deletes = match spec.deletion_policy.as_deref() {
                    Some("Orphan") => false,
                    Some("Delete" | "WaitForTermination") => true,
                    _ => !spec.prune.is_no(),
                };
                let count = owned.build.objects.len();
                (deletes && !spec.suspend.is_yes() && count > 0).then(|| match count {
                    1 => "the 1 object that it applies".to_owned(),
                    _ => format!("the {count} objects that it applies"),
                })
            }
            _ => None,
        }
    }

    fn in_namespace(&self, namespace: &str) -> usize {
        self.before
            .objects()
            .filter(|(_, object)| InventoryId::of(&object.id()).namespace == namespace)
            .count()
    }
}
