//! Private keys in bytes of any kind: age, OpenPGP, SSH, and what PEM holds.
//!
//! The scan looks for the few words that such keys begin with, so that a file without them
//! costs no more than one pass over its bytes.

use base64::Engine as _;

use crate::source::Span;

/// A private key, and where it is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PrivateKey {
    /// What it is: `age secret key`, `RSA PRIVATE KEY`.
    pub kind: String,
    /// The bytes from its first to its last; of a key in base64, those of the encoded text.
    pub span: Span,
    /// True if the key is there in base64, as in the data of a Secret.
    pub encoded: bool,
}

const AGE: &[u8] = b"AGE-SECRET-KEY-";
const PEM: &[u8] = b"-----BEGIN ";

/// How base64 begins of a key, of a file of `age-keygen`, and of a text that begins with the key itself.
const ENCODED: [&[u8]; 3] = [
    b"LS0tLS1CRUdJTi",
    b"QUdFLVNFQ1JFVC1LRVkt",
    b"IyBjcmVhdGVkOi",
];

/// No key is longer than this in base64.
const MAX_ENCODED: usize = 64 * 1024;

/// The private keys in clear in some bytes, in their order; those that a passphrase protects,
/// placeholders, and words without a key behind them are none.
pub fn find(bytes: &[u8]) -> Vec<PrivateKey> {
    let mut keys = find_plain(bytes);
    for start in ENCODED.iter().flat_map(|word| positions(bytes, word)) {
        // The middle of a longer text in base64 is no beginning.
        if start > 0 && is_base64(bytes[start - 1]) {
            continue;
        }
        let (text, end) = base64_text(bytes, start);
        let whole = text.len() / 4 * 4;
        let decoded = base64::engine::general_purpose::STANDARD_NO_PAD
            .decode(&text[..whole])
            .or_else(|_| lenient().decode(&text));
        let Ok(decoded) = decoded else { continue };
        if let Some(key) = find_plain(&decoded).into_iter().next() {
            keys.push(PrivateKey {
                kind: key.kind,
                span: Span::new(start, end),
                encoded: true,
            });
        }
    }
    keys.sort_by_key(|key| key.span);
    keys
}

fn find_plain(bytes: &[u8]) -> Vec<PrivateKey> {
    let mut keys: Vec<PrivateKey> = positions(bytes, AGE)
        .filter_map(|start| age_key(bytes, start))
        .chain(positions(bytes, PEM).filter_map(|start| pem_key(bytes, start)))
        .collect();
    keys.sort_by_key(|key| key.span);
    keys
}

/// Where a word stands.
fn positions<'a>(bytes: &'a [u8], word: &'a [u8]) -> impl Iterator<Item = usize> + 'a {
    // Looking for the rarest byte of a word by `position` is what makes the pass quick.
    let rare = word
        .iter()
        .position(|byte| !byte.is_ascii_lowercase() && *byte != b'-')
        .unwrap_or(0);
    let mut from = 0;
    std::iter::from_fn(move || {
        loop {
            let at = from
                + bytes
                    .get(from..)?
                    .iter()
                    .position(|byte| *byte == word[rare])?;
            from = at + 1;
            if let Some(start) = at.checked_sub(rare)
                && bytes[start..].starts_with(word)
            {
                return Some(start);
            }
        }
    })
}

/// `AGE-SECRET-KEY-1…`, and the post-quantum `AGE-SECRET-KEY-PQ-1…`.
fn age_key(bytes: &[u8], start: usize) -> Option<PrivateKey> {
    let rest = &bytes[start + AGE.len()..];
    let rest = rest.strip_prefix(b"PQ-").unwrap_or(rest);
    let body = rest.strip_prefix(b"1")?;
    let length = body
        .iter()
        .take_while(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit())
        .count();
    let end = bytes.len() - body.len() + length;
    (length >= 50 && distinct(&body[..length]) > 2).then(|| PrivateKey {
        kind: "age secret key".to_owned(),
        span: Span::new(start, end),
        encoded: false,
    })
}

/// A PEM or armoured block whose label says private key and whose content is one in clear.
fn pem_key(bytes: &[u8], start: usize) -> Option<PrivateKey> {
    let rest = &bytes[start + PEM.len()..];
    let length = rest.iter().take(40).position(|byte| *byte == b'-')?;
    let label = std::str::from_utf8(&rest[..length]).ok()?;
    let is_private = label.ends_with("PRIVATE KEY") || label == "PGP PRIVATE KEY BLOCK";
    let body = rest[length..].strip_prefix(b"-----")?;
    if !is_private || label.starts_with("ENCRYPTED") {
        return None;
    }
    let (text, taken) = pem_body(body)?;
    if text.len() < 40 || distinct(&text) < 5 || is_locked(label, &text) {
        return None;
    }
    Some(PrivateKey {
        kind: label.to_owned(),
        span: Span::new(start, bytes.len() - body.len() + taken),
        encoded: false,
    })
}

/// The base64 between the lines of a block, without headers, and how many bytes it takes;
/// `None` if a header says that it is encrypted. Line ends may be written as `\n`.
fn pem_body(body: &[u8]) -> Option<(Vec<u8>, usize)> {
    let mut text = Vec::new();
    let mut at = 0;
    while let Some(byte) = body.get(at).filter(|_| at < MAX_ENCODED) {
        match byte {
            b'\\' if matches!(body.get(at + 1), Some(b'n' | b'r')) => at += 1,
            byte if byte.is_ascii_whitespace() || *byte == b'=' => {}
            byte if is_base64(*byte) => text.push(*byte),
            // `Proc-Type: 4,ENCRYPTED`, `Version: …`
            b':' | b'-' if text.len() < 40 => {
                let end = line_end(&body[at..])?;
                if contains(&body[at..at + end], b"ENCRYPTED") {
                    return None;
                }
                if body[at..].starts_with(b"-----") {
                    break;
                }
                text.clear();
                at += end;
            }
            _ => break,
        }
        at += 1;
    }
    Some((text, at.min(body.len())))
}

/// Where a line ends, be it by a line end or by `\n` in letters.
fn line_end(bytes: &[u8]) -> Option<usize> {
    (0..bytes.len()).find(|at| bytes[*at] == b'\n' || bytes[*at..].starts_with(b"\\n"))
}

fn contains(bytes: &[u8], word: &[u8]) -> bool {
    bytes.windows(word.len()).any(|window| window == word)
}

/// True if the content itself says that a passphrase protects it: OpenSSH's format names its cipher.
fn is_locked(label: &str, text: &[u8]) -> bool {
    if label != "OPENSSH PRIVATE KEY" {
        return false;
    }
    const MAGIC: &[u8] = b"openssh-key-v1\0";
    let whole = text.len() / 4 * 4;
    let Ok(decoded) =
        base64::engine::general_purpose::STANDARD_NO_PAD.decode(&text[..whole.min(64)])
    else {
        return false;
    };
    decoded
        .strip_prefix(MAGIC)
        .and_then(|rest| rest.get(4..))
        .is_some_and(|cipher| !cipher.starts_with(b"none"))
}

/// The base64 from a place on, over line ends as long as whole lines of it follow, and where it ends.
fn base64_text(bytes: &[u8], start: usize) -> (Vec<u8>, usize) {
    let mut text = Vec::new();
    let mut end = start;
    let mut from = start;
    while text.len() < MAX_ENCODED {
        let line = bytes[from..]
            .iter()
            .take_while(|byte| is_base64(**byte))
            .count();
        let after = from + line;
        let is_whole_line = bytes
            .get(after)
            .is_none_or(|byte| byte.is_ascii_whitespace() || *byte == b'=');
        if line == 0 || from > start && !is_whole_line {
            break;
        }
        text.extend_from_slice(&bytes[from..after]);
        end = after;
        let gap = bytes[after..]
            .iter()
            .take_while(|byte| byte.is_ascii_whitespace())
            .count();
        if gap == 0 {
            break;
        }
        from = after + gap;
    }
    (text, end)
}

fn is_base64(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'+' || byte == b'/'
}

/// A decoder that takes text cut off anywhere.
fn lenient() -> base64::engine::GeneralPurpose {
    base64::engine::GeneralPurpose::new(
        &base64::alphabet::STANDARD,
        base64::engine::GeneralPurposeConfig::new()
            .with_decode_allow_trailing_bits(true)
            .with_decode_padding_mode(base64::engine::DecodePaddingMode::Indifferent),
    )
}

fn distinct(bytes: &[u8]) -> usize {
    let mut seen = [false; 256];
    for byte in bytes {
        seen[usize::from(*byte)] = true;
    }
    seen.iter().filter(|seen| **seen).count()
}

#[cfg(test)]
mod tests;
