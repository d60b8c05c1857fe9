//! Corners of YAML and JSON patches, with what kustomize answers for them.

#[path = "kustomize_corners/cases.rs"]
mod cases;
mod support;

use cases::{CASES, Case};

use wavelint::snapshot::Snapshot;
use wavelint::source::Revision;
use wavelint::tree::Files;

#[test]
fn every_corner_is_what_kustomize_makes_of_it() {
    let failures: Vec<String> = CASES
        .iter()
        .filter_map(|case| Some(format!("{}: {}", case.0, failure(case)?)))
        .collect();
    assert!(failures.is_empty(), "\n{}", failures.join("\n"));
}

fn failure((_, files, expected): &Case) -> Option<String> {
    let snapshot = Snapshot::memory(
        files
            .iter()
            .map(|(path, text)| (path.to_string(), text.as_bytes().to_vec())),
    );
    let mut files = Files::default();
    let tree = files.add(snapshot, Revision::Head, None);
    let build = support::build(&files, &tree, "");
    let messages: Vec<&str> = build
        .problems
        .iter()
        .map(|problem| problem.message.as_str())
        .collect();
    match expected {
        None => messages
            .is_empty()
            .then(|| "only kustomize refuses".to_owned()),
        Some(_) if !messages.is_empty() => Some(format!("only wavelint refuses: {messages:?}")),
        Some(expected) => {
            let differences = support::differences(&support::documents(expected), &build);
            (!differences.is_empty()).then(|| differences.join("; "))
        }
    }
}

/// Two directories on every level, each of which lists both of the next.
fn doubling(levels: usize, bottom: &str) -> Vec<(String, Vec<u8>)> {
    let mut files = vec![(
        "kustomization.yaml".to_owned(),
        b"resources: [x0, y0]\n".to_vec(),
    )];
    for level in 0..levels {
        for side in ["x", "y"] {
            let next = level + 1;
            let text = if next == levels {
                bottom.to_owned()
            } else {
                format!("namePrefix: {side}\nresources: [../x{next}, ../y{next}]\n")
            };
            files.push((
                format!("{side}{level}/kustomization.yaml"),
                text.into_bytes(),
            ));
        }
    }
    files
}

#[test]
fn bases_that_double_on_every_level_end_in_a_gap() {
    for (levels, bottom) in [
        (26, "resources: []\nnamePrefix: z\n"),
        (26, "configMapGenerator: [{name: cm, literals: [a=b]}]\n"),
        (130, "configMapGenerator: [{name: cm, literals: [a=b]}]\n"),
    ] {
        let mut files = Files::default();
        let tree = files.add(
            Snapshot::memory(doubling(levels, bottom)),
            Revision::Head,
            None,
        );
        let build = support::build(&files, &tree, "");
        let cause = "a build larger than is looked at";
        assert!(build.gaps.iter().any(|gap| gap.cause == cause), "{levels}");
        assert!(build.objects.len() < 1_000_000, "{levels}");
    }
}
