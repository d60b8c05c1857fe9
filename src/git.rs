//! The only file that names gix.

use smol_str::SmolStr;

/// The SHA-1 blob id of bytes.
pub fn sha1_blob_id(bytes: &[u8]) -> SmolStr {
    let id = gix::objs::compute_hash(gix::hash::Kind::Sha1, gix::objs::Kind::Blob, bytes)
        .expect("SHA-1 of bytes in memory cannot fail");
    SmolStr::new(id.to_hex().to_string())
}
