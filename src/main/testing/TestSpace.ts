/**
 * A space for a test of modules: in memory, without a server, one beat at a time.
 *
 * @module
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as TestClock from "effect/testing/TestClock"
import * as Cell from "../../cell/Cell.ts"
import * as Document from "../../cell/Document.ts"
import type { Signal } from "../../cell/Signal.ts"
import type { Value } from "../../cell/Value.ts"
import { CurrentReporter, Reporter, type Told } from "../../diagnostic/Reporter.ts"
import type { Receipt } from "../../kernel/model/Receipt.ts"
import { PendingSignal } from "../../kernel/model/Signal.ts"
import { Kernel } from "../../kernel/space/Kernel.ts"
import type { PostedSignal, Space } from "../../kernel/view/Space.ts"
import { PART } from "../../persistence/Backend.ts"
import { Hash } from "../../persistence/Hash.ts"
import type { Enzyme } from "../../registry/Enzyme.ts"
import type { AnySignal } from "../../registry/Declares.ts"
import { SystemGrants } from "../../registry/Registry.ts"
import * as Services from "../../registry/Services.ts"
import type { Definition } from "../../scheduler/definition/Definition.ts"
import { requestOf } from "../../stage/Calls.ts"
import type { SignalRequest } from "../../stage/Launch.ts"
import type { TypedRequest } from "../../stage/Typed.ts"
import * as CallerStack from "./contract/CallerStack.ts"
import { ExpectationFailed } from "./contract/Check.ts"
import * as HungRuns from "./HungRuns.ts"
import * as TestRuntime from "./TestRuntime.ts"

/** Most beats that one call runs. */
export const MAX_BEATS = 1000

/** The choices of a test of modules. */
export interface Options<E = never> extends TestRuntime.Options<E> {
  /** The name of the space, which is the first one for schedules. Default: `test`. */
  readonly name?: string
  /** The enzymes that may write below sealed folders, as `system` of the configuration. Default: none. */
  readonly system?: ReadonlyArray<string>
  /** The nodes that fail the idempotency check, as {@link TestRuntime.Unstable}. Default: none. */
  readonly unstable?: ReadonlyArray<string>
  /** The services that enzymes take, as `services` of a plugin. Default: none. */
  readonly services?: Layer.Layer<never, unknown>
}

/** The rest of a request for a signal of a type, as a caller posts it. */
export type TypedPost<A, Names> = TypedRequest<A, Names> & Omit<PostedSignal, keyof SignalRequest>

/** A signal that a run sent. */
export interface SentSignal {
  /** The beat that sent it. */
  readonly beat: number
  readonly id: string
  readonly signal: string | undefined
  readonly target: string | undefined
  /** `undefined` for an impulse. */
  readonly payload: Value
  /** The space that it goes to, where that is another one. */
  readonly space: string | undefined
}

/**
 * A space under the clock of the test, with its answers as promises.
 *
 * Time stands still at 1970-01-01T00:00:00Z until `advance` moves it. Beats run in `step`, and as many as are needed in
 * `handled`, `idle`, `pull` and `until`: at most {@link MAX_BEATS} for each call. A computation or a materializer with a different
 * second run on the same values fails the test at its end.
 *
 * @example An enzyme that counts
 * ```ts
 * import { Enzyme } from "systole"
 * import { expectCell, expectReceipt, TestSpace } from "systole/testing"
 *
 * const count = Enzyme.make({ name: "count", query: "/signals/count", run: (tx) => tx.increment("/data/count") })
 *
 * await TestSpace.use([count], async (space) => {
 *   expectReceipt(await space.handled({ signal: "/signals/count" }), { status: "handled" })
 *   await expectCell(space, "/data/count", 1)
 * })
 * ```
 *
 * @category models
 * @since 0.1.0
 */
export class TestSpace {
  /** All that a space can do, as Effects. */
  readonly space: Space
  readonly kernel: Kernel["Service"]
  /** The diagnostics since the space was opened, oldest first. */
  readonly facts: ReadonlyArray<Told>
  /** Runs an Effect under the clock of the test. */
  readonly run: <A, E>(effect: Effect.Effect<A, E>) => Promise<A>
  private readonly signals: Array<SentSignal> = []
  private readonly known = new Set<string>()
  private readonly hash: Hash["Service"]
  /** The failure of a run that awaits a promise which does not settle. */
  private hung: ExpectationFailed | undefined

  private constructor(made: Pick<TestSpace, "space" | "kernel" | "facts" | "run">, hash: Hash["Service"]) {
    this.space = made.space
    this.kernel = made.kernel
    this.facts = made.facts
    this.run = made.run
    this.hash = hash
  }

  /**
   * Opens a space with these modules, and closes it after `body`. Rejects with the failure of `body`, where a module is
   * refused, and where a node fails the idempotency check.
   */
  static use<E = never>(
    modules: ReadonlyArray<Enzyme | Definition>,
    body: (space: TestSpace) => Promise<void> | void,
    { name = "test", services, system = [], unstable = [], ...options }: Options<E> = {}
  ): Promise<void> {
    const facts: Array<Told> = []
    let test: TestSpace | undefined
    const layer = TestRuntime.layer({ ...options, settings: { first: name, ...options.settings } }).pipe(
      Layer.provideMerge(TestClock.layer()),
      Layer.provide([
        Layer.succeed(CurrentReporter, new Reporter((told) => void facts.push(told))),
        Layer.succeed(SystemGrants, new Set(system)),
        Layer.succeed(TestRuntime.Unstable, unstable),
        Layer.succeed(HungRuns.CurrentHung, (failure, limitMs) => test?.hang(failure, limitMs))
      ])
    )
    return CallerStack.follow(Effect.runPromise(Effect.scoped(Effect.gen(function*() {
      const context = yield* Layer.build(layer)
      const kernel = Context.get(context, Kernel)
      const providers = services === undefined ? [] : [yield* provider(kernel, services)]
      for (const module of modules) yield* kernel.register(module._tag === "Enzyme" ? Services.bind(module, providers).enzyme : module)
      const space = yield* Effect.provideContext(kernel.space(name), context)
      const run = Effect.runPromiseWith(context)
      const made = new TestSpace({ space, kernel, facts, run: (effect) => CallerStack.follow(run(effect)) }, Context.get(context, Hash))
      test = made
      yield* Effect.tryPromise({ try: async () => body(made), catch: (error) => error })
    }))))
  }

  /** Sends a signal, which the next beat captures; answers its id. */
  signal<A, Names>(signal: Signal<A, Names>, request: TypedPost<NoInfer<A>, NoInfer<Names>>): Promise<string>
  signal(request: PostedSignal): Promise<string>
  async signal(signal: PostedSignal | AnySignal, request?: unknown): Promise<string> {
    return (await this.run(this.space.signal(posted(signal, request)))).id
  }

  /** Sends a signal and runs beats until all its handlings are over; answers its receipt. */
  handled<A, Names>(signal: Signal<A, Names>, request: TypedPost<NoInfer<A>, NoInfer<Names>>): Promise<Receipt>
  handled(request: PostedSignal): Promise<Receipt>
  handled(signal: PostedSignal | AnySignal, request?: unknown): Promise<Receipt> {
    const sent = posted(signal, request)
    return this.until(this.space.handled(sent), `the signal ${sent.signal ?? sent.target ?? ""}`)
  }

  /** The receipt of an event; `undefined` for an id that is not known. */
  receipt(id: string): Promise<Receipt | undefined> {
    return this.run(this.space.receipt(id))
  }

  /** Runs so many beats; answers the number of the last one. */
  async step(count = 1): Promise<number> {
    let beat = -1
    for (let i = 0; i < count; i++) {
      beat = await this.run(this.space.step)
      if (this.hung !== undefined) throw this.hung
      await this.note(beat)
    }
    return beat
  }

  /** A run holds its beat for ever. Its limit ends it, and then the step fails. */
  private hang(failure: ExpectationFailed, limitMs: number): void {
    this.hung ??= failure
    void this.run(TestClock.adjust(limitMs))
  }

  /** Runs beats until nothing is runnable at this moment. A wait for a later moment does not hold it up. */
  idle(): Promise<void> {
    return this.until(this.space.idle, "the wait for quiet")
  }

  /** Moves the clock by so many milliseconds and runs one beat; answers its number. */
  async advance(millis: number): Promise<number> {
    await this.run(TestClock.adjust(millis))
    return this.step()
  }

  /** The value at an address as it is committed. It runs no beat, so a derived cell may be stale. */
  get<A>(cell: Cell.Cell<A>): Promise<A | undefined>
  get(address: string): Promise<Value>
  get(place: Cell.Place): Promise<Value> {
    return Cell.read(place, (address) => this.run(this.space.get(address)))
  }

  /** The value at an address with all that it is derived from up to date. Beats run where that needs them. */
  pull<A>(cell: Cell.Cell<A>): Promise<A | undefined>
  pull(place: Cell.Place): Promise<Value>
  pull(place: Cell.Place): Promise<Value> {
    return Cell.read(place, (address) => this.until(this.space.pull(address), `the pull of ${address}`))
  }

  /** Stores content of any size; answers its SHA-256 in hexadecimal digits. It is read at `/cas/<sha256>`. */
  async keep(bytes: Uint8Array): Promise<string> {
    const digest = this.hash.hex(bytes)
    const { store, writer } = await this.run(this.space.content)
    for (let at = 0; at < bytes.length; at += PART) writer.write(bytes.subarray(at, at + PART))
    await this.run(store(digest))
    return digest
  }

  /** The names of the documents directly below a cell. */
  list(id: string): Promise<ReadonlyArray<string>> {
    return this.run(this.space.list(id))
  }

  /** The signals that runs sent in the beats of this test, in order. */
  get sent(): ReadonlyArray<SentSignal> {
    return this.signals
  }

  /**
   * Runs beats until an Effect of the space ends, such as `space.space.rv.report(…)`; answers its value. `asked` names it
   * in the message where it does not end.
   */
  async until<A, E>(effect: Effect.Effect<A, E>, asked = "the answer"): Promise<A> {
    let isOver = false
    const over = (): void => void (isOver = true)
    const answer = this.run(effect)
    answer.then(over, over)
    for (let beats = 0; ; beats++) {
      await this.run(turn)
      if (isOver) return answer
      if (beats === MAX_BEATS) throw new ExpectationFailed(`${asked} is not over after ${MAX_BEATS} beats. ${await this.waits()}`)
      await this.step()
    }
  }

  private async waits(): Promise<string> {
    const { waiting } = await this.run(this.space.waiting({ limit: 10 }))
    const rows = waiting.map(({ due, id, signal, target, why }) =>
      `${id} on ${signal ?? target} (${why}${due?.moment === undefined ? "" : `, due at ${due.moment} ms`})`)
    if (rows.length === 0) return "No signal waits; a gate may be closed: move the clock with advance()"
    return `These wait: ${rows.join(", ")}. Move the clock with advance() where one is due later`
  }

  /** Takes down the signals that runs of a beat sent. They wait in the queue until the next one. */
  private async note(beat: number): Promise<void> {
    const rows = await this.run(this.space.examine(({ store }) => [...store.queue()]))
    for (const { again, signal: { id, origin, payload, signal, target, to } } of rows.map(PendingSignal.fromRow)) {
      if (origin !== "run" || again !== undefined || this.known.has(id)) continue
      this.known.add(id)
      this.signals.push({ beat, id, signal, target, payload: Document.read(payload, []), space: to?.space })
    }
  }
}

/** The services of a test. */
const provider = (kernel: Kernel["Service"], services: Layer.Layer<never, unknown>) =>
  Effect.map(kernel.provide(services, "the test"), ({ context }): Services.Provider => ({ label: "the test", code: undefined, context }))

const posted = (signal: PostedSignal | AnySignal, request: unknown): PostedSignal =>
  "declared" in signal ? requestOf(signal, request) : signal

/** A turn of the host, in which answers arrive. */
const turn = Effect.promise(() => new Promise<void>((resolve) => void setTimeout(resolve, 0)))
