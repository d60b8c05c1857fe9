//! A small tree whose files are any text builds, or says why not.
#![no_main]

use libfuzzer_sys::fuzz_target;
use wavelint::kustomize::{BuildOptions, Kustomize};
use wavelint::snapshot::Snapshot;
use wavelint::source::Revision;
use wavelint::tree::Files;
use wavelint::yaml::emit_documents;

const NAMES: [&str; 6] = [
    "kustomization.yaml",
    "a.yaml",
    "b.yaml",
    "base/kustomization.yaml",
    "base/c.yaml",
    "component/kustomization.yaml",
];

/// More objects than a small tree can make without aliases.
const MOST: usize = 200;

fuzz_target!(|text: &str| {
    // Files are told apart by a line with `===`.
    let files = NAMES
        .iter()
        .zip(text.split("\n===\n"))
        .map(|(name, text)| ((*name).to_owned(), text.as_bytes().to_vec()));
    let mut all = Files::default();
    let tree = all.add(Snapshot::memory(files), Revision::Head, None);
    let build = Kustomize::new(&all, &tree).build("", &BuildOptions::default());
    if text.len() < 4_096 && !text.contains('*') && build.objects.len() < MOST {
        let _ = emit_documents(build.objects.iter().map(|object| &object.node));
    }
});
