import { expect, it } from "vitest";
import { experimentPrograms } from "../../../toolchain/experiment-programs";

it.each(["deadline", "proxy"] as const)(
    "the program of the pod %s is small, which the client of Kubernetes is not: it is in each run's ConfigMap",
    (name) => expect(experimentPrograms()[name].length).toBeLessThan(200_000),
);
