//! What the tests share: linting in memory.
#![allow(dead_code)]

use std::collections::BTreeMap;
use std::path::Path;

use wavelint::config::{Config, FILE_NAME};
use wavelint::finding::{Finding, Severity};
use wavelint::levels::Selection;
use wavelint::lint;
use wavelint::report;
use wavelint::snapshot::Snapshot;
use wavelint::source::Revision;

/// Path → text of a small repository.
pub(crate) type Tree = BTreeMap<String, String>;

/// A finding in the words of a test.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Found {
    pub rule: String,
    pub severity: &'static str,
    pub path: String,
    pub line: usize,
    pub message: String,
    pub certainty: Option<&'static str>,
    /// `path:line` of every related place.
    pub related: Vec<String>,
    pub clusters: Vec<String>,
    pub in_base: bool,
}

impl Found {
    /// `path:line severity rule message`, for failures.
    pub(crate) fn line(&self) -> String {
        format!(
            "{}:{} {} {} {}",
            self.path, self.line, self.severity, self.rule, self.message
        )
    }
}

/// Lints a tree in memory, against another if there is one. `select` names rules or groups; empty for all.
pub(crate) fn lint_trees(head: &Tree, base: Option<&Tree>, select: &[&str]) -> Vec<Found> {
    let snapshot = |tree: &Tree| {
        Snapshot::memory(
            tree.iter()
                .map(|(path, text)| (path.clone(), text.clone().into_bytes())),
        )
    };
    let config = head.get(FILE_NAME).map_or_else(Config::default, |text| {
        Config::parse(text, FILE_NAME).unwrap_or_else(|error| panic!("{error}"))
    });
    let mut loaded = lint::load(snapshot(head), base.map(snapshot));
    let (head, base) = (std::mem::take(&mut loaded.head), loaded.base.take());
    let repo = lint::understand(&loaded.files, &config, head, base, &[]);
    let selection = Selection {
        select: select.iter().map(|name| (*name).to_owned()).collect(),
        ignore: Vec::new(),
    };
    let mut findings = lint::lint(&repo, &selection, &[])
        .unwrap_or_else(|error| panic!("{error}"))
        .findings;
    report::sort(&mut findings, repo.files);
    findings.iter().for_each(follows_the_convention);
    findings
        .iter()
        .map(|finding| describe(&repo, finding))
        .collect()
}

/// Kinds of objects that are one word, with which a message may begin.
const KINDS: [&str; 12] = [
    "Certificate",
    "Component",
    "Deployment",
    "Ingress",
    "Issuer",
    "Job",
    "Kustomization",
    "Namespace",
    "Pod",
    "Role",
    "Secret",
    "Service",
];

/// Messages: lower case, no full stop, the thing named first, on one line.
fn follows_the_convention(finding: &Finding) {
    let related = finding.related.iter().map(|related| &related.message);
    for text in std::iter::once(&finding.message).chain(related) {
        let word = text.split(' ').next().unwrap_or_default();
        let rest = text[word.len()..].trim_start();
        // The kind of a thing keeps its case before its name: Kustomization `a`, ConfigMap a/b.
        let is_kind = KINDS.contains(&word)
            || rest.starts_with('`')
            || rest.contains('/')
            || word.chars().filter(|c| c.is_uppercase()).count() > 1;
        let rule = finding.rule;
        assert!(!text.is_empty(), "{rule}: an empty message");
        assert!(
            !word.starts_with(char::is_uppercase) || is_kind,
            "{rule}: begins with a capital: {text}"
        );
        assert!(
            !text.ends_with(['.', '!', ' ']),
            "{rule}: ends wrongly: {text}"
        );
        assert!(
            !text.contains(['\n', '\t']),
            "{rule}: has several lines: {text}"
        );
        assert!(!text.contains("  "), "{rule}: two blanks: {text}");
        assert_eq!(
            text.matches('`').count() % 2,
            0,
            "{rule}: odd quotes: {text}"
        );
    }
    if let Some(help) = &finding.help {
        assert!(
            !help.is_empty() && !help.ends_with('.'),
            "{}: {help}",
            finding.rule
        );
    }
}

fn describe(repo: &wavelint::repo::Repo, finding: &Finding) -> Found {
    Found {
        rule: finding.rule.to_owned(),
        severity: finding.severity.as_str(),
        path: repo.files.path(finding.place.file).to_owned(),
        line: repo.files.line(finding.place),
        message: finding.message.clone(),
        certainty: finding.certainty.map(|certainty| certainty.as_str()),
        related: finding
            .related
            .iter()
            .map(|related| {
                format!(
                    "{}:{}",
                    repo.files.path(related.place.file),
                    repo.files.line(related.place)
                )
            })
            .collect(),
        clusters: finding.clusters.clone(),
        in_base: repo.files.revision(finding.place.file) == Revision::Base,
    }
}

/// The findings at warning or above.
pub(crate) fn serious(found: Vec<Found>) -> Vec<Found> {
    found
        .into_iter()
        .filter(|found| found.severity != Severity::Info.as_str())
        .collect()
}

/// Reads a directory of text files; what is no text is left out.
pub(crate) fn read_tree(root: &Path) -> Tree {
    fn walk(root: &Path, directory: &Path, tree: &mut Tree) {
        let entries = std::fs::read_dir(directory)
            .unwrap_or_else(|error| panic!("{}: {error}", directory.display()));
        for entry in entries {
            let path = entry.expect("a directory can be listed").path();
            if path.is_dir() {
                walk(root, &path, tree);
            } else if let Ok(text) = std::fs::read_to_string(&path) {
                let name = path.strip_prefix(root).expect("it is below the root");
                tree.insert(name.to_string_lossy().replace('\\', "/"), text);
            }
        }
    }
    let mut tree = Tree::new();
    walk(root, root, &mut tree);
    tree
}

/// The directory of test data in the repository.
pub(crate) fn testdata(name: &str) -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("testdata")
        .join(name)
}

/// Several findings as lines, for failures.
pub(crate) fn lines(found: &[Found]) -> String {
    found
        .iter()
        .map(|found| format!("  {}\n", found.line()))
        .collect()
}
