/* Streams and events. A stream is a queue of work. It runs at once, or (SHIMEMU_LAZY=1) only when something waits for
 * it, which is the latest that the rules of CUDA allow; SHIMEMU_SEED shuffles what they leave open. */
#include <algorithm>
#include <chrono>
#include <deque>
#include <memory>
#include <random>
#include <vector>

#include "shimemu.h"

namespace shimemu {

namespace {

struct Work {
    std::function<void()> run;
    const char *what;
};

struct Stream {
    std::deque<Work> queue;
    uint64_t begun = 0, queued = 0; /* how many pieces of work so far */
    bool nonblocking = false;
};

struct Event {
    Stream *stream = nullptr;
    uint64_t position = 0; /* of the stream's work that it stands behind */
    bool recorded = false;
    std::shared_ptr<double> time = std::make_shared<double>(0);
};

std::vector<Stream *> &streams() { /* the first is the legacy default stream */
    static auto *all = new std::vector<Stream *>{new Stream};
    return *all;
}

Stream *stream_of(cudaStream_t s) {
    return s == nullptr || s == cudaStreamLegacy || s == cudaStreamPerThread ? streams()[0] : (Stream *)s;
}

bool known(cudaStream_t s) {
    auto &all = streams();
    return std::find(all.begin(), all.end(), stream_of(s)) != all.end();
}

bool lazy() {
    static const bool on = setting("SHIMEMU_LAZY", 0);
    return on;
}

void run_to(Stream *s, uint64_t position) {
    while (s->begun < position && !s->queue.empty()) {
        Work work = std::move(s->queue.front());
        s->queue.pop_front();
        ++s->begun;
        Open open;
        work.run();
        check_canaries(work.what);
    }
}

double milliseconds() {
    const auto now = std::chrono::steady_clock::now().time_since_epoch();
    return std::chrono::duration<double, std::milli>(now).count();
}

}  // namespace

void drain(cudaStream_t s) {
    std::lock_guard<std::recursive_mutex> guard(lock());
    run_to(stream_of(s), stream_of(s)->queued);
}

void drain_all() {
    std::lock_guard<std::recursive_mutex> guard(lock());
    static std::mt19937 random((unsigned)setting("SHIMEMU_SEED", 1));
    std::vector<Stream *> all = streams();
    std::shuffle(all.begin(), all.end(), random);
    for (Stream *s : all) run_to(s, s->queued);
}

void enqueue(cudaStream_t handle, std::function<void()> work, const char *what) {
    std::lock_guard<std::recursive_mutex> guard(lock());
    Stream *s = stream_of(handle), *legacy = streams()[0];
    if (lazy()) { /* the legacy stream and the blocking ones wait for one another */
        if (s == legacy) {
            for (Stream *other : streams())
                if (other != legacy && !other->nonblocking) run_to(other, other->queued);
        } else if (!s->nonblocking) {
            run_to(legacy, legacy->queued);
        }
    }
    s->queue.push_back({std::move(work), what});
    ++s->queued;
    if (!lazy()) run_to(s, s->queued);
}

}  // namespace shimemu

using namespace shimemu;

extern "C" {

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *s, unsigned flags) {
    auto *made = new Stream;
    made->nonblocking = flags & cudaStreamNonBlocking;
    streams().push_back(made);
    *s = (cudaStream_t)made;
    return cudaSuccess;
}

cudaError_t cudaStreamDestroy(cudaStream_t s) {
    if (!known(s)) return failed(cudaErrorInvalidResourceHandle);
    drain(s);
    auto &all = streams();
    all.erase(std::find(all.begin(), all.end(), stream_of(s)));
    return cudaSuccess;
}

cudaError_t cudaStreamSynchronize(cudaStream_t s) {
    if (!known(s)) return failed(cudaErrorInvalidResourceHandle);
    drain(s);
    return cudaSuccess;
}

cudaError_t cudaStreamQuery(cudaStream_t s) {
    Stream *stream = stream_of(s);
    if (stream->queue.empty()) return cudaSuccess;
    run_to(stream, stream->begun + 1); /* asking again and again must end */
    return stream->queue.empty() ? cudaSuccess : cudaErrorNotReady;
}

cudaError_t cudaStreamWaitEvent(cudaStream_t s, cudaEvent_t handle, unsigned) {
    auto *event = (Event *)handle;
    if (!event->recorded) return cudaSuccess;
    Stream *other = event->stream;
    const uint64_t position = event->position;
    enqueue(s, [=] { run_to(other, position); }, "cudaStreamWaitEvent");
    return cudaSuccess;
}

cudaError_t cudaDeviceSynchronize(void) {
    drain_all();
    return cudaSuccess;
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned) {
    *event = (cudaEvent_t) new Event;
    return cudaSuccess;
}

cudaError_t cudaEventDestroy(cudaEvent_t event) {
    delete (Event *)event;
    return cudaSuccess;
}

cudaError_t cudaEventRecord(cudaEvent_t handle, cudaStream_t s) {
    auto *event = (Event *)handle;
    event->stream = stream_of(s);
    event->recorded = true;
    event->time = std::make_shared<double>(0);
    auto time = event->time;
    enqueue(s, [time] { *time = milliseconds(); }, "cudaEventRecord");
    event->position = event->stream->queued;
    return cudaSuccess;
}

cudaError_t cudaEventSynchronize(cudaEvent_t handle) {
    auto *event = (Event *)handle;
    std::lock_guard<std::recursive_mutex> guard(lock());
    if (event->recorded) run_to(event->stream, event->position);
    return cudaSuccess;
}

cudaError_t cudaEventQuery(cudaEvent_t handle) {
    auto *event = (Event *)handle;
    return !event->recorded || event->stream->begun >= event->position ? cudaSuccess : cudaErrorNotReady;
}

cudaError_t cudaEventElapsedTime(float *ms, cudaEvent_t start, cudaEvent_t end) {
    auto *a = (Event *)start, *b = (Event *)end;
    if (!a->recorded || !b->recorded) return failed(cudaErrorInvalidResourceHandle);
    if (cudaEventQuery(start) || cudaEventQuery(end)) return failed(cudaErrorNotReady);
    *ms = (float)(*b->time - *a->time);
    return cudaSuccess;
}

}
