/* Device memory: one reserved range, closed to the host while no emulated operation runs (SHIMEMU_PROTECT=1). */
#include <sys/mman.h>

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <map>

#include "shimemu.h"

namespace shimemu {

long setting(const char *name, long otherwise) {
    const char *text = getenv(name);
    return text && *text ? strtol(text, nullptr, 0) : otherwise;
}

void fail(const char *format, ...) {
    va_list args;
    va_start(args, format);
    fprintf(stderr, "[shimemu] ");
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    va_end(args);
    if (setting("SHIMEMU_STRICT", 0)) abort();
}

namespace {

const unsigned char CANARY = 0xa7;
const size_t STRIP = 256, GRAIN = 256;

class Arena {
public:
    Arena() : protect_(setting("SHIMEMU_PROTECT", 0)), canary_(setting("SHIMEMU_CANARY", 0)) {
        size = (size_t)setting("SHIMEMU_MEM_MB", 512) << 20;
        base_ = (char *)mmap(nullptr, size, protect_ ? PROT_NONE : PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        gaps_[base_] = size;
    }

    void open() {
        if (protect_ && opened_++ == 0) mprotect(base_, size, PROT_READ | PROT_WRITE);
    }

    void close() {
        if (protect_ && --opened_ == 0) mprotect(base_, size, PROT_NONE);
    }

    void *take(size_t bytes) {
        const size_t whole = (std::max<size_t>(bytes + (canary_ ? STRIP : 0), 1) + GRAIN - 1) / GRAIN * GRAIN;
        for (auto gap = gaps_.begin(); gap != gaps_.end(); ++gap) {
            if (gap->second < whole) continue;
            char *at = gap->first;
            const size_t rest = gap->second - whole;
            gaps_.erase(gap);
            if (rest) gaps_[at + whole] = rest;
            live_[at] = {whole, bytes};
            used += whole;
            open();
            memset(at, 0xff, bytes); /* NaN and -1: nobody may count on zeros */
            if (canary_) memset(at + bytes, CANARY, whole - bytes);
            close();
            return at;
        }
        return nullptr;
    }

    bool give(char *at) {
        auto block = live_.find(at);
        if (block == live_.end()) return false;
        size_t whole = block->second.whole;
        live_.erase(block);
        used -= whole;
        auto next = gaps_.lower_bound(at);
        if (next != gaps_.end() && at + whole == next->first) {
            whole += next->second;
            next = gaps_.erase(next);
        }
        if (next != gaps_.begin()) {
            auto before = std::prev(next);
            if (before->first + before->second == at) {
                before->second += whole;
                return true;
            }
        }
        gaps_[at] = whole;
        return true;
    }

    bool inside(const char *at) const { return at >= base_ && at < base_ + size; }

    bool holds(const char *at, size_t bytes) const {
        auto block = live_.upper_bound((char *)at);
        if (block == live_.begin()) return false;
        --block;
        return at + bytes <= block->first + (canary_ ? block->second.asked : block->second.whole);
    }

    void check(const char *what) {
        if (!canary_) return;
        open();
        for (auto &block : live_) {
            char *begin = block.first + block.second.asked, *end = block.first + block.second.whole;
            for (char *c = begin; c < end; ++c) {
                if ((unsigned char)*c == CANARY) continue;
                fail("%s wrote %td bytes behind a block of %zu", what, c - begin + 1, block.second.asked);
                *c = (char)CANARY;
            }
        }
        close();
    }

    size_t size, used = 0;

private:
    struct Block {
        size_t whole, asked;
    };
    char *base_;
    bool protect_, canary_;
    int opened_ = 0;
    std::map<char *, Block> live_;
    std::map<char *, size_t> gaps_;
};

Arena &arena() {
    static Arena *only = new Arena; /* never destroyed: frees may come at exit */
    return *only;
}

}  // namespace

Open::Open() { arena().open(); }
Open::~Open() { arena().close(); }

std::recursive_mutex &lock() {
    static auto *only = new std::recursive_mutex;
    return *only;
}

void *take(size_t bytes) {
    std::lock_guard<std::recursive_mutex> guard(lock());
    return arena().take(bytes);
}

bool give(void *at) {
    std::lock_guard<std::recursive_mutex> guard(lock());
    return arena().give((char *)at);
}

bool in_arena(const void *at) { return arena().inside((const char *)at); }
bool is_device(const void *at, size_t bytes) { return arena().holds((const char *)at, bytes); }
size_t arena_size() { return arena().size; }
size_t arena_used() { return arena().used; }
void check_canaries(const char *what) { arena().check(what); }

}  // namespace shimemu
