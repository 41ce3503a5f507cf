//! Statistics of measurements: intervals, change points, steady state. Each file names its source.

mod best;
mod changes;
mod elementary;
mod percentile;
mod random;
mod resample;
mod series;
mod steady;
mod summary;
mod trend;

pub use best::{Contest, Standing, standings};
pub use changes::change_points;
pub(crate) use elementary::{ERRORS, MISS, mean, resolution, students_t, variance, welch_freedom};
pub use elementary::{Estimate, median};
pub use percentile::{percentile_interval, samples_needed, supports};
pub use random::Random;
pub use resample::mean_of_series;
pub use steady::{STEADY_ROUNDS, SteadyState, steady_state};
pub use summary::{Summary, summary};
pub use trend::{Trend, order_chance, trend};
