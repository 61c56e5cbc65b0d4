/**
 * A network may take so long to enforce a policy, or to notice a pod's label. Most take a second. Cilium waits a random
 * time of up to 30 s after a change of labels (`identity-max-jitter`), then 5 s (`identity-change-grace-period`), and
 * then programs the pod: 4 s on a busy node. Until then, the pod gets no new policies either.
 *
 * @see https://docs.cilium.io/en/stable/cmdref/cilium-agent/
 * @see https://github.com/cilium/cilium/pull/46477 what the random time does to tests of policies
 */
export const enforcementTimeoutMs = 45_000;
