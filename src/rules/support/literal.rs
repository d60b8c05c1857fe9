//! Whether the value of a Secret's key is a secret in clear: not nothing, not a variable, not public.

use std::sync::LazyLock;

use regex::Regex;

use crate::substitute;

/// True if a value in clear, under that key, has to be kept secret.
pub(in crate::rules) fn is_secret(key: &str, text: &str) -> bool {
    if is_placeholder(text) || is_public(text) || text.trim().parse::<bool>().is_ok() {
        return false;
    }
    // Text into which secrets are put by substitution, and whole files of configuration, are
    // judged by what in them looks like a credential.
    if has_variable(text) || is_file_of_configuration(key, text) {
        return holds_credential(text);
    }
    !is_public_key_name(key) || holds_credential(text)
}

/// Nothing, only variables, or a reference that another tool replaces.
pub(in crate::rules) fn is_placeholder(text: &str) -> bool {
    let text = text.trim();
    if text.is_empty() || text.starts_with("ENC[") || says_nothing(text) {
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

/// True for a word that stands where a value is to be written.
fn says_nothing(text: &str) -> bool {
    const WORDS: [&str; 12] = [
        "bar",
        "dummy",
        "foo",
        "none",
        "null",
        "placeholder",
        "redacted",
        "replaceme",
        "replace-me",
        "replace_me",
        "thing",
        "todo",
    ];
    let word = text.to_ascii_lowercase();
    WORDS.contains(&word.as_str())
        || word.starts_with("your-")
        || word.starts_with("your_")
        || word.len() > 2 && word.chars().all(|c| matches!(c, 'x' | '*' | '.'))
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

/// True if the text takes something from a variable that has no default.
fn has_variable(text: &str) -> bool {
    substitute::references(text)
        .is_ok_and(|references| references.iter().any(|reference| !reference.has_default))
}

/// Several lines under a key that names a file of some format of configuration.
fn is_file_of_configuration(key: &str, text: &str) -> bool {
    const ENDINGS: [&str; 11] = [
        "cfg",
        "conf",
        "config",
        "ini",
        "json",
        "properties",
        "sql",
        "toml",
        "xml",
        "yaml",
        "yml",
    ];
    let named = key.rsplit_once('.').is_some_and(|(name, ending)| {
        !name.is_empty() && ENDINGS.contains(&ending.to_ascii_lowercase().as_str())
    });
    named && text.trim().lines().count() > 1
}

/// A key that is called like a credential and has a value, a URL with a password, or a private key.
fn holds_credential(text: &str) -> bool {
    static ASSIGNED: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(
            r#"(?im)(?:passw(?:or)?d|passphrase|pwd|secret|token|auth|credentials?|api_?key|access_?key|private_?key|encryption_?key|secret_?key)["']?[ \t]*[:=]+[ \t]*["']?([^\s"',;]{4,})"#,
        )
        .ok()
    });
    static URL: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(r"://[^\s/:@]+:([^\s/@]+)@|hooks\.slack\.com/services/(.+)").ok()
    });
    let literal = |pattern: &Option<Regex>| {
        pattern.as_ref().is_some_and(|pattern| {
            pattern.captures_iter(text).any(|found| {
                found
                    .iter()
                    .skip(1)
                    .flatten()
                    .any(|value| is_literal(value.as_str()))
            })
        })
    };
    text.contains("PRIVATE KEY-----") || literal(&ASSIGNED) || literal(&URL)
}

/// A value of its own: no variable, no template, no switch, no path.
fn is_literal(value: &str) -> bool {
    !value.contains("${")
        && !value.contains("{{")
        && !value.starts_with(['$', '<', '/', '[', '{', '|', '>', '&', '*'])
        && !["true", "false", "null", "none", "enabled", "disabled"]
            .contains(&value.to_ascii_lowercase().as_str())
}

/// Keys whose values are no secrets.
pub(in crate::rules) fn is_public_key_name(key: &str) -> bool {
    const NAMES: [&str; 19] = [
        "username",
        "user",
        "email",
        "url",
        "host",
        "hostname",
        "port",
        "endpoint",
        "region",
        "bucket",
        "database",
        "type",
        "name",
        "namespace",
        "volumehandle",
        "storageclass",
        "provider",
        "ca.crt",
        "known_hosts",
    ];
    const ENDINGS: [&str; 10] = [
        "username",
        "clientid",
        "appid",
        "clusterid",
        "tenantid",
        "bucketname",
        "dbname",
        "fsname",
        "hostname",
        "region",
    ];
    let plain: String = key
        .to_ascii_lowercase()
        .chars()
        .filter(|c| !matches!(c, '-' | '_'))
        .collect();
    NAMES.contains(&plain.as_str())
        || NAMES.contains(&key)
        || ENDINGS.iter().any(|ending| plain.ends_with(ending))
        || key.ends_with(".pub")
        || key.ends_with(".crt")
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_must_be_kept_secret_is_told_from_what_need_not() {
        for (key, text) in [
            ("password", "hunter2"),
            ("token", "${TOKEN:-hunter2}"),
            ("DATABASE_URL", "postgres://app:hunter2@${HOST}/app"),
            ("url", "postgres://app:hunter2@db/app"),
            (
                "app.ini",
                "[db]\nuser = app\npassword = hunter2\nhost = ${HOST}",
            ),
            ("config.yaml", "server: x\napi_key: \"hunter2\"\n"),
            (
                ".dockerconfigjson",
                "{\"auths\":{\"x\":{\"auth\":\"aHVudGVyMg==\"}}}",
            ),
            ("users", "admin:$2y$05$abcdefghijklmnopqrstuv"),
        ] {
            assert!(is_secret(key, text), "{key}: {text}");
        }
        for (key, text) in [
            ("password", ""),
            ("password", "${PASSWORD}"),
            ("password", "${A}-${B}"),
            ("password", "REPLACE_ME"),
            ("password", "xxxx"),
            ("password", "<path:secret/data/app#password>"),
            ("RESTIC_REPOSITORY", "${BUCKET}/restic/${APP}"),
            (
                "rclone.conf",
                "[b2]\ntype = b2\naccount = ${ID}\nkey = ${KEY}\nsecret_access_key = ${KEY}\n",
            ),
            (
                "secrets.yaml",
                "wifi_password: \"${WIFI}\"\ndomain: .${DOMAIN}\n",
            ),
            ("roles.yml", "reader:\n  cluster: [monitor]\n"),
            ("volumeHandle", "0001-0024-x"),
            ("clusterID", "407036f5"),
            ("clientId", "app"),
            ("enabled", "true"),
            ("identity.pub", "anything"),
        ] {
            assert!(!is_secret(key, text), "{key}: {text}");
        }
    }
}
