/* tokenizer_internal.h: internals of a tokenizer.
 *
 * A tokenizer is a list of steps, read from its files once and never changed: normalisers (text to text),
 * pre-tokenizers (a text into words), a model (a word into tokens), and a template that puts special tokens around. A
 * text goes
 *
 *     added tokens cut out -> normalisers -> added tokens of normalised text cut out -> pre-tokenizers -> model
 *
 * Steps and models are rows of tables, found by the names that tokenizer.json uses. What changes while a text is
 * encoded is in a dis__encode_workspace, one per thread. */
#ifndef DIS_TOKENS_TOKENIZER_INTERNAL_H
#define DIS_TOKENS_TOKENIZER_INTERNAL_H
#include "dissent/tokenizer.h"
#include "tokens/steps/added_search.h"
#include "tokens/traced_text.h"
#include "tokens/models/trie.h"
#include "io/json/json_read.h"
#include <pthread.h>

#define DIS_TOKEN_MAX_IDS 16777216 /* above any vocabulary; as many positions are taken for tables */

/* Bounds of a tokenizer that may come from someone else, far above what tokenizers in use need. A text may grow to
 * DIS_TOKEN_GROWTH times its bytes, and DIS_TOKEN_SLACK more. */
enum {
    DIS_TOKEN_FILE = 1 << 29,       /* bytes of one of its files */
    DIS_TOKEN_STEPS = 64,           /* normalisers; pre-tokenizers */
    DIS_TOKEN_STEP_TEXT = 256,      /* bytes that Prepend or Replace puts */
    DIS_TOKEN_GROWTH = 32,          /* the longest decomposition of Unicode takes 11 */
    DIS_TOKEN_SLACK = 256,          /* bytes */
    DIS_TOKEN_PIECE = 512,          /* bytes of a token of Unigram or WordPiece, whose time grows with it */
    DIS_TOKEN_AFFIX = 64,           /* bytes of BPE's prefix and suffix */
    DIS_TOKEN_ADDED = 1 << 16,      /* bytes of an added token */
    DIS_TOKEN_WASTED_STEPS = 8,     /* steps per byte in vain, after which added tokens are looked for all at once */
    DIS_TOKEN_SHORT = 64,           /* added tokens up to here are looked for position by position */
    DIS_TOKEN_TEXT_MAX = INT32_MAX, /* bytes of a normalised text: positions are 32 bits */
};

typedef struct {
    size_t start, end; /* bytes of a text */
} dis__span;

typedef struct {
    dis__span *span;
    size_t n, room;
} dis__spans;

/* Tokens as they come out of a model. */
typedef struct {
    int32_t *id;
    uint32_t *from, *to; /* bytes of the caller's text; meaningless unless traced */
    size_t n, room;
} dis__token_list;

enum { DIS_CACHE_KEY = 24, DIS_CACHE_IDS = 9, DIS_CACHE_SLOTS = 1 << 15 };

/* Words met before, with their tokens. A new word takes the position of an old one of the same slot. */
typedef struct {
    char key[DIS_CACHE_KEY]; /* zeros after the word */
    uint8_t length, n;       /* length 0: free */
    int32_t id[DIS_CACHE_IDS];
} dis__cached_word;

/* A character being put in normal form. */
typedef struct {
    uint32_t c, class;
    uint32_t from, to; /* its position, known at the end */
    uint32_t absorbed; /* characters of the text that were composed into it */
    bool added;        /* not the first of what a character decomposed into */
} dis__normal_char;

typedef struct dis__encode_workspace {
    struct dis__encode_workspace *next;
    dis__traced_text text[4]; /* 0, 1: being normalised; 2, 3: being pre-tokenized */
    dis__spans words;         /* of the text that is pre-tokenized */
    dis__spans between;       /* the next step's */
    dis__spans pieces;        /* matches of one word */
    bool *matched;            /* (pieces.n) */
    size_t matched_room;
    dis__normal_char *point;
    uint32_t (*source)[2]; /* positions of the characters that points were made of */
    size_t n_points, point_room, n_sources, source_room;
    void *work; /* of a model */
    size_t work_room;
    dis__cached_word *cache; /* (DIS_CACHE_SLOTS) */
    dis__token_list out[2];  /* of the first and the second text */
    size_t limit;            /* a text that has so many tokens is not read on; 0: none */
    bool full;               /* it has */
    size_t begun;            /* tokens that were there before it */
    size_t *word_at;         /* words: tokens that were there before each, and after the last */
    size_t word_room;
    bool traced;           /* positions are wanted */
    bool spaced;           /* words of a sentence: each as if a space stood before it */
    size_t allowed, grown; /* bytes that the normalised pieces of a text may have, and have so far */
    uint32_t *longest[2];  /* added tokens at each byte, of the text and of its normalised piece; see added_tokens.c */
    size_t longest_room[2];
} dis__encode_workspace;

dis_status dis__spans_add(dis__spans *spans, size_t start, size_t end);
dis_status dis__token_list_add(dis__token_list *sink, int32_t id, size_t from, size_t to);

/* ---- patterns of Split and Replace ---- */

typedef struct dis__pattern {
    /* Bytes of the match that begins where the n bytes do (n > 0); 0: none does. */
    size_t (*match)(const struct dis__pattern *p, const char *text, size_t n);
    char *text; /* a literal one */
    size_t n_text;
    uint32_t flags, one; /* characters of these kinds (not of them: `other`), or that one */
    bool other;
    size_t min, max; /* how many in a row */
} dis__pattern;

/* The next match at or behind `at`: true, and *start and *end; false: there is none. */
bool dis__pattern_find(const dis__pattern *p, const char *text, size_t n, size_t at, size_t *start, size_t *end);

/* ---- normal forms ---- */

typedef enum { DIS_PARTS_NONE, DIS_PARTS_CANONICAL, DIS_PARTS_COMPATIBLE } dis__parts;

void dis__normal_form_begin(dis__encode_workspace *b);
/* Adds what a character decomposes into. */
dis_status dis__normal_form_add(dis__encode_workspace *b, uint32_t c, uint32_t from, uint32_t to, dis__parts parts);
/* Puts marks in order; then, where asked for, composes. */
void dis__normal_form_finish(dis__encode_workspace *b, bool compose);

/* ---- steps ---- */

typedef enum {
    DIS_SPLIT_REMOVED,
    DIS_SPLIT_ISOLATED,
    DIS_SPLIT_PREVIOUS,
    DIS_SPLIT_NEXT,
    DIS_SPLIT_CONTIGUOUS
} dis__split_behaviour;

typedef struct dis__tokenizer_step {
    const struct dis__tokenizer_step_kind *kind;
    bool clean, chinese, accents, lower; /* BertNormalizer */
    bool left, right;                    /* Strip */
    bool prefix_space, use_regex;        /* ByteLevel */
    bool split, first, always;           /* Metaspace */
    bool compatible, compose;            /* NFD, NFKD, NFC, NFKC */
    bool invert;
    dis__split_behaviour behaviour;
    dis__pattern pattern;
    char *text; /* content, prepend, replacement */
    size_t n_text;
    char *map; /* Precompiled: units of a double array, then texts with NULs after them */
    size_t n_units, n_map;
} dis__tokenizer_step;

typedef struct dis__tokenizer_reader dis__tokenizer_reader;

typedef struct dis__tokenizer_step_kind {
    const char *name;
    const char *fields; /* that its object may have, beside type */
    dis_status (*read)(dis__tokenizer_reader *r, const dis__json_value *v, dis__tokenizer_step *step);
    /* normalisers */
    dis_status (*normalise)(const dis__tokenizer_step *step, dis__encode_workspace *b, const dis__traced_text *in,
                            dis__traced_text *out);
    /* pre-tokenizers: b->words of *text become new ones, *text may become another */
    dis_status (*cut)(const dis__tokenizer_step *step, dis__encode_workspace *b, dis__traced_text **text);
} dis__tokenizer_step_kind;

extern const dis__tokenizer_step_kind dis__precompiled_kind;

const dis__tokenizer_step_kind *dis__normaliser_find(const char *name, size_t n);
const dis__tokenizer_step_kind *dis__pre_tokenizer_find(const char *name, size_t n);

typedef struct {
    dis__tokenizer_step *step;
    size_t n, room;
} dis__tokenizer_steps;

/* ---- models ---- */

typedef struct dis__model {
    const struct dis__model_kind *kind;
    dis__trie vocabulary; /* token to id */
    size_t n_ids;         /* the largest id + 1 */
    size_t n_tokens;
    int32_t unknown; /* its id, -1: none */
    bool byte_level; /* words are bytes, for which the vocabulary has letters */
    bool cached;     /* words are short and met again */
    /* BPE */
    struct dis__merge *merge; /* (merge_mask + 1) */
    size_t merge_mask;
    uint64_t merge_factor; /* random and odd */
    int32_t byte_id[256];  /* -1: none */
    dis__trie byte_tokens; /* tokens as bytes, for ignore_merges */
    char *prefix, *suffix;
    size_t n_prefix, n_suffix;
    bool fuse_unknown, byte_fallback, ignore_merges;
    /* WordPiece */
    dis__trie inner; /* tokens that continue a word, without their prefix */
    size_t max_chars;
    /* Unigram */
    double *score; /* (n_ids) */
    double unknown_score;
} dis__model;

typedef struct dis__model_kind {
    const char *name, *fields;
    dis_status (*read)(dis__tokenizer_reader *r, const dis__json_value *v, dis__model *model);
    /* Tokens of a word of n > 0 bytes; their positions are bytes of the word. */
    dis_status (*encode)(const dis__model *m, dis__encode_workspace *b, const char *word, size_t n,
                         dis__token_list *out);
} dis__model_kind;

const dis__model_kind *dis__model_find(const char *name, size_t n);
void dis__model_free(dis__model *m);

/* bpe.c: puts merges[i] = {left, right}, in order of rank; the byte ids when the vocabulary is complete. */
typedef struct dis__merge {
    uint32_t left, right; /* ids; left UINT32_MAX: free */
    uint32_t rank, id;
} dis__merge;

dis_status dis__bpe_reserve(dis__model *m, size_t n_merges);
void dis__bpe_put(dis__model *m, uint32_t left, uint32_t right, uint32_t rank, uint32_t id);
/* The letter that GPT-2 writes for a byte, as UTF-8; its bytes. */
size_t dis__byte_letter(unsigned char byte, char out[4]);
dis_status dis__bpe_finish(dis__model *m);

/* ---- added tokens ---- */

typedef struct {
    char *text;
    size_t n;
    int32_t id;
    bool single_word, left, right, normalised, special;
} dis__added;

typedef struct {
    dis__added *token;
    size_t n, room;
    dis__trie by_id, by_text; /* to the index of the token */
    /* What finds them: [false] in the text, [true] in the normalised one. */
    dis__trie trie[2];           /* to the index of the token */
    bool first[2][256];          /* bytes that tokens begin with */
    dis__added_search search[2]; /* built where a token is longer than DIS_TOKEN_SHORT; to the index of `found` */
    struct dis__added_found *found[2];
    size_t n_found[2];
} dis__added_tokens;

typedef struct {
    size_t at;         /* where to go on */
    size_t start, end; /* of a token found, strip included */
    const dis__added *token;
    size_t wasted;           /* steps of walks that found less than they read */
    const uint32_t *longest; /* the tokens at each byte, once these are too many */
} dis__added_match;

/* The next token at or behind m->at; m->token is NULL: there is none. `consumed`: bytes before it belong to the token
 * before. m begins as {0}. DIS_ELIMIT: no memory. */
dis_status dis__added_next(const dis__added_tokens *a, dis__encode_workspace *b, bool normalised, const char *text,
                           size_t n, size_t consumed, dis__added_match *m);
void dis__added_free(dis__added_tokens *a);

/* ---- templates ---- */

enum { DIS_MAX_PIECES = 32 };

typedef struct {
    enum { DIS_PIECE_FIRST, DIS_PIECE_SECOND, DIS_PIECE_SPECIAL } what;
    int32_t id; /* of a special token */
    uint8_t type;
} dis__piece;

typedef struct {
    dis__piece piece[DIS_MAX_PIECES];
    size_t n, n_special;
} dis__template;

typedef struct {
    dis__template single, pair;
    bool trim, trim_prefix; /* spaces are not part of a token's position; but for the one put before the text */
} dis__templates;

dis_status dis__templates_read(dis__tokenizer_reader *r, const dis__json_value *v, dis__templates *out);
/* <s> A </s>, <s> A </s> </s> B </s> */
dis__templates dis__templates_with(int32_t before, int32_t after, bool twice, bool types);
/* A, A B */
dis__templates dis__templates_plain(void);

/* ---- the whole ---- */

struct dis_tokenizer {
    char *path; /* of the file with the steps, for messages */
    dis__tokenizer_steps normalisers, pre_tokenizers;
    dis__model model;
    dis__added_tokens added;
    dis__templates templates;
    bool origins; /* a step looks at where its text came from */
    size_t max_length;
    int32_t n_ids;
    int32_t special[DIS_SPECIAL_TOKENS]; /* -1: none */
    pthread_mutex_t lock;                /* around `idle` */
    dis__encode_workspace *idle;
};

/* ---- reading ---- */

/* What tokenizer_config.json and config.json say. */
typedef struct {
    char class[64];                    /* tokenizer_class, "" unless there is one */
    char *special[DIS_SPECIAL_TOKENS]; /* texts of special tokens, NULL: not named */
    bool lower, chinese, prefix_space; /* do_lower_case, tokenize_chinese_chars, add_prefix_space */
    bool accents, accents_given;       /* strip_accents */
    bool has_added;                    /* added_tokens_decoder was there, and is in t->added */
    double max_length, positions;      /* 0: not named */
} dis__token_config;

struct dis__tokenizer_reader {
    dis_context *ctx;
    dis__json json;
    dis_tokenizer *t;
    bool old_files; /* there is no tokenizer.json */
    dis__token_config config;
};

/* DIS_EDATA when the object has a field that is not in `fields` (words with spaces between them) nor type. */
dis_status dis__check_fields(dis__tokenizer_reader *r, const dis__json_value *v, const char *what, const char *fields);
/* The value of a key; NULL where there is none, or no object. */
static inline const dis__json_value *dis__field(const dis__json_value *object, const char *key)
{
    return object ? dis__json_member(object, key) : NULL;
}
/* DIS_EDATA: the type of an object is not in a table. */
dis_status dis__fail_unknown_type(dis__tokenizer_reader *r, const dis__json_value *v, const char *what);
/* DIS_ELIMIT when a text of the file has more than `max` bytes. */
dis_status dis__check_bytes(dis__tokenizer_reader *r, const dis__json_value *v, const char *what, size_t n, size_t max);
/* A field; absent or null: the default, unless `needed`. */
dis_status dis__field_bool(dis__tokenizer_reader *r, const dis__json_value *v, const char *key, bool fallback,
                           bool *out);
dis_status dis__field_text(dis__tokenizer_reader *r, const dis__json_value *v, const char *key, bool needed, char **out,
                           size_t *n);
dis_status dis__field_id(dis__tokenizer_reader *r, const dis__json_value *v, const char *what, int32_t *out);
dis_status dis__field_split(dis__tokenizer_reader *r, const dis__json_value *v, dis__tokenizer_step *step);
dis_status dis__pattern_read(dis__tokenizer_reader *r, const dis__json_value *v, dis__pattern *p);
/* Cuts as ByteLevel does. */
void dis__tokenizer_step_set_gpt2(dis__tokenizer_step *step);
void dis__tokenizer_step_free(dis__tokenizer_step *step);

/* An object of tokens and ids, each token also to `also` unless NULL; model.unk_token. */
dis_status dis__vocabulary_read(dis__tokenizer_reader *r, const dis__json_value *vocab, dis__model *m,
                                dis_status (*also)(dis__model *m, const char *token, size_t n, uint32_t id));
dis_status dis__unknown_read(dis__tokenizer_reader *r, const dis__json_value *v, dis__model *m, bool needed);
dis_status dis__wordpiece_put(dis__model *m, const char *token, size_t n, uint32_t id);
extern const dis__model_kind dis__bpe_kind, dis__wordpiece_kind, dis__unigram_kind;

dis_status dis__tokenizer_read_text(dis__tokenizer_reader *r, const char *file, const char *text, size_t n);
dis_status dis__tokenizer_read_json(dis__tokenizer_reader *r, const char *path);
/* vocab.txt; vocab.json and merges.txt: the config must have been read. */
dis_status dis__tokenizer_read_lines(dis__tokenizer_reader *r, const char *vocabulary);
dis_status dis__tokenizer_read_merges(dis__tokenizer_reader *r, const char *vocabulary, const char *merges);
/* Fills r->config from the files of a folder that exist. */
dis_status dis__token_config_read(dis__tokenizer_reader *r, const char *folder);
dis_status dis__folder_check(const char *folder); /* DIS_EIO: it is not there, or no folder */
/* A tokenizer from the text of a tokenizer.json alone. */
dis_status dis__tokenizer_from_text(const char *text, size_t n, dis_tokenizer **out);
/* Adds a token; its id must be set. */
dis_status dis__added_add(dis__added_tokens *a, const dis__added *token);
/* Builds what finds them; normalisers must be there. */
dis_status dis__added_finish(dis_tokenizer *t, dis__encode_workspace *b);

/* encode_text.c. Bytes that the texts made of n bytes may have; called before the first of them is begun. */
void dis__encode_workspace_set_limit(dis__encode_workspace *b, size_t n);
dis_status dis__normalise(const dis_tokenizer *t, dis__encode_workspace *b, dis__traced_text **text);
/* Adds the tokens of a text (valid UTF-8, below 2 GiB) to *out. */
dis_status dis__encode_text(const dis_tokenizer *t, dis__encode_workspace *b, const char *text, size_t n,
                            dis__token_list *out);
dis_status dis__encode_workspace_create(dis__encode_workspace **out);
void dis__encode_workspace_free(dis__encode_workspace *b);

#endif
