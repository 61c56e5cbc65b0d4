/** `download-cli.ts FOLDER`: downloads the CLI. A process, since the SDK's download cannot be given a time limit. */
import { PulumiCommand } from "@pulumi/pulumi/automation";

// Without a version it takes the SDK's own.
PulumiCommand.install({ root: process.argv[2] }).catch((error: unknown) => {
    console.error(String(error));
    process.exitCode = 1;
});
