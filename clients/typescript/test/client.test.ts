/** Requests, answers, retries, errors and pages of the client, against scripted answers. */

import assert from "node:assert/strict";
import { test } from "node:test";
import {
  ApiError,
  AuthenticationFailed,
  Client,
  Conflict,
  ConnectionFailed,
  InvalidRequest,
  MemplatformError,
  NotFound,
  PermissionDenied,
  RateLimited,
  ServerError,
  WaitTimeout,
} from "../src/index.js";
import { delayMs } from "../src/retries.js";
import { scripted } from "./scripted.js";

const ACCEPTED = { trace_id: "trc_1", status: "queued", adjusted: [], redacted: {} };
const BUSY = { code: "queue_full", detail: "try later" };
const SAID = { user_id: "kim", session_id: "s", turns: [{ role: "user" as const, content: "I live in Lyon." }] };
const UNREACHABLE = new TypeError("fetch failed");

test("a request holds the key and what was given", async () => {
  const { client, sent } = scripted([202, ACCEPTED]);
  assert.deepEqual(await client.writeTurns(SAID), ACCEPTED);
  const [request] = sent;
  assert.deepEqual([request?.method, request?.path, request?.body], ["POST", "/v1/turns", SAID]);
  assert.equal(request?.headers.get("Authorization"), "Bearer mp_key");
});

for (const failure of [[429, BUSY, { "Retry-After": "0" }], [503, BUSY], [500], UNREACHABLE] as const) {
  test(`a write is sent again under the same key after ${String(failure)}`, async () => {
    const again = failure as Parameters<typeof scripted>[0];
    const { client, sent } = scripted(again, again, [202, ACCEPTED]);
    await client.writeTurns(SAID);
    const keys = sent.map((each) => each.headers.get("Idempotency-Key"));
    assert.deepEqual([keys.length, new Set(keys).size, typeof keys[0]], [3, 1, "string"]);
  });
}

test("a caller's own key is used, and the first request under it may still run", async () => {
  const { client, sent } = scripted([409, { code: "idempotency_in_progress" }], [202, ACCEPTED]);
  await client.writeTurns(SAID, { idempotencyKey: "mine" });
  assert.deepEqual(sent.map((each) => each.headers.get("Idempotency-Key")), ["mine", "mine"]);
});

test("a revision is sent again only if it was not begun", async () => {
  for (const [failure, requests] of [[UNREACHABLE, 1], [[503, BUSY], 1], [[429, BUSY], 2]] as const) {
    const { client, sent } = scripted(failure as Parameters<typeof scripted>[0], [200, { id: "mem_1" }]);
    const revised = client.reviseMemory("mem_1", { importance: 1 }, { version: 3 });
    if (requests === 1) await assert.rejects(revised, MemplatformError);
    else await revised;
    assert.equal(sent.length, requests);
    assert.equal(sent[0]?.headers.get("If-Match"), '"3"');
    assert.equal(sent[0]?.headers.get("Idempotency-Key"), null);
  }
});

test("attempts end", async () => {
  const { client, sent } = scripted([503], [503], [503], [503]);
  await assert.rejects(client.readMemory("mem_1"), ServerError);
  assert.equal(sent.length, 4);
});

test("delays are those that the server asks for", () => {
  const retries = { attempts: 4, firstDelayMs: 1_000, longestDelayMs: 10_000 };
  const asked = (seconds: number): RateLimited =>
    new RateLimited({ status: 429, code: "", detail: "", errors: [], retryAfterSeconds: seconds });
  assert.equal(delayMs(retries, { attempt: 1, error: asked(7), mayRepeat: false }), 7_000);
  assert.equal(delayMs(retries, { attempt: 1, error: asked(11), mayRepeat: true }), undefined);
  const own = delayMs(retries, { attempt: 3, error: new ConnectionFailed(""), mayRepeat: true }) ?? 0;
  assert.ok(own >= 3_200 && own <= 4_800);
});

const KINDS = [
  [401, AuthenticationFailed],
  [403, PermissionDenied],
  [404, NotFound],
  [409, Conflict],
  [422, InvalidRequest],
] as const;

for (const [status, kind] of KINDS) {
  test(`a problem with status ${status} is a ${kind.name}`, async () => {
    const errors = [{ pointer: "/user_id", message: "is blank" }];
    const { client } = scripted([status, { code: "the_code", detail: "why", errors }]);
    await assert.rejects(client.search({ user_id: "", query: "where?" }), (error) => {
      assert.ok(error instanceof kind && error instanceof ApiError);
      assert.deepEqual([error.status, error.code, error.detail, error.errors], [status, "the_code", "why", errors]);
      assert.equal(error.name, kind.name);
      return true;
    });
  });
}

test("an error of a proxy has its text", async () => {
  const answer = async (): Promise<Response> => new Response("<html>no such host", { status: 404 });
  await assert.rejects(new Client({ apiKey: "mp_key", fetch: answer }).readMemory("mem_1"), /no such host/);
});

test("pages are followed with the filters of the first", async () => {
  const next = "http://elsewhere/v1/memories?cursor=n%3D%3D&limit=50";
  const { client, sent } = scripted(
    [200, { results: [{ id: "a" }, { id: "b" }], next }],
    [200, { results: [{ id: "c" }], next: null }],
  );
  const ids: string[] = [];
  for await (const each of client.eachMemory({ user_id: "kim", tags: ["x", "y"], filter: { topic: "home" } })) {
    ids.push(each.id);
  }
  assert.deepEqual(ids, ["a", "b", "c"]);
  const first = "/v1/memories?user_id=kim&tags=x&tags=y&filter=%7B%22topic%22%3A%22home%22%7D";
  assert.deepEqual(sent.map((each) => each.path), [first, `${first}&cursor=n%3D%3D`]);
});

test("waiting goes on until the trace has come as far, or the time is up", async () => {
  const queued = { id: "trc_1", status: "queued", index: "pending" };
  const done = { ...queued, status: "done" };
  const { client, sent } = scripted([200, done], [200, { ...done, index: "done" }], [200, queued], [200, done]);
  assert.equal((await client.wait("trc_1", { forMs: 5_000 })).index, "done");
  assert.match(sent[0]?.path ?? "", /wait=[45]&milestone=indexed$/);
  assert.equal((await client.wait("trc_1", { forMs: 5_000, milestone: "ended" })).status, "done");
  assert.equal((await scripted([200, done]).client.wait("trc_1", { forMs: 0 })).index, "pending");
  await assert.rejects(scripted([200, queued]).client.wait("trc_1", { forMs: 0 }), WaitTimeout);
});

test("a call ends with the signal of its caller, and is not sent again", async () => {
  const controller = new AbortController();
  let calls = 0;
  const hangs = (_: unknown, init?: RequestInit): Promise<Response> => {
    calls += 1;
    return new Promise((_resolve, reject) => init?.signal?.addEventListener("abort", () => reject(init.signal?.reason)));
  };
  const client = new Client({ apiKey: "mp_key", fetch: hangs });
  const reading = client.readMemory("mem_1", { signal: controller.signal });
  controller.abort(new Error("not needed"));
  await assert.rejects(reading, /not needed/);
  await assert.rejects(client.reviseMemory("mem_1", {}, { timeoutMs: 1 }), ConnectionFailed);
  assert.equal(calls, 2);
});

test("a delay between attempts ends with the signal too", async () => {
  const controller = new AbortController();
  const busy = async (): Promise<Response> => {
    setImmediate(() => controller.abort(new Error("not needed")));
    return new Response(null, { status: 503, headers: { "Retry-After": "29" } });
  };
  const client = new Client({ apiKey: "mp_key", fetch: busy });
  await assert.rejects(client.readMemory("mem_1", { signal: controller.signal }), /not needed/);
});

test("identifiers are escaped, and a key is needed", async () => {
  const { client, sent } = scripted([202, {}], [204]);
  await client.eraseUser("a/b é\ud800");
  assert.equal(await client.deleteItem({ namespace: ["a", "b"], key: "k&" }), undefined);
  assert.deepEqual(
    sent.map((each) => each.path),
    ["/v1/users/a%2Fb%20%C3%A9%EF%BF%BD", "/v1/items?namespace=a&namespace=b&key=k%26"],
  );
  assert.throws(() => new Client({ apiKey: "" }), /MEMPLATFORM_API_KEY/);
});
