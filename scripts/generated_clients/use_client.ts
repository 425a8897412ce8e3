// What callers write with the generated TypeScript types; tsc --strict checks it.
import createClient from "openapi-fetch";
import type { components, paths } from "./api.js";

const client = createClient<paths>({ baseUrl: "http://127.0.0.1:8000", headers: { Authorization: "Bearer mp_…" } });

// Optional fields may be left out, and metadata holds what the caller puts into it.
const memory: components["schemas"]["MemoryBody"] = {
  type: "fact",
  content: "Ana lives in Lisbon.",
  metadata: { source: "import", tries: [1, 2] },
};
await client.POST("/v1/memories", { body: { user_id: "ana", memories: [memory] } });

const found = await client.POST("/v1/memories/search", { body: { user_id: "ana", query: "Where does Ana live?" } });
for (const hit of found.data?.results ?? []) {
  const content: string = hit.content;
  await client.PATCH("/v1/memories/{memory_id}", {
    params: { path: { memory_id: hit.id }, header: { "If-Match": `"${hit.version}"` } },
    body: { content: content.toUpperCase() },
  });
}
const code: string | undefined = found.error?.code;
const listed = await client.GET("/v1/memories", { params: { query: { user_id: "ana", status: ["active"] } } });
const next: string | null | undefined = listed.data?.next;
export { code, next };
