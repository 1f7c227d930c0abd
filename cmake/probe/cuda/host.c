int probe(void);

int main(void)
{
    return probe();
}
