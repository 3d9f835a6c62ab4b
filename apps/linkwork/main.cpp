#include "apps/linkwork/program.h"

int main(int argc, char** argv) { return linkwork::cli::program_main(argc, argv, linkwork::cli::all_commands()); }
