/** Why an attack is not proven: the reason for the verdict INCONCLUSIVE. A sentence without a period at the end. */
export type InconclusiveReason = string;
