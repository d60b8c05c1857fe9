//! Where a missing decryption is to be written, and what.

use super::super::support::enclosing_list;
use crate::flux::{Cluster, Kustomization};
use crate::kustomize::PatchUse;
use crate::near;
use crate::repo::Repo;
use crate::source::{Place, Span};

/// The field.
const FIELD: &str = "decryption";

/// Where and how to mend.
pub(super) struct Mend {
    /// The place to change.
    pub(super) place: Place,
    /// What to write there.
    pub(super) help: String,
    /// What shows it.
    pub(super) related: Option<(Place, String)>,
}

/// Where decryption is to be written: in the list of patches that brings it to siblings or brought it before,
/// else in the Kustomization's own `spec`. Where a patch was to bring it and does not, that patch is to be corrected.
pub(super) fn mend(repo: &Repo, cluster: &Cluster, index: usize) -> Mend {
    let kustomization = &cluster.kustomizations[index];
    let mut mend = list_of_siblings(repo, cluster, index)
        .or_else(|| list_of_before(repo, cluster, kustomization))
        .unwrap_or_else(|| Mend {
            place: kustomization.spec.key_place,
            help: "add `decryption: {provider: sops, secretRef: {name: sops-age}}` to its `spec`"
                .to_owned(),
            related: None,
        });
    let wrong = misspelt_patch(repo, cluster, kustomization)
        .or_else(|| idle_patch(repo, cluster, kustomization));
    if let Some((place, help)) = wrong {
        mend.help = help;
        mend.related = Some((place, "the patch that was to bring it".to_owned()));
    }
    mend
}

/// The patches of the parent's build that speak of SOPS, with their text.
fn patches_of_sops<'a>(
    repo: &'a Repo,
    cluster: &'a Cluster,
    kustomization: &Kustomization,
) -> impl Iterator<Item = (&'a PatchUse, &'a str)> {
    kustomization
        .parent
        .map(|parent| cluster.kustomizations[parent].build.patches.iter())
        .into_iter()
        .flatten()
        .map(|patch| (patch, repo.files.slice(patch.content)))
        .filter(|(_, text)| text.contains("provider") && text.contains("sops"))
}

fn hits(patch: &PatchUse, kustomization: &Kustomization) -> bool {
    patch
        .matched
        .iter()
        .any(|id| id.kind == "Kustomization" && id.name == kustomization.name.name)
}

/// A patch that hits the Kustomization, and in which the field's name is misspelt.
fn misspelt_patch(
    repo: &Repo,
    cluster: &Cluster,
    kustomization: &Kustomization,
) -> Option<(Place, String)> {
    patches_of_sops(repo, cluster, kustomization)
        .filter(|(patch, _)| hits(patch, kustomization))
        .find_map(|(patch, text)| {
            let word = misspelt_word(text)?;
            let start = patch.content.span.start as usize + word.start;
            let place = Place {
                file: patch.content.file,
                span: Span::new(start, start + word.len()),
            };
            let word = &text[word];
            let help =
                format!("write `{FIELD}` in the patch that was to bring it, in place of `{word}`");
            Some((place, help))
        })
}

/// The first key of a merge patch, or last word of a JSON patch's path, that is nearly `decryption`.
fn misspelt_word(text: &str) -> Option<std::ops::Range<usize>> {
    if text.contains(FIELD) {
        return None;
    }
    let is_part = |character: char| character.is_alphanumeric() || matches!(character, '-' | '_');
    let mut at = 0;
    for word in text.split_inclusive(|character| !is_part(character)) {
        let start = at;
        at += word.len();
        let bare = word.trim_end_matches(|character| !is_part(character));
        let is_key = word.ends_with(':');
        let is_path = text[..start].ends_with("/spec/");
        if (is_key || is_path) && near::nearest(bare, [FIELD]).is_some() {
            return Some(start..start + bare.len());
        }
    }
    None
}

/// A patch that was to bring decryption and selects no object, while no other entry's target is wrong.
fn idle_patch(
    repo: &Repo,
    cluster: &Cluster,
    kustomization: &Kustomization,
) -> Option<(Place, String)> {
    let mut idle = patches_of_sops(repo, cluster, kustomization).filter(|(patch, text)| {
        let kind = patch
            .target
            .as_ref()
            .and_then(|target| target.str_at(&["kind"]));
        patch.matched.is_empty()
            && !patch.uncertain
            && text.contains(FIELD)
            && kind.is_none_or(|kind| near::nearest(kind, ["Kustomization"]).is_some())
            && may_mean(repo, cluster, patch, kustomization)
    });
    let (patch, _) = idle.next()?;
    if idle.next().is_some() {
        return None;
    }
    let target = patch.target.as_ref()?;
    let place = target.get("name").map_or(target.place, |name| name.place);
    let name = &kustomization.name.name;
    Some((
        place,
        format!(
            "correct the target of the patch that brings decryption and selects no object, so that it selects `{name}`"
        ),
    ))
}

/// True if the target of a patch that selects nothing may mean a Kustomization: it is a pattern, nearly the name, or
/// the name that the Kustomization of the same directory had at the base revision.
fn may_mean(
    repo: &Repo,
    cluster: &Cluster,
    patch: &PatchUse,
    kustomization: &Kustomization,
) -> bool {
    let target = patch.target.as_ref();
    let Some(name) = target.and_then(|target| target.str_at(&["name"])) else {
        return true;
    };
    let of_before = || {
        let before = base_cluster(repo, cluster)?;
        before
            .kustomizations
            .iter()
            .find(|other| other.name.name == name)?
            .directory()
    };
    name.contains(['*', '.', '+', '?', '(', '[', '|'])
        || near::nearest(name, [kustomization.name.name.as_str()]).is_some()
        || kustomization.directory().is_some() && of_before() == kustomization.directory()
}

/// The cluster at the base revision.
fn base_cluster<'a>(repo: &'a Repo, cluster: &Cluster) -> Option<&'a Cluster> {
    let before = &repo.base.as_ref()?.picture.flux.clusters;
    before.iter().find(|before| before.path == cluster.path)
}

/// The list of patches that brings decryption to siblings.
fn list_of_siblings(repo: &Repo, cluster: &Cluster, index: usize) -> Option<Mend> {
    let kustomization = &cluster.kustomizations[index];
    let (sibling, decryption) = cluster
        .kustomizations
        .iter()
        .filter(|sibling| {
            sibling.parent == kustomization.parent && sibling.name != kustomization.name
        })
        .filter_map(|sibling| Some((sibling, patched_decryption(sibling)?)))
        .min_by_key(|(sibling, _)| distance(cluster, index, sibling))?;
    let patch = cluster.kustomizations[kustomization.parent?]
        .build
        .patches
        .iter()
        .find(|patch| {
            patch.content.file == decryption.file && patch.content.span.contains(decryption.span)
        })?;
    Some(Mend {
        place: enclosing_list(repo, patch.entry)?,
        help: format!(
            "add to this list, as it is done for `{}`:\n{}",
            sibling.name.name,
            patch_text(&kustomization.name.name, sibling)
        ),
        related: Some((
            decryption,
            format!("`{}` gets its decryption here", sibling.name.name),
        )),
    })
}

/// The list of patches that still hits the Kustomization, and in the file of which a patch brought it its
/// decryption at the base revision.
fn list_of_before(repo: &Repo, cluster: &Cluster, kustomization: &Kustomization) -> Option<Mend> {
    let before = base_cluster(repo, cluster)?;
    let before = &before.kustomizations[before.find(&kustomization.name)?];
    let decryption = patched_decryption(before)?;
    let path = repo.files.path(decryption.file);
    let parent = &cluster.kustomizations[kustomization.parent?];
    let patch =
        parent.build.patches.iter().find(|patch| {
            repo.files.path(patch.content.file) == path && hits(patch, kustomization)
        })?;
    Some(Mend {
        place: enclosing_list(repo, patch.entry)?,
        help: format!(
            "put `{FIELD}` back into the patch of this list that hits `{}`: at the base revision it came from there",
            kustomization.name.name
        ),
        related: Some((decryption, "its decryption at the base revision".to_owned())),
    })
}

/// Where a Kustomization's decryption is written, if a patch brings it.
fn patched_decryption(kustomization: &Kustomization) -> Option<Place> {
    let decryption = kustomization.node.at(&["spec", FIELD])?;
    let written_itself = decryption.place.file == kustomization.origin.file
        && kustomization.origin.span.contains(decryption.place.span);
    (!written_itself).then_some(decryption.place)
}

/// A patch that gives a Kustomization the decryption of another, as an entry of a list of patches.
fn patch_text(name: &str, sibling: &Kustomization) -> String {
    let decryption = |path: &[&str]| {
        let node = sibling.node.at(&["spec", "decryption"])?.at(path)?;
        node.as_str()
    };
    let mut lines = vec![
        "- target:".to_owned(),
        "    kind: Kustomization".to_owned(),
        format!("    name: {name}"),
        "  patch: |".to_owned(),
        "    - op: add".to_owned(),
        "      path: /spec/decryption".to_owned(),
        "      value:".to_owned(),
        format!(
            "        provider: {}",
            decryption(&["provider"]).unwrap_or("sops")
        ),
    ];
    if let Some(secret) = decryption(&["secretRef", "name"]) {
        lines.push("        secretRef:".to_owned());
        lines.push(format!("          name: {secret}"));
    }
    lines.join("\n")
}

/// How far a sibling is from a Kustomization in the order of the cluster; the nearest makes the best example.
fn distance(cluster: &Cluster, index: usize, sibling: &Kustomization) -> usize {
    cluster
        .find(&sibling.name)
        .map_or(usize::MAX, |other| other.abs_diff(index))
}
