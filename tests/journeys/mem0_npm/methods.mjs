// Calls all methods of mem0's npm client once. Prints, as JSON: what each came to, and the methods that the client has.
import assert from "node:assert/strict";
import { MemoryClient } from "mem0ai";

const [host, apiKey, userId] = process.argv.slice(2);
const memory = new MemoryClient({ apiKey, host });
const filters = { user_id: userId };
const project = { url: "https://example.com", name: "w", eventTypes: ["memory_add"] };
const ids = [];

async function indexed(event) {
  const query = "wait=30&milestone=indexed";  // then what was added is found by its meaning
  await fetch(`${host}/v1/traces/${event.eventId}?${query}`, { headers: { Authorization: `Token ${apiKey}` } });
}

const calls = {
  ping: async () => memory.ping(),
  add: async () => indexed(await memory.add([{ role: "user", content: "I live in Braga and I play the cello." }], { userId, runId: "r1" })),
  getAll: async () => {
    const page = await memory.getAll({ filters, page: 1, pageSize: 5 });
    ids.push(...page.results.map((each) => each.id));
    assert.equal(page.count, 2);
  },
  search: async () => {
    const found = await memory.search("Which city is home?", { filters, topK: 1, rerank: true });
    assert.match(found.results[0].memory, /Braga/);
  },
  get: async () => assert.equal((await memory.get(ids[0])).userId, userId),
  update: async () => assert.deepEqual((await memory.update(ids[0], { metadata: { sure: true } })).metadata, { sure: true }),
  history: async () => assert.equal((await memory.history(ids[0]))[0].event, "ADD"),
  feedback: async () => memory.feedback({ memoryId: ids[0], feedback: "POSITIVE" }),
  batchUpdate: async () => memory.batchUpdate([{ memoryId: ids[0], text: "Ned rows well." }]),
  batchDelete: async () => memory.batchDelete([ids[1]]),
  delete: async () => memory.delete(ids[0], { deleteLinked: true }),
  deleteAll: async () => {
    await memory.deleteAll({ userId });
    assert.equal((await memory.getAll({ filters })).count, 0);
  },
  users: async () => assert.ok((await memory.users()).results.some((each) => each.name === userId)),
  getProfile: async () => memory.getProfile({ entityId: userId }),
  getProfileSettings: async () => memory.getProfileSettings(),
  generateProfile: async () => memory.generateProfile({ entityId: userId }),
  updateProfileSettings: async () => memory.updateProfileSettings({ enabled: true }),
  sampleProfiles: async () => memory.sampleProfiles(),
  getProfileJob: async () => memory.getProfileJob("1"),
  createMemoryExport: async () => memory.createMemoryExport({ schema: {}, filters }),
  getMemoryExport: async () => memory.getMemoryExport({ filters }),
  getProject: async () => memory.getProject({ fields: [] }),
  updateProject: async () => memory.updateProject({ customInstructions: "Be kind." }),
  getWebhooks: async () => memory.getWebhooks(),
  createWebhook: async () => memory.createWebhook(project),
  updateWebhook: async () => memory.updateWebhook({ ...project, webhookId: "1" }),
  deleteWebhook: async () => memory.deleteWebhook({ webhookId: "1" }),
  deleteUser: async () => memory.deleteUser({ entity_id: 1, entity_type: "user" }),
  deleteUsers: async () => memory.deleteUsers({ userId }),
};

const outcomes = {};
for (const [name, call] of Object.entries(calls)) {
  try {
    await call();
    outcomes[name] = "";
  } catch (error) {
    if (error instanceof assert.AssertionError) throw error;
    outcomes[name] = error.constructor.name;
  }
}
const methods = Object.getOwnPropertyNames(MemoryClient.prototype).filter((name) => name !== "constructor" && !name.startsWith("_"));
console.log(JSON.stringify({ outcomes, methods }));
