/** Name of a run's deadline Job. */
export const jobNameOf = (run: string) => `${run}-deadline`;

/** The label by which the Job's controller says of a pod whose it is. Kubernetes has it since 1.27. */
export const ofJob = "batch.kubernetes.io/job-name";
