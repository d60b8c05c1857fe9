//! Real files, encrypted by SOPS 3.11 with keys that were thrown away, read back.

use proptest::prelude::*;

use super::*;
use crate::snapshot::Snapshot;
use crate::source::{FileId, Revision};
use crate::tree::{Files, Tree};
use crate::yaml;

const FIRST: &str = "age15s7q7jp57vgwlz6e08pzhas6s7hkug5c5353tf46zk8u5ew4s9rsc595y9";
const SECOND: &str = "age1vjreclngwmcrjx54czaj78xamc5wqugjqyj88pf83djcnm798faqr3su96";
const PGP: &str = "B5CCF28A84394386147DFE92C41240B00638115D";

fn load(files: &[(&str, &str)]) -> (Files, Tree) {
    let mut store = Files::default();
    let snapshot = Snapshot::memory(
        files
            .iter()
            .map(|(path, text)| ((*path).to_owned(), text.as_bytes().to_vec())),
    );
    let tree = store.add(snapshot, Revision::Head, None);
    (store, tree)
}

macro_rules! sample {
    ($name:literal) => {
        ($name, include_str!(concat!("../../testdata/sops/", $name)))
    };
}

fn samples() -> Vec<(&'static str, &'static str)> {
    vec![
        sample!("comment-regex.yaml"),
        sample!("documents.yaml"),
        sample!("encrypted-regex.yaml"),
        sample!("encrypted-suffix.yaml"),
        sample!("groups.ini"),
        sample!("key-groups.yaml"),
        sample!("mac-only.yaml"),
        sample!("pgp.env"),
        sample!("pgp.yaml"),
        sample!("plain.env"),
        sample!("plain.ini"),
        sample!("plain.json"),
        sample!("plain.txt"),
        sample!("plain.yaml"),
        sample!("unencrypted-comment.yaml"),
        sample!("unencrypted-regex.json"),
        sample!("unencrypted-suffix.yaml"),
    ]
}

fn read(path: &str) -> (Metadata, Vec<Leaf>) {
    let (files, tree) = load(&samples());
    let id = tree.file(path).unwrap();
    let metadata = detect(&files, id).unwrap();
    let leaves = leaves_of_file(&files, id, &metadata);
    (metadata, leaves)
}

fn paths(leaves: &[Leaf], state: LeafState) -> Vec<String> {
    leaves
        .iter()
        .filter(|leaf| leaf.state == state)
        .map(|leaf| leaf.path.join("."))
        .collect()
}

#[test]
fn what_the_metadata_selects_is_what_sops_encrypted() {
    let (files, tree) = load(&samples());
    let mut encrypted = 0;
    for (path, _) in samples() {
        let id = tree.file(path).unwrap();
        let metadata = detect(&files, id).unwrap();
        let leaves = leaves_of_file(&files, id, &metadata);
        assert!(!leaves.is_empty(), "{path}");
        for leaf in &leaves {
            assert!(!leaf.should_be_encrypted(), "{path}: {leaf:?}");
            assert!(!leaf.should_be_clear(), "{path}: {leaf:?}");
            let written = files.slice(leaf.place);
            assert!(written.contains(leaf.text.lines().next().unwrap_or_default()));
        }
        encrypted += paths(&leaves, LeafState::Encrypted).len();
    }
    assert_eq!(encrypted, 89);
}

#[test]
fn leaves_have_the_paths_of_the_keys_above_them() {
    let (_, leaves) = read("encrypted-suffix.yaml");
    assert_eq!(
        paths(&leaves, LeafState::Encrypted),
        ["data.nested.token_secret"]
    );
    let (_, leaves) = read("mac-only.yaml");
    assert_eq!(
        paths(&leaves, LeafState::Encrypted),
        ["stringData.password", "stringData.multi"]
    );
    assert_eq!(
        paths(&leaves, LeafState::Empty),
        ["stringData.empty", "numbers.nothing"]
    );
    let (_, leaves) = read("unencrypted-regex.json");
    assert_eq!(
        paths(&leaves, LeafState::Clear),
        ["meta.name", "list", "list", "secret.deep.list"]
    );
    let (_, leaves) = read("plain.ini");
    assert_eq!(
        paths(&leaves, LeafState::Encrypted),
        ["database.password", "database.port"]
    );
    let (_, leaves) = read("plain.env");
    assert_eq!(paths(&leaves, LeafState::Clear), ["NAME_unencrypted"]);
    let (_, leaves) = read("documents.yaml");
    assert_eq!(paths(&leaves, LeafState::Encrypted), ["a", "b"]);
}

#[test]
fn comments_select_what_follows_them() {
    let (_, leaves) = read("comment-regex.yaml");
    assert_eq!(
        paths(&leaves, LeafState::Encrypted),
        ["first", "second", "third.inner", "third.list"]
    );
    let (_, leaves) = read("unencrypted-comment.yaml");
    assert_eq!(paths(&leaves, LeafState::Clear), ["fourth", "fifth.inner"]);
}

#[test]
fn the_metadata_of_every_format_names_its_recipients() {
    let expect = |path: &str, format: Format, recipients: &[(usize, &str)]| {
        let (metadata, _) = read(path);
        assert_eq!(metadata.format, format, "{path}");
        let found: Vec<_> = metadata
            .recipients
            .iter()
            .map(|one| (one.group, one.id.as_str()))
            .collect();
        assert_eq!(found, recipients, "{path}");
        assert!(is_encrypted_value(&metadata.mac.text), "{path}");
        assert_eq!(metadata.version.unwrap().text, "3.11.0");
        assert!(metadata.last_modified.unwrap().text.starts_with("2026-"));
    };
    expect("plain.yaml", Format::Yaml, &[(0, FIRST)]);
    expect("plain.json", Format::Json, &[(0, FIRST)]);
    expect("plain.env", Format::Dotenv, &[(0, FIRST)]);
    expect("plain.ini", Format::Ini, &[(0, FIRST)]);
    expect("plain.txt", Format::Binary, &[(0, FIRST)]);
    expect("mac-only.yaml", Format::Yaml, &[(0, FIRST), (0, SECOND)]);
    expect(
        "pgp.env",
        Format::Dotenv,
        &[(0, FIRST), (0, SECOND), (0, PGP)],
    );
    expect(
        "key-groups.yaml",
        Format::Yaml,
        &[(0, PGP), (0, FIRST), (1, SECOND)],
    );
    let (groups, _) = read("groups.ini");
    assert_eq!(groups.key_groups, 2);
    assert_eq!(groups.recipients.len(), 3);
    assert_eq!(groups.shamir_threshold.unwrap().text, "2");
}

#[test]
fn places_of_recipients_and_codes_are_exact() {
    let (files, tree) = load(&samples());
    for (path, _) in samples() {
        let metadata = detect(&files, tree.file(path).unwrap()).unwrap();
        for recipient in &metadata.recipients {
            assert!(files.slice(recipient.place).contains(recipient.id.as_str()));
        }
        let mac = files.slice(metadata.mac.place);
        assert!(mac.contains(metadata.mac.text.as_str()), "{path}");
        assert!(files.slice(metadata.place).contains("sops"), "{path}");
    }
}

#[test]
fn selectors_and_flags_are_read() {
    let (metadata, _) = read("mac-only.yaml");
    assert!(metadata.mac_only_encrypted);
    assert_eq!(metadata.selector.kind, SelectorKind::EncryptedRegex);
    assert_eq!(metadata.selector.pattern, "^stringData$");
    let (metadata, _) = read("unencrypted-suffix.yaml");
    assert_eq!(metadata.selector.kind, SelectorKind::UnencryptedSuffix);
    assert_eq!(metadata.selector.pattern, "_clear");
    // Binary files and old ones say nothing; then the default holds.
    let (metadata, _) = read("plain.txt");
    assert!(metadata.selector.same_as(&Selector::default()));
    assert_eq!(metadata.selector.place, None);
}

#[test]
fn cloud_keys_have_one_comparable_form_in_files_and_rules() {
    let file = "a: ENC[AES256_GCM,data:a,iv:bb,tag:cc,type:str]\nsops:\n  mac: x\n\
        \x20 kms: [{arn: 'arn:aws:kms:eu:1:key/k', role: 'arn:aws:iam::1:role/r', context: {a: b}}]\n\
        \x20 gcp_kms: [{resource_id: projects/p/k}]\n\
        \x20 azure_kv: [{vault_url: 'https://v.vault.azure.net', name: n, version: '1'}]\n\
        \x20 hc_vault: [{vault_address: 'https://vault:8200', engine_path: transit, key_name: dev}]\n\
        \x20 hckms: [{key_id: 'eu:uuid'}]\n\
        \x20 pgp: [{fp: AAAABBBBCCCCDDDDEEEEFFFF0000111122223333}]\n";
    let rules = "creation_rules:\n- kms: 'arn:aws:kms:eu:1:key/k+arn:aws:iam::1:role/r'\n\
        \x20 gcp_kms: projects/p/k\n\
        \x20 azure_keyvault: https://v.vault.azure.net/keys/n\n\
        \x20 hc_vault_transit_uri: https://vault:8200/v1/transit/keys/dev\n\
        \x20 hckms: ['eu:uuid']\n\
        \x20 pgp: 'aaaa bbbb cccc dddd eeee  ffff 0000 1111 2222 3333'\n\
        - key_groups:\n\
        \x20 - kms: [{arn: 'arn:aws:kms:eu:1:key/k'}]\n\
        \x20   gcp_kms: [{resource_id: projects/p/k}]\n\
        \x20   azure_keyvault: [{vaultUrl: 'https://v.vault.azure.net', key: n, version: '1'}]\n\
        \x20   merge: [{hc_vault: ['https://vault:8200/v1/transit/keys/dev']}, {hckms: [{key_id: 'eu:uuid'}]}]\n\
        \x20   pgp: ['EEEEFFFF0000111122223333']\n";
    let file = yaml::parse(file, FileId(0));
    let metadata = Metadata::of_document(&file.documents[0].root).unwrap();
    assert_eq!(metadata.recipients.len(), 6);
    let parsed = yaml::parse(rules, FileId(1));
    let config = Config::read(&parsed.documents[0].root, rules);
    assert!(config.unknown_keys.is_empty(), "{:?}", config.unknown_keys);
    for rule in &config.rules {
        assert_eq!(rule.recipients.len(), 6);
        for wanted in &rule.recipients {
            let found = metadata.recipients.iter().any(|one| one.same_key(wanted));
            assert!(found, "{wanted}");
        }
    }
    let other = Recipient {
        version: Some("2".into()),
        ..metadata.recipients[2].clone()
    };
    assert_eq!(other.kind, RecipientKind::AzureKeyVault);
    assert!(!other.same_key(&metadata.recipients[2]));
}

#[test]
fn the_first_rule_that_matches_gives_the_recipients_that_sops_used() {
    let text = include_str!("../../testdata/sops/creation-rules.yaml");
    let parsed = yaml::parse(text, FileId(0));
    let config = Config::read(&parsed.documents[0].root, text);
    for path in [
        "comment-regex.yaml",
        "encrypted-regex.yaml",
        "encrypted-suffix.yaml",
        "key-groups.yaml",
        "mac-only.yaml",
        "plain.env",
        "plain.ini",
        "plain.txt",
        "unencrypted-comment.yaml",
        "unencrypted-regex.json",
        "unencrypted-suffix.yaml",
    ] {
        let (metadata, _) = read(path);
        let Match::Rule(rule) = config.matching_rule(path) else {
            panic!("no rule for {path}");
        };
        assert_eq!(rule.recipients.len(), metadata.recipients.len(), "{path}");
        for recipient in &rule.recipients {
            let same = |one: &Recipient| one.same_key(recipient) && one.group == recipient.group;
            assert!(metadata.recipients.iter().any(same), "{path}");
            let written = &text[recipient.place.span.range()];
            assert_eq!(written, recipient.id, "{path}");
        }
        assert!(rule.selector.same_as(&metadata.selector), "{path}");
        assert_eq!(rule.mac_only_encrypted, metadata.mac_only_encrypted);
        assert_eq!(rule.key_groups, metadata.key_groups);
    }
}

fn config(text: &str) -> Config {
    Config::read(&yaml::parse(text, FileId(0)).documents[0].root, text)
}

#[test]
fn rules_match_by_path_in_order_and_unanchored() {
    let config = config(
        "creation_rules:\n- path_regex: ^apps/.*\\.sops\\.yaml$\n  age: a\n- path_regex: secret\n- path_regex: (\n- age: b\n",
    );
    let matched = |path: &str| match config.matching_rule(path) {
        Match::Rule(rule) => config.rules.iter().position(|one| one.place == rule.place),
        Match::None => None,
        Match::Unknown(rule) => {
            assert!(rule.regex_error().is_some());
            Some(99)
        }
    };
    assert_eq!(matched("apps/x.sops.yaml"), Some(0));
    assert_eq!(matched("clusters/apps/x.sops.yaml"), Some(99));
    assert_eq!(matched("infra/my-secret.yaml"), Some(1));
    assert!(config.rules[1].recipients.is_empty());
    assert_eq!(config.rules[3].path_regex, None);
    assert!(matches!(Config::default().matching_rule("x"), Match::None));
}

#[test]
fn keys_that_sops_ignores_are_listed() {
    let text = "creation_rules:\n- filename_regex: x\n  encrypted_regx: y\n  age: z\n  key_groups:\n  - agee: []\nstores: {yaml: {indent: 2}}\ndestination_rules: []\nrules: []\n";
    let unknown = config(text).unknown_keys;
    let keys: Vec<_> = unknown
        .iter()
        .map(|key| (key.key.as_str(), &text[key.place.span.range()]))
        .collect();
    assert_eq!(
        keys,
        ["filename_regex", "encrypted_regx", "agee", "rules"].map(|key| (key, key))
    );
}

#[test]
fn the_nearest_configuration_above_a_file_is_taken() {
    let (_, tree) = load(&[
        (".sops.yaml", ""),
        ("apps/.sops.yaml", ""),
        ("apps/a/b.yaml", ""),
        ("infra/c.yaml", ""),
    ]);
    assert_eq!(
        nearest_config(&tree, "apps/a/b.yaml"),
        tree.file("apps/.sops.yaml")
    );
    assert_eq!(
        nearest_config(&tree, "infra/c.yaml"),
        tree.file(".sops.yaml")
    );
}

#[test]
fn a_clear_value_among_encrypted_ones_is_seen_and_the_reverse() {
    let (_, text) = sample!("encrypted-regex.yaml");
    let broken: String = text
        .lines()
        .map(|line| match line.split_once("password: ") {
            Some((indent, secret)) => {
                format!("{indent}password: hunter2\n{indent}user: {secret}\n")
            }
            None if line.ends_with("kind: Secret") => {
                "kind: ENC[AES256_GCM,data:a,iv:bb,tag:cc,type:str]\n".to_owned()
            }
            None => format!("{line}\n"),
        })
        .collect();
    let (files, tree) = load(&[("a.yaml", &broken)]);
    let id = tree.file("a.yaml").unwrap();
    let metadata = detect(&files, id).unwrap();
    let leaves = leaves_of_file(&files, id, &metadata);
    let clear: Vec<_> = leaves
        .iter()
        .filter(|leaf| leaf.should_be_encrypted())
        .collect();
    assert_eq!(clear.len(), 1);
    assert_eq!(files.slice(clear[0].place), "hunter2");
    let encrypted: Vec<_> = leaves
        .iter()
        .filter(|leaf| leaf.should_be_clear())
        .collect();
    assert_eq!(encrypted.len(), 1);
    assert_eq!(encrypted[0].path, ["kind"]);
}

#[test]
fn files_without_a_code_are_not_taken_for_encrypted() {
    let (files, tree) = load(&[
        ("a.yaml", "sops: {age: [], mac: ''}\n"),
        ("b.yaml", "a: 1\n"),
        ("c.yaml", "sops: mac\n"),
        ("d.env", "sops_version=1\nX=mac\n"),
        ("e.ini", "[sops]\nversion=mac\n"),
        ("f.txt", "about sops and its mac\n"),
        ("g.json", "{\"sops\": {\"mac\": null}}\n"),
        ("h.yaml", "sops: {mac: x}\nb: [\n"),
    ]);
    for (path, id) in tree.files() {
        assert!(detect(&files, id).is_none(), "{path}");
    }
}

#[test]
fn encrypted_values_are_told_from_what_looks_like_them() {
    assert!(is_encrypted_value(
        "ENC[AES256_GCM,data:w==,iv:aa=,tag:bb==,type:str]"
    ));
    for text in [
        "",
        "ENC[]",
        "ENC[AES256_GCM,data:,iv:a,tag:b,type:c]",
        "ENC[AES256_GCM,data:w==,iv:aa=,tag:bb==]",
        " ENC[AES256_GCM,data:w==,iv:aa=,tag:bb==,type:str]",
        "ENC[PKCS7,abc]",
    ] {
        assert!(!is_encrypted_value(text), "{text}");
    }
}

proptest! {
    #[test]
    fn no_file_makes_reading_panic(
        text in r"(sops(_mac|:|\.|_key_groups__list_[0-9]{1,30}__map_age__list_0__map_recipient)?|mac|[ \n=:{}\[\]\-,#;a]|key_groups|age|\PC)*",
        path in "a\\.(yaml|json|env|ini|txt)",
    ) {
        let (files, tree) = load(&[(&path, &text)]);
        let id = tree.file(&path).unwrap();
        if let Some(metadata) = detect(&files, id) {
            leaves_of_file(&files, id, &metadata);
        }
        if let Some(document) = files.yaml(id).documents.first() {
            Config::read(&document.root, &text).matching_rule("x");
        }
    }
}
