//! The whole line beside the bare cost of reading and parsing the same bytes once.
//!
//! `cargo bench` prints both for two repositories in memory: one cluster pair with many services, and
//! two hundred small repositories side by side. `RAYON_NUM_THREADS=1` compares work instead of time.

use std::collections::BTreeMap;
use std::path::Path;

use divan::{Bencher, black_box};
use wavelint::config::Config;
use wavelint::levels::Selection;
use wavelint::lint;
use wavelint::snapshot::Snapshot;

type Tree = BTreeMap<String, Vec<u8>>;

fn main() {
    divan::main();
}

/// The files of a directory of the test data.
fn testdata(name: &str) -> Tree {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("testdata")
        .join(name);
    walkdir::WalkDir::new(&root)
        .into_iter()
        .filter_map(Result::ok)
        .filter(|entry| entry.file_type().is_file())
        .map(|entry| {
            let path = entry.path().strip_prefix(&root).expect("below the root");
            let bytes = std::fs::read(entry.path()).expect("test data");
            (path.to_string_lossy().replace('\\', "/"), bytes)
        })
        .collect()
}

/// Two clusters over one base, and 1,500 services in three waves.
fn large() -> Tree {
    let mut tree = testdata("homelab/waves");
    let mut lists: BTreeMap<String, String> = BTreeMap::new();
    for (wave, model) in ["gitea", "sonarr", "seerr"].into_iter().enumerate() {
        let list = format!("apps/wave-{wave}/kustomization.yaml");
        let mut text = String::from_utf8(tree[&list].clone()).expect("text");
        let manifest = text_of(&tree, &format!("apps/wave-{wave}/{model}.yaml"));
        let definition = text_of(&tree, &format!("catalog/services/{model}.yaml"));
        for number in 0..500 {
            let name = format!("{model}{number}");
            let rename = |text: &str| {
                text.replace(&format!("name: {model}"), &format!("name: {name}"))
                    .replace(
                        &format!("claimName: {model}"),
                        &format!("claimName: {name}"),
                    )
            };
            tree.insert(
                format!("apps/wave-{wave}/{name}.yaml"),
                rename(&manifest).into_bytes(),
            );
            tree.insert(
                format!("catalog/services/{name}.yaml"),
                rename(&definition).into_bytes(),
            );
            text.push_str(&format!("  - {name}.yaml\n"));
        }
        lists.insert(list, text);
    }
    for (list, text) in lists {
        tree.insert(list, text.into_bytes());
    }
    tree
}

fn text_of(tree: &Tree, path: &str) -> String {
    String::from_utf8(tree[path].clone()).expect("text")
}

/// Two hundred copies of a small repository: 10,000 files, 400 clusters.
fn many() -> Tree {
    let one = testdata("homelab/waves");
    let mut tree = Tree::new();
    for number in 0..200 {
        for (path, bytes) in &one {
            let bytes = if path.starts_with("clusters/base/") {
                String::from_utf8(bytes.clone())
                    .expect("text")
                    .replace("path: ./", &format!("path: ./home-{number}/"))
                    .into_bytes()
            } else {
                bytes.clone()
            };
            tree.insert(format!("home-{number}/{path}"), bytes);
        }
    }
    tree
}

fn snapshot(tree: &Tree) -> Snapshot {
    Snapshot::memory(
        tree.iter()
            .map(|(path, bytes)| (path.clone(), bytes.clone())),
    )
}

const REPOSITORIES: [&str; 3] = ["small", "large", "many"];

fn repository(name: &str) -> Tree {
    match name {
        "small" => testdata("homelab/waves"),
        "large" => large(),
        _ => many(),
    }
}

#[divan::bench(args = REPOSITORIES, sample_count = 10)]
fn parse_only(bencher: Bencher, name: &str) {
    let tree = repository(name);
    bencher
        .with_inputs(|| snapshot(&tree))
        .bench_values(|head| black_box(lint::load(head, None)));
}

#[divan::bench(args = REPOSITORIES, sample_count = 10)]
fn whole_line(bencher: Bencher, name: &str) {
    let tree = repository(name);
    let config = Config::default();
    bencher
        .with_inputs(|| snapshot(&tree))
        .bench_values(|head| {
            let mut loaded = lint::load(head, None);
            let head = std::mem::take(&mut loaded.head);
            let repo = lint::understand(&loaded.files, &config, head, None, &[]);
            let outcome =
                lint::lint(&repo, &Selection::default(), &[]).expect("no names are given");
            black_box(outcome.findings.len())
        });
}

#[divan::bench(args = REPOSITORIES, sample_count = 10)]
fn whole_line_against_an_equal_base(bencher: Bencher, name: &str) {
    let tree = repository(name);
    let config = Config::default();
    bencher
        .with_inputs(|| (snapshot(&tree), snapshot(&tree)))
        .bench_values(|(head, base)| {
            let mut loaded = lint::load(head, Some(base));
            let (head, base) = (std::mem::take(&mut loaded.head), loaded.base.take());
            let repo = lint::understand(&loaded.files, &config, head, base, &[]);
            let outcome =
                lint::lint(&repo, &Selection::default(), &[]).expect("no names are given");
            black_box(outcome.findings.len())
        });
}
