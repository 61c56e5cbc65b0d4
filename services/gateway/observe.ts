import { Histogram } from "prom-client";
import { reasonOf } from "../shared/log";
import { LATENCY_BUCKETS, type Metrics } from "../shared/metrics";
import type { Backend, Exchange } from "./call";
import { BackendFailure } from "./failure";

type Asking<Question extends unknown[], Answer> = (backend: Backend, exchange: Exchange, ...question: Question) => Promise<Answer>;

/**
 * Gives a way of asking backends to be seen by those who run the shop: `upstream_request_duration_seconds` by backend and
 * outcome (`ok`, or the kind of failure), and a line in the log for each failure. What was cut short tells nothing of its
 * backend, and is left out.
 */
export function createObserver(metrics: Metrics) {
    const duration = new Histogram({
        name: "upstream_request_duration_seconds",
        help: "How long backends took to answer, or to fail, by outcome",
        labelNames: ["backend", "outcome"],
        buckets: LATENCY_BUCKETS,
        registers: [metrics],
    });
    return <Question extends unknown[], Answer>(ask: Asking<Question, Answer>): Asking<Question, Answer> =>
        async (backend, exchange, ...question) => {
            const begun = performance.now();
            const note = (outcome: string) =>
                duration.observe({ backend: backend.name, outcome }, (performance.now() - begun) / 1000);
            try {
                const answer = await ask(backend, exchange, ...question);
                note("ok");
                return answer;
            } catch (error) {
                if (error instanceof BackendFailure && !exchange.cancelled?.aborted) {
                    note(error.kind);
                    const { kind, message, cause } = error;
                    exchange.scope.log.warn({ backend: backend.name, kind, cause: reasonOf(cause) }, message);
                }
                throw error;
            }
        };
}
