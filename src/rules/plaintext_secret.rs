//! `plaintext-secret`: a Secret with a literal value.

use base64::Engine as _;

use super::support::is_set_aside;
use super::support::literal::{is_placeholder, is_public_key_name, is_secret};
use super::{Group, Rule};
use crate::finding::{Finding, Severity};
use crate::flux::{is_template, is_yaml};
use crate::kustomize::KUSTOMIZATION_FILE_NAMES;
use crate::repo::Repo;
use crate::sops;
use crate::tree::split;
use crate::yaml::{Entry, Node};

pub(super) static RULE: Rule = Rule {
    name: "plaintext-secret",
    group: Group::Sops,
    summary: "a Secret with a literal value is committed",
    page: include_str!("../../rules/plaintext-secret.md"),
    off_by_default: false,
    compares: false,
    check,
};

fn check(repo: &Repo) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (path, file) in repo.head.tree.files() {
        let live = repo.head.live.files.contains(&file);
        if !is_yaml(path) || !live && (is_set_aside(path) || is_template(&repo.head.tree, path)) {
            continue;
        }
        let documents = &repo.files.yaml(file).documents;
        if KUSTOMIZATION_FILE_NAMES.contains(&split(path).1) {
            let found = documents
                .first()
                .and_then(|document| generated_value(&document.root));
            if let Some((generator, key, literal)) = found {
                findings.push(report_generated(generator, key, literal));
            }
            continue;
        }
        let found = documents
            .iter()
            .find_map(|document| Some((&document.root, literal_value(&document.root)?)));
        if let Some((secret, entry)) = found {
            findings.push(report(repo, path, secret, entry));
        }
    }
    findings
}

/// The first value of a Secret that is neither empty, a placeholder, nor public by its nature.
fn literal_value(root: &Node) -> Option<&Entry> {
    let is_secret = root.str_at(&["kind"]) == Some("Secret")
        && root.str_at(&["apiVersion"]) == Some("v1")
        && root.get("sops").is_none();
    let type_ = root.str_at(&["type"]).unwrap_or("Opaque");
    if !is_secret || type_.ends_with("service-account-token") || is_filled_by_a_controller(root) {
        return None;
    }
    ["stringData", "data"].into_iter().find_map(|field| {
        let encoded = field == "data";
        root.get(field)?
            .pairs()
            .into_iter()
            .find(|entry| is_secret_value(entry, encoded))
    })
}

/// Replicators fill a Secret that says where from.
fn is_filled_by_a_controller(root: &Node) -> bool {
    root.at(&["metadata", "annotations"])
        .map(Node::pairs)
        .unwrap_or_default()
        .iter()
        .any(|pair| {
            pair.key.as_str().is_some_and(|key| {
                key.ends_with("/replicate-from")
                    || key.ends_with("/reflects")
                    || key.starts_with("avp.kubernetes.io/")
            })
        })
}

fn is_secret_value(entry: &Entry, encoded: bool) -> bool {
    let (Some(key), Some(written)) = (entry.key.as_str(), entry.value.as_str()) else {
        return false;
    };
    if !encoded {
        return is_secret(key, written);
    }
    if is_placeholder(written) {
        return false;
    }
    let compact: String = written.split_whitespace().collect();
    match base64::engine::general_purpose::STANDARD.decode(compact) {
        Ok(bytes) => match String::from_utf8(bytes) {
            Ok(text) => is_secret(key, &text),
            Err(_) => !is_public_key_name(key),
        },
        // What is no base64 is refused by the API server, so it never was a value.
        Err(_) => false,
    }
}

/// The first `key=value` of a kustomization file's secretGenerators that is a secret, with the generator's name.
fn generated_value(root: &Node) -> Option<(&Node, &str, &Node)> {
    root.get("secretGenerator")?
        .items()
        .iter()
        .filter(|generator| {
            generator
                .str_at(&["type"])
                .is_none_or(|type_| !type_.ends_with("service-account-token"))
        })
        .find_map(|generator| {
            generator
                .get("literals")?
                .items()
                .iter()
                .find_map(|literal| {
                    let (key, value) = literal.as_str()?.split_once('=')?;
                    let value = value.trim_matches(['"', '\'']);
                    is_secret(key, value).then_some((generator, key, literal))
                })
        })
}

fn report_generated(generator: &Node, key: &str, literal: &Node) -> Finding {
    let name = generator.str_at(&["name"]).unwrap_or("?");
    Finding::new(
        RULE.name,
        Severity::Error,
        literal.place,
        format!("the generator of Secret `{name}` has the value of `{key}` in clear text"),
    )
    .help("keep it in a file that SOPS encrypts, listed under `envs` or `files`; and change the value, since it stays in git's history")
    .related(
        generator
            .get("name")
            .map_or(generator.place, |name| name.place),
        "the generator",
    )
}

fn report(repo: &Repo, path: &str, secret: &Node, entry: &Entry) -> Finding {
    let name = secret.str_at(&["metadata", "name"]).unwrap_or("?");
    let help = if a_creation_rule_matches(repo, path) {
        format!(
            "encrypt it: `sops encrypt --in-place {path}`; and change the value, since it stays in git's history"
        )
    } else {
        format!(
            "encrypt it with SOPS, or take it from a secret store; and change the value, since it stays in git's history ({path})"
        )
    };
    Finding::new(
        RULE.name,
        Severity::Error,
        entry.value.place,
        format!(
            "Secret `{name}` has the value of `{}` in clear text",
            entry.key.as_str().unwrap_or_default()
        ),
    )
    .help(help)
    .related(
        secret
            .at(&["metadata", "name"])
            .map_or(secret.place, |name| name.place),
        "the Secret",
    )
}

/// True if `sops encrypt` would find its recipients in the nearest `.sops.yaml`.
fn a_creation_rule_matches(repo: &Repo, path: &str) -> bool {
    let configs = sops::Configs::read(repo.files, &repo.head.tree);
    matches!(configs.nearest(path), Some(sops::Match::Rule(_)))
}
