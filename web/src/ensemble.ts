// The page of many runs: a sweep, or the history of an optimization.
import { OptimizePage, type Optimum } from "./optimize_page";
import { SweepPage, type Sweep } from "./sweep_page";

const data = JSON.parse(document.getElementById("data")!.textContent!) as Sweep | Optimum;
if (data.kind === "sweep") new SweepPage(data);
else new OptimizePage(data);
