//! Figure 5: the times of the paper's five scans over the number of elements in one picture, with their
//! ratios at 1M elements beside those of the paper (§5). Drawn from `sengupta2007/fig05`.

use anyhow::Result;

use crate::recipe::plan::{Quantity, Scale};
use crate::report::figures::caption::caption;
use crate::report::figures::lookup::{Line, Subject};
use crate::report::figures::mark::{Mark, table};
use crate::report::figures::platform::{Kind, Platform, separate};
use crate::report::figures::{Drawn, Figure, some_point, sweep};
use crate::report::series::{XAxis, YAxis};
use crate::report::svg::{POINTS, render};
use crate::report::unit::Unit;
use crate::report::verdicts::NamedRun;

const NAME: &str = "sengupta2007/fig05";
const TITLE: &str = "Five scans, by number of elements";
const CLAIM: &str = "sengupta2007, figure 5: of 1M elements a scan takes 0.79 ms, a backward scan 0.88 ms, a segmented \
                     scan 2.61 ms and a backward segmented scan 4.29 ms on a GeForce 8800 GTX";

pub const FIGURE: Figure = Figure {
    name: NAME,
    about: "times of the paper's five scans over the number of elements, with their ratios at 1M",
    recipes: &["sengupta2007/fig05"],
    extension: "svg",
    pictures: false,
    draw,
};

/// The number of elements at which the paper compares the scans.
const COMPARED: u64 = 1 << 20;

/// Pairs of lines to compare, and the paper's ratios: 2.61 / 0.79, 0.88 / 0.79, 4.29 / 2.61.
const RATIOS: [(Line, Line, f64); 3] = [
    (Line::Segmented, Line::Scan, 3.3),
    (Line::Backward, Line::Scan, 1.11),
    (Line::BackwardSegmented, Line::Segmented, 1.64),
];

fn draw(runs: &[NamedRun]) -> Result<Drawn> {
    let mut platforms = separate(runs);
    platforms.retain(|p| p.kind == Kind::Gpu && !p.scanned().is_empty());
    let marks: Vec<Mark> = platforms.iter().flat_map(marks).collect();
    some_point(&marks, "scans by the method sengupta2007 on GPUs")?;
    let mut lines = vec![
        "The paper's methods with its 128 threads a block and striped flags; fast: 8 elements a thread, the others 2; \
         its segments are not described"
            .to_owned(),
    ];
    lines.extend(platforms.iter().map(ratios));
    let sampled = format!("{POINTS}; the paper's are averages of executions one after another");
    let caption = caption(CLAIM, &sampled, &platforms, &marks, &lines);
    let data = sweep::lines(TITLE, x_axis(&marks), time(), &marks, |mark| &mark.pattern);
    Ok(Drawn { document: render(&data, &caption)?, table: table(NAME, &marks)?, text: None })
}

/// A platform's times, line by line; a line without times has a mark that says so.
fn marks(platform: &Platform) -> Vec<Mark> {
    let sizes = platform.scanned();
    let of_line = |line: Line| {
        let mark = |&elements: &u64| {
            let wanted = Subject::Scan { line, elements };
            Mark::of(&platform.label, platform, line.name().to_owned(), Some(elements as f64), wanted)
        };
        // A line may end before the others.
        let there = |elements: &&u64| platform.has(Subject::Scan { line, elements: **elements });
        sizes.iter().filter(there).map(mark).collect::<Vec<_>>()
    };
    Line::ALL.into_iter().flat_map(of_line).collect()
}

/// `NVIDIA H200, 1Mi elements: segmented 1.35 of scan (the paper: 3.3), …`.
fn ratios(platform: &Platform) -> String {
    let time = |line| platform.find(Subject::Scan { line, elements: COMPARED }).map(|value| value.y);
    let ratio = |(line, base, papers): &(Line, Line, f64)| {
        let found = match (time(*line), time(*base)) {
            (Ok(time), Ok(base)) => format!("{:.2}", time / base),
            _ => "not measured".to_owned(),
        };
        format!("{} over {} {found} (the paper: {papers})", line.name(), base.name())
    };
    let words: Vec<String> = RATIOS.iter().map(ratio).collect();
    format!("{}, {} elements: {}", platform.label, Unit::Count.format(COMPARED as f64), words.join(", "))
}

fn x_axis(marks: &[Mark]) -> XAxis {
    let name = "Elements, log scale".to_owned();
    sweep::x_axis(
        marks,
        XAxis {
            key: "elements".to_owned(),
            name,
            scale: Scale::Log,
            unit: Unit::Count,
            values: Vec::new(),
            categories: Vec::new(),
        },
    )
}

fn time() -> YAxis {
    YAxis { quantity: Quantity::Time, relative_to: None, unit: Unit::Seconds, named: None, spacing: None }
}
