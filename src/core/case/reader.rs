//! Readers for parameters, and limits that primitives share.

use super::Refusal;
use crate::case::Params;

/// Largest size of one array of a case, bytes.
pub const MAX_BYTES: u64 = 1 << 48;

/// The integer under `key`.
pub fn int(params: &Params, key: &str) -> Result<u64, Refusal> {
    params.int(key).ok_or_else(|| missing(params, key, "an integer"))
}

/// The integer under `key`, at least 1.
pub fn positive(params: &Params, key: &str) -> Result<u64, Refusal> {
    match int(params, key)? {
        0 => Err(Refusal::invalid(key, "must be at least 1")),
        value => Ok(value),
    }
}

/// The meaning of the word under `key`.
pub fn word<T: Copy>(params: &Params, key: &str, meanings: &[(&str, T)]) -> Result<T, Refusal> {
    let text = params.text(key).ok_or_else(|| missing(params, key, "a word"))?;
    meanings.iter().find(|(name, _)| *name == text).map(|(_, value)| *value).ok_or_else(|| {
        let names: Vec<&str> = meanings.iter().map(|(name, _)| *name).collect();
        Refusal::invalid(key, format!("`{text}` is not one of {}", names.join(", ")))
    })
}

fn missing(params: &Params, key: &str, wanted: &str) -> Refusal {
    match params.get(key) {
        None => Refusal::Missing { key: key.to_owned() },
        Some(value) => Refusal::invalid(key, format!("`{value}` is not {wanted}")),
    }
}

/// The product of these factors, in bytes; refused with `key` if it exceeds [`MAX_BYTES`].
pub fn bytes(key: &str, factors: &[u64]) -> Result<u64, Refusal> {
    let product = factors.iter().try_fold(1u64, |product, &f| product.checked_mul(f));
    match product {
        Some(bytes) if bytes <= MAX_BYTES => Ok(bytes),
        _ => Err(Refusal::invalid(key, "an array would exceed 2^48 bytes")),
    }
}

/// True if the case requests AVX2, which has no scatter instruction.
pub fn asks_for_avx2(params: &Params) -> bool {
    params.text("backend.cpu.isa") == Some("avx2")
}

/// The refusal for [`asks_for_avx2`].
pub fn avx2_cannot_scatter() -> Refusal {
    Refusal::NotApplicable("AVX2 has no scatter instruction".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::case::Value;

    #[test]
    fn what_is_wrong_is_said_at_its_key() {
        let p = Params::default().with("w", Value::Text("x".into()));
        assert_eq!(int(&p, "b").unwrap_err().to_string(), "b: is missing");
        assert_eq!(int(&p, "w").unwrap_err().to_string(), "w: `x` is not an integer");
        assert_eq!(
            word(&p, "w", &[("y", 1), ("z", 2)]).unwrap_err().to_string(),
            "w: `x` is not one of y, z"
        );
    }

    #[test]
    fn sizes_do_not_overflow() {
        assert_eq!(bytes("n", &[1 << 45, 8]), Ok(MAX_BYTES));
        assert!(bytes("n", &[1 << 45, 9]).is_err());
        assert!(bytes("n", &[u64::MAX, u64::MAX]).is_err());
    }
}
