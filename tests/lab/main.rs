//! The lab without its program: recipes and plans, the engine in this process, documents and claims, and every parser.

mod best;
mod claims;
mod coverage;
mod documents;
mod engine;
mod experiments;
mod fuzz;
mod json_schema;
mod mock;
mod parameters;
mod recipes;
mod recipes_malformed;
mod run_schemas;
mod snapshots;
mod supply;
