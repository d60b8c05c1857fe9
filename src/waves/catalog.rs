//! The catalog: which services there are and what each depends on.

use std::collections::HashMap;

use smol_str::SmolStr;

use crate::flux::{is_template, is_yaml};
use crate::near;
use crate::source::{FileId, Place};
use crate::tree::{Files, Tree};
use crate::yaml::Node;

const DEPENDENCIES: &str = "dependencies";

/// All ServiceDefinitions of a tree.
#[derive(Clone, Debug, Default)]
pub struct Catalog {
    /// The services, by path of their file, then in its order; of several definitions of one name the first.
    pub services: Vec<Service>,
    /// Further definitions of a name, with the index of the first.
    pub duplicates: Vec<(usize, Service)>,
    names: HashMap<SmolStr, usize>,
}

/// One ServiceDefinition.
#[derive(Clone, Debug)]
pub struct Service {
    /// `metadata.name`, or `name` at the top.
    pub name: SmolStr,
    /// Where the name is written.
    pub place: Place,
    /// The file.
    pub file: FileId,
    /// The whole document.
    pub document: Node,
    /// `dependencies`, at the top or under `spec`.
    pub dependencies: Vec<ServiceDependency>,
}

/// One entry of `dependencies`.
#[derive(Clone, Debug)]
pub struct ServiceDependency {
    /// The service that it names.
    pub name: SmolStr,
    /// Where that name is written.
    pub place: Place,
}

impl Catalog {
    /// Reads the ServiceDefinitions of every YAML file for which `wanted` holds.
    pub fn read(files: &Files, tree: &Tree, wanted: &dyn Fn(&str) -> bool) -> Self {
        let mut catalog = Self::default();
        for (path, file) in tree.files() {
            if !is_yaml(path) || !wanted(path) || is_template(tree, path) {
                continue;
            }
            // A cheap look first: nearly no file of a repository is one.
            if !files.text(file).contains("ServiceDefinition") {
                continue;
            }
            for document in files.yaml(file).seen() {
                if let Some(service) = Service::read(&document.root, file) {
                    catalog.add(service);
                }
            }
        }
        catalog
    }

    fn add(&mut self, service: Service) {
        match self.names.get(&service.name) {
            Some(first) => self.duplicates.push((*first, service)),
            None => {
                self.names.insert(service.name.clone(), self.services.len());
                self.services.push(service);
            }
        }
    }

    /// The index of the service of that name.
    pub fn find(&self, name: &str) -> Option<usize> {
        self.names.get(name).copied()
    }

    /// True if there is no service.
    pub fn is_empty(&self) -> bool {
        self.services.is_empty()
    }

    /// The longest service name that `name` (of a file or directory) is, or begins with up to `-`, `.` or `_`.
    pub fn claim(&self, name: &str) -> Option<usize> {
        std::iter::once(name.len())
            .chain(
                name.char_indices()
                    .rev()
                    .filter(|(_, c)| matches!(c, '-' | '.' | '_'))
                    .map(|(at, _)| at),
            )
            .find_map(|end| self.find(&name[..end]))
    }
}

impl Service {
    /// The key of a list that is nearly called `dependencies`, where nothing is called so.
    pub fn misspelt_dependencies(&self) -> Option<&Node> {
        // Words of their own: who depends on the service.
        const OTHERS: [&str; 2] = ["dependents", "dependants"];
        let levels = || std::iter::once(&self.document).chain(self.document.get("spec"));
        if levels().any(|level| level.entry(DEPENDENCIES).is_some()) {
            return None;
        }
        levels()
            .flat_map(|level| level.pairs())
            .filter(|pair| pair.value.as_sequence().is_some())
            .map(|pair| &pair.key)
            .find(|key| {
                let text = key.as_str().unwrap_or_default();
                near::nearest(text, [DEPENDENCIES]).is_some()
                    && !OTHERS.iter().any(|other| other.eq_ignore_ascii_case(text))
            })
    }

    fn read(node: &Node, file: FileId) -> Option<Self> {
        if node.str_at(&["kind"]) != Some("ServiceDefinition") {
            return None;
        }
        let name = node
            .at(&["metadata", "name"])
            .or_else(|| node.get("name"))
            .filter(|name| name.as_str().is_some())?;
        let dependencies = node
            .get(DEPENDENCIES)
            .or_else(|| node.at(&["spec", DEPENDENCIES]));
        Some(Self {
            name: name.as_str()?.into(),
            place: name.place,
            file,
            document: node.clone(),
            dependencies: dependencies
                .map(Node::items)
                .unwrap_or_default()
                .iter()
                .filter_map(|entry| {
                    let name = entry.get("name").unwrap_or(entry);
                    Some(ServiceDependency {
                        name: name.as_str()?.into(),
                        place: name.place,
                    })
                })
                .collect(),
        })
    }
}
