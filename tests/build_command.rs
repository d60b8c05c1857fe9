//! `wavelint build`, run as a program: its output is the YAML that kustomize prints, by content.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde::Deserialize as _;
use serde_yaml::Value;

fn testdata(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("testdata")
        .join(name)
}

fn build(arguments: &[&str], directory: &Path) -> Output {
    Command::new(env!("CARGO_BIN_EXE_wavelint"))
        .arg("build")
        .args(arguments)
        .arg(directory)
        .output()
        .expect("the program runs")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// The documents of a text, numbers all of one type, as JSON has them.
fn documents(text: &str) -> Vec<Value> {
    serde_yaml::Deserializer::from_str(text)
        .map(|document| Value::deserialize(document).expect("it is YAML"))
        .filter(|value| !value.is_null())
        .map(plain_numbers)
        .collect()
}

fn plain_numbers(value: Value) -> Value {
    match value {
        Value::Number(number) => number.as_f64().map_or(Value::Null, Value::from),
        Value::Sequence(items) => Value::Sequence(items.into_iter().map(plain_numbers).collect()),
        Value::Mapping(mapping) => Value::Mapping(
            mapping
                .into_iter()
                .map(|(key, value)| (key, plain_numbers(value)))
                .collect(),
        ),
        other => other,
    }
}

/// A repository in a folder of its own.
fn repository(files: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    for (path, text) in files {
        let path = folder.path().join(path);
        std::fs::create_dir_all(path.parent().expect("it has a folder")).expect("it can be made");
        std::fs::write(path, text).expect("it can be written");
    }
    folder
}

const KUSTOMIZATION: &str = "apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata:
  name: apps
  namespace: flux-system
spec:
  interval: 10m
  path: ./apps
  prune: true
  targetNamespace: apps
  commonMetadata:
    labels:
      team: home
  postBuild:
    substitute:
      MODE: plain
  sourceRef:
    kind: GitRepository
    name: flux-system
";

const SETTINGS: &str = "apiVersion: v1
kind: ConfigMap
metadata:
  name: settings
data:
  mode: ${MODE}
";

fn small(settings: &str) -> tempfile::TempDir {
    repository(&[
        (
            "clusters/lab/kustomization.yaml",
            "resources: [apps.yaml]\n",
        ),
        ("clusters/lab/apps.yaml", KUSTOMIZATION),
        ("apps/settings.yaml", settings),
    ])
}

/// kustomize 5.8 builds this one as Flux has it build; what is recorded is an older refusal.
const BUILT_TODAY: &str = "patch-empty-file";

#[test]
fn a_path_prints_what_kustomize_prints_and_refuses_what_it_refuses() {
    let cases = testdata("kustomize-cases");
    let mut names: Vec<_> = std::fs::read_dir(&cases)
        .expect("the cases are there")
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .filter(|name| cases.join(name).is_dir())
        .collect();
    names.sort();
    let (mut equal, mut refused) = (0, 0);
    let mut failures = String::new();
    for name in names.iter().filter(|name| *name != BUILT_TODAY) {
        let case = cases.join(name);
        let readme = std::fs::read_to_string(case.join("README.md")).expect("it is there");
        let target = readme
            .lines()
            .find_map(|line| line.strip_prefix("build: "))
            .and_then(|command| command.split(' ').find_map(|word| word.strip_prefix("in")))
            .map(|target| target.trim_start_matches('/'))
            .expect("the README names the directory");
        let target = if target.is_empty() { "." } else { target };
        // What the older kustomize refused here, it builds without its restrictions.
        let expected = match name.as_str() {
            "load-file-outside-root" => cases.join("load-file-outside-root-none"),
            _ => case.clone(),
        };
        let output = build(&[target], &case.join("in"));
        match std::fs::read_to_string(expected.join("expected.yaml")) {
            Ok(expected) if documents(&expected) == documents(&text(&output.stdout)) => equal += 1,
            Err(_) if output.status.code() == Some(1) && output.stdout.is_empty() => refused += 1,
            _ => {
                failures += &format!("{name}: {:?} {}\n", output.status, text(&output.stderr));
            }
        }
    }
    assert!(failures.is_empty(), "\n{failures}");
    assert!(
        equal > 30 && refused > 20,
        "{equal} equal, {refused} refused"
    );
}

#[test]
fn a_name_prints_what_flux_makes_of_the_kustomization() {
    let folder = small(SETTINGS);
    let output = build(&["flux-system/apps"], folder.path());
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let expected = "apiVersion: v1
kind: ConfigMap
metadata:
  name: settings
  namespace: apps
  labels: {team: home}
data: {mode: plain}
";
    assert_eq!(documents(&text(&output.stdout)), documents(expected));
    // A bare name is the Kustomization, where kustomize could not build the directory of that name.
    let output = build(&["apps"], folder.path());
    assert_eq!(documents(&text(&output.stdout)), documents(expected));
    let output = build(&["./apps"], folder.path());
    assert_eq!(output.status.code(), Some(1));
    let errors = text(&output.stderr);
    assert!(
        errors.contains("directory `apps` has no kustomization file")
            && errors.contains("`wavelint build flux-system/apps`"),
        "{errors}"
    );
    assert_eq!(errors.lines().count(), 1, "{errors}");
}

#[test]
fn a_directory_with_the_name_of_a_kustomization_is_built_and_says_so() {
    let folder = small(SETTINGS);
    std::fs::write(
        folder.path().join("apps/kustomization.yaml"),
        "resources: [settings.yaml]\n",
    )
    .expect("it can be written");
    let output = build(&["apps"], folder.path());
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert!(text(&output.stdout).contains("${MODE}"));
    let errors = text(&output.stderr);
    assert!(
        errors.contains("`wavelint build flux-system/apps`"),
        "{errors}"
    );
    let output = build(&["--quiet", "apps"], folder.path());
    assert!(output.stderr.is_empty(), "{}", text(&output.stderr));
    let output = build(&["--cluster", "clusters/lab", "apps"], folder.path());
    assert!(
        text(&output.stdout).contains("mode: plain"),
        "{}",
        text(&output.stderr)
    );
}

#[test]
fn what_flux_would_refuse_is_said_with_its_place_and_nothing_is_printed() {
    let folder = small(&SETTINGS.replace("${MODE}", "${LEVEL}"));
    let output = build(&["flux-system/apps"], folder.path());
    assert_eq!(output.status.code(), Some(1));
    assert!(output.stdout.is_empty());
    let errors = text(&output.stderr);
    assert!(
        errors.contains("apps/settings.yaml:6: ") && errors.contains("LEVEL"),
        "{errors}"
    );
}

#[test]
fn an_unknown_target_ends_with_two_and_a_near_name() {
    let folder = small(SETTINGS);
    let output = build(&["flux-system/app"], folder.path());
    assert_eq!(output.status.code(), Some(2));
    let errors = text(&output.stderr);
    assert!(
        errors.contains("did you mean `flux-system/apps`?"),
        "{errors}"
    );
}

#[test]
fn one_name_in_two_clusters_has_to_be_chosen() {
    let folder = small(SETTINGS);
    let more = folder.path().join("clusters/edge");
    std::fs::create_dir_all(&more).expect("it can be made");
    std::fs::write(more.join("apps.yaml"), KUSTOMIZATION).expect("it can be written");
    let output = build(&["flux-system/apps"], folder.path());
    assert_eq!(output.status.code(), Some(2));
    let errors = text(&output.stderr);
    assert!(errors.contains("clusters/edge"), "{errors}");
    assert!(errors.contains("choose one with --cluster\n"), "{errors}");
    let output = build(
        &["--cluster", "clusters/lab", "flux-system/apps"],
        folder.path(),
    );
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
}

#[test]
fn what_cannot_be_known_is_called_a_gap() {
    let folder = repository(&[
        (
            "apps/kustomization.yaml",
            "resources: [https://example.com/crds.yaml, secret.yaml]\n",
        ),
        (
            "apps/secret.yaml",
            "apiVersion: v1\nkind: Secret\nmetadata: {name: token}\nstringData: {a: 'ENC[AES256_GCM,data:x]'}\nsops: {mac: 'ENC[AES256_GCM,data:y]'}\n",
        ),
    ]);
    let output = build(&["apps"], folder.path());
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let errors = text(&output.stderr);
    assert_eq!(errors.lines().count(), 2, "{errors}");
    assert!(errors.lines().all(|line| line.contains("gap")), "{errors}");
    assert!(
        errors.contains("apps/kustomization.yaml:1: gap: "),
        "{errors}"
    );
    assert!(errors.contains("Secret token is encrypted"), "{errors}");
    assert_eq!(documents(&text(&output.stdout)).len(), 1);
}
