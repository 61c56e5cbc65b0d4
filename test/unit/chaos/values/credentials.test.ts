import { describe, expect, it } from "vitest";
import {
    carriesCredential,
    credentialIn,
    credentialInArguments,
    credentialInPath,
    credentialsWithin,
    namesCredential,
    withoutCredentials,
} from "../../../../chaos/values/credentials";

describe("a name of a credential", () => {
    it.each([
        ...["token", "access_token", "accessToken", "X-Auth-Token", "private_token", "X-Amz-Security-Token"],
        ...["api_key", "apikey", "X-Api-Key", "subscription.apikey", "AWS_SECRET_ACCESS_KEY", "accessKey"],
        ...["password", "db_password", "PGPASSWORD", "passwd", "passphrase", "pwd", "newPassword"],
        ...["secret", "client_secret", "sig", "signature", "X-Goog-Signature", "jwt", "credentials"],
        ...["X-Access-Key", "X-Private-Key", "X-Signature", "X-Auth-Key", "Ocp-Apim-Subscription-Key"],
        ...["X-JWT", "X-Session-Id", "sessionId", "PHPSESSID", "x-functions-key", "DD-APPLICATION-KEY", "signingKey"],
    ])("is %s", (name) => expect(namesCredential(name)).toBe(true));

    it.each([
        ...["page_token", "nextToken", "continuationToken", "tokens", "tokenId", "tokenizer", "csrf"],
        ...["key", "keys", "primaryKey", "code", "sign", "design", "signatures", "secretName", "passwordPolicy"],
        ...["publicKey", "Idempotency-Key", "partition_key", "session", "sessions", "residual", "signatureAlgorithm"],
        ...["password-file", "no-password", "ask-password", "compass", "pass", "author", "id", "q"],
    ])("is not %s", (name) => expect(namesCredential(name)).toBe(false));
});

describe("a header, or a variable, that carries a credential", () => {
    it.each([
        ...["X-Access-Key", "X-Private-Key", "X-Signature", "X-Auth-Key", "Ocp-Apim-Subscription-Key", "X-JWT"],
        ...["X-Session-Id", "X-Auth", "X-Hub-Signature-256", "X-Access-Key-Id", "X-Shop-Token-V2", "Set-Cookie"],
        ...["Proxy-Authorization", "X-Api-Key", "X-Passwd", "X-OTP", "X-Sig", "X-Bearer", "PGPASSWORD", "JSESSIONID"],
        ...["X-Service-Key", "X-User-Key", "X-Webhook-Key", "X-Basic-Auth", "X-User-Pass", "X-PSK", "DPoP"],
        ...[
            "X-ClickHouse-Key",
            "X-Query-Key",
            "X-Write-Key",
            "X-Insert-Key",
            "X-Key",
            "Key",
            "X-Trello-Key",
            "SSH_KEY",
        ],
        ...["X-Ticket", "X-Session", "Session", "Ticket", "x-session"],
    ])("is %s", (name) => expect(carriesCredential(name)).toBe(true));

    it.each([
        ...["X-Request-Id", "Idempotency-Key", "X-Cache-Key", "X-Author", "traceparent", "Accept", "CHAOS_MONKEY"],
        ...["Sec-WebSocket-Key", "Surrogate-Key", "X-Partition-Key", "X-Routing-Key", "X-Public-Key", "X-Primary-Key"],
        ...["X-Session-Affinity", "X-Ticket-System", "X-Idempotency-Key", "X-Keyboard", "X-Key-Count"],
        ...["Content-Type", "X-Design", "X-Shipping", "X-Side", "If-None-Match", "Host", "X-Passenger"],
    ])("is not %s", (name) => expect(carriesCredential(name)).toBe(false));

    it("is every name that a field would be", () => {
        for (const name of ["X-Signature", "apiKey", "id_token", "sig", "pwd", "sessid"])
            expect([namesCredential(name), carriesCredential(name)]).toEqual([true, true]);
    });
});

describe("a credential in a text", () => {
    it.each([
        ["postgres://shop:s3cret@db:5432/shop", "a URL with a password"],
        ["see http://:pw@cache", "a URL with a password"],
        ["Authorization: Basic dXNlcjpwYXNz", "an authorization"],
        ['{"authorization": "abc"}', "an authorization"],
        ["Bearer s3cr3t-t0ken", "an authorization"],
        ["a=1&password=x", "a value of password"],
        ['{"user":"a","apiKey":"b"}', "a value of apiKey"],
        ["token: abc", "a value of token"],
    ])("is found in %s", (text, what) => expect(credentialIn(text)).toBe(what));

    it.each([
        "https://shop.example:8080/orders?of=a@b.example",
        "http://$USER:$PASSWORD@db",
        "Authorization: Bearer $TOKEN",
        "authorization: ${AUTHORIZATION}",
        "the bearer tokens of 2026",
        "password=",
        'password="$PASSWORD"',
        "token=$(cat /run/token)",
        "secret=/run/secrets/shop",
        "a token, a password and a signature",
        "Password: how to choose one",
        '{"subject": "Secret: a party"}',
        '{"clientToken": "7d3c"}',
        "page_token=abc",
        "key=orders",
    ])("is not %s", (text) => expect(credentialIn(text)).toBeUndefined());
});

describe("a credential in arguments", () => {
    it.each<[string[], string]>([
        [["./check", "--password", "x"], "a value of password"],
        [["./check", "--api-key=abc"], "a value of api-key"],
        [["./check", "--client-secret", "abc"], "a value of client-secret"],
        [["curl", "-u", "ada:lovelace", "http://shop"], "a user with a password"],
        [["curl", "-uada:lovelace1", "http://shop"], "a user with a password"],
        [["curl", "-H", "Authorization: Bearer abc"], "an authorization"],
        [["sh", "-c", "TOKEN=abc ./check"], "a value of TOKEN"],
        [["psql", "postgresql://a:b@db/shop"], "a URL with a password"],
    ])("is found in %j", (args, what) => expect(credentialInArguments(args)).toBe(what));

    it.each([
        [["./check", "--password-file", "/run/password"]],
        [["./check", "--token", "$TOKEN"]],
        [["./check", "--token"]],
        [["./check", "--no-password", "orders"]],
        [["docker", "run", "-u", "1000:1000", "image:1"]],
        [["sh", "-c", 'curl -u "$USER:$PASSWORD" http://shop']],
        [["sh", "-c", "curl -H \"Authorization: Bearer $TOKEN\" 'http://shop/?q=a:b'"]],
        [["kubectl", "get", "secret", "orders"]],
        [["gcloud", "secrets", "versions", "access", "latest", "--secret", "db"]],
        [["gcloud", "secrets", "versions", "access", "latest", "--secret=db"]],
        [["helm", "template", "--set", "existingSecret=db"]],
        [["cosign", "verify", "--signature", "file.sig"]],
        [["docker", "run", "--user", "node:node", "image:1"]],
    ])("is not in %j", (args) => expect(credentialInArguments(args)).toBeUndefined());
});

it("credentials are found at any depth, by their names or forms", () => {
    const body = { user: "a", login: { password: "b" }, keys: [{ apiKey: 1 }], note: ["Bearer abc123"], token: "" };
    expect(credentialsWithin(body).map(({ path }) => path.join("."))).toEqual([
        "login.password",
        "keys.0.apiKey",
        "note.0",
    ]);
    expect(credentialsWithin({ password: null, token: true, secret: { name: "a" } })).toEqual([]);
});

describe("what another program says is repeated without", () => {
    it.each([
        ["the key wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY is old", "the key [hidden] is old"],
        ["AWS_SECRET_ACCESS_KEY=short: expired", "AWS_SECRET_ACCESS_KEY=[hidden]: expired"],
        ['{"refresh_token": "abc"}', '{"refresh_token": "[hidden]"}'],
        ["GET https://ada:pw@sso.example/login", "GET https://[hidden]@sso.example/login"],
        ["sent Bearer abc.def", "sent Bearer [hidden]"],
        ["token expired: run my-login login", "token expired: run my-login login"],
        [
            "session 72f988bf-86f1-41af-91ab-2d7cd011db47 is over",
            "session 72f988bf-86f1-41af-91ab-2d7cd011db47 is over",
        ],
    ])("what may be a credential: %s", (text, expected) => expect(withoutCredentials(text)).toBe(expected));
});

describe("a parameter of an address", () => {
    it.each(["/geocode?key=AIzaSyD4k1f9GhQ2mNp7Rt0Zx", "/api/run?code=Tz8k2LqPw0Vb6YhN4mDs==", "/x?api_key=1"])(
        "is a credential in %s",
        (path) => expect(credentialInPath(path)).toMatch(/^a value of /),
    );
    it.each([
        "/items?key=colour",
        "/errors?code=404",
        "/search?session=spring-term",
        "/x?key=abcdefghijklmnopqrstuvwx",
    ])("is none in %s", (path) => expect(credentialInPath(path)).toBeUndefined());
});
