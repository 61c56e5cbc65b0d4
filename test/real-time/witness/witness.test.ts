import { afterEach, beforeEach, expect, it } from "vitest";
import { JobProcess, policyPath } from "./support/job-process";

let job: JobProcess;
beforeEach(() => {
    job = new JobProcess();
    job.addLease();
    job.addAttack(policyPath);
    job.addPod("a");
});
afterEach(() => job.close());

it("nothing is reported before the targets could be listed: none looks as if it had lost its label", async () => {
    const list = "GET /api/v1/namespaces/demo/pods";
    const lists = () => job.requests.filter((request) => request === list).length;
    job.refuse = (request) => (request === list ? 500 : undefined);
    await job.start([{ kind: "blackhole", path: policyPath, label: "x.blackhole" }]);
    await job.until("it has tried several times", () => lists() > 3);
    expect(job.output).not.toContain('"changed"');
    job.refuse = () => undefined;
    await job.until("it reports the target", () => job.output.includes('"changed"'));
    expect(job.output).toContain('"changed":{"closed":["127.0.0.1:1"]}');
});
