use super::*;

fn error(text: &str) -> String {
    match Config::parse(text, ".wavelint.yaml") {
        Ok(config) => panic!("accepted: {config:?}"),
        Err(error) => error.to_string(),
    }
}

const FULL: &str = r#"
flux-version: "2.8"
exclude: ["archive/**", /hack/]
clusters:
  - path: ./clusters/prod/
    role: design-only
  - path: clusters/dev
waves:
  - dir: apps/wave-{n}
    catalog: catalog/**/*.yaml
    after: [platform-config]
external:
  services: [router]
  variables: [CLUSTER_SECRET_*]
  sources: [vendor-repo]
overlays: {values-only: true, allow: [spec.decryption]}
blast-radius: {workloads: 7}
rules: {redundant-depends-on: info, base-forked: off, sops: on}
per-path: [{paths: ["sandbox/**"], rules: {plaintext-secret: warning}}]
"#;

#[test]
fn every_field_is_read() {
    let config = Config::parse(FULL, ".wavelint.yaml").unwrap();
    assert_eq!(config.path.as_deref(), Some(".wavelint.yaml"));
    assert!(!config.flux_version.strict_substitution());
    assert!(config.exclude.matches("archive/a/b.yaml"));
    assert!(config.exclude.matches("hack/x"));
    assert!(!config.exclude.matches("apps/hack/x"));
    let clusters: Vec<_> = config
        .clusters
        .iter()
        .map(|cluster| (cluster.path.as_str(), cluster.role))
        .collect();
    assert_eq!(
        clusters,
        [
            ("clusters/prod", Role::DesignOnly),
            ("clusters/dev", Role::Active)
        ]
    );
    assert_eq!(
        config.clusters[0].at,
        At {
            line: 5,
            column: 11
        }
    );
    assert_eq!(config.waves[0].around_number(), ("apps/wave-", ""));
    assert!(config.waves[0].catalog.matches("catalog/media/sonarr.yaml"));
    assert!(!config.waves[0].catalog.matches("catalog/media/sonarr.md"));
    assert_eq!(config.waves[0].after, ["platform-config"]);
    assert_eq!(config.external.services, ["router"]);
    assert!(config.external.variables.matches("CLUSTER_SECRET_DOMAIN"));
    assert!(!config.external.variables.matches("SECRET"));
    assert_eq!(config.external.sources, ["vendor-repo"]);
    assert!(config.overlays.values_only);
    assert_eq!(config.overlays.allow, ["spec.decryption"]);
    assert_eq!(
        config.blast_radius,
        BlastRadius {
            workloads: 7,
            namespaces: 3
        }
    );
    let rules: Vec<_> = config
        .rules
        .iter()
        .map(|rule| (rule.name.as_str(), rule.level))
        .collect();
    assert_eq!(
        rules,
        [
            ("redundant-depends-on", Level::Severity(Severity::Info)),
            ("base-forked", Level::Off),
            ("sops", Level::On),
        ]
    );
    assert!(config.per_path[0].paths.matches("sandbox/x.yaml"));
    assert_eq!(
        config.per_path[0].rules[0].at,
        At {
            line: 19,
            column: 44
        }
    );
}

#[test]
fn nothing_written_is_the_default() {
    for text in [
        "",
        "# nothing\n",
        "---\n",
        "exclude:\nrules:\nclusters: []\noverlays:\n",
    ] {
        let config = Config::parse(text, "c").unwrap();
        assert!(config.flux_version.strict_substitution(), "{text:?}");
        assert!(
            config.exclude.is_empty() && config.rules.is_empty(),
            "{text:?}"
        );
        assert_eq!(config.blast_radius, BlastRadius::default());
    }
}

#[test]
fn a_version_is_read_as_written() {
    let version = |text: &str| {
        let config = Config::parse(&format!("flux-version: {text}"), "c").unwrap();
        (config.flux_version.major, config.flux_version.minor)
    };
    assert_eq!(version("2.10"), (2, 10));
    assert_eq!(version("v2.9.1"), (2, 9));
    assert_eq!(
        error("flux-version: newest"),
        ".wavelint.yaml:1:15: flux-version `newest` must be a version such as \"2.9\""
    );
    assert!(error("flux-version: \"2\"").contains("must be a version"));
}

#[test]
fn unknown_keys_are_refused_with_a_place_and_a_near_name() {
    assert_eq!(
        error("exclude: []\nexlude: []\n"),
        ".wavelint.yaml:2:1: unknown key `exlude`, did you mean `exclude`?"
    );
    assert_eq!(
        error("clusters:\n  - path: a\n    rôle: active\n"),
        ".wavelint.yaml:3:5: unknown key `rôle` in an entry of clusters, did you mean `role`?"
    );
    assert_eq!(
        error("blast-radius: {pods: 1}"),
        ".wavelint.yaml:1:16: unknown key `pods` in blast-radius; known are workloads, namespaces"
    );
}

#[test]
fn wrong_values_are_refused_with_a_place() {
    for (text, expected) in [
        (
            "exclude: archive",
            "1:10: exclude must be a list, not a single value",
        ),
        ("- a", "1:1: the configuration must be a map, not a list"),
        ("exclude:\n  -\n", "entry without a value"),
        (
            "rules: {a: {b: c}}",
            "1:12: a must be a single value, not a map",
        ),
        (
            "rules: {a: of}",
            "1:12: a must be off, info, warning, error or on, not `of`, did you mean `off`?",
        ),
        (
            "rules: {a: }",
            "a must be off, info, warning, error or on, not ``",
        ),
        (
            "overlays: {values-only: perhaps}",
            "1:25: overlays.values-only: invalid type",
        ),
        (
            "blast-radius:\n  workloads: many\n",
            "2:14: blast-radius.workloads: invalid type",
        ),
        ("blast-radius:\n  workloads: -1\n", "2:14: "),
        (
            "clusters: [{role: active}]",
            "1:12: a cluster needs a `path`",
        ),
        ("clusters: [{path: ../x}]", "must be relative to the root"),
        (
            "clusters: [{path: x, role: activ}]",
            "1:28: role `activ` must be active or design-only, did you mean `active`?",
        ),
        (
            "waves: [{dir: apps}]",
            "1:15: dir `apps` must have {n} once",
        ),
        ("waves: [{dir: '{n}/{n}'}]", "must have {n} once"),
        ("waves: [{}]", "a wave set needs a `dir`"),
        (
            "per-path: [{rules: {}}]",
            "an entry of per-path needs `paths`",
        ),
        ("exclude: [ok, 'a[']", "1:15: pattern `a[` is no glob"),
        (
            "rules: {}\nrules: {}\n",
            "2:1: key `rules` stands in line 1 already",
        ),
        (
            "a: b\n---\nc: d\n",
            "3:1: the configuration must be one document",
        ),
        ("exclude: [a\n", "not valid YAML"),
        (
            "clusters: [{path: a}, {path: ./a/}]\n",
            "cluster `a` is listed twice",
        ),
        ("exclude: *a\n", "not valid YAML"),
    ] {
        let message = error(text);
        assert!(
            message.starts_with(".wavelint.yaml:") && message.contains(expected),
            "{text:?}: {message}"
        );
    }
}

#[test]
fn hostile_text_is_refused_quickly() {
    for text in [
        "[".repeat(100_000),
        "{a: ".repeat(100_000),
        "? ".repeat(100_000),
    ] {
        error(&text);
    }
}

proptest::proptest! {
    #![proptest_config(proptest::test_runner::Config { failure_persistence: None, ..Default::default() })]

    #[test]
    fn any_text_is_read_or_refused_with_a_place(pieces in proptest::collection::vec(
        proptest::sample::select(vec![
            "exclude: ", "clusters:", "waves: ", "rules: ", "per-path: ", "paths: ", "dir: ",
            "path: ", "a/{n}", "[", "]", "{", "}", "- ", "\n", "\n  ", ", ", ": ", "off", "2.9",
            "ü", "\t", "\r\n", "&a ", "*a", "'", "\"", "# x", "---\n", "!!str ", "<<: ", "null", "**",
        ]), 0..25,
    )) {
        if let Err(error) = Config::parse(&pieces.concat(), "c.yaml") {
            let at = error.at.unwrap();
            proptest::prop_assert!(at.line >= 1 && at.column >= 1);
            proptest::prop_assert!(!error.message.is_empty());
        }
    }
}
