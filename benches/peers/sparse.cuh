// The lab's generated matrices (src/core/inputs/sparse), bit for bit, in compressed rows in host memory. Needs no CUDA: a test
// compiles it with a C++ compiler and compares matrices with those of the lab.
#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "../../kernels/common/inputs.cuh"

// Rows or entries that are not worth a further thread.
static const u64 SPARSE_SERIAL = 1 << 15;

// Calls f(begin, end) for ranges that divide 0..n, by up to as many threads as there are processors.
template <typename F> static void in_ranges(u64 n, F f) {
    const u64 processors = std::max(1u, std::thread::hardware_concurrency());
    const u64 parts = std::min(std::max<u64>((n + SPARSE_SERIAL - 1) / SPARSE_SERIAL, 1), processors);
    std::vector<std::thread> others;
    for (u64 k = 1; k < parts; ++k) others.emplace_back([=] { f(n * k / parts, n * (k + 1) / parts); });
    f(0, n / parts);
    for (std::thread& other : others) other.join();
}

// The key of a seed, for word64.
LAB u64 sparse_key(u64 seed) { return mix64(seed + 0x9E3779B97F4A7C15ull); }

// Random integer i, from 1 to 8 or from -8 to -1.
LAB int small_integer(u64 key, u64 i) {
    const u64 w = word64(key, i);
    const int magnitude = 1 + (int)(w >> 61);
    return (w & 1) == 0 ? magnitude : -magnitude;
}

// ---- R-MAT (src/core/inputs/sparse/rmat.rs) ---------------------------------------------------------

// Four levels for each number of four decimal digits: the bits of the row (low half) and of the column (high half).
static std::vector<unsigned char> rmat_table() {
    // Probabilities of 5, 1, 1 and 3 tenths.
    static const unsigned char row[10] = {0, 0, 0, 0, 0, 0, 1, 1, 1, 1}, column[10] = {0, 0, 0, 0, 0, 1, 0, 1, 1, 1};
    std::vector<unsigned char> table(10000);
    for (u32 number = 0; number < table.size(); ++number) {
        u32 bits = 0;
        for (u32 place = 1000; place > 0; place /= 10) {
            const u32 digit = number / place % 10;
            bits = (bits & 0x77) << 1 | row[digit] | (u32)column[digit] << 4;
        }
        table[number] = (unsigned char)bits;
    }
    return table;
}

struct Entry {
    u32 row, column;
};

// Entry e. A random word serves twelve levels; those beyond the scale are dropped.
static Entry rmat_entry(const std::vector<unsigned char>& table, u64 key, u64 scale, u64 e) {
    const u64 words = std::max<u64>((scale + 11) / 12, 1);
    u64 row = 0, column = 0, level = 0;
    for (u64 w = 0; w < words; ++w) {
        u64 left = word64(key, e * words + w);
        for (int look_up = 0; look_up < 3 && level < scale; ++look_up) {
            const unsigned __int128 product = (unsigned __int128)left * 10000;
            left = (u64)product;
            const u64 bits = table[(u64)(product >> 64)];
            row = row << 4 | (bits & 15);
            column = column << 4 | bits >> 4;
            level += 4;
        }
    }
    return {(u32)(row >> (level - scale)), (u32)(column >> (level - scale))};
}

// ---- matrices ----------------------------------------------------------------------------------

// Compressed rows without values: entries starts[i] to starts[i + 1] belong to row i.
struct Rows {
    std::vector<u32> starts, columns;
    u64 rows() const { return starts.size() - 1; }
    u64 entries() const { return columns.size(); }
};

// A matrix as a function of a seed (src/core/inputs/sparse/generators.rs). Columns ascend within a row.
struct Generator {
    enum Kind { LAPLACE5, LAPLACE7, RANDOM, BANDED, RMAT, EMPTY_ROWS, DENSE_ROW } kind;
    u64 n;  // side of the grid, rows, or the scale of R-MAT
    u64 m;  // entries of a row, or columns beside the diagonal

    bool laplacian() const { return kind == LAPLACE5 || kind == LAPLACE7; }

    // Rows, if there are at most `most`, otherwise more.
    u64 rows(u64 most) const {
        const u64 big = most + 1;
        if (kind == RMAT) return n > 31 ? big : 1ull << n;
        u64 all = n;
        for (int more = kind == LAPLACE5 ? 1 : kind == LAPLACE7 ? 2 : 0; more > 0; --more) {
            all = n > 0 && all > most / n ? big : all * n;
        }
        return std::min(all, big);
    }

    // Entries, if there are at most `most`, which 32 bits must hold, otherwise more.
    u64 entries(u64 most) const {
        const u64 all = rows(most);
        if (all > most) return most + 1;
        u64 sum = 0;
        if (kind == RMAT) return m > most >> n ? most + 1 : m << n;
        if (laplacian()) {
            const u64 faces = n == 0 ? 0 : all / n;  // each side of the grid lacks a neighbour in as many cells
            sum = kind == LAPLACE5 ? 5 * all - 4 * faces : 7 * all - 6 * faces;
            return std::min(sum, most + 1);
        }
        for (u64 row = 0; row < all && sum <= most; ++row) sum += length(row, all);
        return std::min(sum, most + 1);
    }

    // The number of entries of a row; not for R-MAT, which is not made by row.
    u64 length(u64 row, u64 all) const {
        const auto beside = [&](u64 step) {
            const u64 here = row / step % n;
            return (u64)(here > 0) + (u64)(here + 1 < n);
        };
        switch (kind) {
            case LAPLACE5: return 1 + beside(n) + beside(1);
            case LAPLACE7: return 1 + beside(n * n) + beside(n) + beside(1);
            case BANDED: return std::min(m < all ? row + m + 1 : all, all) - (row > m ? row - m : 0);
            case EMPTY_ROWS: return (row % 4 == 1 || row % 4 == 2) && row + 1 < all ? m : 0;
            case DENSE_ROW: return row == all / 2 ? all : m;
            default: return m;
        }
    }

    // Writes the columns of a row.
    void fill(u32* to, u64 key, u64 row, u64 all) const {
        const u64 count = length(row, all);
        if (laplacian()) {
            fill_stencil(to, row);
        } else if (kind == BANDED || (kind == DENSE_ROW && row == all / 2)) {
            const u64 first = kind == BANDED && row > m ? row - m : 0;
            for (u64 k = 0; k < count; ++k) to[k] = (u32)(first + k);
        } else {
            for (u64 k = 0; k < count; ++k) to[k] = (u32)scale(word64(key, row * m + k), all);
            std::sort(to, to + count);
        }
    }

    // The cell itself, between its neighbours inside the grid.
    void fill_stencil(u32* to, u64 row) const {
        const u64 steps[3] = {n * n, n, 1};
        const int first = kind == LAPLACE5 ? 1 : 0;
        for (int k = first; k < 3; ++k) {
            if (row / steps[k] % n > 0) *to++ = (u32)(row - steps[k]);
        }
        *to++ = (u32)row;
        for (int k = 2; k >= first; --k) {
            if (row / steps[k] % n + 1 < n) *to++ = (u32)(row + steps[k]);
        }
    }

    // The matrix, whose numbers 32 bits must hold.
    std::shared_ptr<Rows> make(u64 seed) const {
        const u64 key = sparse_key(seed), all = rows(~0u);
        return kind == RMAT ? make_rmat(key, all) : make_by_row(key, all);
    }

    std::shared_ptr<Rows> make_by_row(u64 key, u64 all) const {
        const auto made = std::make_shared<Rows>();
        made->starts.assign(all + 1, 0);
        for (u64 row = 0; row < all; ++row) made->starts[row + 1] = made->starts[row] + (u32)length(row, all);
        made->columns.resize(made->starts[all]);
        in_ranges(all, [&](u64 begin, u64 end) {
            for (u64 row = begin; row < end; ++row) fill(made->columns.data() + made->starts[row], key, row, all);
        });
        return made;
    }

    // Threads put entries into their rows in any order, and the columns of each row are sorted.
    std::shared_ptr<Rows> make_rmat(u64 key, u64 all) const {
        const std::vector<unsigned char> table = rmat_table();
        const auto made = std::make_shared<Rows>();
        std::vector<u32>& starts = made->starts;
        starts.assign(all + 1, 0);
        made->columns.resize(m << n);
        const auto take = [&](u64 at) { return __atomic_fetch_add(&starts[at], 1u, __ATOMIC_RELAXED); };
        const auto each = [&](auto f) {
            in_ranges(m << n, [&](u64 begin, u64 end) {
                for (u64 e = begin; e < end; ++e) f(rmat_entry(table, key, n, e));
            });
        };
        each([&](Entry entry) { take(entry.row + 1ull); });
        for (u64 row = 0; row < all; ++row) starts[row + 1] += starts[row];
        each([&](Entry entry) { made->columns[take(entry.row)] = entry.column; });
        // Now each row's number is where it ends.
        for (u64 row = all; row > 0; --row) starts[row] = starts[row - 1];
        starts[0] = 0;
        in_ranges(all, [&](u64 begin, u64 end) {
            u32* columns = made->columns.data();
            for (u64 row = begin; row < end; ++row) std::sort(columns + starts[row], columns + starts[row + 1]);
        });
        return made;
    }

    // The value of an entry; `key` is that of the seed and 1.
    int value(u64 key, u64 row, u32 column, u64 at) const {
        if (!laplacian()) return small_integer(key, at);
        return row != column ? -1 : kind == LAPLACE5 ? 4 : 6;
    }
};

// A hash of the whole matrix with its values.
static inline u64 matrix_hash(const Generator& generator, const Rows& made, u64 seed) {
    const u64 key = sparse_key(seed + 1);
    u64 hash = made.rows();
    for (u64 row = 0; row < made.rows(); ++row) {
        hash = mix64(hash ^ made.starts[row + 1]);
        for (u64 at = made.starts[row]; at < made.starts[row + 1]; ++at) {
            const int value = generator.value(key, row, made.columns[at], at);
            hash = mix64(hash ^ ((u64)(u32)value << 32 | made.columns[at]));
        }
    }
    return hash;
}
