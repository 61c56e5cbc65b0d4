import { backendResponseSchema, type BackendResponse } from "../shared/products";
import { call, type Backend, type Exchange } from "./call";
import { BackendFailure } from "./failure";

/** Requests a backend's products. @throws BackendFailure */
export type Ask = (backend: Backend, exchange: Exchange) => Promise<BackendResponse>;

export const askBackend: Ask = async (backend, exchange) => {
    const { status, text } = await call(backend, exchange, { path: "/products" });
    if (status !== 200) {
        throw new BackendFailure(backend.name, "bad-answer", `answered with status ${status}.`);
    }
    return readProducts(backend.name, text);
};

function readProducts(name: string, body: string): BackendResponse {
    const refuse = (cause: unknown) =>
        new BackendFailure(name, "bad-answer", "answered with something that is not a product list.", cause);
    let document: unknown;
    try {
        document = JSON.parse(body);
    } catch (error) {
        throw refuse(error);
    }
    const outcome = backendResponseSchema.safeParse(document);
    if (!outcome.success) {
        throw refuse(outcome.error);
    }
    return outcome.data;
}
