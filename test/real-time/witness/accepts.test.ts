import { once } from "node:events";
import { connect } from "node:net";
import { hostname } from "node:os";
import { afterEach, beforeEach, expect, it } from "vitest";
import { witnessPorts } from "../../../chaos/kinds/attacks/attack-kind";
import { until } from "../../support/until";
import { JobProcess, podPath, policyPath } from "./support/job-process";

let job: JobProcess;
beforeEach(async () => {
    // Jobs of other tests take the ports for some seconds.
    await until("the ports are free", startsAlone, { timeoutMs: 50_000, pauseMs: 500 });
});
afterEach(() => job.close());

it.each([...witnessPorts])("accepts connections on port %i, which the targets try", async (port) => {
    const socket = connect({ host: "127.0.0.1", port });
    await once(socket, "connect");
    socket.destroy();
    expect(job.exitCode).toBeUndefined();
});

async function startsAlone(): Promise<boolean> {
    job = new JobProcess();
    job.addLease();
    await job.start([{ kind: "blackhole", path: policyPath, label: "x.blackhole" }]);
    await job.until("it is present", () => job.objects.get(podPath(hostname())).metadata.annotations !== undefined);
    if (!job.output.includes("EADDRINUSE")) return true;
    job.close();
    return false;
}
