//! The roof that ranking digits sets to onesweep (`kernels/sort/ranking.cuh`): the same work on chip, on tiles that
//! stay in shared memory.

use super::MODULE;
use super::certify::Certificate;
use crate::device::cuda::poison;
use crate::primitives::sort::cuda::prelude::*;
use crate::primitives::sort::methods::onesweep::cuda::{Launch, Pass};
use crate::primitives::sort::methods::onesweep::{Shape, ranked};
use crate::stats;

/// Rounds of all digits in a launch, so many that loads, stores and the launch itself take less than a hundredth of it.
const ROUNDS: u32 = 64;
/// Timed launches, of which the median counts.
const TIMINGS: usize = 5;

/// Tiles of random keys, one for each of the blocks that are resident at once.
pub struct Ranking {
    spec: Spec,
    shape: Shape,
    kernel: Kernel,
    /// Bytes of dynamic shared memory per block: those of a pass, so that as many blocks are resident.
    shared: u32,
    blocks: u32,
    input: Pairs,
    output: Pairs,
    /// Digits of a tile that were counted otherwise than ranked.
    mistakes: DeviceBuffer<u32>,
    certificate: Certificate,
}

impl Ranking {
    /// Tiles of the keys and values of `spec`; `blocks` of them, or as many as blocks of a pass are resident.
    ///
    /// # Errors
    /// `NotApplicable` if a block does not fit on a multiprocessor; otherwise the driver's error.
    pub fn new(gpu: &Gpu, spec: &Spec, blocks: Option<u32>) -> Result<Ranking, Failure> {
        let spec = ranked(spec, 1);
        let (shape, Pass { shared, resident, .. }) = (Shape::of(&spec), Pass::new(gpu, &spec)?);
        let kernel = gpu.module(MODULE)?.kernel(&shape.ranking())?;
        let resident = gpu.max_blocks(&kernel, shape.threads, shared)?.min(resident);
        let blocks = blocks.unwrap_or(resident);
        let spec = ranked(&spec, u64::from(blocks));
        let input = Pairs::new(gpu, spec.keys + 1, spec.sizes())?;
        let certificate = Certificate::of_tiles(gpu, &spec, &spec.source(), shape.tile())?;
        certificate.fill(gpu, &input)?;
        let output = Pairs::new(gpu, spec.keys, spec.sizes())?;
        Ok(Ranking {
            shape,
            kernel,
            shared,
            blocks,
            input,
            output,
            mistakes: gpu.upload(&[0])?,
            certificate,
            spec,
        })
    }

    /// Keys that are ranked in a turn.
    pub fn keys(&self) -> u64 {
        self.spec.keys
    }

    /// Queues so many turns, each by the next digit.
    ///
    /// # Errors
    /// Errors reported by the driver.
    pub fn enqueue(&self, gpu: &Gpu, turns: u32) -> Result<(), Failure> {
        let Digits { begin, end, .. } = self.spec.digits(DIGIT_BITS);
        let launch = Launch {
            from: self.input.pointers(),
            to: self.output.pointers(),
            tickets: self.mistakes.pointer(),
            n: self.spec.keys as u32,
            tiles: self.blocks,
            begin,
            end,
            digits: self.spec.digits(DIGIT_BITS).count(),
            ..Launch::zeroed()
        };
        gpu.launch(&self.kernel, self.blocks, self.shape.threads, self.shared, args![launch, turns])
    }

    /// Poisons the output.
    ///
    /// # Errors
    /// Errors reported by the driver.
    pub fn clear(&mut self, gpu: &Gpu) -> Result<(), Failure> {
        poison(gpu, &mut self.output.keys)?;
        poison(gpu, &mut self.output.values)
    }

    /// Certifies that each tile is in order and has the keys and values that it had, in turns by all digits, and that
    /// its digits were counted as they were ranked.
    ///
    /// # Errors
    /// Errors reported by the driver.
    pub fn judge(&mut self, gpu: &Gpu) -> Result<Verdict, Failure> {
        let mistake = self.certificate.judge(gpu, &self.spec, &self.output)?;
        let miscounted = self.mistakes.to_host()?.iter().any(|digits| *digits > 0);
        let miscounted = || miscounted.then(|| "digits were not counted as they were ranked".to_owned());
        Ok(Verdict::of(mistake.or_else(miscounted), self.spec.keys))
    }
}

/// Keys ranked in a second, by one digit each, where nothing else takes time. The output of the last timed launch is
/// certified.
///
/// # Errors
/// Those of [`Ranking::new`], and `Failed` if a tile is not in order.
pub fn rate(gpu: &Gpu, spec: &Spec) -> Result<f64, Failure> {
    let mut ranking = Ranking::new(gpu, spec, None)?;
    let turns = ROUNDS * ranking.spec.digits(DIGIT_BITS).count();
    ranking.enqueue(gpu, turns)?;
    ranking.clear(gpu)?;
    let timed = |_| gpu.timed(&mut || ranking.enqueue(gpu, turns));
    let timings: Vec<f64> = (0..TIMINGS).map(timed).collect::<Result<_, _>>()?;
    if let Verdict::Wrong { mistake } = ranking.judge(gpu)? {
        return Err(Failure::Failed(format!("wrong result: {mistake}")));
    }
    let seconds = stats::median(&timings).filter(|seconds| *seconds > 0.0);
    let seconds = seconds.ok_or_else(|| Failure::Failed("the GPU's clock stands still".to_owned()))?;
    Ok(ranking.keys() as f64 * f64::from(turns) / seconds)
}
