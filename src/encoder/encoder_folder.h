/* encoder_folder.h: the folder of a pretrained encoder as a whole: which files count, whether it can be read, and a
 * digest of all that it says. */
#ifndef DIS_ENCODER_ENCODER_FOLDER_H
#define DIS_ENCODER_ENCODER_FOLDER_H
#include "dissent/context.h"

/* Files beside the numbers that change what is computed; config.json comes first. */
#define DIS_ENCODER_FILES                                                                                 \
    {                                                                                                     \
        "config.json", "tokenizer.json", "tokenizer_config.json", "special_tokens_map.json", "vocab.txt", \
            "vocab.json", "merges.txt", "encoder.json", "vocab.bpe"                                       \
    }
enum { DIS_ENCODER_N_FILES = 9 };

/* Whether config.json describes an encoder that is supported, and there are weights; no number is read. */
dis_status dis__encoder_folder_check(dis_context *ctx, const char *folder);
/* SHA-256 over these files and those of the numbers, by their names and contents. */
dis_status dis__encoder_folder_hash(dis_context *ctx, const char *folder, char hex[65]);

#endif
