// Tokens, which host inputs hold in place of numbers: each word encodes its own place under a secret key, and looks
// like a float: of ordinary size, huge or not a number, or tiny, depending on the seed. A page is filled when it is
// first touched. planner/tokens.py decodes tokens.
#include "recorder.h"
#include <stdlib.h>
#include <sys/mman.h>

enum { WORDS = PAGE / 4, MOST_PAGES = 64, MOST_FAULTS = 1 << 14, FEW_FAULTS = 64, SMALL = 128 << 20, NEAR = 4 };

static u64 mixed(u64 x) { // splitmix64, Steele, Lea and Flood 2014
    x += 0x9E3779B97F4A7C15ull;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ull;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBull;
    return x ^ (x >> 31);
}

void rec_give_tokens(Buffer *buffer) {
    buffer->key = mixed(rec_settings->seed + mixed(64 * (u64)buffer->call + buffer->given)) | 1;
}

// Return the number of exponent bits that vary: the fewest that give each word of the buffer a token of its own.
static unsigned exponent_bits(u64 bytes) {
    unsigned bits = 3;
    while (bits < 7 && bytes > (u64)4 << (24 + bits)) bits++;
    return bits;
}

// The last two bits of a seed choose the size of tokens: the largest include infinities and NaN, the smallest
// subnormal numbers.
enum { ORDINARY, LARGEST, SMALLEST };

static unsigned looks(void) { return rec_settings->seed & 3; }

static unsigned lowest_exponent(unsigned bits) {
    return looks() == LARGEST ? 256 - (1u << bits) : looks() == SMALLEST ? 0 : 127 - (1u << (bits - 1));
}

// Arithmetic is modulo 2^(24 + bits), at most 2^31.
INLINED uint32_t token(uint32_t x, u64 key, unsigned bits, unsigned lowest) {
    uint32_t mask = (1u << (24 + bits)) - 1;
    unsigned half = (25 + bits) / 2;
    x = (x * 0x9E3779B1u + (uint32_t)key) & mask;
    x ^= x >> half;
    x = (x * 0x85EBCA6Bu + (uint32_t)(key >> 32)) & mask;
    x ^= x >> half;
    return (x >> 23 & 1) << 31 | (lowest + (x >> 24)) << 23 | (x & 0x7fffff);
}

// Allocate the pages of a walk: at the walk's distance, if the gaps between them can be made to fault as before, else
// side by side. Pages at a distance are moved in one piece, which drops the filled pages between them: the next walk
// faults on these again, so a buffer with MOST_GUARDED faults gets its pages side by side.
enum { GUARD_INSTALL = 102, MOST_GUARDED = 1 << 10, MOST_ROOM = 64 << 20 }; // <linux/mman.h>, since Linux 6.13

static char *room_for(u64 count, u64 *apart, u64 faults) {
    static int unknown;
    if (*apart != PAGE && count > 1 && !unknown && faults < MOST_GUARDED && *apart <= MOST_ROOM / count) {
        u64 bytes = (count - 1) * *apart + PAGE, done = 0;
        char *made = mmap(0, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (made != MAP_FAILED) {
            while (++done < count && !madvise(made + done * *apart - *apart + PAGE, *apart - PAGE, GUARD_INSTALL))
                continue;
            if (done == count) return made;
            unknown = 1;
            munmap(made, bytes);
        }
    }
    *apart = PAGE;
    return mmap(0, count * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
}

// Each piece that is moved may become a mapping of its own and split another. Linux allows a process 65,530 of them,
// and host code needs some. After MOST_MOVED pieces all filled pages are dropped: a page that is read again faults
// again, and gets the same tokens.
enum { MOST_MOVED = 1 << 14 };
static u64 moved;

static void take_away(void) {
    for (int i = 0; i < rec_buffer_count; i++) {
        Buffer *one = &rec_buffers[i];
        if (one->key && !one->freed)
            mmap((void *)one->base, (one->bytes + PAGE - 1) & -(u64)PAGE, PROT_NONE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
    }
    moved = 0;
}

// Fill pages `distance` apart, from `low` on. Pages are filled elsewhere and then moved into place, so that no thread
// sees half a page. Returns 0 if there is no memory, or no mapping is left.
FAST static int fill_pages(const Buffer *buffer, u64 low, u64 distance, u64 count) {
    u64 apart = distance;
    char *made = room_for(count, &apart, buffer->faults);
    if (made == MAP_FAILED) return 0;
    unsigned bits = exponent_bits(buffer->bytes), lowest = lowest_exponent(bits);
    for (u64 i = 0; i < count; i++) {
        uint32_t *words = (uint32_t *)(made + i * apart), first = (low + i * distance - buffer->base) / 4;
        for (unsigned word = 0; word < WORDS; word++)
            words[word] = token(first + word, buffer->key, bits, lowest);
    }
    u64 bytes = (count - 1) * apart + PAGE, piece = apart == distance ? bytes : PAGE, done = 0;
    if (!mprotect(made, bytes, PROT_READ))
        for (; done < bytes; done += piece, moved++)
            if (mremap(made + done, piece, piece, MREMAP_MAYMOVE | MREMAP_FIXED,
                       (void *)(low + done / PAGE * distance)) == MAP_FAILED)
                break;
    if (done < bytes) munmap(made + done, bytes - done);
    return done >= bytes;
}

// Return whether so many pages have been touched that whole blocks are filled: a small buffer then takes at most as
// many faults again.
static int is_filled_in_blocks(const Buffer *buffer) {
    u64 blocks = buffer->bytes / (MOST_PAGES * PAGE);
    return buffer->faults > (buffer->bytes <= SMALL ? FEW_FAULTS + blocks : MOST_FAULTS);
}

// Return the walk that a page continues: host code may walk from both ends.
static PageWalk *nearest_walk(Buffer *buffer, u64 page) {
    PageWalk *one = &buffer->walks[0], *other = &buffer->walks[1];
    if (!one->last || !other->last) return one->last ? other : one;
    u64 far = page > one->last ? page - one->last : one->last - page;
    return far <= (page > other->last ? page - other->last : other->last - page) ? one : other;
}

// Fill the page that host code has touched, and the next pages of its walk through the buffer, up or down: at equal
// distances, as when a matrix's first column is read, or side by side if the distance is short. If walks cross, or have
// no order, the page's whole block is filled. A fault, or a move, takes longer than filling a page. Returns 0 if the
// buffer has no such page, or no memory is left.
int rec_fill_page(Buffer *buffer, u64 address) {
    u64 page = address & -(u64)PAGE, end = buffer->base + ((buffer->bytes + PAGE - 1) & -(u64)PAGE);
    if (!buffer->key || page < buffer->base || page >= end) return 0;
    PageWalk *walk = nearest_walk(buffer, page);
    u64 step = page - walk->last, low = page, count, length;
    int down = walk->last > page, near = (down ? -step : step) <= NEAR * PAGE;
    if (!near && step != walk->step) walk->ahead = 1;
    else if (walk->ahead < MOST_PAGES) walk->ahead *= 2;
    if (is_filled_in_blocks(buffer)) {
        low -= (page - buffer->base) % (MOST_PAGES * PAGE);
        length = PAGE;
        count = (end - low) / PAGE < MOST_PAGES ? (end - low) / PAGE : MOST_PAGES;
    } else {
        length = near ? PAGE : down ? -step : step;
        u64 room = (down ? page - buffer->base : end - PAGE - page) / length;
        count = walk->ahead <= room ? walk->ahead : room + 1;
        if (down) low -= (count - 1) * length;
        page = down ? low : low + (count - 1) * length;
    }
    if (moved > MOST_MOVED) take_away();
    if (!fill_pages(buffer, low, length, count)) {
        take_away();
        page = address & -(u64)PAGE;
        if (!fill_pages(buffer, page, PAGE, 1)) return 0;
    }
    buffer->faults++;
    walk->last = page;
    walk->step = down ? -length : length;
    return 1;
}

// The rest of the file packs bytes that host code has made into a record. Tokens at equal distances are written as one
// run, so that an unchanged copy of a matrix takes little room. A run, or a piece of other bytes, begins with four
// numbers: the tag of the input (0: other bytes), the first place, the distance, and the number of words (or of bytes,
// which follow).
enum { SHORTEST = 32 };

static uint32_t inverse(uint32_t odd) {
    uint32_t found = odd;
    for (int i = 0; i < 5; i++) found *= 2 - odd * found;
    return found;
}

typedef struct {
    u64 tag, key, words;
    uint32_t first, second;
    unsigned bits, lowest;
} Source;

// Return the place that a token encodes; the largest number for a word that is no token.
INLINED u64 place_of(uint32_t word, const Source *source) {
    uint32_t mask = (1u << (24 + source->bits)) - 1;
    unsigned half = (25 + source->bits) / 2;
    uint32_t exponent = (word >> 23 & 0xff) - source->lowest;
    if (exponent >> source->bits) return -1;
    uint32_t x = (word & 0x7fffff) | word >> 31 << 23 | exponent << 24;
    x ^= x >> half;
    x = (x - (uint32_t)(source->key >> 32)) * source->second & mask;
    x ^= x >> half;
    x = (x - (uint32_t)source->key) * source->first & mask;
    return x < source->words ? x : (u64)-1;
}

static int sources_of(Source *sources, int most) {
    int count = 0;
    for (int i = rec_buffer_count - 1; i >= 0 && count < most; i--) {
        const Buffer *one = &rec_buffers[i];
        if (one->key)
            sources[count++] = (Source){.tag = (u64)(one->call + 1) << 16 | (unsigned)(one->given + 1),
                                        .key = one->key,
                                        .words = one->bytes / 4,
                                        .first = inverse(0x9E3779B1u),
                                        .second = inverse(0x85EBCA6Bu),
                                        .bits = exponent_bits(one->bytes),
                                        .lowest = lowest_exponent(exponent_bits(one->bytes))};
    }
    return count;
}

static void piece(Sink *sink, u64 tag, u64 first, u64 step, u64 count) {
    const u64 numbers[] = {tag, first, step, count};
    rec_append(sink, numbers, sizeof numbers);
}

static void other_bytes(Sink *sink, const unsigned char *bytes, u64 count) {
    if (!count) return;
    if (count + sink->used > rec_settings->most_bytes)
        rec_fail(TOO_LARGE, "host code copies more of its own memory than a plan holds: copy what is needed alone");
    piece(sink, 0, 0, 0, count);
    rec_append(sink, bytes, count);
}

// Return the number of words from here on that are a run of a source's tokens.
FAST static u64 run_of(const uint32_t *words, u64 count, const Source *source, u64 *first, u64 *step) {
    if (count < SHORTEST || (*first = place_of(words[0], source)) == (u64)-1) return 0;
    u64 next = place_of(words[1], source), length = 1;
    if (next == (u64)-1 || next <= *first) return 0;
    *step = next - *first;
    while (length < count && place_of(words[length], source) == *first + length * *step) length++;
    return length;
}

void rec_emit_packed(enum kind kind, const u64 *numbers, unsigned count, const unsigned char *text, u64 bytes) {
    Source sources[8];
    int source_count = sources_of(sources, 8);
    Sink sink = {0};
    u64 begin = 0, words = source_count ? bytes / 4 : 0;
    for (u64 at = 0; at < words;) {
        u64 first = 0, step = 0, length = 0;
        int source = 0;
        for (; source < source_count; source++)
            if ((length = run_of((const uint32_t *)text + at, words - at, &sources[source], &first, &step)) >= SHORTEST)
                break;
        if (source == source_count) {
            at++;
            continue;
        }
        other_bytes(&sink, text + begin, 4 * at - begin);
        piece(&sink, sources[source].tag, first, step, length);
        at += length;
        begin = 4 * at;
    }
    other_bytes(&sink, text + begin, bytes - begin);
    rec_emit(kind, numbers, count, sink.bytes, sink.used);
    free(sink.bytes);
}
