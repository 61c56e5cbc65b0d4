import { type AttackObjectType, killRequest, objectTypes } from "../attacks/objects";
import { leaseName } from "../lifecycle/lease";

/** A rule of a Role, as RBAC has it. */
interface Rule {
    apiGroups: string[];
    resources: string[];
    resourceNames?: string[];
    verbs: string[];
}

/** What the Job's rights depend on. */
export interface RuledBy {
    attacks: readonly {
        /** Name of the attack's object. */
        object: string;
        objectType: AttackObjectType;
        /** Set if the attack deletes pods. */
        killing?: object;
        /** Set if the attack is a fault. */
        through?: { service: string };
    }[];
    /** Deployments that the experiment scales. @default none */
    scaled?: readonly string[];
}

/** The rules of the Job's Role. Only who has these rights may create it: RBAC lets nobody grant more than they have. */
export function roleRulesOf({ attacks, scaled = [] }: RuledBy): Rule[] {
    const kills = attacks.some(({ killing }) => killing);
    const denies = attacks.some(({ objectType }) => objectType !== killRequest);
    const faults = attacks.flatMap(({ object, through }) => (through ? [{ object, ...through }] : []));
    const objectsOf = (type: AttackObjectType) =>
        attacks.filter(({ objectType }) => objectType === type).map(({ object }) => object);
    const own = (apiGroup: string, resource: string, names: readonly string[], verbs: string[]) =>
        names.length === 0 ? [] : [{ apiGroups: [apiGroup], resources: [resource], resourceNames: [...names], verbs }];
    return [
        ...objectTypes.flatMap((type) => own(type.apiGroup, type.resource, objectsOf(type), ["get", "delete"])),
        ...own("coordination.k8s.io", "leases", [leaseName], ["get"]),
        ...(attacks.length > 0
            ? [{ apiGroups: [""], resources: ["pods"], verbs: ["list", "patch", ...(kills ? ["delete"] : [])] }]
            : []),
        // Only its ReplicaSet says which Deployment a pod belongs to.
        ...(kills ? [{ apiGroups: ["apps"], resources: ["replicasets"], verbs: ["list"] }] : []),
        // Restores the policies that let go of targets. Which these are is found when the targets are.
        ...(denies
            ? [{ apiGroups: ["networking.k8s.io"], resources: ["networkpolicies"], verbs: ["list", "patch"] }]
            : []),
        ...own(
            "",
            "services",
            faults.map(({ service }) => service),
            ["get", "patch"],
        ),
        // Keeps what the Service had selected.
        ...own(
            "",
            "services",
            faults.map(({ object }) => object),
            ["get"],
        ),
        ...own("apps", "deployments", scaled, ["get", "patch"]),
    ];
}
