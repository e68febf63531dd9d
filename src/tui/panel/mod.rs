//! The panels of the screen: each file draws one.

pub mod banner;
mod case_names;
pub mod cases;
pub mod chart;
pub mod compare;
pub mod details;
pub mod device;
pub mod editor;
pub mod export;
pub mod glossary;
pub mod header;
pub mod help;
pub mod hints;
pub mod live;
pub mod log;
mod matrix;
pub mod pattern;
pub mod preview;
pub mod queue;
pub mod recipes;
pub mod runs;
pub mod samples;
pub mod status;
pub mod whatif;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

pub use super::focus::Focus;
use super::state::State;
use super::theme::Theme;

/// What a panel shows, and what a click in it selects.
#[derive(Clone, Copy)]
pub struct Face {
    pub draw: fn(&State, Theme, Rect, &mut Buffer),
    /// Selects what is drawn at a cell of the panel's area.
    pub click: fn(&mut State, Rect, (u16, u16)),
}

impl Face {
    pub fn of(panel: Focus) -> Face {
        let still = |_: &mut State, _: Rect, _: (u16, u16)| {};
        match panel {
            Focus::Recipes => Face { draw: recipes::draw, click: recipes::click },
            Focus::Editor => Face { draw: editor::draw, click: editor::click },
            Focus::Queue => Face { draw: queue::draw, click: queue::click },
            Focus::Cases => Face { draw: cases::draw, click: cases::click },
            Focus::Chart => Face { draw: chart::draw, click: chart::click },
            Focus::Samples => Face { draw: samples::draw, click: still },
            Focus::Log => Face { draw: log::draw, click: still },
            Focus::Runs => Face { draw: runs::draw, click: runs::click },
            Focus::Details => Face { draw: details::draw, click: still },
            Focus::Comparison => Face { draw: compare::draw, click: compare::click },
            Focus::Pattern => Face { draw: pattern::draw, click: still },
            Focus::Live => Face { draw: live::draw, click: still },
            Focus::WhatIf => Face { draw: whatif::draw, click: whatif::click },
        }
    }
}
