/**
 * A Worker over the host-independent floors. Each request is one signal,
 * handled by one beat over a store in memory.
 *
 * @module
 */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Slices } from "systole"
import { Kernel } from "../../src/kernel/space/Kernel.ts"
import * as MemoryStore from "../../src/persistence/memory/MemoryStore.ts"
import * as Enzyme from "../../src/registry/Enzyme.ts"
import { Registry } from "../../src/registry/Registry.ts"
import { Reactor } from "../../src/reactor/Reactor.ts"
import { Scheduler } from "../../src/scheduler/Scheduler.ts"
import * as HostPacemaker from "../../src/main/host/HostPacemaker.ts"
import * as PureHash from "../../src/main/host/PureHash.ts"

const layer = Kernel.layer(Slices.all).pipe(Layer.provide([
  MemoryStore.layer,
  PureHash.layer,
  Registry.layer,
  Scheduler.layer(), Reactor.none,
  HostPacemaker.layer((run) => void setTimeout(run, 0))
]))

const greet = Enzyme.make({
  name: "greet",
  query: "/signals/greet",
  writes: ["/data/greetings/*"],
  run: (tx, event) => tx.set(`/data/greetings/${(event.payload as { readonly who: string }).who}`, { at: new Date(0), beat: tx.beat })
})

const handle = Effect.fn(function*(payload: unknown) {
  const kernel = yield* Kernel
  yield* kernel.register(greet)
  const space = yield* kernel.space("worker", { create: true })
  const receipt = yield* space.handled({ signal: "/signals/greet", payload })
  return { receipt, head: yield* space.head, greeting: yield* space.get("/data/greetings/world") }
})

export default {
  fetch: async (request: Request): Promise<Response> => {
    const payload: unknown = await request.json()
    return Response.json(await Effect.runPromise(Effect.scoped(handle(payload).pipe(Effect.provide(layer)))))
  }
}
