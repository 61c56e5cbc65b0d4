import { chaosReport } from "../chaos/cli/report";
import { shopCalls } from "../components/shop/calls";

void chaosReport(process.argv.slice(2), console, shopCalls).then((code) => (process.exitCode = code));
