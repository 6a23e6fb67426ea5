/**
 * The modules and channels of the server to which the recorded script of HTTP is sent.
 *
 * @module
 */
import { Computation, Enzyme, Flow, type NodeDefinition, type Transaction } from "systole"
import rvInit from "../../enzymes/rv_init.ts"
import rvRoute from "../../enzymes/rv_route.ts"
import { put } from "../kernel/TestSpace.ts"

/** The channels of the script, whose jobs do not end. */
export const channels = {
  bank: { opcodes: { charge: { repeatable: true }, pay: {} }, caps: ["tls"], hosts: ["node"] as const, clearance: ["money"] }
}

const broken = Enzyme.make({
  name: "broken",
  query: "/signals/broken",
  run: () => {
    throw new Error("no luck")
  }
})

/** Makes a request, and keeps its result. */
export const ask = Enzyme.make({
  name: "ask",
  query: "/signals/ask",
  match: "prefix",
  run: (tx: Transaction, { payload, signal }) => {
    if (signal === "/signals/ask/done") return tx.append("/data/results", payload)
    return tx.io.request({ signal: "/signals/ask/done", ...payload as { readonly channel: string; readonly opcode: string } })
  }
})

/** Waits for an approval. */
export const approve = Enzyme.make({
  name: "approve",
  query: "/signals/placed",
  durable: true,
  hears: [{ signal: "/signals/approved", target: "/data/order" }],
  run: async (tx: Transaction) => (await tx.waitForSignal("/signals/approved", "/data/order")).payload
})

const bound = Enzyme.make({ name: "bound", query: "/signals/bound", run: (tx, { payload }) => tx.bind(String(payload), "bound") })

/** Spawns a rendezvous and waits for it. */
export const pack = Flow.make({
  name: "pack",
  steps: {
    ask: { transform: ({ inst }) => ({ key: `${inst}.box`, due_off: 500 }) },
    packed: { wait: "ask" },
    whole: {
      decide: ({ results }) => (results["packed"] as Flow.Completion).outcome === "applied" ? "done" : "error",
      to: ["done", "error"]
    }
  }
})

/** The enzymes and nodes of the script. */
export const enzymes: ReadonlyArray<Enzyme.Enzyme> = [put, broken, ask, approve, bound, pack, rvInit, rvRoute]
export const nodes: ReadonlyArray<NodeDefinition> = [
  Computation.make({ name: "total", output: "/data/total", run: (tx) => Number(tx.get("/data/b") ?? 0) * 2 })
]
