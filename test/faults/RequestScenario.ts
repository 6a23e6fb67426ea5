/**
 * The scenario of requests to the world, over a channel that counts its executions.
 *
 * @module
 */
import type { Channel, IoResult } from "systole"
import { counting, done, type Numbered, posts, type Scenario, type World } from "./Scenario.ts"
import { enzyme } from "../kernel/TestSpace.ts"

/** The executions of one idempotency key. */
interface Executions {
  readonly opcode: string
  readonly rids: Set<string>
  times: number
}

/** A world that counts. Its opcode `pay` is not repeatable, and `charge` fails at first for every third event. */
export const world = (): World => {
  const log = new Map<string, Executions>()
  const bank: Channel.Channel = {
    id: "bank",
    provider: "count",
    hosts: ["node", "deno", "bun"],
    opcodes: { charge: { repeatable: true }, pay: {} },
    execute: ({ attempt, key, opcode, payload, rid }) => {
      const { n } = payload as unknown as Numbered
      const known = log.get(key) ?? { opcode, rids: new Set(), times: 0 }
      log.set(key, known)
      known.rids.add(rid)
      known.times++
      if (opcode === "charge" && attempt === 1 && n % 3 === 0) throw Object.assign(new Error("busy"), { code: "EBUSY" })
      return { value: n }
    }
  }
  return {
    channels: [bank],
    fault: () => {
      for (const [key, { opcode, rids, times }] of log) {
        if (rids.size > 1) return `the key ${key} has the requests ${[...rids].join(" and ")}`
        if (opcode === "pay" && times > 1) return `${[...rids].join()} is not repeatable, and was executed ${times} times`
      }
      return log.size === 0 ? "the channel was never asked" : undefined
    }
  }
}

const answer = (name: string, opcode: string, isExpected: (result: IoResult) => boolean) =>
  enzyme(name, (tx, event) => {
    if (event.signal !== `/signals/ask/${opcode}`) {
      done(tx, event, name)
      return tx.io.request({ channel: "bank", opcode, payload: event.payload, signal: `/signals/ask/${opcode}` })
    }
    const result = event.payload as unknown as IoResult
    const payload = tx.get(`${event.target}/payload`)
    done(tx, { ...event, payload }, isExpected(result) ? `${opcode}-heard` : `${opcode}-${result.state}`)
  }, { query: "/signals/ask", match: "prefix" })

export const requests: Scenario = {
  name: "requests that are repeatable or not",
  world,
  enzymes: [
    // The result of a request for `pay` depends on the moment of a fault.
    answer("pays", "pay", ({ code, state }) => state === "complete" || code === "io/interrupted"),
    answer("charges", "charge", ({ state }) => state === "complete"),
    counting("poke")
  ],
  rounds: [posts("ask", [0, 2]), posts("poke", [7, 7]), posts("ask", [3, 4])]
}
