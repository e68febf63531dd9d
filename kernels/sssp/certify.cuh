// The certificate of sssp (proved in src/core/primitives/sssp/mod.rs): no arc can lower a distance, and every vertex
// with a distance is supported, by a tight arc of a weight above 0, or by one of weight 0 from a supported vertex.
#pragma once

#include "../common/certify.cuh"
#include "../common/warp.cuh"

#define UNREACHED 0xFFFFFFFFu

// The graph, its source, and the distances to be judged.
struct Paths {
    const u32* starts;
    const u64* arcs;
    const u32* distances;
    u32 vertices;
    u32 source;
};

// Calls f(vertex, first arc, end) for each vertex, in all lanes of a warp.
template <class F> LAB void for_vertices(const Paths& p, F f) {
    for (u64 v = thread_index() / 32; v < p.vertices; v += thread_count() / 32) f((u32)v, p.starts[v], p.starts[v + 1]);
}

// Checks that the source is at 0 and that no arc can lower a distance; marks the vertices that tight arcs of a weight
// above 0 support. finding->sum = a checksum of the graph, which a kernel might have changed.
LAB void relaxes(const Paths& p, u32* supported, Finding* finding) {
    u32 checked = 0;
    u64 sum = 0;
    for_vertices(p, [&](u32 u, u32 begin, u32 end) {
        const u32 distance = p.distances[u];
        if (lane_of() == 0) {
            ++checked;
            sum += mix64((u64)u << 32 | end);
            if (u == p.source) {
                mark(supported, u);
                if (distance != 0) mistake(finding, u, TOO_FAR, u, 0, distance);
            }
        }
        for (u64 at = (u64)begin + lane_of(); at < end; at += 32) {
            const u64 arc = p.arcs[at];
            const u32 v = (u32)arc, weight = (u32)(arc >> 32), through = distance + weight;
            sum += mix64(arc ^ mix64(at));
            if (distance == UNREACHED || through < weight || through == UNREACHED) continue;
            const u32 found = p.distances[v];
            if (found > through) mistake(finding, v, TOO_FAR, v, through, found);
            if (found == through && weight > 0) mark(supported, v);
        }
    });
    add_count(&finding->checked, checked);
    add_sum(&finding->sum, sum);
}

// A vertex that u supports by an arc of weight 0 and that is not marked yet; UNREACHED if there is none.
LAB u32 supported_by(const Paths& p, const u32* supported, u32 u) {
    for (u64 at = p.starts[u]; at < p.starts[u + 1]; ++at) {
        const u32 v = (u32)p.arcs[at];
        if (p.arcs[at] >> 32 == 0 && p.distances[v] == p.distances[u] && (__ldcg(&supported[v >> 5]) >> (v & 31u) & 1u) == 0) {
            return v;
        }
    }
    return UNREACHED;
}

// Marks vertices that marked ones support by arcs of weight 0, and follows such arcs from each along a path. Sets *any
// if it marked one.
LAB void supports(const Paths& p, u32* supported, u32* any) {
    for_vertices(p, [&](u32 u, u32 begin, u32 end) {
        const u32 distance = p.distances[u];
        if (distance == UNREACHED || (__ldcg(&supported[u >> 5]) >> (u & 31u) & 1u) == 0) return;
        for (u64 at = (u64)begin + lane_of(); at < end; at += 32) {
            if (p.arcs[at] >> 32 != 0) continue;
            u32 v = (u32)p.arcs[at];
            if (p.distances[v] != distance || set_bit(supported, v) == 0) continue;
            *any = 1;
            while ((v = supported_by(p, supported, v)) != UNREACHED) mark(supported, v);
        }
    });
}

// Checks that every vertex with a distance is marked.
LAB void reached(const Paths& p, const u32* supported, Finding* finding) {
    u32 count = 0;
    for (u64 v = thread_index(); v < p.vertices; v += thread_count()) {
        const u32 distance = p.distances[v];
        if (distance == UNREACHED) continue;
        ++count;
        if (!marked(supported, v)) mistake(finding, v, NO_PATH, v, 0, distance);
    }
    add_count(&finding->touched, count);
}
