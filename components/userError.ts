import * as pulumi from "@pulumi/pulumi";

/**
 * What a user can mend, told in its own words, without a trace through this program. The trace is also what Node 20
 * takes a quarter of a minute to colour when the SDK asks it to, which it does for each output that an error is in.
 */
export class UserError extends pulumi.RunError {
    constructor(message: string) {
        super(message);
        this.stack = message;
    }
}
