#!/usr/bin/env node
/** The command `chaos-report`. */
import { chaosReport } from "./report";

process.exitCode = chaosReport(process.argv.slice(2));
