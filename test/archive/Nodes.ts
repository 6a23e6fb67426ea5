/**
 * Two nodes with a kernel each: signals between their spaces go as rows, as between processes.
 *
 * @module
 */
import { assert } from "@effect/vitest"
import { Context, Effect, type Fiber, Latch, Layer, Stream } from "effect"
import { type ContentStore, type Enzyme, Hash, Kernel, MemoryStore, Pacemaker, Persistence, Reactor } from "systole"
import { TestPacemaker } from "systole/testing"
import * as Export from "../../src/archive/Export.ts"
import type { ImportEnd } from "../../src/archive/Import.ts"
import { Imports, type ImportProgress } from "../../src/archive/Imports.ts"
import { concat } from "../../src/cell/Bytes.ts"
import type { Pin } from "../../src/kernel/view/Pin.ts"
import { type Peer, RemotePeers, type ResolvePeer } from "../../src/kernel/live/Delivery.ts"
import { CurrentContentStore } from "../../src/persistence/LargeContent.ts"
import * as HashLayer from "../support/HashLayer.ts"
import * as TestKernel from "../support/TestKernel.ts"

/** A node: its kernel, and its imports. */
export interface Node {
  readonly kernel: Kernel["Service"]
  readonly hash: Hash["Service"]
  /** Starts a fiber with the clock of the test. */
  readonly fork: (effect: Effect.Effect<void>) => Fiber.Fiber<void>
  readonly imports: Imports
}

/** The choices of a node. */
export interface Options {
  readonly modules?: ReadonlyArray<Enzyme.Enzyme>
  readonly persistence?: Layer.Layer<Persistence>
  readonly reactor?: Layer.Layer<Reactor>
  readonly contents?: ContentStore | undefined
  /** The spaces of another node. */
  readonly remote?: { readonly peers: (own: () => Node["kernel"]) => ResolvePeer }
}

/** A space of another node. Its refusal is that of the delivery. */
const peer = (name: string, kernel: Node["kernel"]): Peer => ({
  arrive: (from, pending, { accepted, fail }) =>
    void Effect.runPromise(kernel.receive(name, from, [pending.text])).then(([answer]) => {
      if (answer === null) accepted()
      else fail(Object.assign(new Error(answer?.code), answer))
    }, fail)
})

let nodes = 0

/** Seeds that no other node draws. */
const pacemaker = Layer.effect(Pacemaker, Effect.map(Pacemaker, (host) => {
  const own = (++nodes).toString(16)
  return { ...host, seed: () => own + host.seed().slice(own.length) }
})).pipe(Layer.provide(TestPacemaker.layer))

/** A persistence whose flushes of a space wait for a latch. */
export const waiting = (persistence: Layer.Layer<Persistence>, space: string, latch: Latch.Latch): Layer.Layer<Persistence> =>
  Layer.effect(Persistence, Effect.map(Persistence, (inner) => ({
    ...inner,
    open: (name, options) => Effect.map(inner.open(name, options), (store) => name !== space ? store : new Proxy(store, {
      get: (target, key) => {
        if (key === "flush") return Effect.andThen(Latch.await(latch), target.flush)
        const value: unknown = Reflect.get(target, key, target)
        return typeof value === "function" ? value.bind(target) : value
      }
    }))
  }))).pipe(Layer.provide(persistence))

/** A node until the scope closes. Its spaces boot, and their beats run by hand. */
export const node = ({ contents, modules = [], persistence = MemoryStore.layer, reactor = Reactor.none, remote }: Options = {}) =>
  Effect.gen(function*() {
    const found = remote === undefined ? undefined : remote.peers(() => kernel)
    const layer = TestKernel.layer({ boot: true }, persistence, { reactor, pacemaker }).pipe(
      Layer.provide([Layer.succeed(RemotePeers, found), Layer.succeed(CurrentContentStore, contents)])
    )
    const context = yield* Layer.build(Layer.fresh(Layer.mergeAll(layer, HashLayer.layer)))
    const kernel: Node["kernel"] = Context.get(context, Kernel)
    const hash = Context.get(context, Hash)
    for (const module of modules) yield* kernel.register(module)
    const fork = Effect.runForkWith(yield* Effect.context<never>())
    return { kernel, hash, fork, imports: new Imports({ kernel, hash }, { fork, limit: () => 16 }) }
  })

/** Reaches the spaces of another node by their names, and all others here. */
export const reaching = (names: ReadonlyArray<string>, node: Node): NonNullable<Options["remote"]> => ({
  peers: (own) => (name) =>
    names.includes(name)
      ? Effect.succeed(peer(name, node.kernel))
      : Effect.as(own().space(name), peer(name, own()))
})

/** The pieces of the frame of a pin as one. */
export const framed = ({ hash }: Pick<Node, "hash">, pin: Pin, parts: Export.Parts = {}): Effect.Effect<Uint8Array> =>
  Effect.promise(async () => {
    const pieces: Array<Uint8Array> = []
    for await (const piece of Export.frame(pin, { hash }, parts)) pieces.push(piece)
    return concat(pieces)
  })

/** The frame of a space at its newest durable beat. */
export const frameOf = (node: Node, name: string, parts: Export.Parts = {}) =>
  Effect.flatMap(node.kernel.space(name), (space) => Effect.scoped(Effect.flatMap(space.pin, (pin) => framed(node, pin, parts))))

/** A chain of frames, and the reason of its import. */
interface Brought {
  readonly frames: ReadonlyArray<Uint8Array>
  readonly why?: "copy" | "restore"
  readonly mayRead?: (space: string) => boolean
}

/** Brings frames in as a new space. */
export const bring = ({ imports, kernel }: Pick<Node, "imports" | "kernel">, space: string, { frames, mayRead, why = "copy" }: Brought) =>
  Effect.gen(function*() {
    let taken: ImportProgress = { frame: 0, next: 0 }
    for (const [frame, bytes] of frames.entries()) {
      taken = yield* imports.take({ space, id: "abcdefgh", why, frame, frames: frames.length, from: 0, bytes: Stream.make(bytes), mayRead })
    }
    assert.isTrue("root" in taken, JSON.stringify(taken))
    return { sealed: taken as ImportEnd, space: yield* kernel.space(space) }
  })
