/* chance_output.h: the test of agreement against chance (dis_votes_chance_test), for people and for machines. */
#ifndef DIS_CLI_CHANCE_OUTPUT_H
#define DIS_CLI_CHANCE_OUTPUT_H
#include "tool/json_writer.h"
#include "core/cli.h"

/* A line where votes are noise, or too few to tell; nothing where they agree more than chance. */
void chance_test_print(cli *c, const dis_chance_test *test);
/* "chance": {...} */
void chance_test_write_json(dis__json_writer *j, const dis_chance_test *test);

#endif
