//! The whole line on a small repository whose files are any text, ignores and all, against a base.
#![no_main]

use libfuzzer_sys::fuzz_target;
use wavelint::config::Config;
use wavelint::fix::Mended;
use wavelint::levels::Selection;
use wavelint::lint;
use wavelint::snapshot::Snapshot;

const NAMES: [&str; 6] = [
    "clusters/a/all.yaml",
    "apps/wave-0/kustomization.yaml",
    "apps/wave-0/a.yaml",
    "apps/wave-1/b.yaml",
    "catalog/all.yaml",
    "apps/wave-1/a.yaml",
];

fuzz_target!(|text: &str| {
    // Files are told apart by a line with `===`; the base has each under the next one's name.
    let parts: Vec<&str> = text.split("\n===\n").take(NAMES.len()).collect();
    let snapshot = |shift: usize| {
        Snapshot::memory(parts.iter().enumerate().map(|(index, text)| {
            let name = NAMES[(index + shift) % NAMES.len()];
            (name.to_owned(), text.as_bytes().to_vec())
        }))
    };
    let config = Config::default();
    let mut loaded = lint::load(snapshot(0), Some(snapshot(1)));
    let (head, base) = (std::mem::take(&mut loaded.head), loaded.base.take());
    let repo = lint::understand(&loaded.files, &config, head, base, &[]);
    let outcome = lint::lint(&repo, &Selection::default(), &[]).expect("no names are given");
    for finding in &outcome.findings {
        let text = repo.files.text(finding.place.file);
        assert!(finding.place.span.end as usize <= text.len());
    }
    Mended::default().pass(&outcome.findings, repo.files, &repo.head.tree, true);
});
