import * as pulumi from "@pulumi/pulumi";
import { explain } from "../chaos/cluster/problem";
import { withoutCredentials } from "./without-credentials";

/**
 * An error that a user can fix. Its message has no stack trace. The SDK formats an error's stack for each output that
 * rejects with it, which takes Node 20 some 15 s.
 */
export class UserError extends pulumi.RunError {
    constructor(message: string) {
        super(message);
        this.stack = message;
    }
}

/** A stack's program whose errors are printed without a stack trace. */
export function withUserErrors<T>(program: () => Promise<T>): () => Promise<T> {
    return () =>
        program().catch((error: unknown) => {
            throw new UserError(withoutCredentials(explain(error)));
        });
}
