//! Tables of waves in documents: what is found, and what a mend writes.

use crate::harness::Tree;
use crate::support::{assert_finds, homelab, mended, message, replace};

const DESIGN: &str = "DESIGN-waves.md";

/// Homelab with another document.
fn with_table(text: &str) -> Tree {
    let mut tree = homelab("waves");
    tree.insert(DESIGN.to_owned(), text.to_owned());
    tree
}

/// The document is found stale at that line, and its mend is this; and then it is clean.
fn assert_mends(text: &str, line: usize, wanted: &str) {
    let tree = with_table(text);
    assert_finds(
        &tree,
        None,
        &[("stale-wave-table", DESIGN, &line.to_string())],
    );
    let mended = mended(&tree, None, "stale-wave-table").expect("it has a safe mend");
    assert_eq!(mended[DESIGN], wanted);
    assert_finds(&mended, None, &[]);
}

/// The document of homelab with a text replaced.
fn changed(from: &str, to: &str) -> String {
    let mut tree = homelab("waves");
    replace(&mut tree, DESIGN, from, to);
    tree[DESIGN].clone()
}

#[test]
fn a_service_in_the_wrong_row_moves_to_the_end_of_its_own() {
    let stale =
        changed("pihole, gitea,", "pihole, sonarr, gitea,").replace("| 1 | sonarr, ", "| 1 | ");
    let wanted = changed(
        "sonarr, radarr, nextcloud, semaphore, gitea-actions",
        "radarr, nextcloud, semaphore, gitea-actions, sonarr",
    );
    assert_mends(&stale, 5, &wanted);
    let message = message(&with_table(&stale), "stale-wave-table");
    assert!(
        message.contains("`sonarr` is in wave 1, not 0"),
        "{message}"
    );
}

#[test]
fn a_service_that_is_missing_is_added_and_one_that_is_gone_is_removed() {
    let wanted = changed(
        "plex, qbittorrent, nextcloud-db, semaphore-db",
        "plex, qbittorrent, nextcloud-db, semaphore-db",
    );
    assert_mends(&wanted.replace(", semaphore-db |", " |"), 5, &wanted);
    assert_mends(
        &wanted.replace("| 2 | seerr |", "| 2 | seerr, overseerr |"),
        7,
        &wanted,
    );
    assert_mends(&wanted.replace("| 2 | seerr |\n", ""), 6, &wanted);
    assert_mends(
        &wanted.replace("| 2 | seerr |\n", "| 2 | seerr |\n| 3 | overseerr |\n"),
        8,
        &wanted,
    );
}

#[test]
fn line_endings_stay() {
    let wanted = changed("# App waves", "# App waves").replace('\n', "\r\n");
    assert_mends(&wanted.replace(", semaphore-db |", " |"), 5, &wanted);
    assert_mends(&wanted.replace("| 2 | seerr |\r\n", ""), 6, &wanted);
}

#[test]
fn a_new_chain_makes_the_table_stale() {
    let mut tree = homelab("waves");
    replace(
        &mut tree,
        "catalog/services/plex.yaml",
        "dependencies: []",
        "dependencies: [pihole]",
    );
    let expected = [
        ("stale-wave-table", DESIGN, "| 0 |"),
        ("wrong-wave", "apps/wave-0/plex.yaml", "1"),
    ];
    assert_finds(&tree, None, &expected);
}

const BY_SERVICE: &str = "\
| Service         | Wave | Port | Depends on |
|:----------------|-----:|-----:|------------|
| `gitea`         |    0 | 3000 |            |
| `gitea-actions` |    1 |      | gitea      |
| `jackett`       |    0 | 9117 |            |
| `nextcloud`     |    1 |   80 | nextcloud-db |
| `nextcloud-db`  |    0 | 5432 |            |
| `pihole`        |    0 |   53 |            |
| `plex`          |    0 |      |            |
| `qbittorrent`   |    0 | 8080 |            |
| `radarr`        |    1 | 7878 | jackett, qbittorrent |
| `seerr`         |    2 | 5055 | sonarr, radarr, plex |
| `semaphore`     |    1 | 3000 | semaphore-db, gitea |
| `semaphore-db`  |    0 | 5432 |            |
| [sonarr](https://sonarr.tv) | 1 | 8989 | jackett, qbittorrent |
";

#[test]
fn one_row_a_service_has_its_number_rewritten() {
    assert_finds(&with_table(BY_SERVICE), None, &[]);
    let stale = BY_SERVICE.replace("| `seerr`         |    2 |", "| `seerr`         |   10 |");
    assert_mends(&stale, 12, BY_SERVICE);
    let stale = BY_SERVICE.replace("tv) | 1 |", "tv) | 0 |");
    assert_mends(&stale, 15, BY_SERVICE);
}

#[test]
fn one_row_a_service_that_is_missing_gets_a_row() {
    let tree =
        with_table(&BY_SERVICE.replace("| `plex`          |    0 |      |            |\n", ""));
    let mended = mended(&tree, None, "stale-wave-table").expect("it has a safe mend");
    assert!(mended[DESIGN].contains("`plex`"), "{}", mended[DESIGN]);
    assert_finds(&mended, None, &[]);
}

#[test]
fn a_row_with_remarks_is_not_removed_without_asking() {
    let text = format!("{BY_SERVICE}| `overseerr` | 2 | 5055 | plex |\n");
    let tree = with_table(&text);
    assert_finds(&tree, None, &[("stale-wave-table", DESIGN, "16")]);
    assert!(mended(&tree, None, "stale-wave-table").is_none());
}

#[test]
fn an_aligned_table_stays_aligned() {
    let wanted = "\
| wave | services                                                               | why   |
|------|------------------------------------------------------------------------|-------|
| 0    | gitea, jackett, nextcloud-db, pihole, plex, qbittorrent, semaphore-db  | first |
| 1    | gitea-actions, nextcloud, radarr, semaphore, sonarr                    |       |
| 2    | seerr                                                                  | last  |
";
    let stale = wanted
        .replace(
            "pihole, plex, qbittorrent, semaphore-db  |",
            "pihole, qbittorrent, semaphore-db        |",
        )
        .replace(
            "| seerr                                   ",
            "| plex, seerr                             ",
        )
        .replace(
            "| plex, seerr                                                                  |",
            "| plex, seerr                                                            |",
        );
    assert_mends(&stale, 5, wanted);
}

#[test]
fn names_in_backticks_links_and_sentences_are_read() {
    let text = changed(
        "pihole, gitea, jackett",
        "`pihole`, [gitea](docs/gitea,1.md) and **Jackett** (no keys)",
    );
    assert_finds(&with_table(&text), None, &[]);
}

#[test]
fn a_table_between_marks_must_be_complete_and_another_need_not() {
    let few = "| wave | services |\n| --- | --- |\n| 0 | jackett, plex |\n| 2 | seerr |\n";
    assert_finds(&with_table(few), None, &[]);
    let marked = format!("<!-- wavelint:waves -->\n{few}\n<!-- /wavelint:waves -->\n");
    let tree = with_table(&marked);
    assert_finds(&tree, None, &[("stale-wave-table", DESIGN, "4")]);
    let mended = mended(&tree, None, "stale-wave-table").expect("it has a safe mend");
    assert_finds(&mended, None, &[]);
    assert!(
        mended[DESIGN]
            .contains("| 1 | gitea-actions, nextcloud, radarr, semaphore, sonarr |\n| 2 |")
    );
}

#[test]
fn marks_with_nothing_between_them_are_filled() {
    let text = "# Waves\n\n<!-- wavelint:waves -->\n<!-- wavelint:waves -->\n\nThe end.\n";
    let table = "| wave | services |\n| --- | --- |\n| 0 | gitea, jackett, nextcloud-db, pihole, plex, qbittorrent, semaphore-db |\n| 1 | gitea-actions, nextcloud, radarr, semaphore, sonarr |\n| 2 | seerr |\n";
    let mark = "<!-- wavelint:waves -->\n";
    assert_mends(
        text,
        3,
        &text.replace(&format!("{mark}{mark}"), &format!("{mark}{table}{mark}")),
    );
}

#[test]
fn tables_of_other_things_are_left_alone() {
    for text in [
        "| service | port |\n|---|---|\n| sonarr | 8989 |\n| radarr | 7878 |\n",
        "| wave | length |\n|---|---|\n| 0 | 400 nm |\n| 1 | 700 nm |\n",
        "| tier | services |\n|---|---|\n| 1 | lunch, dinner, sonarr |\n",
        "```\n| wave | services |\n|---|---|\n| 0 | sonarr, radarr |\n```\n",
        "| wave | services |\n| 0 | sonarr, radarr |\n",
        "| wave | services |\n|---|---|\n",
        "|\n|-|\n||\n",
    ] {
        assert_finds(&with_table(text), None, &[]);
    }
}
