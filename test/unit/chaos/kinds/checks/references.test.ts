import { describe, expect, it } from "vitest";
import { hiding } from "../../../../../chaos/kinds/checks/references";

describe("a secret is hidden", () => {
    const secret = `p&ss "<ü>" it's`;
    const hide = hiding([`Bearer ${secret}`]);

    it.each([
        ["as it is", secret],
        ["in JSON", JSON.stringify(secret).slice(1, -1)],
        ["in a URL", encodeURIComponent(secret)],
        ["in a URL with lower-case digits", encodeURIComponent(secret).replace(/%../g, (byte) => byte.toLowerCase())],
        ["in HTML", "p&amp;ss &quot;&lt;ü&gt;&quot; it's"],
        ["in HTML as Go and Python write it", "p&amp;ss &quot;&lt;ü&gt;&quot; it&#39;s"],
        ["in base64", Buffer.from(secret).toString("base64")],
    ])("%s", (_, shown) => expect(hide(`no such key: ${shown}.`)).toBe("no such key: [secret]."));

    it("and with the scheme of a credential, at once", () =>
        expect(hide(`Authorization: Bearer ${secret}`)).toBe("Authorization: [secret]"));
});
