//! Resource demands of a pass, and the time they take.

/// Busy seconds of each resource. Demands on one resource add up, because its users share it; different
/// resources work at the same time (a roofline). A miss occupies the cache that it passes, so requests and
/// memory form one resource.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Demand {
    /// Of the processors' first caches.
    pub first: f64,
    /// Of the arithmetic units.
    pub arithmetic: f64,
    /// Of starting blocks of threads one after another, and issuing their accesses.
    pub blocks: f64,
    /// Of the last cache, for accepting accesses one by one.
    pub requests: f64,
    /// Of the last cache, for delivering bytes.
    pub cache: f64,
    /// Of waiting, with all threads of the device in flight.
    pub latency: f64,
    /// Idle time that tiles in turns cause on the busiest resource; not itself a resource.
    pub turns: f64,
    /// Latency of first loads that depend on others, before anything overlaps; not a resource.
    pub depth: f64,
    /// Of streams that are prefetched while processors wait for other loads.
    pub streams: f64,
    /// Of memory, by term.
    pub memory: Vec<(&'static str, f64)>,
}

impl Demand {
    /// A demand of memory only, for one term.
    pub fn memory(term: &'static str, seconds: f64) -> Demand {
        Demand { memory: vec![(term, seconds)], ..Demand::default() }
    }

    /// The demand of prefetched streams: waiting of other loads does not hold them up.
    #[must_use]
    pub fn fetched_ahead(self) -> Demand {
        Demand { first: self.first, streams: self.cache, ..Demand::default() }
    }

    /// The sum of both demands.
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
        self.streams += other.streams;
        self.memory.extend(other.memory);
        self
    }

    /// The resources and their busy times: the longest determines the time of the pass.
    pub fn resources(&self) -> [(&'static str, f64); 7] {
        let memory: f64 = self.memory.iter().map(|(_, seconds)| seconds).sum();
        [
            ("first cache", self.first),
            ("blocks", self.blocks),
            ("latency", self.latency),
            ("cache", self.cache),
            ("arithmetic", self.arithmetic),
            ("streams", self.streams),
            (self.largest(), self.requests + memory),
        ]
    }

    /// Every term with its seconds.
    pub fn terms(&self) -> impl Iterator<Item = (&'static str, f64)> {
        let [first, blocks, latency, cache, arithmetic, streams, _] = self.resources();
        let latency = (latency.0, latency.1 + self.depth);
        let turns = ("turns", self.turns);
        [first, blocks, latency, cache, arithmetic, streams, turns, ("requests", self.requests)]
            .into_iter()
            .chain(self.memory.iter().copied())
    }

    /// The busy time of the busiest resource.
    pub fn busiest(&self) -> f64 {
        self.resources().iter().fold(0.0, |most, (_, seconds)| seconds.max(most))
    }

    /// Seconds of the memory path, and of the multiprocessors (whose arithmetic and shared memory work
    /// concurrently): the two stations that a tile visits.
    pub fn places(&self) -> [f64; 2] {
        let memory: f64 = self.memory.iter().map(|(_, seconds)| seconds).sum();
        [self.cache.max(self.requests + memory), self.first.max(self.arithmetic)]
    }

    /// The term that determines the time of the pass.
    pub fn binding(&self) -> &'static str {
        let named = self.resources().into_iter().chain([("turns", self.turns)]);
        named.max_by(|a, b| a.1.total_cmp(&b.1)).map_or("nothing", |(name, _)| name)
    }

    /// Seconds of the pass.
    pub fn seconds(&self) -> f64 {
        self.depth + self.busiest() + self.turns
    }

    /// The largest term among requests and memory.
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
    fn a_tile_is_in_memory_or_on_a_multiprocessor() {
        let copied = Demand { first: 1.0, arithmetic: 2.0, cache: 3.0, ..Demand::memory("streams", 2.5) };
        assert_eq!((copied.places(), copied.seconds()), ([3.0, 2.0], 3.0));
        let asked = Demand { requests: 1.0, turns: 4.0, ..copied };
        assert_eq!((asked.places(), asked.seconds(), asked.binding()), ([3.5, 2.0], 7.5, "turns"));
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
            names[..8],
            ["first cache", "blocks", "latency", "cache", "arithmetic", "streams", "turns", "requests"]
        );
    }
}
