import type { V1StorageClass } from "../../../../chaos/values/kubernetes-types";
import { beforeEach, describe, expect, it } from "vitest";
import { missingClass } from "../../../../components/cluster/storage-class";
import { runAs } from "../../../support/running-stack";

beforeEach(() => runAs("local"));

const storageClass = (name: string, standard = false): V1StorageClass => ({
    provisioner: "example.com/disk",
    metadata: { name, annotations: standard ? { "storageclass.kubernetes.io/is-default-class": "true" } : undefined },
});

describe("a missing storage class is refused, with a list of those that exist", () => {
    it.each<[what: string, classes: V1StorageClass[], wanted: string | undefined, words: RegExp]>([
        [
            "the named one",
            [storageClass("slow"), storageClass("standard", true)],
            "fast",
            /storage\.class is "fast".*allowed: slow, standard.*\n.* config set storage\.class standard --stack local$/,
        ],
        [
            "the default one",
            [storageClass("slow")],
            undefined,
            new RegExp(
                String.raw`storage\.class is not set, and the cluster has no default class; allowed: ` +
                    String.raw`slow.*\n.*pulumi config set storage\.class slow --stack local$`,
            ),
        ],
        ["any at all", [], "fast", /it has none at all: install one, or .*pulumi config rm database\.storage/],
    ])("%s", (_what, classes, wanted, words) => expect(missingClass(classes, wanted)).toMatch(words));

    it("an existing storage class is accepted", () => {
        expect(missingClass([storageClass("slow")], "slow")).toBeUndefined();
        expect(missingClass([storageClass("standard", true)], undefined)).toBeUndefined();
    });
});
