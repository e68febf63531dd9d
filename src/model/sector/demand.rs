//! What a pass asks of the machine, and how long that takes.

/// Seconds of one resource each. Those of one resource add up, for whatever uses it shares it;
/// resources work at the same time (a roofline). A miss holds up the cache that it passes, so
/// requests and memory are one.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Demand {
    /// Of the processors' first caches.
    pub first: f64,
    /// Of what the processors execute.
    pub arithmetic: f64,
    /// Of blocks of threads that start one after another, and what issues their accesses.
    pub blocks: f64,
    /// Of what the last cache can take in, access by access.
    pub requests: f64,
    /// Of what it can hand over, byte by byte.
    pub cache: f64,
    /// Of waiting, with all the threads there are.
    pub latency: f64,
    /// Of tiles that are taken one after another.
    pub turns: f64,
    /// Of the first loads that wait for others, before anything overlaps: not a resource.
    pub depth: f64,
    /// Of memory, by what goes there.
    pub memory: Vec<(&'static str, f64)>,
}

impl Demand {
    /// Seconds of memory for one term.
    pub fn memory(term: &'static str, seconds: f64) -> Demand {
        Demand { memory: vec![(term, seconds)], ..Demand::default() }
    }

    /// Both.
    #[must_use]
    pub fn and(mut self, other: Demand) -> Demand {
        self.first += other.first;
        self.arithmetic += other.arithmetic;
        self.blocks += other.blocks;
        self.requests += other.requests;
        self.cache += other.cache;
        self.latency += other.latency;
        self.turns += other.turns;
        self.depth += other.depth;
        self.memory.extend(other.memory);
        self
    }

    /// Its resources and how long each is busy: the longest is how long the pass takes.
    pub fn resources(&self) -> [(&'static str, f64); 7] {
        let memory: f64 = self.memory.iter().map(|(_, seconds)| seconds).sum();
        [
            ("first cache", self.first),
            ("blocks", self.blocks),
            ("latency", self.latency),
            ("cache", self.cache),
            ("arithmetic", self.arithmetic),
            ("turns", self.turns),
            (self.largest(), self.requests + memory),
        ]
    }

    /// Every term with its seconds.
    pub fn terms(&self) -> impl Iterator<Item = (&'static str, f64)> {
        let [first, blocks, latency, cache, arithmetic, turns, _] = self.resources();
        let latency = (latency.0, latency.1 + self.depth);
        [first, blocks, latency, cache, arithmetic, turns, ("requests", self.requests)]
            .into_iter()
            .chain(self.memory.iter().copied())
    }

    /// Seconds of what a tile does one after another: what passes the last cache on the way to memory counts once,
    /// and so does what the warps of a block execute while others ask for shared memory.
    pub fn one_after_another(&self) -> f64 {
        let memory: f64 = self.memory.iter().map(|(_, seconds)| seconds).sum();
        self.first.max(self.arithmetic) + self.latency + self.cache.max(self.requests + memory)
    }

    /// The term that decides how long the pass takes.
    pub fn binding(&self) -> &'static str {
        let resources = self.resources();
        resources.iter().max_by(|a, b| a.1.total_cmp(&b.1)).map_or("nothing", |(name, _)| name)
    }

    /// Seconds of the pass.
    pub fn seconds(&self) -> f64 {
        self.depth + self.resources().iter().fold(0.0, |most, (_, seconds)| seconds.max(most))
    }

    /// What most of the requests and of memory's time goes to.
    fn largest(&self) -> &'static str {
        let mut sums: Vec<(&'static str, f64)> = vec![("requests", self.requests)];
        for (term, seconds) in &self.memory {
            match sums.iter_mut().find(|(known, _)| known == term) {
                Some(sum) => sum.1 += seconds,
                None => sums.push((term, *seconds)),
            }
        }
        sums.iter().max_by(|a, b| a.1.total_cmp(&b.1)).map_or("requests", |(term, _)| term)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tile_takes_one_resource_after_another() {
        let copied = Demand { first: 1.0, arithmetic: 2.0, cache: 3.0, ..Demand::memory("streams", 2.5) };
        assert_eq!((copied.one_after_another(), copied.seconds()), (5.0, 3.0));
        assert_eq!(Demand { requests: 1.0, ..copied }.one_after_another(), 5.5);
    }

    #[test]
    fn one_resource_adds_up_and_the_busiest_decides() {
        let demand =
            |first, requests, memory| Demand { first, requests, ..Demand::memory("streams", memory) };
        let both = demand(1.0, 1.0, 2.0).and(demand(3.0, 0.5, 1.0));
        assert_eq!((both.first, both.seconds(), both.binding()), (4.0, 4.5, "streams"));
        let near = both.and(demand(3.0, 0.0, 0.0));
        assert_eq!((near.seconds(), near.binding()), (7.0, "first cache"));
        assert_eq!(near.clone().and(Demand { depth: 0.5, ..Demand::default() }).seconds(), 7.5);
        let names: Vec<_> = near.terms().map(|(name, _)| name).collect();
        assert_eq!(
            names[..7],
            ["first cache", "blocks", "latency", "cache", "arithmetic", "turns", "requests"]
        );
    }
}
