/** Signatures of webhooks: the example of the standard is accepted, and what differs from it is not. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { InvalidSignature, verifyWebhook } from "../src/index.js";

const SENT = 1_614_265_330;
const EXAMPLE = {
  body: '{"test": 2432232314}',
  headers: {
    "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
    "webhook-timestamp": String(SENT),
    "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
  },
  secret: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
  now: SENT + 299,
};

test("the example of the standard is accepted", async () => {
  assert.deepEqual(await verifyWebhook(EXAMPLE), { test: 2432232314 });
  const shouted = Object.entries(EXAMPLE.headers).map(([name, value]): [string, string] => [name.toUpperCase(), value]);
  assert.ok(await verifyWebhook({ ...EXAMPLE, headers: Object.fromEntries(shouted) }));
  const two = { ...EXAMPLE.headers, "webhook-signature": `v1,bm9uZQ== ${EXAMPLE.headers["webhook-signature"]}` };
  const bytes = new TextEncoder().encode(EXAMPLE.body);
  assert.ok(await verifyWebhook({ ...EXAMPLE, headers: new Headers(two), body: bytes }));
});

const CHANGES = {
  body: { body: `${EXAMPLE.body} ` },
  secret: { secret: "whsec_dGhlIHNlY3JldCBvZiBhbm90aGVy" },
  "no secret": { secret: "whsec_not base64" },
  "an empty secret": { secret: "" },
  old: { now: SENT + 301 },
  ahead: { now: SENT - 301 },
  id: { headers: { ...EXAMPLE.headers, "webhook-id": "msg_2" } },
  time: { headers: { ...EXAMPLE.headers, "webhook-timestamp": "soon" } },
  "no signature": { headers: { ...EXAMPLE.headers, "webhook-signature": "" } },
  signature: { headers: { ...EXAMPLE.headers, "webhook-signature": "v1,é" } },
};

for (const [name, change] of Object.entries(CHANGES)) {
  test(`another webhook is refused: ${name}`, async () => {
    await assert.rejects(verifyWebhook({ ...EXAMPLE, ...change }), InvalidSignature);
  });
}
