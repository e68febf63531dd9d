//! Detection of a parallel launcher from the environment.

use std::env;

/// A launcher that started several processes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Launch {
    /// Number of processes, more than one.
    pub size: usize,
    /// Number of this process, from 0, if the launcher sets it.
    pub rank: Option<usize>,
    /// The variable that held the size.
    pub said_by: &'static str,
}

/// Variables in which launchers pass size and rank. Launchers that may run inside another one come first:
/// `mpirun` in a Slurm allocation. Slurm sets SLURM_NTASKS also in a batch script, which is a single process,
/// but SLURM_STEP_NUM_TASKS only in processes started by `srun`.
const VARIABLES: [(&str, &str); 4] = [
    ("OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK"),
    ("MV2_COMM_WORLD_SIZE", "MV2_COMM_WORLD_RANK"),
    ("PMI_SIZE", "PMI_RANK"),
    ("SLURM_STEP_NUM_TASKS", "SLURM_PROCID"),
];

impl Launch {
    /// The launcher of this process; `None` if it was started alone.
    pub fn seen() -> Option<Launch> {
        Launch::of(|name| env::var(name).ok())
    }

    fn of(variable: impl Fn(&str) -> Option<String>) -> Option<Launch> {
        let number = |name: &str| variable(name)?.trim().parse::<usize>().ok();
        let (said_by, rank, size) =
            VARIABLES.iter().find_map(|(size, rank)| Some((*size, *rank, number(size)?)))?;
        (size > 1).then(|| Launch { size, rank: number(rank), said_by })
    }

    /// `started as 4 ranks`.
    pub fn words(&self) -> String {
        format!("started as {} ranks", self.size)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(variables: &[(&str, &str)]) -> Option<(usize, Option<usize>)> {
        let named = |name: &str| variables.iter().find(|(n, _)| *n == name).map(|(_, v)| (*v).to_owned());
        Launch::of(named).map(|launch| (launch.size, launch.rank))
    }

    #[test]
    fn each_launcher_is_recognised() {
        assert_eq!(of(&[("OMPI_COMM_WORLD_SIZE", "4"), ("OMPI_COMM_WORLD_RANK", "3")]), Some((4, Some(3))));
        assert_eq!(of(&[("PMI_SIZE", "2"), ("PMI_RANK", "0")]), Some((2, Some(0))));
        assert_eq!(of(&[("SLURM_STEP_NUM_TASKS", "8"), ("SLURM_PROCID", "5")]), Some((8, Some(5))));
        assert_eq!(of(&[("PMI_SIZE", "2")]), Some((2, None)));
    }

    #[test]
    fn one_process_is_no_job() {
        assert_eq!(of(&[]), None);
        assert_eq!(of(&[("OMPI_COMM_WORLD_SIZE", "1"), ("SLURM_STEP_NUM_TASKS", "4")]), None);
        assert_eq!(of(&[("SLURM_NTASKS", "4"), ("SLURM_PROCID", "0")]), None, "a batch script");
        assert_eq!(of(&[("PMI_SIZE", "many")]), None);
    }
}
