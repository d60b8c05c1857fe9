//! What kustomize 5.5 printed for small trees, or that it refused them.

/// What it is, its files, and what kustomize prints; `None` if it refuses.
pub(crate) type Case = (
    &'static str,
    &'static [(&'static str, &'static str)],
    Option<&'static str>,
);

/// All of them.
pub(crate) const CASES: &[Case] = &[
    (
        "a JSON patch adds the first annotation",
        &[
            (
                "cm.yaml",
                "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: cm}\n",
            ),
            (
                "kustomization.yaml",
                "resources: [cm.yaml]\npatches:\n- target: {kind: ConfigMap}\n  patch: |\n    - op: add\n      path: /metadata/annotations/foo\n      value: bar\n",
            ),
        ],
        Some(
            "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  annotations:\n    foo: bar\n  name: cm\n",
        ),
    ),
    (
        "a JSON patch replaces an annotation that is not there",
        &[
            (
                "cm.yaml",
                "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: cm}\n",
            ),
            (
                "kustomization.yaml",
                "resources: [cm.yaml]\npatches:\n- target: {kind: ConfigMap}\n  patch: |\n    - op: replace\n      path: /metadata/annotations/foo\n      value: bar\n",
            ),
        ],
        Some(
            "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  annotations:\n    foo: bar\n  name: cm\n",
        ),
    ),
    (
        "a JSON patch removes annotations that are not there",
        &[
            (
                "cm.yaml",
                "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: cm}\n",
            ),
            (
                "kustomization.yaml",
                "resources: [cm.yaml]\npatches:\n- target: {kind: ConfigMap}\n  patch: |\n    - op: remove\n      path: /metadata/annotations\n",
            ),
        ],
        Some("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: cm\n"),
    ),
    (
        "a JSON patch removes one annotation that is not there",
        &[
            (
                "cm.yaml",
                "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: cm}\n",
            ),
            (
                "kustomization.yaml",
                "resources: [cm.yaml]\npatches:\n- target: {kind: ConfigMap}\n  patch: |\n    - op: remove\n      path: /metadata/annotations/foo\n",
            ),
        ],
        None,
    ),
    (
        "annotations are never null for a JSON patch",
        &[
            (
                "cm.yaml",
                "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: cm}\n",
            ),
            (
                "kustomization.yaml",
                "resources: [cm.yaml]\npatches:\n- target: {kind: ConfigMap}\n  patch: |\n    - op: test\n      path: /metadata/annotations\n      value: null\n",
            ),
        ],
        None,
    ),
    (
        "annotations written as null",
        &[
            (
                "cm.yaml",
                "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: cm}\n",
            ),
            (
                "kustomization.yaml",
                "resources: [cm.yaml]\npatches:\n- target: {kind: ConfigMap}\n  patch: |\n    - op: add\n      path: /metadata/annotations\n      value: null\n",
            ),
        ],
        Some("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: cm\n"),
    ),
    (
        "a JSON patch adds the first label",
        &[
            (
                "cm.yaml",
                "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: cm}\n",
            ),
            (
                "kustomization.yaml",
                "resources: [cm.yaml]\npatches:\n- target: {kind: ConfigMap}\n  patch: |\n    - op: add\n      path: /metadata/labels/foo\n      value: bar\n",
            ),
        ],
        None,
    ),
    (
        "patchesJson6902 on what nothing has renamed",
        &[
            (
                "cm.yaml",
                "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: cm}\n",
            ),
            (
                "kustomization.yaml",
                "resources: [cm.yaml]\npatchesJson6902:\n- target: {version: v1, kind: ConfigMap, name: cm}\n  patch: '[{\"op\":\"add\",\"path\":\"/metadata/annotations/foo\",\"value\":\"x\"}]'\n",
            ),
        ],
        None,
    ),
    (
        "patchesJson6902 after a prefix",
        &[
            (
                "cm.yaml",
                "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: cm}\n",
            ),
            (
                "kustomization.yaml",
                "resources: [cm.yaml]\nnamePrefix: x-\npatchesJson6902:\n- target: {version: v1, kind: ConfigMap, name: cm}\n  patch: '[{\"op\":\"add\",\"path\":\"/metadata/annotations/foo\",\"value\":\"x\"}]'\n",
            ),
        ],
        Some(
            "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  annotations:\n    foo: x\n  name: x-cm\n",
        ),
    ),
    (
        "patchesJson6902 on what is generated",
        &[(
            "kustomization.yaml",
            "configMapGenerator: [{name: cm, literals: [a=b]}]\npatchesJson6902:\n- target: {version: v1, kind: ConfigMap, name: cm}\n  patch: '[{\"op\":\"add\",\"path\":\"/metadata/annotations/foo\",\"value\":\"x\"}]'\n",
        )],
        Some(
            "apiVersion: v1\ndata:\n  a: b\nkind: ConfigMap\nmetadata:\n  annotations:\n    foo: x\n  name: cm-4h2mbtbbt6\n",
        ),
    ),
    (
        "patchesJson6902 after a JSON patch",
        &[
            (
                "cm.yaml",
                "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: cm}\n",
            ),
            (
                "kustomization.yaml",
                "resources: [cm.yaml]\npatches: [{target: {kind: ConfigMap}, patch: '[{\"op\":\"add\",\"path\":\"/data\",\"value\":{\"a\":\"x\"}}]'}]\npatchesJson6902:\n- target: {version: v1, kind: ConfigMap, name: cm}\n  patch: '[{\"op\":\"add\",\"path\":\"/metadata/annotations/foo\",\"value\":\"x\"}]'\n",
            ),
        ],
        Some(
            "apiVersion: v1\ndata:\n  a: x\nkind: ConfigMap\nmetadata:\n  annotations:\n    foo: x\n  name: cm\n",
        ),
    ),
    (
        "a JSON patch replaces the whole object",
        &[
            (
                "cm.yaml",
                "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: cm, labels: {a: b}}\n",
            ),
            (
                "kustomization.yaml",
                "resources: [cm.yaml]\npatches:\n- target: {kind: ConfigMap}\n  patch: |\n    - op: replace\n      path: \"\"\n      value: {apiVersion: v1, kind: ConfigMap, metadata: {name: cm}, data: {b: c}}\n",
            ),
        ],
        Some("apiVersion: v1\ndata:\n  b: c\nkind: ConfigMap\nmetadata:\n  name: cm\n"),
    ),
    (
        "a JSON patch replaces the object with a list",
        &[
            (
                "cm.yaml",
                "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: cm, labels: {a: b}}\n",
            ),
            (
                "kustomization.yaml",
                "resources: [cm.yaml]\npatches:\n- target: {kind: ConfigMap}\n  patch: |\n    - op: replace\n      path: \"\"\n      value: [a]\n",
            ),
        ],
        None,
    ),
    (
        "a JSON patch adds at the root",
        &[
            (
                "cm.yaml",
                "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: cm, labels: {a: b}}\n",
            ),
            (
                "kustomization.yaml",
                "resources: [cm.yaml]\npatches:\n- target: {kind: ConfigMap}\n  patch: |\n    - op: add\n      path: \"\"\n      value: {a: b}\n",
            ),
        ],
        None,
    ),
    (
        "a file with a slash behind it",
        &[
            (
                "cm.yaml",
                "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: cm}\n",
            ),
            ("kustomization.yaml", "resources: [cm.yaml/]\n"),
        ],
        Some("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: cm\n"),
    ),
    (
        "a lone dash in braces",
        &[
            (
                "cm.yaml",
                "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: cm}\ndata: {a: -}\n",
            ),
            ("kustomization.yaml", "resources: [cm.yaml]\n"),
        ],
        Some("apiVersion: v1\ndata:\n  a: '-'\nkind: ConfigMap\nmetadata:\n  name: cm\n"),
    ),
    (
        "a lone dash before a comma",
        &[
            (
                "cm.yaml",
                "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: cm}\ndata: {a: -, b: c}\n",
            ),
            ("kustomization.yaml", "resources: [cm.yaml]\n"),
        ],
        Some("apiVersion: v1\ndata:\n  a: '-'\n  b: c\nkind: ConfigMap\nmetadata:\n  name: cm\n"),
    ),
    (
        "a lone dash in brackets",
        &[
            (
                "cm.yaml",
                "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: cm}\ndata: [-]\n",
            ),
            ("kustomization.yaml", "resources: [cm.yaml]\n"),
        ],
        Some("apiVersion: v1\ndata:\n- '-'\nkind: ConfigMap\nmetadata:\n  name: cm\n"),
    ),
    (
        "a dash with text behind it in brackets",
        &[
            (
                "cm.yaml",
                "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: cm}\ndata: [- a]\n",
            ),
            ("kustomization.yaml", "resources: [cm.yaml]\n"),
        ],
        None,
    ),
    (
        "a comment right behind quotes",
        &[
            (
                "cm.yaml",
                "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: cm}\ndata: {}\nb: \"x\"#c\n",
            ),
            ("kustomization.yaml", "resources: [cm.yaml]\n"),
        ],
        Some("apiVersion: v1\nb: x\ndata: {}\nkind: ConfigMap\nmetadata:\n  name: cm\n"),
    ),
    (
        "a comment right behind single quotes",
        &[
            (
                "cm.yaml",
                "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: cm}\nb: 'x'#c\n",
            ),
            ("kustomization.yaml", "resources: [cm.yaml]\n"),
        ],
        Some("apiVersion: v1\nb: x\nkind: ConfigMap\nmetadata:\n  name: cm\n"),
    ),
    (
        "a comment right behind brackets",
        &[
            (
                "cm.yaml",
                "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: cm}\nb: [\"x\"]#c\n",
            ),
            ("kustomization.yaml", "resources: [cm.yaml]\n"),
        ],
        Some("apiVersion: v1\nb:\n- x\nkind: ConfigMap\nmetadata:\n  name: cm\n"),
    ),
    (
        "a comment between a key and its colon",
        &[
            (
                "cm.yaml",
                "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: cm}\n\"b\"#c: x\n",
            ),
            ("kustomization.yaml", "resources: [cm.yaml]\n"),
        ],
        None,
    ),
    (
        "rubbish behind the end of a document",
        &[
            (
                "cm.yaml",
                "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: cm}\n...\nrubbish: [\n",
            ),
            ("kustomization.yaml", "resources: [cm.yaml]\n"),
        ],
        Some("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: cm\n"),
    ),
    (
        "rubbish and then a document",
        &[
            (
                "cm.yaml",
                "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: cm}\n...\nrubbish: [\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: d}\n\n",
            ),
            ("kustomization.yaml", "resources: [cm.yaml]\n"),
        ],
        Some(
            "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: cm\n---\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: d\n",
        ),
    ),
    (
        "an end of a document inside quotes",
        &[
            (
                "cm.yaml",
                "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: cm}\na: \"b\n...\nrubbish: [\n",
            ),
            ("kustomization.yaml", "resources: [cm.yaml]\n"),
        ],
        None,
    ),
    (
        "a number that is too large",
        &[
            (
                "cm.yaml",
                "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: cm}\ndata: {a: 1e400, b: -1e999}\n",
            ),
            ("kustomization.yaml", "resources: [cm.yaml]\n"),
        ],
        Some(
            "apiVersion: v1\ndata:\n  a: 1e400\n  b: -1e999\nkind: ConfigMap\nmetadata:\n  name: cm\n",
        ),
    ),
    (
        "a byte order mark at the second document",
        &[
            (
                "cm.yaml",
                "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: cm}\n---\n\u{feff}apiVersion: v1\nkind: ConfigMap\nmetadata: {name: d}\n\n",
            ),
            ("kustomization.yaml", "resources: [cm.yaml]\n"),
        ],
        Some(
            "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: cm\n---\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: d\n",
        ),
    ),
    (
        "explicit tags",
        &[
            (
                "cm.yaml",
                "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: cm}\nx: {b: !!int \"3\", d: !!binary aGVsbG8=, f: ! 12, g: !!float \"3.0\", h: !!bool \"true\", i: !!null \"null\", j: !!str 3, k: !foo 12, l: !!int 3, m: ! \"12\"}\n",
            ),
            ("kustomization.yaml", "resources: [cm.yaml]\n"),
        ],
        Some(
            "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: cm\nx:\n  b: 3\n  d: hello\n  f: 12\n  g: 3\n  h: true\n  i: null\n  j: \"3\"\n  k: \"12\"\n  l: 3\n  m: \"12\"\n",
        ),
    ),
    (
        "a merge key in quotes",
        &[
            (
                "cm.yaml",
                "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: cm}\nx: {\"<<\": foo, b: c}\n",
            ),
            ("kustomization.yaml", "resources: [cm.yaml]\n"),
        ],
        Some("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: cm\nx:\n  b: c\n"),
    ),
    (
        "a merge key in quotes with a map",
        &[
            (
                "cm.yaml",
                "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: cm}\n'<<': {q: r}\n",
            ),
            ("kustomization.yaml", "resources: [cm.yaml]\n"),
        ],
        Some("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: cm\n"),
    ),
    (
        "annotations of kustomize itself",
        &[
            (
                "cm.yaml",
                "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: cm\n  annotations:\n    config.kubernetes.io/index: \"3\"\n    config.kubernetes.io/path: x\n    internal.config.kubernetes.io/path: \"3\"\n    internal.config.kubernetes.io/foo: \"1\"\n    config.kubernetes.io/id: \"1\"\n",
            ),
            ("kustomization.yaml", "resources: [cm.yaml]\n"),
        ],
        Some(
            "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  annotations:\n    config.kubernetes.io/id: \"1\"\n    internal.config.kubernetes.io/foo: \"1\"\n  name: cm\n",
        ),
    ),
    (
        "two merge keys",
        &[
            (
                "cm.yaml",
                "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: cm}\nx: {<<: {a: b}, <<: {c: d}}\n",
            ),
            ("kustomization.yaml", "resources: [cm.yaml]\n"),
        ],
        None,
    ),
    (
        "a merge key with text",
        &[
            (
                "cm.yaml",
                "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: cm}\nx: {<<: foo}\n",
            ),
            ("kustomization.yaml", "resources: [cm.yaml]\n"),
        ],
        None,
    ),
    (
        "an empty merge key",
        &[
            (
                "cm.yaml",
                "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: cm}\nx:\n  <<:\n  a: b\n",
            ),
            ("kustomization.yaml", "resources: [cm.yaml]\n"),
        ],
        None,
    ),
    (
        "a merge key with a list of maps",
        &[
            (
                "cm.yaml",
                "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: cm}\nx: {<<: [{a: b}, {c: d}]}\n",
            ),
            ("kustomization.yaml", "resources: [cm.yaml]\n"),
        ],
        Some("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: cm\nx:\n  a: b\n  c: d\n"),
    ),
    (
        "a merge key with an empty list",
        &[
            (
                "cm.yaml",
                "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: cm}\nx: {<<: []}\n",
            ),
            ("kustomization.yaml", "resources: [cm.yaml]\n"),
        ],
        Some("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: cm\nx: {}\n"),
    ),
    (
        "a merge key with a list of texts",
        &[
            (
                "cm.yaml",
                "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: cm}\nx: {<<: [a]}\n",
            ),
            ("kustomization.yaml", "resources: [cm.yaml]\n"),
        ],
        None,
    ),
    (
        "an escape of JSON",
        &[
            (
                "cm.yaml",
                "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: cm}\nx: \"a\\/b\"\n",
            ),
            ("kustomization.yaml", "resources: [cm.yaml]\n"),
        ],
        None,
    ),
    (
        "half a character",
        &[
            (
                "cm.yaml",
                "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: cm}\nx: \"\\ud83d\\ude00\"\n",
            ),
            ("kustomization.yaml", "resources: [cm.yaml]\n"),
        ],
        None,
    ),
    (
        "escapes",
        &[
            (
                "cm.yaml",
                "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: cm}\nx: \"\\\\/ \\u0041 \\x41\"\n",
            ),
            ("kustomization.yaml", "resources: [cm.yaml]\n"),
        ],
        Some("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: cm\nx: \\/ A A\n"),
    ),
    (
        "a question mark in braces",
        &[
            (
                "cm.yaml",
                "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: cm}\na: {c: ?x}\n",
            ),
            ("kustomization.yaml", "resources: [cm.yaml]\n"),
        ],
        None,
    ),
    (
        "a colon in braces",
        &[
            (
                "cm.yaml",
                "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: cm}\na: {c: :x}\n",
            ),
            ("kustomization.yaml", "resources: [cm.yaml]\n"),
        ],
        None,
    ),
    (
        "a colon outside braces",
        &[
            (
                "cm.yaml",
                "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: cm}\na: :x\n",
            ),
            ("kustomization.yaml", "resources: [cm.yaml]\n"),
        ],
        Some("a: :x\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: cm\n"),
    ),
    (
        "a question mark outside braces",
        &[
            (
                "cm.yaml",
                "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: cm}\na: ?x\n",
            ),
            ("kustomization.yaml", "resources: [cm.yaml]\n"),
        ],
        Some("a: ?x\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: cm\n"),
    ),
    (
        "text as integer",
        &[
            (
                "cm.yaml",
                "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: cm}\nx: {a: !!int x}\n",
            ),
            ("kustomization.yaml", "resources: [cm.yaml]\n"),
        ],
        None,
    ),
    (
        "text as null",
        &[
            (
                "cm.yaml",
                "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: cm}\nx: {a: !!null x}\n",
            ),
            ("kustomization.yaml", "resources: [cm.yaml]\n"),
        ],
        None,
    ),
    (
        "text as float",
        &[
            (
                "cm.yaml",
                "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: cm}\nx: {a: !!float x}\n",
            ),
            ("kustomization.yaml", "resources: [cm.yaml]\n"),
        ],
        None,
    ),
    (
        "a fraction as integer",
        &[
            (
                "cm.yaml",
                "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: cm}\nx: {a: !!int 3.5}\n",
            ),
            ("kustomization.yaml", "resources: [cm.yaml]\n"),
        ],
        None,
    ),
    (
        "an integer as float",
        &[
            (
                "cm.yaml",
                "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: cm}\nx: {a: !!float 3}\n",
            ),
            ("kustomization.yaml", "resources: [cm.yaml]\n"),
        ],
        Some("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: cm\nx:\n  a: 3\n"),
    ),
    (
        "numbers of other bases",
        &[
            (
                "cm.yaml",
                "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: cm}\nx: {a: !!int 0x10, b: !!int 010}\n",
            ),
            ("kustomization.yaml", "resources: [cm.yaml]\n"),
        ],
        Some("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: cm\nx:\n  a: 16\n  b: 8\n"),
    ),
    (
        "a tab for indentation in a text",
        &[
            (
                "cm.yaml",
                "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: cm}\na: |\n  \tx\n",
            ),
            ("kustomization.yaml", "resources: [cm.yaml]\n"),
        ],
        None,
    ),
    (
        "a tab inside a text",
        &[
            (
                "cm.yaml",
                "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: cm}\na: |\n  x\n  \ty\n",
            ),
            ("kustomization.yaml", "resources: [cm.yaml]\n"),
        ],
        Some("a: \"x\\n\\ty\\n\"\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: cm\n"),
    ),
];
