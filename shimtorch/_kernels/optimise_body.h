/* Steps of optimisers for elements of one type. Whoever includes this defines
 *   real          the type
 *   ROOT          its square root
 *   STEP(name)    the head of a function of `s`, a pointer to the step
 *   EACH(i)       the loop over the elements i that the function is for */
#define NUMBER(k) ((real)s->numbers[k])
#define BEGIN                               \
    real *p = (real *)s->p;                 \
    const real *g = (const real *)s->g;     \
    const real sign = NUMBER(0); /* -1: the gradient's way up */
#define STATE(k) ((real *)s->state[k])

/* state: the momentum buffer or nothing */
STEP(sgd) {
    BEGIN
    real *b = STATE(0);
    const real decay = NUMBER(1), momentum = NUMBER(2), gain = NUMBER(3), lr = NUMBER(4);
    const int fresh = s->fresh, nesterov = s->numbers[5] != 0;
    if (!b) {
        EACH(i) p[i] -= lr * (sign * g[i] + decay * p[i]);
        return;
    }
    EACH(i) {
        const real d = sign * g[i] + decay * p[i], kept = fresh ? d : momentum * b[i] + gain * d;
        b[i] = kept;
        p[i] -= lr * (nesterov ? d + momentum * kept : kept);
    }
}

/* state: mean, square, the largest square or nothing. decay is added to the gradient, shrink multiplies the parameter,
 * and correction divides the root. */
STEP(adam) {
    BEGIN
    real *mean = STATE(0), *square = STATE(1), *largest = STATE(2);
    const real decay = NUMBER(1), shrink = NUMBER(2), gain1 = (real)(1 - s->numbers[3]), beta2 = NUMBER(4);
    const real gain2 = (real)(1 - s->numbers[4]), eps = NUMBER(5), step = NUMBER(6), correction = NUMBER(7);
    if (!largest) {
        EACH(i) {
            const real d = sign * g[i] + decay * p[i], m = mean[i] + gain1 * (d - mean[i]);
            const real v = square[i] * beta2 + gain2 * d * d;
            mean[i] = m;
            square[i] = v;
            p[i] = p[i] * shrink - step * m / (ROOT(v) / correction + eps);
        }
        return;
    }
    EACH(i) {
        const real d = sign * g[i] + decay * p[i], m = mean[i] + gain1 * (d - mean[i]);
        const real v = square[i] * beta2 + gain2 * d * d, most = v > largest[i] || v != v ? v : largest[i];
        mean[i] = m;
        square[i] = v;
        largest[i] = most;
        p[i] = p[i] * shrink - step * m / (ROOT(most) / correction + eps);
    }
}

/* state: square, the square of the steps */
STEP(adadelta) {
    BEGIN
    real *square = STATE(0), *delta = STATE(1);
    const real decay = NUMBER(1), rho = NUMBER(2), gain = (real)(1 - s->numbers[2]), eps = NUMBER(3), lr = NUMBER(4);
    EACH(i) {
        real d = sign * g[i] + decay * p[i];
        const real v = square[i] * rho + gain * d * d;
        square[i] = v;
        d *= ROOT(delta[i] + eps) / ROOT(v + eps);
        delta[i] = delta[i] * rho + gain * d * d;
        p[i] -= lr * d;
    }
}

/* state: square, the mean, whose square is taken off, or nothing, and the buffer of momentum or nothing */
STEP(rmsprop) {
    BEGIN
    real *square = STATE(0), *mean = STATE(1), *buffer = STATE(2);
    const real decay = NUMBER(1), alpha = NUMBER(2), gain = (real)(1 - s->numbers[2]), momentum = NUMBER(3);
    const real eps = NUMBER(4), lr = NUMBER(5);
    if (!mean && !buffer) {
        EACH(i) {
            const real d = sign * g[i] + decay * p[i], v = square[i] * alpha + gain * d * d;
            square[i] = v;
            p[i] -= lr * (d / (ROOT(v) + eps));
        }
        return;
    }
    EACH(i) {
        real d = sign * g[i] + decay * p[i], v = square[i] * alpha + gain * d * d;
        square[i] = v;
        if (mean) {
            const real m = mean[i] + gain * (d - mean[i]);
            mean[i] = m;
            v -= m * m;
        }
        d /= ROOT(v) + eps;
        if (buffer) buffer[i] = d = momentum * buffer[i] + d;
        p[i] -= lr * d;
    }
}

/* state: the sum of squares */
STEP(adagrad) {
    BEGIN
    real *total = STATE(0);
    const real decay = NUMBER(1), eps = NUMBER(2), step = NUMBER(3);
    EACH(i) {
        const real d = sign * g[i] + decay * p[i], sum = total[i] + d * d;
        total[i] = sum;
        p[i] -= step * d / (ROOT(sum) + eps);
    }
}

/* state: mean, largest */
STEP(adamax) {
    BEGIN
    real *mean = STATE(0), *largest = STATE(1);
    const real decay = NUMBER(1), gain1 = (real)(1 - s->numbers[2]), beta2 = NUMBER(3), eps = NUMBER(4);
    const real step = NUMBER(5);
    EACH(i) {
        const real d = sign * g[i] + decay * p[i], m = mean[i] + gain1 * (d - mean[i]);
        const real size = (d >= 0 ? d : -d) + eps, before = largest[i] * beta2;
        const real most = before >= size || before != before ? before : size; /* a NaN stays */
        mean[i] = m;
        largest[i] = most;
        p[i] -= step * m / most;
    }
}

/* state: mean, square. decay is added to the gradient, shrink multiplies the parameter, and correction divides the
 * square. */
STEP(nadam) {
    BEGIN
    real *mean = STATE(0), *square = STATE(1);
    const real decay = NUMBER(1), shrink = NUMBER(2), gain1 = (real)(1 - s->numbers[3]), beta2 = NUMBER(4);
    const real gain2 = (real)(1 - s->numbers[4]), eps = NUMBER(5), correction = NUMBER(6), step = NUMBER(7);
    const real step_of_mean = NUMBER(8);
    EACH(i) {
        const real d = sign * g[i] + decay * p[i], m = mean[i] + gain1 * (d - mean[i]);
        const real v = square[i] * beta2 + gain2 * d * d, root = ROOT(v / correction) + eps;
        mean[i] = m;
        square[i] = v;
        p[i] = p[i] * shrink - step * d / root - step_of_mean * m / root;
    }
}

/* state: mean, square. rectified: what is divided by the root of the squares, 0 in the first steps, which do without. */
STEP(radam) {
    BEGIN
    real *mean = STATE(0), *square = STATE(1);
    const real decay = NUMBER(1), shrink = NUMBER(2), gain1 = (real)(1 - s->numbers[3]), beta2 = NUMBER(4);
    const real gain2 = (real)(1 - s->numbers[4]), eps = NUMBER(5), step = NUMBER(6), rectified = NUMBER(7);
    const int rectifies = rectified != 0;
    EACH(i) {
        const real d = sign * g[i] + decay * p[i], m = mean[i] + gain1 * (d - mean[i]);
        const real v = square[i] * beta2 + gain2 * d * d;
        mean[i] = m;
        square[i] = v;
        p[i] = p[i] * shrink - (rectifies ? step * m * (rectified / (ROOT(v) + eps)) : step * m);
    }
}

/* state: the average, which goes part of the way to the parameter */
STEP(asgd) {
    BEGIN
    real *average = STATE(0);
    const real decay = NUMBER(1), shrink = NUMBER(2), rate = NUMBER(3), part = NUMBER(4);
    const int all = part == 1;
    EACH(i) {
        const real d = sign * g[i] + decay * p[i], x = p[i] * shrink - rate * d;
        p[i] = x;
        average[i] = all ? x : average[i] + (x - average[i]) * part;
    }
}

/* state: the gradient before, the size of the step of each element */
STEP(rprop) {
    BEGIN
    real *previous = STATE(0), *size = STATE(1);
    const real shrink = NUMBER(1), grow = NUMBER(2), smallest = NUMBER(3), largest = NUMBER(4);
    EACH(i) {
        const real up = sign * g[i], agreement = up * previous[i];
        const real d = agreement < 0 ? (real)0 : up; /* no step where the sign has just turned */
        const real wanted = agreement > 0 ? size[i] * grow : agreement < 0 ? size[i] * shrink : size[i];
        const real taken = wanted < smallest ? smallest : wanted > largest ? largest : wanted;
        size[i] = taken;
        p[i] -= taken * (d > 0 ? (real)1 : d < 0 ? (real)-1 : d);
        previous[i] = d;
    }
}

#undef NUMBER
#undef BEGIN
#undef STATE
