//! Which files kustomize takes for its own.

use crate::source::FileId;
use crate::tree::{Child, Tree};

/// The names of a kustomization file, exact case (upstream: kustomize `konfig/general.go`).
pub const KUSTOMIZATION_FILE_NAMES: [&str; 3] =
    ["kustomization.yaml", "kustomization.yml", "Kustomization"];

/// The kustomization file of a directory, the first if there are several (which kustomize refuses).
pub fn kustomization_file(tree: &Tree, directory: &str) -> Option<FileId> {
    KUSTOMIZATION_FILE_NAMES.iter().find_map(|name| {
        let path = if directory.is_empty() {
            (*name).to_owned()
        } else {
            format!("{directory}/{name}")
        };
        match tree.child(&path) {
            Some(Child::File(file)) => Some(file),
            _ => None,
        }
    })
}
