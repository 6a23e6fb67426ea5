import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs"
import fs from "node:fs/promises"
import { syncBuiltinESMExports } from "node:module"
import { Channel, Reactor, type Space } from "systole"
import { Jail } from "../../plugins/channel/Jail.ts"
import * as Operations from "../../plugins/channel/Operations.ts"
import { exported, operations } from "../../plugins/frame.ts"
import * as FrameSink from "../../plugins/frame/FrameSink.ts"
import { FrameTransfers } from "../../plugins/frame/FrameTransfers.ts"
import { SPAN } from "../../plugins/frame/Spans.ts"
import * as Spaces from "../archive/Spaces.ts"
import { read } from "../frame/Frames.ts"
import { enzyme } from "../kernel/TestSpace.ts"
import * as SqliteFolder from "../persistence/SqliteFolder.ts"
import { current } from "../scripts/Host.ts"
import { present } from "../support/Present.ts"
import * as TestKernel from "../support/TestKernel.ts"

const fill = enzyme("fill", (tx) => {
  for (let n = 0; n < 5; n++) tx.set(`/data/n/${n}`, String(n).repeat(90_000))
})

/** The failures of the first attempts of some writes, by the place of their bytes. */
type Failing = (at: number, attempt: number) => unknown

interface Request {
  readonly opcode: string
  readonly state: string
  readonly bytes_done: number
  readonly attempt: number
}

/** A space of some 900 kB with a channel of frames in a folder. */
const withFrames = <A, E>(
  body: (space: Space, folder: string) => Effect.Effect<A, E>,
  fails: Failing = () => undefined
) => Effect.gen(function*() {
  const folder = yield* SqliteFolder.folder
  const jail = new Jail(folder, "frame")
  const frames = new FrameTransfers()
  const attempts = new Map<number, number>()
  const create = async (path: string, begun: FrameSink.Begun): Promise<FrameSink.Sink> => {
    const file = await FrameSink.create(jail, path, begun)
    return { ...file, write: async (bytes, at) => {
      const attempt = (attempts.get(at) ?? 0) + 1
      attempts.set(at, attempt)
      const error = fails(at, attempt)
      if (error !== undefined) throw error
      await file.write(bytes, at)
    } }
  }
  const hosts = ["node", "deno", "bun"] as const
  const channel = { id: "frames", provider: "frame", hosts, ...Operations.channel(operations(jail, frames, create)) }
  const layer = TestKernel.layer({}, undefined, { reactor: Reactor.sync([channel]) })
  return yield* Effect.gen(function*() {
    const space = yield* TestKernel.space([exported, fill], "home")
    yield* space.signal({ signal: "/signals/fill" })
    yield* space.step
    return yield* body(space, folder)
  }).pipe(Effect.provide(Layer.fresh(layer)))
})

/** Orders a frame, and runs beats until the run is over. Returns its receipt, and the requests of its dossier in their order. */
const ordered = Effect.fnUntraced(function*(space: Space, path: string) {
  const { id } = yield* space.signal({ signal: "/signals/frame/export", payload: { channel: "frames", path } })
  for (let beat = 0; beat < 100 && (yield* space.receipt(id))?.status !== "handled"; beat++) yield* space.step
  const oids = (yield* space.list("/rt/ops")).filter((oid) => oid !== "OPS:io")
  const envelopes = yield* Effect.forEach(oids, (oid) => space.get(`/rt/ops/${oid}/envelope`))
  const oid = oids[envelopes.findIndex((envelope) => (envelope as unknown as { readonly verb: string }).verb === "op/run")]
  const rids = (yield* space.list(`/rt/ops/${oid}/io_req`)).toSorted((a, b) => orderOf(a) - orderOf(b))
  const requests = yield* Effect.forEach(rids, (rid) => space.get(`/rt/ops/${oid}/io_req/${rid}`))
  const operation = yield* space.get(`/rt/ops/${oid}`)
  return { receipt: present(yield* space.receipt(id)), operation, requests: requests as unknown as ReadonlyArray<Request> }
})

const orderOf = (rid: string): number => {
  const [beat = 0, , nth = 0] = rid.slice(rid.indexOf(":") + 1).split(".").map(Number)
  return beat * 1000 + nth
}

describe("The channel frame", () => {
  it.effect("N15 leaves a request for begin, each span and finish in the dossier, and the whole frame in its file", () =>
    withFrames((space, folder) => Effect.gen(function*() {
      const { operation, receipt, requests } = yield* ordered(space, "a/home.frame")
      assert.deepInclude(receipt.handlings[0], { outcome: "ok" })
      assert.deepInclude(operation, { status: "sts:ok" })
      assert.deepStrictEqual(requests.map(({ opcode, state }) => `${opcode} ${state}`), [
        "begin complete", "write complete", "write complete", "write complete", "write complete", "finish complete"
      ])
      const bytes = readFileSync(`${folder}/a/home.frame`)
      assert.isTrue(bytes.length > 3 * SPAN && bytes.length <= 4 * SPAN)
      assert.deepStrictEqual(requests.map(({ bytes_done }) => bytes_done), [0, SPAN, SPAN, SPAN, bytes.length - 3 * SPAN, 0])
      assert.deepStrictEqual(readdirSync(`${folder}/a`), ["home.frame"])
      assert.notProperty((yield* Effect.promise(() => read(bytes))).end, "code")
      assert.isAbove((yield* Effect.promise(() => Spaces.recordsOf(bytes))).length, 10)
    })))

  it.effect("N15 tries a write again after 1, 2 and 4 beats where the host is busy, and the frame is whole", () =>
    withFrames((space, folder) => Effect.gen(function*() {
      const { receipt, requests } = yield* ordered(space, "home.frame")
      assert.deepInclude(receipt.handlings[0], { outcome: "ok" })
      assert.deepStrictEqual(requests.map(({ attempt }) => attempt), [1, 1, 4, 1, 1, 1])
      assert.notProperty((yield* Effect.promise(() => read(readFileSync(`${folder}/home.frame`)))).end, "code")
    }), (at, attempt) => at === SPAN && attempt < 4 ? Object.assign(new Error("again"), { code: "EAGAIN" }) : undefined))

  it.effect("N15 reports a failure that stays, removes the half file, and its run is dead", () =>
    withFrames((space, folder) => Effect.gen(function*() {
      const { operation, requests } = yield* ordered(space, "home.frame")
      assert.deepInclude(operation, { state: "ist:dead" })
      assert.deepStrictEqual(readdirSync(folder), [])
      assert.strictEqual(requests.at(-1)?.opcode, "drop")
      const told = (yield* TestKernel.diagnostics(space)).map(({ code, topic }) => `${topic} ${code}`)
      assert.include(told, "persist.frame.io io/denied")
    }), (at) => at === 2 * SPAN ? Channel.fail("io/denied", "no", { errno: -13 }) : undefined))

  it.effect("N15 is refused for a file that exists, and leaves it as it is", () =>
    withFrames((space, folder) => Effect.gen(function*() {
      yield* ordered(space, "home.frame")
      const before = readFileSync(`${folder}/home.frame`)
      const { id } = yield* space.signal({ signal: "/signals/frame/export", payload: { channel: "frames", path: "home.frame" } })
      for (let beat = 0; beat < 20; beat++) yield* space.step
      assert.deepInclude((yield* space.receipt(id))?.handlings[0], { outcome: "dead" })
      assert.deepStrictEqual(readFileSync(`${folder}/home.frame`), before)
      assert.deepStrictEqual(readdirSync(folder), ["home.frame"])
    })))

  it.effect("is for its owner alone, and the second of two frames with one path replaces none", () => Effect.gen(function*() {
    const folder = yield* SqliteFolder.folder
    const jail = new Jail(folder, "frame")
    yield* Effect.promise(async () => {
      const create = (of: string) => FrameSink.create(jail, "deep/er/a", { space: "x", of })
      const [one, two] = [await create("1"), await create("2")]
      await one.write(new Uint8Array([1]), 0)
      await one.finish()
      assert.strictEqual(await two.finish().catch((error: { readonly code: string }) => error.code), "io/exists")
      await two.drop()
    })
    assert.deepStrictEqual([...readFileSync(`${folder}/deep/er/a`)], [1])
    const modes = ["deep", "deep/er", "deep/er/a"].map((path) => statSync(`${folder}/${path}`).mode & 0o777)
    assert.deepStrictEqual(modes, [0o700, 0o700, 0o600])
    assert.deepStrictEqual(readdirSync(`${folder}/deep/er`), ["a"])
  }))
})

const { link } = fs

/** Lets no file get a second name. */
const linkless = (code: string) => {
  const replace = (with_: typeof link) => Effect.sync(() => {
    fs.link = with_
    syncBuiltinESMExports()
  })
  return Effect.acquireRelease(replace(() => Promise.reject(Object.assign(new Error("no hard links"), { code }))), () => replace(link))
}

// Deno and Bun bind the imports of a built-in module for good, so its functions cannot be replaced there.
describe.runIf(current() === "node")("The file of a frame on a file system without hard links", () => {
  it.effect.each(["EPERM", "ENOTSUP", "EXDEV"])("has its name at the end, and replaces none: %s", (code) => Effect.gen(function*() {
    const folder = yield* SqliteFolder.folder
    const jail = new Jail(folder, "frame")
    yield* linkless(code)
    yield* Effect.promise(async () => {
      const create = (path: string) => FrameSink.create(jail, path, { space: "x", of: path })
      const [one, two] = [await create("a"), await create("b")]
      await one.write(new Uint8Array([1]), 0)
      await one.finish()
      writeFileSync(`${folder}/b`, "another")
      assert.strictEqual(await two.finish().catch((error: { readonly code: string }) => error.code), "io/exists")
      await two.drop()
    })
    assert.deepStrictEqual([...readFileSync(`${folder}/a`)], [1])
    assert.strictEqual(statSync(`${folder}/a`).mode & 0o777, 0o600)
    assert.strictEqual(readFileSync(`${folder}/b`, "utf8"), "another")
    assert.deepStrictEqual(readdirSync(folder).sort(), ["a", "b"])
  }))

  it.effect("reports any other failure", () => Effect.gen(function*() {
    const folder = yield* SqliteFolder.folder
    yield* linkless("EACCES")
    const code = yield* Effect.promise(async () => {
      const sink = await FrameSink.create(new Jail(folder, "frame"), "a", { space: "x", of: "1" })
      const failed = await sink.finish().catch((error: { readonly code: string }) => error.code)
      await sink.drop()
      return failed
    })
    assert.deepStrictEqual([code, readdirSync(folder)], ["EACCES", []])
  }))
})

describe("The begin of a frame", () => {
  const begun = { space: "x", of: "1" }

  /** Frames over a place that notes its calls, whose creation waits for `made`. Each attempt has a name. */
  const attempts = (made: Promise<void> = Promise.resolve()) => {
    const log: Array<string> = []
    const frames = new FrameTransfers()
    const begin = (name: string, signal: AbortSignal) => {
      const pieces = async function*() {
        try {
          for (let n = 0; n < 9; n++) {
            log.push(`${name} makes`)
            yield new Uint8Array(SPAN)
            await made
          }
        } finally {
          log.push(`${name} is over`)
        }
      }
      const create = async (): Promise<FrameSink.Sink> => {
        log.push(`${name} creates`)
        await made
        return { write: async () => {}, finish: async () => {}, drop: async () => void log.push(`${name} drops`) }
      }
      const ended = (error: unknown): unknown => (error as Error).message
      return frames.begin(begun, { pieces: pieces(), create, signal }).then(({ spans }) => spans, ended)
    }
    return { begin, frames, log }
  }

  it("leaves nothing once it is aborted, and the next attempt begins after it has ended", async () => {
    const { promise, resolve } = Promise.withResolvers<void>()
    const { begin, log } = attempts(promise)
    const first = new AbortController()
    const one = begin("one", first.signal)
    const two = begin("two", new AbortController().signal)
    while (!log.includes("one creates")) await Promise.resolve()
    first.abort(new Error("it took too long"))
    resolve()
    assert.deepStrictEqual([await one, await two], ["it took too long", 4])
    const at = log.indexOf("two creates")
    assert.deepStrictEqual(log.slice(0, at), ["one creates", "one drops"])
    assert.notInclude(log.slice(at), "two drops")
  })

  it("stops the making of its spans where it is aborted meanwhile", async () => {
    const { begin, log } = attempts()
    const abort = new AbortController()
    const began = begin("one", abort.signal)
    while (!log.includes("one makes")) await Promise.resolve()
    abort.abort(new Error("it took too long"))
    assert.strictEqual(await began, "it took too long")
    assert.deepStrictEqual(log.slice(-2), ["one is over", "one drops"])
    assert.isBelow(log.filter((line) => line === "one makes").length, 4)
  })

  it("ends with its channel, also one under way, and a closed channel begins none", async () => {
    const { promise, resolve } = Promise.withResolvers<void>()
    const { begin, frames, log } = attempts(promise)
    const began = begin("one", new AbortController().signal)
    while (!log.includes("one creates")) await Promise.resolve()
    const closed = frames.close()
    resolve()
    await Promise.all([began, closed])
    assert.deepStrictEqual(log.slice(-2), ["one is over", "one drops"])
    assert.match(String(await begin("two", new AbortController().signal)), /is closed/)
  })
})
