//! The recipe as written. Step one reads YAML into nodes, step two interprets them
//! against the parameters that each primitive declares.
