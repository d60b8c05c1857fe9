use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use proptest::prelude::*;

use super::write::Disk;
use super::*;
use crate::finding::{Move, Severity};
use crate::snapshot::Snapshot;
use crate::source::{Place, Revision};

type Texts<'a> = &'a [(&'a str, &'a str)];

struct Case {
    files: Files,
    head: Tree,
}

impl Case {
    fn new(texts: Texts) -> Self {
        let snapshot = Snapshot::memory(
            texts
                .iter()
                .map(|(path, text)| ((*path).to_owned(), text.as_bytes().to_vec())),
        );
        let mut files = Files::default();
        let head = files.add(snapshot, Revision::Head, None);
        Self { files, head }
    }

    fn edit(&self, path: &str, span: std::ops::Range<usize>, text: &str) -> Edit {
        Edit {
            place: Place {
                file: self.head.file(path).expect("the file is there"),
                span: Span::new(span.start, span.end),
            },
            text: text.to_owned(),
        }
    }

    fn pass(&self, fixes: Vec<Fix>) -> Mended {
        let findings: Vec<Finding> = fixes
            .into_iter()
            .map(|fix| {
                let place = Place::file_start(FileId(0));
                Finding::new("wrong-wave", Severity::Error, place, "wrong").fix(fix)
            })
            .collect();
        let mut mended = Mended::default();
        mended.pass(&findings, &self.files, &self.head, false);
        mended
    }
}

fn edits(edits: Vec<Edit>) -> Fix {
    Fix {
        safe: true,
        title: "mend it".to_owned(),
        edits,
        moves: Vec::new(),
    }
}

fn moving(from: &str, to: &str) -> Fix {
    Fix {
        safe: true,
        title: "move it".to_owned(),
        edits: Vec::new(),
        moves: vec![Move {
            from: from.to_owned(),
            to: to.to_owned(),
        }],
    }
}

fn text<'a>(mended: &'a Mended, path: &str) -> Option<&'a str> {
    let bytes = mended.changes.get(path)?.as_deref()?;
    Some(std::str::from_utf8(bytes).expect("text"))
}

#[test]
fn line_endings_comments_and_a_missing_last_line_feed_stay() {
    let case = Case::new(&[("a.yaml", "a: 1 # x\r\nb: 2\r\nc: 3")]);
    let mended = case.pass(vec![edits(vec![case.edit("a.yaml", 13..14, "9")])]);
    assert_eq!(text(&mended, "a.yaml"), Some("a: 1 # x\r\nb: 9\r\nc: 3"));
    assert_eq!(mended.fixed.len(), 1);
}

#[test]
fn of_overlapping_fixes_the_first_wins_and_a_fix_is_never_applied_in_part() {
    let case = Case::new(&[("a.txt", "0123456789")]);
    let mended = case.pass(vec![
        edits(vec![case.edit("a.txt", 2..4, "x")]),
        edits(vec![
            case.edit("a.txt", 8..9, "y"),
            case.edit("a.txt", 3..5, "y"),
        ]),
        edits(vec![case.edit("a.txt", 4..4, "z")]),
        edits(vec![case.edit("a.txt", 6..7, "w")]),
    ]);
    assert_eq!(text(&mended, "a.txt"), Some("01x45w789"));
    assert_eq!(mended.fixed.len(), 2);
}

#[test]
fn unsafe_fixes_wait_to_be_asked_for() {
    let case = Case::new(&[("a.txt", "x")]);
    let mut fix = edits(vec![case.edit("a.txt", 0..1, "y")]);
    fix.safe = false;
    assert!(case.pass(vec![fix.clone()]).changes.is_empty());
    let finding = Finding::new("r", Severity::Info, Place::file_start(FileId(0)), "m").fix(fix);
    let mut mended = Mended::default();
    assert!(mended.pass(&[finding], &case.files, &case.head, true));
    assert_eq!(text(&mended, "a.txt"), Some("y"));
}

#[test]
fn an_edit_that_breaks_the_yaml_is_left_out() {
    let case = Case::new(&[("a.yaml", "a: [1]\n"), ("broken.yaml", "a: [1\n")]);
    let mended = case.pass(vec![
        edits(vec![case.edit("a.yaml", 5..6, "")]),
        edits(vec![case.edit("broken.yaml", 5..5, ", 2")]),
    ]);
    assert_eq!(text(&mended, "a.yaml"), None);
    assert_eq!(text(&mended, "broken.yaml"), Some("a: [1, 2\n"));
}

#[test]
fn an_edit_outside_its_text_or_inside_a_character_is_left_out() {
    let case = Case::new(&[("a.txt", "é")]);
    for span in [0..1, 1..2, 0..3, 9..9] {
        let mended = case.pass(vec![edits(vec![case.edit("a.txt", span, "x")])]);
        assert!(mended.changes.is_empty());
    }
}

#[test]
fn a_move_stays_in_the_tree_and_takes_no_place_that_is_taken() {
    let case = Case::new(&[("a/x.yaml", "x: 1\n"), ("b/y.yaml", "y: 1\n")]);
    for to in [
        "../x.yaml",
        "/x.yaml",
        "a//x.yaml",
        ".git/x.yaml",
        "b/y.yaml",
        "b/y.yaml/x",
        "b",
        "",
    ] {
        let mended = case.pass(vec![moving("a/x.yaml", to)]);
        assert!(mended.changes.is_empty(), "{to}");
    }
    let mended = case.pass(vec![
        moving("a/x.yaml", "b/x.yaml"),
        moving("b/y.yaml", "b/x.yaml"),
    ]);
    assert_eq!(text(&mended, "b/x.yaml"), Some("x: 1\n"));
    assert_eq!(mended.changes.get("a/x.yaml"), Some(&None));
    assert_eq!(mended.changes.len(), 2);
    assert_eq!(mended.origins.get("b/x.yaml").unwrap(), "a/x.yaml");
}

fn change(path: &str, before: Option<&str>, after: Option<&str>) -> FileChange {
    FileChange {
        path: path.to_owned(),
        before: before.map(|text| text.as_bytes().to_vec()),
        after: after.map(|text| text.as_bytes().to_vec()),
        origin: None,
    }
}

/// All that lies below a directory: path, and content of files.
fn contents(root: &Path) -> BTreeMap<String, Option<Vec<u8>>> {
    walkdir::WalkDir::new(root)
        .min_depth(1)
        .into_iter()
        .map(|entry| {
            let entry = entry.expect("readable");
            let path = entry.path().strip_prefix(root).expect("below");
            let bytes = entry
                .file_type()
                .is_file()
                .then(|| fs::read(entry.path()).expect("readable"));
            (path.to_string_lossy().into_owned(), bytes)
        })
        .collect()
}

/// A directory with files to be changed, and how: one edited, one moved into a new directory, one removed.
fn scene() -> (tempfile::TempDir, Vec<FileChange>) {
    let directory = tempfile::tempdir().unwrap();
    fs::create_dir(directory.path().join("d")).unwrap();
    for (path, text) in [("a.yaml", "a\r\n"), ("d/b.yaml", "b\n"), ("c.yaml", "c")] {
        fs::write(directory.path().join(path), text).unwrap();
    }
    let mut moved = change("new/deep/b.yaml", None, Some("b\n"));
    moved.origin = Some("d/b.yaml".to_owned());
    let changes = vec![
        change("a.yaml", Some("a\r\n"), Some("changed\r\n")),
        change("c.yaml", Some("c"), None),
        change("d/b.yaml", Some("b\n"), None),
        moved,
    ];
    (directory, changes)
}

/// What the directory holds when all is done.
fn done() -> BTreeMap<String, Option<Vec<u8>>> {
    BTreeMap::from([
        ("a.yaml".to_owned(), Some(b"changed\r\n".to_vec())),
        ("d".to_owned(), None),
        ("new".to_owned(), None),
        ("new/deep".to_owned(), None),
        ("new/deep/b.yaml".to_owned(), Some(b"b\n".to_vec())),
    ])
}

#[test]
fn all_changes_arrive_and_nothing_is_left_over() {
    let (directory, changes) = scene();
    write(directory.path(), &changes).unwrap();
    assert_eq!(contents(directory.path()), done());
    assert!(!interrupted(directory.path()));
    assert!(!recover(directory.path()).unwrap());
}

#[test]
fn wherever_the_disk_fails_nothing_is_changed() {
    for fuse in 0.. {
        let (directory, changes) = scene();
        let before = contents(directory.path());
        let mut disk = Disk::new(directory.path());
        disk.fuse = Some(fuse);
        let result = disk.write(&changes);
        if disk.fuse.is_some() {
            assert!(fuse > 15, "the disk was written to {fuse} times only");
            return;
        }
        match result {
            Err(_) => assert_eq!(contents(directory.path()), before, "failure {fuse}"),
            // All was changed, only the cleaning up failed: the next run does it.
            Ok(()) => {
                recover(directory.path()).unwrap();
                assert_eq!(contents(directory.path()), done(), "failure {fuse}");
            }
        }
    }
}

#[test]
fn wherever_the_run_is_killed_the_next_one_undoes_it() {
    for fuse in 0.. {
        let (directory, changes) = scene();
        let before = contents(directory.path());
        let mut disk = Disk::new(directory.path());
        disk.fuse = Some(fuse);
        disk.dead_after = true;
        let _ = disk.write(&changes);
        if disk.fuse != Some(0) {
            assert!(fuse > 15);
            return;
        }
        // The recovery may be killed too, anywhere.
        for second in 0..4 {
            let mut again = Disk::new(directory.path());
            again.fuse = Some(second);
            again.dead_after = true;
            let _ = again.recover();
        }
        recover(directory.path()).unwrap();
        let after = contents(directory.path());
        assert!(
            after == before || after == done(),
            "killed at {fuse}: {after:?}"
        );
        // And then the fix can be made.
        if after == before {
            write(directory.path(), &changes).unwrap();
            assert_eq!(contents(directory.path()), done());
        }
    }
}

#[test]
fn what_the_user_wrote_after_an_interruption_is_not_overwritten() {
    let (directory, changes) = scene();
    let mut disk = Disk::new(directory.path());
    disk.dead_after = true;
    // Directories, contents, and the first rename are done.
    disk.fuse = Some(16);
    disk.write(&changes).unwrap_err();
    let path = directory.path().join("a.yaml");
    assert_eq!(fs::read(&path).unwrap(), b"changed\r\n");
    fs::write(&path, "mine").unwrap();
    let error = recover(directory.path()).unwrap_err().to_string();
    assert!(error.starts_with("a.yaml: it was changed after"), "{error}");
    assert_eq!(fs::read(&path).unwrap(), b"mine");
    assert_eq!(
        fs::read(directory.path().join(".a.yaml.wavelint-old")).unwrap(),
        b"a\r\n"
    );
}

#[test]
fn a_file_that_changed_since_it_was_linted_stops_everything() {
    let (directory, changes) = scene();
    fs::write(directory.path().join("c.yaml"), "other").unwrap();
    let before = contents(directory.path());
    let error = write(directory.path(), &changes).unwrap_err().to_string();
    assert!(
        error.starts_with("c.yaml has changed since it was linted"),
        "{error}"
    );
    assert_eq!(contents(directory.path()), before);
}

#[test]
fn a_file_that_stands_where_a_fix_would_keep_its_own_is_left_alone() {
    for name in [
        ".a.yaml.wavelint-old",
        "d/.b.yaml.wavelint-new",
        journal::DONE,
    ] {
        let (directory, changes) = scene();
        fs::write(directory.path().join(name), "precious").unwrap();
        let before = contents(directory.path());
        let error = write(directory.path(), &changes).unwrap_err().to_string();
        assert!(error.starts_with(name), "{error}");
        assert_eq!(contents(directory.path()), before);
    }
}

#[test]
fn what_is_no_journal_undoes_nothing_and_stays() {
    for name in [journal::JOURNAL, journal::DONE] {
        for text in [
            "junk\n",
            "[1]",
            r#"{"steps":[],"directories":[]}"#,
            "[",
            "{}",
        ] {
            let (directory, _) = scene();
            fs::write(directory.path().join(name), text).unwrap();
            let before = contents(directory.path());
            let error = recover(directory.path()).unwrap_err().to_string();
            assert!(
                error.starts_with(&format!("{name} is no journal")),
                "{error}"
            );
            assert_eq!(contents(directory.path()), before);
        }
    }
}

#[test]
fn a_journal_that_was_cut_off_was_never_acted_upon() {
    for text in ["", r#"{"st"#, r#"{"steps":[{"path":"a.ya"#] {
        let (directory, _) = scene();
        let before = contents(directory.path());
        fs::write(directory.path().join(journal::JOURNAL), text).unwrap();
        assert!(!recover(directory.path()).unwrap());
        assert_eq!(contents(directory.path()), before);
    }
}

#[test]
fn a_run_at_work_is_not_disturbed() {
    let (directory, changes) = scene();
    let journal = fs::File::create(directory.path().join(journal::JOURNAL)).unwrap();
    journal.lock().unwrap();
    let before = contents(directory.path());
    assert!(!interrupted(directory.path()));
    assert!(
        recover(directory.path())
            .unwrap_err()
            .to_string()
            .contains("at work")
    );
    assert!(
        write(directory.path(), &changes)
            .unwrap_err()
            .to_string()
            .contains("at work")
    );
    assert_eq!(contents(directory.path()), before);
}

#[test]
fn a_journal_cannot_name_files_elsewhere() {
    let outer = tempfile::tempdir().unwrap();
    let root = outer.path().join("root");
    fs::create_dir(&root).unwrap();
    fs::write(outer.path().join("x"), "after").unwrap();
    let step = format!(
        r#"{{"steps":[{{"path":"../x","before":null,"after":"{}"}}],"directories":[]}}"#,
        journal::hash(b"after")
    );
    fs::write(root.join(journal::JOURNAL), step).unwrap();
    assert!(recover(&root).is_err());
    assert!(outer.path().join("x").exists());
}

#[cfg(unix)]
#[test]
fn permissions_are_kept_and_read_only_files_refused() {
    use std::os::unix::fs::PermissionsExt as _;
    let (directory, changes) = scene();
    let mode = |path: &str, mode| {
        let path = directory.path().join(path);
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    };
    mode("a.yaml", 0o440);
    let before = contents(directory.path());
    let error = write(directory.path(), &changes).unwrap_err().to_string();
    assert_eq!(error, "a.yaml is read-only");
    assert_eq!(contents(directory.path()), before);

    mode("a.yaml", 0o640);
    mode("d/b.yaml", 0o755);
    write(directory.path(), &changes).unwrap();
    let of = |path: &str| {
        let found = fs::metadata(directory.path().join(path)).unwrap();
        found.permissions().mode() & 0o777
    };
    assert_eq!((of("a.yaml"), of("new/deep/b.yaml")), (0o640, 0o755));
}

#[cfg(unix)]
#[test]
fn links_are_never_followed() {
    let outside = tempfile::tempdir().unwrap();
    fs::write(outside.path().join("x.yaml"), "x").unwrap();
    let directory = tempfile::tempdir().unwrap();
    let link = |from: &Path, to: &str| {
        std::os::unix::fs::symlink(from, directory.path().join(to)).unwrap();
    };
    link(outside.path(), "linked");
    link(&outside.path().join("x.yaml"), "x.yaml");
    for path in ["linked/x.yaml", "x.yaml"] {
        let error = write(directory.path(), &[change(path, Some("x"), Some("y"))]);
        assert!(error.is_err(), "{path}");
    }
    assert!(write(directory.path(), &[change("linked/new", None, Some("y"))]).is_err());
    assert_eq!(contents(outside.path()).len(), 1);
    assert_eq!(fs::read(outside.path().join("x.yaml")).unwrap(), b"x");
}

proptest! {
    /// Edits that stay apart are all applied in one pass, and every other byte stays.
    #[test]
    fn edits_apart_from_each_other_are_exact(
        pieces in prop::collection::vec(("[a-zé\r\n#: ]{1,6}", "[a-zé\r\n]{0,5}", "[x-zä]{0,4}"), 0..12),
        tail in "[a-z\r\n]{0,6}",
        shuffle in any::<prop::sample::Index>(),
    ) {
        let mut old = String::new();
        let mut new = String::new();
        let mut spans = Vec::new();
        for (kept, before, after) in &pieces {
            old.push_str(kept);
            new.push_str(kept);
            spans.push((old.len()..old.len() + before.len(), after.as_str()));
            old.push_str(before);
            new.push_str(after);
        }
        old.push_str(&tail);
        new.push_str(&tail);
        let case = Case::new(&[("a.txt", &old)]);
        let mut fixes: Vec<Fix> = spans
            .into_iter()
            .map(|(span, text)| edits(vec![case.edit("a.txt", span, text)]))
            .collect();
        let count = fixes.len();
        if count > 0 {
            fixes.rotate_left(shuffle.index(count));
        }
        let mended = case.pass(fixes);
        prop_assert_eq!(mended.fixed.len(), count);
        prop_assert_eq!(text(&mended, "a.txt").unwrap_or(&old), new);
    }

    /// Whatever edits are asked for, those taken leave the rest of the text alone.
    #[test]
    fn any_edits_leave_a_text(
        old in "[a-zé\r\n]{0,20}",
        wanted in prop::collection::vec((0usize..24, 0usize..6, "[A-Z]{0,3}"), 0..8),
    ) {
        let case = Case::new(&[("a.txt", &old)]);
        let fixes = wanted
            .iter()
            .map(|(start, length, text)| edits(vec![case.edit("a.txt", *start..start + length, text)]))
            .collect();
        let mended = case.pass(fixes);
        let result = text(&mended, "a.txt").unwrap_or(&old);
        let kept: String = result.chars().filter(|c| !c.is_ascii_uppercase()).collect();
        let mut rest = old.chars();
        prop_assert!(kept.chars().all(|c| rest.any(|other| other == c)));
    }
}
