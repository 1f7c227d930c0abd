#include "dissent/dissent.h"
int main(void)
{
    return 0;
}
