//! Charts as PDF in the size of a paper's column, with the feature `pdf`: text stays text, in a font that the file
//! contains.

use anyhow::{Result, ensure};

#[cfg(feature = "pdf")]
pub use convert::render;

/// Size of a printed chart, in points of 1/72 inch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Print {
    /// Width of the chart, without margins.
    pub width: f64,
    /// Size of the tick labels; titles of axes and legend are a twelfth larger.
    pub font: f64,
}

/// Nothing in a build with PDF.
///
/// # Errors
/// How to get it, in a build without.
pub fn available() -> Result<()> {
    ensure!(
        cfg!(feature = "pdf"),
        "--pdf: this program was built without it; `cargo install --locked --path . --features pdf` builds it in"
    );
    Ok(())
}

/// Fails: this build has no PDF.
///
/// # Errors
/// Always.
#[cfg(not(feature = "pdf"))]
pub fn render(_data: &super::series::ChartData, _print: Print) -> Result<Vec<u8>> {
    available().map(|()| Vec::new())
}

#[cfg(feature = "pdf")]
mod convert {
    use anyhow::{Context, Result, anyhow};
    use svg2pdf::usvg::{Options, Tree};
    use svg2pdf::{ConversionOptions, PageOptions, to_pdf};

    use super::Print;
    use crate::report::series::ChartData;
    use crate::report::svg::{self, PRINTED};

    /// Roboto Regular 2.138, Copyright 2011 Google Inc., Apache-2.0: its Latin, Greek and Cyrillic letters and its
    /// mathematical signs. Part of the program, because a machine that measures may have no fonts, and so that every
    /// machine writes the same file.
    pub const FONT: &[u8] = include_bytes!("pdf/Roboto-Regular.ttf");
    pub const FAMILY: &str = "Roboto";

    const POINTS_PER_INCH: f64 = 72.0;

    /// A chart without its title and caption, which the text around it has. The same data give the same bytes.
    ///
    /// # Errors
    /// When the chart cannot be drawn or converted.
    pub fn render(data: &ChartData, print: Print) -> Result<Vec<u8>> {
        let pixel = print.font / PRINTED;
        let document = svg::printed(data, print.width / pixel)?;
        let mut options = Options::default();
        let fonts = options.fontdb_mut();
        fonts.load_font_data(FONT.to_vec());
        fonts.set_sans_serif_family(FAMILY);
        let tree = Tree::from_str(&document, &options).context("cannot convert the chart to PDF")?;
        let page = PageOptions { dpi: (POINTS_PER_INCH / pixel) as f32 };
        to_pdf(&tree, ConversionOptions::default(), page)
            .map_err(|error| anyhow!("cannot convert the chart to PDF: {error}"))
    }
}

#[cfg(all(test, feature = "pdf"))]
mod tests {
    use svg2pdf::usvg::{Options, Tree};

    use super::convert::{FAMILY, FONT};
    use super::*;
    use crate::report::series::series;
    use crate::report::series::tests::passes;

    /// The numbers of the page's size in an uncompressed object: `/MediaBox [0 0 238.1 170.2]`.
    fn media_box(pdf: &[u8]) -> Vec<f64> {
        let text = String::from_utf8_lossy(pdf);
        let (_, rest) = text.split_once("/MediaBox [").expect("a page");
        let numbers = rest.split(']').next().unwrap_or_default();
        numbers.split_whitespace().map(|n| n.parse().expect("a number")).collect()
    }

    #[test]
    fn a_chart_is_as_wide_as_asked_and_its_font_is_in_the_file() {
        let (plan, records) = passes();
        let data = series(&plan, 0, &records);
        for (width, font) in [(238.0, 8.0), (493.0, 8.0), (238.0, 6.0)] {
            let pdf = render(&data, Print { width, font }).expect("a PDF");
            let [0.0, 0.0, wide, high] = media_box(&pdf)[..] else { panic!("a page at 0, 0") };
            assert!((wide - width).abs() < 0.5, "{wide} points, not {width}");
            assert!(high > width / 4.0 && high < width, "{high} points high");
            let text = String::from_utf8_lossy(&pdf);
            assert!(text.contains("/FontFile2") && text.contains("+Roboto"), "no font");
            assert_eq!(pdf, render(&data, Print { width, font }).expect("again"), "the same bytes");
        }
    }

    /// A letter that the font lacks would be an empty box.
    #[test]
    fn the_font_has_the_letters_of_units_and_names() {
        let mut options = Options::default();
        options.fontdb_mut().load_font_data(FONT.to_vec());
        let face = options.fontdb.faces().next().expect("a face").id;
        assert_eq!(options.fontdb.faces().next().expect("a face").families[0].0, FAMILY);
        let document = "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"9\" height=\"9\"><text font-family=\"Roboto\">µ²×·–−≥≤±%σéж</text></svg>";
        let tree = Tree::from_str(document, &options).expect("a picture");
        let svg2pdf::usvg::Node::Text(text) = &tree.root().children()[0] else { panic!("a text") };
        let glyphs: Vec<_> = text.layouted().iter().flat_map(|span| &span.positioned_glyphs).collect();
        assert_eq!(glyphs.len(), 13);
        assert!(glyphs.iter().all(|glyph| glyph.id.0 != 0 && glyph.font == face), "{glyphs:?}");
    }
}
