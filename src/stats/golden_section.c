/* Golden section search (Kiefer 1953): one evaluation per step. */
#include "stats/golden_section.h"

double dis__golden_section(double (*function)(void *arg, double x), void *arg, double from, double to, int n_steps)
{
    const double ratio = .6180339887498949;
    double x = to - ratio * (to - from), y = from + ratio * (to - from);
    double fx = function(arg, x), fy = function(arg, y);
    for (int step = 0; step < n_steps; step++) {
        if (fx <= fy) {
            to = y;
            y = x;
            fy = fx;
            x = to - ratio * (to - from);
            fx = function(arg, x);
        } else {
            from = x;
            x = y;
            fx = fy;
            y = from + ratio * (to - from);
            fy = function(arg, y);
        }
    }
    return (from + to) / 2;
}
