//! An image: each cluster a field, each layer a column, what is reconciled first on the left.

use std::io::{self, Write};

use super::map::{ClusterMap, Item};
use crate::terminal::visible;

const BOX_WIDTH: usize = 230;
const BOX_HEIGHT: usize = 46;
const COLUMN: usize = BOX_WIDTH + 90;
const ROW: usize = BOX_HEIGHT + 16;
const MARGIN: usize = 24;
const HEADING: usize = 64;
/// Characters of a name that fit into a box, in a wide font; of the smaller path, eight more.
const FITTING: usize = 24;

/// A box in a column.
struct Placed {
    column: usize,
    row: usize,
}

/// One cluster with the place of each of its boxes: the items, then what is missing.
struct Field<'a> {
    map: &'a ClusterMap<'a>,
    placed: Vec<Placed>,
    columns: Vec<String>,
    rows: usize,
}

/// Draws clusters, one below the other.
///
/// # Errors
/// When the writer refuses.
pub fn svg(clusters: &[ClusterMap], writer: &mut impl Write) -> io::Result<()> {
    let fields: Vec<Field> = clusters.iter().map(Field::of).collect();
    let width = fields.iter().map(Field::width).max().unwrap_or(400);
    let height: usize = fields.iter().map(Field::height).sum::<usize>() + MARGIN;
    writeln!(
        writer,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" font-family=\"ui-sans-serif, system-ui, sans-serif\" font-size=\"13\">"
    )?;
    writeln!(
        writer,
        "  <rect width=\"{width}\" height=\"{height}\" fill=\"#ffffff\"/>"
    )?;
    if fields.is_empty() {
        writeln!(writer, "  <text x=\"{MARGIN}\" y=\"40\">no cluster</text>")?;
    }
    let mut top = 0;
    for field in &fields {
        writeln!(writer, "  <g transform=\"translate(0 {top})\">")?;
        field.draw(writer)?;
        writeln!(writer, "  </g>")?;
        top += field.height();
    }
    writeln!(writer, "</svg>")
}

impl<'a> Field<'a> {
    /// Places the boxes: the column is the layer, the row follows the mean row of what a box
    /// dependsOn and of what makes it, so that most lines run level.
    fn of(map: &'a ClusterMap<'a>) -> Self {
        let layers = map.layers();
        let mut columns = vec!["entry point".to_owned()];
        columns.extend((0..layers).map(|layer| format!("layer {layer}")));
        let lost = map.items.iter().any(|item| item.depth.is_none());
        if lost {
            columns.push("never reconciled".to_owned());
        }
        let column = |item: &Item| match item.depth {
            _ if item.root => 0,
            Some(depth) => depth + 1,
            None => layers + 1,
        };
        let mut placed: Vec<Placed> = map
            .items
            .iter()
            .map(|item| Placed {
                column: column(item),
                row: 0,
            })
            .chain(map.missing.iter().map(|_| Placed { column: 0, row: 0 }))
            .collect();
        let mut rows = 1;
        for at in 0..columns.len() {
            let mut members: Vec<usize> = (0..placed.len())
                .filter(|index| placed[*index].column == at)
                .collect();
            // A mean in thousandths of a row; boxes that have to do with no other come last.
            let key = |index: usize, order: usize| {
                let alone = map.items.get(index).is_some_and(|item| {
                    !item.root
                        && item.blocks.is_empty()
                        && item.depends_on.is_empty()
                        && item.made_by(map).is_none()
                });
                let below: Vec<usize> = map
                    .items
                    .get(index)
                    .map(|item| &item.depends_on)
                    .into_iter()
                    .flatten()
                    .filter_map(|dependency| dependency.item)
                    .chain(map.items.get(index).and_then(|item| item.made_by(map)))
                    .filter(|target| placed[*target].column < at)
                    .map(|target| placed[target].row)
                    .collect();
                let mean = if below.is_empty() {
                    order * 1000
                } else {
                    below.iter().sum::<usize>() * 1000 / below.len()
                };
                (alone, mean, order)
            };
            let mut keyed: Vec<((bool, usize, usize), usize)> = members
                .iter()
                .enumerate()
                .map(|(order, index)| (key(*index, order), *index))
                .collect();
            keyed.sort_unstable();
            members = keyed.into_iter().map(|(_, index)| index).collect();
            rows = rows.max(members.len());
            for (row, index) in members.into_iter().enumerate() {
                placed[index].row = row;
            }
        }
        Self {
            map,
            placed,
            columns,
            rows,
        }
    }

    fn width(&self) -> usize {
        // A circle's lines run on the right of its column.
        let circles = if self.map.items.iter().any(|item| item.in_cycle) {
            40
        } else {
            0
        };
        2 * MARGIN + self.columns.len() * COLUMN - (COLUMN - BOX_WIDTH) + circles
    }

    fn height(&self) -> usize {
        MARGIN + HEADING + self.rows * ROW
    }

    /// The upper left corner of a box.
    fn corner(&self, index: usize) -> (usize, usize) {
        let placed = &self.placed[index];
        (
            MARGIN + placed.column * COLUMN,
            MARGIN + HEADING + placed.row * ROW,
        )
    }

    fn draw(&self, writer: &mut impl Write) -> io::Result<()> {
        let path = if self.map.path.is_empty() {
            "."
        } else {
            self.map.path
        };
        writeln!(
            writer,
            "    <text x=\"{MARGIN}\" y=\"{}\" font-size=\"18\" font-weight=\"600\" fill=\"#1f2933\">{}</text>",
            MARGIN + 14,
            text(path)
        )?;
        for (index, title) in self.columns.iter().enumerate() {
            writeln!(
                writer,
                "    <text x=\"{}\" y=\"{}\" font-size=\"12\" fill=\"#7b8794\">{}</text>",
                MARGIN + index * COLUMN,
                MARGIN + HEADING - 12,
                text(title)
            )?;
        }
        for (index, item) in self.map.items.iter().enumerate() {
            for dependency in &item.depends_on {
                let target = match dependency.item {
                    Some(target) => target,
                    None => match self.map.missing.binary_search(&dependency.target) {
                        Ok(missing) => self.map.items.len() + missing,
                        Err(_) => continue,
                    },
                };
                let cyclic = item.in_cycle
                    && self
                        .map
                        .items
                        .get(target)
                        .is_some_and(|target| target.in_cycle);
                let look = if cyclic || dependency.item.is_none() {
                    "stroke=\"#c0392b\" stroke-width=\"1.6\""
                } else if dependency.implied {
                    "stroke=\"#d5dbe1\""
                } else if dependency.conditioned {
                    "stroke=\"#627d98\" stroke-dasharray=\"5 4\""
                } else {
                    "stroke=\"#829ab1\" stroke-width=\"1.4\""
                };
                self.line(writer, target, index, look)?;
            }
            if let Some(parent) = item.made_by(self.map) {
                let look = "stroke=\"#9aa5b1\" stroke-dasharray=\"1 4\"";
                self.line(writer, parent, index, look)?;
            }
        }
        for (index, item) in self.map.items.iter().enumerate() {
            self.item(writer, index, item)?;
        }
        for (index, name) in self.map.missing.iter().enumerate() {
            let (x, y) = self.corner(self.map.items.len() + index);
            self.boxed(
                writer,
                (x, y),
                &self.map.name(name),
                "not found",
                "fill=\"#ffffff\" stroke=\"#c0392b\" stroke-dasharray=\"4 3\"",
                "",
            )?;
        }
        Ok(())
    }

    /// A curve from a box to one that waits for it.
    fn line(&self, writer: &mut impl Write, from: usize, to: usize, look: &str) -> io::Result<()> {
        let ((from_x, from_y), (to_x, to_y)) = (self.corner(from), self.corner(to));
        let (x1, y1) = (from_x + BOX_WIDTH, from_y + BOX_HEIGHT / 2);
        let (x2, y2) = (to_x, to_y + BOX_HEIGHT / 2);
        // Inside one column the curve leaves and comes back on the right.
        let curve = if self.placed[from].column >= self.placed[to].column {
            let out = from_x.max(to_x) + BOX_WIDTH + 50;
            format!("M{x1} {y1}C{out} {y1} {out} {y2} {} {y2}", to_x + BOX_WIDTH)
        } else {
            format!("M{x1} {y1}C{} {y1} {} {y2} {x2} {y2}", x1 + 45, x2 - 45)
        };
        writeln!(writer, "    <path d=\"{curve}\" fill=\"none\" {look}/>")
    }

    fn item(&self, writer: &mut impl Write, index: usize, item: &Item) -> io::Result<()> {
        let name = self.map.name(&item.kustomization.name);
        let path = match item.path() {
            Some("") => ".",
            Some(path) => path,
            None => "?",
        };
        let mut about = vec![
            name.clone(),
            visible(path),
            item.flags().join(", "),
            format!("objects: {}", item.kustomization.build.objects.len()),
        ];
        if let Some((set, number)) = item.wave {
            about.push(format!("wave {number} of {}", visible(set)));
        }
        about.extend(item.problem.map(|problem| problem.as_str().to_owned()));
        let colours = if item.in_cycle || item.depth.is_none() {
            "fill=\"#fdecea\" stroke=\"#c0392b\""
        } else if item.problem.is_some() {
            "fill=\"#fff8e1\" stroke=\"#c99a2e\""
        } else if item.root {
            "fill=\"#e6f6ff\" stroke=\"#2186c4\""
        } else {
            "fill=\"#f5f7fa\" stroke=\"#9aa5b1\""
        };
        let (x, y) = self.corner(index);
        self.boxed(writer, (x, y), &name, path, colours, &about.join("\n"))?;
        if item.kustomization.spec.wait.is_yes() || item.checks > 0 {
            writeln!(
                writer,
                "    <rect x=\"{}\" y=\"{}\" width=\"4\" height=\"{}\" rx=\"2\" fill=\"#2f8f5b\"><title>others wait until it runs</title></rect>",
                x + BOX_WIDTH - 8,
                y + 8,
                BOX_HEIGHT - 16
            )?;
        }
        Ok(())
    }

    fn boxed(
        &self,
        writer: &mut impl Write,
        (x, y): (usize, usize),
        name: &str,
        below: &str,
        colours: &str,
        about: &str,
    ) -> io::Result<()> {
        writeln!(writer, "    <g>")?;
        if !about.is_empty() {
            writeln!(writer, "      <title>{}</title>", escaped(about))?;
        }
        writeln!(
            writer,
            "      <rect x=\"{x}\" y=\"{y}\" width=\"{BOX_WIDTH}\" height=\"{BOX_HEIGHT}\" rx=\"6\" {colours}/>"
        )?;
        writeln!(
            writer,
            "      <text x=\"{}\" y=\"{}\" font-weight=\"600\" fill=\"#1f2933\">{}</text>",
            x + 10,
            y + 19,
            text(&fitting(name, FITTING))
        )?;
        writeln!(
            writer,
            "      <text x=\"{}\" y=\"{}\" font-size=\"11\" fill=\"#52606d\">{}</text>",
            x + 10,
            y + 36,
            text(&fitting_end(below, FITTING + 8))
        )?;
        writeln!(writer, "    </g>")
    }
}

/// The text, cut behind where it does not fit.
fn fitting(text: &str, limit: usize) -> String {
    let text = visible(text);
    if text.chars().count() <= limit {
        return text;
    }
    let mut cut: String = text.chars().take(limit - 1).collect();
    cut.push('…');
    cut
}

/// The text, cut in front where it does not fit: of a path the end tells most.
fn fitting_end(text: &str, limit: usize) -> String {
    let text = visible(text);
    let length = text.chars().count();
    if length <= limit {
        return text;
    }
    let mut cut = String::from("…");
    cut.extend(text.chars().skip(length - (limit - 1)));
    cut
}

/// Text of an element, without what would steer.
fn text(raw: &str) -> String {
    escaped(&visible(raw))
}

/// Text of an element. What XML has no way to write is left out.
fn escaped(raw: &str) -> String {
    let mut escaped = String::with_capacity(raw.len());
    for character in raw.chars() {
        match character {
            '&' => escaped += "&amp;",
            '<' => escaped += "&lt;",
            '>' => escaped += "&gt;",
            '"' => escaped += "&quot;",
            '\n' => escaped.push('\n'),
            '\u{fffe}' | '\u{ffff}' => {}
            other if other.is_control() => {}
            other => escaped.push(other),
        }
    }
    escaped
}
