//! The names of the models. Recipes name models, but only `model` has them.

/// Every model, in the order of the documentation.
pub const MODELS: [&str; 2] = ["he2007", "sector"];
