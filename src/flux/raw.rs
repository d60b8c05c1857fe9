//! Flux objects as they are written, before any build: what entry points are found by.

use crate::source::FileId;
use crate::tree::{Files, Tree};
use crate::yaml::Node;

/// The API group of Flux Kustomizations.
pub const KUSTOMIZE_GROUP: &str = "kustomize.toolkit.fluxcd.io";

/// A document of a YAML file that is a Flux object.
#[derive(Clone, Debug)]
pub struct RawObject {
    /// Path of the file.
    pub path: String,
    /// The file.
    pub file: FileId,
    /// The document.
    pub node: Node,
}

/// All Flux objects of a tree that say where Flux is pointed.
#[derive(Clone, Debug, Default)]
pub struct RawObjects {
    /// Flux Kustomizations.
    pub kustomizations: Vec<RawObject>,
    /// Sources: GitRepository, OCIRepository, Bucket.
    pub sources: Vec<RawObject>,
    /// What a FluxInstance's `spec` holds: of FluxInstances, and of the values of the flux-instance chart.
    pub instances: Vec<RawInstance>,
}

/// The spec of a FluxInstance, wherever it is written.
#[derive(Clone, Debug)]
pub struct RawInstance {
    /// Path of the file.
    pub path: String,
    /// Namespace of the instance where it is known, else `flux-system`, which the chart's documentation uses.
    pub namespace: String,
    /// The instance's `spec`, or the chart's `instance` values.
    pub spec: Node,
}

/// True for the name of a YAML file.
pub fn is_yaml(path: &str) -> bool {
    path.ends_with(".yaml") || path.ends_with(".yml")
}

/// True for a file that is a template for another tool, or part of a chart: never judged as YAML by itself.
pub fn is_template(tree: &Tree, path: &str) -> bool {
    if [".j2", ".tmpl", ".gotmpl", ".tpl", ".jinja", ".erb"]
        .iter()
        .any(|ending| path.ends_with(ending) || path.contains(&format!("{ending}.")))
    {
        return true;
    }
    let mut directory = crate::tree::split(path).0;
    while !directory.is_empty() {
        let (parent, name) = crate::tree::split(directory);
        if name == "templates" && tree.file(&join_name(parent, "Chart.yaml")).is_some() {
            return true;
        }
        directory = parent;
    }
    false
}

/// `directory/name`, or the name alone at the root.
pub fn join_name(directory: &str, name: &str) -> String {
    if directory.is_empty() {
        name.to_owned()
    } else {
        format!("{directory}/{name}")
    }
}

impl RawObjects {
    /// Reads every YAML file of the tree that is no template.
    pub fn scan(files: &Files, tree: &Tree) -> Self {
        let mut found = Self::default();
        for (path, file) in tree.files() {
            if !is_yaml(path) || is_template(tree, path) {
                continue;
            }
            for document in files.yaml(file).seen() {
                found.sort_in(path, file, &document.root);
            }
        }
        found
    }

    fn sort_in(&mut self, path: &str, file: FileId, node: &Node) {
        let api_version = node.str_at(&["apiVersion"]).unwrap_or_default();
        let group = api_version.split('/').next().unwrap_or_default();
        let kind = node.str_at(&["kind"]).unwrap_or_default();
        let object = || RawObject {
            path: path.to_owned(),
            file,
            node: node.clone(),
        };
        let mut instance = |spec: Option<&Node>, namespace: Option<&str>| {
            if let Some(spec) = spec.filter(|spec| spec.at(&["sync", "path"]).is_some()) {
                self.instances.push(RawInstance {
                    path: path.to_owned(),
                    namespace: namespace.unwrap_or("flux-system").to_owned(),
                    spec: spec.clone(),
                });
            }
        };
        match (group, kind) {
            (KUSTOMIZE_GROUP, "Kustomization") => self.kustomizations.push(object()),
            (
                "source.toolkit.fluxcd.io",
                "GitRepository" | "OCIRepository" | "Bucket" | "ExternalArtifact",
            ) => self.sources.push(object()),
            ("fluxcd.controlplane.io", "FluxInstance") => {
                instance(node.get("spec"), node.str_at(&["metadata", "namespace"]));
            }
            ("helm.toolkit.fluxcd.io", "HelmRelease") => instance(
                node.at(&["spec", "values", "instance"]),
                node.str_at(&["spec", "targetNamespace"])
                    .or_else(|| node.str_at(&["metadata", "namespace"])),
            ),
            ("", "") => instance(node.get("instance"), None),
            _ => {}
        }
    }
}
