import { describe, expect, it } from "vitest";
import { plainError } from "../../../cli/print";

/** What a failed update says, as far as it matters here. */
const failed = (...diagnostics: string[]) =>
    new Error(
        `code: -2\n stdout: Updating (local):\nDiagnostics:\n${diagnostics.join("\n")}\n\nOutputs:\n    ` +
            `variant: "four"\n`,
    );
const resource = "  pulumi:pulumi:Stack (chaos-shop-local):";

describe("the message of a failed update", () => {
    it("leaves out what surrounds the errors", () => {
        expect(plainError(failed(resource, "    error: a mistake"))).toBe(
            "pulumi:pulumi:Stack (chaos-shop-local):\n    error: a mistake",
        );
    });

    it("has an error once if both the SDK and the engine report it", () => {
        const mistake = '    error: the configuration has a mistake:\n\n      experiment.radius is "0"';
        expect(plainError(failed(resource, mistake, mistake))).toBe(plainError(failed(resource, mistake)));
    });

    it("has all errors if there are several", () => {
        expect(plainError(failed(resource, "    error: one", "    error: another"))).toMatch(
            /error: one\n\s+error: another$/,
        );
    });

    it("is the error's own message if no update failed", () => {
        expect(plainError(new Error("there is no such stack"))).toBe("there is no such stack");
    });

    it("has no terminal colors: reports for continuous integration have it, too", () => {
        expect(plainError(new Error("\u001b[31merror:\u001b[0m no target"))).toBe("error: no target");
    });
});
