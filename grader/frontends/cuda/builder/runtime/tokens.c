// Host inputs hold no numbers of the judge's, but tokens: each word tells its own place to those who know the key, and
// looks like a float of ordinary size. Pages are filled when they are first touched. planner/tokens.py reads tokens.
#include "recorder.h"
#include <sys/mman.h>

enum { PAGE = 4096, WORDS = PAGE / 4, MOST_PAGES = 64, MOST_FAULTS = 1 << 14 };
static u64 faults, last_page;
static unsigned pages = 1;

static u64 mixed(u64 x) { // splitmix64, Steele, Lea and Flood 2014
    x += 0x9E3779B97F4A7C15ull;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ull;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBull;
    return x ^ (x >> 31);
}

void rec_give_tokens(Buffer *buffer) {
    buffer->key = mixed(rec_settings->seed + mixed(64 * (u64)buffer->call + buffer->given)) | 1;
}

// Bits of the exponent that vary: as few as give each word of the buffer a token of its own.
static unsigned exponent_bits(u64 bytes) {
    unsigned bits = 3;
    while (bits < 7 && bytes > (u64)4 << (24 + bits)) bits++;
    return bits;
}

static uint32_t token(u64 index, u64 key, unsigned bits) {
    u64 mask = (1ull << (24 + bits)) - 1, x = index;
    unsigned half = (25 + bits) / 2;
    x = (x * 0x9E3779B1u + key) & mask;
    x ^= x >> half;
    x = (x * 0x85EBCA6Bu + (key >> 32)) & mask;
    x ^= x >> half;
    uint32_t exponent = 127 - (1u << (bits - 1)) + (uint32_t)(x >> 24);
    return (uint32_t)(x >> 23 & 1) << 31 | exponent << 23 | (uint32_t)(x & 0x7fffff);
}

// Fills the page that host code has touched, and some after it where it walks on or has touched very many. Another
// thread never sees half a page: filled ones are moved into their place. Returns 0 if the buffer has no such page.
int rec_fill_page(Buffer *buffer, u64 address) {
    u64 page = address & -(u64)PAGE, end = buffer->base + ((buffer->bytes + PAGE - 1) & -(u64)PAGE);
    if (!buffer->key || page < buffer->base || page >= end) return 0;
    pages = page != last_page ? (faults > MOST_FAULTS ? MOST_PAGES : 1) : pages < MOST_PAGES ? 2 * pages : pages;
    u64 count = pages < (end - page) / PAGE ? pages : (end - page) / PAGE;
    uint32_t *made = mmap(0, count * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (made == MAP_FAILED) return 0;
    unsigned bits = exponent_bits(buffer->bytes);
    u64 first = (page - buffer->base) / 4;
    for (u64 i = 0; i < count * WORDS; i++) made[i] = token(first + i, buffer->key, bits);
    mprotect(made, count * PAGE, PROT_READ);
    if (mremap(made, count * PAGE, count * PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, (void *)page) == MAP_FAILED) return 0;
    faults++;
    last_page = page + count * PAGE;
    return 1;
}
