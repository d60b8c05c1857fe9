//! References to objects by name, carried along when the objects are renamed
//! (upstream: `filters/nameref`, `namereferencetransformer.go`).

mod table;

use std::collections::{HashMap, HashSet};

use smol_str::SmolStr;

use super::fieldspec::{FieldError, FieldSpec, fits, for_each_field};
use super::scope::{NO_NAMESPACE, all_ids, effective_namespace, is_certainly_cluster_scoped};
use super::transform::field_refusal;
use super::{Object, ObjectId, Problem};
use crate::source::Place;
use crate::yaml::{Node, Value};

/// A kind that is referred to by name, and the fields that do so. Empty group, version and kind fit any.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NameReference {
    /// API group of what is referred to.
    pub group: SmolStr,
    /// API version of what is referred to.
    pub version: SmolStr,
    /// Kind of what is referred to.
    pub kind: SmolStr,
    /// The fields that hold its name.
    pub fields: Vec<FieldSpec>,
}

/// What `nameReference` in a `configurations` file adds to the built-in references.
pub fn from_configuration(node: &Node) -> Vec<NameReference> {
    let text = |node: &Node, key| node.str_at(&[key]).unwrap_or_default().into();
    node.get("nameReference")
        .map(Node::items)
        .unwrap_or_default()
        .iter()
        .map(|reference| NameReference {
            group: text(reference, "group"),
            version: text(reference, "version"),
            kind: text(reference, "kind"),
            fields: reference
                .get("fieldSpecs")
                .map(|fields| fields.items().iter().map(FieldSpec::read).collect())
                .unwrap_or_default(),
        })
        .collect()
}

/// Writes into every field that names an object of the build the name that object has now.
/// A field counts as naming an object that had this name before, in the referrer's namespace.
///
/// A changed field keeps its place. Returns why kustomize would refuse: a name that
/// several objects had, or a field of the wrong shape.
pub fn fix(objects: &mut [Object], extra: &[NameReference]) -> Vec<Problem> {
    let targets = Targets::new(objects);
    if targets.by_name.is_empty() {
        return Vec::new();
    }
    let mut references = table::built_in();
    for reference in extra {
        let known = references.iter_mut().find(|known| {
            known.group == reference.group
                && known.version == reference.version
                && known.kind == reference.kind
        });
        match known {
            Some(known) => known.fields.extend(reference.fields.iter().cloned()),
            None => references.push(reference.clone()),
        }
    }
    let by_kind = fields_by_kind(&references);
    let nothing = Vec::new();
    let mut problems = Vec::new();
    for (index, object) in objects.iter_mut().enumerate() {
        let original = targets.all[index].ids[0].clone();
        // Fields for a kind and fields for any kind, in the order of the table.
        let mut fields: Vec<_> = by_kind
            .get(original.kind.as_str())
            .unwrap_or(&nothing)
            .iter()
            .chain(by_kind.get("").unwrap_or(&nothing))
            .copied()
            .collect();
        fields.sort_unstable();
        if fields.is_empty() {
            continue;
        }
        let mut lookup = Lookup {
            targets: &targets,
            referrer: &targets.all[index],
            bound_namespaces: bound_namespaces(&object.node),
            reference: &references[0],
            role: None,
            ambiguous: Vec::new(),
        };
        for (reference, field) in fields {
            lookup.reference = &references[reference];
            let field = &lookup.reference.fields[field];
            if !field.fits(&original) {
                continue;
            }
            lookup.role = role_of(&object.node, field);
            let outcome =
                for_each_field(&mut object.node, field, None, &mut |node| lookup.set(node));
            if let Err(error) = outcome {
                let mut problem = field_refusal("name reference", object.origin, object, error);
                problem.related = lookup
                    .ambiguous
                    .iter()
                    .map(|place| (*place, "one such object is here".to_owned()))
                    .collect();
                problems.push(problem);
                break;
            }
        }
    }
    problems
}

type FieldIndex = (usize, usize);

fn fields_by_kind(references: &[NameReference]) -> HashMap<&str, Vec<FieldIndex>> {
    let mut by_kind: HashMap<&str, Vec<FieldIndex>> = HashMap::new();
    for (index, reference) in references.iter().enumerate() {
        for (field, spec) in reference.fields.iter().enumerate() {
            by_kind.entry(&spec.kind).or_default().push((index, field));
        }
    }
    by_kind
}

/// What an object is, and was, as far as references ask.
struct Target {
    /// Its identities, the oldest first, the present one last.
    ids: Vec<ObjectId>,
    /// Where its name is written.
    name: Place,
    /// Where its namespace is written.
    namespace: Option<Place>,
    prefixes: Vec<SmolStr>,
    suffixes: Vec<SmolStr>,
}

impl Target {
    fn previous(&self) -> &[ObjectId] {
        self.ids.split_last().map_or(&[], |(_, previous)| previous)
    }

    fn current(&self) -> &ObjectId {
        &self.ids[self.ids.len() - 1]
    }

    fn is_cluster_scoped(&self) -> bool {
        is_certainly_cluster_scoped(self.current())
    }

    /// True if both were renamed in the same bases (upstream: `PrefixesSuffixesEquals`).
    fn shares_affixes(&self, other: &Self, empty_fits: bool) -> bool {
        let same = |left: &[SmolStr], right: &[SmolStr]| {
            let (short, long) = if left.len() <= right.len() {
                (left, right)
            } else {
                (right, left)
            };
            if short.is_empty() {
                empty_fits || long.is_empty()
            } else {
                long.ends_with(short)
            }
        };
        same(&self.prefixes, &other.prefixes) && same(&self.suffixes, &other.suffixes)
    }
}

/// All objects of a build, to be found by an earlier name.
struct Targets {
    all: Vec<Target>,
    by_name: HashMap<SmolStr, Vec<usize>>,
    /// For each namespace in which objects were at first, the namespaces in which these are now.
    moved: HashMap<SmolStr, HashSet<SmolStr>>,
}

impl Targets {
    fn new(objects: &[Object]) -> Self {
        let mut targets = Self {
            all: Vec::with_capacity(objects.len()),
            by_name: HashMap::new(),
            moved: HashMap::new(),
        };
        for (index, object) in objects.iter().enumerate() {
            let target = Target {
                ids: all_ids(object),
                name: object.name_place(),
                namespace: object
                    .node
                    .at(&["metadata", "namespace"])
                    .map(|namespace| namespace.place),
                prefixes: object.prefixes.clone(),
                suffixes: object.suffixes.clone(),
            };
            for id in target.previous() {
                let named = targets.by_name.entry(id.name.clone()).or_default();
                if named.last() != Some(&index) {
                    named.push(index);
                }
            }
            let original = effective_namespace(&target.ids[0]);
            if original != NO_NAMESPACE {
                targets
                    .moved
                    .entry(original.into())
                    .or_default()
                    .insert(target.current().namespace.clone());
            }
            targets.all.push(target);
        }
        targets
    }
}

/// The namespaces of the ServiceAccounts that a RoleBinding binds; it may refer to these.
fn bound_namespaces(node: &Node) -> Vec<SmolStr> {
    if node.str_at(&["kind"]) != Some("RoleBinding") {
        return Vec::new();
    }
    node.get("subjects")
        .map(Node::items)
        .unwrap_or_default()
        .iter()
        .filter(|subject| subject.str_at(&["kind"]) == Some("ServiceAccount"))
        .filter_map(|subject| subject.str_at(&["namespace"]).map(SmolStr::from))
        .collect()
}

/// Group and kind that a binding's `roleRef` states, if the field is the name in it.
fn role_of(node: &Node, field: &FieldSpec) -> Option<(SmolStr, SmolStr)> {
    if !field.path.ends_with("roleRef/name") {
        return None;
    }
    let group = node.str_at(&["roleRef", "apiGroup"])?;
    let kind = node.str_at(&["roleRef", "kind"])?;
    Some((group.into(), kind.into()))
}

/// Looks up what the fields of one referrer name.
struct Lookup<'a> {
    targets: &'a Targets,
    referrer: &'a Target,
    bound_namespaces: Vec<SmolStr>,
    reference: &'a NameReference,
    role: Option<(SmolStr, SmolStr)>,
    /// The objects between which the last lookup could not decide.
    ambiguous: Vec<Place>,
}

impl Lookup<'_> {
    fn set(&mut self, field: &mut Node) -> Result<(), FieldError> {
        if field.is_null() {
            return Ok(());
        }
        match &field.value {
            Value::Scalar(_) => self.set_scalar(field),
            Value::Mapping(_) => self.set_mapping(field),
            Value::Sequence(items) => {
                if items.is_empty() {
                    return Ok(());
                }
                for item in field.items_mut().into_iter().flatten() {
                    match &item.value {
                        _ if item.is_null() => {}
                        Value::Scalar(_) => self.set_scalar(item)?,
                        Value::Mapping(_) => self.set_mapping(item)?,
                        Value::Sequence(_) => {
                            return Err(FieldError::new(item, "a name is expected, not a list"));
                        }
                    }
                }
                Ok(())
            }
        }
    }

    fn set_scalar(&mut self, field: &mut Node) -> Result<(), FieldError> {
        let name = field.as_str().unwrap_or_default();
        let Some(target) = self.find(name, None, field)? else {
            return Ok(());
        };
        let current = target.current();
        if current.name != name {
            *field = Node::string(field.place, current.name.clone());
        }
        Ok(())
    }

    /// A map with `name` and perhaps `namespace`: a subject, or a webhook's service.
    fn set_mapping(&mut self, field: &mut Node) -> Result<(), FieldError> {
        let Some(name_node) = field.get("name") else {
            return Err(FieldError::new(field, "a name is missing"));
        };
        let name = SmolStr::from(name_node.as_str().unwrap_or_default());
        let name_place = name_node.place;
        let namespace = field
            .get("namespace")
            .map(|namespace| SmolStr::from(namespace.as_str().unwrap_or_default()));
        let Some(target) = self.find(&name, Some(namespace.as_deref()), field)? else {
            return Ok(());
        };
        let current = target.current();
        if current.name != name {
            let renamed = Node::string(name_place, current.name.clone());
            field.set("name", name_place, renamed);
        }
        if !current.namespace.is_empty() && namespace.as_ref() != Some(&current.namespace) {
            let place = target.namespace.unwrap_or(name_place);
            let moved = Node::string(place, current.namespace.clone());
            field.set("namespace", place, moved);
        }
        Ok(())
    }

    /// The object that had a name. `namespace` is given where the field is a map, and inside
    /// it where that states one.
    fn find(
        &mut self,
        name: &str,
        namespace: Option<Option<&str>>,
        field: &Node,
    ) -> Result<Option<&Target>, FieldError> {
        let Some(named) = self.targets.by_name.get(name) else {
            return Ok(None);
        };
        let stated = namespace.flatten();
        let by_original = stated.is_some_and(|stated| self.was_reachable_in(stated));
        let mut candidates: Vec<&Target> = named
            .iter()
            .map(|index| &self.targets.all[*index])
            .filter(|target| self.is_candidate(target, name))
            .filter(|target| {
                stated.is_none_or(|stated| {
                    let id = if by_original {
                        &target.ids[0]
                    } else {
                        target.current()
                    };
                    effective_namespace(id) == stated
                })
            })
            .collect();
        if candidates.len() != 1 {
            candidates.retain(|target| target.shares_affixes(self.referrer, true));
        }
        if candidates.len() > 1 {
            candidates.retain(|target| target.shares_affixes(self.referrer, false));
        }
        let Some(first) = candidates.first().copied() else {
            return Ok(None);
        };
        let same = candidates.iter().all(|target| {
            target.current().name == first.current().name
                && (namespace.is_none() || target.current().namespace == first.current().namespace)
        });
        if same {
            return Ok(Some(first));
        }
        self.ambiguous = candidates.iter().map(|target| target.name).collect();
        let kind = &self.reference.kind;
        Err(FieldError::new(
            field,
            format!("several objects were once called {kind} {name}"),
        ))
    }

    fn is_candidate(&self, target: &Target, name: &str) -> bool {
        let was = |group: &str, version: &str, kind: &str| {
            target
                .previous()
                .iter()
                .any(|id| fits(group, version, kind, id))
        };
        let reference = self.reference;
        target.previous().iter().any(|id| id.name == name)
            && was(&reference.group, &reference.version, &reference.kind)
            && self
                .role
                .as_ref()
                .is_none_or(|(group, kind)| was(group, "", kind))
            && self.reaches(target)
    }

    /// True if the referrer may refer to the target, by their namespaces now.
    fn reaches(&self, target: &Target) -> bool {
        let own = self.referrer.current();
        let other = target.current();
        self.referrer.is_cluster_scoped()
            || target.is_cluster_scoped()
            || effective_namespace(own) == effective_namespace(other)
            || (other.kind == "ServiceAccount" && self.bound_namespaces.contains(&other.namespace))
    }

    /// True if any object in the referrer's reach was in a namespace at first.
    fn was_reachable_in(&self, original: &str) -> bool {
        let Some(now) = self.targets.moved.get(original) else {
            return false;
        };
        if self.referrer.is_cluster_scoped() {
            return true;
        }
        let own = self.referrer.current().effective_namespace();
        now.contains(own)
            || (own == "default" && now.contains(""))
            || self
                .bound_namespaces
                .iter()
                .any(|bound| now.contains(bound))
    }
}

#[cfg(test)]
mod tests;
