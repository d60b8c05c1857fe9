//! SOPS without its keys: who can decrypt a file, what in it is encrypted and what
//! should be, and what `.sops.yaml` says about it. Nothing here decrypts.

mod config;
mod flat;
mod governing;
mod metadata;
mod recipient;
mod selection;
mod text;

pub use config::{Config, CreationRule, Match, UnknownKey, nearest_config};
pub use governing::{CONFIG_NAME, Configs};
pub use metadata::{Format, Metadata, Selector, SelectorKind, detect, format_of_path};
pub use recipient::{Recipient, RecipientKind};
pub use selection::{Leaf, LeafState, leaves, leaves_by_selector, leaves_of_file};
pub use text::Text;

/// True if the text is a value as SOPS writes it (upstream: `aes/cipher.go`).
pub fn is_encrypted_value(text: &str) -> bool {
    let Some(inside) = text
        .strip_prefix("ENC[AES256_GCM,data:")
        .and_then(|rest| rest.strip_suffix(']'))
    else {
        return false;
    };
    let mut parts = inside.split(',');
    let data = parts.next().is_some_and(|data| !data.is_empty());
    let mut part = |name: &str| {
        parts
            .next()
            .and_then(|part| part.strip_prefix(name))
            .is_some_and(|value| value.len() > 1)
    };
    data && part("iv:") && part("tag:") && part("type:") && parts.next().is_none()
}

#[cfg(test)]
mod tests;
