//! Writes the demonstration repository (testdata/demo/before and testdata/demo/after) into the program.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

fn main() {
    println!("cargo::rerun-if-changed=testdata/demo");
    let out =
        PathBuf::from(std::env::var_os("OUT_DIR").expect("cargo sets OUT_DIR")).join("demo.rs");
    let mut text = String::new();
    for (name, directory) in [("BEFORE", "before"), ("AFTER", "after")] {
        let root = Path::new("testdata/demo").join(directory);
        let mut files = Vec::new();
        collect(&root, &mut files);
        files.sort();
        let _ = writeln!(
            text,
            "/// All files of one side: path and text.\npub(super) const {name}: &[(&str, &str)] = &["
        );
        for file in files {
            let path = file
                .strip_prefix(&root)
                .expect("it was found below the root");
            let path = path.to_string_lossy().replace('\\', "/");
            let content = std::fs::read_to_string(&file).expect("the demonstration is text");
            let _ = writeln!(text, "    ({path:?}, {content:?}),");
        }
        text.push_str("];\n");
    }
    std::fs::write(out, text).expect("OUT_DIR can be written");
}

fn collect(directory: &Path, files: &mut Vec<PathBuf>) {
    let entries = std::fs::read_dir(directory).expect("the demonstration is part of the package");
    for entry in entries {
        let path = entry.expect("a directory can be listed").path();
        if path.is_dir() {
            collect(&path, files);
        } else {
            files.push(path);
        }
    }
}
