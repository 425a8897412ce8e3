/** The client against a running server: MEMPLATFORM_URL and MEMPLATFORM_API_KEY, whose key may read and write. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { Client, InvalidRequest, NotFound, PermissionDenied, type models } from "../src/index.js";

const skip = process.env["MEMPLATFORM_URL"] ? false : "MEMPLATFORM_URL is not set";
const user_id = "the client for TypeScript";
const namespace = ["typescript", "settings"];

function onlyOf<T>(results: T[]): T {
  assert.equal(results.length, 1);
  return results[0] as T;
}

test("what was said is found, corrected and retracted", { skip }, async () => {
  const memory = new Client();
  const said: models.TurnBody[] = [{ role: "user", content: "I live in Lyon and I work as a carpenter." }];
  const accepted = await memory.writeTurns({ user_id, session_id: "monday", turns: said, agent_id: "a1" });
  const trace = await memory.wait(accepted.trace_id, { forMs: 60_000 });
  assert.deepEqual([trace.status, trace.counts["stored"]], ["done", 2]);
  const best = onlyOf((await memory.search({ user_id, query: "Which city is home?", limit: 1 })).results);
  assert.match(best.content, /Lyon/);
  assert.match((await memory.buildContext({ user_id, query: "Plan a weekend" })).context, /Lyon/);
  const revised = await memory.reviseMemory(best.id, { importance: 0.9 }, { version: best.version });
  assert.equal(revised.version, best.version + 1);
  const stale = memory.reviseMemory(best.id, { importance: 0.1 }, { version: best.version });
  await assert.rejects(stale, { code: "conflict" });
  const listed: string[] = [];
  for await (const each of memory.eachMemory({ user_id, limit: 1, filter: { agent_id: "a1" } })) listed.push(each.id);
  assert.equal(listed.length, 2);
  await memory.retractMemory(best.id);
  assert.equal((await memory.readMemory(best.id)).status, "retracted");
  assert.deepEqual((await memory.readHistory(best.id)).versions.map((each) => each.version), [1, 2]);
  assert.equal(onlyOf((await memory.listTraces({ user_id })).results).id, trace.id);
  assert.ok((await memory.listEntities({ user_id })).results.length > 0);
});

test("many memories are stored, revised and retracted at once", { skip }, async () => {
  const memory = new Client();
  const memories = ["Likes tea.", "Has a canary."].map((content): models.MemoryBody => ({ type: "fact", content }));
  const made = await memory.storeMemories({ user_id: "many", memories });
  const ids = made.results.map((each) => each.id);
  const revised = await memory.reviseMemories({ memories: ids.map((id) => ({ id, importance: 0.9 })) });
  assert.equal(revised.done, 2);
  const batch = await memory.storeMemoryBatch({ user_id: "many", memories: [{ type: "fact", content: "Owns a kayak." }] });
  assert.deepEqual([batch.done, batch.refused], [1, 0]);
  await assert.rejects(memory.retractMemories({ user_id: "many", types: ["fact"] }), PermissionDenied); // for admins
  for (const id of [...ids, ...batch.results.map((each) => each.memory_id)]) await memory.retractMemory(id ?? "");
  assert.deepEqual((await memory.listMemories({ user_id: "many" })).results, []);
});

test("items are kept by namespace and key", { skip }, async () => {
  const memory = new Client();
  const stored = await memory.putItem({ namespace, key: "theme", value: { dark: true }, user_id });
  assert.deepEqual((await memory.readItem({ namespace, key: "theme" })).value, { dark: true });
  const changed = memory.putItem({ namespace, key: "theme", value: {}, expected_version: stored.version + 5 });
  await assert.rejects(changed, { code: "conflict" });
  const found = await memory.searchItems({ namespace_prefix: ["typescript"], filter: { dark: true } });
  assert.equal(onlyOf(found.results).key, "theme");
  assert.deepEqual(onlyOf((await memory.listItemNamespaces({ prefix: ["typescript"] })).results), namespace);
  const operations: models.ItemOperationsBody["operations"] = [{ operation: "get", namespace, key: "theme" }];
  assert.equal(onlyOf((await memory.runItemOperations({ operations })).results).item?.key, "theme");
  await memory.deleteItem({ namespace, key: "theme" });
  await assert.rejects(memory.readItem({ namespace, key: "theme" }), NotFound);
});

test("refusals have their codes", { skip }, async () => {
  const memory = new Client();
  assert.deepEqual((await memory.readCurrentKey()).scopes, ["read", "write"]);
  await assert.rejects(memory.request({ method: "GET", path: "/v1/keys" }), PermissionDenied);
  await assert.rejects(memory.search({ user_id, query: "where?", limit: 0 }), (error) => {
    assert.ok(error instanceof InvalidRequest);
    assert.equal(error.errors[0]?.pointer, "/limit");
    return true;
  });
});
