import { afterEach, beforeEach, expect, it } from "vitest";
import { checksContext } from "../../../../chaos/run/checks-context";
import { FakeRun } from "../support/fake-run";

let run: FakeRun;
beforeEach(() => {
    run = new FakeRun();
});
afterEach(() => run.close());

it("a check with a Secret is prepared with the port at which its kind asks a Service", async () => {
    run.cluster.add("Secret", "keys", { data: { token: "a2V5" } });
    run.cluster.add("Service", "prometheus", { spec: { ports: [{ port: 9_090 }, { port: 9_091 }] } });
    const headersFrom = { "X-Key": { secret: "keys", key: "token" } };
    const check = { kind: "prometheus", query: "up", service: "prometheus", headersFrom, atLeast: 1 } as const;
    run.plan.checks = [{ ...run.plan.checks[0]!, check }];
    const { endpoints, pulse } = await checksContext(run.context, { pass: "pass" });
    pulse?.stop();
    expect(Object.keys(endpoints.routes)).toEqual(["http://demo/prometheus:9090"]);
});
