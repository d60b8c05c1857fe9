//! `wavelint waves`: what it shows.

use serde_json::{Value, json};
use wavelint::cli::WavesFormat;
use wavelint::commands::waves::write;
use wavelint::terminal::Style;

use crate::harness::Tree;
use crate::support::{assert_finds, homelab, move_app, replace, with_repo};

fn shown(tree: &Tree, format: WavesFormat) -> String {
    let mut out = Vec::new();
    with_repo(tree, None, |repo| {
        write(repo, &[], format, Style::PLAIN, &mut out)
    })
    .expect("a vector takes everything");
    String::from_utf8(out).expect("it is text")
}

fn json_of(tree: &Tree) -> Value {
    serde_json::from_str(&shown(tree, WavesFormat::Json)).expect("it is JSON")
}

fn service<'a>(value: &'a Value, name: &str) -> &'a Value {
    value["services"]
        .as_array()
        .and_then(|services| services.iter().find(|service| service["name"] == name))
        .unwrap_or_else(|| panic!("{name} in {value}"))
}

#[test]
fn the_json_keeps_its_contract() {
    let value = json_of(&homelab("waves"));
    assert_eq!(value["version"], 1);
    assert_eq!(
        value["sets"],
        json!([{"name": "apps/wave-", "waves": [
            {"number": 0, "path": "apps/wave-0", "kustomizations": ["flux-system/apps-wave-0"]},
            {"number": 1, "path": "apps/wave-1", "kustomizations": ["flux-system/apps-wave-1"]},
            {"number": 2, "path": "apps/wave-2", "kustomizations": ["flux-system/apps-wave-2"]},
        ]}])
    );
    assert_eq!(
        *service(&value, "seerr"),
        json!({"name": "seerr", "wave": 2, "at": [2], "chain": ["seerr", "sonarr", "jackett"], "blocks": []})
    );
    assert_eq!(service(&value, "sonarr")["blocks"], json!(["seerr"]));
    assert_eq!(
        service(&value, "plex")["blocks"],
        json!([
            "gitea-actions",
            "nextcloud",
            "radarr",
            "seerr",
            "semaphore",
            "sonarr"
        ])
    );
}

#[test]
fn a_wave_that_does_not_wait_blocks_nothing() {
    let mut tree = homelab("waves");
    replace(
        &mut tree,
        "clusters/base/apps-wave-0.yaml",
        "  wait: true\n",
        "",
    );
    let value = json_of(&tree);
    assert_eq!(service(&value, "plex")["blocks"], json!([]));
    let checks = "  healthChecks:\n    - apiVersion: apps/v1\n      kind: Deployment\n      name: plex\n      namespace: apps\n  sourceRef:\n";
    replace(
        &mut tree,
        "clusters/base/apps-wave-0.yaml",
        "  sourceRef:\n",
        checks,
    );
    let value = json_of(&tree);
    assert_eq!(service(&value, "pihole")["blocks"], json!([]));
    assert_eq!(
        service(&value, "plex")["blocks"].as_array().map(Vec::len),
        Some(6)
    );
}

#[test]
fn before_the_cutover_waves_are_computed_and_nothing_is_placed() {
    let value = json_of(&homelab("flat"));
    assert_eq!(value["sets"], json!([]));
    assert_eq!(service(&value, "seerr")["wave"], 2);
    assert_eq!(service(&value, "seerr")["at"], json!([]));
}

#[test]
fn a_service_in_a_cycle_has_no_wave() {
    let mut tree = homelab("waves");
    replace(
        &mut tree,
        "catalog/services/jackett.yaml",
        "dependencies: []",
        "dependencies: [sonarr]",
    );
    let value = json_of(&tree);
    assert_eq!(service(&value, "seerr")["wave"], Value::Null);
    assert_eq!(service(&value, "seerr")["chain"], json!([]));
    assert_eq!(service(&value, "plex")["wave"], 0);
}

#[test]
fn without_a_catalog_the_sets_are_listed_all_the_same() {
    let mut tree = homelab("waves");
    tree.retain(|path, _| !path.starts_with("catalog/"));
    let value = json_of(&tree);
    assert_eq!(value["services"], json!([]));
    assert_eq!(value["sets"][0]["waves"].as_array().map(Vec::len), Some(3));
    let table = shown(&tree, WavesFormat::Table);
    assert!(table.contains("clusters/dev\n"), "{table}");
    let row = table
        .lines()
        .find(|line| line.contains("flux-system/apps-wave-2"))
        .unwrap_or_else(|| panic!("{table}"));
    let words: Vec<&str> = row.split_whitespace().collect();
    assert_eq!(
        words,
        ["4", "flux-system/apps-wave-2", "apps/wave-2", "apps-wave-1"]
    );
}

#[test]
fn the_table_marks_what_is_in_the_wrong_wave() {
    let mut tree = homelab("waves");
    move_app(&mut tree, "plex.yaml", 0, 1);
    let table = shown(&tree, WavesFormat::Table);
    let row = table
        .lines()
        .find(|line| line.contains(" plex "))
        .unwrap_or_else(|| panic!("{table}"));
    assert!(row.contains("1 wrong"), "{row}");
    assert!(
        table.ends_with("13 services in 1 wave set; 1 in the wrong wave, 0 in none\n"),
        "{table}"
    );
    let lines: Vec<&str> = table.lines().collect();
    let columns: Vec<usize> = lines[..14]
        .iter()
        .filter_map(|line| line.find("  "))
        .collect();
    assert_eq!(columns.len(), 14, "{table}");
}

#[test]
fn the_markdown_is_what_the_rule_wants() {
    let mut tree = homelab("waves");
    let table = shown(&tree, WavesFormat::Markdown);
    assert!(
        table.starts_with("| wave | services |\n| --- | --- |\n| 0 | gitea, "),
        "{table}"
    );
    let text = format!("<!-- wavelint:waves -->\n{table}<!-- /wavelint:waves -->\n");
    tree.insert("DESIGN-waves.md".to_owned(), text);
    assert_finds(&tree, None, &[]);
}
