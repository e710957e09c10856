/* The generator's state: seeding, the next words, the byte format of PyTorch's saved states. */
#include "random_engine.h"

/* offsets in the saved state; all numbers are little endian */
enum {
    AT_SEED = 0,
    AT_LEFT = 8,
    AT_SEEDED = 12,
    AT_NEXT = 16,
    AT_WORDS = 24,
    AT_NORMAL_X = 5016,
    AT_NORMAL_Y = 5024,
    AT_NORMAL_RHO = 5032,
    AT_HAS_NORMAL = 5040
};

void st_rng_seed(st_rng *rng, uint64_t seed) {
    u32 w = (u32)seed;
    rng->word[0] = w;
    for (u32 i = 1; i < ST_MT_WORDS; i++) rng->word[i] = w = 1812433253u * (w ^ (w >> 30)) + i;
    rng->left = 1;
    rng->next = 0;
    rng->has_normal = 0;
    rng->normal = 0.0;
    rng->seed = seed;
}

static inline u32 mix(u32 a, u32 b) {
    return (((a & 0x80000000u) | (b & 0x7fffffffu)) >> 1) ^ ((0u - (b & 1u)) & 0x9908b0dfu);
}

void st_mt_twist(st_rng *rng) {
    u32 *s = rng->word;
    for (int i = 0; i < 227; i++) s[i] = s[i + 397] ^ mix(s[i], s[i + 1]);
    for (int i = 227; i < 623; i++) s[i] = s[i - 227] ^ mix(s[i], s[i + 1]);
    s[623] = s[396] ^ mix(s[623], s[0]);
    rng->left = 625;
    rng->next = 0;
}

uint32_t st_rng_u32(st_rng *rng) { return draw_u32(rng); }

uint64_t st_rng_u64(st_rng *rng) { return draw_u64(rng); }

static void put(unsigned char *p, u64 value, int size) {
    for (int i = 0; i < size; i++) p[i] = (unsigned char)(value >> (8 * i));
}

static u64 get(const unsigned char *p, int size) {
    u64 value = 0;
    for (int i = 0; i < size; i++) value |= (u64)p[i] << (8 * i);
    return value;
}

static f64 get_f64(const unsigned char *p) {
    const u64 bits = get(p, 8);
    f64 value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

void st_rng_save(const st_rng *rng, unsigned char bytes[ST_RNG_BYTES]) {
    u64 normal = 0;
    memset(bytes, 0, ST_RNG_BYTES);
    put(bytes + AT_SEED, rng->seed, 8);
    put(bytes + AT_LEFT, (u64)rng->left, 4);
    put(bytes + AT_SEEDED, 1, 4);
    put(bytes + AT_NEXT, (u64)rng->next, 8);
    for (int i = 0; i < ST_MT_WORDS; i++) put(bytes + AT_WORDS + 8 * i, rng->word[i], 8);
    if (rng->has_normal) {
        memcpy(&normal, &rng->normal, sizeof normal);
        put(bytes + AT_NORMAL_Y, normal, 8);
        put(bytes + AT_HAS_NORMAL, 1, 4);
    }
}

int st_rng_load(st_rng *rng, const unsigned char *bytes, size_t n) {
    const i64 left = (i32)get(bytes + AT_LEFT, 4);
    const u64 next = get(bytes + AT_NEXT, 8);
    if (get(bytes + AT_SEEDED, 4) != 1 || left < 1 || left > ST_MT_WORDS || next > ST_MT_WORDS) return -1;
    if (left > 1 && next + (u64)left > ST_MT_WORDS + 1) return -1; /* more words left than there are */
    rng->seed = get(bytes + AT_SEED, 8);
    rng->left = (int)left;
    rng->next = (int)next;
    for (int i = 0; i < ST_MT_WORDS; i++) rng->word[i] = (u32)get(bytes + AT_WORDS + 8 * i, 4);
    rng->has_normal = get(bytes + AT_HAS_NORMAL, 4) != 0;
    rng->normal = get_f64(bytes + AT_NORMAL_Y);
    if (rng->has_normal && n == ST_RNG_BYTES_1_1) /* 1.1 kept the pair's ingredients */
        rng->normal = get_f64(bytes + AT_NORMAL_RHO) * sin(2.0 * 3.14159265358979323846 * get_f64(bytes + AT_NORMAL_X));
    if (!rng->has_normal) rng->normal = 0.0;
    return 0;
}
