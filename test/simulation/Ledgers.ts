/**
 * Instructions over the ledgers: requests, operations, rendezvous, flows, pieces, content and heard signals.
 *
 * Each thing that a run begins has a cell that says how often its end has to be told, written in the same transaction. Enzymes
 * count the ends in cells beside these. So the model of all ledgers is: at rest, both numbers are equal.
 *
 * @module
 */
import { Computation, Enzyme, Flow, type NodeDefinition, type RendezvousSpec, sha256, type Transaction } from "systole"
import * as Random from "../support/Random.ts"
import { SELF } from "./Derived.ts"
import type { Program } from "./Program.ts"
import type { Running } from "./Running.ts"

/** The cell that says how often an end has to be told, and the one that counts the ends. */
export const BEGUN = "/data/begun"
export const ENDED = "/data/ended"

/** The end of the payloads of requests with a signal, which live on when their run is over. */
export const ALONE = ".alone"

/** The number of pieces, and of cells with content. */
export const PIECES = 3
const SLOTS = 3

/** The signal that a run asks for at a cell of its own. */
const OWN = "/signals/wake/own"

/** How urgent a signal is. One of control comes in a pause, too. */
type Qos = "control" | "retain"

/** An instruction of this file. */
export type Work =
  | { readonly do: "job"; readonly timeoutMs: number }
  | { readonly do: "drop"; readonly ms: number }
  | { readonly do: "watch"; readonly ttl: number; readonly watchers: number; readonly isClosed: boolean }
  | { readonly do: "meet"; readonly spec: Omit<RendezvousSpec, "key"> }
  | { readonly do: "answer"; readonly number: number; readonly isKilled: boolean }
  | { readonly do: "flow"; readonly due: number; readonly number: number; readonly beats: number }
  | { readonly do: "piece"; readonly piece: number; readonly isStarted: boolean }
  | { readonly do: "keep"; readonly slot: number; readonly size: number }
  | { readonly do: "late"; readonly slot: number; readonly ms: number }
  | { readonly do: "take"; readonly slot: number; readonly address: string }
  | { readonly do: "ask"; readonly count: number; readonly space: number; readonly ms: number; readonly sleep: number; readonly qos: Qos }
  | { readonly do: "reply"; readonly space: string; readonly cell: string }

/** The way to draw an instruction, and to execute it. One that is not drawn is sent by another one. */
interface Kind<W> {
  readonly draw?: (draw: Random.Random, spaces: number) => W
  readonly isDurable?: boolean
  readonly run: (running: Running, work: W, path: string) => PromiseLike<unknown> | void
}

type Kinds = { readonly [Name in Work["do"]]: Kind<Extract<Work, { readonly do: Name }>> }

/** Notes that so many ends of a thing have to be told. */
const begin = ({ event, tx }: Running, kind: string, { name, times = 1 }: { readonly name: string; readonly times?: number }): void =>
  tx.set(`${BEGUN}/${kind}/${name}`, { times, event: event.id })

const end = (tx: Transaction, kind: string, name: string): void => tx.increment(`${ENDED}/${kind}/${name}`)

/** The last name of a cell. */
const nameOf = (cell: string | undefined): string => cell?.slice(cell.lastIndexOf("/") + 1) ?? ""

/** The name of a thing that a run begins. */
const own = ({ event }: Running, path: string): string => `${event.id.slice(0, 24)}-${path}`

/** Asks for signals at a cell of its own, and awaits them in their order. */
const ask = async (running: Running, { count, ms, qos, sleep, space }: Extract<Work, { readonly do: "ask" }>): Promise<void> => {
  const { outside, tx } = running
  const [self, other] = [tx.get(SELF), outside.spaces[space]]
  const cell = `/data/wake/${tx.id()}`
  tx.hear(OWN, cell)
  const at = ms === 0 ? {} : { at: { ms } }
  const isFar = space > 0 && typeof self === "string" && other !== undefined
  if (isFar) {
    const reply: Program = [{ do: "reply", space: self, cell }]
    tx.signal({ signal: "/signals/plain/0", target: "/data/t/0", payload: reply, space: other })
  } else for (let i = 0; i < count; i++) tx.signal({ signal: OWN, target: cell, payload: i, qos, ...at })
  if (sleep > 0) await tx.sleep(sleep)
  for (let i = 0, last = -1; i < (isFar ? 1 : count); i++) {
    const { payload } = await tx.waitForSignal(OWN, cell)
    // An impulse is a remedy of the world's end.
    if (typeof payload !== "number") continue
    if (payload <= last) outside.wrong(`a run heard ${payload} at ${cell} after ${last}`)
    last = payload
  }
}

/** Makes a request and cancels it after a while, unless it has its result. */
const drop = async ({ event, tx }: Running, { ms }: Extract<Work, { readonly do: "drop" }>, path: string): Promise<void> => {
  const pending = tx.io.request({ channel: "bank", opcode: "pay", payload: `${event.id}.${path}` })
  const over = pending.then(() => {}, () => {})
  await tx.sleep(ms)
  pending.cancel()
  await over
}

/** Stores content in a cell, and reads the content that was there. */
const keep = (running: Running, { size, slot }: Extract<Work, { readonly do: "keep" }>, path: string): void => {
  const { outside, tx } = running
  const place = `/data/kept/${slot}`
  const before = tx.get(place)
  if (typeof before === "string") {
    const bytes = tx.get(before) as unknown
    const isWhole = bytes instanceof Uint8Array && `/cas/${sha256(bytes)}` === before
    if (!isWhole) outside.wrong(`beat ${tx.beat}: a run finds no content at ${before}, which ${place} names`)
  }
  tx.set(place, tx.blob(new TextEncoder().encode(own(running, path).repeat(size))))
}

/** Stores content whose address is in its log alone, until it stands in a cell. */
const keepLate = async (running: Running, { ms, slot }: Extract<Work, { readonly do: "late" }>, path: string): Promise<void> => {
  const { tx } = running
  const address = tx.blob(new TextEncoder().encode(own(running, path)))
  await tx.sleep(ms)
  tx.set(`/data/kept/${slot}`, address)
}

const kinds: Kinds = {
  job: {
    draw: (draw) => ({ do: "job", timeoutMs: Random.pick(draw, [0, 0, 5, 500]) }),
    run: (running, { timeoutMs }, path) => {
      const { enzyme, event, tx } = running
      const limit = timeoutMs > 0 ? { timeoutMs } : {}
      const signal = `/signals/${enzyme}/paid`
      const payload = `${event.id}.${path}${ALONE}`
      begin(running, "job", { name: tx.io.request({ channel: "bank", opcode: "pay", payload, signal, ...limit }) })
    }
  },
  drop: {
    draw: (draw) => ({ do: "drop", ms: Random.pick(draw, [0, 1, 20, 3000]) }),
    isDurable: true,
    run: drop
  },
  watch: {
    draw: (draw) => ({ do: "watch", ttl: 1 + draw(30), watchers: 1 + draw(2), isClosed: draw(3) === 0 }),
    run: (running, { isClosed, ttl, watchers }) => {
      const { tx } = running
      const oid = tx.op.start({ verb: "op/watched", target: "/data/t/0", mode: "opm:states" })
      for (let i = 0; i < watchers; i++) tx.op.await(oid, i === 0 ? "sts:ok" : "ist:plan", { signal: "/op/cont", ttl })
      begin(running, "watch", { name: oid, times: watchers })
      if (isClosed) tx.op.close(oid, "sts:ok")
    }
  },
  meet: {
    draw: (draw) => ({
      do: "meet",
      spec: {
        prof: Random.pick(draw, ["rv-fixed", "rv-fixed", "spec"] as const),
        due_off: draw(6),
        deadl_off: 5 + draw(20),
        max_grace: draw(3),
        grace_delta: draw(3),
        on_miss: Random.pick(draw, ["timeout", "kill", "grace", "ignore"] as const)
      }
    }),
    run: (running, { spec }, path) => {
      const key = own(running, path)
      running.tx.rv.spawn({ ...spec, key, ...spec.prof === "spec" ? { inst_id: `i${running.tx.beat % 2}` } : {} })
      begin(running, "meet", { name: key })
    }
  },
  answer: {
    draw: (draw) => ({ do: "answer", number: draw(100), isKilled: draw(3) === 0 }),
    run: ({ tx }, { isKilled, number }) => {
      const keys = tx.list(`${BEGUN}/meet`)
      const key = keys[number % Math.max(1, keys.length)]
      if (key !== undefined) void (isKilled ? tx.rv.kill(key) : tx.rv.report(key, { number }))
    }
  },
  flow: {
    draw: (draw) => ({ do: "flow", due: draw(8), number: draw(12), beats: Random.pick(draw, [0, 0, 3, 40]) }),
    run: (running, { beats, due, number }, path) => {
      const inst = own(running, path)
      running.tx.flow.start("branching", { due, number }, { inst, beats })
      begin(running, "flow", { name: inst })
    }
  },
  piece: {
    draw: (draw) => ({ do: "piece", piece: draw(PIECES), isStarted: draw(3) > 0 }),
    run: ({ tx }, { isStarted, piece }) => {
      const place = `/data/pieces/${piece}`
      const before = tx.get(place)
      if (isStarted) tx.set(place, tx.start("piece", { piece, name: String(piece) }))
      else if (typeof before === "string") {
        tx.stop(before)
        tx.delete(place)
      }
    }
  },
  keep: {
    draw: (draw) => ({ do: "keep", slot: draw(SLOTS), size: Random.pick(draw, [1, 3, 100, 4000]) }),
    run: keep
  },
  late: {
    draw: (draw) => ({ do: "late", slot: draw(SLOTS), ms: Random.pick(draw, [0, 20, 3000, 60_000]) }),
    isDurable: true,
    run: keepLate
  },
  take: {
    run: ({ tx }, { address, slot }) => tx.set(`/data/kept/${slot}`, address)
  },
  ask: {
    draw: (draw, spaces) => ({
      do: "ask",
      count: 1 + draw(3),
      space: draw(spaces),
      ms: Random.pick(draw, [0, 0, 10, 2000]),
      sleep: Random.pick(draw, [0, 0, 5, 3000]),
      qos: Random.pick(draw, ["control", "retain"] as const)
    }),
    isDurable: true,
    run: ask
  },
  reply: {
    run: ({ tx }, { cell, space }) => void tx.signal({ signal: OWN, target: cell, payload: 0, space })
  }
}

const table = Object.entries(kinds) as ReadonlyArray<readonly [Work["do"], Kind<Work>]>

/** The instructions that need a durable run. */
export const durable: ReadonlyArray<Work["do"]> = table.flatMap(([name, { isDurable }]) => isDurable === true ? [name] : [])

/** The makers of instructions, by kind. */
export const makers: Readonly<Record<string, (draw: Random.Random, below: { readonly spaces: number }) => Work>> = Object.fromEntries(
  table.flatMap(([name, { draw }]) =>
    draw === undefined ? [] : [[name, (random: Random.Random, { spaces }: { readonly spaces: number }) => draw(random, spaces)]])
)

/** Executes an instruction; returns the promise that a durable run awaits. */
export const run = (running: Running, work: Work, path: string): PromiseLike<unknown> | undefined =>
  (kinds[work.do] as Kind<Work>).run(running, work, path) ?? undefined

/** Tells the end of a request. */
export const paid = (tx: Transaction, payload: unknown): void => end(tx, "job", (payload as { readonly rid: string }).rid)

type Input = { readonly due: number; readonly number: number }

const branching = Flow.make({
  name: "branching",
  steps: {
    ask: { transform: ({ input }) => ({ due_off: (input as Input).due, deadl_off: 12 }) },
    first: { wait: "ask", within: 15, otherwise: "late" },
    choose: {
      decide: ({ results }) => (results["first"] as { readonly outcome: string }).outcome === "applied" ? "again" : "late",
      to: ["again", "late"]
    },
    again: { transform: ({ input }) => ({ due_off: 1, deadl_off: 3 + (input as Input).number, prof: "spec" }) },
    second: { wait: "again", otherwise: "late" },
    late: { clamp: { steps: 20 } },
    good: { guard: ({ input }) => (input as Input).number % 3 > 0 }
  }
})

/** The nodes of the pieces: each derives a cell of its own from a log. */
export const pieceOf = (piece: number) => ({ output: `/data/pieced/${piece}`, source: `/data/log/value/${piece % 2}` })

const piece = Computation.make({
  name: "piece",
  inputs: ["piece", "name"],
  output: "/data/pieced/:name",
  run: (tx, inputs) => {
    const log = tx.get(pieceOf(Number(inputs["piece"])).source)
    return Array.isArray(log) ? log.length : 0
  }
})

/** The modules that hear of the ends, and the flow and the piece. */
export const modules = (): ReadonlyArray<Enzyme.Enzyme | NodeDefinition> => [
  branching,
  piece,
  Enzyme.make({
    name: "watched",
    query: "/op/*",
    bind: ["/rt/ops"],
    run: (tx, { target }) => end(tx, "watch", nameOf(target))
  }),
  Enzyme.make({
    name: "met",
    query: "/CEP:sig_rv/*",
    bind: ["/data/inbox/flow/inst_event"],
    run: (tx, { target }) => end(tx, "meet", nameOf(target))
  }),
  Enzyme.make({
    name: "over",
    query: "/CEP:sig_inst/*",
    bind: ["/data/flow/inst"],
    run: (tx, { target }) => end(tx, "flow", nameOf(target))
  })
]
