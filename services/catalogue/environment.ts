import * as z from "zod/mini";
import { databaseVariables, oneOf, programVariables } from "../shared/environment";
import { CATEGORIES } from "../shared/products";

/** The environment of a catalogue. */
export const catalogueEnvironment = z.object({
    ...programVariables,
    ...databaseVariables("shop_reader"),
    /** The category whose products it lists. */
    CATEGORY: oneOf(CATEGORIES),
});
