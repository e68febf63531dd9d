//! The report that a certificate on the device leaves for the host: eight words (`Finding` in
//! `kernels/common/certify.cuh`).

use crate::case::Failure;
use crate::device::cuda::{DeviceBuffer, Gpu};

/// The report of a certificate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CheckReport {
    first: u64,
    /// Elements that were checked.
    pub checked: u64,
    /// A second count, whose meaning depends on the certificate.
    pub touched: u64,
    /// A checksum, whose meaning depends on the certificate.
    pub sum: u64,
    what: u64,
    at: u64,
    expected: u64,
    found: u64,
}

impl CheckReport {
    fn from_words(w: [u64; 8]) -> CheckReport {
        let [first, checked, touched, sum, what, at, expected, found] = w;
        CheckReport { first, checked, touched, sum, what, at, expected, found }
    }

    /// The least element with a mistake.
    pub fn mistake_at(&self) -> Option<u64> {
        (self.first != u64::MAX).then_some(self.first)
    }

    /// Describes an incomplete check: not all of `n` elements, called `what`, were checked.
    pub fn unchecked(&self, n: u64, what: &str) -> Option<String> {
        (self.checked != n).then(|| format!("{} of {n} {what} were checked", self.checked))
    }

    /// Describes the first mistake; `None` without one. `output` names the array that was checked.
    pub fn mistake(&self, output: &str) -> Option<String> {
        let first = self.mistake_at()?;
        let CheckReport { at, expected, found, .. } = self;
        Some(match self.what {
            1 => format!("element {first}: {output}[{at}] is {found:#x} instead of {expected:#x}"),
            2 => format!("L[{first}] is {found} instead of {expected}"),
            3 => format!("L[{first}] is {found}, outside its partition, which begins at {expected}"),
            4 => format!("element {first}: {output}[{at}] was not written (expected {expected:#x})"),
            5 => format!("{output}[{at}] holds {found:#x}, but nothing is written there"),
            6 => format!("{output}[{at}] holds {found:#x}, which is stored by no index that points there"),
            7 => format!("{output}[{at}] holds {found:#x}, which does not belong there"),
            8 => format!(
                "element {first}: the value beside {output}[{at}] is {found:#x} instead of {expected:#x}"
            ),
            9 => format!("offset {at} is {found} instead of {expected}"),
            10 => format!("{output}[{at}] is {found:#x}, but follows {expected:#x}"),
            11 => format!(
                "the value {found:#x} beside {output}[{at}] does not belong to its key, {expected:#x}"
            ),
            12 => {
                format!(
                    "{output}[{at}] was at {found} in the input, but the equal key before it was at {expected}"
                )
            }
            13 => format!("{output}[{at}] is {found}, but an arc or the source allows {expected}"),
            14 => format!("{output}[{at}] is {found}, but no path has this length"),
            15 => format!(
                "row {at} of system {expected}: its residual is {:e} of the system's largest terms",
                f64::from_bits(*found)
            ),
            16 => format!(
                "the water of cell {at} is {:e} high instead of {:e}",
                f64::from_bits(*found),
                f64::from_bits(*expected)
            ),
            _ => format!("element {first} is wrong"),
        })
    }
}

/// Runs a certificate and, if it found a mistake, runs it again so that the report describes the first mistake.
/// `check` queues the certificate's kernels with the report's buffer.
pub fn find(
    gpu: &Gpu,
    mut check: impl FnMut(&DeviceBuffer<u64>) -> Result<(), Failure>,
) -> Result<CheckReport, Failure> {
    let mut run = |first: u64| -> Result<CheckReport, Failure> {
        let report = gpu.upload(&[first, 0, 0, 0, 0, 0, 0, 0])?;
        check(&report)?;
        let words = report.to_host()?;
        let words = <[u64; 8]>::try_from(words)
            .map_err(|w| Failure::Failed(format!("a report of {} words instead of 8", w.len())))?;
        Ok(CheckReport::from_words(words))
    };
    let finding = run(u64::MAX)?;
    match finding.mistake_at() {
        // Only an element below `at + 1` can now be recorded, i.e. the first mistake.
        Some(at) => run(at + 1).map(|details| CheckReport { first: at, ..details }),
        None => Ok(finding),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mistakes_are_told_in_words() {
        let told = |words| CheckReport::from_words(words).mistake("R_out");
        assert_eq!(told([u64::MAX, 9, 0, 0, 0, 0, 0, 0]), None);
        assert_eq!(
            told([3, 9, 0, 0, 1, 7, 0x10, 0x20]).unwrap(),
            "element 3: R_out[7] is 0x20 instead of 0x10"
        );
        assert_eq!(told([3, 9, 0, 0, 2, 3, 10, 20]).unwrap(), "L[3] is 20 instead of 10");
        assert!(told([3, 9, 0, 0, 4, 7, 1, 0]).unwrap().contains("was not written"));
    }
}
