/**
 * Where the witness always accepts connections: ports that a pod without privileges may use. An attack that blocks some
 * ports must leave one of these alone, so that it can be shown that it does.
 */
export const witnessPorts = [8_080, 18_080, 28_080] as const;
