import { expect, it } from "vitest";
import { settings } from "../../components/configuration/settings";
import { imageParts } from "../../sandbox/parts/locate";

it.each(["images.node", "images.postgres", "images.nats"] as const)(
    "the sandbox includes the default of %s, because it has no registry",
    (key) => {
        expect(imageParts.flatMap(({ references }) => references)).toContain(settings[key].default);
    },
);
