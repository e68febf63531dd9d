//! Figures 7 and 8: application gathers and scatters relative to the platform's stride 1, as radars. Drawn from
//! `lavin2020/app-patterns` and `lavin2020/fig09-references`.

use std::borrow::Cow;

use anyhow::Result;

use crate::inputs::applications::{Application, TABLE_5, Use};
use crate::report::figures::caption::caption;
use crate::report::figures::lookup::{Subject, word};
use crate::report::figures::mark::{Mark, table};
use crate::report::figures::platform::{Kind, Platform, joined};
use crate::report::figures::radar::{self, Radar, Section, Spoke};
use crate::report::figures::{Draw, Drawn, Figure, lettered, some_point};
use crate::report::svg::paint;
use crate::report::verdicts::NamedRun;

pub const RECIPES: &[&str] = &["lavin2020/app-patterns", "lavin2020/fig09-references"];

/// Application gathers.
pub const FIG07: Figure = Figure {
    name: Cow::Borrowed("lavin2020/fig07"),
    about: Cow::Borrowed("application gathers relative to the platform's stride-1 gather, as radars"),
    draw: Draw::Own(|runs| {
        let claim = "lavin2020, figure 7 claims: beyond 100 % caches are at work; GPUs are largely unable to outperform \
                     their stride-1 bandwidth, newer ones less so; the delta decides most (PENNANT from G5 on)";
        draw(&FIG07.name, Use::Gather, "Application gathers, relative to stride 1", claim, runs)
    }),
    recipes: Cow::Borrowed(RECIPES),
    extension: "svg",
    pictures: false,
};

/// Application scatters.
pub const FIG08: Figure = Figure {
    name: Cow::Borrowed("lavin2020/fig08"),
    about: Cow::Borrowed("application scatters relative to the platform's stride-1 scatter, as radars"),
    draw: Draw::Own(|runs| {
        let claim = "lavin2020, figure 8 claims: LULESH-S3, a scatter with delta 0, is very slow except on ThunderX2; \
                     Cascade Lake improves on Skylake in LULESH's scatters";
        draw(&FIG08.name, Use::Scatter, "Application scatters, relative to stride 1", claim, runs)
    }),
    recipes: Cow::Borrowed(RECIPES),
    extension: "svg",
    pictures: false,
};

/// With at least this many platforms of a kind, platforms are the spokes and each pattern is a circle, as in
/// the paper; two spokes would not enclose an area.
const LEAST_PLATFORMS: usize = 3;

fn draw(figure: &str, side: Use, title: &str, claim: &str, runs: &[NamedRun]) -> Result<Drawn> {
    let apps: Vec<&Application> = TABLE_5.iter().filter(|app| app.kernel == side).collect();
    let mut platforms = joined(runs);
    platforms.retain(|p| apps.iter().any(|app| p.has(Subject::App(app))));
    let letters = lettered(&mut platforms);
    let marks: Vec<Mark> = platforms.iter().flat_map(|p| relative(p, side, &apps)).collect();
    let what = format!("application {}s with a stride-1 {} of the same platform", word(side), word(side));
    some_point(&marks, &what)?;
    let lines = [format!(
        "Each value: the pattern's bandwidth over the stride-1 {} without reuse on the same platform; relative, \
         so no circle says that one platform is faster than another",
        word(side)
    )];
    let kinds = [Kind::Cpu, Kind::Gpu];
    let sections: Vec<Section> =
        kinds.iter().filter_map(|kind| section(*kind, &platforms, &letters, &apps, &marks)).collect();
    let scene = radar::draw(
        title,
        &together(sections),
        &caption(claim, &super::sampled(""), &platforms, &marks, &lines),
    );
    Ok(Drawn { document: paint::svg(&scene)?, table: table(figure, &marks)?, text: None })
}

/// Puts large circles of both kinds side by side.
fn together(sections: Vec<Section>) -> Vec<Section> {
    if sections.len() < 2 || sections.iter().any(|section| section.small) {
        return sections;
    }
    let radars = sections.into_iter().flat_map(|section| section.radars).collect();
    let heading = "CPUs (blue, round dots) and GPUs (green, triangles): a spoke for each pattern".to_owned();
    vec![Section { heading, radars, small: false }]
}

fn relative(platform: &Platform, side: Use, apps: &[&'static Application]) -> Vec<Mark> {
    let base = platform.find(Subject::Uniform { side, stride: 1 });
    let mark = |app: &&'static Application| {
        let mark = Mark::of(app.name, platform, app.name.to_owned(), None, Subject::App(app));
        let name = format!("stride-1 {}", word(side));
        mark.against(&base, &name, "of stride 1")
    };
    apps.iter().map(mark).collect()
}

/// The circles of one kind of platform; `None` if there are none.
fn section(
    kind: Kind,
    platforms: &[Platform],
    letters: &[String],
    apps: &[&Application],
    marks: &[Mark],
) -> Option<Section> {
    // A platform without values would be an empty spoke in every circle.
    let drawn = |p: &Platform| marks.iter().any(|m| m.platform == p.label && m.y.is_ok());
    let own = || platforms.iter().zip(letters).filter(|(p, _)| p.kind == kind && drawn(p));
    let value = |platform: &Platform, app: &Application| {
        let mark = marks.iter().find(|m| m.platform == platform.label && m.pattern == app.name)?;
        mark.y.as_ref().ok().map(|spread| spread.y)
    };
    let small = own().count() >= LEAST_PLATFORMS;
    let spoke = |label: &str, value| Spoke { label: label.to_owned(), value };
    let radars = if small {
        let spokes = |app| own().map(|(p, letter)| spoke(letter, value(p, app))).collect();
        apps.iter().map(|app| Radar { title: app.name.to_owned(), kind, spokes: spokes(app) }).collect()
    } else {
        let spokes = |p| apps.iter().map(|app| spoke(app.name, value(p, app))).collect();
        own().map(|(p, _)| Radar { title: p.label.clone(), kind, spokes: spokes(p) }).collect()
    };
    let form = if small {
        "a circle for each pattern, a spoke for each platform"
    } else {
        "a spoke for each pattern"
    };
    (own().count() > 0).then(|| Section { heading: format!("{}: {form}", kind.words()), radars, small })
}
