import type { V1StorageClass } from "@kubernetes/client-node";
import { describe, expect, it } from "vitest";
import { missingClass } from "../../../components/cluster/storageClass";

const storageClass = (name: string, standard = false): V1StorageClass => ({
    provisioner: "example.com/disk",
    metadata: { name, annotations: standard ? { "storageclass.kubernetes.io/is-default-class": "true" } : undefined },
});

describe("a storage class that is not there is refused, with those that are", () => {
    it.each<[what: string, classes: V1StorageClass[], wanted: string | undefined, words: RegExp]>([
        [
            "named",
            [storageClass("slow"), storageClass("standard", true)],
            "fast",
            /storage\.class is "fast".*allowed: slow, standard.*\n.*pulumi config set storage\.class standard$/,
        ],
        [
            "a default",
            [storageClass("slow")],
            undefined,
            /storage\.class is not set, and the cluster has no default class; allowed: slow.*\n.*pulumi config set storage\.class slow$/,
        ],
        ["any", [], "fast", /it has none at all: install one, or .*pulumi config rm database\.storage/],
    ])("%s", (_what, classes, wanted, words) => expect(missingClass(classes, wanted)).toMatch(words));

    it("and one that is there is not", () => {
        expect(missingClass([storageClass("slow")], "slow")).toBeUndefined();
        expect(missingClass([storageClass("standard", true)], undefined)).toBeUndefined();
    });
});
