//! Launchers of MPI, known by the variables that they set.

/// The variable of Slurm.
const SLURM: &str = "SLURM_STEP_NUM_TASKS";

/// What a launcher of MPI says of this process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Launcher {
    /// The variable that says how many ranks there are.
    pub variable: &'static str,
    /// The number of ranks.
    pub ranks: u32,
    /// The number of this one, from 0.
    pub rank: u32,
    /// Whether the library of Open MPI is to be tried first; else that of MPICH.
    pub is_open_mpi: bool,
}

impl Launcher {
    /// The launcher that started this process as one of several ranks. `variable` reads the
    /// environment.
    pub fn find(variable: impl Fn(&str) -> Option<String>) -> Option<Launcher> {
        let number = |name: &str| variable(name)?.trim().parse::<u32>().ok();
        // Slurm starts ranks of Open MPI by PMIx, those of MPICH by its PMI.
        let has_pmix = variable("PMIX_RANK").is_some();
        let known = [
            ("OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK", true),
            ("PMI_SIZE", "PMI_RANK", false),
            (SLURM, "SLURM_PROCID", has_pmix),
        ];
        known.into_iter().find_map(|(size, rank, is_open_mpi)| {
            let ranks = number(size).filter(|ranks| *ranks > 1)?;
            let rank = number(rank).unwrap_or(0);
            Some(Launcher { variable: size, ranks, rank, is_open_mpi })
        })
    }

    /// Whether it is Slurm's srun, which lets the other ranks go on when one fails, unless it is told
    /// otherwise.
    pub fn is_slurm(&self) -> bool {
        self.variable == SLURM
    }

    /// [`Launcher::find`] in the environment of this process.
    pub fn of_this_process() -> Option<Launcher> {
        Launcher::find(|name| std::env::var(name).ok())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(variables: &[(&str, &str)]) -> Option<Launcher> {
        Launcher::find(|name| {
            variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
        })
    }

    #[test]
    fn launchers_are_known_by_their_variables() {
        let open = found(&[("OMPI_COMM_WORLD_SIZE", "4"), ("OMPI_COMM_WORLD_RANK", "3")]).unwrap();
        assert_eq!((open.ranks, open.rank, open.is_open_mpi), (4, 3, true));
        let hydra = found(&[("PMI_SIZE", "2"), ("PMI_RANK", "1")]).unwrap();
        assert_eq!((hydra.ranks, hydra.rank, hydra.is_open_mpi), (2, 1, false));
        let slurm = [("SLURM_STEP_NUM_TASKS", "8"), ("SLURM_PROCID", "5"), ("PMIX_RANK", "5")];
        let by_pmix = found(&slurm).unwrap();
        assert_eq!((by_pmix.ranks, by_pmix.rank, by_pmix.is_open_mpi), (8, 5, true));
        assert!(!found(&slurm[..2]).unwrap().is_open_mpi);
        assert_eq!(found(&[("OMPI_COMM_WORLD_SIZE", "1"), ("PMI_SIZE", "x")]), None);
        assert_eq!(found(&[]), None);
    }
}
