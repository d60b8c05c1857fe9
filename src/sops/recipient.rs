//! Who can decrypt: each kind of key in one comparable form.

use smol_str::{SmolStr, format_smolstr};

use crate::source::Place;

/// The kinds of key that SOPS knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum RecipientKind {
    /// age, or an SSH key.
    Age,
    /// OpenPGP.
    Pgp,
    /// AWS KMS.
    Kms,
    /// Google Cloud KMS.
    GcpKms,
    /// Azure Key Vault.
    AzureKeyVault,
    /// HashiCorp Vault's transit engine.
    HcVault,
    /// Huawei Cloud KMS.
    HcKms,
}

/// A key that a file is or should be encrypted to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recipient {
    /// Its kind.
    pub kind: RecipientKind,
    /// What names it: an age recipient; a fingerprint without spaces, in capitals; an ARN without
    /// role; a resource id; the URL of a key without its version; a Huawei key id.
    pub id: SmolStr,
    /// The version of an Azure key, if one is given.
    pub version: Option<SmolStr>,
    /// Which key group it belongs to, from 0.
    pub group: usize,
    /// Where it is written.
    pub place: Place,
}

impl RecipientKind {
    /// All kinds.
    pub const ALL: [Self; 7] = [
        Self::Age,
        Self::Pgp,
        Self::Kms,
        Self::GcpKms,
        Self::AzureKeyVault,
        Self::HcVault,
        Self::HcKms,
    ];

    /// The key of its list in the metadata of a file (upstream: `stores/stores.go`).
    pub fn metadata_key(self) -> &'static str {
        match self {
            Self::Age => "age",
            Self::Pgp => "pgp",
            Self::Kms => "kms",
            Self::GcpKms => "gcp_kms",
            Self::AzureKeyVault => "azure_kv",
            Self::HcVault => "hc_vault",
            Self::HcKms => "hckms",
        }
    }

    /// The key directly in a creation rule (upstream: `config/config.go`).
    pub fn rule_key(self) -> &'static str {
        match self {
            Self::AzureKeyVault => "azure_keyvault",
            Self::HcVault => "hc_vault_transit_uri",
            other => other.metadata_key(),
        }
    }

    /// The key in a key group of a creation rule.
    pub fn group_key(self) -> &'static str {
        match self {
            Self::AzureKeyVault => "azure_keyvault",
            other => other.metadata_key(),
        }
    }
}

impl Recipient {
    /// From one string, as creation rules write it; `None` if nothing is left of it.
    pub(super) fn from_text(
        kind: RecipientKind,
        text: &str,
        group: usize,
        place: Place,
    ) -> Option<Self> {
        let text = text.trim();
        let mut version = None;
        let id = match kind {
            RecipientKind::Age | RecipientKind::GcpKms | RecipientKind::HcKms => text.into(),
            RecipientKind::Pgp => text
                .chars()
                .filter(|c| !c.is_whitespace())
                .map(|c| c.to_ascii_uppercase())
                .collect(),
            // `arn+role`
            RecipientKind::Kms => text.split('+').next().unwrap_or(text).trim().into(),
            RecipientKind::HcVault => text.trim_end_matches('/').into(),
            RecipientKind::AzureKeyVault => {
                let url = text.trim_end_matches('/');
                let (vault, key) = url.split_once("/keys/").unwrap_or((url, ""));
                let (name, given) = key.split_once('/').unwrap_or((key, ""));
                version = Some(SmolStr::new(given)).filter(|given| !given.is_empty());
                azure_id(vault, name)
            }
        };
        (!id.is_empty()).then_some(Self {
            kind,
            id,
            version,
            group,
            place,
        })
    }

    /// From the fields of an entry of a list, in a file's metadata or in a key group.
    pub(super) fn from_fields(
        kind: RecipientKind,
        group: usize,
        field: &dyn Fn(&str) -> Option<(SmolStr, Place)>,
    ) -> Option<Self> {
        let one = |name: &str| {
            let (text, place) = field(name)?;
            Self::from_text(kind, &text, group, place)
        };
        match kind {
            RecipientKind::Age => one("recipient"),
            RecipientKind::Pgp => one("fp"),
            RecipientKind::Kms => one("arn"),
            RecipientKind::GcpKms => one("resource_id"),
            RecipientKind::HcKms => one("key_id"),
            RecipientKind::AzureKeyVault => {
                let (vault, place) = field("vault_url").or_else(|| field("vaultUrl"))?;
                let (name, _) = field("name").or_else(|| field("key"))?;
                Some(Self {
                    kind,
                    id: azure_id(&vault, &name),
                    version: field("version")
                        .map(|(version, _)| version)
                        .filter(|version| !version.is_empty()),
                    group,
                    place,
                })
            }
            RecipientKind::HcVault => {
                let (address, place) = field("vault_address")?;
                let (engine, _) = field("engine_path")?;
                let (key, _) = field("key_name")?;
                let address = address.trim_end_matches('/');
                let engine = engine.trim_matches('/');
                let url = format!("{address}/v1/{engine}/keys/{key}");
                Self::from_text(kind, &url, group, place)
            }
        }
    }

    /// True if both name one key. Azure keys of which one has no version, and OpenPGP ids of
    /// which one is the end of the other (16 digits at least), count as one.
    pub fn same_key(&self, other: &Self) -> bool {
        if self.kind != other.kind {
            return false;
        }
        if self.id != other.id {
            let (long, short) = if self.id.len() > other.id.len() {
                (&self.id, &other.id)
            } else {
                (&other.id, &self.id)
            };
            let short = short.strip_prefix("0X").unwrap_or(short);
            return self.kind == RecipientKind::Pgp && short.len() >= 16 && long.ends_with(short);
        }
        match (&self.version, &other.version) {
            (Some(left), Some(right)) => left == right,
            _ => true,
        }
    }
}

impl std::fmt::Display for Recipient {
    /// Kind and id, for messages.
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let kind = match self.kind {
            RecipientKind::Age if self.id.starts_with("age1") => {
                return formatter.write_str(&self.id);
            }
            RecipientKind::Age => "age",
            RecipientKind::Pgp => "pgp",
            RecipientKind::Kms => "kms",
            RecipientKind::GcpKms => "gcp kms",
            RecipientKind::AzureKeyVault => "azure key vault",
            RecipientKind::HcVault => "vault",
            RecipientKind::HcKms => "huawei kms",
        };
        match &self.version {
            Some(version) => write!(formatter, "{kind} {}/{version}", self.id),
            None => write!(formatter, "{kind} {}", self.id),
        }
    }
}

fn azure_id(vault: &str, name: &str) -> SmolStr {
    format_smolstr!("{}/keys/{name}", vault.trim_end_matches('/'))
}
