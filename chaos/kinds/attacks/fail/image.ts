/**
 * How a container of a running pod is stopped: it is given an image that cannot be run. The kubelet ends a container
 * whose image has changed, within its grace period, and starts another, which this name keeps from starting: it has
 * spaces, so it is no reference to an image. The kubelet sees that before it asks a runtime or a registry
 * (`EnsureImageExists` of its image manager: `InvalidImageName`). So nobody can ever publish an image of that name,
 * which would run with the pod's rights.
 *
 * The name ends with the image from before, so nothing else is needed to restore it: no note, no owner, no registry.
 * The kubelet keeps a container's back-off by its image (`GetBackoffKey`): what it waits for this one does not delay
 * the one that comes back.
 */
import { annotations, noteIn, targetLabelOf } from "../../../cluster/labels";
import type { Lent, Loan } from "../../../cluster/lend";
import { resources } from "../../../cluster/resources";
import type { V1Pod } from "../../../values/kubernetes-types";
import { ReasonError } from "../../../values/reasons";

/** The images of a pod's containers, by their names. */
type Images = Readonly<Record<string, string>>;

const mark = "stopped-by-chaos-experiments";

/** @param image the one from before @param run name of the run */
export const unrunnable = (run: string, image: string): string => `${mark} ${run} ${image}`;

/** What an image is that cannot be run. Undefined of any other. */
export function readUnrunnable(image: string): { run: string; before: string } | undefined {
    const [, run, before] = new RegExp(`^${mark} (\\S+) (.+)$`).exec(image) ?? [];
    return before === undefined ? undefined : { run: run!, before };
}

const imageBefore = (image: string): string => readUnrunnable(image)?.before ?? image;

export const imagesOf = ({ spec }: V1Pod): Images =>
    Object.fromEntries((spec?.containers ?? []).map(({ name, image = "" }) => [name, image]));

const mapped = (images: Images, by: (image: string, container: string) => string): Images =>
    Object.fromEntries(Object.entries(images).map(([container, image]) => [container, by(image, container)]));

/** The images of a pod of which a run has stopped containers. A note says so until the field is its owners' again. */
export const stoppedContainers: Loan<Images> = {
    field: "containers",
    resource: resources.pod,
    ofEntries: {
        read: imagesOf,
        written: (images) => Object.entries(images).map(([name, image]) => ({ name, image })),
    },
    notes: {
        read(pod: V1Pod) {
            const [stopped] = Object.values(imagesOf(pod)).flatMap((image) => readUnrunnable(image) ?? []);
            const isNoted = pod.metadata?.annotations?.[annotations.stopped] !== undefined;
            // Somebody may have removed or edited the note.
            const { run } = stopped ?? noteIn<{ run: string }>(pod, annotations.stopped);
            return stopped || isNoted ? { run } : undefined;
        },
        written: (_, { run }) => ({ annotations: { [annotations.stopped]: JSON.stringify({ run }) } }),
        erased: () => ({ annotations: { [annotations.stopped]: null } }),
    },
    wanted: (pod: V1Pod) => mapped(imagesOf(pod), imageBefore),
};

/** The images of a pod, some of whose containers are to be stopped. @param containers their names */
export const stoppedImages = (run: string, images: Images, containers: readonly string[]): Images =>
    mapped(images, (image, container) =>
        containers.includes(container) ? unrunnable(run, imageBefore(image)) : image,
    );

/**
 * Stops containers of a pod. The patch names the version of the pod that was read: once the end of the run has taken
 * its label, it stops nothing.
 *
 * @param label value of the label on the attack's targets
 * @param containers their names
 * @throws ReasonError if it is another pod by now, or no target any more
 */
export const stopping = (
    run: string,
    { uid, label, containers }: { uid: string; label: string; containers: readonly string[] },
): Lent<Images> => ({
    run,
    value(pod: V1Pod) {
        const { name, uid: found } = pod.metadata!;
        if (found !== uid) throw gone(name!);
        if (targetLabelOf(pod) === label) return stoppedImages(run, imagesOf(pod), containers);
        const message = `the target ${name} had lost its label before its containers were stopped`;
        throw new ReasonError("run-over", message, "Start another run");
    },
});

export const gone = (pod: string): ReasonError =>
    new ReasonError("target-changed", `the target ${pod} was gone before its attack could begin`, "Start another run");
