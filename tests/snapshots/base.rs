use std::path::PathBuf;

use wavelint::snapshot::{BaseRequest, Environment, Kind, Source, Taken};

use crate::support::{Place, git_in, paths, text};

fn based(place: &Place, base: &str) -> Taken {
    place
        .take(|request| request.base = BaseRequest::Revision(base.to_owned()))
        .expect("a base")
}

fn by_default(place: &Place, environment: Environment) -> Taken {
    place
        .take(|request| {
            request.base = BaseRequest::Default;
            request.environment = environment;
        })
        .expect("a work tree")
}

/// `main` and `topic` fork after the first commit; `topic` is checked out.
fn diverged() -> (Place, String) {
    let place = Place::repository();
    let fork = place.commit("a.yaml", "a: fork\n");
    place.git(&["switch", "-q", "-c", "topic"]);
    place.commit("topic.yaml", "");
    place.git(&["switch", "-q", "main"]);
    place.commit("main.yaml", "");
    place.git(&["switch", "-q", "topic"]);
    (place, fork)
}

#[test]
fn work_tree_and_index_are_compared_with_head() {
    let place = Place::repository();
    let head = place.commit("a.yaml", "a: 1\n");
    place.write("a.yaml", "a: 2\n");
    for source in [Source::WorkTree, Source::Index] {
        let taken = place
            .take(|request| {
                request.source = source;
                request.base = BaseRequest::Default;
            })
            .expect("a snapshot");
        assert_eq!(taken.base_revision.as_ref(), Some(&head));
        let base = taken.base.expect("a base");
        assert_eq!(base.kind, Kind::Revision);
        assert_eq!(base.revision.as_ref(), Some(&head));
        assert_eq!(text(&base, "a.yaml"), "a: 1\n");
        assert_eq!(taken.notes, Vec::<String>::new());
    }
    assert!(place.work_tree().base.is_none());
}

#[test]
fn a_detached_head_is_a_base_too() {
    let place = Place::repository();
    let first = place.commit("a.yaml", "a: 1\n");
    place.commit("a.yaml", "a: 2\n");
    place.git(&["checkout", "-q", "--detach", "HEAD~1"]);
    let taken = by_default(&place, Environment::default());
    assert_eq!(taken.base_revision, Some(first));
    assert_eq!(text(&taken.base.expect("a base"), "a.yaml"), "a: 1\n");
}

#[test]
fn before_the_first_commit_there_is_no_base() {
    let place = Place::repository();
    place.write("a.yaml", "");
    place.git(&["add", "a.yaml"]);
    let taken = by_default(&place, Environment::default());
    assert_eq!(paths(&taken.head), ["a.yaml"]);
    assert!(taken.base.is_none());
    let error = place.take(|request| request.base = BaseRequest::Revision("HEAD".to_owned()));
    assert!(error.is_err());
}

#[test]
fn a_revision_is_compared_with_its_first_parent() {
    let place = Place::repository();
    let first = place.commit("a.yaml", "a: 1\n");
    let second = place.commit("a.yaml", "a: 2\n");
    place.git(&["tag", "-a", "-m", "tag", "v1"]);
    place.git(&["checkout", "-q", "--detach", "HEAD~1"]);
    for name in ["v1", "main", "main~0", "v1^{commit}", &second, &second[..9]] {
        let taken = place
            .take(|request| {
                request.source = Source::Revision(name.to_owned());
                request.base = BaseRequest::Default;
            })
            .expect("a revision");
        assert_eq!(taken.head.kind, Kind::Revision);
        assert_eq!(taken.head.revision.as_ref(), Some(&second));
        assert_eq!(text(&taken.head, "a.yaml"), "a: 2\n");
        assert_eq!(taken.base_revision.as_ref(), Some(&first));
    }
    let root = place
        .take(|request| {
            request.source = Source::Revision(first.clone());
            request.base = BaseRequest::Default;
        })
        .expect("a revision");
    assert!(root.base.is_none());
    assert_eq!(root.notes, Vec::<String>::new());
}

#[test]
fn a_revision_that_is_none_is_an_error_that_names_it() {
    let place = Place::repository();
    place.commit("a.yaml", "");
    for name in [
        "nowhere",
        "HEAD:a.yaml",
        "HEAD^{tree}",
        "",
        "HEAD~7",
        "a..b",
    ] {
        let error = place.take(|request| request.source = Source::Revision(name.to_owned()));
        let message = error.err().expect("an error").to_string();
        assert!(message.contains(&format!("`{name}`")), "{message}");
        let error = place.take(|request| request.base = BaseRequest::Revision(name.to_owned()));
        assert!(error.is_err());
    }
}

#[test]
fn a_named_base_is_where_the_branches_parted() {
    let (place, fork) = diverged();
    let taken = based(&place, "main");
    assert_eq!(taken.base_revision, Some(fork.clone()));
    assert_eq!(paths(&taken.base.expect("a base")), ["a.yaml"]);

    let taken = place
        .take(|request| {
            request.source = Source::Revision("main".to_owned());
            request.base = BaseRequest::Revision("topic".to_owned());
        })
        .expect("a revision");
    assert_eq!(taken.base_revision, Some(fork));
    assert_eq!(paths(&taken.head), ["a.yaml", "main.yaml"]);
}

#[test]
fn a_named_base_of_another_history_is_an_error() {
    let (place, _) = diverged();
    place.git(&["switch", "-q", "--orphan", "other"]);
    place.commit("b.yaml", "");
    let error = place.take(|request| request.base = BaseRequest::Revision("main".to_owned()));
    let message = error.err().expect("an error").to_string();
    assert!(message.contains("no common commit"), "{message}");
}

#[test]
fn the_base_of_a_directory_is_the_same_directory() {
    let place = Place::repository();
    place.commit("apps/a.yaml", "a: 1\n");
    place.commit("other.yaml", "");
    place.write("apps/a.yaml", "a: 2\n");
    place.write("fresh/b.yaml", "");
    let take = |directory: &str| {
        place
            .take(|request| {
                request.directory = Some(PathBuf::from(directory));
                request.base = BaseRequest::Default;
            })
            .expect("a work tree")
    };
    let taken = take("apps");
    let base = taken.base.expect("a base");
    assert_eq!(paths(&base), ["a.yaml"]);
    assert_eq!(text(&base, "a.yaml"), "a: 1\n");
    let taken = take("fresh");
    assert_eq!(paths(&taken.head), ["b.yaml"]);
    assert_eq!(paths(&taken.base.expect("a base")), [""; 0]);
}

#[test]
fn a_revision_may_hold_a_directory_that_is_gone() {
    let place = Place::repository();
    place.commit("old/apps/a.yaml", "a: 1\n");
    place.git(&["mv", "old", "new"]);
    place.git(&["commit", "-q", "-m", "move"]);
    let take = |revision: &str| {
        place.take(|request| {
            request.directory = Some(PathBuf::from("old/apps"));
            request.source = Source::Revision(revision.to_owned());
        })
    };
    let taken = take("HEAD~1").expect("a revision");
    assert_eq!(paths(&taken.head), ["a.yaml"]);
    let message = take("HEAD").err().expect("an error").to_string();
    assert_eq!(message, "directory `old/apps` is not in revision `HEAD`");
    let error = place.take(|request| request.directory = Some(PathBuf::from("old")));
    assert!(error.is_err());
    // Nor is a file in its place in the way.
    place.write("old", "");
    let taken = take("HEAD~1").expect("a revision");
    assert_eq!(paths(&taken.head), ["a.yaml"]);
}

#[test]
fn pre_commit_says_what_is_pushed() {
    let (place, fork) = diverged();
    let environment = Environment {
        pre_commit_from_ref: Some("main".to_owned()),
        pre_commit_to_ref: Some("topic".to_owned()),
        ..Environment::default()
    };
    let taken = by_default(&place, environment.clone());
    assert_eq!(taken.base_revision, Some(fork));
    // What was asked for goes before what was picked up.
    let head = place.head();
    let taken = place
        .take(|request| {
            request.base = BaseRequest::Revision("HEAD".to_owned());
            request.environment = environment.clone();
        })
        .expect("a work tree");
    assert_eq!(taken.base_revision, Some(head));
    let taken = place
        .take(|request| request.environment = environment)
        .expect("a work tree");
    assert!(taken.base.is_none());
}

#[test]
fn a_base_that_was_picked_up_and_cannot_be_had_is_dropped_with_a_note() {
    let (place, _) = diverged();
    let taken = by_default(
        &place,
        Environment {
            pre_commit_from_ref: Some("1".repeat(40)),
            ..Environment::default()
        },
    );
    assert!(taken.base.is_none());
    assert_eq!(taken.notes.len(), 1);
    assert!(
        taken.notes[0].contains("PRE_COMMIT_FROM_REF"),
        "{:?}",
        taken.notes
    );
}

fn event(place: &Place, name: &str, json: &str) -> Environment {
    place.write(".git/event.json", json);
    Environment {
        actions: true,
        github_event_name: Some(name.to_owned()),
        github_event_path: Some(place.path().join(".git/event.json")),
        ..Environment::default()
    }
}

#[test]
fn actions_say_what_a_pull_request_is_for() {
    let (place, fork) = diverged();
    let main = place.git(&["rev-parse", "main"]);
    let json = format!(r#"{{"pull_request": {{"base": {{"sha": "{main}"}}}}}}"#);
    let taken = by_default(&place, event(&place, "pull_request", &json));
    assert_eq!(taken.base_revision, Some(fork));

    // GitHub checks out the merge of both: then the base is the tip of the base branch.
    place.git(&["merge", "-q", "--no-ff", "-m", "merge", "main"]);
    let taken = by_default(&place, event(&place, "pull_request", &json));
    assert_eq!(taken.base_revision, Some(main));
    assert_eq!(taken.notes, Vec::<String>::new());
}

#[test]
fn actions_say_what_was_there_before_a_push() {
    let (place, _) = diverged();
    let main = place.git(&["rev-parse", "main"]);
    // A forced push from `main` to `topic`: Flux goes from the one to the other.
    let json = format!(r#"{{"before": "{main}"}}"#);
    let taken = by_default(&place, event(&place, "push", &json));
    assert_eq!(taken.base_revision, Some(main));

    let json = format!(r#"{{"before": "{}"}}"#, "0".repeat(40));
    let taken = by_default(&place, event(&place, "push", &json));
    assert!(taken.base.is_none());
    assert_eq!(
        taken.notes,
        ["not compared with a base: the push made the branch or tag"]
    );

    let json = format!(r#"{{"before": "{}"}}"#, "1".repeat(40));
    let taken = by_default(&place, event(&place, "push", &json));
    assert!(taken.base.is_none());
    assert_eq!(taken.notes.len(), 1);
}

/// A clone with only the last commit, as actions/checkout makes it.
fn shallow(origin: &Place, depth: &str) -> Place {
    let clone = Place::new();
    let url = format!("file://{}", origin.path().display());
    clone.git(&["clone", "-q", "--depth", depth, &url, "."]);
    clone
}

#[test]
fn a_shallow_clone_has_no_first_parent_and_says_how_to_get_it() {
    let origin = Place::repository();
    origin.commit("a.yaml", "a: 1\n");
    let head = origin.commit("a.yaml", "a: 2\n");
    let clone = shallow(&origin, "1");
    let taken = clone
        .take(|request| {
            request.source = Source::Revision("HEAD".to_owned());
            request.base = BaseRequest::Default;
        })
        .expect("a revision");
    assert_eq!(taken.head.revision, Some(head.clone()));
    assert!(taken.base.is_none());
    assert!(
        taken.notes[0].contains("fetch-depth: 0"),
        "{:?}",
        taken.notes
    );

    // The work tree needs no more than HEAD.
    let taken = by_default(&clone, Environment::default());
    assert_eq!(taken.base_revision, Some(head));
}

#[test]
fn a_shallow_clone_of_a_pull_request_drops_the_base_with_a_note() {
    let (origin, fork) = diverged();
    let main = origin.git(&["rev-parse", "main"]);
    let clone = shallow(&origin, "1");
    let json = format!(r#"{{"pull_request": {{"base": {{"sha": "{main}"}}}}}}"#);
    let taken = by_default(&clone, event(&clone, "pull_request", &json));
    assert!(taken.base.is_none());
    assert_eq!(taken.notes.len(), 1);
    assert!(
        taken.notes[0].contains("fetch-depth: 0"),
        "{:?}",
        taken.notes
    );

    let error = clone.take(|request| request.base = BaseRequest::Revision(main.clone()));
    let error = error.err().expect("an error");
    assert!(error.help.expect("help").contains("fetch-depth: 0"));

    // Both tips are there, but not where they parted.
    clone.git(&["fetch", "-q", "--depth", "1", "origin", &main]);
    let error = clone.take(|request| request.base = BaseRequest::Revision(main.clone()));
    let message = error.err().expect("an error").to_string();
    assert!(message.contains("no common commit"), "{message}");
    let taken = by_default(&clone, event(&clone, "pull_request", &json));
    assert!(taken.base.is_none());
    assert!(
        taken.notes[0].contains("fetch-depth: 0"),
        "{:?}",
        taken.notes
    );

    // Deep enough is enough.
    clone.git(&["fetch", "-q", "--depth", "2", "origin", &main, "topic"]);
    let taken = based(&clone, &main);
    assert_eq!(taken.base_revision, Some(fork));
}

#[test]
fn a_blob_that_a_partial_clone_left_out_is_an_error_where_it_is_read() {
    let origin = Place::repository();
    origin.git(&["config", "uploadpack.allowFilter", "true"]);
    origin.commit("a.yaml", "a: 1\n");
    origin.commit("a.yaml", "a: 2\n");
    let clone = Place::new();
    let url = format!("file://{}", origin.path().display());
    git_in(
        &clone.path(),
        &["clone", "-q", "--filter=blob:none", &url, "."],
    );
    let taken = clone.revision("HEAD~1");
    assert_eq!(paths(&taken.head), ["a.yaml"]);
    assert!(taken.head.read(0).is_err());
    assert!(taken.head.blob_id(0).is_some());
    assert_eq!(text(&clone.work_tree().head, "a.yaml"), "a: 2\n");
}
