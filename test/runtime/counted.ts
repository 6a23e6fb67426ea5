/**
 * A Worker with more routes: they reset an object, run its alarm, set its clock forward, and count what it does.
 *
 * @module
 */
import type { Worker } from "../../src/main/workers/index.ts"
import type { AlarmInfo, Env, Letters, ObjectState, Refusal } from "../../src/main/workers/Platform.ts"

/** An object, and its counts since its construction. */
interface Seen {
  readonly number: number
  readonly rowsWritten: number
  readonly alarms: number
  /** The alarms of all objects, those that were made anew included. */
  readonly rings: number
  /** The longest armed timer of all objects, in milliseconds. */
  readonly longestTimer: number
  readonly endings: number
  /** The signals of each call of another object, and their characters. */
  readonly deliveries: ReadonlyArray<readonly [signals: number, characters: number]>
}

/** The timers that are armed, with their delays in milliseconds. */
const timers = new Map<unknown, number>()

const { clearTimeout: disarm, setTimeout: arm } = globalThis

Object.assign(globalThis, {
  setTimeout: (run: () => void, millis = 0): unknown => {
    const id = arm(() => {
      timers.delete(id)
      run()
    }, millis)
    timers.set(id, millis)
    return id
  },
  clearTimeout: (id: ReturnType<typeof arm>): void => {
    timers.delete(id)
    disarm(id)
  }
})

const realNow = Date.now

/** The time by which the clock is ahead, in milliseconds. */
let ahead = 0

Date.now = () => realNow() + ahead

/** The time by which `later` sets the clock forward, in milliseconds. */
const HOUR = 3_600_000

/** The number of alarms to come that end their object. */
let endings = 0

/** The number of alarms of all objects. */
let rings = 0

/** The number of each object in the order of construction. */
let objects = 0

interface TestStub {
  readonly reset: () => Promise<void>
  readonly seen: () => Promise<object>
  readonly forget: () => Promise<void>
  readonly ring: () => Promise<void>
  readonly lose: () => Promise<void>
  readonly spoil: () => Promise<void>
  readonly end: (count: number) => Promise<void>
  readonly fill: (bytes: number) => Promise<void>
  readonly arrive: (letters: object) => Promise<unknown>
  readonly pull: (read: object) => Promise<unknown>
}

const TEST = /^\/test\/([a-z]+)\/([a-z0-9-]+)$/

/** The exports of a Worker, with these routes below `/test/`. */
export const counted = (worker: Worker) => {
  /** A space that can be reset, and counts. */
  class Space extends worker.Space {
    readonly #state: ObjectState
    readonly #number = ++objects
    #rowsWritten = 0
    #alarms = 0
    readonly #deliveries: Array<readonly [number, number]> = []
    #isSpoiled = false
    #isDying = false

    constructor(state: ObjectState, env: Env) {
      super(state, env)
      this.#state = state
      const sql = state.storage.sql as unknown as { exec: (...args: ReadonlyArray<unknown>) => { readonly rowsWritten: number } }
      const exec = sql.exec.bind(sql)
      sql.exec = (...args) => {
        if (this.#isDying) {
          endings--
          this.reset()
        }
        if (this.#isSpoiled && String(args[0]).startsWith("INSERT")) {
          this.#isSpoiled = false
          // The constraint is checked by the commit.
          exec("INSERT INTO spoiled VALUES (1)")
        }
        const cursor = exec(...args)
        this.#rowsWritten += cursor.rowsWritten
        return cursor
      }
    }

    override async alarm(info?: AlarmInfo): Promise<void> {
      this.#alarms++
      rings++
      this.#isDying = endings > 0
      return super.alarm(info)
    }

    override arrive(letters: Letters): Promise<ReadonlyArray<Refusal | null>> {
      this.#deliveries.push([letters.rows.length, letters.rows.join("").length])
      return super.arrive(letters)
    }

    /** The database has this size, until the object ends. */
    fill(bytes: number): void {
      Object.defineProperty(this.#state.storage.sql, "databaseSize", { value: bytes })
    }

    /** The platform ends the object within its next alarms, which are this many. */
    end(count: number): void {
      endings = count
    }

    /** Runs the alarm at once. */
    async ring(): Promise<void> {
      await this.alarm()
    }

    /** Deletes the data without the entry in the directory, as a removal that fails half-way. */
    async forget(): Promise<void> {
      await this.#state.storage.deleteAll()
      this.reset()
    }

    /** Deletes the alarm, as a platform that loses it. */
    async lose(): Promise<void> {
      await this.#state.storage.deleteAlarm()
      await this.#state.storage.sync()
      this.reset()
    }

    /** The next commit fails, after all its statements succeeded. */
    async spoil(): Promise<void> {
      this.#state.storage.sql.exec(`CREATE TABLE IF NOT EXISTS spoiled_by (id INTEGER PRIMARY KEY);
        CREATE TABLE IF NOT EXISTS spoiled (id INTEGER REFERENCES spoiled_by (id) DEFERRABLE INITIALLY DEFERRED)`)
      await this.#state.storage.sync()
      this.#isSpoiled = true
    }

    /** Ends the object as an eviction does. */
    reset(): void {
      (this.#state as ObjectState & { readonly abort: () => void }).abort()
    }

    async seen(): Promise<Seen & { readonly alarm: number | null }> {
      const alarm = await this.#state.storage.getAlarm()
      const longestTimer = Math.max(0, ...timers.values())
      const counts = { number: this.#number, rowsWritten: this.#rowsWritten, alarms: this.#alarms, deliveries: this.#deliveries }
      return { ...counts, rings, alarm, longestTimer, endings }
    }
  }

  /** The counts of an object. One that ends during the call is asked again. */
  const seen = async (stubOf: () => TestStub): Promise<object> => {
    for (;;) {
      try {
        return await stubOf().seen()
      } catch (error) {
        if (!String(error).includes("abort")) throw error
      }
    }
  }

  const answered = async (verb: string, stubOf: () => TestStub): Promise<Response> => {
    if (verb === "seen") return Response.json(await seen(stubOf))
    const stub = stubOf()
    if (verb === "foreign") {
      const guess = { proof: "guessed", from: "other", rows: ["{}"], address: "/data/visits", wait: 0 }
      return Response.json(await Promise.all([stub.arrive(guess).catch(String), stub.pull(guess).catch(String)]))
    }
    if (verb === "later") ahead += HOUR
    else if (verb === "ring") await stub.ring()
    else if (verb === "spoil") await stub.spoil()
    else if (verb === "end") await stub.end(2)
    else if (verb === "fill") await stub.fill(9_500_000_000)
    else if (verb === "lose") await stub.lose().catch(() => {})
    else if (verb === "forget") await stub.forget().catch(() => {})
    else await stub.reset().catch(() => {})
    return new Response()
  }

  const fetch = async (request: Request, env: Env): Promise<Response> => {
    const [, verb = "", space = ""] = TEST.exec(new URL(request.url).pathname) ?? []
    return verb === "" ? worker.handler.fetch(request, env) : answered(verb, () => env.SPACES.getByName(space) as unknown as TestStub)
  }

  return { Space, Directory: worker.Directory, handler: { fetch } }
}
