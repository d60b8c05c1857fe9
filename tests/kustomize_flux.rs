//! What Flux adds to kustomize, and what the engine tells beyond objects: problems, gaps, places.

use wavelint::kustomize::{Build, BuildOptions, GapEffect, Kustomize, ProblemKind};
use wavelint::snapshot::{BlobId, Entry, EntryKind, Kind, Reader, Snapshot};
use wavelint::source::{FileId, Place, Revision};
use wavelint::tree::{Files, Tree};
use wavelint::yaml::{Node, parse};

struct Texts(Vec<&'static str>);

impl Reader for Texts {
    fn read(&self, index: usize, _: &Entry) -> std::io::Result<Vec<u8>> {
        Ok(self.0[index].as_bytes().to_vec())
    }

    fn blob_id(&self, _: usize, _: &Entry) -> Option<BlobId> {
        None
    }
}

/// A tree from paths and texts; `@link` and `@submodule` stand for those.
fn tree(paths: &[(&str, &'static str)]) -> (Files, Tree) {
    let mut paths = paths.to_vec();
    paths.sort_unstable();
    let entries = paths
        .iter()
        .map(|(path, text)| Entry {
            path: (*path).to_owned(),
            kind: match *text {
                "@link" => EntryKind::Symlink,
                "@submodule" => EntryKind::Submodule,
                _ => EntryKind::File,
            },
        })
        .collect();
    let texts = paths.iter().map(|(_, text)| *text).collect();
    let snapshot = Snapshot::new(Kind::Memory, None, entries, Box::new(Texts(texts)));
    let mut files = Files::default();
    let tree = files.add(snapshot, Revision::Head, None);
    (files, tree)
}

fn build(paths: &[(&str, &'static str)], directory: &str, options: &BuildOptions) -> Build {
    let (files, tree) = tree(paths);
    Kustomize::new(&files, &tree).build(directory, options)
}

fn flux() -> BuildOptions {
    BuildOptions {
        flux: true,
        ..BuildOptions::default()
    }
}

fn node(text: &str) -> Option<Node> {
    parse(text, FileId(0))
        .documents
        .pop()
        .map(|document| document.root)
}

fn ids(build: &Build) -> Vec<String> {
    build
        .objects
        .iter()
        .map(|object| object.id().to_string())
        .collect()
}

fn messages(build: &Build) -> Vec<&str> {
    build
        .problems
        .iter()
        .map(|problem| problem.message.as_str())
        .collect()
}

const HERON: &str =
    "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: heron}\ndata: {fish: \"1\"}\n";
const STORK: &str = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: stork}\n";
const IBIS: &str = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ibis}\n";

#[test]
fn a_path_without_kustomization_file_is_walked() {
    let paths = [
        ("apps/.hidden/a.yaml", HERON),
        ("apps/sub/kustomization.yml", "resources: [listed.yaml]\n"),
        ("apps/sub/listed.yaml", STORK),
        ("apps/sub/unlisted.yaml", "no: manifest\n"),
        ("apps/deep/er/b.yml", IBIS),
        ("apps/README.md", "# no\n"),
        ("apps/c.YAML", "no: manifest\n"),
        ("apps/link.yaml", "@link"),
    ];
    let built = build(&paths, "apps", &flux());
    assert_eq!(
        ids(&built),
        ["ConfigMap heron", "ConfigMap ibis", "ConfigMap stork"]
    );
    assert_eq!(messages(&built), [""; 0]);
    assert_eq!(built.directories[0].kustomization_file, None);
    let plain = build(&paths, "apps", &BuildOptions::default());
    assert_eq!(plain.problems[0].kind, ProblemKind::ResourceNotFound);
}

#[test]
fn a_walked_path_must_hold_manifests_only() {
    let built = build(
        &[("a/heron.yaml", HERON), ("a/values.yaml", "x: 1\n")],
        "a",
        &flux(),
    );
    assert_eq!(built.problems.len(), 1);
    assert_eq!(built.problems[0].kind, ProblemKind::NotAManifest);
    assert_eq!(ids(&built), ["ConfigMap heron"]);
}

#[test]
fn the_spec_is_put_into_the_root_file() {
    let paths = [
        (
            "a/kustomization.yaml",
            "namespace: lost\nresources: [heron.yaml, pod.yaml]\nimages: [{name: nginx, newName: mine, newTag: \"1\"}]\n",
        ),
        ("a/heron.yaml", HERON),
        (
            "a/pod.yaml",
            "apiVersion: v1\nkind: Pod\nmetadata: {name: pod}\nspec: {containers: [{name: a, image: nginx}]}\n",
        ),
        (
            "mixin/kustomization.yaml",
            "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\nresources: [stork.yaml]\n",
        ),
        ("mixin/stork.yaml", STORK),
    ];
    let options = BuildOptions {
        target_namespace: node("marsh"),
        name_prefix: node("grey-"),
        components: node("[../mixin, ../gone]"),
        ignore_missing_components: true,
        images: node("[{name: nginx, digest: 'sha256:ff'}]"),
        patches: node(
            "[{patch: '[{\"op\": \"add\", \"path\": \"/data\", \"value\": {\"k\": \"v\"}}]', target: {kind: ConfigMap, name: stork}}]",
        ),
        ..flux()
    };
    let built = build(&paths, "a", &options);
    assert_eq!(messages(&built), [""; 0]);
    assert_eq!(
        ids(&built),
        [
            "ConfigMap marsh/grey-heron",
            "ConfigMap marsh/grey-stork",
            "Pod marsh/grey-pod"
        ]
    );
    assert_eq!(built.objects[1].node.str_at(&["data", "k"]), Some("v"));
    let containers = built.objects[2]
        .node
        .at(&["spec", "containers"])
        .map(Node::items);
    assert_eq!(
        containers.and_then(|items| items[0].str_at(&["image"])),
        Some("mine@sha256:ff")
    );
    let strict = BuildOptions {
        ignore_missing_components: false,
        ..options
    };
    let refused = build(&paths, "a", &strict);
    assert_eq!(messages(&refused), ["`../gone` is not there"]);
}

#[test]
fn unknown_fields_are_dropped_at_the_root_and_refused_below() {
    let paths = [
        ("a/kustomization.yaml", "resource: [heron.yaml]\n"),
        ("b/kustomization.yaml", "resources: [../a]\n"),
    ];
    let built = build(&paths, "a", &flux());
    assert_eq!(messages(&built), [""; 0]);
    assert_eq!(ids(&built), [""; 0]);
    assert_eq!(built.ignored_fields[0].1, "resource");
    let nested = build(&paths, "b", &flux());
    assert_eq!(messages(&nested), ["unknown field `resource`"]);
    assert_eq!(
        nested.problems[0].help.as_deref(),
        Some("write `resources`")
    );
}

#[test]
fn every_missing_reference_is_reported_with_what_may_be_meant() {
    let built = build(
        &[
            (
                "a/kustomization.yaml",
                "resources: [heron.yml, Stork.yaml, egert.yaml, b/ibis.yaml, '*.yaml', ../../x, link.yaml, sub, vendor/x.yaml]\n",
            ),
            ("a/heron.yaml", HERON),
            ("a/stork.yaml", STORK),
            ("a/egret.yaml", IBIS),
            ("b/ibis.yaml", IBIS),
            ("a/link.yaml", "@link"),
            ("a/sub/x.yaml", HERON),
            ("a/vendor", "@submodule"),
        ],
        "a",
        &BuildOptions::default(),
    );
    let helps: Vec<Option<&str>> = built
        .problems
        .iter()
        .map(|problem| problem.help.as_deref())
        .collect();
    assert!(
        built
            .problems
            .iter()
            .all(|problem| problem.kind == ProblemKind::ResourceNotFound)
    );
    assert_eq!(
        helps,
        [
            Some("write `heron.yaml`"),
            Some("write `stork.yaml`"),
            Some("write `egret.yaml`"),
            Some("write `../b/ibis.yaml`"),
            Some("kustomize knows no patterns here: list each file"),
            None,
            Some("list what the link points to"),
            Some("list its files one by one, or add a kustomization.yaml there"),
        ]
    );
    assert!(built.problems[6].message.contains("symbolic link"));
    assert_eq!(built.gaps.len(), 1);
    assert_eq!(built.gaps[0].cause, "submodule a/vendor");
}

#[test]
fn what_is_remote_is_a_gap_and_silences_what_may_follow_from_it() {
    let built = build(
        &[(
            "kustomization.yaml",
            "resources: [github.com/a/b]\nreplicas: [{name: x, count: 1}]\npatches:\n- patch: |\n    kind: Deployment\n    apiVersion: apps/v1\n    metadata: {name: x}\n",
        )],
        "",
        &BuildOptions::default(),
    );
    assert_eq!(messages(&built), [""; 0]);
    assert_eq!(built.gaps[0].effect, GapEffect::Identities);
    assert!(built.patches[0].uncertain);
}

#[test]
fn values_of_an_inline_patch_have_their_places_in_the_file() {
    let text = "resources: [heron.yaml]\npatches:\n- patch: |\n    apiVersion: v1\n    kind: ConfigMap\n    metadata: {name: heron}\n    data: {frog: \"2\"}\n";
    let (files, tree) = tree(&[("kustomization.yaml", text), ("heron.yaml", HERON)]);
    let built = Kustomize::new(&files, &tree).build("", &BuildOptions::default());
    let place = |path: &[&str]| built.objects[0].node.at(path).map(|node| node.place);
    let slice = |place: Option<Place>| place.map(|place| files.slice(place));
    assert_eq!(slice(place(&["data", "frog"])), Some("\"2\""));
    assert_eq!(
        place(&["data", "frog"]).map(|place| files.path(place.file)),
        Some("kustomization.yaml")
    );
    assert_eq!(
        place(&["data", "fish"]).map(|place| files.path(place.file)),
        Some("heron.yaml")
    );
    assert_eq!(built.patches[0].matched.len(), 1);
}

#[test]
fn an_unmatched_target_offers_what_is_there() {
    let built = build(
        &[
            (
                "kustomization.yaml",
                "resources: [heron.yaml]\npatches:\n- target: {kind: ConfigMap, name: herno}\n  patch: '[{\"op\": \"add\", \"path\": \"/x\", \"value\": 1}]'\n",
            ),
            ("heron.yaml", HERON),
        ],
        "",
        &BuildOptions::default(),
    );
    assert_eq!(messages(&built), [""; 0]);
    assert!(built.patches[0].matched.is_empty());
    assert_eq!(built.patches[0].candidates[0].0.name, "heron");
}

#[test]
fn bases_in_a_circle_end() {
    let built = build(
        &[
            ("a/kustomization.yaml", "resources: [../b]\n"),
            ("b/kustomization.yaml", "resources: [../a, ../c]\n"),
            ("c/kustomization.yaml", "resources: [heron.yaml, ../b]\n"),
            ("c/heron.yaml", HERON),
        ],
        "a",
        &BuildOptions::default(),
    );
    assert_eq!(ids(&built), ["ConfigMap heron"]);
    assert_eq!(
        messages(&built),
        ["`a` includes itself", "`b` includes itself"]
    );
}

#[test]
fn a_flux_object_in_a_kustomization_file_is_said_to_be_one() {
    let built = build(
        &[(
            "kustomization.yaml",
            "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: a}\n",
        )],
        "",
        &flux(),
    );
    assert_eq!(
        built.problems[0].kind,
        ProblemKind::FluxObjectInKustomizationFile
    );
}

#[test]
fn ten_thousand_files_build_in_a_moment() {
    let files: Vec<(String, Vec<u8>)> = (0..10_000)
        .map(|index| {
            let text = format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: n{index}}}\n");
            (
                format!("apps/d{}/f{index}.yaml", index % 100),
                text.into_bytes(),
            )
        })
        .collect();
    let mut all = Files::default();
    let tree = all.add(Snapshot::memory(files), Revision::Head, None);
    let started = std::time::Instant::now();
    let options = BuildOptions {
        target_namespace: node("marsh"),
        ..flux()
    };
    let built = Kustomize::new(&all, &tree).build("apps", &options);
    assert_eq!(built.objects.len(), 10_000);
    assert!(started.elapsed().as_secs() < 20, "{:?}", started.elapsed());
}

#[test]
fn a_chain_of_bases_without_end_is_given_up() {
    let files: Vec<(String, Vec<u8>)> = (0..3_000)
        .map(|index| {
            let text = format!("resources: [../d{}]\n", index + 1);
            (format!("d{index}/kustomization.yaml"), text.into_bytes())
        })
        .collect();
    let mut all = Files::default();
    let tree = all.add(Snapshot::memory(files), Revision::Head, None);
    let built = Kustomize::new(&all, &tree).build("d0", &BuildOptions::default());
    assert_eq!(built.gaps.len(), 1);
    assert_eq!(built.gaps[0].effect, GapEffect::Identities);
}

#[test]
fn components_that_multiply_each_other_are_given_up() {
    let mut files: Vec<(String, Vec<u8>)> = (0..40)
        .map(|index| {
            let text = format!(
                "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\ncomponents: [../c{0}, ../c{0}]\n",
                index + 1
            );
            (format!("c{index}/kustomization.yaml"), text.into_bytes())
        })
        .collect();
    files.push((
        "c40/kustomization.yaml".to_owned(),
        b"apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\nnamespace: marsh\n"
            .to_vec(),
    ));
    files.push((
        "kustomization.yaml".to_owned(),
        b"resources: [heron.yaml]\ncomponents: [c0]\n".to_vec(),
    ));
    files.push(("heron.yaml".to_owned(), HERON.as_bytes().to_vec()));
    let mut all = Files::default();
    let tree = all.add(Snapshot::memory(files), Revision::Head, None);
    let started = std::time::Instant::now();
    let built = Kustomize::new(&all, &tree).build("", &BuildOptions::default());
    assert!(
        built
            .gaps
            .iter()
            .any(|gap| gap.effect == GapEffect::Identities)
    );
    assert!(started.elapsed().as_secs() < 60, "{:?}", started.elapsed());
}
