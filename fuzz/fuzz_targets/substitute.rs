//! Any text is substituted or refused.
#![no_main]

use libfuzzer_sys::fuzz_target;
use wavelint::substitute::{Lookup, contains_substitution, escape, evaluate, references};

fuzz_target!(|text: &str| {
    let lookup = |name: &str| match name.len() % 3 {
        0 => Lookup::Unset,
        1 => Lookup::Value("value"),
        _ => Lookup::Unknown,
    };
    for strict in [false, true] {
        let _ = evaluate(text, strict, &lookup);
    }
    let _ = references(text);
    let _ = contains_substitution(&escape(text));
});
