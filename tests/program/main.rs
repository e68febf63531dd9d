//! The real program, without a GPU: what it prints and writes, its exit status, its processes and its terminal.

mod against;
mod claims;
mod false_engines;
mod figures;
mod first_minutes;
mod index_files;
mod inputs;
mod judging;
mod leftovers;
mod misbehaving;
mod mpi;
mod output;
mod papers;
mod predictions;
mod process;
mod reader;
mod reads;
mod reports;
mod resume;
mod sealed;
mod spatter;
mod surroundings;
mod terminal;
mod verify;
mod waiting;
mod watch;
