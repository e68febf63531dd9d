//! The names of the performance models: recipes refer to them, but only `model` implements them.

/// All models, in the order of the documentation.
pub const MODELS: [&str; 2] = ["he2007", "sector"];
