import { describe, expect, it } from "vitest";
import { plainError, whyNotUndone } from "../../../../chaos/cli/plain-error";

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

    it("is not printed again if undoing fails for the same reason", () => {
        const mistake = failed(resource, "    error: a mistake");
        expect(whyNotUndone(mistake, plainError(mistake))).toBe("Undoing it failed for the same reason");
        expect(whyNotUndone(mistake, "another")).toBe(plainError(mistake));
        expect(whyNotUndone(mistake)).toBe(plainError(mistake));
    });

    it("is the error's own message if no update failed", () => {
        expect(plainError(new Error("there is no such stack"))).toBe("there is no such stack");
    });

    it("has no terminal colors: reports for continuous integration have it, too", () => {
        expect(plainError(new Error("\u001b[31merror:\u001b[0m no target"))).toBe("error: no target");
    });

    it("is that of the CLI if no update began", () => {
        const text = "code: 255\n stdout: \n stderr: error: incorrect passphrase\n\n err?: Error: Command failed\n";
        expect(plainError(new Error(text))).toBe("error: incorrect passphrase");
        const failed = "Command failed with exit code 1: pulumi up --stack dev\nerror: the stack is currently locked";
        expect(plainError(new Error(`code: -2\n stdout: \n stderr: ${failed}\n err?: Error: ${failed}\n`))).toBe(
            "error: the stack is currently locked",
        );
    });

    it.each(["hu@sh", "hu'sh"])("has no part of the password %s", (password) => {
        expect(plainError(new Error(`cannot read https://me:${password}@charts.example/x`))).toBe(
            "cannot read https://[hidden]@charts.example/x",
        );
    });

    it.each(["auth", "api_key", "access_token", "pwd", "password", "jwt"])("has no parameter %s of a URL", (name) => {
        expect(plainError(new Error(`'https://charts.example/x?a=1&${name}=hu'sh' is gone`))).toBe(
            `'https://charts.example/x?a=1&${name}=[hidden]' is gone`,
        );
    });

    it("has no credentials in URLs", () => {
        const urls = "https://me:hush@charts.example/x?a=1&sig=hush&X-Amz-Signature=hush postgres://u:hush@db/shop";
        expect(plainError(new Error(`cannot read ${urls}`))).toBe(
            "cannot read https://[hidden]@charts.example/x?a=1&sig=[hidden]&X-Amz-Signature=[hidden] " +
                "postgres://[hidden]@db/shop",
        );
    });
});
