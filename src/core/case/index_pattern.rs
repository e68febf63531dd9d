//! The indices of a pattern, generated when they are first read: recipes of thousands of long patterns are resolved
//! from the patterns' lengths and largest indices alone.

use std::fmt;
use std::ops::Deref;
use std::sync::{Arc, LazyLock, OnceLock};

use serde::{Deserialize, Serialize};

type Generate = Box<dyn FnOnce() -> Vec<u64> + Send>;

/// The indices of a pattern. Clones share them.
#[derive(Clone, Serialize, Deserialize)]
#[serde(from = "Vec<u64>", into = "Vec<u64>")]
pub struct IndexPattern {
    length: usize,
    largest: u64,
    shared: Arc<Shared>,
}

struct Shared {
    indices: LazyLock<Vec<u64>, Generate>,
    text: OnceLock<String>,
}

impl IndexPattern {
    /// A pattern of `length` indices, of which `largest` is the largest, that `generate` returns.
    pub fn generated(
        length: u64,
        largest: u64,
        generate: impl FnOnce() -> Vec<u64> + Send + 'static,
    ) -> IndexPattern {
        let indices = LazyLock::new(Box::new(generate) as Generate);
        let shared = Arc::new(Shared { indices, text: OnceLock::new() });
        IndexPattern { length: length as usize, largest, shared }
    }

    /// Number of indices. O(1).
    pub fn len(&self) -> usize {
        self.length
    }

    pub fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// The indices as `[0, 8, 16]`, written once for all clones.
    pub fn text(&self) -> &str {
        self.shared.text.get_or_init(|| format!("{:?}", &**self))
    }

    /// The largest index, or 0 if there is none. O(1).
    pub fn largest(&self) -> u64 {
        self.largest
    }
}

impl Default for IndexPattern {
    fn default() -> IndexPattern {
        Vec::new().into()
    }
}

impl From<Vec<u64>> for IndexPattern {
    fn from(indices: Vec<u64>) -> IndexPattern {
        let largest = indices.iter().copied().max().unwrap_or(0);
        IndexPattern::generated(indices.len() as u64, largest, || indices)
    }
}

impl From<IndexPattern> for Vec<u64> {
    fn from(pattern: IndexPattern) -> Vec<u64> {
        pattern.to_vec()
    }
}

/// Generates the indices at the first call.
impl Deref for IndexPattern {
    type Target = [u64];

    fn deref(&self) -> &[u64] {
        &self.shared.indices
    }
}

impl PartialEq for IndexPattern {
    fn eq(&self, other: &IndexPattern) -> bool {
        Arc::ptr_eq(&self.shared, &other.shared) || **self == **other
    }
}

impl fmt::Debug for IndexPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}
