import { expect, it } from "vitest";
import { unansweredIn } from "../../../../chaos/witness/keepalive";

/** As kernel 6.18 wrote them. */
const table = `\
  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode                      \

   0: 00000000:07E8 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 491 1 00000000869b58d1 100
   1: 0100007F:95F0 0100007F:AED5 01 00000000:00000000 02:0000001D 00000000     0        0 86304 3 000000001b472cb4 20
   2: 0100007F:95F2 0100007F:AED5 01 00000000:00000000 02:00000035 00000000  1000       10 86305 2 000000001b472cb5 20
   3: 020200C0:AC30 507100CB:01BB 06 00000000:00000000 03:00000F1A 00000000     0        0 0 3 00000000955632f5
   4: 0100007F:95F4 0100007F:AED5 01 00000000:00000000 00:00000000 00000000     0        0 86306 2 000000001b472cb6 20
   5: 0100007F:95F6 0100007F:AED5 01 00000004:00000000 01:00000014 00000002     0        0 86307 2 000000001b472cb7 20
`;
/** The addresses of /proc/net/tcp6 are longer. */
const ofIpv6 =
    "   2: B80D0120000000000000000001000000:95F0 B80D0120000000000000000002000000:1F90 01 00000000:00000000 " +
    "02:00000020 00000000  1000        3 90210 2 0000000000000000 20 4 30 10 -1\n";

it("unanswered probes are read of established connections with keepalive, and of no other", () =>
    expect(unansweredIn(table + ofIpv6)).toEqual([
        ["86304", 0],
        ["86305", 10],
        ["90210", 3],
    ]));
