/** Hears how bringing the node up or down goes on. */
export interface NodeReporter {
    /** A step begins. Steps that run at the same time are told one after the other. */
    step(title: string): void;
    /** A detail of the current step. */
    detail(text: string): void;
}

/** Says each step in a line with the time since the start. */
export function lineReporter(say: (line: string) => void): NodeReporter {
    const startedMs = Date.now();
    const elapsed = (): string => `${((Date.now() - startedMs) / 1000).toFixed(1).padStart(5)} s`;
    return {
        step: (title) => say(`${elapsed()}  ${title}`),
        detail: (text) => say(`${elapsed()}    ${text}`),
    };
}
