import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import type { Channel } from "systole"
import { JobQueue } from "../../src/reactor/JobQueue.ts"
import { turns } from "../kernel/TestSpace.ts"

const settled = (): Promise<void> => Effect.runPromise(turns(2))

/** A queue whose channel executes one job at a time, with a log. */
const logged = () => {
  const log: Array<string> = []
  const ends: Array<() => void> = []
  const channel: Channel.Channel = {
    id: "bank", provider: "log", hosts: ["node", "deno", "bun"], jobs: 1, opcodes: { pay: {} },
    execute: ({ rid }) => new Promise((resolve) => {
      log.push(`execute ${rid}`)
      ends.push(() => resolve({}))
    })
  }
  const queue = new JobQueue(channel)
  const submit = (rid: string) => queue.submit({ make: () => ({ rid }) as Channel.Job, done: () => void log.push(`done ${rid}`) })
  return { ends, log, queue, submit }
}

describe("JobQueue", () => {
  it("never executes a job that is aborted before it began, and gives its room to the next", async () => {
    const { log, queue, submit } = logged()
    const abort = submit("a")
    submit("b")
    abort()
    await settled()
    assert.deepStrictEqual(log, ["execute b"])
    assert.deepStrictEqual(queue.state, { waiting: 0, active: 1, ended: 1 })
  })

  it("keeps no aborted jobs while the channel is busy, and the order of the others", async () => {
    const { ends, log, queue, submit } = logged()
    submit("a")
    await settled()
    for (let i = 0; i < 5000; i++) {
      const abort = submit(`given up ${i}`)
      if (i % 1000 === 0) submit(`b${i / 1000}`)
      abort()
    }
    assert.isBelow(queue["waiting"].length, 2048)
    assert.deepStrictEqual(queue.state, { waiting: 5, active: 1, ended: 0 })
    for (let i = 0; i < 6; i++) {
      ends.shift()?.()
      await settled()
    }
    const executed = log.filter((line) => line.startsWith("execute"))
    assert.deepStrictEqual(executed, ["a", "b0", "b1", "b2", "b3", "b4"].map((rid) => `execute ${rid}`))
    assert.deepStrictEqual(queue.state, { waiting: 0, active: 0, ended: 6 })
  })

  it("reports no outcome after an abort, and keeps the room until the job ends", async () => {
    const { ends, log, queue, submit } = logged()
    const abort = submit("a")
    submit("b")
    await settled()
    abort()
    await settled()
    assert.deepStrictEqual(log, ["execute a"])
    ends[0]?.()
    await settled()
    assert.deepStrictEqual(log, ["execute a", "execute b"])
    ends[1]?.()
    await settled()
    assert.deepStrictEqual(log.at(-1), "done b")
    assert.deepStrictEqual(queue.state, { waiting: 0, active: 0, ended: 2 })
  })

  it("omits a waiting job that is aborted", async () => {
    const { ends, log, queue, submit } = logged()
    submit("a")
    submit("b")()
    submit("c")
    assert.deepStrictEqual(queue.state, { waiting: 1, active: 1, ended: 0 })
    await settled()
    ends[0]?.()
    await settled()
    assert.deepStrictEqual(log, ["execute a", "done a", "execute c"])
  })
})
