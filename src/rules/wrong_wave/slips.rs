//! Waves that may be computed from a slip in the catalog.

use std::collections::BTreeSet;

use crate::repo::Repo;
use crate::waves::Service;

/// True if the computed wave may rest on a slip: the service, or one that it depends on, has a misspelt
/// `dependencies`, or had some at the base revision and has none now.
pub(super) fn depends_uncertainly(repo: &Repo, service: usize) -> bool {
    let catalog = &repo.head.waves.catalog;
    let before = repo.base.as_ref().map(|base| &base.picture.waves.catalog);
    let lost_all = |service: &Service| {
        service.dependencies.is_empty()
            && before.is_some_and(|before| {
                before
                    .find(&service.name)
                    .is_some_and(|index| !before.services[index].dependencies.is_empty())
            })
    };
    let mut seen = BTreeSet::from([service]);
    let mut left = vec![service];
    while let Some(index) = left.pop() {
        let service = &catalog.services[index];
        if service.misspelt_dependencies().is_some() || lost_all(service) {
            return true;
        }
        let below = service
            .dependencies
            .iter()
            .filter_map(|dependency| catalog.find(&dependency.name));
        left.extend(below.filter(|below| seen.insert(*below)));
    }
    false
}
