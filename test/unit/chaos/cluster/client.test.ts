import { ApiException } from "@kubernetes/client-node";
import { expect, it } from "vitest";
import { messageOf } from "../../../../chaos/cluster/client";

const forbidden = { kind: "Status", message: 'pods is forbidden: User "ada" cannot list resource "pods"', code: 403 };

it.each([
    ["in its own words", new ApiException(403, "Forbidden", forbidden, {}), forbidden.message],
    [
        "in its own words if the client does not know the status",
        new ApiException(422, "Unknown API Status Code!", JSON.stringify(forbidden), {}),
        forbidden.message,
    ],
    [
        "by its status if its body cannot be read",
        new ApiException(502, "Unknown API Status Code!", "<html>", {}),
        "the API server answered with status 502",
    ],
    ["with its own message if it is any other error", new Error("connect ECONNREFUSED"), "connect ECONNREFUSED"],
    [
        "with the error of the event if it is a WebSocket's",
        Object.assign(new Event("error"), { error: new Error("Unexpected server response: 403") }),
        "Unexpected server response: 403",
    ],
])("an error of the API server is reported %s", (_, error, reason) => {
    expect(messageOf(error)).toBe(reason);
});
