use super::*;
use crate::kustomize::hash::add_suffixes;
use crate::kustomize::transform::names::{prefix, suffix};
use crate::kustomize::transform::namespace;
use crate::kustomize::transform::testing::{node, objects, text};

/// Objects of a base with `namespace: x` and `namePrefix: a-`, those of another with
/// `namePrefix: c-`, and `nameSuffix: -s` above both.
fn built(base: &str, other: &str) -> Vec<Object> {
    let mut base = objects(base);
    namespace::apply(&mut base, &node("x"), &mut Vec::new()).unwrap();
    prefix(&mut base, &node("a-"));
    let mut other = objects(other);
    prefix(&mut other, &node("c-"));
    base.extend(other);
    suffix(&mut base, &node("-s"));
    for object in &mut base {
        object.needs_hash = matches!(object.id().kind.as_str(), "ConfigMap" | "Secret");
    }
    add_suffixes(&mut base, &mut Vec::new());
    base
}

const MAP: &str = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: cm}\ndata: {a: b}\n";
const OTHER_MAP: &str = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: cm}\ndata: {a: c}\n";
const SECRET: &str =
    "apiVersion: v1\nkind: Secret\nmetadata: {name: sec}\ntype: Opaque\ndata: {a: Yg==}\n";

fn last_of(parts: &[&str]) -> String {
    let mut objects = built(&parts.join("---\n"), OTHER_MAP);
    assert!(fix(&mut objects, &[]).is_empty());
    text(&objects[parts.len() - 1..parts.len()])
}

#[test]
fn workloads_follow_config_maps_secrets_and_service_accounts() {
    let deployment = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: d}\n\
        spec: {template: {spec: {serviceAccountName: sa, containers: [{envFrom: [{configMapRef: {name: cm}}, {secretRef: {name: sec}}], env: [{valueFrom: {secretKeyRef: {name: sec}}}]}], volumes: [{configMap: {name: cm}}, {secret: {secretName: sec}}, {configMap: {name: not}}]}}}\n";
    let account = "apiVersion: v1\nkind: ServiceAccount\nmetadata: {name: sa, namespace: old}\n";
    assert_eq!(
        last_of(&[MAP, SECRET, account, deployment]),
        "\
apiVersion: apps/v1
kind: Deployment
metadata:
  name: a-d-s
  namespace: x
spec:
  template:
    spec:
      serviceAccountName: a-sa-s
      containers:
      - envFrom:
        - configMapRef:
            name: a-cm-s-4h2mbtbbt6
        - secretRef:
            name: a-sec-s-k695gkmbtk
        env:
        - valueFrom:
            secretKeyRef:
              name: a-sec-s-k695gkmbtk
      volumes:
      - configMap:
          name: a-cm-s-4h2mbtbbt6
      - secret:
          secretName: a-sec-s-k695gkmbtk
      - configMap:
          name: not
"
    );
}

#[test]
fn bindings_follow_roles_and_the_accounts_they_can_mean() {
    let roles = "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {name: role}\n---\n\
        apiVersion: rbac.authorization.k8s.io/v1\nkind: Role\nmetadata: {name: other}\n";
    let account = "apiVersion: v1\nkind: ServiceAccount\nmetadata: {name: sa, namespace: old}\n";
    for kind in ["RoleBinding", "ClusterRoleBinding"] {
        let binding = format!(
            "apiVersion: rbac.authorization.k8s.io/v1\nkind: {kind}\nmetadata: {{name: b}}\n\
             roleRef: {{apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: role}}\n\
             subjects: [{{kind: ServiceAccount, name: sa, namespace: old}}, {{kind: ServiceAccount, name: sa, namespace: elsewhere}}, {{kind: ServiceAccount, name: sa}}]\n"
        );
        let mut objects = built(&[roles, account, &binding].join("---\n"), OTHER_MAP);
        assert!(fix(&mut objects, &[]).is_empty());
        let binding = &objects[3].node;
        assert_eq!(binding.str_at(&["roleRef", "name"]), Some("a-role-s"));
        let subjects: Vec<_> = binding
            .get("subjects")
            .unwrap()
            .items()
            .iter()
            .map(|subject| (subject.str_at(&["name"]), subject.str_at(&["namespace"])))
            .collect();
        assert_eq!(
            subjects,
            [
                (Some("a-sa-s"), Some("x")),
                (Some("sa"), Some("elsewhere")),
                (Some("a-sa-s"), Some("x"))
            ],
            "{kind}"
        );
    }
}

#[test]
fn lists_of_names_annotations_and_webhook_services_are_followed() {
    let role = "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {name: role}\nrules: [{resourceNames: [sec, cm, other]}]\n";
    let role = last_of(&[MAP, SECRET, role]);
    assert!(role.contains("- a-sec-s-k695gkmbtk\n  - a-cm-s-4h2mbtbbt6\n  - other\n"));
    let service = "apiVersion: v1\nkind: Service\nmetadata: {name: svc}\n";
    let ingress = "apiVersion: networking.k8s.io/v1\nkind: Ingress\nmetadata: {name: i, annotations: {nginx.ingress.kubernetes.io/auth-secret: sec}}\nspec: {ingressClassName: ic, rules: [{http: {paths: [{backend: {service: {name: svc}}}]}}]}\n";
    let class = "apiVersion: networking.k8s.io/v1\nkind: IngressClass\nmetadata: {name: ic}\n";
    let ingress = last_of(&[class, SECRET, service, ingress]);
    assert!(ingress.contains("auth-secret: a-sec-s-k695gkmbtk\n"));
    assert!(ingress.contains("name: a-svc-s\n"));
    assert!(ingress.contains("ingressClassName: ic\n"));
    let webhooks = "apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingWebhookConfiguration\nmetadata: {name: w}\nwebhooks: [{clientConfig: {service: {name: svc, namespace: default}}}, {clientConfig: {service: {name: svc, namespace: foreign}}}]\n";
    let webhooks = last_of(&[service, webhooks]);
    assert!(webhooks.contains("name: a-svc-s\n      namespace: x\n"));
    assert!(webhooks.contains("name: svc\n      namespace: foreign\n"));
}

#[test]
fn objects_of_another_base_or_namespace_are_not_meant() {
    let pod = "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {volumes: [{configMap: {name: cm}}]}\n";
    let mut objects = built(MAP, &[OTHER_MAP, pod].join("---\n"));
    assert!(fix(&mut objects, &[]).is_empty());
    let volumes = objects[2].node.at(&["spec", "volumes"]).unwrap();
    let name = volumes.items()[0].at(&["configMap", "name"]).unwrap();
    assert_eq!(name.as_str(), Some("c-cm-s-8f2d5hh62d"));
    assert_eq!(name.place.file, objects[2].node.place.file);
}

#[test]
fn among_objects_of_one_namespace_the_prefix_decides() {
    let pod = "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {volumes: [{configMap: {name: cm}}]}\n";
    let mut all = Vec::new();
    for affix in ["a-", "b-"] {
        let mut base = objects(&[MAP, pod].join("---\n"));
        prefix(&mut base, &node(affix));
        all.extend(base);
    }
    all.extend(objects(pod));
    assert!(fix(&mut all, &[]).is_empty());
    let names: Vec<_> = [1, 3, 4]
        .map(|index| {
            let volumes = all[index].node.at(&["spec", "volumes"]).unwrap();
            volumes.items()[0].str_at(&["configMap", "name"]).unwrap()
        })
        .into();
    assert_eq!(names, ["a-cm", "b-cm", "cm"]);
}

#[test]
fn a_name_that_several_objects_had_is_refused() {
    let role = "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {name: r}\nrules: [{resourceNames: [cm]}]\n";
    let mut all = objects(&[MAP, OTHER_MAP, role].join("---\n"));
    for object in &mut all[..2] {
        object.needs_hash = true;
    }
    add_suffixes(&mut all, &mut Vec::new());
    let problems = fix(&mut all, &[]);
    assert_eq!(problems.len(), 1);
    assert_eq!(
        problems[0].message,
        "name reference fails on ClusterRole r: several objects were once called ConfigMap cm"
    );
    assert_eq!(problems[0].related.len(), 2);
}

#[test]
fn flux_objects_are_followed_only_where_a_configuration_says_so() {
    let release = "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: r}\nspec: {valuesFrom: [{kind: ConfigMap, name: cm}]}\n";
    let mut objects = built(&[MAP, release].join("---\n"), OTHER_MAP);
    fix(&mut objects, &[]);
    let name = |objects: &[Object]| {
        let values = objects[1].node.at(&["spec", "valuesFrom"]).unwrap();
        values.items()[0].str_at(&["name"]).unwrap().to_owned()
    };
    assert_eq!(name(&objects), "cm");
    let extra = from_configuration(&node(
        "nameReference:\n- kind: ConfigMap\n  version: v1\n  fieldSpecs:\n  - path: spec/valuesFrom/name\n    kind: HelmRelease\n",
    ));
    assert!(fix(&mut objects, &extra).is_empty());
    assert_eq!(name(&objects), "a-cm-s-4h2mbtbbt6");
}

#[test]
fn a_subject_without_name_is_refused() {
    let binding = "apiVersion: rbac.authorization.k8s.io/v1\nkind: RoleBinding\nmetadata: {name: b}\nsubjects: [{kind: Group}]\n";
    let mut objects = built(binding, OTHER_MAP);
    let problems = fix(&mut objects, &[]);
    assert_eq!(
        problems[0].message,
        "name reference fails on RoleBinding x/a-b-s: a name is missing"
    );
}
