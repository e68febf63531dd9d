//! Tests of the user interface as a whole, on a terminal in memory.

mod charts;
mod controls;
mod demo;
mod devices;
mod docs;
pub mod fixture;
mod home;
mod lists;
mod live;
pub mod loops;
mod mouse;
mod panic;
mod random;
mod refusals;
mod scenes;
pub mod screens;
pub mod script;
mod updates;
