//! How long one must look at `/proc/stat` to tell noise from its rounding. Pure.

use std::collections::VecDeque;

use super::stat::CpuTime;

/// Readings taken together.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Moment {
    /// Seconds since some start.
    pub at: f64,
    pub cpus: CpuTime,
    /// CPU seconds of this process.
    pub own: f64,
}

/// What the CPUs did between two moments.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Load {
    /// Share of their time that the hypervisor took.
    pub steal: f64,
    /// CPUs that others kept busy.
    pub background: f64,
}

/// The moments at which rounds began and ended, as far back as they are of use.
///
/// Every reading is a multiple of 10 ms, so that the difference of two is wrong by up to
/// that much, by 4 ms on average, for idle, waiting and stolen time of each CPU. Over a
/// tenth of a second on two CPUs that looks like a third of a CPU busy, or a tenth of the
/// time stolen, where nothing was. So a round is looked at alone only where it lasts long
/// enough for the error to stay below half of what raises a flag
/// (`crate::stats::noise`); shorter ones are looked at together with the time before
/// them. Their flags tell of noise around them, at the price that a burst shorter than a
/// second is blamed on its neighbours too, which costs those a second attempt.
#[derive(Debug)]
pub struct Window {
    cpus: f64,
    moments: VecDeque<Moment>,
    /// When the round began that has not ended.
    begun: Option<f64>,
}

/// A window longer than so many that are long enough is mostly another, long round's.
const LONG: f64 = 10.0;

/// Of what is long enough, how long may lie between two rounds. In a longer gap somebody
/// did something that is no round's: the client wrote the run's tables and charts, or a
/// person made a pause.
const GAP: f64 = 0.05;

impl Window {
    /// Of a machine with so many CPUs.
    pub fn new(cpus: usize) -> Window {
        Window { cpus: cpus as f64, moments: VecDeque::new(), begun: None }
    }

    /// Seconds that it takes. Three standard errors of the idle, waiting and stolen ticks
    /// of n CPUs are 3 · 4 ms · √3n: less than 0.05 CPUs over √n/2 s. Of the stolen ones
    /// alone, 3 · 4 ms · √n of n CPU seconds: about 1% over one second.
    fn long_enough(&self) -> f64 {
        (self.cpus.sqrt() / 2.0).max(1.0)
    }

    /// A round begins; a reading that failed forgets the earlier ones, and so does a gap
    /// since the last one.
    pub fn begin(&mut self, now: Option<Moment>) {
        let gap = now.zip(self.moments.back()).map_or(0.0, |(now, last)| now.at - last.at);
        if now.is_none() || gap > GAP * self.long_enough() {
            self.moments.clear();
        }
        self.begun = now.map(|now| now.at);
        self.moments.extend(now);
    }

    /// A round ends: the load since it began, or since the latest moment before it that is
    /// long enough ago. `None` before there is one.
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

    /// `None` where the readings do not add up, as where a container makes them up or the
    /// machine was asleep.
    fn load(&self, from: Moment, to: Moment) -> Option<Load> {
        let seconds = to.at - from.at;
        let capacity = seconds * self.cpus;
        let spent = |of: fn(&CpuTime) -> f64| of(&to.cpus) - of(&from.cpus);
        let accounted = spent(|cpus| cpus.all) / capacity;
        let stolen = spent(|cpus| cpus.stolen);
        // Idle time is measured, where time in use is counted by sampling the CPU at each
        // tick: what is not idle is known better than what is busy.
        let busy = capacity - spent(|cpus| cpus.idle) - stolen;
        let others = busy - (to.own - from.own);
        // Of a quiet machine the difference is some milliseconds around nothing.
        let load = Load { steal: stolen / capacity, background: (others / seconds).max(0.0) };
        (0.5..2.0).contains(&accounted).then_some(load)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// `at` seconds after the start of a machine of two CPUs on which others keep `others`
    /// CPUs busy, we keep `own`, and a share of `steal` is stolen; readings are rounded
    /// down to 10 ms.
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

    /// Between two rounds the client writes for 0.4 s what a run leaves behind, and the
    /// rounds themselves are quiet.
    #[test]
    fn what_happens_between_two_rounds_is_no_noise_of_the_next() {
        let quiet = |at: f64| moment(at, 0.7, 0.0, 0.0);
        // The client's work stays in the sums.
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
        /// Whenever a quiet round begins and ends, its rounding raises no flag.
        #[test]
        fn rounding_alone_is_no_noise(start in 0.0..100.0f64, length in 0.0..3.0f64) {
            if let Some(load) = load(start, start + length, 0.0, 0.0) {
                prop_assert!(load.background < 0.05 && load.steal < 0.01, "{:?}", load);
            }
        }
    }
}
