//! Tables, records and search keys on a GPU (`kernels/hash_search/table.cuh`, `kernels/hash_search/inputs.cuh`).

use super::MODULE;
use crate::inputs::mix::key64;
use crate::primitives::cuda::prelude::*;
use crate::primitives::cuda::{ZipfArg, ZipfTable};
use crate::primitives::hash_search::layout::{Layout, NO_ID, slot_word};
use crate::primitives::hash_search::records::{self, Searches};

/// Empties a table.
pub const EMPTY: &str = "hash_empty";

/// Generates the search keys.
const FILL_KEYS: &str = "hash_fill_keys";

device_struct! {
    /// `Table` in the kernels.
    pub struct TableArg: 24 {
        slots: DevicePtr<u64>,
        empty: u64,
        per_region: u32,
        regions: u32,
    }

    /// `Records` in the kernels.
    pub struct RecordsArg: 24 {
        key: u64,
        count: u64,
        copies: u64,
    }

    /// `Searches` in the kernels.
    pub struct SearchesArg: 112 {
        records: RecordsArg,
        key: u64,
        hits: u64,
        zipf: u64,
        table: ZipfArg,
    }
}

/// A table in device memory.
pub struct Table {
    pub layout: Layout,
    pub slots: DeviceBuffer<u64>,
    /// The word of an empty slot.
    pub empty: u64,
}

/// The arguments of kernels that generate records.
pub fn records_arg(records: &records::Records) -> RecordsArg {
    RecordsArg { key: key64(records.seed), count: records.count, copies: records.copies }
}

/// The kernels that fill a table for searches.
pub fn table_kernels(layout: &Layout) -> KernelList {
    let fill = format!("hash_fill_table_{}", layout.slots);
    KernelList::default().untimed(MODULE, [EMPTY.to_owned(), fill])
}

impl Table {
    /// Room for the records; the slots are not empty yet.
    pub fn new(gpu: &Gpu, layout: Layout, records: &records::Records) -> Result<Table, Failure> {
        let slots = array(gpu, layout.bytes() / 8)?;
        Ok(Table { layout, slots, empty: slot_word(records.empty_key(), NO_ID) })
    }

    /// A table with these records.
    pub fn filled(gpu: &Gpu, layout: Layout, records: &records::Records) -> Result<Table, Failure> {
        let (table, module) = (Table::new(gpu, layout, records)?, gpu.module(MODULE)?);
        table.clear(gpu, &module.kernel(EMPTY)?)?;
        let fill = module.kernel(&format!("hash_fill_table_{}", layout.slots))?;
        launch_over(gpu, &fill, records.count, args![table.arg(), records_arg(records), records.count])?;
        Ok(table)
    }

    /// Queues the kernel that empties the table.
    pub fn clear(&self, gpu: &Gpu, empty: &Kernel) -> Result<(), Failure> {
        let slots = self.layout.all_slots();
        launch_over(gpu, empty, slots, args![self.slots, self.empty, slots])
    }

    /// The arguments of kernels.
    pub fn arg(&self) -> TableArg {
        TableArg {
            slots: self.slots.pointer(),
            empty: self.empty,
            per_region: self.layout.per_region,
            regions: self.layout.regions,
        }
    }
}

/// The search keys, and an extra one, which only a deliberate mistake reads.
pub struct Keys {
    pub keys: DeviceBuffer<u32>,
    pub arg: SearchesArg,
    _zipf: Option<ZipfTable>,
}

impl Keys {
    /// The kernels that generate keys.
    pub const KERNELS: [&str; 1] = [FILL_KEYS];

    /// Generates the keys.
    pub fn new(gpu: &Gpu, searches: &Searches, n: u64) -> Result<Keys, Failure> {
        let zipf = searches.zipf.as_ref().map(|zipf| ZipfTable::new(gpu, zipf)).transpose()?;
        let arg = searches_arg(searches, zipf.as_ref())?;
        let keys = array(gpu, n + 1)?;
        launch_over(gpu, &gpu.module(MODULE)?.kernel(FILL_KEYS)?, n + 1, args![keys, arg, n + 1])?;
        Ok(Keys { keys, arg, _zipf: zipf })
    }
}

fn searches_arg(searches: &Searches, table: Option<&ZipfTable>) -> Result<SearchesArg, Failure> {
    Ok(SearchesArg {
        records: records_arg(&searches.records),
        key: key64(searches.seed),
        hits: searches.hits,
        zipf: searches.zipf.as_ref().map_or(0, |zipf| key64(zipf.seed)),
        table: ZipfArg::of(table)?,
    })
}
