/**
 * Cold starts of the example of the shop: until the command answers or listens, and until the first signal of a new space is
 * handled and durable. The times of Workers begin when workerd listens.
 */
import { join } from "node:path"
import type { Bench } from "./Bench.ts"
import * as Cold from "./Cold.ts"

const node = await Cold.built("node")
const deno = await Cold.built("deno")
const bun = await Cold.built("bun")
const worker = Cold.worker(await Cold.built("workers"))
const echo = Cold.byHand("Echo")
const peer = Cold.byHand("Peer")
const file = (folder: string): string => join(folder, "systole.js")
const how = { unit: "ms", rounds: 5, warm: 1 }

export default {
  cases: [
    {
      ...how,
      name: "until it listens",
      baseline: "systole --version",
      contenders: {
        "systole --version": Cold.version,
        "systole start": () => Cold.listening("node"),
        "node, build": () => Cold.listening("node", file(node)),
        "deno, build": () => Cold.listening("deno", file(deno)),
        "bun, build": () => Cold.listening("bun", file(bun))
      }
    },
    {
      ...how,
      name: "first finished beat",
      baseline: "node, sources",
      contenders: {
        "node, sources": () => Cold.beat("node"),
        "node, build": () => Cold.beat("node", file(node)),
        "deno, build": () => Cold.beat("deno", file(deno)),
        "bun, build": () => Cold.beat("bun", file(bun))
      }
    },
    {
      ...how,
      name: "first answer of a Worker",
      baseline: "echo",
      contenders: {
        echo: async () => (await Cold.firsts(echo)).cold,
        "two commits": async () => (await Cold.firsts(peer)).cold,
        "first finished beat": async () => (await Cold.firsts(worker)).cold
      }
    },
    {
      ...how,
      name: "new object in a warm isolate",
      baseline: "two commits",
      contenders: {
        echo: async () => (await Cold.firsts(echo)).warm,
        "two commits": async () => (await Cold.firsts(peer)).warm,
        "first finished beat": async () => (await Cold.firsts(worker)).warm
      }
    }
  ],
  note: "systole start has to listen at most 500 ms after systole --version has answered.",
  close: Cold.close
} satisfies Bench
