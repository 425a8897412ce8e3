/** The client: one method for each call of the API that agents make. */

import { WaitTimeout } from "./errors.js";
import type * as models from "./models.js";
import { Transport, inPath, sleep, type CallOptions, type ClientOptions, type Query, type Request } from "./transport.js";

const LONGEST_WAIT_SECONDS = 30; // of one request
const EARLY_MS = 500; // before a trace is asked for again that the server did not wait for

/** Conditions on fields, combined with AND, OR and NOT. */
export type Filter = Record<string, unknown>;

/** Query parameters of a list, whose filter may be an object. */
export type WithFilter<T> = Omit<T, "filter"> & { filter?: Filter | string };

/** The place of an item. */
export interface ItemPlace {
  namespace: string[];
  key: string;
}

/** How far a trace has to come, and how long that may take. */
export interface WaitOptions extends CallOptions {
  forMs?: number;
  milestone?: NonNullable<models.ReadTraceQuery["milestone"]>;
}

interface Page<T> {
  results: T[];
  next?: string | null;
}

/**
 * Calls a server with an API key.
 *
 * Requests are sent again after 429, 5xx and failed connections, as `retries` says; POSTs under an Idempotency-Key, so
 * that nothing is done twice. Throws the errors of errors.ts. Bodies and answers are the JSON documents of the API.
 */
export class Client {
  readonly #transport: Transport;

  constructor(options: ClientOptions = {}) {
    this.#transport = new Transport(options);
  }

  /** Send turns of a session; `wait` for the trace to know what became of them. */
  writeTurns(
    body: models.TurnsBody,
    options?: CallOptions,
  ): Promise<models.TurnsAcceptedResponse | models.TurnsResponse> {
    return this.#post("/v1/turns", body, options);
  }

  /** Store memories as given, without extraction. */
  storeMemories(body: models.MemoriesBody, options?: CallOptions): Promise<models.StoredMemoriesResponse> {
    return this.#post("/v1/memories", body, options);
  }

  /** Store many memories, each with its outcome. */
  storeMemoryBatch(body: models.BatchBody, options?: CallOptions): Promise<models.BulkResponse> {
    return this.#post("/v1/memories/batch", body, options);
  }

  /** Search the memories of one end user, best first. */
  search(body: models.SearchBody, options?: CallOptions): Promise<models.SearchResponse> {
    return this.#post("/v1/memories/search", body, options);
  }

  /** Build a text block about an end user for an agent's prompt. */
  buildContext(body: models.ContextBody, options?: CallOptions): Promise<models.ContextResponse> {
    return this.#post("/v1/context", body, options);
  }

  /** Read what each stage did with a request, after up to `wait` seconds (at most 30) if it has not come as far as `milestone`. */
  readTrace(traceId: string, query: models.ReadTraceQuery = {}, options?: CallOptions): Promise<models.TraceResponse> {
    return this.#get(`/v1/traces/${inPath(traceId)}`, query, options);
  }

  /**
   * Return a trace when search finds its memories, by their words and by their meaning.
   *
   * With `milestone: "ended"` by their words, which is sooner. After `forMs`, by default two minutes, a trace that has ended
   * is returned as it is. Throws WaitTimeout if it has not.
   */
  async wait(traceId: string, options: WaitOptions = {}): Promise<models.TraceResponse> {
    const { forMs = 120_000, milestone = "indexed", ...call } = options;
    const deadline = Date.now() + forMs;
    for (;;) {
      const asked = Date.now();
      const seconds = Math.max(1, Math.min(LONGEST_WAIT_SECONDS, Math.floor((deadline - asked) / 1_000)));
      const trace = await this.readTrace(traceId, { wait: seconds, milestone }, call);
      const hasEnded = trace.status !== "queued";
      if (hasEnded && (milestone === "ended" || trace.index !== "pending" || Date.now() >= deadline)) return trace;
      if (Date.now() >= deadline) throw new WaitTimeout(`trace ${traceId} has not ended after ${forMs / 1_000} seconds`);
      await sleep(Math.max(0, asked + EARLY_MS - Date.now()), call.signal);
    }
  }

  /** List a page of traces, newest first. */
  listTraces(query: models.ListTracesQuery = {}, options?: CallOptions): Promise<models.TraceList> {
    return this.#get("/v1/traces", query, options);
  }

  /** Yield traces, newest first, page by page. */
  eachTrace(query: models.ListTracesQuery = {}, options?: CallOptions): AsyncGenerator<models.TraceSummary, void> {
    return this.#each("/v1/traces", query, options);
  }

  /** List a page of memories, newest first. */
  listMemories(query: WithFilter<models.ListMemoriesQuery> = {}, options?: CallOptions): Promise<models.MemoryList> {
    return this.#get("/v1/memories", query, options);
  }

  /** Yield memories, newest first, page by page. */
  eachMemory(
    query: WithFilter<models.ListMemoriesQuery> = {},
    options?: CallOptions,
  ): AsyncGenerator<models.MemoryResponse, void> {
    return this.#each("/v1/memories", query, options);
  }

  /** Read a memory with its source turns and links. */
  readMemory(memoryId: string, options?: CallOptions): Promise<models.MemoryDetailResponse> {
    return this.#get(`/v1/memories/${inPath(memoryId)}`, {}, options);
  }

  /** Read the past versions of a memory and who changed it. */
  readHistory(memoryId: string, options?: CallOptions): Promise<models.HistoryResponse> {
    return this.#get(`/v1/memories/${inPath(memoryId)}/history`, {}, options);
  }

  /** Change fields of a memory; with `version`, only if it is still at that version. */
  reviseMemory(
    memoryId: string,
    changes: models.RevisionBody,
    options?: CallOptions,
  ): Promise<models.MemoryResponse> {
    const path = `/v1/memories/${inPath(memoryId)}`;
    return this.#transport.send({ method: "PATCH", path, body: changes, mayRepeat: false }, options);
  }

  /** Retract a memory: it is no longer returned, and its history stays. */
  async retractMemory(memoryId: string, options?: CallOptions): Promise<void> {
    await this.#delete(`/v1/memories/${inPath(memoryId)}`, {}, options);
  }

  /** Change several memories, each with its outcome. */
  reviseMemories(body: models.RevisionsBody, options?: CallOptions): Promise<models.BulkResponse> {
    return this.#transport.send({ method: "PATCH", path: "/v1/memories", body, mayRepeat: false }, options);
  }

  /** Retract the memories that a filter selects; without `confirm` only tells how many. */
  retractMemories(
    query: WithFilter<models.RetractMemoriesQuery>,
    options?: CallOptions,
  ): Promise<models.RetractionResponse> {
    return this.#delete("/v1/memories", query, options);
  }

  /** List a page of the people, places and things that memories refer to, newest first. */
  listEntities(query: models.ListEntitiesQuery = {}, options?: CallOptions): Promise<models.EntityList> {
    return this.#get("/v1/entities", query, options);
  }

  /** Yield entities, newest first, page by page. */
  eachEntity(query: models.ListEntitiesQuery = {}, options?: CallOptions): AsyncGenerator<models.EntityResponse, void> {
    return this.#each("/v1/entities", query, options);
  }

  /** Store JSON under a namespace and a key, in place of what is there; `user_id` says whose data it is. */
  putItem(body: models.ItemBody, options?: CallOptions): Promise<models.ItemResponse> {
    const mayRepeat = body.expected_version === undefined || body.expected_version === null;
    return this.#transport.send({ method: "PUT", path: "/v1/items", body, mayRepeat }, options);
  }

  /** Read an item; reading one that expires lets it live on. */
  readItem(query: models.ReadItemQuery, options?: CallOptions): Promise<models.ItemResponse> {
    return this.#get("/v1/items", query, options);
  }

  /** Delete an item for good. */
  async deleteItem(place: ItemPlace, options?: CallOptions): Promise<void> {
    await this.#delete("/v1/items", { ...place }, options);
  }

  /** Find items below a namespace. */
  searchItems(body: models.ItemSearchBody, options?: CallOptions): Promise<models.ItemList> {
    return this.#post("/v1/items/search", body, options);
  }

  /** List the namespaces that hold items, sorted. */
  listItemNamespaces(body: models.NamespacesBody = {}, options?: CallOptions): Promise<models.NamespaceList> {
    return this.#post("/v1/items/namespaces", body, options);
  }

  /** Carry out several operations on items, all of them or none; those that read see what was before. */
  runItemOperations(body: models.ItemOperationsBody, options?: CallOptions): Promise<models.ItemOutcomesResponse> {
    const differs = body.operations.some((each) => each.operation === "pop" || "expected_version" in each);
    return this.#transport.send({ method: "POST", path: "/v1/items/batch", body, mayRepeat: !differs }, options);
  }

  /** Read what the key of this client may do, and in which project. */
  readCurrentKey(options?: CallOptions): Promise<models.CurrentKeyResponse> {
    return this.#get("/v1/keys/current", {}, options);
  }

  /** Erase an end user with all data (scope admin). */
  eraseUser(userId: string, options?: CallOptions): Promise<models.ErasureResponse> {
    return this.#delete(`/v1/users/${inPath(userId)}`, {}, options);
  }

  /** Call any operation of the API, such as GET /v1/stats. */
  request<T = unknown>(request: Omit<Request, "mayRepeat">, options?: CallOptions): Promise<T> {
    return this.#transport.send({ ...request, mayRepeat: ["GET", "PUT", "DELETE"].includes(request.method) }, options);
  }

  async *#each<T>(path: string, query: object, options?: CallOptions): AsyncGenerator<T, void> {
    let cursor: string | null = null;
    do {
      const page: Page<T> = await this.#get(path, cursor === null ? query : { ...query, cursor }, options);
      yield* page.results;
      cursor = page.next ? new URL(page.next, "http://server").searchParams.get("cursor") : null;
    } while (cursor !== null);
  }

  #get<T>(path: string, query: object, options?: CallOptions): Promise<T> {
    return this.#transport.send({ method: "GET", path, query: query as Query, mayRepeat: true }, options);
  }

  #post<T>(path: string, body: object, options?: CallOptions): Promise<T> {
    return this.#transport.send({ method: "POST", path, body, mayRepeat: true }, options);
  }

  #delete<T>(path: string, query: object, options?: CallOptions): Promise<T> {
    return this.#transport.send({ method: "DELETE", path, query: query as Query, mayRepeat: true }, options);
  }
}
