import type { Allowed } from "./kind";

/** Of a run whose only replica of hot-deals is attacked: the gateway cannot reach it. */
export const failed: Allowed = { FAILED: /hot-deals/ };

/** Of a run whose other replicas answer. */
export const passed: Allowed = { PASSED: /^100% / };
