#!/usr/bin/env node
/** The command `chaos-report`. */
import { chaosReport } from "./report";

void chaosReport(process.argv.slice(2)).then((code) => (process.exitCode = code));
