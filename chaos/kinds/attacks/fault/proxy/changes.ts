/**
 * What a connection's tasks wait for: something has changed, so look again. One for all of a connection's sockets and
 * timers, because a race of promises would leave something behind in each promise that outlives it, such as the one of
 * the proxy's end.
 */
export class Changes {
    private waiting: (() => void)[] = [];

    readonly notify = (): void => {
        const woken = this.waiting;
        this.waiting = [];
        for (const wake of woken) wake();
    };

    /** Waits until a condition holds. It is looked at now, and at each change. */
    async until(holds: () => boolean): Promise<void> {
        while (!holds()) await new Promise<void>((resolve) => this.waiting.push(resolve));
    }

    /** Waits until a condition holds, but not longer than some time. @returns whether it holds */
    async untilWithin(ms: number, holds: () => boolean): Promise<boolean> {
        let over = false;
        const timer = setTimeout(() => {
            over = true;
            this.notify();
        }, ms);
        await this.until(() => over || holds());
        clearTimeout(timer);
        return holds();
    }
}
