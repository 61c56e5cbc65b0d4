import * as pulumi from "@pulumi/pulumi";

/**
 * An error that a user can fix. It has no stack trace, because the SDK formats an error's stack for each output that
 * rejects with it, which takes Node 20 some 15 s.
 */
export class UserError extends pulumi.RunError {
    constructor(message: string) {
        super(message);
        this.stack = message;
    }
}
