//! The device compiler's output for the timed pattern kernels.

use crate::host;

const ITEMS: [usize; 4] = [1, 2, 4, 8];
const STORE: &str = "st.volatile.shared.u64";
const GLOBAL_STORE: &str = "st.volatile.global.u64";
const LOAD: &str = "ld.volatile.shared.u64";
const EXCHANGE: &str = "atom.global.exch.b64";

fn kernel(name: &str, items: usize) -> String {
    let text = host::ptx("pattern");
    let from = text.find(&format!(".entry pattern_{name}_u{items}(")).unwrap();
    let body = &text[from..];
    body[..body.find("\n}").unwrap()].to_owned()
}

/// Number of accesses in an unrolled loop and its tail; one item needs no tail.
fn unrolled(items: usize) -> usize {
    if items == 1 { 1 } else { 2 * items }
}

/// Kernels with a dense side in global memory also access it with volatile stores.
#[test]
fn a_dense_side_in_global_memory_is_volatile() {
    for items in ITEMS {
        for name in ["gather_global", "gather_global_visits"] {
            let text = kernel(name, items);
            let (stores, shared) = (text.matches(GLOBAL_STORE).count(), text.contains(".shared"));
            assert_eq!((stores, shared), (2 * unrolled(items), false), "{name}, {items}");
        }
    }
}

/// The kernels access their dense side in the loop: nothing is hoisted or omitted.
#[test]
fn the_dense_side_is_volatile() {
    for items in ITEMS {
        let count = |name: &str, what: &str| kernel(name, items).matches(what).count();
        // One loop for wrap 1, one for other values.
        assert_eq!(count("gather", STORE), 2 * unrolled(items), "{items}");
        assert_eq!(count("scatter", LOAD), 2 * unrolled(items), "{items}");
        // One loop for each of two sizes of starts; the scatter also has one without starts.
        assert_eq!(count("gather_visits", STORE), 2 * unrolled(items), "{items}");
        assert_eq!(count("scatter_variant", LOAD), 3 * unrolled(items), "{items}");
        assert_eq!(count("read_only", "st.volatile"), 0, "{items}");
    }
}

#[test]
fn only_atomic_variants_have_atomic_stores() {
    for items in ITEMS {
        for variant in ["scatter_variant", "gs_variant"] {
            let count = kernel(variant, items).matches(EXCHANGE).count();
            assert_eq!(count, 3 * unrolled(items), "{variant}, {items}");
        }
        for fast in ["scatter", "gs", "gather"] {
            assert!(!kernel(fast, items).contains("atom."), "{fast}, {items}");
        }
    }
}

/// A loop ends in a branch back to a label that precedes its stores.
#[test]
fn the_stores_stand_in_loops() {
    for items in ITEMS {
        let gather = kernel("gather", items);
        let labels = gather.lines().filter(|line| line.starts_with("$L") && line.ends_with(':'));
        let stores = labels.filter_map(|label| {
            let body = &gather[gather.find(label)?..];
            let end = body.find(&format!("bra \t{};", label.trim_end_matches(':')))?;
            Some(body[..end].matches(STORE).count())
        });
        assert_eq!(stores.filter(|&count| count == items).count(), 2, "{items}");
    }
}

/// Each block adds once to the shared sums.
#[test]
fn a_block_of_read_only_adds_once() {
    for items in ITEMS {
        for name in ["read_only", "read_only_visits"] {
            let text = kernel(name, items);
            let adds = text.matches("atom.global.add").count() + text.matches("red.global.add").count();
            assert_eq!((adds, text.matches("atom.shared").count()), (1, 0), "{name}, {items}");
        }
    }
}
