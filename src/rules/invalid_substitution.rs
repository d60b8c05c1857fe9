//! `invalid-substitution`: text that Flux's substitution rejects.

use super::variables::is_script;
use super::{Group, Rule};
use crate::finding::{Finding, Severity};
use crate::repo::Repo;
use crate::substitute::FaultKind;

pub(super) static RULE: Rule = Rule {
    name: "invalid-substitution",
    group: Group::Variables,
    summary: "text that Flux's substitution rejects",
    page: include_str!("../../rules/invalid-substitution.md"),
    off_by_default: false,
    compares: false,
    check,
};

fn check(repo: &Repo) -> Vec<Finding> {
    let mut findings = Vec::new();
    for cluster in &repo.head.flux.clusters {
        for kustomization in &cluster.kustomizations {
            for (index, fault) in &kustomization.substitution.faults {
                let subject = match fault.kind {
                    FaultKind::Undefined => continue,
                    FaultKind::Grammar => "cannot be substituted: ",
                    FaultKind::Structure => "",
                };
                let help = match fault.kind {
                    FaultKind::Structure => {
                        "change the value, or put it between quotes that survive: `${q}${…}${q}` with a variable q that is `\"`"
                    }
                    _ if is_script(&fault.path, &fault.scalar) => {
                        "write `$${…}` for what is the script's own, or annotate the object with `kustomize.toolkit.fluxcd.io/substitute: disabled`"
                    }
                    _ => "correct it, or write `$${…}` if Flux is to leave it alone",
                };
                let object = &kustomization.build.objects[*index];
                findings.push(
                    Finding::new(
                        RULE.name,
                        Severity::Error,
                        fault.place(repo.files.text(fault.scalar.place.file)),
                        format!("{subject}{}", fault.message),
                    )
                    .help(format!(
                        "{help}; until then nothing of Kustomization `{}` is applied",
                        kustomization.name
                    ))
                    .cluster(&cluster.path)
                    .related(object.name_place(), format!("in {}", object.id()))
                    .related(
                        kustomization.place,
                        format!("`{}` substitutes", kustomization.name),
                    ),
                );
            }
        }
    }
    findings
}
