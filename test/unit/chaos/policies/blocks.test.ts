import { describe, expect, it } from "vitest";
import { common, isCidr, isInBlock, without } from "../../../../chaos/policies/blocks";

it.each([
    ["0.0.0.0/0", true],
    ["203.0.113.7/32", true],
    // The API server masks what is behind the prefix.
    ["203.0.113.7/24", true],
    ["2001:db8::/32", true],
    ["203.0.113.7", false],
    ["203.0.113.7/33", false],
    ["203.0.113.0/24/8", false],
    ["203.0.113/24", false],
    ["fe80::1%eth0/64", false],
    ["::ffff:203.0.113.0/120", false],
    ["203.0.113.0/", false],
    ["example.com/24", false],
])("whether %s is a block of addresses: %s", (text, is) => expect(isCidr(text)).toBe(is));

// Objects made before Kubernetes 1.36 may have these, which the API server's parser before it accepted.
describe("a block that an older API server has accepted", () => {
    it.each([
        ["010.001.000.0/16", "10.1.2.3", "8.1.0.1"],
        ["10.0.0.0/08", "10.1.2.3", "11.0.0.1"],
        ["::ffff:10.1.0.0/112", "10.1.2.3", "10.2.0.1"],
        ["::ffff:010.1.0.0/112", "10.1.2.3", "10.2.0.1"],
        ["::FFFF:a01:0/112", "10.1.2.3", "10.2.0.1"],
        ["0:0:0:0:0:ffff:10.1.0.0/112", "10.1.2.3", "10.2.0.1"],
        ["::fffe:10.1.0.0/112", "::fffe:a01:1", "10.1.0.1"],
        ["::ffff:0:0/80", "::1", "10.1.0.1"],
    ])("%s contains %s, and not %s", (cidr, inside, outside) => {
        expect([isInBlock({ cidr }, inside), isInBlock({ cidr }, outside)]).toEqual([true, false]);
        const all = inside.includes(":") ? "::/0" : "0.0.0.0/0";
        expect(isInBlock({ cidr: all, except: [cidr] }, inside)).toBe(false);
    });

    it("is compared with others by what it contains, and written as the API server wants it", () => {
        expect(without([{ cidr: "010.0.0.0/8" }], [{ cidr: "10.1.0.0/16" }])).toEqual([
            { cidr: "10.0.0.0/8", except: ["10.1.0.0/16"] },
        ]);
        expect(without([{ cidr: "010.0.0.0/8", except: ["010.2.0.0/16"] }], [{ cidr: "192.0.2.0/24" }])).toEqual([
            { cidr: "10.0.0.0/8", except: ["10.2.0.0/16"] },
        ]);
        expect(common({ cidr: "::ffff:10.1.0.0/112" }, { cidr: "10.0.0.0/8" })).toEqual([{ cidr: "10.1.0.0/16" }]);
    });
});

describe("blocks without others", () => {
    const all = { cidr: "0.0.0.0/0" };

    it.each<[string, Parameters<typeof without>[0], Parameters<typeof without>[1], object[]]>([
        ["a part becomes an exception", [all], [{ cidr: "10.0.0.0/8" }], [{ ...all, except: ["10.0.0.0/8"] }]],
        ["all of a block leaves none", [all], [all], []],
        ["one address leaves nothing of itself", [{ cidr: "10.0.0.1/32" }], [{ cidr: "10.0.0.1/32" }], []],
        ["nothing of the other family is denied", [{ cidr: "::/0" }], [all], [{ cidr: "::/0" }]],
        [
            "what is spared stays, without what is denied of it besides",
            [all],
            [{ cidr: "10.0.0.0/8", except: ["10.1.0.0/16"] }, { cidr: "10.1.0.1/32" }],
            [
                { ...all, except: ["10.0.0.0/8"] },
                { cidr: "10.1.0.0/16", except: ["10.1.0.1/32"] },
            ],
        ],
        [
            "what had been excepted before stays so",
            [{ cidr: "10.0.0.0/8", except: ["10.1.0.0/16"] }],
            [{ cidr: "0.0.0.0/0", except: ["10.1.0.0/16", "10.2.0.0/16"] }],
            [{ cidr: "10.2.0.0/16" }],
        ],
        [
            "an exception within a larger one is left out",
            [{ cidr: "10.0.0.0/8", except: ["10.1.2.0/24"] }],
            [{ cidr: "10.1.0.0/16" }],
            [{ cidr: "10.0.0.0/8", except: ["10.1.0.0/16"] }],
        ],
    ])("%s", (_, blocks, denied, left) => expect(without(blocks, denied)).toEqual(left));

    it("have an address if the first have it, and the others do not", () => {
        const ofIpv4 = ["10.0.0.1", "10.1.0.1", "10.1.2.3", "10.1.2.4", "10.2.0.1", "192.0.2.1"];
        const samples = [...ofIpv4, "fd00::1", "2001:db8::1"];
        const some = [
            [{ cidr: "10.0.0.0/8", except: ["10.1.0.0/16"] }],
            [{ cidr: "0.0.0.0/0" }, { cidr: "::/0" }],
            [{ cidr: "10.1.2.3/32" }],
            [{ cidr: "0.0.0.0/0", except: ["10.1.0.0/16", "192.0.2.0/24"] }, { cidr: "10.1.2.0/24" }],
            [{ cidr: "::/0", except: ["2001:db8::/32"] }],
        ];
        const has = (blocks: readonly { cidr: string }[], one: string) => blocks.some((block) => isInBlock(block, one));
        for (const first of some)
            for (const second of some)
                for (const one of samples) {
                    expect(has(without(first, second), one)).toBe(has(first, one) && !has(second, one));
                    const shared = first.flatMap((a) => second.flatMap((b) => common(a, b)));
                    expect(has(shared, one)).toBe(has(first, one) && has(second, one));
                }
    });
});
