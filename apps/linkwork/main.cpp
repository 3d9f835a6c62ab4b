#include "apps/linkwork/program.h"

int main(int argc, char** argv) { return linkwork::cli::exit_code(argc, argv); }
