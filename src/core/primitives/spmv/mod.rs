//! spmv: the product of a sparse matrix in compressed rows and a vector (he2007 §4.3, sengupta2007 §4.2).
//!
//! ```text
//! y[i] = Σ values[e] · x[columns[e]] over starts[i] ≤ e < starts[i + 1], + z[i] if beta is 1
//! ```
//!
//! The papers' y += A·x has z and y in one array; here they are two, so that any number of executions leave the same
//! result. The effective bytes are the row starts, columns and values once, x once (at most as many elements as there are
//! entries), y once, and z if there is one; by `blocks` on GPUs at most what it declares, since its columns take two bytes. The
//! elements of the throughput are the stored entries; a product has 2 floating-point operations for each, so that 1 Gelem/s
//! is 2 GFLOPS; the additions of z do not count.
//!
//! Values and vectors of generated matrices are small integers ([`Spec::x`], [`matrix`](matrix::matrix)), whose sums are
//! exact in any order. The certificate computes each row again in f64 from the arrays in memory and demands equality
//! where sums are exact, and otherwise the bound γ·Σ|a||x| of a sum of rounded products.

pub mod bands;
mod block_costs;
pub mod cpu;
pub mod cuda;
pub mod matrix;
mod oracle;
pub mod slices;
pub mod spec;
pub mod tiles;
mod work;

pub use spec::Spec;

use std::sync::Arc;

use super::{Definition, IndexLookup, Primitive, Problem};
use crate::case::{BlockCost, Failure, Fault, Params, Refusal, Value, Work};
use crate::inputs::sparse::Positions;
use spec::Method;

impl Definition for Spec {
    const PRIMITIVES: &'static [Primitive] = &[Primitive::of::<Spec>(
        "spmv",
        "the product of a sparse matrix in compressed rows and a vector (he2007 §4.3, sengupta2007 §4.2)",
        Spec::TABLE,
    )
    .with_matrix()
    .with_flops_per_element(2)];

    fn read(_name: &str, params: &Params, seed: u64) -> Result<Spec, Refusal> {
        Spec::from_params(params, seed)
    }
}

impl Problem for Spec {
    fn work(&self) -> Work {
        work::work(self)
    }

    fn block_costs(&self) -> Result<Vec<BlockCost>, String> {
        if self.backend.is_cuda() { block_costs::block_costs(self) } else { Ok(Vec::new()) }
    }

    fn check(&self, output: &[u8]) -> Result<(), String> {
        oracle::check(self, output)
    }

    fn resolved(&self) -> Vec<(String, Value)> {
        let text = |key: &str, word: &str| (key.to_owned(), Value::Text(word.to_owned()));
        let best = (self.asked == Method::Best).then(|| text("method", self.method.name()));
        let open = self.asked == Method::Best || self.asked == Method::Row { per: None };
        let own = match self.method {
            Method::Row { per: Some(per) } if open => Some(text("method.row.per", per.name())),
            Method::Blocks { columns: Some(columns) }
                if open || self.asked == (Method::Blocks { columns: None }) =>
            {
                Some(("method.blocks.columns".to_owned(), Value::Int(columns)))
            }
            Method::He2007 { passes: Some(passes) } if self.asked == (Method::He2007 { passes: None }) => {
                Some(("method.he2007.passes".to_owned(), Value::Int(passes)))
            }
            _ => None,
        };
        best.into_iter().chain(own).collect()
    }

    fn positions(&self, stored: IndexLookup) -> Result<Option<Positions>, String> {
        let all = match self.generator() {
            Some(generator) => generator.positions(self.seed),
            None => {
                let found = |hash: &str| stored(hash).map(Arc::new).map_err(Failure::NotApplicable);
                Positions::of(&matrix::matrix(self, found).map_err(|failure| failure.to_string())?)
            }
        };
        all.map(Some).map_err(|error| error.to_string())
    }

    /// Products with the next element of x are wrong wherever there are any.
    fn fault_is_detectable(&self, fault: Fault) -> bool {
        match fault {
            Fault::OffByOne => self.shape.entries > 0,
            _ => self.shape.rows > 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::words::params;
    use super::*;
    use crate::case::work::Order;

    fn spec(words: &str) -> Spec {
        Spec::read("spmv", &params(words), 7).expect("a case")
    }

    fn text(key: &str, value: &str) -> (String, Value) {
        (key.to_owned(), Value::Text(value.to_owned()))
    }

    #[test]
    fn what_best_becomes_is_recorded() {
        let best = |words: &str| spec(&format!("{words} method=best")).resolved();
        let banded = "matrix=banded matrix.banded.rows=100000 matrix.banded.half=50";
        assert_eq!(
            best(&format!("{banded} backend=cuda")),
            [text("method", "row"), text("method.row.per", "warp")]
        );
        assert_eq!(best(&format!("{banded} backend=cpu")), [text("method", "balanced")]);
        let columns = |columns| ("method.blocks.columns".to_owned(), Value::Int(columns));
        let scattered = "matrix=rmat matrix.rmat.scale=18 type=f64 backend=cpu";
        assert_eq!(best(scattered), [text("method", "blocks"), columns(32_768)]);
        let near = "matrix=random matrix.random.rows=262144 backend=cpu";
        assert_eq!(best(near), [text("method", "balanced")]);
        let laplace = "matrix=laplace5 matrix.laplace5.side=100 backend=cuda";
        assert_eq!(best(laplace), [text("method", "row"), text("method.row.per", "thread")]);
        let random =
            "matrix=random matrix.random.rows=150000 matrix.random.entries=241 type=f64 backend=cuda";
        assert_eq!(best(random), [text("method", "blocks"), columns(18_750)]);
        let short = "matrix=random matrix.random.rows=150000 matrix.random.entries=16 type=f64 backend=cuda";
        assert_eq!(best(short), [text("method", "slices")]);
        let rmat = "matrix=rmat matrix.rmat.scale=20 backend=cuda";
        assert_eq!(best(rmat), [text("method", "sorted")]);
        assert_eq!(spec(&format!("{laplace} method=row")).resolved(), [text("method.row.per", "thread")]);
        let few = "matrix=laplace5 matrix.laplace5.side=10 method=blocks backend=cpu";
        assert_eq!(spec(few).resolved(), [columns(100)]);
    }

    /// Of rows of 64 entries, a pass of four takes 16 that follow each other; of a band, what it takes is one stretch.
    #[test]
    fn passes_take_runs_of_each_row() {
        let orders = |matrix: &str, passes: u64| {
            let words = format!("matrix={matrix} method=he2007 method.he2007.passes={passes} backend=cuda");
            let taken = spec(&words).work().passes[0].accesses.clone();
            [taken[1].order.clone(), taken[3].order.clone()]
        };
        let random = "random matrix.random.rows=1000 matrix.random.entries=64";
        assert_eq!(orders(random, 1), [Order::Sequential, Order::Sequential]);
        for (passes, run) in
            [(4, 16.0 / (1.0 - f64::powi(0.75, 64))), (100, 0.64 / (1.0 - f64::powi(0.99, 64)))]
        {
            for order in orders(random, passes) {
                let near = |found: f64| (found / run - 1.0).abs() < 1e-9;
                assert!(
                    matches!(order, Order::Strided { stride, run } if stride == passes && near(run)),
                    "{order:?}"
                );
            }
        }
        let none = "random matrix.random.rows=0";
        assert!(orders(none, 4).contains(&Order::Strided { stride: 4, run: 1.0 }));
        let banded = "banded matrix.banded.rows=1000 matrix.banded.half=50";
        assert_eq!(orders(banded, 4), [Order::Sequential, Order::Sequential]);
    }

    #[test]
    fn lanes_are_for_gpus() {
        let words = "matrix=laplace5 matrix.laplace5.side=10 method=row method.row.per=warp";
        assert!(Spec::read("spmv", &params(&format!("{words} backend=cuda")), 1).is_ok());
        let of_gpus = "matrix=laplace5 matrix.laplace5.side=10 method=sorted backend=cpu";
        for words in [&format!("{words} backend=cpu"), of_gpus] {
            let refused = Spec::read("spmv", &params(words), 1).expect_err("refused");
            assert!(matches!(refused, Refusal::NotApplicable(_)), "{refused}");
        }
    }

    #[test]
    fn matrices_too_large_are_refused_at_their_key() {
        let words = "matrix=random matrix.random.rows=4000000000 matrix.random.entries=4";
        let refused = Spec::read("spmv", &params(words), 1).expect_err("refused").to_string();
        assert_eq!(refused, "matrix: 16000000000 entries; accepted: at most 4294967295");
    }

    #[test]
    fn the_oracle_accepts_the_product_and_nothing_else() {
        for beta in [0, 1] {
            let spec = spec(&format!("matrix=laplace5 matrix.laplace5.side=2 beta={beta}"));
            let [a, b, c, d] = [0, 1, 2, 3].map(|j| spec.x(j));
            let product = [4.0 * a - b - c, 4.0 * b - a - d, 4.0 * c - a - d, 4.0 * d - b - c];
            let sums = (0u64..).zip(product).map(|(i, sum)| (sum + beta as f64 * spec.z(i)) as f32);
            let mut output: Vec<u8> = sums.flat_map(f32::to_le_bytes).collect();
            assert_eq!(spec.check(&output), Ok(()));
            output[6] ^= 1;
            assert!(spec.check(&output).expect_err("wrong").starts_with("y[1] is "));
        }
    }
}
