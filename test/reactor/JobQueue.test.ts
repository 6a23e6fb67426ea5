import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import type { Channel } from "systole"
import { JobQueue } from "../../src/reactor/JobQueue.ts"
import { WaitingJobs } from "../../src/reactor/WaitingJobs.ts"
import { turns } from "../kernel/TestSpace.ts"
import * as Random from "../support/Random.ts"
import * as Trials from "../support/Trials.ts"

const settled = (): Promise<void> => Effect.runPromise(turns(2))

/** An attempt of a space, with its name in the log. */
interface Attempt {
  readonly rid: string
  readonly controller: AbortController
  isWaiting: boolean
  isOver: boolean
}

/** A queue with a log, whose channel executes one job at a time or some. Its jobs ignore their abort, and time passes by the test. */
const logged = (jobs = 1, timeoutMs?: number) => {
  const log: Array<string> = []
  const ends: Array<() => void> = []
  const timers = new Set<() => void>()
  const channel: Channel.Channel = {
    id: "bank", provider: "log", hosts: ["node", "deno", "bun"], jobs, opcodes: { pay: {} },
    ...timeoutMs === undefined ? {} : { timeoutMs },
    execute: ({ rid }) => new Promise((resolve) => {
      log.push(`execute ${rid}`)
      ends.push(() => resolve({}))
    })
  }
  const queue = new JobQueue(channel, {
    after: (_, tell) => {
      timers.add(tell)
      return () => timers.delete(tell)
    },
    report: (note) => log.push(`report ${note}`),
    failed: (error) => log.push(`failed ${String(error)}`)
  })
  /** Lets the time pass that jobs have until their end, or after their abort. */
  const pass = async (): Promise<void> => {
    // A timer of a time that is over now begins anew.
    const due = Array.from(timers)
    timers.clear()
    due.forEach((tell) => tell())
    await settled()
  }
  const space = () => {
    const waiting = new WaitingJobs<Attempt>((attempt) => ({
      make: () => attempt.isOver ? undefined : { rid: attempt.rid, signal: attempt.controller.signal } as Channel.Job,
      abort: (reason) => attempt.controller.abort(reason),
      done: (outcome) => {
        if (attempt.isOver) return
        const failure = "error" in outcome ? ` ${(outcome.error as Channel.ChannelError).code}` : ""
        log.push(`done ${attempt.rid}${failure}`)
      }
    }))
    const submit = (rid: string) => {
      const attempt: Attempt = { rid, controller: new AbortController(), isWaiting: true, isOver: false }
      waiting.push(attempt)
      queue.offer(waiting)
      return () => {
        attempt.isOver = true
        waiting.abort(attempt)
        attempt.controller.abort()
      }
    }
    return { submit, waiting }
  }
  return { ends, log, pass, queue, space, ...space() }
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
    assert.deepInclude(queue.state, { waiting: 0, active: 1, ended: 1 })
  })

  it("goes on with other spaces where one fails to give a job, hear of room or take an outcome, and asks it again", async () => {
    const { ends, log, pass, queue, space, submit } = logged()
    let isBroken = true
    const broken = {
      size: 1,
      take: () => {
        if (isBroken) throw new Error("the disk is broken")
        broken.size = 0
        return {
          make: () => ({ rid: "late", signal: new AbortController().signal }) as Channel.Job,
          abort: () => {},
          done: () => {
            throw new Error("the space is gone")
          }
        }
      }
    }
    queue.offer(broken)
    submit("a")
    queue.offer(broken)
    await settled()
    assert.deepStrictEqual(log, ["failed Error: the disk is broken", "execute a"])
    queue.whenRoom(() => {
      throw new Error("no watcher")
    })
    queue.whenRoom(() => log.push("room"))
    ends.shift()?.()
    await settled()
    isBroken = false
    await pass()
    space().submit("b")
    ends.shift()?.()
    await settled()
    const rest = ["done a", "failed Error: no watcher", "room", "execute late", "failed Error: the space is gone", "execute b"]
    assert.deepStrictEqual(log.slice(2), rest)
  })

  it("asks no space again that was withdrawn meanwhile", async () => {
    const { log, pass, queue } = logged()
    const broken = { size: 1, take: () => {
      throw new Error("the disk is broken")
    } }
    queue.offer(broken)
    queue.withdraw(broken)
    await pass()
    assert.deepStrictEqual([log, queue["sources"].size], [["failed Error: the disk is broken"], 0])
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
    assert.deepInclude(queue.state, { waiting: 5, active: 1, ended: 0 })
    for (let i = 0; i < 6; i++) {
      ends.shift()?.()
      await settled()
    }
    assert.deepStrictEqual(executed(log), ["a", "b0", "b1", "b2", "b3", "b4"])
    assert.deepInclude(queue.state, { waiting: 0, active: 0, ended: 6 })
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
    assert.deepInclude(queue.state, { waiting: 0, active: 0, ended: 2 })
  })

  it("gives the spaces turns, so a space with many jobs delays others by one job each", async () => {
    const { ends, log, queue, space, submit } = logged()
    for (let i = 0; i < 100; i++) submit(`many${i}`)
    const [second, third] = [space(), space()]
    for (let i = 0; i < 2; i++) second.submit(`second${i}`)
    third.submit("third")
    assert.deepInclude(queue.state, { waiting: 102, active: 1, ended: 0 })
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
    assert.deepInclude(queue.state, { waiting: 1, active: 1, ended: 0 })
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
    assert.deepInclude(queue.state, { waiting: 1, active: 1, ended: 0 })
    await settled()
    ends[0]?.()
    await settled()
    assert.deepStrictEqual(log, ["execute a", "done a", "execute c"])
  })

  it("gives the room of a job to the next that did not end in time after its abort, and reports the channel once", async () => {
    const { ends, log, pass, queue, submit } = logged(2)
    const aborts = [submit("a"), submit("b")]
    submit("c")
    submit("d")
    await settled()
    aborts.forEach((abort) => abort())
    await settled()
    assert.deepStrictEqual(executed(log), ["a", "b"])
    await pass()
    assert.deepStrictEqual(executed(log), ["a", "b", "c", "d"])
    assert.deepStrictEqual(queue.state, { waiting: 0, active: 2, hung: 2, isStuck: false, ended: 0 })
    const reports = log.filter((line) => line.startsWith("report "))
    assert.deepStrictEqual(reports, [
      "report a job of channel bank did not end within 10000 ms of its abort, so its room is given to others"
    ])
    ends.forEach((end) => end())
    await settled()
    assert.deepStrictEqual(queue.state, { waiting: 0, active: 0, hung: 0, isStuck: false, ended: 4 })
    assert.deepStrictEqual(log.filter((line) => line.startsWith("done ")), ["done c", "done d"])
  })

  it("keeps the room of a job that ends in time after its abort", async () => {
    const { ends, log, pass, queue, submit } = logged()
    submit("a")
    await settled()
    const abort = submit("b")
    ends[0]?.()
    await settled()
    abort()
    submit("c")
    ends[1]?.()
    await settled()
    await pass()
    assert.deepStrictEqual(executed(log), ["a", "b", "c"])
    assert.deepStrictEqual(queue.state, { waiting: 0, active: 1, hung: 0, isStuck: false, ended: 2 })
  })

  it("counts no job as hung whose abort comes after its end", async () => {
    const { ends, pass, queue, submit } = logged()
    const abort = submit("a")
    await settled()
    ends[0]?.()
    await settled()
    abort()
    await pass()
    assert.deepStrictEqual(queue.state, { waiting: 0, active: 0, hung: 0, isStuck: false, ended: 1 })
  })

  it("ends an attempt at the time of its channel, and keeps the room until the job ends or hangs", async () => {
    const { ends, log, pass, queue, submit } = logged(1, 500)
    for (const name of ["a", "b", "c"]) submit(name)
    await settled()
    await pass()
    assert.deepStrictEqual(log, ["execute a", "done a io/timeout"])
    assert.deepInclude(queue.state, { waiting: 2, active: 1, hung: 0 })
    ends[0]?.()
    await settled()
    assert.deepStrictEqual(log.slice(2), ["execute b"])
    await pass()
    await pass()
    assert.deepStrictEqual(log.slice(3), [
      "done b io/timeout",
      "report a job of channel bank did not end within 10000 ms of its abort, so its room is given to others",
      "execute c"
    ])
    ends[2]?.()
    await settled()
    await pass()
    assert.deepStrictEqual(log.at(-1), "done c")
    assert.deepInclude(queue.state, { waiting: 0, active: 0, hung: 1, ended: 2 })
  })

  it("fails waiting jobs when the hung ones have taken all room twice, until one of them ends", async () => {
    const { ends, log, pass, queue, space, submit } = logged()
    for (const name of ["a", "b"]) {
      const abort = submit(name)
      await settled()
      abort()
      if (name === "b") submit("waiting")
      await pass()
    }
    const other = space()
    other.submit("other")
    await settled()
    assert.deepStrictEqual(executed(log), ["a", "b"])
    assert.deepStrictEqual(log.filter((line) => line.startsWith("done ")), ["done waiting io/channel-stuck", "done other io/channel-stuck"])
    assert.deepStrictEqual(queue.state, { waiting: 0, active: 0, hung: 2, isStuck: true, ended: 0 })
    ends[1]?.()
    await settled()
    submit("c")
    await settled()
    assert.deepStrictEqual(executed(log), ["a", "b", "c"])
    assert.isFalse(queue.state.isStuck)
    assert.lengthOf(log.filter((line) => line.startsWith("report ")), 1)
  })

  it("asks a space again whose waiting jobs it could not fail", async () => {
    const { log, pass, queue, space, submit } = logged()
    for (const name of ["a", "b"]) {
      const abort = submit(name)
      await settled()
      abort()
      await pass()
    }
    const { submit: submitOther, waiting } = space()
    const take = waiting.take.bind(waiting)
    waiting.take = () => {
      waiting.take = take
      throw new Error("the disk is broken")
    }
    submitOther("other")
    await settled()
    assert.deepStrictEqual(log.slice(-1), ["failed Error: the disk is broken"])
    await pass()
    assert.deepStrictEqual([log.slice(-1), queue.state.waiting], [["done other io/channel-stuck"], 0])
  })

  it("has no room for a watcher while it is stuck", async () => {
    const { ends, log, pass, queue, submit } = logged()
    for (const name of ["a", "b"]) {
      const abort = submit(name)
      await settled()
      abort()
      await pass()
    }
    queue.whenRoom(() => log.push("room"))
    assert.notInclude(log, "room")
    ends[0]?.()
    await settled()
    assert.include(log, "room")
  })

  it("gives free room to the space with the fewest jobs in progress, hung ones included", async () => {
    const { ends, log, pass, space, submit } = logged(4)
    const aborts = Array.from({ length: 8 }, (_, i) => submit(`slow${i}`))
    const second = space()
    for (let i = 0; i < 4; i++) second.submit(`second${i}`)
    await settled()
    assert.deepStrictEqual(executed(log), ["slow0", "slow1", "slow2", "slow3"])
    // Each job of the second space ends at once, and the room stays with that space.
    for (let i = 0; i < 4; i++) {
      ends[3 + i]?.()
      await settled()
    }
    assert.deepStrictEqual(executed(log).slice(4), ["second0", "second1", "second2", "second3"])
    for (let i = 4; i < 8; i++) second.submit(`second${i}`)
    aborts.slice(0, 3).forEach((abort) => abort())
    await pass()
    assert.deepStrictEqual(executed(log).slice(8), ["second4", "second5", "slow4"])
  })

  it("executes at most twice its limit of jobs, ends each once, and loses no room", async () => {
    for (const seed of Trials.seeds(60, { least: 6 })) {
      const draw = Random.make(seed)
      const limit = 1 + draw(3)
      const { ends, log, pass, queue, space } = logged(limit, draw(2) === 0 ? undefined : 500)
      const spaces = [space(), space(), space()]
      const aborts: Array<() => void> = []
      for (let step = 0; step < 60; step++) {
        const kind = draw(5)
        if (kind < 2) aborts.push(Random.pick(draw, spaces).submit(`job${step}`))
        else if (kind === 2) aborts.splice(draw(aborts.length + 1), 1)[0]?.()
        else if (kind === 3) ends.splice(draw(ends.length + 1), 1)[0]?.()
        else await pass()
        await settled()
        const { active, hung, isStuck, waiting } = queue.state
        assert.strictEqual(active + hung, ends.length)
        assert.isAtMost(active + hung, 2 * limit)
        assert.strictEqual(isStuck, hung === 2 * limit)
        if (waiting > 0) assert.strictEqual(active + Math.max(0, hung - limit), limit)
      }
      const done = log.filter((line) => line.startsWith("done "))
      assert.lengthOf(new Set(done), done.length)
      assert.lengthOf(new Set(executed(log)), executed(log).length)
      while (ends.length > 0) {
        ends.splice(0).forEach((end) => end())
        await settled()
      }
      assert.deepInclude(queue.state, { waiting: 0, active: 0, hung: 0 })
    }
  })
})
