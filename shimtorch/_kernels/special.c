/* Special functions of floating-point numbers that are computed by recurrences and series: orthogonal polynomials of
 * degree y at x, digamma, and the Hurwitz zeta function. */
#include "loops.h"
#include "vecmath.h"

/* ---- polynomials ----
 * The degree is cut to a whole number; one below 0 has the value 0. The recurrence ends where there is no number left;
 * one of more than MOST_STEPS steps is not begun: NaN. */

#define MOST_STEPS 16777216.0

enum form { FORM_t, FORM_u, FORM_v, FORM_w }; /* of Chebyshev's polynomials: the first four kinds */

#define DEFINE_POLYNOMIALS(t)                                                                                        \
    /* at the ends of [-1, 1], where the quotients of sines below are none; sign: 1 or -1 for an odd degree */       \
    static inline t chebyshev_end_##t(int left, t n, t sign, enum form form) {                                       \
        const t many = 2 * n + 1;                                                                                    \
        switch (form) {                                                                                              \
        case FORM_t: return left ? sign : 1;                                                                         \
        case FORM_u: return left ? sign * (n + 1) : n + 1;                                                           \
        case FORM_v: return left ? sign * many : 1;                                                                  \
        default: return left ? sign : many;                                                                          \
        }                                                                                                            \
    }                                                                                                                \
    static inline t chebyshev_within_##t(t x, t n, enum form form) {                                                 \
        const t angle = F(acos, t)(x), half = angle / 2;                                                             \
        switch (form) {                                                                                              \
        case FORM_t: return F(cos, t)(n * angle);                                                                    \
        case FORM_u: return F(sin, t)((n + 1) * angle) / F(sin, t)(angle);                                           \
        case FORM_v: return F(cos, t)((n + (t)0.5) * angle) / F(cos, t)(half);                                       \
        default: return F(sin, t)((n + (t)0.5) * angle) / F(sin, t)(half);                                           \
        }                                                                                                            \
    }                                                                                                                \
    static inline t chebyshev_##t(t x, t y, enum form form) {                                                        \
        const t n = F(trunc, t)(y), odd = F(fabs, t)(n - 2 * F(trunc, t)(n / 2));                                    \
        t before = 1, now = form == FORM_t ? x : 2 * x + (form == FORM_w) - (form == FORM_v);                        \
        if (!(y > -1) || y > (t)0x1p62) return 0;                                                                    \
        if (x == 1 || x == -1) return chebyshev_end_##t(x < 0, n, 1 - 2 * odd, form);                                \
        if (n > 8 && x > -1 && x < 1) return chebyshev_within_##t(x, n, form);                                       \
        if (n == 0) return 1;                                                                                        \
        if (n > (t)MOST_STEPS) return (t)NAN;                                                                        \
        for (t k = 1; k < n && now == now; k++) {                                                                    \
            const t next = 2 * x * now - before;                                                                     \
            before = now, now = next;                                                                                \
        }                                                                                                            \
        return now;                                                                                                  \
    }                                                                                                                \
    static inline t hermite_##t(t x, t y, t unit) { /* unit: 2 of the physicists' polynomials, 1 of the others */    \
        t before = 1, now = unit * x;                                                                                \
        if (!(y > -1)) return 0;                                                                                     \
        if (y < 1) return 1;                                                                                         \
        if (y >= (sizeof(t) == 4 ? 129 : 513)) return (t)NAN;                                                        \
        for (t k = 1; k < F(trunc, t)(y); k++) {                                                                     \
            const t next = unit * (x * now - k * before);                                                            \
            before = now, now = next;                                                                                \
        }                                                                                                            \
        return now;                                                                                                  \
    }                                                                                                                \
    static inline t laguerre_##t(t x, t y) {                                                                         \
        t before = 1, now = 1 - x;                                                                                   \
        if (!(y > -1)) return 0;                                                                                     \
        if (y < 1 || x == 0) return 1;                                                                               \
        if (y > (t)MOST_STEPS) return (t)NAN;                                                                        \
        for (t k = 1; k < F(trunc, t)(y) && now == now; k++) {                                                       \
            const t next = ((2 * k + 1 - x) * now - k * before) / (k + 1);                                           \
            before = now, now = next;                                                                                \
        }                                                                                                            \
        return now;                                                                                                  \
    }                                                                                                                \
    static inline t legendre_##t(t x, t y) {                                                                         \
        const t n = F(trunc, t)(y), odd = F(fabs, t)(n - 2 * F(trunc, t)(n / 2));                                    \
        t before = 1, now = x;                                                                                       \
        if (!(y > -1)) return 0;                                                                                     \
        if (y < 1) return 1;                                                                                         \
        if (x == 1 || x == -1) return x > 0 ? 1 : 1 - 2 * odd;                                                       \
        if (y > (t)MOST_STEPS) return (t)NAN;                                                                        \
        for (t k = 1; k < n && now == now; k++) {                                                                    \
            const t next = ((2 * k + 1) * x * now - k * before) / (k + 1);                                           \
            before = now, now = next;                                                                                \
        }                                                                                                            \
        return now;                                                                                                  \
    }
DEFINE_POLYNOMIALS(f32)
DEFINE_POLYNOMIALS(f64)

/* ---- digamma and zeta, in double ---- */

/* the logarithmic derivative of the gamma function: from ten on by its asymptotic series, below by steps to there */
static f64 digamma(f64 x) {
    static const f64 series[] = {1 / 12.0, -1 / 120.0, 1 / 252.0, -1 / 240.0, 1 / 132.0, -691 / 32760.0, 1 / 12.0};
    const f64 pi = 3.14159265358979323846;
    f64 sum = 0, power = 1, square;
    if (x == 0) return copysign(INFINITY, -x);
    if (x < 0) {
        const f64 part = x - trunc(x);
        if (part == 0) return NAN;
        sum = -pi / tan(pi * part);
        x = 1 - x;
    }
    for (; x < 10; x++) sum -= 1 / x;
    square = 1 / (x * x);
    sum += log(x) - 0.5 / x;
    for (size_t i = 0; i < sizeof series / sizeof *series; i++) sum -= series[i] * (power *= square);
    return sum;
}

/* the sum of (k + q)^-s over k >= 0: ten terms and what the Euler-Maclaurin formula says of the rest */
static f64 zeta(f64 s, f64 q) {
    static const f64 bernoulli[] = {/* of order 2k, divided by (2k)! */
                                    1 / 12.0,
                                    -1 / 720.0,
                                    1 / 30240.0,
                                    -1 / 1209600.0,
                                    1 / 47900160.0,
                                    -691 / 1307674368000.0,
                                    1 / 74724249600.0,
                                    -3617 / 10670622842880000.0,
                                    43867 / 5109094217170944000.0,
                                    -174611 / 802857662698291200000.0};
    f64 sum, term, rising = 1;
    if (s == 1) return INFINITY;
    if (!(s > 1) || q != q) return NAN;
    if (q <= 0) {
        if (q == floor(q)) return INFINITY;
        if (s != floor(s)) return NAN;
    }
    term = sum = pow(q, -s);
    for (int i = 0; i < 9 || q <= 9; i++) {
        q += 1;
        term = pow(q, -s);
        sum += term;
        if (fabs(term) <= fabs(sum) * 0x1p-54) return sum;
    }
    sum += term * q / (s - 1) - term / 2;
    for (int k = 0; k < 10; k++) {
        f64 part;
        rising *= k ? (s + 2 * k - 1) * (s + 2 * k) : s;
        term /= k ? q * q : q;
        part = rising * term * bernoulli[k];
        sum += part;
        if (fabs(part) <= fabs(sum) * 0x1p-54) break;
    }
    return sum;
}

/* ---- loops ---- */

#define POLYNOMIALS(X, t)                                                                                            \
    X(chebyshev_polynomial_t, t, chebyshev_##t(x, y, FORM_t))                                                        \
    X(chebyshev_polynomial_u, t, chebyshev_##t(x, y, FORM_u))                                                        \
    X(chebyshev_polynomial_v, t, chebyshev_##t(x, y, FORM_v))                                                        \
    X(chebyshev_polynomial_w, t, chebyshev_##t(x, y, FORM_w))                                                        \
    X(shifted_chebyshev_polynomial_t, t, chebyshev_##t(2 * x - 1, y, FORM_t))                                        \
    X(shifted_chebyshev_polynomial_u, t, chebyshev_##t(2 * x - 1, y, FORM_u))                                        \
    X(shifted_chebyshev_polynomial_v, t, chebyshev_##t(2 * x - 1, y, FORM_v))                                        \
    X(shifted_chebyshev_polynomial_w, t, chebyshev_##t(2 * x - 1, y, FORM_w))                                        \
    X(hermite_polynomial_h, t, hermite_##t(x, y, 2))                                                                 \
    X(hermite_polynomial_he, t, hermite_##t(x, y, 1))                                                                \
    X(laguerre_polynomial_l, t, laguerre_##t(x, y))                                                                  \
    X(legendre_polynomial_p, t, legendre_##t(x, y))                                                                  \
    X(zeta, t, (t)zeta(x, y))

#define DEFINE(op, t, EXPR) KERNEL2(op, t, t, EXPR) LOOP2(op, t, t, t)
#define DEFINE_HALF(op, m, EXPR) HALF2(op, m, m)
POLYNOMIALS(DEFINE, f32)
POLYNOMIALS(DEFINE, f64)
POLYNOMIALS(DEFINE_HALF, f16)
POLYNOMIALS(DEFINE_HALF, bf16)

KERNEL1(digamma, f32, f32, (f32)digamma(x))
KERNEL1(digamma, f64, f64, digamma(x))
LOOP1(digamma, f32, f32, f32)
LOOP1(digamma, f64, f64, f64)
HALF1(digamma, f16, f16)
HALF1(digamma, bf16, bf16)

#define ROW(op, t, EXPR) ENTRY(op, t)
#define ROWS(t) POLYNOMIALS(ROW, t) ENTRY(digamma, t)
const st_entry ISA_NAME(st_entries_special)[] = {ROWS(f32) ROWS(f64) ROWS(f16) ROWS(bf16) ST_END};
