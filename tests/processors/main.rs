//! The primitives on processors: results, certificates and machine code.

mod bench;
mod correctness;
mod machine_code;
mod patterns;
mod registry;
