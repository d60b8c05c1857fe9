//! A tree for the terminal: one line a Kustomization, in layers.

use std::io::{self, Write};

use super::map::{ClusterMap, Item};
use crate::terminal::{Style, visible};
use crate::tree::Files;

/// More names than these are only counted in a line.
const NAMES_IN_A_LINE: usize = 3;

/// The pieces that a tree is drawn with.
struct Pieces {
    branch: &'static str,
    last: &'static str,
    trunk: &'static str,
    more: &'static str,
}

const UNICODE: Pieces = Pieces {
    branch: "├─ ",
    last: "└─ ",
    trunk: "│  ",
    more: "…",
};

const ASCII: Pieces = Pieces {
    branch: "|- ",
    last: "`- ",
    trunk: "|  ",
    more: "...",
};

/// Draws clusters; with `verbose`, each Kustomization in several lines.
///
/// # Errors
/// When the writer refuses.
pub fn tree(
    clusters: &[ClusterMap],
    files: &Files,
    style: Style,
    verbose: bool,
    writer: &mut impl Write,
) -> io::Result<()> {
    if clusters.is_empty() {
        return writeln!(
            writer,
            "no cluster: nothing in this repository says where Flux is pointed"
        );
    }
    for (index, map) in clusters.iter().enumerate() {
        if index > 0 {
            writeln!(writer)?;
        }
        let drawing = Drawing {
            map,
            files,
            style,
            pieces: if style.unicode { &UNICODE } else { &ASCII },
            verbose,
        };
        drawing.cluster(writer)?;
    }
    Ok(())
}

/// A layer's heading and its members.
struct Group {
    title: String,
    alarming: bool,
    members: Vec<usize>,
}

struct Drawing<'a> {
    map: &'a ClusterMap<'a>,
    files: &'a Files,
    style: Style,
    pieces: &'static Pieces,
    verbose: bool,
}

impl Drawing<'_> {
    fn cluster(&self, writer: &mut impl Write) -> io::Result<()> {
        let map = self.map;
        let path = if map.path.is_empty() { "." } else { map.path };
        writeln!(
            writer,
            "{}  {}",
            self.style.bold(&visible(path)),
            self.style.dim(&format!(
                "{}, {}, {}",
                count(map.items.len(), "Kustomization"),
                count(map.objects(), "object"),
                count(map.layers(), "layer")
            ))
        )?;
        let groups = self.groups();
        let columns = self.columns();
        let has_gaps = !map.gaps.is_empty();
        for (index, group) in groups.iter().enumerate() {
            let last = index + 1 == groups.len() && !has_gaps;
            let (head, trunk) = self.joint(last);
            let title = if group.alarming {
                self.style.red(&group.title)
            } else {
                self.style.dim(&group.title)
            };
            writeln!(writer, "{}{title}", self.style.dim(head))?;
            for (at, member) in group.members.iter().enumerate() {
                let (head, below) = self.joint(at + 1 == group.members.len());
                let item = &map.items[*member];
                writeln!(
                    writer,
                    "{}{}",
                    self.style.dim(&format!("{trunk}{head}")),
                    self.line(item, columns).trim_end()
                )?;
                if self.verbose {
                    for detail in self.details(item) {
                        writeln!(
                            writer,
                            "{}   {detail}",
                            self.style.dim(&format!("{trunk}{below}"))
                        )?;
                    }
                }
            }
        }
        if has_gaps {
            self.gaps(writer)?;
        }
        Ok(())
    }

    fn joint(&self, last: bool) -> (&'static str, &'static str) {
        if last {
            (self.pieces.last, "   ")
        } else {
            (self.pieces.branch, self.pieces.trunk)
        }
    }

    fn groups(&self) -> Vec<Group> {
        let mut groups: Vec<Group> = Vec::new();
        for (index, item) in self.map.items.iter().enumerate() {
            let title = match item.depth {
                _ if item.root => "entry point".to_owned(),
                Some(depth) => format!("layer {depth}"),
                None => "never reconciled: in a dependsOn cycle, or waiting for one".to_owned(),
            };
            match groups.last_mut() {
                Some(group) if group.title == title => group.members.push(index),
                _ => groups.push(Group {
                    alarming: item.depth.is_none(),
                    title,
                    members: vec![index],
                }),
            }
        }
        groups
    }

    /// The widths of the columns: name, path, flags.
    fn columns(&self) -> [usize; 3] {
        let mut widths = [0; 3];
        let limits = [56, 72, 24];
        for item in &self.map.items {
            let cells = self.cells(item);
            for (width, (cell, limit)) in widths.iter_mut().zip(cells.iter().zip(limits)) {
                *width = (*width).max(cell.chars().count().min(limit));
            }
        }
        widths
    }

    fn cells(&self, item: &Item) -> [String; 3] {
        [
            self.map.name(&item.kustomization.name),
            visible(match item.path() {
                Some("") => ".",
                Some(path) => path,
                None => "?",
            }),
            item.flags().join(" "),
        ]
    }

    /// Name, path, flags, then what is worth knowing of it.
    fn line(&self, item: &Item, [name_width, path_width, flags_width]: [usize; 3]) -> String {
        let [name, path, flags] = self.cells(item);
        let mut line = format!(
            "{}  {path:path_width$}  {}",
            self.style.cyan(&format!("{name:name_width$}")),
            self.style.dim(&format!("{flags:flags_width$}")),
        );
        let objects = item.kustomization.build.objects.len();
        let mut facts = vec![format!(
            "{objects:>3} {}",
            if objects == 1 { "object" } else { "objects" }
        )];
        if let Some((_, number)) = item.wave {
            facts.push(format!("wave {number}"));
        }
        if !item.depends_on.is_empty() {
            let names: Vec<String> = item
                .depends_on
                .iter()
                .map(|dependency| {
                    let name = self.map.name(&dependency.target);
                    match dependency.item {
                        Some(_) => name,
                        None => self.style.red(&format!("{name} (not found)")),
                    }
                })
                .collect();
            facts.push(format!("after {}", self.shortened(&names)));
        }
        if let Some(parent) = item.made_by(self.map) {
            let parent = &self.map.items[parent].kustomization.name;
            facts.push(format!("made by {}", self.map.name(parent)));
        }
        if !item.blocks.is_empty() && !item.in_cycle {
            facts.push(format!("blocks {}", item.blocks.len()));
        }
        line += "  ";
        line += &facts.join(", ");
        if item.in_cycle {
            line += &self.style.red("  in the cycle");
        }
        if let Some(problem) = item.problem {
            line += &self.style.yellow(&format!("  {}", problem.as_str()));
        }
        line
    }

    fn shortened(&self, names: &[String]) -> String {
        let mut shown = names
            .iter()
            .take(NAMES_IN_A_LINE)
            .cloned()
            .collect::<Vec<_>>()
            .join(", ");
        if names.len() > NAMES_IN_A_LINE {
            shown += &format!(
                " {} {} more",
                self.pieces.more,
                names.len() - NAMES_IN_A_LINE
            );
        }
        shown
    }

    /// What `-v` adds, a line each.
    fn details(&self, item: &Item) -> Vec<String> {
        let mut lines = Vec::new();
        let mut say = |what: &str, value: String| {
            if !value.is_empty() {
                lines.push(format!("{}  {value}", self.style.dim(&format!("{what:9}"))));
            }
        };
        let names = |positions: &[usize]| -> String {
            positions
                .iter()
                .filter_map(|position| self.map.items.get(*position))
                .map(|other| self.map.name(&other.kustomization.name))
                .collect::<Vec<_>>()
                .join(", ")
        };
        let kustomization = item.kustomization;
        say(
            "defined",
            format!(
                "{}:{}{}",
                visible(self.files.path(kustomization.place.file)),
                self.files.line(kustomization.place),
                if kustomization.implied {
                    " (as bootstrap makes it)"
                } else {
                    ""
                }
            ),
        );
        say(
            "made by",
            item.parent
                .map(|parent| names(&[parent]))
                .unwrap_or_default(),
        );
        say(
            "source",
            kustomization
                .spec
                .source
                .as_ref()
                .map(|source| visible(&source.to_string()))
                .unwrap_or_default(),
        );
        say(
            "wave",
            item.wave
                .map(|(set, number)| format!("{number} of {}", visible(set)))
                .unwrap_or_default(),
        );
        say(
            "after",
            item.depends_on
                .iter()
                .map(|dependency| {
                    let mut text = self.map.name(&dependency.target);
                    if dependency.item.is_none() {
                        text += " (not found)";
                    }
                    if dependency.conditioned {
                        text += " (readyExpr)";
                    }
                    if dependency.implied {
                        text += " (implied)";
                    }
                    text
                })
                .collect::<Vec<_>>()
                .join(", "),
        );
        say("blocks", names(&item.blocks));
        say(
            "objects",
            item.kinds()
                .into_iter()
                .map(|(kind, number)| format!("{number} {}", visible(&kind)))
                .collect::<Vec<_>>()
                .join(", "),
        );
        lines
    }

    fn gaps(&self, writer: &mut impl Write) -> io::Result<()> {
        let gaps = &self.map.gaps;
        writeln!(
            writer,
            "{}{}",
            self.style.dim(self.pieces.last),
            self.style
                .yellow(&format!("not in the tree: {}", count(gaps.len(), "gap")))
        )?;
        let shown = if self.verbose { gaps.len() } else { 10 };
        for (index, gap) in gaps.iter().take(shown).enumerate() {
            let (head, _) = self.joint(index + 1 == gaps.len());
            writeln!(
                writer,
                "{}{}  {}",
                self.style.dim(&format!("   {head}")),
                visible(&gap.cause),
                self.style.dim(&format!(
                    "{}:{}",
                    visible(self.files.path(gap.place.file)),
                    self.files.line(gap.place)
                ))
            )?;
        }
        if gaps.len() > shown {
            writeln!(
                writer,
                "{}{} more with -v",
                self.style.dim(&format!("   {}", self.pieces.last)),
                gaps.len() - shown
            )?;
        }
        Ok(())
    }
}

/// `1 object`, `2 objects`.
fn count(number: usize, what: &str) -> String {
    if number == 1 {
        format!("1 {what}")
    } else {
        format!("{number} {what}s")
    }
}
