/* Kernels: blocks run one after another, the threads of a block as fibers that meet at barriers and in warp exchanges.
 *
 * A fiber is started by ucontext and switched by _setjmp/_longjmp, which make no system call. One that never has to wait
 * takes the next thread of the block when its own has ended, so that most kernels run as plain calls. */
#include <dlfcn.h>
#include <setjmp.h>
#include <ucontext.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <unordered_map>
#include <vector>

#include "shimemu.h"
#include "shimemu_device.h"
#undef threadIdx
#undef blockIdx
#undef blockDim
#undef gridDim

namespace shimemu {

Index thread_index, block_index;
dim3 block_size, grid_size;

namespace {

enum State { IDLE, RUNNING, AT_BARRIER, IN_EXCHANGE, PASSING };

struct Fiber {
    ucontext_t context;
    jmp_buf point;
    bool begun = false;
    std::vector<char> stack = std::vector<char>(64 << 10);
    int thread = -1;
    State state = IDLE;
    const char *file = nullptr; /* of the barrier it waits at */
    int line = 0;
    uint64_t mine = 0; /* what it brings to a warp exchange, and with whom */
    unsigned mask = 0;
};

jmp_buf scheduler;
std::vector<std::unique_ptr<Fiber>> fibers;
std::vector<Fiber *> idle, of_thread;
Fiber *current;
std::function<void()> *body;
std::vector<int> waiting; /* threads of the block in the order in which they start */
size_t started;
uint64_t exchanged[32][32]; /* by warp and lane */
std::vector<char> shared_bytes;

void leave(Fiber *f) {
    if (!_setjmp(f->point)) _longjmp(scheduler, 1);
}

void set_thread(int t) {
    const unsigned x = block_size.x, y = block_size.y;
    thread_index = {t % x, t / x % y, t / x / y};
}

void fiber_main() {
    for (;;) {
        Fiber *f = current;
        while (started < waiting.size()) {
            f->thread = waiting[started++];
            f->state = RUNNING;
            of_thread[f->thread] = f;
            set_thread(f->thread);
            (*body)();
            of_thread[f->thread] = nullptr;
            f = current;
        }
        f->state = IDLE;
        f->thread = -1;
        idle.push_back(f);
        leave(f);
    }
}

void wait(State state) {
    Fiber *f = current;
    f->state = state;
    leave(f);
    current = f;
    set_thread(f->thread);
}

Fiber *fresh() {
    if (!idle.empty()) {
        Fiber *f = idle.back();
        idle.pop_back();
        return f;
    }
    fibers.emplace_back(new Fiber);
    Fiber *f = fibers.back().get();
    getcontext(&f->context);
    f->context.uc_stack.ss_sp = f->stack.data();
    f->context.uc_stack.ss_size = f->stack.size();
    f->context.uc_link = nullptr;
    makecontext(&f->context, fiber_main, 0);
    return f;
}

void resume(Fiber *f) {
    current = f;
    if (f->thread >= 0) set_thread(f->thread);
    if (_setjmp(scheduler)) return;
    if (f->begun) _longjmp(f->point, 1);
    f->begun = true;
    setcontext(&f->context);
}

/* Lets the lanes that have met in an exchange go on; whether any had. */
bool pass_exchanges(int n, const char *name) {
    bool moved = false;
    for (int first = 0; first < n; first += 32) {
        const int end = std::min(n, first + 32);
        unsigned live = 0, here = 0, wanted = 0;
        memset(exchanged[first / 32], 0, sizeof exchanged[0]);
        for (int t = first; t < end; ++t) {
            Fiber *f = of_thread[t];
            if (!f) continue;
            live |= 1u << t % 32;
            if (f->state != IN_EXCHANGE) continue;
            here |= 1u << t % 32;
            wanted |= f->mask;
            exchanged[first / 32][t % 32] = f->mine;
        }
        if (!here) continue;
        if (wanted & live & ~here) fail("%s: a warp mask names a lane that is elsewhere", name);
        moved = true;
        for (int t = first; t < end; ++t)
            if (here >> t % 32 & 1) resume(of_thread[t]);
    }
    return moved;
}

/* Lets all threads pass the barrier that they wait at. */
void pass_barrier(const char *name) {
    const Fiber *first = nullptr;
    int live = 0, there = 0;
    bool same = true;
    for (Fiber *f : of_thread) {
        if (!f) continue;
        ++live;
        if (f->state != AT_BARRIER) continue;
        ++there;
        if (!first) first = f;
        same = same && first->line == f->line && !strcmp(first->file, f->file);
    }
    if (there != live || !same) fail("%s: threads of one block wait at different barriers", name);
    if (there != live) abort();
    for (Fiber *f : of_thread)
        if (f && f->state == AT_BARRIER) f->state = PASSING;
    for (size_t t = 0; t < of_thread.size(); ++t)
        if (of_thread[t] && of_thread[t]->state == PASSING) resume(of_thread[t]);
}

void run_block(const char *name) {
    static const long seed = setting("SHIMEMU_SEED", 0);
    static std::mt19937 random((unsigned)seed);
    const int n = (int)(block_size.x * block_size.y * block_size.z);
    waiting.resize(n);
    for (int i = 0; i < n; ++i) waiting[i] = i;
    if (seed) std::shuffle(waiting.begin(), waiting.end(), random);
    started = 0;
    of_thread.assign(n, nullptr);
    while (started < waiting.size()) resume(fresh());
    while (std::any_of(of_thread.begin(), of_thread.end(), [](Fiber *f) { return f != nullptr; }))
        if (!pass_exchanges(n, name)) pass_barrier(name);
}

/* ---- kernels of a module that nvcc built: its stubs by address, the host versions by mangled name ---- */

typedef std::function<std::function<void()>(void **)> Bind;

std::unordered_map<std::string, Bind> &host_versions() {
    static auto *all = new std::unordered_map<std::string, Bind>;
    return *all;
}

std::unordered_map<const void *, std::string> &stubs() {
    static auto *all = new std::unordered_map<const void *, std::string>;
    return *all;
}

cudaError_t launch_stub(const void *stub, dim3 grid, dim3 block, void **args, size_t shared, cudaStream_t stream) {
    static const bool loaded = [] { /* SHIMEMU_KERNELS names the library with the host versions */
        const char *path = getenv("SHIMEMU_KERNELS");
        if (path && !dlopen(path, RTLD_NOW | RTLD_LOCAL)) fail("%s", dlerror());
        return true;
    }();
    (void)loaded;
    auto name = stubs().find(stub);
    if (name == stubs().end()) return failed(cudaErrorInvalidDeviceFunction);
    auto host = host_versions().find(name->second);
    if (host == host_versions().end()) {
        fail("no host version of kernel %s", name->second.c_str());
        return failed(cudaErrorInvalidDeviceFunction);
    }
    return run_grid(grid, block, shared, stream, host->second(args), name->second.c_str());
}

}  // namespace

void barrier(const char *file, int line) {
    current->file = file;
    current->line = line;
    wait(AT_BARRIER);
}

uint64_t warp_exchange(uint64_t mine, int source, unsigned mask) {
    const int warp = current->thread / 32;
    current->mine = mine;
    current->mask = mask;
    wait(IN_EXCHANGE);
    return exchanged[warp][source];
}

unsigned warp_ballot(bool vote, unsigned mask) {
    const int warp = current->thread / 32;
    current->mine = vote;
    current->mask = mask;
    wait(IN_EXCHANGE);
    unsigned votes = 0;
    for (int i = 0; i < 32; ++i)
        if (exchanged[warp][i] & 1) votes |= 1u << i;
    return votes & mask;
}

void *dynamic_shared() { return shared_bytes.data(); }

void register_kernel(const void *function, Bind bind) {
    Dl_info info;
    if (dladdr(function, &info) && info.dli_sname) host_versions()[info.dli_sname] = std::move(bind);
}

cudaError_t run_grid(dim3 grid, dim3 block, size_t shared, cudaStream_t stream, std::function<void()> work,
                     const char *name) {
    const uint64_t threads = (uint64_t)block.x * block.y * block.z;
    if (threads == 0 || threads > 1024 || block.z > 64 || grid.x == 0 || grid.y == 0 || grid.z == 0 ||
        grid.y > 65535 || grid.z > 65535)
        return failed(cudaErrorInvalidConfiguration);
    if (shared > (48u << 10)) return failed(cudaErrorInvalidValue);
    enqueue(
        stream,
        [=]() mutable {
            grid_size = grid;
            block_size = block;
            shared_bytes.assign(shared + 16, (char)0xcd);
            body = &work;
            for (unsigned z = 0; z < grid.z; ++z)
                for (unsigned y = 0; y < grid.y; ++y)
                    for (unsigned x = 0; x < grid.x; ++x) {
                        block_index = {x, y, z};
                        run_block(name);
                    }
        },
        name);
    return cudaSuccess;
}

}  // namespace shimemu

using namespace shimemu;

/* ---- what host code that nvcc generates calls ---- */

namespace {
struct Configuration {
    dim3 grid, block;
    size_t shared;
    void *stream;
};
thread_local std::vector<Configuration> configurations;
}  // namespace

extern "C" {

void **__cudaRegisterFatBinary(void *) {
    static void *handle[1];
    return handle;
}
void __cudaRegisterFatBinaryEnd(void **) {}
void __cudaUnregisterFatBinary(void **) {}
void __cudaRegisterFunction(void **, const char *stub, char *, const char *name, int, void *, void *, void *, void *,
                            int *) {
    stubs()[stub] = name;
}
void __cudaRegisterVar(void **, char *, char *, const char *, int, size_t, int, int) {}

unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared, cudaStream_t stream) {
    configurations.push_back({grid, block, shared, (void *)stream});
    return 0;
}

cudaError_t __cudaPopCallConfiguration(dim3 *grid, dim3 *block, size_t *shared, void *stream) {
    if (configurations.empty()) return cudaErrorUnknown;
    const Configuration c = configurations.back();
    configurations.pop_back();
    *grid = c.grid;
    *block = c.block;
    *shared = c.shared;
    *(void **)stream = c.stream;
    return cudaSuccess;
}

cudaError_t cudaLaunchKernel(const void *function, dim3 grid, dim3 block, void **args, size_t shared, cudaStream_t s) {
    return launch_stub(function, grid, block, args, shared, s);
}

cudaError_t __cudaGetKernel(cudaKernel_t *kernel, const void *function) {
    *kernel = (cudaKernel_t)function;
    return cudaSuccess;
}

cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void **args, size_t shared, cudaStream_t s) {
    return launch_stub((const void *)kernel, grid, block, args, shared, s);
}

}
