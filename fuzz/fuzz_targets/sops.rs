//! Any text as a SOPS file of every format, and as `.sops.yaml`.
#![no_main]

use libfuzzer_sys::fuzz_target;
use wavelint::snapshot::Snapshot;
use wavelint::sops::{Config, detect, leaves_of_file};
use wavelint::source::Revision;
use wavelint::tree::Files;

const NAMES: [&str; 6] = [".sops.yaml", "a.yaml", "a.json", "a.env", "a.ini", "a.txt"];

fuzz_target!(|text: &str| {
    let mut files = Files::default();
    let snapshot = Snapshot::memory(
        NAMES.map(|name| (name.to_owned(), text.as_bytes().to_vec())),
    );
    let tree = files.add(snapshot, Revision::Head, None);
    for (path, id) in tree.files() {
        if let Some(metadata) = detect(&files, id) {
            let _ = leaves_of_file(&files, id, &metadata);
        }
        if path == ".sops.yaml" {
            for document in &files.yaml(id).documents {
                let config = Config::read(&document.root, files.text(id));
                for path in NAMES {
                    let _ = config.matching_rule(path);
                }
            }
        }
    }
});
