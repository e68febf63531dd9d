//! Length of the observation of `/proc/stat` that separates noise from rounding errors. Pure.

use std::collections::VecDeque;

use super::CpuTime;

/// Readings taken at the same time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Moment {
    /// Seconds since an arbitrary start.
    pub at: f64,
    pub cpus: CpuTime,
    /// CPU seconds of this process and of its children.
    pub own: f64,
}

/// Load of the CPUs between two moments.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Load {
    /// Share of the CPUs' time taken by the hypervisor.
    pub steal: f64,
    /// Number of CPUs kept busy by other processes.
    pub background: f64,
}

/// The moments at which rounds began and ended, as far back as needed.
///
/// Every reading is a multiple of 10 ms, so a difference of two readings is wrong by up to that much, by 4 ms
/// on average, for the idle, waiting and stolen time of each CPU. Over a tenth of a second on two CPUs this
/// error looks like a third of a CPU of background load, or a tenth of the time stolen. A round is therefore
/// judged alone only if it is long enough for the error to stay below half of the threshold of a flag
/// (`crate::stats::noise`); shorter rounds are judged together with the time before them. The price is that a
/// burst shorter than a second is blamed on neighbouring rounds too, each of which then gets a second attempt.
#[derive(Debug)]
pub struct Window {
    cpus: f64,
    moments: VecDeque<Moment>,
    /// Start of the current round.
    begun: Option<f64>,
}

/// Longest window for a short round, in units of the required length: beyond it, the window is mostly another,
/// long round.
const LONG: f64 = 10.0;

/// Longest gap between two rounds, in units of the required length. A longer gap contains work outside any
/// round: the client wrote the run's tables and charts, or the user paused.
const GAP: f64 = 0.05;

impl Window {
    /// A window for a machine with this many CPUs.
    pub fn new(cpus: usize) -> Window {
        Window { cpus: cpus as f64, moments: VecDeque::new(), begun: None }
    }

    /// The required length, seconds. Three standard errors of the idle, waiting and stolen ticks of n CPUs are
    /// 3 · 4 ms · √(3n), which is below 0.05 CPUs over √n/2 s. For the stolen ticks alone, 3 · 4 ms · √n of n
    /// CPU seconds is about 1% over one second.
    fn long_enough(&self) -> f64 {
        (self.cpus.sqrt() / 2.0).max(1.0)
    }

    /// A round begins. Earlier moments are discarded if the reading failed or the gap since the last one is too
    /// long.
    pub fn begin(&mut self, now: Option<Moment>) {
        let gap = now.zip(self.moments.back()).map_or(0.0, |(now, last)| now.at - last.at);
        if now.is_none() || gap > GAP * self.long_enough() {
            self.moments.clear();
        }
        self.begun = now.map(|now| now.at);
        self.moments.extend(now);
    }

    /// A round ends. Returns the load since it began, or since the latest earlier moment that is far enough
    /// back; `None` if there is none.
    pub fn end(&mut self, now: Moment) -> Option<Load> {
        let (enough, round) = (self.long_enough(), now.at - self.begun?);
        while self.moments.get(1).is_some_and(|next| now.at - next.at >= enough) {
            self.moments.pop_front();
        }
        let from = *self.moments.front()?;
        self.moments.push_back(now);
        let length = now.at - from.at;
        let fits = length >= enough && (round >= enough || length <= LONG * enough);
        if fits { self.load(from, now) } else { None }
    }

    /// `None` if the readings are inconsistent, for example made up by a container or from before a suspend.
    fn load(&self, from: Moment, to: Moment) -> Option<Load> {
        let seconds = to.at - from.at;
        let capacity = seconds * self.cpus;
        let spent = |of: fn(&CpuTime) -> f64| of(&to.cpus) - of(&from.cpus);
        let accounted = spent(|cpus| cpus.all) / capacity;
        let stolen = spent(|cpus| cpus.stolen);
        // Idle time is measured, but busy time is sampled at each tick; so the difference to idle time is the
        // more accurate measure of busy time.
        let busy = capacity - spent(|cpus| cpus.idle) - stolen;
        let others = busy - (to.own - from.own);
        // On a quiet machine the difference is a few milliseconds around zero.
        let load = Load { steal: stolen / capacity, background: (others / seconds).max(0.0) };
        (0.5..2.0).contains(&accounted).then_some(load)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// `at` seconds after the start of a machine with two CPUs, on which other processes keep `others` CPUs
    /// busy, we keep `own` busy, and a share `steal` is stolen; readings are rounded down to 10 ms.
    fn moment(at: f64, own: f64, others: f64, steal: f64) -> Moment {
        let ticks = |seconds: f64| (seconds * 100.0).floor() / 100.0;
        let stolen = ticks(2.0 * at * steal);
        let idle = ticks(at * (2.0 - own - others) - 2.0 * at * steal);
        Moment { at, cpus: CpuTime { all: ticks(2.0 * at), idle, stolen }, own: own * at }
    }

    fn load(from: f64, to: f64, others: f64, steal: f64) -> Option<Load> {
        let mut window = Window::new(2);
        window.begin(Some(moment(from, 0.7, others, steal)));
        window.end(moment(to, 0.7, others, steal))
    }

    #[test]
    fn a_long_round_is_told_alone() {
        let load = load(3.0, 5.0, 0.5, 0.1).expect("two seconds are long enough");
        assert!((load.background - 0.5).abs() < 0.02 && (load.steal - 0.1).abs() < 0.01, "{load:?}");
    }

    #[test]
    fn short_rounds_are_told_with_those_before_them() {
        let mut window = Window::new(2);
        let mut round = |number: u32| {
            let at = f64::from(number) * 0.24;
            window.begin(Some(moment(at, 0.7, 1.0, 0.0)));
            window.end(moment(at + 0.2, 0.7, 1.0, 0.0)).map(|load| load.background)
        };
        assert_eq!([round(0), round(1), round(2), round(3)], [None; 4]);
        for number in 4..20 {
            let background = round(number).expect("a second has gone by");
            assert!((background - 1.0).abs() < 0.03, "{background}");
        }
    }

    /// Between two quiet rounds the client spends 0.4 s writing the run's files.
    #[test]
    fn what_happens_between_two_rounds_is_no_noise_of_the_next() {
        let quiet = |at: f64| moment(at, 0.7, 0.0, 0.0);
        // The client's work remains in the cumulative times.
        let later = |at: f64| {
            let Moment { cpus, .. } = quiet(at);
            Moment { cpus: CpuTime { idle: cpus.idle - 0.4, ..cpus }, ..quiet(at) }
        };
        let mut window = Window::new(2);
        for number in 0..10 {
            let at = f64::from(number) * 0.24;
            window.begin(Some(quiet(at)));
            window.end(quiet(at + 0.2));
        }
        for number in 0..10 {
            let at = 2.8 + f64::from(number) * 0.24;
            window.begin(Some(later(at)));
            let background = window.end(later(at + 0.2)).map(|load| load.background);
            assert!(background.is_none_or(|background| background < 0.05), "{background:?}");
            assert_eq!(background.is_some(), number >= 4, "a second has gone by since");
        }
    }

    #[test]
    fn a_long_round_is_not_looked_at_in_a_short_ones_place() {
        let mut window = Window::new(2);
        window.begin(Some(moment(0.0, 0.7, 0.0, 0.0)));
        window.end(moment(60.0, 0.7, 0.0, 0.0));
        window.begin(Some(moment(60.01, 0.7, 0.0, 0.0)));
        assert_eq!(window.end(moment(60.2, 0.7, 0.0, 0.0)), None);
    }

    #[test]
    fn readings_that_do_not_add_up_tell_nothing() {
        let zeros = |at| Moment { at, cpus: CpuTime::default(), own: 0.0 };
        let mut window = Window::new(2);
        window.begin(Some(zeros(0.0)));
        assert_eq!(window.end(zeros(5.0)), None);
        window.begin(None);
        assert_eq!(window.end(zeros(9.0)), None);
    }

    proptest! {
        /// For any start and length of a quiet round, rounding alone raises no flag.
        #[test]
        fn rounding_alone_is_no_noise(start in 0.0..100.0f64, length in 0.0..3.0f64) {
            if let Some(load) = load(start, start + length, 0.0, 0.0) {
                prop_assert!(load.background < 0.05 && load.steal < 0.01, "{:?}", load);
            }
        }
    }
}
