use base64::Engine as _;

use super::*;

/// Bytes of the shape of a key; no key of anyone.
const BODY: &str = "MIIEowIBAAKCAQEAthisIsNoKeyOfAnyoneOnlyItsShape0123456789abcdefghij";

fn age() -> String {
    // Put together here, so that this file holds none itself.
    format!(
        "AGE-SECRET-KEY-{}{}",
        "1",
        "QYZWJ0EPA8S3FVRNK2T".repeat(4).split_at(58).0
    )
}

fn pem(label: &str) -> String {
    format!("-----BEGIN {label}-----\n{BODY}\n-----END {label}-----\n")
}

fn kinds(text: &str) -> Vec<String> {
    find(text.as_bytes())
        .into_iter()
        .map(|key| key.kind)
        .collect()
}

#[test]
fn keys_in_clear_are_found_with_their_bytes() {
    let text = format!("# created: today\n{}\nrest", age());
    let found = find(text.as_bytes());
    assert_eq!(found.len(), 1);
    assert_eq!(&text[found[0].span.range()], age());
    for label in [
        "RSA PRIVATE KEY",
        "EC PRIVATE KEY",
        "PRIVATE KEY",
        "OPENSSH PRIVATE KEY",
        "PGP PRIVATE KEY BLOCK",
    ] {
        assert_eq!(kinds(&pem(label)), [label]);
        assert_eq!(kinds(&pem(label).replace('\n', "\n    ")), [label]);
        assert_eq!(kinds(&pem(label).replace('\n', "\\n")), [label]);
    }
}

#[test]
fn an_armour_with_headers_is_found_and_an_encrypted_key_is_not() {
    let with = |header: &str| {
        format!(
            "-----BEGIN RSA PRIVATE KEY-----\n{header}\n\n{BODY}\n-----END RSA PRIVATE KEY-----\n"
        )
    };
    assert_eq!(kinds(&with("Version: 1")).len(), 1);
    assert!(kinds(&with("Proc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,00FF")).is_empty());
    assert!(kinds(&pem("ENCRYPTED PRIVATE KEY")).is_empty());
}

#[test]
fn an_openssh_key_says_whether_a_passphrase_protects_it() {
    let key = |cipher: &str| {
        let mut bytes = b"openssh-key-v1\0\0\0\0".to_vec();
        bytes.push(cipher.len() as u8);
        bytes.extend(cipher.as_bytes());
        bytes.extend((0..90).map(|n: u8| n.wrapping_mul(37)));
        let body = base64::engine::general_purpose::STANDARD.encode(bytes);
        format!("-----BEGIN OPENSSH PRIVATE KEY-----\n{body}\n-----END OPENSSH PRIVATE KEY-----\n")
    };
    assert_eq!(kinds(&key("none")).len(), 1);
    assert!(kinds(&key("aes256-ctr")).is_empty());
}

#[test]
fn words_without_a_key_behind_them_are_none() {
    for text in [
        "AGE-SECRET-KEY-1...",
        &format!("AGE-SECRET-KEY-1{}", "X".repeat(58)),
        "-----BEGIN RSA PRIVATE KEY-----\n...\n-----END RSA PRIVATE KEY-----",
        "-----BEGIN PRIVATE KEY-----\n${KEY}\n-----END PRIVATE KEY-----",
        "-----BEGIN PRIVATE KEY-----",
        &pem("CERTIFICATE"),
        &pem("PUBLIC KEY"),
        &pem("PGP PUBLIC KEY BLOCK"),
        "grep -l -- '-----BEGIN OPENSSH PRIVATE KEY-----' ~/.ssh/*",
    ] {
        assert!(kinds(text).is_empty(), "{text}");
    }
}

#[test]
fn a_key_in_base64_is_found_where_the_text_begins() {
    let encode = |text: &str| base64::engine::general_purpose::STANDARD.encode(text);
    for key in [
        pem("EC PRIVATE KEY"),
        age(),
        format!("# created: x\n# public key: y\n{}\n", age()),
    ] {
        let encoded = encode(&key);
        let text = format!("data:\n  tls.key: {encoded}\n  next: aGVsbG8=\nkind: Secret\n");
        let found = find(text.as_bytes());
        assert_eq!(found.len(), 1, "{key}");
        assert!(found[0].encoded);
        assert_eq!(
            text[found[0].span.range()].trim_end_matches('='),
            encoded.trim_end_matches('=')
        );
        let (left, right) = encoded.split_at(60);
        let folded = format!("data:\n  tls.key: >-\n    {left}\n    {right}\n  next: aGVsbG8=\n");
        assert_eq!(kinds(&folded).len(), 1, "{key}");
    }
    let certificate = encode(&pem("CERTIFICATE"));
    assert!(kinds(&format!("data:\n  tls.crt: {certificate}\n")).is_empty());
}

#[test]
fn any_bytes_are_scanned_without_harm() {
    for length in 0..40 {
        let bytes: Vec<u8> = pem("RSA PRIVATE KEY").into_bytes()[..length].to_vec();
        assert!(find(&bytes).is_empty());
        assert!(find(&vec![b'-'; length]).is_empty());
        assert!(find(&vec![0xff; length]).is_empty());
    }
    assert!(find(b"LS0tLS1CRUdJTi").is_empty());
}
