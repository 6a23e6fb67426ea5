import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import type { Channel } from "systole"
import { JobQueue } from "../../src/reactor/JobQueue.ts"
import { WaitingJobs } from "../../src/reactor/WaitingJobs.ts"
import { turns } from "../kernel/TestSpace.ts"

const settled = (): Promise<void> => Effect.runPromise(turns(2))

/** An attempt of a space, with its name in the log. */
interface Attempt {
  readonly rid: string
  isWaiting: boolean
  isOver: boolean
}

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
  const space = () => {
    const waiting = new WaitingJobs<Attempt>((attempt) => ({
      make: () => attempt.isOver ? undefined : { rid: attempt.rid } as Channel.Job,
      done: () => void (attempt.isOver || log.push(`done ${attempt.rid}`))
    }))
    const submit = (rid: string) => {
      const attempt: Attempt = { rid, isWaiting: true, isOver: false }
      waiting.push(attempt)
      queue.offer(waiting)
      return () => {
        attempt.isOver = true
        waiting.abort(attempt)
      }
    }
    return { submit, waiting }
  }
  return { ends, log, queue, space, ...space() }
}

/** The names of the jobs that the channel has executed. */
const executed = (log: ReadonlyArray<string>): ReadonlyArray<string> =>
  log.flatMap((line) => line.startsWith("execute ") ? [line.slice("execute ".length)] : [])

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
    const { ends, log, queue, submit, waiting } = logged()
    submit("a")
    await settled()
    for (let i = 0; i < 5000; i++) {
      const abort = submit(`given up ${i}`)
      if (i % 1000 === 0) submit(`b${i / 1000}`)
      abort()
    }
    assert.isBelow(waiting["queue"].size, 2048)
    assert.deepStrictEqual(queue.state, { waiting: 5, active: 1, ended: 0 })
    for (let i = 0; i < 6; i++) {
      ends.shift()?.()
      await settled()
    }
    assert.deepStrictEqual(executed(log), ["a", "b0", "b1", "b2", "b3", "b4"])
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

  it("gives the spaces turns, so a space with many jobs delays others by one job each", async () => {
    const { ends, log, queue, space, submit } = logged()
    for (let i = 0; i < 100; i++) submit(`many${i}`)
    const [second, third] = [space(), space()]
    for (let i = 0; i < 2; i++) second.submit(`second${i}`)
    third.submit("third")
    assert.deepStrictEqual(queue.state, { waiting: 102, active: 1, ended: 0 })
    for (let i = 0; i < 7; i++) {
      await settled()
      ends.shift()?.()
    }
    await settled()
    const order = ["many0", "many1", "second0", "third", "many2", "second1", "many3", "many4"]
    assert.deepStrictEqual(executed(log), order)
  })

  it("takes no job of a space that closes, and keeps none of its entries", async () => {
    const { ends, log, queue, space, submit } = logged()
    submit("a")
    const closed = space()
    for (let i = 0; i < 3; i++) closed.submit(`closed${i}`)
    submit("b")
    queue.withdraw(closed.waiting)
    assert.deepStrictEqual(queue.state, { waiting: 1, active: 1, ended: 0 })
    for (let i = 0; i < 3; i++) {
      await settled()
      ends.shift()?.()
    }
    await settled()
    assert.deepStrictEqual(executed(log), ["a", "b"])
    assert.strictEqual(queue["turns"].size, 0)
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
