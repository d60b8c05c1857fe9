use crate::support::{Place, blob_id, ids, paths, staged, text};

/// The ids of all files in the work tree, and those that `git add` would store.
fn compare(place: &Place) {
    let head = place.work_tree().head;
    let expected: Vec<_> = paths(&head)
        .into_iter()
        .map(|path| (path.to_owned(), place.git(&["hash-object", "--", path])))
        .collect();
    assert_eq!(ids(&head), expected);
}

#[test]
fn attributes_and_configuration_convert_as_git_does() {
    let crlf = "a: 1\r\nb: 2\r\n";
    let mixed = "a: 1\r\nb: 2\n";
    for autocrlf in ["false", "true", "input"] {
        let place = Place::repository();
        place.git(&["config", "core.autocrlf", autocrlf]);
        place.write(
            ".gitattributes",
            "*.text text\n*.auto text=auto\n*.bin -text\n*.crlf eol=crlf\n*.lf text eol=lf\n\
             *.ident ident\n*.utf16 text working-tree-encoding=UTF-16LE\n",
        );
        place.write("deep/.gitattributes", "*.text -text\n");
        for ending in ["text", "auto", "bin", "crlf", "lf", "ident", "plain"] {
            place.write(&format!("a.{ending}"), crlf);
            place.write(&format!("b.{ending}"), mixed);
            place.write(&format!("deep/a.{ending}"), crlf);
            place.write(&format!("nul.{ending}"), "a\r\n\0\r\n");
        }
        place.write("id.ident", "# $Id: 0123456789 $\r\n");
        let utf16: Vec<u8> = "ä: 1\r\n"
            .encode_utf16()
            .flat_map(u16::to_le_bytes)
            .collect();
        place.write("a.utf16", utf16);
        compare(&place);
        place.git(&["add", "."]);
        compare(&place);
        assert_eq!(ids(&place.work_tree().head), staged(&place));
    }
}

#[test]
fn files_stored_with_crlf_stay_so_under_autocrlf() {
    let place = Place::repository();
    place.commit("old.yaml", "a: 1\r\n");
    place.git(&["config", "core.autocrlf", "true"]);
    place.write("old.yaml", "a: 1\r\nb: 2\r\n");
    place.write("new.yaml", "a: 1\r\nb: 2\r\n");
    let head = place.work_tree().head;
    let found = ids(&head);
    // `git hash-object` does not look into the index, `git add` does.
    place.git(&["add", "."]);
    assert_eq!(found, staged(&place));
    assert_ne!(blob_id(&head, "old.yaml"), blob_id(&head, "new.yaml"));
}

#[test]
fn an_edit_of_the_same_size_in_the_same_second_is_seen() {
    let place = Place::repository();
    for round in 0..20 {
        place.write("a.yaml", format!("a: {round:02}\n"));
        place.git(&["add", "a.yaml"]);
        place.write("a.yaml", format!("b: {round:02}\n"));
        let expected = place.git(&["hash-object", "a.yaml"]);
        let head = place.work_tree().head;
        assert_eq!(blob_id(&head, "a.yaml"), Some(expected));
    }
}

#[test]
fn the_executable_bit_is_no_part_of_the_id() {
    let place = Place::repository();
    place.commit("run.sh", "#!/bin/sh\n");
    place.git(&["update-index", "--chmod=+x", "run.sh"]);
    compare(&place);
    assert_eq!(ids(&place.index().head), staged(&place));
}

#[test]
fn an_external_filter_is_never_run() {
    let place = Place::repository();
    place.commit(
        ".gitattributes",
        "*.big filter=outside\n*.other filter=unknown\n",
    );
    place.git(&["config", "filter.outside.clean", "touch ran; cat"]);
    place.write("a.big", "a\n");
    place.write("a.other", "a\n");
    let head = place.work_tree().head;
    assert_eq!(blob_id(&head, "a.big"), None);
    // Git itself leaves alone what a filter that nobody configured should convert.
    let expected = place.git(&["hash-object", "a.other"]);
    assert_eq!(blob_id(&head, "a.other"), Some(expected));
    assert_eq!(text(&head, "a.big"), "a\n");
    assert!(!place.path().join("ran").exists());
}

#[test]
fn a_filtered_file_that_did_not_change_has_the_id_of_the_index() {
    let place = Place::repository();
    place.git(&["config", "filter.outside.clean", "tr a-z A-Z"]);
    place.commit(".gitattributes", "*.big filter=outside\n");
    place.write("a.big", "abc\n");
    // Older than the index, so that its time proves that nothing changed.
    let old = std::time::SystemTime::now() - std::time::Duration::from_secs(3600);
    let file = std::fs::File::options()
        .write(true)
        .open(place.path().join("a.big"));
    file.expect("a file").set_modified(old).expect("a time");
    place.git(&["add", "a.big"]);
    let stored = place.git(&["rev-parse", ":a.big"]);
    assert_ne!(stored, place.git(&["hash-object", "--no-filters", "a.big"]));
    assert_eq!(blob_id(&place.work_tree().head, "a.big"), Some(stored));
    place.write("a.big", "abcd\n");
    assert_eq!(blob_id(&place.work_tree().head, "a.big"), None);
}

#[test]
fn sha256_repositories_have_sha256_ids() {
    let place = Place::repository_with(&["--object-format=sha256"]);
    let first = place.commit("a.yaml", "a: 1\n");
    place.commit("b.yaml", "b: 1\n");
    place.write("c.yaml", "c: 1\n");
    compare(&place);
    let taken = place
        .take(|request| request.base = wavelint::snapshot::BaseRequest::Revision(first.clone()))
        .expect("a work tree");
    assert_eq!(taken.base_revision.as_ref(), Some(&first));
    assert_eq!(first.len(), 64);
    let base = taken.base.expect("a base");
    assert_eq!(
        ids(&base),
        [(
            "a.yaml".to_owned(),
            place.git(&["rev-parse", "HEAD~1:a.yaml"])
        )]
    );
    assert_eq!(ids(&place.index().head), staged(&place));
}
