/**
 * A complete Worker: the classes and the handler over a manifest of modules, as a build writes it. Beside the routes of
 * the runtime it has routes that reset an object, and count what it does.
 *
 * @module
 */
import { Enzyme } from "systole"
import http from "../../plugins/http.ts"
import { make } from "../../src/main/workers/index.ts"
import type { Env, ObjectState } from "../../src/main/workers/Platform.ts"

interface Payload {
  readonly who: string
  /** The spaces to visit. */
  readonly route: ReadonlyArray<string>
  /** The page to fetch. */
  readonly url: string
}

const greet = Enzyme.make({
  name: "greet",
  query: "/signals/greet",
  writes: ["/data/greetings/*"],
  run: (tx, event) => tx.set(`/data/greetings/${(event.payload as Payload).who}`, "hello")
})

/** Counts a visit, and goes on to the next space of the route. */
const visit = Enzyme.make({
  name: "visit",
  query: "/signals/visit",
  writes: ["/data/visits/*"],
  run: (tx, event) => {
    const { route: [space, ...route], who } = event.payload as Payload
    tx.increment(`/data/visits/${who}`)
    if (space !== undefined) tx.signal({ signal: "/signals/visit", payload: { who, route }, space })
  }
})

/** Fetches a page, waits, and keeps the answer. */
const page = Enzyme.make({
  name: "page",
  query: "/signals/page",
  writes: ["/data/pages/*"],
  durable: true,
  run: async (tx, event) => {
    const { url, who } = event.payload as Payload
    const answer = await tx.io.request({ channel: "web", opcode: "fetch", payload: { url } })
    await tx.sleep({ beats: 10 })
    tx.set(`/data/pages/${who}`, answer)
  }
})

const { Directory, Space: Plain, handler } = make({
  manifest: {
    "enzymes/greet.ts": { module: greet, hash: "0".repeat(64) },
    "enzymes/visit.ts": { module: visit, hash: "1".repeat(64) },
    "enzymes/page.ts": { module: page, hash: "2".repeat(64) },
    "systole/plugins/http": { module: http, hash: "3".repeat(64) }
  },
  config: {
    enzymes: ["enzymes"],
    spaces: { create: "on-demand" },
    channels: { web: { use: "http", options: { allow: ["127.0.0.1"] } } }
  }
})

/** The counts of an object since its construction. */
interface Seen {
  readonly rowsWritten: number
  readonly alarms: number
}

/** The number of each object in the order of construction. */
let objects = 0

/** A space that can be reset, and counts. */
export class Space extends Plain {
  readonly #state: ObjectState
  readonly #number = ++objects
  #rowsWritten = 0
  #alarms = 0

  constructor(state: ObjectState, env: Env) {
    super(state, env)
    this.#state = state
    const sql = state.storage.sql as unknown as { exec: (...args: ReadonlyArray<unknown>) => { readonly rowsWritten: number } }
    const exec = sql.exec.bind(sql)
    sql.exec = (...args) => {
      const cursor = exec(...args)
      this.#rowsWritten += cursor.rowsWritten
      return cursor
    }
  }

  override async alarm(): Promise<void> {
    this.#alarms++
    return super.alarm()
  }

  /** Ends the object as an eviction does. */
  reset(): void {
    (this.#state as ObjectState & { readonly abort: () => void }).abort()
  }

  async seen(): Promise<Seen & { readonly number: number; readonly alarm: number | null }> {
    const alarm = await this.#state.storage.getAlarm()
    return { number: this.#number, rowsWritten: this.#rowsWritten, alarms: this.#alarms, alarm }
  }
}

export { Directory }

interface TestStub {
  readonly reset: () => Promise<void>
  readonly seen: () => Promise<object>
  readonly arrive: (letters: object) => Promise<unknown>
}

const TEST = /^\/test\/([a-z]+)\/([a-z0-9-]+)$/

export default {
  fetch: async (request: Request, env: Env): Promise<Response> => {
    const [, verb = "", space = ""] = TEST.exec(new URL(request.url).pathname) ?? []
    if (verb === "") return handler.fetch(request, env)
    const stub = env.SPACES.getByName(space) as unknown as TestStub
    if (verb === "seen") return Response.json(await stub.seen())
    if (verb === "foreign") return Response.json(await stub.arrive({ proof: "guessed", from: "other", rows: ["{}"] }).catch(String))
    await stub.reset().catch(() => {})
    return new Response()
  }
}
