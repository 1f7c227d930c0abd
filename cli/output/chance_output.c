/* The test of agreement against chance in words and in summaries. */
#include "tool/json_writer.h"
#include "output/chance_output.h"
#include "output/json_summary.h"

void chance_test_print(cli *c, const dis_chance_test *test)
{
    if (test->verdict == DIS_CHANCE_NOISE)
        cli_warn(
            c,
            "annotators agree no more than chance (p = %.2g), so labels cannot be estimated; check the columns, the "
            "guidelines and the annotators",
            test->p);
    else if (test->verdict == DIS_CHANCE_UNKNOWN)
        cli_print(c, "  %-18s %s", "chance",
                  test->standard_error > 0 ? "too few votes on common items to test agreement against chance"
                  : test->n_pairs > 0
                      ? "each annotator used only one class, so agreement cannot be tested against chance"
                      : "no item has two votes, so agreement cannot be measured");
}

void chance_test_write_json(dis__json_writer *j, const dis_chance_test *test)
{
    dis__json_writer_key(j, "chance");
    dis__json_writer_begin_object(j);
    cli_json_write_text(j, "verdict", dis_chance_name(test->verdict));
    cli_json_write_real(j, "coefficient", test->coefficient);
    cli_json_write_real(j, "standard_error", test->standard_error);
    cli_json_write_real(j, "z", test->z);
    cli_json_write_real(j, "p", test->p);
    cli_json_write_real(j, "pairs", test->n_pairs);
    dis__json_writer_end_object(j);
}
