//! Small random repositories and changes: as data for the model, and as files.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::model::{Directory, Manifest, Policy, ROOT, Revision, Spec};

/// A repository before and after.
pub(crate) struct Change {
    pub(crate) base: Revision,
    pub(crate) head: Revision,
}

/// Numbers that look random and are the same in every run (xorshift).
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        let mut random = Self((seed + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
        random.below(2);
        random.below(2);
        random
    }

    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 33) as usize % limit
    }

    fn percent(&mut self, chance: usize) -> bool {
        self.below(100) < chance
    }

    fn pick<T: Clone>(&mut self, items: &[T]) -> T {
        items[self.below(items.len())].clone()
    }
}

const CLUSTER: &str = "clusters/lab";
const SOURCES: [&str; 2] = ["flux-system", "second"];

impl Change {
    /// Both revisions, for a failure.
    pub(crate) fn describe(&self) -> String {
        let mut text = String::new();
        for (name, revision) in [("before", &self.base), ("after", &self.head)] {
            let _ = writeln!(text, "{name}:");
            for (path, directory) in &revision.paths {
                let _ = writeln!(
                    text,
                    "  {path}{}",
                    if directory.broken { " (broken)" } else { "" }
                );
                for manifest in &directory.manifests {
                    let _ = writeln!(text, "    {manifest:?}");
                }
                for manifest in &directory.unlisted {
                    let _ = writeln!(text, "    unlisted {manifest:?}");
                }
            }
        }
        text
    }
}

/// A random repository, and a random change to it.
pub(crate) fn change(random: &mut Random) -> Change {
    let base = repository(random);
    let mut head = base.clone();
    for _ in 0..=random.below(4) {
        mutate(random, &mut head);
    }
    Change { base, head }
}

fn plain(name: &str, guarded: bool) -> Manifest {
    Manifest {
        name: name.to_owned(),
        guarded,
        kustomization: None,
    }
}

fn kustomization(name: &str, spec: Spec) -> Manifest {
    Manifest {
        name: name.to_owned(),
        guarded: false,
        kustomization: Some(spec),
    }
}

fn spec(path: &str) -> Spec {
    Spec {
        path: path.to_owned(),
        source: 0,
        prune: true,
        suspend: false,
        wait: false,
        depends_on: Vec::new(),
        health_checks: Vec::new(),
        policy: Policy::MirrorPrune,
    }
}

fn repository(random: &mut Random) -> Revision {
    let mut revision = Revision::default();
    let root = kustomization(ROOT, spec(CLUSTER));
    revision.paths.insert(
        CLUSTER.to_owned(),
        Directory {
            manifests: vec![root],
            ..Directory::default()
        },
    );
    let grouped = random.percent(40);
    if grouped {
        let mut group = spec("groups/g");
        group.wait = random.percent(40);
        group.prune = random.percent(85);
        at(&mut revision, CLUSTER).push(kustomization("g", group));
        at(&mut revision, "groups/g");
    }
    let leaves = &["a", "b", "c"][..2 + random.below(2)];
    for leaf in leaves {
        let path = format!("apps/{leaf}");
        let mut made = spec(&path);
        made.source = usize::from(random.percent(10));
        made.prune = random.percent(88);
        made.suspend = random.percent(5);
        made.wait = random.percent(20);
        if random.percent(8) {
            made.policy = random.pick(&[Policy::Delete, Policy::Orphan]);
        }
        if random.percent(55) {
            made.depends_on.push(dependency(random, leaf, grouped));
        }
        if random.percent(5) {
            made.health_checks.push(random.pick(leaves).to_owned());
        }
        let parent = if grouped && random.percent(50) {
            "groups/g"
        } else {
            CLUSTER
        };
        at(&mut revision, parent).push(kustomization(leaf, made));
        at(&mut revision, &path);
    }
    for name in &["x", "y"][..1 + random.below(2)] {
        let guarded = random.percent(8);
        let times = 1 + usize::from(random.percent(7));
        for _ in 0..times {
            let path = some_path(random, &revision);
            add(&mut revision, &path, plain(name, guarded));
        }
    }
    revision
}

/// Some Kustomization to wait for; mostly an earlier one, seldom one that makes a cycle or is nowhere.
fn dependency(random: &mut Random, leaf: &str, grouped: bool) -> (String, bool) {
    let mut names: Vec<&str> = ["a", "b", "c"]
        .into_iter()
        .filter(|name| *name < leaf)
        .collect();
    if grouped {
        names.push("g");
    }
    if names.is_empty() || random.percent(25) {
        names = vec!["b", "c", "a", ROOT];
    }
    (random.pick(&names).to_owned(), random.percent(8))
}

fn at<'a>(revision: &'a mut Revision, path: &str) -> &'a mut Vec<Manifest> {
    &mut revision.paths.entry(path.to_owned()).or_default().manifests
}

fn add(revision: &mut Revision, path: &str, manifest: Manifest) {
    let Some(directory) = revision.paths.get_mut(path) else {
        return;
    };
    directory
        .unlisted
        .retain(|other| other.name != manifest.name);
    if directory
        .manifests
        .iter()
        .all(|other| other.name != manifest.name)
    {
        directory.manifests.push(manifest);
    }
}

fn some_path(random: &mut Random, revision: &Revision) -> String {
    let paths: Vec<String> = revision
        .paths
        .keys()
        .filter(|path| *path != CLUSTER || random.percent(15))
        .cloned()
        .collect();
    random.pick(&paths)
}

/// Paths and positions of what a revision lists.
fn listed(revision: &Revision, kustomizations: bool) -> Vec<(String, usize)> {
    revision
        .paths
        .iter()
        .flat_map(|(path, directory)| {
            directory
                .manifests
                .iter()
                .enumerate()
                .filter(|(_, manifest)| {
                    manifest.name != ROOT && manifest.kustomization.is_some() == kustomizations
                })
                .map(|(position, _)| (path.clone(), position))
        })
        .collect()
}

fn mutate(random: &mut Random, head: &mut Revision) {
    let objects = listed(head, false);
    let kustomizations = listed(head, true);
    match random.below(12) {
        0..=3 if !objects.is_empty() => {
            let (path, position) = random.pick(&objects);
            let manifest = at(head, &path).remove(position);
            let to = some_path(random, head);
            add(head, &to, manifest);
        }
        4 if !objects.is_empty() => {
            let (path, position) = random.pick(&objects);
            let manifest = at(head, &path).remove(position);
            if let Some(directory) = head.paths.get_mut(&path) {
                directory.unlisted.push(manifest);
            }
        }
        5 if !objects.is_empty() => {
            let (path, position) = random.pick(&objects);
            let manifest = &mut at(head, &path)[position];
            manifest.guarded = !manifest.guarded;
        }
        6 | 7 if !kustomizations.is_empty() => {
            let (path, position) = random.pick(&kustomizations);
            let name = at(head, &path)[position].name.clone();
            let entry = dependency(random, &name, false);
            let Some(spec) = &mut at(head, &path)[position].kustomization else {
                return;
            };
            match random.below(8) {
                0 => spec.prune = !spec.prune,
                1 => spec.suspend = !spec.suspend,
                2 => spec.wait = !spec.wait,
                3 => spec.policy = Policy::Orphan,
                4 | 5 => spec.depends_on.clear(),
                _ => spec.depends_on = vec![entry],
            }
        }
        8 if !kustomizations.is_empty() => remove_or_rename(random, head, &kustomizations),
        9 if !kustomizations.is_empty() => change_path(random, head, &kustomizations),
        10 if !kustomizations.is_empty() => {
            let (path, position) = random.pick(&kustomizations);
            if head.paths.contains_key("groups/g") && at(head, &path)[position].name != "g" {
                let manifest = at(head, &path).remove(position);
                let to = if path == CLUSTER { "groups/g" } else { CLUSTER };
                add(head, to, manifest);
            }
        }
        11 => {
            let path = some_path(random, head);
            if path != CLUSTER
                && let Some(directory) = head.paths.get_mut(&path)
            {
                directory.broken = true;
            }
        }
        _ => {}
    }
}

/// A Kustomization goes; half the time another takes its path, or a new one takes its objects.
fn remove_or_rename(random: &mut Random, head: &mut Revision, all: &[(String, usize)]) {
    let (path, position) = random.pick(all);
    let mut manifest = at(head, &path).remove(position);
    if random.percent(60) && manifest.name != "g" {
        manifest.name = "n".to_owned();
        if random.percent(30)
            && let Some(spec) = &mut manifest.kustomization
        {
            spec.depends_on = vec![("a".to_owned(), false)];
        }
        add(head, &path, manifest);
    }
}

/// A Kustomization's path changes, and what was there goes with it, or stays behind in part.
fn change_path(random: &mut Random, head: &mut Revision, all: &[(String, usize)]) {
    let (path, position) = random.pick(all);
    let Some(spec) = &mut at(head, &path)[position].kustomization else {
        return;
    };
    let old = spec.path.clone();
    if old.ends_with("-new") {
        return;
    }
    let new = format!("{old}-new");
    spec.path.clone_from(&new);
    let Some(mut directory) = head.paths.remove(&old) else {
        return;
    };
    match random.below(4) {
        0 => {
            let kept = directory.clone();
            head.paths.insert(old, kept);
        }
        1 => {
            head.paths.insert(old, Directory::default());
        }
        2 => {
            let left = directory.manifests.pop();
            head.paths.insert(
                old,
                Directory {
                    manifests: left.into_iter().collect(),
                    ..Directory::default()
                },
            );
        }
        _ => {}
    }
    head.paths.insert(new, directory);
}

impl Revision {
    /// The files of a repository that is this revision.
    pub(crate) fn files(&self) -> BTreeMap<String, String> {
        let mut files = BTreeMap::new();
        for (path, directory) in &self.paths {
            let mut list = String::new();
            for manifest in &directory.manifests {
                if manifest.name == ROOT {
                    list += "  - flux-system\n";
                } else {
                    let _ = writeln!(list, "  - {}.yaml", manifest.name);
                }
            }
            if directory.broken {
                list += "  - missing.yaml\n";
            }
            let list = if list.is_empty() {
                "resources: []\n".to_owned()
            } else {
                format!("resources:\n{list}")
            };
            files.insert(format!("{path}/kustomization.yaml"), list);
            for manifest in directory.manifests.iter().chain(&directory.unlisted) {
                if manifest.name != ROOT {
                    files.insert(format!("{path}/{}.yaml", manifest.name), manifest.text());
                }
            }
        }
        let mut sync = String::new();
        for source in SOURCES {
            let _ = write!(
                sync,
                "apiVersion: source.toolkit.fluxcd.io/v1\nkind: GitRepository\nmetadata:\n  name: {source}\n  namespace: flux-system\nspec:\n  interval: 5m\n  url: https://git.example.test/fleet.git\n---\n"
            );
        }
        sync += &kustomization(ROOT, spec(CLUSTER)).text();
        files.insert(format!("{CLUSTER}/flux-system/gotk-sync.yaml"), sync);
        files.insert(
            format!("{CLUSTER}/flux-system/kustomization.yaml"),
            "resources:\n  - gotk-sync.yaml\n".to_owned(),
        );
        files
    }
}

impl Manifest {
    fn text(&self) -> String {
        let guard = if self.guarded {
            "  annotations:\n    kustomize.toolkit.fluxcd.io/prune: disabled\n"
        } else {
            ""
        };
        let Some(spec) = &self.kustomization else {
            return format!(
                "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {}\n  namespace: apps\n{guard}",
                self.name
            );
        };
        let mut text = format!(
            "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata:\n  name: {}\n  namespace: flux-system\n{guard}spec:\n  interval: 10m\n  path: ./{}\n  prune: {}\n  sourceRef:\n    kind: GitRepository\n    name: {}\n",
            self.name, spec.path, spec.prune, SOURCES[spec.source]
        );
        if spec.suspend {
            text += "  suspend: true\n";
        }
        if spec.wait {
            text += "  wait: true\n";
        }
        if !spec.depends_on.is_empty() {
            text += "  dependsOn:\n";
        }
        for (name, ready_expression) in &spec.depends_on {
            let _ = writeln!(text, "    - name: {name}");
            if *ready_expression {
                text += "      readyExpr: dep.status.observedGeneration >= 0\n";
            }
        }
        if !spec.health_checks.is_empty() {
            text += "  healthChecks:\n";
        }
        for name in &spec.health_checks {
            let _ = write!(
                text,
                "    - apiVersion: kustomize.toolkit.fluxcd.io/v1\n      kind: Kustomization\n      name: {name}\n      namespace: flux-system\n"
            );
        }
        match spec.policy {
            Policy::MirrorPrune => {}
            Policy::Delete => text += "  deletionPolicy: Delete\n",
            Policy::Orphan => text += "  deletionPolicy: Orphan\n",
        }
        text
    }
}
