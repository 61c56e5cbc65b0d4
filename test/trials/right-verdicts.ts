import type { Allowed } from "./kind";

/** Of a run whose only replica of hot-deals is attacked: the gateway cannot reach it. */
export const failed: Allowed = { FAILED: /hot-deals/ };

/** Of a run whose other replicas answer. */
export const passed: Allowed = { PASSED: /^100% / };

/** What the check says when it could not ask the API server, or the Job's reports have a gap. */
export const unwatched = /could not be asked|could not be tried|reported nothing|did not reach the application/;
/** What the proof says when the deadline Job was away. */
export const withoutJob = /the Job|could not be (asked|tried)/;
/** What the proof says when the attack does not work any more. */
export const ineffective = /reachable again|still works|still accepted/;
/** What the proof says when a target was replaced. */
export const replaced = /was gone|lost its label|nothing can be run/;
/** What the check says when others deny traffic. */
export const deniedByOthers = /the NetworkPolicy \S+ was created during the run/;
