/* Texts of synthetic items. With a theme: English sentences, one to three of the true class, and for hard items one of
 * the rival class. Without a theme: artificial words, a third of them from the vocabulary of the class. Cost: one
 * Philox block per sentence or word. */
#include "votes/synth/synth_internal.h"

enum { WORDS_OF_CLASS = 24, WORDS_OF_ALL = 120, N_SENTENCES = 8, N_OPENINGS = 8, N_CLOSINGS = 8, N_PRODUCTS = 16 };

static const char *const ticket_classes[] = {"delivery", "payment", "defect", "account", "returns", "praise"};
static const char *const ticket_sentences[][8] = {
    {"My {p} was due on {d} and has still not arrived.", "The tracking page has not changed for {n} days.",
     "The courier left the parcel at the wrong address in {c}.", "The parcel with the {p} came {n} days late.",
     "Where is my package? It was shipped {n} days ago.",
     "The driver never rang the bell and took the box back to {c}.", "The shipment has been stuck in {c} since {d}.",
     "Only half of the shipment was delivered on {d}."},
    {"I was charged twice for the {p}.", "The invoice shows {n} euros more than the price on your page.",
     "My card was declined although the bank sees no problem.", "The discount code was not applied to the bill.",
     "The bank took {n} euros on {d}, but the order says unpaid.", "Please send me a corrected invoice for the {p}.",
     "Paying by bank transfer does not work in the checkout.", "You billed me for an order that I cancelled on {d}."},
    {"The {p} stopped working after {n} days.", "The {p} is broken: it does not switch on.",
     "There is a crack in the case of the {p}.", "The {p} makes a loud noise and gets very hot.",
     "One button of the {p} does nothing at all.", "The battery of the {p} is empty after {n} minutes.",
     "The screen of the {p} flickers all the time.", "A part was missing, so the {p} cannot be assembled."},
    {"I have not been able to log in since {d}.", "The password reset email never reaches me.",
     "My account was locked after {n} attempts.", "I need to change the email address of my profile.",
     "Please delete my account and all my data.", "The app says that my user name does not exist.",
     "Two-factor login sends the code to my old phone number.", "I registered twice and want to merge both profiles."},
    {"I would like to send the {p} back.", "How long can I return an item that I bought on {d}?",
     "The return label for the {p} cannot be printed.", "I sent the box back {n} days ago and heard nothing.",
     "Can I exchange the {p} for another colour?", "The drop-off point in {c} refused my return.",
     "I changed my mind about the {p} and want a refund.", "Who pays the postage if I return the {p}?"},
    {"The {p} is even better than I had hoped.", "Great service, my question was answered within {n} minutes.",
     "Thank you for the quick help on {d}.", "I love the {p} and will order again.",
     "Your shop in {c} is friendly and fast.", "Everything went perfectly with my order.",
     "The {p} is worth every cent.", "I have told all my friends about the {p}."},
};
static const char *const ticket_openings[N_OPENINGS] = {"Hello. ",          "Hi there. ",
                                                        "Good morning. ",   "Dear team! ",
                                                        "About my order: ", "I need help. ",
                                                        "Hello support. ",  "Hey. "};
static const char *const ticket_closings[N_CLOSINGS] = {" Please help.",
                                                        " Thanks in advance.",
                                                        " Please get back to me soon.",
                                                        " Best regards from {c}.",
                                                        " I look forward to your answer.",
                                                        " What can I do?",
                                                        " Many thanks.",
                                                        " Please call me on {d}."};
static const char *const ticket_products[N_PRODUCTS] = {"kettle",         "headphones set", "desk lamp", "blender",
                                                        "radio",          "keyboard",       "camera",    "printer",
                                                        "coffee grinder", "router",         "drill",     "tablet",
                                                        "bike light",     "monitor",        "toaster",   "smart watch"};

static const char *const review_classes[] = {"negative", "neutral", "positive", "mixed"};
static const char *const review_sentences[][8] = {
    {"The {p} broke after {n} days.", "Terrible quality, I want my money back.", "I regret buying the {p}.",
     "It is far too expensive for what it does.", "The {p} is slow and awkward to use.",
     "The worst {p} that I have ever owned.", "It arrived dirty and scratched.",
     "It failed on {d} and nobody helped me."},
    {"It is a {p}, nothing more.", "I have used the {p} for {n} days.", "The {p} has the size given on the page.",
     "Bought on {d} as a spare.", "It does what the description says.", "The colour is grey, as in the picture.",
     "The manual has {n} pages.", "I got the {p} as a gift from {c}."},
    {"I love this {p}.", "Excellent quality for the price.", "The {p} works perfectly after {n} days.",
     "It is quick, quiet and easy to use.", "The best {p} that I have ever had.", "It looks beautiful on my table.",
     "I would buy the {p} again at once.", "Setting it up took {n} minutes and was fun."},
    {"The {p} looks nice, but it breaks easily.", "Good idea, poor execution.",
     "It is cheap, although the sound is weak.", "I like the design and hate the buttons.",
     "The {p} was great for {n} days and then got slow.", "Friendly service, disappointing product.",
     "It is strong but far too loud.", "Half of it is excellent, half of it is useless."},
};
static const char *const review_openings[N_OPENINGS] = {
    "Bought in {c}. ", "First impression: ", "After {n} weeks: ",       "My opinion: ",
    "Short review. ",  "Update: ",           "For my kitchen in {c}. ", "Second purchase. "};
static const char *const review_closings[N_CLOSINGS] = {" Ordered on {d}.",
                                                        " I compared {n} of them.",
                                                        " That is all.",
                                                        " Delivered to {c}.",
                                                        " Used it {n} times.",
                                                        " Photos follow.",
                                                        " I will report again on {d}.",
                                                        " Your experience may differ."};

static const char *const days[] = {"Monday", "Tuesday",  "Wednesday", "Thursday",
                                   "Friday", "Saturday", "1 March",   "12 April"};
static const char *const cities[] = {"Leeds", "Porto", "Graz", "Lyon", "Turku", "Ghent", "Bergen", "Krakow"};

static const dis__synth_theme themes[] = {
    {"tickets", "topic", 6, ticket_classes, ticket_sentences, ticket_openings, ticket_closings, ticket_products},
    {"reviews", "sentiment", 4, review_classes, review_sentences, review_openings, review_closings, ticket_products},
};

const dis__synth_theme *dis__synth_theme_find(const char *name)
{
    for (size_t t = 0; t < sizeof themes / sizeof *themes; t++)
        if (strcmp(name, themes[t].name) == 0) return &themes[t];
    return NULL;
}

/* `sentence` with its slots filled: the product of the item, and words chosen by `word`. */
static char *put_sentence(const dis__synth_theme *t, const char *sentence, uint32_t product, uint32_t word, char *out)
{
    for (; *sentence; sentence++) {
        if (*sentence != '{') {
            *out++ = *sentence;
            continue;
        }
        switch (sentence[1]) {
        case 'p': out = dis__synth_put(out, t->products[product % N_PRODUCTS]); break;
        case 'd': out = dis__synth_put(out, days[word / 16 % 8]); break;
        case 'c': out = dis__synth_put(out, cities[word / 128 % 8]); break;
        default: out = dis__synth_put_number(out, 2 + word / 1024 % 28); break;
        }
        sentence += 2;
        word = word >> 16 | word << 16; /* a second slot of the same kind gets another word */
    }
    return out;
}

/* Sentence number `place` of item i, of `class`. Different positions have different sentences. */
static char *put_class_sentence(const dis__synth *s, uint64_t i, uint64_t class, uint64_t place, uint32_t product,
                                char *out)
{
    const dis_random_block b = dis__philox(i, DIS_STREAM_SYNTH_CONTENT | (place + 1) << 32, s->o.seed);
    const dis_random_block first = dis__philox(i, DIS_STREAM_SYNTH_CONTENT | UINT64_C(1) << 32, s->o.seed);
    /* Odd steps of at most 7 from the first one: positions 0, 1 and 2 are different sentences. */
    const uint64_t which = (first.word[0] + place * (1 + 2 * (first.word[1] % 3))) % N_SENTENCES;
    return put_sentence(s->theme, s->theme->sentences[class][which], product, b.word[2], out);
}

static char *put_theme_text(const dis__synth *s, uint64_t i, char *out)
{
    const dis__synth_likeness l = dis__synth_likeness_draw(s, i);
    const dis_random_block b = dis__philox(i, DIS_STREAM_SYNTH_CONTENT | UINT64_C(64) << 32, s->o.seed);
    const dis_random_block edges = dis__philox(i, DIS_STREAM_SYNTH_CONTENT | UINT64_C(65) << 32, s->o.seed);
    uint64_t class[3] = {l.truth, l.truth, l.truth};
    uint64_t n = 1 + (b.word[0] >> 31);
    if (l.rival_share > .42) { /* both classes are equally likely, in any order */
        n = 2;
        class[b.word[1] >> 31] = l.rival;
    } else if (l.rival_share > .25) {
        n = 2;
        class[1] = l.rival;
    } else if (l.rival_share > .12) {
        n = 3;
        class[2] = l.rival;
    }
    if (b.word[2] >> 31)
        out = put_sentence(s->theme, s->theme->openings[b.word[3] % N_OPENINGS], edges.word[0], edges.word[1], out);
    for (uint64_t place = 0; place < n; place++) {
        if (place) *out++ = ' ';
        out = put_class_sentence(s, i, class[place], place, edges.word[0], out);
    }
    if (b.word[2] >> 30 & 1)
        out = put_sentence(s->theme, s->theme->closings[b.word[3] / N_OPENINGS % N_CLOSINGS], edges.word[0],
                           edges.word[2], out);
    return out;
}

/* Words of two or three syllables; the syllables follow from the word's number. */
static char *put_word(uint64_t number, char *out)
{
    static const char onset[] = "bdfgklmnprstvz", vowel[] = "aeiou";
    number = number * 2 + 71;
    for (int syllable = 0; syllable < 2 || (syllable < 3 && number); syllable++) {
        *out++ = onset[number % (sizeof onset - 1)];
        number /= sizeof onset - 1;
        *out++ = vowel[number % (sizeof vowel - 1)];
        number /= sizeof vowel - 1;
    }
    return out;
}

/* 8 to 15 words, a third of them from the vocabulary of the true class or of its rival. */
static char *put_random_text(const dis__synth *s, uint64_t i, char *out)
{
    const dis__synth_likeness l = dis__synth_likeness_draw(s, i);
    const uint64_t n = 8 + dis__random_below(s->o.seed, DIS_STREAM_SYNTH_CONTENT, i, 8);
    for (uint64_t j = 0; j < n; j++) {
        const dis_random_block b = dis__philox(i, DIS_STREAM_SYNTH_CONTENT | (j + 1) << 32, s->o.seed);
        const bool own = dis__synth_unit(b.word[0]) < 1. / 3;
        const uint64_t class = dis__synth_unit(b.word[2]) < l.rival_share ? l.rival : l.truth;
        if (j) *out++ = ' ';
        out = put_word(own ? WORDS_OF_ALL + class * WORDS_OF_CLASS + ((uint64_t)b.word[1] * WORDS_OF_CLASS >> 32)
                           : (uint64_t)b.word[1] * WORDS_OF_ALL >> 32,
                       out);
    }
    return out;
}

char *dis__synth_put_text(const dis__synth *s, uint64_t i, char *out)
{
    return s->theme ? put_theme_text(s, i, out) : put_random_text(s, i, out);
}
