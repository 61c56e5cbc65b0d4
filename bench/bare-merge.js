// The smallest server that merges the backends' lists, to compare the gateway with: only Node, a new connection per
// request, and no timeouts, validation, metrics or logs.
const { createServer, get } = require("node:http");

const { FASHION_URL, TOYS_URL, HOT_DEALS_URL, PORT } = process.env;

const ask = (url) =>
    new Promise((resolve, reject) => {
        get(`${url}/products`, { agent: false }, (response) => {
            let text = "";
            response
                .setEncoding("utf8")
                .on("data", (chunk) => (text += chunk))
                .on("error", reject);
            response.on("end", () => resolve(JSON.parse(text)));
        }).on("error", reject);
    });

createServer(async (_request, response) => {
    try {
        const [fashionResponse, toysResponse, hotDealsResponse] = await Promise.all(
            [FASHION_URL, TOYS_URL, HOT_DEALS_URL].map(ask),
        );
        response
            .setHeader("Content-Type", "application/json")
            .end(JSON.stringify({ fashionResponse, toysResponse, hotDealsResponse }));
    } catch {
        response.writeHead(502).end();
    }
}).listen(PORT);
