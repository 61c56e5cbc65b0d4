import { once } from "node:events";
import { connect } from "node:net";
import { afterEach, beforeEach, expect, it } from "vitest";
import { witnessPorts } from "../../../chaos/attacks/witness-ports";
import { JobProcess, podPath, policyPath } from "./support/job-process";
import { hostname } from "node:os";

let job: JobProcess;
beforeEach(async () => {
    job = new JobProcess();
    job.addLease();
    await job.start([{ path: policyPath, label: "x.blackhole" }]);
    await job.until("it is present", () => job.objects.get(podPath(hostname())).metadata.annotations !== undefined);
});
afterEach(() => job.close());

it.each([...witnessPorts])("accepts connections on port %i, which the targets try", async (port) => {
    const socket = connect({ host: "127.0.0.1", port });
    await once(socket, "connect");
    socket.destroy();
    // Otherwise something else on this machine has accepted it.
    expect(job.output).not.toContain("EADDRINUSE");
});
