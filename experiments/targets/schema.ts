import * as z from "zod";
import { locateTarget } from "./locate";

/** An attribute expression that says in which namespace at most. */
export const expression = z.string().check((context) => {
    try {
        locateTarget(context.value, "Global", "demo");
    } catch (error) {
        context.issues.push({ code: "custom", input: context.value, message: (error as Error).message });
    }
});
