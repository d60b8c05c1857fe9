//! SOPS-encrypted generator inputs, and which of them Flux decrypts (upstream: kustomize-controller `decryptor.go`).

use crate::tree::split;
use crate::yaml::{Node, parse};

/// The formats in which Flux looks for encryption.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Format {
    /// `.yaml`, `.yml`
    Yaml,
    /// `.json`, and Docker's credentials.
    Json,
    /// `.env`, and every env file that is nothing else.
    Dotenv,
    /// `.ini`
    Ini,
    /// Anything else: encrypted, it is a JSON envelope.
    Binary,
}

impl Format {
    /// The format that Flux takes for an entry of `files`, by its key.
    pub(super) fn of_key(key: &str) -> Self {
        if key.ends_with(".dockerconfigjson") {
            return Self::Json;
        }
        Self::of_extension(key).unwrap_or(Self::Binary)
    }

    /// The format that Flux takes for an entry of `envs`, by its path.
    pub(super) fn of_env_path(path: &str) -> Self {
        Self::of_extension(path).unwrap_or(Self::Dotenv)
    }

    fn of_extension(path: &str) -> Option<Self> {
        let (_, name) = split(path);
        match name.rsplit_once('.')?.1 {
            "yaml" | "yml" => Some(Self::Yaml),
            "json" => Some(Self::Json),
            "env" => Some(Self::Dotenv),
            "ini" => Some(Self::Ini),
            _ => None,
        }
    }

    /// True if Flux, taking the text for this format, decrypts it.
    pub(super) fn has_marker(self, text: &str) -> bool {
        text.contains(match self {
            Self::Yaml => "mac: ENC[",
            Self::Json | Self::Binary => "\"mac\": \"ENC[",
            Self::Dotenv => "sops_mac=ENC[",
            Self::Ini => "[sops]",
        })
    }
}

/// True if the text is encrypted by SOPS in any of its formats.
pub(super) fn is_encrypted(text: &str) -> bool {
    if !text.contains("sops") {
        return false;
    }
    let has_line = |wanted: fn(&str) -> bool| text.lines().any(wanted);
    if has_line(|line| line.starts_with("sops_mac=")) {
        return true;
    }
    if has_line(|line| line.trim_end() == "[sops]")
        && has_line(|line| {
            line.strip_prefix("mac")
                .is_some_and(|rest| rest.trim_start().starts_with('='))
        })
    {
        return true;
    }
    let has_mac = |root: &Node| {
        root.str_at(&["sops", "mac"])
            .is_some_and(|mac| !mac.is_empty())
    };
    match serde_json::from_str::<serde_json::Value>(text) {
        Ok(json) => json["sops"]["mac"]
            .as_str()
            .is_some_and(|mac| !mac.is_empty()),
        Err(_) => parse(text, crate::source::FileId(0))
            .documents
            .iter()
            .any(|document| has_mac(&document.root)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_format_of_sops_is_recognised() {
        for text in [
            "a: ENC[x]\nsops:\n    mac: ENC[y]\n",
            "{\n\t\"data\": \"ENC[x]\",\n\t\"sops\": {\"mac\": \"ENC[y]\"}\n}",
            "a=ENC[x]\nsops_mac=ENC[y]\n",
            "[a]\nb = ENC[x]\n\n[sops]\nmac = ENC[y]\n",
        ] {
            assert!(is_encrypted(text), "{text}");
        }
        for text in [
            "a: b\n",
            "sops: text\n",
            "sops:\n  other: 1\n",
            "# sops_mac=\n",
            "[sops]\n",
        ] {
            assert!(!is_encrypted(text), "{text}");
        }
    }

    #[test]
    fn flux_takes_the_format_from_the_key_or_path() {
        assert_eq!(Format::of_key("values.yaml"), Format::Yaml);
        assert_eq!(Format::of_key(".dockerconfigjson"), Format::Json);
        assert_eq!(Format::of_key("token"), Format::Binary);
        assert_eq!(Format::of_env_path("dir.d/secrets"), Format::Dotenv);
        assert_eq!(Format::of_env_path("a.ini"), Format::Ini);
        assert!(Format::Yaml.has_marker("sops:\n    mac: ENC[y]\n"));
        assert!(!Format::Binary.has_marker("sops:\n    mac: ENC[y]\n"));
    }
}
