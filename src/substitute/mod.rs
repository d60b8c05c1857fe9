//! Flux's `${…}`: its grammar, its evaluation, and what it makes of a built object.
//!
//! Upstream: fluxcd/pkg `envsubst/` for the grammar, `kustomize/kustomize_varsub.go`
//! for the objects. Whether there is anything to substitute at all (no variable and
//! no `substituteStrategy: Always`: nothing is touched) is for the caller to decide.

mod evaluate;
mod functions;
mod grammar;
mod notation;
mod object;

pub use evaluate::{Lookup, Outcome, evaluate};
pub use grammar::{Reason, Reference, SubstitutionError, references};
pub use object::{
    Fault, FaultKind, Retyped, State, Substitution, UnknownText, VariableUse, is_disabled,
    substitute_object,
};

/// True if Flux's substitution would change the text or refuse it: it holds `${` or `$$`.
pub fn contains_substitution(text: &str) -> bool {
    let bytes = text.as_bytes();
    bytes
        .windows(2)
        .any(|pair| pair[0] == b'$' && matches!(pair[1], b'{' | b'$'))
}

/// True if Flux accepts the name as a key of `substitute` or of a source of variables:
/// ASCII letters, digits and `_`, no digit first. One other key fails the whole Kustomization.
pub fn is_valid_name(name: &str) -> bool {
    let word = |byte: u8| byte == b'_' || byte.is_ascii_alphabetic();
    match name.as_bytes() {
        [] => false,
        [first, rest @ ..] => {
            word(*first) && rest.iter().all(|byte| word(*byte) || byte.is_ascii_digit())
        }
    }
}

/// The text that Flux's substitution turns into `text`: each `$` doubled.
pub fn escape(text: &str) -> String {
    text.replace('$', "$$")
}

#[cfg(test)]
mod tests;
