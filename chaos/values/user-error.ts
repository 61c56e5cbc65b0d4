import * as pulumi from "@pulumi/pulumi";

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
