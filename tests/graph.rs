//! `wavelint graph`: what each cluster reconciles, in every format.

mod harness;

use std::process::Command;

use harness::{Tree, testdata};
use serde_json::{Value, json};
use wavelint::config::Config;
use wavelint::draw::{self, ClusterMap};
use wavelint::lint;
use wavelint::snapshot::Snapshot;
use wavelint::terminal::Style;

/// Exit code, standard output and standard error of `wavelint graph`.
fn graph(directory: &str, arguments: &[&str]) -> (i32, String, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_wavelint"))
        .arg("graph")
        .arg(testdata(directory))
        .args(arguments)
        .args(["--no-config", "--color", "never"])
        .output()
        .expect("the binary runs");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("it is UTF-8");
    (
        output.status.code().unwrap_or(-1),
        text(output.stdout),
        text(output.stderr),
    )
}

/// Standard output of a run that succeeds.
fn drawn(directory: &str, arguments: &[&str]) -> String {
    let (code, stdout, stderr) = graph(directory, arguments);
    assert_eq!(code, 0, "{stderr}");
    stdout
}

fn json_of(directory: &str, arguments: &[&str]) -> Value {
    let text = drawn(directory, &[arguments, &["--format", "json"]].concat());
    serde_json::from_str(&text).expect("it is JSON")
}

/// A tree in memory, drawn.
fn in_memory(
    tree: &Tree,
    draw: impl Fn(&[ClusterMap], &wavelint::tree::Files) -> String,
) -> String {
    let snapshot = Snapshot::memory(
        tree.iter()
            .map(|(path, text)| (path.clone(), text.clone().into_bytes())),
    );
    let config = Config::default();
    let mut loaded = lint::load(snapshot, None);
    let head = std::mem::take(&mut loaded.head);
    let repo = lint::understand(&loaded.files, &config, head, None, &[]);
    let maps: Vec<ClusterMap> = repo
        .head
        .flux
        .clusters
        .iter()
        .enumerate()
        .map(|(index, cluster)| ClusterMap::of(cluster, index, &repo.head.waves))
        .collect();
    draw(&maps, repo.files)
}

/// What a function writes, as text.
fn written(write: impl FnOnce(&mut Vec<u8>) -> std::io::Result<()>) -> String {
    let mut bytes = Vec::new();
    write(&mut bytes).expect("memory can be written");
    String::from_utf8(bytes).expect("it is UTF-8")
}

/// A Flux Kustomization; the name stands in double quotes.
fn kustomization(name: &str, depends_on: &[&str]) -> String {
    let mut text = format!(
        "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata:\n  name: \"{name}\"\n  namespace: flux-system\nspec:\n  interval: 10m\n  path: ./parts\n  prune: true\n  sourceRef: {{kind: GitRepository, name: flux-system}}\n"
    );
    if !depends_on.is_empty() {
        text += "  dependsOn:\n";
        for name in depends_on {
            text += &format!("    - name: \"{name}\"\n");
        }
    }
    text
}

/// A cluster of Kustomizations over one ConfigMap.
fn cluster(kustomizations: &[String]) -> Tree {
    Tree::from([
        (
            "clusters/lab/parts.yaml".to_owned(),
            kustomizations.join("---\n"),
        ),
        (
            "parts/config.yaml".to_owned(),
            "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: part\n  namespace: parts\n"
                .to_owned(),
        ),
    ])
}

#[test]
fn the_tree_shows_each_cluster_in_layers() {
    insta::assert_snapshot!(drawn("homelab/waves", &[]), @r"
    clusters/dev  6 Kustomizations, 52 objects, 5 layers
    |- entry point
    |  `- flux-system      clusters/dev     prune              7 objects
    |- layer 0
    |  `- platform         platform         prune wait         1 object, blocks 4
    |- layer 1
    |  `- platform-config  platform-config  prune wait         1 object, after platform, blocks 3
    |- layer 2
    |  `- apps-wave-0      apps/wave-0      prune wait sops   24 objects, wave 0, after platform-config, blocks 2
    |- layer 3
    |  `- apps-wave-1      apps/wave-1      prune wait sops   16 objects, wave 1, after apps-wave-0, blocks 1
    `- layer 4
       `- apps-wave-2      apps/wave-2      prune wait sops    3 objects, wave 2, after apps-wave-1

    clusters/prod  6 Kustomizations, 52 objects, 5 layers
    |- entry point
    |  `- flux-system      clusters/prod    prune         7 objects
    |- layer 0
    |  `- platform         platform         prune wait    1 object, blocks 4
    |- layer 1
    |  `- platform-config  platform-config  prune wait    1 object, after platform, blocks 3
    |- layer 2
    |  `- apps-wave-0      apps/wave-0      prune wait   24 objects, wave 0, after platform-config, blocks 2
    |- layer 3
    |  `- apps-wave-1      apps/wave-1      prune wait   16 objects, wave 1, after apps-wave-0, blocks 1
    `- layer 4
       `- apps-wave-2      apps/wave-2      prune wait    3 objects, wave 2, after apps-wave-1
    ");
}

#[test]
fn the_tree_shows_cycles_and_what_is_not_found() {
    insta::assert_snapshot!(drawn("fault-cases/02-dep-cycle/broken", &[]), @r"
    clusters/lab  4 Kustomizations, 11 objects, 0 layers
    |- entry point
    |  `- flux-system  clusters/lab  prune         5 objects
    `- never reconciled: in a dependsOn cycle, or waiting for one
       |- ember        layers/ember  prune wait    2 objects, after grove  in the cycle
       |- fjord        layers/fjord  prune wait    2 objects, after ember  in the cycle
       `- grove        layers/grove  prune wait    2 objects, after fjord  in the cycle
    ");
    insta::assert_snapshot!(drawn("fault-cases/01-dep-dangling/broken", &[]), @r"
    clusters/lab  5 Kustomizations, 13 objects, 1 layer
    |- entry point
    |  `- flux-system   clusters/lab           prune         6 objects
    `- layer 0
       |- door-access   platform/door-access   prune wait    2 objects
       |- door-config   platform/door-config   prune         1 object, after door-access-flux (not found)
       |- shelf-reader  platform/shelf-reader  prune         1 object, after tide-store-cluster (not found)
       `- tide-store    platform/tide-store    prune wait    3 objects
    ");
}

#[test]
fn the_verbose_tree_says_where_each_is_defined_and_what_it_holds() {
    let text = drawn("homelab/waves", &["--cluster", "clusters/dev", "--verbose"]);
    let from = text.find("|- layer 3").expect("there is a third layer");
    let to = text.find("`- layer 4").expect("and a fourth");
    insta::assert_snapshot!(&text[from..to], @r"
    |- layer 3
    |  `- apps-wave-1      apps/wave-1      prune wait sops   16 objects, wave 1, after apps-wave-0, blocks 1
    |        defined    clusters/base/apps-wave-1.yaml:4
    |        made by    flux-system
    |        source     GitRepository flux-system/flux-system
    |        wave       1 of apps/wave-
    |        after      apps-wave-0
    |        blocks     apps-wave-2
    |        objects    5 Deployment, 5 PersistentVolumeClaim, 5 Service, 1 Secret
    ");
}

#[test]
fn the_json_is_the_contract() {
    let value = json_of("homelab/waves", &["--cluster", "clusters/dev"]);
    assert_eq!(value["version"], 1);
    let clusters = value["clusters"].as_array().expect("a list");
    assert_eq!(clusters.len(), 1);
    assert_eq!(clusters[0]["path"], "clusters/dev");
    assert_eq!(clusters[0]["gaps"], json!([]));
    let kustomizations = clusters[0]["kustomizations"].as_array().expect("a list");
    assert_eq!(
        kustomizations[1],
        json!({
            "namespace": "flux-system",
            "name": "platform",
            "path": "platform",
            "parent": "flux-system/flux-system",
            "dependsOn": [],
            "wait": true,
            "prune": true,
            "depth": 0,
            "objects": ["v1/Namespace//apps"],
            "location": {
                "revision": "head",
                "path": "clusters/base/platform.yaml",
                "start": {"line": 4, "column": 9, "offset": 81},
                "end": {"line": 4, "column": 17, "offset": 89},
            },
        })
    );
    let facts: Vec<Value> = kustomizations
        .iter()
        .map(|one| {
            json!([
                one["name"],
                one["depth"],
                one["dependsOn"],
                one["parent"],
                one["objects"].as_array().map(Vec::len),
            ])
        })
        .collect();
    let root = "flux-system/flux-system";
    assert_eq!(
        facts,
        [
            json!(["flux-system", 0, [], null, 7]),
            json!(["platform", 0, [], root, 1]),
            json!(["platform-config", 1, ["flux-system/platform"], root, 1]),
            json!(["apps-wave-0", 2, ["flux-system/platform-config"], root, 24]),
            json!(["apps-wave-1", 3, ["flux-system/apps-wave-0"], root, 16]),
            json!(["apps-wave-2", 4, ["flux-system/apps-wave-1"], root, 3]),
        ]
    );
}

#[test]
fn the_json_gives_no_depth_to_a_cycle_and_keeps_names_that_are_not_found() {
    let value = json_of("fault-cases/02-dep-cycle/broken", &[]);
    let depths: Vec<&Value> = value["clusters"][0]["kustomizations"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|one| &one["depth"])
        .collect();
    assert_eq!(
        depths,
        [&json!(0), &Value::Null, &Value::Null, &Value::Null]
    );
    let value = json_of("fault-cases/01-dep-dangling/broken", &[]);
    assert_eq!(
        value["clusters"][0]["kustomizations"][2]["dependsOn"],
        json!(["flux-system/door-access-flux"])
    );
}

#[test]
fn the_json_lists_gaps_with_their_places() {
    let mut tree = cluster(&[kustomization("a", &[])]);
    tree.insert(
        "parts/kustomization.yaml".to_owned(),
        "resources:\n  - config.yaml\n  - https://example.com/more.yaml\n".to_owned(),
    );
    let text = in_memory(&tree, |maps, files| {
        written(|out| draw::tree(maps, files, Style::PLAIN, false, out))
    });
    assert!(text.contains("not in the tree: 1 gap"), "{text}");
    assert!(text.contains("parts/kustomization.yaml:3"), "{text}");
    assert!(text.contains("not all known"), "{text}");
}

#[test]
fn only_the_wanted_clusters_are_drawn_and_an_unknown_one_is_refused() {
    let text = drawn("homelab/waves", &["--cluster", "./clusters/prod/"]);
    assert!(text.starts_with("clusters/prod  "), "{text}");
    assert!(!text.contains("clusters/dev"), "{text}");
    let (code, stdout, stderr) = graph("homelab/waves", &["--cluster", "clusters/no"]);
    assert_eq!((code, stdout.as_str()), (2, ""));
    assert!(stderr.contains("`clusters/no` is no cluster"), "{stderr}");
}

#[test]
fn mermaid_has_a_subgraph_a_cluster_and_an_arrow_a_link() {
    let arguments = ["--cluster", "clusters/dev", "--format", "mermaid"];
    insta::assert_snapshot!(drawn("homelab/waves", &arguments), @r#"
    flowchart BT
      classDef bad stroke:#c0392b,stroke-width:2px,color:#c0392b
      classDef missing stroke:#c0392b,stroke-dasharray:4 3,color:#c0392b
      subgraph c0["clusters/dev"]
        c0k0["flux-system<br/>clusters/dev"]
        c0k1["platform<br/>platform"]
        c0k2["platform-config<br/>platform-config"]
        c0k3["apps-wave-0<br/>apps/wave-0"]
        c0k4["apps-wave-1<br/>apps/wave-1"]
        c0k5["apps-wave-2<br/>apps/wave-2"]
        c0k2 --> c0k1
        c0k3 --> c0k2
        c0k4 --> c0k3
        c0k5 --> c0k4
      end
    "#);
    let cycle = drawn("fault-cases/02-dep-cycle/broken", &["--format", "mermaid"]);
    assert!(cycle.contains("linkStyle 0,1,2 stroke"), "{cycle}");
}

#[test]
fn dot_has_a_box_a_cluster_and_marks_what_is_not_found() {
    let arguments = ["--format", "dot"];
    insta::assert_snapshot!(drawn("fault-cases/01-dep-dangling/broken", &arguments), @r#"
    digraph reconciled {
      rankdir=BT;
      node [shape=box, fontname="sans-serif"];
      subgraph cluster_0 {
        label="clusters/lab";
        c0k0 [label="flux-system\nclusters/lab"];
        c0k1 [label="door-access\nplatform/door-access"];
        c0k2 [label="door-config\nplatform/door-config"];
        c0k3 [label="shelf-reader\nplatform/shelf-reader"];
        c0k4 [label="tide-store\nplatform/tide-store"];
        c0m0 [label="door-access-flux\nnot found", style=dashed, color=red];
        c0m1 [label="tide-store-cluster\nnot found", style=dashed, color=red];
        c0k2 -> c0m0 [color=red];
        c0k3 -> c0m1 [color=red];
      }
    }
    "#);
}

#[test]
fn odd_names_are_escaped_in_every_format() {
    let odd = r#"a\"]<b>&\\;`\n\u001b[31m"#;
    let tree = cluster(&[kustomization("plain", &[odd]), kustomization(odd, &[])]);
    let mermaid = in_memory(&tree, |maps, _| written(|out| draw::mermaid(maps, out)));
    let label = "a#34;#93;#60;b#62;#38;#92;#59;#96;#92;n#92;u#123;1b#125;#91;31m<br/>parts";
    assert!(mermaid.contains(&format!("[\"{label}\"]")), "{mermaid}");
    let dot = in_memory(&tree, |maps, _| written(|out| draw::dot(maps, out)));
    let label = r#"label="a\"]<b>&\\;`\\n\\u{1b}[31m\nparts""#;
    assert!(dot.contains(label), "{dot}");
    let svg = in_memory(&tree, |maps, _| written(|out| draw::svg(maps, out)));
    assert!(svg.contains("a&quot;]&lt;b&gt;&amp;"), "{svg}");
    check_well_formed(&svg);
    let tree = in_memory(&tree, |maps, files| {
        written(|out| draw::tree(maps, files, Style::PLAIN, true, out))
    });
    for text in [mermaid, dot, svg, tree] {
        assert!(!text.contains('\u{1b}'), "{text}");
    }
}

#[test]
fn a_hundred_and_fifty_kustomizations_take_a_line_each() {
    let mut all = vec![kustomization("k000", &[])];
    for number in 1..150 {
        let other = if number % 2 == 0 {
            number / 3
        } else {
            number - 1
        };
        let (name, other) = (format!("k{number:03}"), format!("k{other:03}"));
        all.push(kustomization(&name, &[other.as_str()]));
    }
    let tree = cluster(&all);
    let text = in_memory(&tree, |maps, files| {
        written(|out| draw::tree(maps, files, Style::PLAIN, false, out))
    });
    let named = text.lines().filter(|line| line.contains("- k")).count();
    let layers = text
        .lines()
        .filter(|line| line.contains("- layer "))
        .count();
    assert_eq!(named, 150, "{text}");
    // The cluster, the entry point's heading and line.
    assert_eq!(text.lines().count(), 150 + layers + 3, "{text}");
    assert!(text.lines().all(|line| line.len() < 120), "{text}");
    let svg = in_memory(&tree, |maps, _| written(|out| draw::svg(maps, out)));
    check_well_formed(&svg);
    assert_eq!(svg.matches("font-weight=\"600\" fill").count(), 152);
}

#[test]
fn no_two_boxes_of_the_image_lie_on_each_other() {
    let svg = drawn("fault-cases/01-dep-dangling/broken", &["--format", "svg"]);
    check_well_formed(&svg);
    let mut corners: Vec<&str> = svg
        .lines()
        .filter(|line| line.contains("rx=\"6\""))
        .map(|line| line.split(" width").next().unwrap_or_default())
        .collect();
    assert_eq!(
        corners.len(),
        7,
        "five Kustomizations and two that are not found"
    );
    corners.sort_unstable();
    corners.dedup();
    assert_eq!(corners.len(), 7);
    assert_eq!(svg.matches("<path").count(), 2);
}

#[test]
fn the_same_repository_is_drawn_in_the_same_bytes() {
    for format in ["tree", "mermaid", "dot", "svg", "json"] {
        let arguments = ["--format", format];
        assert_eq!(
            drawn("homelab/waves", &arguments),
            drawn("homelab/waves", &arguments)
        );
    }
}

#[test]
fn a_repository_without_a_cluster_says_so() {
    let tree = Tree::from([("notes.txt".to_owned(), "nothing".to_owned())]);
    let text = in_memory(&tree, |maps, files| {
        written(|out| draw::tree(maps, files, Style::PLAIN, false, out))
    });
    assert!(text.starts_with("no cluster"), "{text}");
    let svg = in_memory(&tree, |maps, _| written(|out| draw::svg(maps, out)));
    check_well_formed(&svg);
}

/// Fails unless every element that is opened is closed, in order, and no text holds what XML has no place for.
fn check_well_formed(xml: &str) {
    let mut open: Vec<&str> = Vec::new();
    let mut rest = xml;
    while let Some(at) = rest.find('<') {
        check_text(&rest[..at]);
        let end = rest[at..].find('>').expect("a tag ends") + at;
        let tag = &rest[at + 1..end];
        let name = tag
            .split([' ', '/'])
            .find(|part| !part.is_empty())
            .expect("a tag has a name");
        assert_eq!(tag.matches('"').count() % 2, 0, "{tag}");
        if tag.starts_with('/') {
            assert_eq!(open.pop(), Some(name));
        } else if !tag.ends_with('/') {
            open.push(name);
        }
        rest = &rest[end + 1..];
    }
    check_text(rest);
    assert!(open.is_empty(), "{open:?}");
}

fn check_text(text: &str) {
    for part in text.split('&').skip(1) {
        let entity = part.split(';').next().unwrap_or_default();
        assert!(["amp", "lt", "gt", "quot"].contains(&entity), "{text}");
    }
    assert!(
        !text.contains(|c: char| c.is_control() && c != '\n'),
        "{text:?}"
    );
}

#[test]
fn a_child_stands_behind_what_makes_it_in_every_format() {
    let child = kustomization("child", &[]);
    let parent = kustomization("parent", &["base"]).replace("./parts", "./children");
    let mut tree = cluster(&[kustomization("base", &[]), parent]);
    tree.insert("children/child.yaml".to_owned(), child);
    let drawn = in_memory(&tree, |maps, files| {
        written(|bytes| draw::tree(maps, files, Style::PLAIN, false, bytes))
    });
    insta::assert_snapshot!(drawn, @r"
    clusters/lab  4 Kustomizations, 5 objects, 3 layers
    |- entry point
    |  `- flux-system  clusters/lab  prune    2 objects
    |- layer 0
    |  `- base         parts         prune    1 object, blocks 1
    |- layer 1
    |  `- parent       children      prune    1 object, after base
    `- layer 2
       `- child        parts         prune    1 object, made by parent
    ");
    let depths = in_memory(&tree, |maps, _| {
        maps[0]
            .items
            .iter()
            .map(|item| format!("{} {:?}\n", item.kustomization.name.name, item.depth))
            .collect()
    });
    assert_eq!(
        depths,
        "flux-system Some(0)\nbase Some(0)\nparent Some(1)\nchild Some(2)\n"
    );
    let mermaid = in_memory(&tree, |maps, _| written(|bytes| draw::mermaid(maps, bytes)));
    assert!(mermaid.contains("c0k3 -. made by .-> c0k2"), "{mermaid}");
    let dot = in_memory(&tree, |maps, _| written(|bytes| draw::dot(maps, bytes)));
    assert!(
        dot.contains("c0k3 -> c0k2 [style=dotted, label=\"made by\"]"),
        "{dot}"
    );
    let svg = in_memory(&tree, |maps, _| written(|bytes| draw::svg(maps, bytes)));
    assert!(
        svg.contains("layer 2") && svg.contains("stroke-dasharray=\"1 4\""),
        "{svg}"
    );
}

#[test]
fn a_parent_that_waits_for_its_child_leaves_both_in_a_layer() {
    let child = kustomization("child", &[]);
    let parent = kustomization("parent", &["child"]).replace("./parts", "./children");
    let mut tree = cluster(&[parent]);
    tree.insert("children/child.yaml".to_owned(), child);
    let depths = in_memory(&tree, |maps, _| {
        maps[0]
            .items
            .iter()
            .map(|item| format!("{} {:?}\n", item.kustomization.name.name, item.depth))
            .collect()
    });
    assert_eq!(
        depths,
        "flux-system Some(0)\nchild Some(0)\nparent Some(1)\n"
    );
}
