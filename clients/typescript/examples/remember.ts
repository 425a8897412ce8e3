// An agent that remembers. Needs MEMPLATFORM_URL and MEMPLATFORM_API_KEY.
import { Client, NotFound, RateLimited } from "memplatform-client";

const memory = new Client(); // or new Client({ baseUrl: "http://…", apiKey: "mp_…" })
const user_id = "lee";

try {
  const turns = [{ role: "user" as const, content: "I live in Lyon and I work as a carpenter." }];
  const accepted = await memory.writeTurns({ user_id, session_id: "monday", turns });
  await memory.wait(accepted.trace_id); // until search finds it, by words and by meaning
  for (const hit of (await memory.search({ user_id, query: "Where does Lee live?", limit: 3 })).results) {
    console.log(hit.content, hit.score);
  }
  console.log((await memory.buildContext({ user_id, query: "Plan a weekend", token_budget: 300 })).context);
  for await (const each of memory.eachMemory({ user_id, filter: { confidence: { gt: 0.5 } } })) {
    await memory.reviseMemory(each.id, { importance: 0.9 }, { version: each.version });
  }
} catch (error) {
  if (error instanceof RateLimited) console.error(`try again after ${error.retryAfterSeconds} seconds`);
  else if (error instanceof NotFound) console.error(error.code, error.detail);
  else throw error;
}
