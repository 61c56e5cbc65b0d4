import * as pulumi from "@pulumi/pulumi";
import { expect, it } from "vitest";
import { startProviders } from "../../../../chaos/face/start-providers";

class Component extends pulumi.ComponentResource {
    constructor() {
        super("test:index:Component", "component");
    }
}

async function asked(call: pulumi.runtime.Mocks["call"] = () => ({})): Promise<string[]> {
    const tokens: string[] = [];
    await pulumi.runtime.setMocks({
        newResource: ({ name, inputs }) => ({ id: name, state: inputs as object }),
        call: (args) => {
            tokens.push(args.token);
            return call(args);
        },
    });
    startProviders(new Component());
    await pulumi.runtime.disconnect();
    return tokens;
}

it("asks each provider of a run for something that changes nothing", async () => {
    expect((await asked()).sort()).toEqual(["command:local:run", "kubernetes:yaml:decode"]);
});

it("leaves it to the resources to tell that a provider does not start", async () => {
    const fails = () => Promise.reject(new Error("the provider kubernetes does not start"));
    expect(await asked(fails)).toHaveLength(2);
});
