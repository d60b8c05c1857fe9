//! The files that SOPS has encrypted, at one revision and at both.

use super::is_set_aside;
use crate::flux::is_template;
use crate::repo::Repo;
use crate::sops::{self, Format, Metadata};
use crate::source::FileId;
use crate::tree::split;

/// The encrypted files of the head, by path; those that no cluster reaches and that are set aside are left out.
pub(in crate::rules) fn encrypted_files<'a>(repo: &'a Repo) -> Vec<(&'a str, FileId, Metadata)> {
    use rayon::prelude::*;
    let candidates: Vec<(&str, FileId)> = repo
        .head
        .tree
        .files()
        .filter(|(path, file)| {
            repo.head.live.files.contains(file)
                || !is_set_aside(path) && !is_template(&repo.head.tree, path)
        })
        .filter(|(path, _)| split(path).1 != sops::CONFIG_NAME && !is_large_or_binary(path))
        .collect();
    candidates
        .into_par_iter()
        // A file of an unknown format is looked at before it is kept.
        .filter(|(path, file)| {
            sops::format_of_path(path) != Format::Binary
                || repo.files.peek(*file, |bytes| {
                    bytes.windows(4).any(|window| window == b"sops")
                })
        })
        .filter_map(|(path, file)| Some((path, file, sops::detect(repo.files, file)?)))
        .collect()
}

/// An encrypted file at both revisions.
pub(in crate::rules) struct EncryptedPair<'a> {
    /// Its path at the base.
    pub(in crate::rules) from: &'a str,
    /// Its path at the head.
    pub(in crate::rules) path: &'a str,
    /// The file at the base.
    pub(in crate::rules) base: FileId,
    /// The file at the head.
    pub(in crate::rules) head: FileId,
    /// What it says about itself at the base.
    pub(in crate::rules) base_metadata: Metadata,
    /// What it says about itself at the head.
    pub(in crate::rules) head_metadata: Metadata,
}

/// The encrypted files that both revisions have, moved or in place; those that are wholly unchanged are left out.
pub(in crate::rules) fn revisions_of_encrypted_files<'a>(repo: &'a Repo) -> Vec<EncryptedPair<'a>> {
    let Some(base) = &repo.base else {
        return Vec::new();
    };
    let in_place = repo.head.tree.files().filter_map(|(path, head)| {
        let before = base.picture.tree.file(path)?;
        (before != head).then_some((path, before, path, head))
    });
    let moved = base.change.moved.iter().map(|moved| {
        (
            moved.from.as_str(),
            moved.base,
            moved.to.as_str(),
            moved.head,
        )
    });
    in_place
        .chain(moved)
        .filter(|(_, _, path, _)| split(path).1 != sops::CONFIG_NAME && !is_large_or_binary(path))
        .filter_map(|(from, base, path, head)| {
            Some(EncryptedPair {
                from,
                path,
                base,
                head,
                base_metadata: sops::detect(repo.files, base)?,
                head_metadata: sops::detect(repo.files, head)?,
            })
        })
        .collect()
}

/// True for a file that, by its name, is no text.
pub(in crate::rules) fn is_large_or_binary(path: &str) -> bool {
    const ENDINGS: [&str; 38] = [
        "7z", "avif", "bin", "bmp", "bz2", "class", "dll", "doc", "docx", "drawio", "eot", "exe",
        "gif", "gz", "ico", "iso", "jar", "jpeg", "jpg", "mov", "mp3", "mp4", "otf", "pdf", "png",
        "so", "svg", "tar", "tgz", "tif", "tiff", "ttf", "wasm", "webp", "woff", "woff2", "xz",
        "zip",
    ];
    split(path).1.rsplit_once('.').is_some_and(|(_, ending)| {
        let ending = ending.to_ascii_lowercase();
        ENDINGS.contains(&ending.as_str())
    })
}
