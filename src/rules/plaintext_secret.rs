//! `plaintext-secret`: a Secret with a literal value.

use base64::Engine as _;

use super::support::is_set_aside;
use super::{Group, Rule};
use crate::finding::{Finding, Severity};
use crate::flux::{is_template, is_yaml};
use crate::repo::Repo;
use crate::sops;
use crate::substitute;
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
        let found = repo
            .files
            .yaml(file)
            .documents
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
    if is_placeholder(written) || is_public_key_name(key) {
        return false;
    }
    if encoded {
        let compact: String = written.split_whitespace().collect();
        return match base64::engine::general_purpose::STANDARD.decode(compact) {
            Ok(bytes) => match String::from_utf8(bytes) {
                Ok(text) => !is_placeholder(&text) && !is_public(&text),
                Err(_) => true,
            },
            // What is no base64 is refused by the API server, so it never was a value.
            Err(_) => false,
        };
    }
    !is_public(written)
}

/// Nothing, only variables, or a reference that another tool replaces.
fn is_placeholder(text: &str) -> bool {
    let text = text.trim();
    if text.is_empty() || text.starts_with("ENC[") {
        return true;
    }
    let is_reference = [
        "<path:",
        "vault:",
        "ref+",
        "op://",
        "{{",
        "<<",
        "secretref:",
    ]
    .iter()
    .any(|start| text.starts_with(start))
        || text.starts_with('<') && text.ends_with('>') && !text.contains(char::is_whitespace);
    is_reference || is_only_variables(text)
}

/// True if nothing but variables and the punctuation between them is left.
fn is_only_variables(text: &str) -> bool {
    let Ok(references) = substitute::references(text) else {
        return false;
    };
    if references.is_empty() || references.iter().any(|reference| reference.has_default) {
        return false;
    }
    let mut rest = String::new();
    let mut end = 0;
    for reference in &references {
        if reference.range.start >= end {
            rest.push_str(&text[end..reference.range.start]);
            end = reference.range.end;
        }
    }
    rest.push_str(&text[end..]);
    !rest.chars().any(char::is_alphanumeric)
}

/// Keys whose values are no secrets.
fn is_public_key_name(key: &str) -> bool {
    const NAMES: [&str; 16] = [
        "username",
        "user",
        "clientid",
        "appid",
        "email",
        "url",
        "host",
        "hostname",
        "port",
        "endpoint",
        "region",
        "bucket",
        "type",
        "name",
        "ca.crt",
        "known_hosts",
    ];
    let plain: String = key
        .to_ascii_lowercase()
        .chars()
        .filter(|c| !matches!(c, '-' | '_'))
        .collect();
    NAMES.contains(&plain.as_str())
        || NAMES.contains(&key)
        || plain.ends_with("clientid")
        || plain.ends_with("username")
        || key.ends_with(".pub")
}

/// Public keys and certificates.
fn is_public(text: &str) -> bool {
    let text = text.trim_start();
    [
        "ssh-rsa ",
        "ssh-ed25519 ",
        "ecdsa-sha2-",
        "age1",
        "-----BEGIN CERTIFICATE-----",
        "-----BEGIN PUBLIC KEY-----",
        "-----BEGIN PGP PUBLIC KEY BLOCK-----",
    ]
    .iter()
    .any(|start| text.starts_with(start))
        && !text.contains("PRIVATE KEY")
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
    let Some(file) = sops::nearest_config(&repo.head.tree, path) else {
        return false;
    };
    let Some(document) = repo.files.yaml(file).documents.first() else {
        return false;
    };
    let directory = split(repo.files.path(file)).0;
    let relative = path
        .strip_prefix(directory)
        .unwrap_or(path)
        .trim_start_matches('/');
    matches!(
        sops::Config::read(&document.root, repo.files.text(file)).matching_rule(relative),
        sops::Match::Rule(_)
    )
}
