// Every kernel against a reference implementation that says what it computes, on small random input.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>
