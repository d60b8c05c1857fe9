//! Small random kustomize trees, the same for the same number on every machine.

/// A tree: paths and texts. The directory to build is `top`.
pub(crate) struct GeneratedTree {
    pub(crate) files: Vec<(String, String)>,
}

/// A xorshift generator: enough for variety, and without a dependency.
struct Random {
    state: u64,
    /// The objects so far: kind, name, namespace. Most patches should find one.
    known: Vec<(&'static str, &'static str, &'static str)>,
    /// From which of them on the directory at work sees them.
    visible: usize,
}

impl Random {
    fn new(seed: u64) -> Self {
        let mut random = Self {
            state: seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1,
            known: Vec::new(),
            visible: 0,
        };
        for _ in 0..8 {
            random.next();
        }
        random
    }

    fn next(&mut self) -> u64 {
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        self.state
    }

    fn below(&mut self, bound: usize) -> usize {
        (self.next() >> 11) as usize % bound
    }

    /// True once in `odds` times.
    fn once_in(&mut self, odds: usize) -> bool {
        self.below(odds) == 0
    }

    fn pick<'a>(&mut self, from: &[&'a str]) -> &'a str {
        from[self.below(from.len())]
    }

    /// One of the objects of a kind, now and then one that is not there.
    fn known_of(&mut self, kind: &str) -> (&'static str, &'static str) {
        let found: Vec<_> = self.known[self.visible..]
            .iter()
            .filter(|(known, ..)| *known == kind)
            .map(|(_, name, namespace)| (*name, *namespace))
            .collect();
        if found.is_empty() || self.once_in(60) {
            return (NAMES[self.below(NAMES.len())], "");
        }
        found[self.below(found.len())]
    }

    /// True if there is an object of a kind.
    fn knows(&self, kind: &str) -> bool {
        self.known[self.visible..]
            .iter()
            .any(|(known, ..)| *known == kind)
    }

    /// A kind of which there is an object, nearly always.
    fn known_kind(&mut self) -> &'static str {
        let visible = self.known.len() - self.visible;
        if visible == 0 || self.once_in(60) {
            return KINDS[self.below(KINDS.len())];
        }
        let at = self.visible + self.below(visible);
        self.known[at].0
    }
}

/// True for an object that is not there yet, and rarely for one that is.
fn is_new(random: &mut Random, kind: &'static str, name: &'static str) -> bool {
    let there = random
        .known
        .iter()
        .any(|(known, other, _)| *known == kind && *other == name);
    !there || random.once_in(40)
}

const NAMES: [&str; 5] = ["heron", "stork", "ibis", "egret", "crane"];
const NAMESPACES: [&str; 4] = ["", "", "marsh", "default"];

const KINDS: [&str; 15] = [
    "Deployment",
    "StatefulSet",
    "Service",
    "ConfigMap",
    "ConfigMap",
    "Secret",
    "Namespace",
    "ServiceAccount",
    "RoleBinding",
    "ClusterRoleBinding",
    "CronJob",
    "Ingress",
    "HelmRelease",
    "Kustomization",
    "Pond",
];

/// The API version of a kind.
fn version(kind: &str) -> &'static str {
    match kind {
        "Deployment" | "StatefulSet" => "apps/v1",
        "RoleBinding" | "ClusterRoleBinding" => "rbac.authorization.k8s.io/v1",
        "CronJob" => "batch/v1",
        "Ingress" => "networking.k8s.io/v1",
        "HelmRelease" => "helm.toolkit.fluxcd.io/v2",
        "Kustomization" => "kustomize.toolkit.fluxcd.io/v1",
        "Pond" => "reeds.example/v1",
        _ => "v1",
    }
}

/// The tree number `seed`.
pub(crate) fn tree(seed: u64) -> GeneratedTree {
    let mut random = Random::new(seed);
    let mut files = Vec::new();
    let bases = 1 + random.below(2);
    for base in 0..bases {
        let directory = format!("base{base}");
        random.visible = random.known.len();
        kustomization(&mut random, &directory, &[], &mut files, base == 0);
    }
    let mut lower: Vec<String> = (0..bases).map(|base| format!("../base{base}")).collect();
    random.visible = 0;
    if random.once_in(3) {
        let entries: Vec<&str> = lower.iter().map(String::as_str).collect();
        kustomization(&mut random, "middle", &entries, &mut files, false);
        lower = vec!["../middle".to_owned()];
    }
    let entries: Vec<&str> = lower.iter().map(String::as_str).collect();
    kustomization(&mut random, "top", &entries, &mut files, false);
    GeneratedTree { files }
}

/// One directory: its resources, its kustomization file, perhaps a component.
fn kustomization(
    random: &mut Random,
    directory: &str,
    entries: &[&str],
    files: &mut Vec<(String, String)>,
    rich: bool,
) {
    let mut resources: Vec<String> = entries.iter().map(|entry| (*entry).to_owned()).collect();
    let own = if rich {
        3 + random.below(3)
    } else {
        random.below(3)
    };
    if own > 0 {
        let documents: Vec<String> = (0..own).map(|_| object(random)).collect();
        files.push((format!("{directory}/birds.yaml"), documents.join("---\n")));
        resources.push("birds.yaml".to_owned());
    }
    let mut text = format!("resources: [{}]\n", resources.join(", "));
    fields(random, directory, &mut text, files);
    if random.once_in(5) {
        let component = format!("{directory}-mixin");
        let mut mixin =
            String::from("apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\n");
        if random.once_in(2) {
            files.push((format!("{component}/frog.yaml"), object(random)));
            mixin.push_str("resources: [frog.yaml]\n");
        }
        fields(random, &component, &mut mixin, files);
        mixin.push_str("buildMetadata: []\n");
        files.push((format!("{component}/kustomization.yaml"), mixin));
        text.push_str(&format!("components: [../{component}]\n"));
    }
    files.push((format!("{directory}/kustomization.yaml"), text));
}

fn metadata(random: &mut Random, kind: &'static str, name: &'static str) -> String {
    let namespace = if matches!(kind, "Namespace" | "ClusterRoleBinding") {
        ""
    } else {
        NAMESPACES[random.below(NAMESPACES.len())]
    };
    random.known.push((kind, name, namespace));
    let mut text = format!("metadata:\n  name: {name}\n");
    if !namespace.is_empty() {
        text.push_str(&format!("  namespace: {namespace}\n"));
    }
    if random.once_in(3) {
        text.push_str(random.pick(&[
            "  labels: {wave: \"1\"}\n",
            "  labels: {app: heron, wave: two}\n",
            "  labels: {}\n",
        ]));
    }
    if random.once_in(4) {
        text.push_str(random.pick(&[
            "  annotations: {note: plain}\n",
            "  annotations: {count: 3, ok: true}\n",
            "  annotations: {config.kubernetes.io/local-config: \"true\"}\n",
            "  annotations: {}\n",
        ]));
    }
    text
}

fn object(random: &mut Random) -> String {
    let (mut kind, mut name) = ("ConfigMap", "heron");
    for _ in 0..20 {
        kind = KINDS[random.below(KINDS.len())];
        name = NAMES[random.below(NAMES.len())];
        if is_new(random, kind, name) {
            break;
        }
    }
    let head = format!(
        "apiVersion: {}\nkind: {kind}\n{}",
        version(kind),
        metadata(random, kind, name)
    );
    head + &body(random, kind)
}

fn body(random: &mut Random, kind: &str) -> String {
    let other = random.pick(&NAMES);
    let third = random.pick(&NAMES);
    match kind {
        "Deployment" | "StatefulSet" => format!(
            "spec:\n  replicas: {}\n  selector: {{matchLabels: {{app: {other}}}}}\n  template:\n{}",
            random.below(4),
            indent(&pod(random, other, third), 4)
        ),
        "CronJob" => format!(
            "spec:\n  schedule: \"0 * * * *\"\n  jobTemplate:\n    spec:\n      template:\n{}",
            indent(&pod(random, other, third), 8)
        ),
        "Service" => format!(
            "spec:\n  selector: {{app: {other}}}\n  ports:\n  - {{name: http, port: 80}}\n  - {{name: dns, port: 53, protocol: UDP}}\n"
        ),
        "ConfigMap" => random
            .pick(&[
                "data: {fish: \"1\"}\n",
                "data:\n  text: |\n    one\n    two\n  folded: >\n    a\n    b\n",
                "data: {}\n",
                "data: {empty: , tilde: ~, frog: yes}\n",
                "",
            ])
            .to_owned(),
        "Secret" => "type: Opaque\ndata: {key: aGVyb24=}\n".to_owned(),
        "ServiceAccount" => format!("imagePullSecrets: [{{name: {other}}}]\n"),
        "RoleBinding" | "ClusterRoleBinding" => format!(
            "roleRef: {{apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: {other}}}\nsubjects:\n- {{kind: ServiceAccount, name: {third}, namespace: marsh}}\n- {{kind: ServiceAccount, name: default}}\n"
        ),
        "Ingress" => format!(
            "spec:\n  rules:\n  - host: a.example\n    http: {{paths: [{{path: /, pathType: Prefix, backend: {{service: {{name: {other}, port: {{number: 80}}}}}}}}]}}\n  tls: [{{secretName: {third}}}]\n"
        ),
        "HelmRelease" => format!(
            "spec:\n  interval: 10m\n  chart: {{spec: {{chart: {other}, version: 1.10}}}}\n  values:\n    list: [a, b]\n    image: {{tag: v1}}\n    gone: null\n  valuesFrom: [{{kind: ConfigMap, name: {third}}}]\n"
        ),
        "Kustomization" => format!(
            "spec:\n  interval: 1h\n  path: ./apps\n  prune: true\n  dependsOn: [{{name: {other}}}, {{name: {third}}}]\n  sourceRef: {{kind: GitRepository, name: flux-system}}\n"
        ),
        "Pond" => format!(
            "spec:\n  depth: 010\n  since: 2020-01-02\n  fish: [{{name: {other}}}]\n  ref: {{name: {third}}}\n"
        ),
        _ => String::new(),
    }
}

fn pod(random: &mut Random, config: &str, secret: &str) -> String {
    let image = random.pick(&[
        "nginx:1.0",
        "nginx",
        "ghcr.io/birds/nginx@sha256:abc",
        "pond:2",
    ]);
    let env = random.pick(&[
        "",
        "    env: [{name: A, value: \"1\"}, {name: B, value: \"2\"}]\n",
        "    env:\n    - {name: A, value: \"1\"}\n    - name: S\n      valueFrom: {secretKeyRef: {name: SECRET, key: k}}\n",
    ]);
    format!(
        "metadata: {{labels: {{app: {config}}}}}\nspec:\n  serviceAccountName: {secret}\n  containers:\n  - name: main\n    image: {image}\n    ports: [{{containerPort: 80}}, {{containerPort: 81, protocol: UDP}}]\n{}    envFrom: [{{configMapRef: {{name: {config}}}}}]\n    volumeMounts: [{{name: data, mountPath: /data}}]\n  - name: side\n    image: side:1\n  volumes:\n  - {{name: data, configMap: {{name: {config}}}}}\n  - {{name: keys, secret: {{secretName: {secret}}}}}\n  tolerations: [{{key: a}}]\n",
        env.replace("SECRET", secret)
    )
}

fn indent(text: &str, by: usize) -> String {
    text.lines()
        .map(|line| format!("{}{line}\n", " ".repeat(by)))
        .collect()
}

/// Some of the fields of a kustomization file.
fn fields(
    random: &mut Random,
    directory: &str,
    text: &mut String,
    files: &mut Vec<(String, String)>,
) {
    if random.once_in(4) {
        text.push_str(random.pick(&["namespace: reeds\n", "namespace: marsh\n"]));
    }
    if random.once_in(5) {
        text.push_str("namePrefix: grey-\n");
    }
    if random.once_in(6) {
        text.push_str("nameSuffix: -two\n");
    }
    if random.once_in(6) {
        text.push_str(random.pick(&[
            "commonLabels: {team: birds}\n",
            "labels: [{pairs: {team: birds}, includeSelectors: true}]\n",
            "labels: [{pairs: {team: birds}, includeTemplates: true}]\n",
            "labels: [{pairs: {team: birds}}, {pairs: {app: pond}}]\n",
        ]));
    }
    if random.once_in(6) {
        text.push_str("commonAnnotations: {watched: \"yes\"}\n");
    }
    if random.once_in(6) {
        text.push_str(random.pick(&[
            "images: [{name: nginx, newTag: \"2\"}]\n",
            "images: [{name: nginx, newName: other/nginx}]\n",
            "images: [{name: ghcr.io/birds/nginx, newTag: v3}, {name: side, digest: sha256:ff}]\n",
        ]));
    }
    if random.once_in(8) && random.knows("Deployment") {
        let (name, _) = random.known_of("Deployment");
        text.push_str(&format!("replicas: [{{name: {name}, count: 5}}]\n"));
    }
    generators(random, directory, text, files);
    patches(random, directory, text, files);
    if random.once_in(10) && random.knows("ConfigMap") {
        let (source, _) = random.known_of("ConfigMap");
        let target = random.known_kind();
        text.push_str(&format!(
            "replacements:\n- source: {{kind: ConfigMap, name: {source}, fieldPath: metadata.name}}\n  targets:\n  - select: {{kind: {target}}}\n    fieldPaths: [metadata.labels.from]\n    options: {{create: true}}\n"
        ));
    }
    if random.once_in(12) {
        files.push((
            format!("{directory}/names.yaml"),
            "nameReference:\n- kind: ConfigMap\n  version: v1\n  fieldSpecs:\n  - {path: spec/valuesFrom/name, kind: HelmRelease}\n  - {path: spec/ref/name, kind: Pond}\n".to_owned(),
        ));
        text.push_str("configurations: [names.yaml]\n");
    }
    if random.once_in(12) {
        text.push_str("sortOptions: {order: fifo}\n");
    }
}

fn generators(
    random: &mut Random,
    directory: &str,
    text: &mut String,
    files: &mut Vec<(String, String)>,
) {
    if random.once_in(3) {
        let behavior = if random.knows("ConfigMap") {
            random.pick(&["", ", behavior: merge", ", behavior: replace"])
        } else {
            ""
        };
        let (mut name, mut space) = random.known_of("ConfigMap");
        if behavior.is_empty() {
            (name, space) = (NAMES[random.below(NAMES.len())], "");
            if !is_new(random, "ConfigMap", name) {
                name = "eel";
            }
            random.known.push(("ConfigMap", name, space));
        }
        let input = random.pick(&[
            "literals: [fish=2, frog=\"3\"]",
            "files: [notes.txt]",
            "envs: [notes.env]",
        ]);
        let namespace = if space.is_empty() {
            String::new()
        } else {
            format!(", namespace: {space}")
        };
        files.push((format!("{directory}/notes.txt"), "one\ntwo\n".to_owned()));
        files.push((
            format!("{directory}/notes.env"),
            "A=1\n# no\nB=\"2\"\nC\n".to_owned(),
        ));
        text.push_str(&format!(
            "configMapGenerator:\n- {{name: {name}, {input}{behavior}{namespace}}}\n"
        ));
        if random.once_in(4) {
            text.push_str("- {name: extra, literals: [a=b], options: {labels: {made: here}, disableNameSuffixHash: true}}\n");
        }
    }
    if random.once_in(5) {
        let name = if random.once_in(20) { "heron" } else { "newt" };
        let name = format!("{name}-{}", directory.replace('/', "-"));
        text.push_str(&format!(
            "secretGenerator:\n- {{name: {name}, literals: [key=value]}}\n"
        ));
    }
    if random.once_in(8) {
        text.push_str("generatorOptions: {annotations: {made: \"yes\"}, immutable: true}\n");
    }
}

fn patches(
    random: &mut Random,
    directory: &str,
    text: &mut String,
    files: &mut Vec<(String, String)>,
) {
    let count = [0, 0, 1, 1, 2, 3][random.below(6)];
    let mut list = String::new();
    for index in 0..count {
        let merge = random.below(3) < 2;
        let kind = random.known_kind();
        let patch = if merge {
            merge_patch(random, kind)
        } else {
            json_patch(random, kind)
        };
        let target = (!merge || random.once_in(2)).then(|| target(random, kind));
        if random.once_in(3) {
            let path = format!("patch{index}.yaml");
            files.push((format!("{directory}/{path}"), patch));
            list.push_str(&format!("- path: {path}\n"));
        } else {
            list.push_str(&format!("- patch: |\n{}", indent(&patch, 4)));
        }
        if let Some(target) = target {
            list.push_str(&format!("  target: {{{target}}}\n"));
        }
    }
    if !list.is_empty() {
        text.push_str(&format!("patches:\n{list}"));
    }
    if random.once_in(12) {
        let kind = random.known_kind();
        let patch = merge_patch(random, kind);
        text.push_str(&format!(
            "patchesStrategicMerge:\n- |\n{}",
            indent(&patch, 2)
        ));
    }
    if random.once_in(14) {
        let kind = random.known_kind();
        let (name, _) = random.known_of(kind);
        text.push_str(&format!(
            "patchesJson6902:\n- target: {{kind: {kind}, name: {name}}}\n  patch: |\n{}",
            indent(&json_patch(random, kind), 4)
        ));
    }
}

fn target(random: &mut Random, kind: &str) -> String {
    let (name, _) = random.known_of(kind);
    match random.below(7) {
        0 => format!("kind: {kind}"),
        1 => format!("kind: {kind}, name: {name}"),
        2 => format!("name: {name}"),
        3 => format!("kind: {kind}, name: \"{}.*\"", &name[..2]),
        4 => "labelSelector: \"wave in (1, two), app!=stork\"".to_owned(),
        5 => "namespace: default|marsh, kind: \".*\"".to_owned(),
        _ => format!("version: v1, kind: {kind}, annotationSelector: note"),
    }
}

fn merge_patch(random: &mut Random, kind: &str) -> String {
    let (name, space) = random.known_of(kind);
    let namespace = if space.is_empty() {
        String::new()
    } else {
        format!(", namespace: {space}")
    };
    let labels = random.pick(&[
        "",
        ", labels: {patched: \"yes\", wave: null}",
        ", annotations: {note: null, count: 4}",
    ]);
    let head = format!(
        "apiVersion: {}\nkind: {kind}\nmetadata: {{name: {name}{namespace}{labels}}}\n",
        version(kind)
    );
    if random.once_in(12) {
        return format!("{head}$patch: delete\n");
    }
    head + match kind {
        "Deployment" | "StatefulSet" => random.pick(&[
            "spec: {replicas: 7, selector: null}\n",
            "spec: {template: {spec: {containers: [{name: side, image: side:2}, {name: new, image: new:1}]}}}\n",
            "spec: {template: {spec: {containers: [{name: main, env: [{name: B, value: x}, {name: C, value: y}]}]}}}\n",
            "spec: {template: {spec: {containers: [{name: side, $patch: delete}], volumes: [{name: keys, emptyDir: {}}]}}}\n",
            "spec: {template: {spec: {containers: [{name: main, ports: [{containerPort: 80, hostPort: 8080}, {containerPort: 81, protocol: TCP}]}], tolerations: [{key: b}]}}}\n",
            "spec: {template: {spec: {containers: [{$patch: replace}, {name: only, image: o:1}]}}}\n",
            "spec: {template: {spec: {containers: [{name: main, $patch: replace, image: o:1}], volumes: [{$patch: delete, name: data}]}}}\n",
            "spec: {template: {metadata: {labels: {$patch: replace, only: this}}, spec: {$patch: delete}}}\n",
        ]),
        "Service" => random.pick(&[
            "spec: {ports: [{port: 80, targetPort: web}, {port: 443, name: tls}]}\n",
            "spec: {ports: [{port: 53, protocol: UDP, name: renamed}]}\n",
            "spec: {ports: null, type: LoadBalancer}\n",
        ]),
        "ConfigMap" => random.pick(&[
            "data: {fish: null, added: \"1\"}\n",
            "data: null\n",
            "data: {$patch: replace, only: this}\n",
            "data: {fish: 7, empty: x}\n",
        ]),
        "HelmRelease" => random.pick(&[
            "spec: {values: {list: [c], image: {tag: null, name: x}}}\n",
            "spec: {valuesFrom: [{kind: Secret, name: heron}], chart: {$patch: replace, spec: {chart: n}}}\n",
            "spec: {values: {a: {b: {c: null, d: 1}}, list: null}}\n",
        ]),
        "Kustomization" => random.pick(&[
            "spec: {dependsOn: [{name: only}], prune: false}\n",
            "spec: {decryption: {provider: sops}, interval: null}\n",
        ]),
        "ServiceAccount" => "secrets: [{name: heron}]\nimagePullSecrets: [{name: x}]\n",
        "CronJob" => "spec: {jobTemplate: {spec: {template: {spec: {containers: [{name: main, image: j:1}]}}}}}\n",
        "Pond" => "spec: {fish: [{name: x}], ref: null, depth: 3}\n",
        _ => "extra: {a: 1}\n",
    }
}

fn json_patch(random: &mut Random, kind: &str) -> String {
    let operations = [
        "- {op: add, path: /metadata/labels, value: {json: \"yes\"}}\n",
        "- {op: add, path: /metadata/annotations, value: {ok: yes, m: 1}}\n",
        "- {op: replace, path: /metadata/name, value: swan}\n",
        "- {op: add, path: /metadata/namespace, value: lake}\n",
        "- {op: copy, from: /metadata/name, path: /metadata/generateName}\n",
        "- {op: add, path: /data, value: {k: 2020-01-01, b: 1.50}}\n",
        "- {op: add, path: /extra, value: [1, yes, null, {a: b}]}\n- {op: add, path: /extra/-2, value: x}\n",
        "- {op: add, path: /metadata/labels, value: {}}\n- {op: add, path: /metadata/labels/a~1b, value: x}\n",
    ];
    let of_kind: &[&str] = match kind {
        "Kustomization" => &[
            "- {op: add, path: /spec/dependsOn/-, value: {name: last}}\n",
            "- {op: add, path: /spec/dependsOn/0, value: {name: first}}\n",
            "- {op: remove, path: /spec/dependsOn/1}\n",
            "- {op: replace, path: /spec/dependsOn/-1, value: {name: z}}\n",
            "- {op: move, from: /spec/dependsOn, path: /spec/moved}\n",
        ],
        "Deployment" | "StatefulSet" => &[
            "- {op: replace, path: /spec/replicas, value: 9}\n",
            "- {op: test, path: /kind, value: Deployment}\n- {op: replace, path: /spec/replicas, value: 4}\n",
            "- {op: replace, path: /spec/template/spec/containers/0/image, value: json:1}\n",
            "- {op: remove, path: /spec/selector}\n",
        ],
        _ => &operations,
    };
    let mut patch = random.pick(of_kind).to_owned();
    if random.once_in(3) {
        patch.push_str(random.pick(&operations));
    }
    patch
}
