/* The caching allocator. Blocks are cut from segments and joined with free neighbours; free ones are kept by stream and
 * size. Requests of up to 1 MiB share segments of 2 MiB, those of up to 10 MiB segments of 20 MiB; larger ones get a
 * segment of their own. One lock for all devices: it is held for a look-up, never while something is waited for, except
 * when memory has run out. */
#include "alloc.h"

#include <algorithm>
#include <cstring>
#include <mutex>
#include <set>
#include <unordered_map>
#include <vector>

namespace {

const size_t GRAIN = 512, SMALL = 1 << 20, SMALL_SEGMENT = 2 << 20, LARGE = 10 << 20, LARGE_SEGMENT = 20 << 20,
             SEGMENT_GRAIN = 2 << 20;

size_t rounded(size_t n, size_t grain) { return (n + grain - 1) / grain * grain; }

struct Block {
    char *at;
    size_t size, asked;
    cudaStream_t stream;
    int device, pool; /* 1 small, 2 large */
    bool used;
    Block *before, *after;              /* neighbours in the segment */
    std::vector<cudaStream_t> users;    /* other streams */
    int pending;                        /* events to wait for before it is free */
};

struct Order {
    bool operator()(const Block *a, const Block *b) const {
        if (a->stream != b->stream) return a->stream < b->stream;
        if (a->size != b->size) return a->size < b->size;
        return a->at < b->at;
    }
};

struct Pending {
    cudaEvent_t event;
    Block *block;
};

struct Device {
    std::set<Block *, Order> free_[SHIM_POOLS];
    std::vector<Pending> pending;
    shim_memory_stats stats;
    int64_t limit = INT64_MAX; /* of what is taken from the driver */
    Device() { memset(&stats, 0, sizeof stats); }
};

struct State {
    std::mutex lock;
    std::vector<Device> devices;
    std::unordered_map<void *, Block *> used;

    Device &device(int i) {
        if ((size_t)i >= devices.size()) devices.resize(i + 1);
        return devices[i];
    }
};

State &state() {
    static State *only = new State; /* never destroyed: tensors may die at exit */
    return *only;
}

void count(shim_counter *counters, int pool, int64_t n) {
    for (int i : {0, pool}) {
        shim_counter &c = counters[i];
        c.current += n;
        c.peak = std::max(c.peak, c.current);
        (n > 0 ? c.allocated : c.freed) += n > 0 ? n : -n;
    }
}

void join(Device &d, Block *block, Block *neighbour) {
    if (!neighbour || neighbour->used || neighbour->pending) return;
    d.free_[neighbour->pool].erase(neighbour);
    Block *first = neighbour->at < block->at ? neighbour : block, *last = first == block ? neighbour : block;
    block->at = first->at;
    block->size += neighbour->size;
    block->before = first->before;
    block->after = last->after;
    if (block->before) block->before->after = block;
    if (block->after) block->after->before = block;
    delete neighbour;
}

void make_free(Device &d, Block *block) {
    join(d, block, block->before);
    join(d, block, block->after);
    d.free_[block->pool].insert(block);
}

/* Frees the blocks whose other users have passed; waits for them if told to. */
void look_at_pending(Device &d, bool wait) {
    std::vector<Pending> left;
    for (Pending &p : d.pending) {
        if (wait) cudaEventSynchronize(p.event);
        const cudaError_t status = cudaEventQuery(p.event);
        if (status == cudaErrorNotReady) {
            cudaGetLastError();
            left.push_back(p);
            continue;
        }
        cudaEventDestroy(p.event);
        if (--p.block->pending == 0) make_free(d, p.block);
    }
    d.pending.swap(left);
}

/* Gives wholly free segments of a device back to the driver. */
cudaError_t return_segments(Device &d) {
    cudaError_t status = cudaSuccess;
    for (auto &blocks : d.free_) {
        for (auto it = blocks.begin(); it != blocks.end();) {
            Block *block = *it;
            if (block->before || block->after) {
                ++it;
                continue;
            }
            it = blocks.erase(it);
            const cudaError_t freed = cudaFree(block->at);
            if (freed != cudaSuccess) status = freed;
            count(d.stats.reserved, block->pool, -(int64_t)block->size);
            count(d.stats.segments, block->pool, -1);
            delete block;
        }
    }
    return status;
}

/* cudaMalloc, unless more would be reserved than is allowed */
cudaError_t take(Device &d, void **at, size_t size) {
    if ((int64_t)size > d.limit - d.stats.reserved[0].current) return cudaErrorMemoryAllocation;
    return cudaMalloc(at, size);
}

cudaError_t new_segment(Device &d, int device, size_t size, int pool, cudaStream_t stream, Block **made) {
    void *at = nullptr;
    cudaError_t status = take(d, &at, size);
    if (status == cudaErrorMemoryAllocation) {
        cudaGetLastError();
        d.stats.retries++;
        look_at_pending(d, true);
        return_segments(d);
        status = take(d, &at, size);
        if (status == cudaErrorMemoryAllocation) d.stats.failures++;
    }
    if (status != cudaSuccess) {
        cudaGetLastError();
        return status;
    }
    count(d.stats.reserved, pool, (int64_t)size);
    count(d.stats.segments, pool, 1);
    *made = new Block{(char *)at, size, 0, stream, device, pool, false, nullptr, nullptr, {}, 0};
    return cudaSuccess;
}

}  // namespace

extern "C" {

cudaError_t shim_allocate(int device, size_t n, cudaStream_t stream, void **at) {
    State &s = state();
    std::lock_guard<std::mutex> guard(s.lock);
    Device &d = s.device(device);
    look_at_pending(d, false);
    const size_t size = rounded(n, GRAIN);
    const int pool = size <= SMALL ? 1 : 2;
    Block wanted{nullptr, size, 0, stream, device, pool, false, nullptr, nullptr, {}, 0}, *block = nullptr;
    auto found = d.free_[pool].lower_bound(&wanted);
    if (found != d.free_[pool].end() && (*found)->stream == stream) {
        block = *found;
        d.free_[pool].erase(found);
    } else {
        const size_t segment =
            pool == 1 ? SMALL_SEGMENT : size < LARGE ? LARGE_SEGMENT : rounded(size, SEGMENT_GRAIN);
        const cudaError_t status = new_segment(d, device, segment, pool, stream, &block);
        if (status != cudaSuccess) return status;
    }
    const size_t rest = block->size - size;
    if (pool == 1 ? rest >= GRAIN : rest > SMALL) {
        Block *tail = new Block{block->at + size, rest, 0, stream, device, pool, false, block, block->after, {}, 0};
        if (tail->after) tail->after->before = tail;
        block->after = tail;
        block->size = size;
        d.free_[pool].insert(tail);
    }
    block->used = true;
    block->asked = n;
    s.used[block->at] = block;
    count(d.stats.bytes, pool, (int64_t)block->size);
    count(d.stats.blocks, pool, 1);
    count(d.stats.requested, pool, (int64_t)n);
    *at = block->at;
    return cudaSuccess;
}

void shim_release(void *at) {
    State &s = state();
    std::lock_guard<std::mutex> guard(s.lock);
    auto it = s.used.find(at);
    if (it == s.used.end()) return;
    Block *block = it->second;
    s.used.erase(it);
    Device &d = s.device(block->device);
    block->used = false;
    count(d.stats.bytes, block->pool, -(int64_t)block->size);
    count(d.stats.blocks, block->pool, -1);
    count(d.stats.requested, block->pool, -(int64_t)block->asked);
    int now = block->device;
    if (!block->users.empty() && cudaGetDevice(&now) == cudaSuccess && now != block->device)
        cudaSetDevice(block->device);
    for (cudaStream_t user : block->users) {
        cudaEvent_t event;
        if (cudaEventCreateWithFlags(&event, cudaEventDisableTiming) != cudaSuccess) { /* the runtime has shut down */
            cudaGetLastError();
            continue;
        }
        cudaEventRecord(event, user);
        d.pending.push_back({event, block});
        block->pending++;
    }
    block->users.clear();
    if (now != block->device) cudaSetDevice(now);
    if (block->pending == 0) make_free(d, block);
}

void shim_used_by(void *at, cudaStream_t stream) {
    State &s = state();
    std::lock_guard<std::mutex> guard(s.lock);
    auto it = s.used.find(at);
    if (it == s.used.end() || it->second->stream == stream) return;
    std::vector<cudaStream_t> &users = it->second->users;
    if (std::find(users.begin(), users.end(), stream) == users.end()) users.push_back(stream);
}

cudaError_t shim_empty_cache(int device) {
    State &s = state();
    std::lock_guard<std::mutex> guard(s.lock);
    Device &d = s.device(device);
    look_at_pending(d, true);
    return return_segments(d);
}

void shim_limit_memory(int device, int64_t bytes) {
    State &s = state();
    std::lock_guard<std::mutex> guard(s.lock);
    s.device(device).limit = bytes;
}

void shim_memory_statistics(int device, shim_memory_stats *out) {
    State &s = state();
    std::lock_guard<std::mutex> guard(s.lock);
    *out = s.device(device).stats;
}

void shim_reset_peaks(int device) {
    State &s = state();
    std::lock_guard<std::mutex> guard(s.lock);
    shim_memory_stats &stats = s.device(device).stats;
    for (shim_counter *c : {stats.bytes, stats.blocks, stats.reserved, stats.segments, stats.requested})
        for (int i = 0; i < SHIM_POOLS; i++) c[i].peak = c[i].current;
}

void shim_reset_totals(int device) {
    State &s = state();
    std::lock_guard<std::mutex> guard(s.lock);
    shim_memory_stats &stats = s.device(device).stats;
    for (shim_counter *c : {stats.bytes, stats.blocks, stats.reserved, stats.segments, stats.requested})
        for (int i = 0; i < SHIM_POOLS; i++) c[i].allocated = c[i].freed = 0;
    stats.retries = stats.failures = 0;
}

}
