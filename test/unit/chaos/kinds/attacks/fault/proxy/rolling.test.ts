import { once } from "node:events";
import { Agent, type IncomingMessage, request } from "node:http";
import { expect, it, onTestFinished } from "vitest";
import { httpPod, slice, startProxy } from "./support";

const requests = 5_000;
const restarts = 10;

it("5,000 requests over new and kept connections, while all pods are replaced ten times: none fails", async () => {
    /** Starts two pods. @returns their slices, and what makes them leave */
    const generation = async (number: number) => {
        const state = { leaving: false };
        const startPod = () =>
            httpPod((_, response) => {
                // As a program does that shuts down gracefully.
                if (state.leaving) response.setHeader("connection", "close");
                response.end(`generation ${number}`);
            });
        const pods = [await startPod(), await startPod()];
        return { slices: pods.map((port, index) => slice(port, [`${number}-${index}`])), state };
    };
    let current = await generation(0);
    const proxy = await startProxy(0, { slices: current.slices });
    const kept = new Agent({ keepAlive: true, maxSockets: 8 });
    onTestFinished(() => kept.destroy());
    const seen = new Set<string>();
    const failures: unknown[] = [];
    const ask = async (agent: Agent | false) => {
        const asked = request(proxy.url, { agent }).end();
        const [response] = (await once(asked, "response")) as [IncomingMessage];
        let body = "";
        for await (const text of response.setEncoding("utf8")) body += text as string;
        if (response.statusCode !== 200) throw new Error(String(response.statusCode));
        seen.add(body);
    };

    let begun = 0;
    let restarted = 0;
    const work = async (agent: Agent | false) => {
        while (begun < requests) {
            begun++;
            await ask(agent).catch((error: unknown) => failures.push(error));
        }
    };
    const restart = async () => {
        while (restarted < restarts) {
            if (begun < ((restarted + 1) * requests) / (restarts + 1)) {
                await new Promise(setImmediate);
                continue;
            }
            const next = await generation(++restarted);
            proxy.pods.update(next.slices);
            current.state.leaving = true;
            current = next;
        }
    };
    await Promise.all([restart(), ...Array.from({ length: 8 }, (_, index) => work(index % 2 === 0 && kept))]);
    expect(failures).toEqual([]);
    expect([begun, seen.size]).toEqual([requests, restarts + 1]);
    // On a busy machine.
}, 60_000);
