/** gRPC without generated code: a service whose messages are text. */
import * as grpc from "@grpc/grpc-js";

const serialize = (text: string) => Buffer.from(text);
const deserialize = (bytes: Buffer) => bytes.toString();

const method = (name: string, requestStream: boolean, responseStream: boolean) => ({
    path: `/shop.Orders/${name}`,
    requestStream,
    responseStream,
    requestSerialize: serialize,
    requestDeserialize: deserialize,
    responseSerialize: serialize,
    responseDeserialize: deserialize,
});

/** Methods of each sort. */
export const orders = {
    get: method("Get", false, false),
    list: method("List", false, true),
    put: method("Put", true, false),
    talk: method("Talk", true, true),
} satisfies grpc.ServiceDefinition;

export const OrdersClient = grpc.makeGenericClientConstructor(orders, "Orders");
