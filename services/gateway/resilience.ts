import {
    BrokenCircuitError,
    circuitBreaker,
    CircuitState,
    ConsecutiveBreaker,
    ExponentialBackoff,
    handleType,
    retry,
    wrap,
} from "cockatiel";
import { Gauge } from "prom-client";
import type { Log } from "../shared/log";
import type { Metrics } from "../shared/metrics";
import type { Scope } from "../shared/scope";
import type { Backend } from "./call";
import { BackendFailure, type Kind } from "./failure";
import {
    type Ask,
    atOnce,
    fallback,
    type Backends,
    type Gather,
    inTurn,
    type Part,
    type ProductListing,
    remote,
    type Status,
} from "./listing";

/** The pattern without a timeout waits this many upstream timeouts: as long as one call and its retries. */
const PATIENCE = 3;
const RETRIES = 2;
/** Long enough for a Service to route around a pod, short enough for a waiting client. */
const PAUSES = { initialDelay: 100, maxDelay: 1_000 };
/** Consecutive failures that open a circuit. */
const FAILURES_TO_OPEN = 5;
/** How long a circuit stays open before one call may try the backend again, in milliseconds. */
const HALF_OPEN_AFTER_MS = 5_000;

const STATUS: Record<Kind, Exclude<Status, "REMOTE_SERVICE">> = {
    unreachable: "UNREACHABLE",
    timeout: "TIMEOUT",
    "bad-answer": "BAD_ANSWER",
};

export interface ResilienceArgs {
    backends: Backends;
    ask: Ask;
    upstreamTimeoutMs: number;
    metrics: Metrics;
    log: Log;
}

/**
 * The listing with each resilience pattern, by its path below `/products`. In each, a failed backend costs only its own
 * part, which is then empty and has a status. The patterns differ in how long that takes and how often it happens.
 */
export function createPatterns({ backends, ask, upstreamTimeoutMs: timeoutMs, metrics, log }: ResilienceArgs) {
    const retries = retry(handleType(BackendFailure), {
        maxAttempts: RETRIES,
        backoff: new ExponentialBackoff(PAUSES),
    });
    const circuits = createCircuits([backends.fashion, backends.toys, backends.hotDeals], metrics, log);
    const circuitRetries = new Map([...circuits].map(([backend, circuit]) => [backend, wrap(retries, circuit)]));

    const pattern =
        (gather: Gather, how: (backend: Backend, scope: Scope) => ReturnType<Ask>) =>
        (scope: Scope): Promise<ProductListing> =>
            gather(backends, (backend) => orFallback(how(backend, scope)));
    const once = (backend: Backend, scope: Scope) => ask(backend, { scope, timeoutMs });
    const withCircuit = pattern(inTurn, (backend, scope) =>
        circuitRetries.get(backend)!.execute(() => once(backend, scope)),
    );
    return {
        exception: pattern(inTurn, (backend, scope) => ask(backend, { scope, timeoutMs: PATIENCE * timeoutMs })),
        timeout: pattern(inTurn, once),
        retry: pattern(inTurn, (backend, scope) => retries.execute(() => once(backend, scope))),
        circuitbreaker: withCircuit,
        // Aliases that clients of the original demo use.
        cb: withCircuit,
        v2: withCircuit,
        parallel: pattern(atOnce, once),
    };
}

async function orFallback(answer: ReturnType<Ask>): Promise<Part> {
    try {
        return remote(await answer);
    } catch (error) {
        if (error instanceof BackendFailure) return fallback(STATUS[error.kind]);
        if (error instanceof BrokenCircuitError) return fallback("CIRCUIT_OPEN");
        throw error;
    }
}

const STATE_NAMES = {
    [CircuitState.Closed]: "closed",
    [CircuitState.Open]: "open",
    [CircuitState.HalfOpen]: "half-open",
};

/** One circuit per backend; the metric `circuit_state` is 1 for its current state. */
function createCircuits(backends: Backend[], metrics: Metrics, log: Log) {
    const circuits = new Map(
        backends.map((backend) => {
            const breaker = new ConsecutiveBreaker(FAILURES_TO_OPEN);
            const circuit = circuitBreaker(handleType(BackendFailure), { halfOpenAfter: HALF_OPEN_AFTER_MS, breaker });
            circuit.onStateChange((state) =>
                log.warn({ backend: backend.name, state: nameOf(state) }, "circuit changed state"),
            );
            return [backend, circuit] as const;
        }),
    );
    new Gauge({
        name: "circuit_state",
        help: "1 for the current state of the circuit to a backend, 0 for the others",
        labelNames: ["backend", "state"],
        registers: [metrics],
        collect() {
            for (const [backend, { state }] of circuits) {
                for (const name of Object.values(STATE_NAMES))
                    this.set({ backend: backend.name, state: name }, name === nameOf(state) ? 1 : 0);
            }
        },
    });
    return circuits;
}

/** Undefined for cockatiel's fourth state, `Isolated`, which only a manual call sets. */
function nameOf(state: CircuitState): string | undefined {
    return STATE_NAMES[state as keyof typeof STATE_NAMES];
}
