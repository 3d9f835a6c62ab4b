#pragma once

/// What bench/scale uses of SimGrid, so that it can be compiled where SimGrid is not.
void smpi_execute(double flops);
