//! The input and the certificate on the device (`kernels/sort/certify.cuh`).

use super::MODULE;
use crate::device::cuda::pointer_or_null;
use crate::inputs::mix::key64;
use crate::primitives::cuda::{ZipfArg, ZipfTable};
use crate::primitives::sort::Distribution;
use crate::primitives::sort::cuda::prelude::*;
use crate::primitives::sort::keys::{Keys, VALUE};

device_struct! {
    /// `SortKeys` in the kernels.
    struct SortKeys: 128 {
        key: u64,
        values: u64,
        n: u64,
        step: u64,
        distinct: u64,
        draws: u64,
        zipf: ZipfArg,
        draw: u32,
        drop: u32,
        given: DevicePtr<u64>,
    }

    /// `Sorted` in the kernels.
    struct Sorted: 48 {
        keys: DevicePtr<u32>,
        values: DevicePtr<u32>,
        n: u64,
        tile: u64,
        key_words: u32,
        value_words: u32,
        begin: u32,
        bits: u32,
    }
}

/// The closed form of the keys, and the kernels that compute it and check against it.
pub struct Certificate {
    source: SortKeys,
    _table: Option<ZipfTable>,
    _given: Option<DeviceBuffer<u64>>,
    kernels: [Kernel; 4],
    touched: DeviceBuffer<u32>,
    /// Keys that are sorted together.
    tile: u64,
    /// Words of a key and of a value.
    words: [u32; 2],
}

impl Certificate {
    /// The names of the kernels.
    pub const KERNELS: [&str; 4] = ["sort_fill", "sort_order", "sort_sums", "sort_origins"];

    /// Allocates the certificate of a case.
    pub fn new(gpu: &Gpu, spec: &Spec, keys: &Keys) -> Result<Certificate, Failure> {
        Certificate::of_tiles(gpu, spec, keys, spec.keys.max(1))
    }

    /// Allocates the certificate of tiles of so many keys that are sorted each for itself. Keys without values may
    /// change places between tiles unnoticed.
    pub fn of_tiles(gpu: &Gpu, spec: &Spec, keys: &Keys, tile: u64) -> Result<Certificate, Failure> {
        let given = keys.given.as_ref().map(|given| gpu.upload(&given[..spec.keys as usize])).transpose()?;
        let table = keys.zipf.as_ref().map(|zipf| ZipfTable::new(gpu, zipf)).transpose()?;
        Ok(Certificate {
            source: source(keys, table.as_ref(), pointer_or_null(given.as_ref()))?,
            _table: table,
            _given: given,
            kernels: gpu.module(MODULE)?.kernels(Certificate::KERNELS)?,
            touched: array(gpu, if spec.value() > 0 { spec.keys.div_ceil(32).max(1) } else { 1 })?,
            tile,
            words: spec.sizes().map(|bytes| (bytes / 4) as u32),
        })
    }

    /// Generates keys and values, and one more of each.
    pub fn fill(&self, gpu: &Gpu, input: &Pairs) -> Result<(), Failure> {
        let [key, value] = self.words;
        let args = args![input.keys, key, input.values, value, self.source];
        launch_over(gpu, &self.kernels[0], self.source.n + 1, args)
    }

    /// Describes the first mistake; `None` if there is none.
    pub fn judge(&mut self, gpu: &Gpu, spec: &Spec, output: &Pairs) -> Result<Option<String>, Failure> {
        let (n, [key_words, value_words]) = (spec.keys, self.words);
        let Digits { begin, end, .. } = spec.digits(DIGIT_BITS);
        let [keys, values] = output.pointers();
        let (tile, bits) = (self.tile, end - begin);
        let sorted = Sorted { keys, values, n, tile, key_words, value_words, begin, bits };
        let [_, order, sums, origins] = &self.kernels;
        let found = find(gpu, |report| {
            launch_over(gpu, order, n, args![sorted, self.source, report])?;
            if value_words == 0 {
                return launch_over(gpu, sums, n, args![sorted, self.source, report]);
            }
            gpu.memset32(&mut self.touched, 0)?;
            launch_over(gpu, origins, n, args![sorted, self.source, self.touched, report])
        })?;
        let whole = if value_words == 0 { found.sum == 0 && found.touched == 0 } else { found.touched == n };
        let lost = || (!whole).then(|| "the output is not a permutation of the input".to_owned());
        Ok(found.unchecked(n, "keys").or_else(|| found.mistake("keys")).or_else(lost))
    }
}

fn source(keys: &Keys, table: Option<&ZipfTable>, given: DevicePtr<u64>) -> Result<SortKeys, Failure> {
    let (draw, distinct) = match keys.distribution {
        Distribution::Uniform => (0, 0),
        Distribution::Zipf { .. } => (1, 0),
        Distribution::Sorted => (2, 0),
        Distribution::Reversed => (3, 0),
        Distribution::Equal => (4, 0),
        Distribution::Few { distinct } => (5, distinct),
        Distribution::Entropy { words } => (6, words),
        Distribution::File { .. } => (7, 0),
    };
    Ok(SortKeys {
        key: key64(keys.seed),
        values: key64(keys.seed ^ VALUE),
        n: keys.n,
        step: keys.step,
        distinct,
        draws: keys.zipf.as_deref().map_or(0, |zipf| key64(zipf.seed)),
        zipf: ZipfArg::of(table)?,
        draw,
        drop: keys.drop,
        given,
    })
}
